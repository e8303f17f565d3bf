/* source.h: the file of a recording: its superblock, and bytes by offset.
 * All access is by pread: a mapped file that someone cuts while it is read would kill
 * the reader with SIGBUS.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_SOURCE_H
#define FILMSTRIP_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <filmstrip/status.h>

#include "format/superblock.h"

typedef struct film_file {
    int descriptor; /* owned; -1: not open */
    uint64_t bytes; /* apparent size at the last look */
    uint64_t disk_bytes;
    film_superblock block; /* as of the last look */
} film_file;

/* Opens the file and looks at it. */
FILM_NODISCARD film_status
film_file_open(film_file *file, const char *path, film_error *error);

void
film_file_close(film_file *file);

/* Reads size and superblock again. On failure both stay as they were. */
FILM_NODISCARD film_status
film_file_look(film_file *file, film_error *error);

/* True if a process, perhaps this one, still has the recording open for writing. */
bool
film_file_is_locked(const film_file *file);

/* Where a logical offset lies. */
uint64_t
film_file_physical(const film_file *file, uint64_t logical);

/* The first logical offset that cannot hold a byte of the log any more. */
uint64_t
film_file_logical_end(const film_file *file);

/* Exactly `bytes` bytes from a logical offset, split where the mapping changes.
 * FILM_TRUNCATED if the file ends first, FILM_IO. */
FILM_NODISCARD film_status
film_file_read(const film_file *file, uint64_t logical, void *to, size_t bytes);

/* The same from a physical offset. */
FILM_NODISCARD film_status
film_file_read_at(const film_file *file, uint64_t physical, void *to, size_t bytes);

/* The next physical offset at or after `physical` that holds data (not a hole);
 * `physical` itself where the file system cannot tell, the file's size if none. */
uint64_t
film_file_next_data(const film_file *file, uint64_t physical);

#endif
