/* sink.h: the file under a recording: creating it safely, writing bytes and fields,
 * mapping pieces, giving space back. The only file of the writer that calls the
 * operating system's file functions; tests make the n-th call fail.
 * Threads: writes at distinct places may come from any thread.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_SINK_H
#define FILMSTRIP_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <filmstrip/status.h>

#include "format/superblock.h"

typedef struct film_sink {
    int file; /* owned; -1 closed */
    /* Which file it is: a program that closes descriptors it did not open could make
     * ours the number of another file. */
    uint64_t device, inode;
    bool named; /* the file has its name */
} film_sink;

/* Creates the file for `path`: 0600, O_EXCL, O_NOFOLLOW, O_CLOEXEC, locked for the
 * process. Where the file system allows, it has no name yet (O_TMPFILE): a process
 * killed before film_sink_name leaves nothing. With `replace` an existing regular file
 * is removed when the new one takes its name. */
FILM_NODISCARD film_status
film_sink_create(film_sink *sink, const char *path, bool replace, film_error *error);

/* Gives the file its name, if it has none yet. FILM_EXISTS if another one has it. */
FILM_NODISCARD film_status
film_sink_name(film_sink *sink, const char *path, bool replace, film_error *error);

void
film_sink_close(film_sink *sink);

/* All bytes or a failure: FILM_NO_SPACE (disk, quota, RLIMIT_FSIZE) or FILM_IO. */
FILM_NODISCARD film_status
film_sink_write(film_sink *sink, uint64_t offset, const void *bytes, size_t length);

FILM_NODISCARD film_status
film_sink_read(film_sink *sink, uint64_t offset, void *bytes, size_t length);

/* One changing field of the superblock. */
FILM_NODISCARD film_status
film_sink_write_field(film_sink *sink, uint64_t field_offset, uint64_t number);

/* Real blocks for a range, so that a later store through a mapping cannot fail. */
FILM_NODISCARD film_status
film_sink_reserve(film_sink *sink, uint64_t offset, uint64_t length);

/* A shared mapping of a range, left out of forked children; NULL if refused. */
void *
film_sink_map(film_sink *sink, uint64_t offset, size_t length);

void
film_sink_unmap(void *mapping, size_t length);

/* Gives a range's blocks back; the range reads as zeros. Best effort. */
void
film_sink_punch(film_sink *sink, uint64_t offset, uint64_t length);

FILM_NODISCARD film_status
film_sink_truncate(film_sink *sink, uint64_t length);

/* Tests: the n-th call from now on, and all later ones, fail with errno `error`
 * (ENOMEM: mappings only; others: all but mappings); n = 0 turns it off. Returns the
 * number of calls since the last setting. */
uint64_t
film_sink_fail_at(uint64_t n, int error);

#endif
