/* writer.h: one recording being written.
 *
 * Who may call what: everything here but the appends of append.h is called by one
 * thread at a time (in the recorder: the holder of the GIL). Appends are called by the
 * thread that owns the film_thread, without any lock. A background thread of the
 * writer's own seals full windows into chunks.
 *
 * Nothing here raises, prints or exits. When the disk is full or fails, the writer
 * stops keeping events, counts them, and every call goes on working.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_WRITER_H
#define FILMSTRIP_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <filmstrip/status.h>

#include "base/clock.h"
#include "format/redact.h"
#include "format/value_record.h"

typedef struct film_writer film_writer;
typedef struct film_thread film_thread;

typedef struct film_writer_options {
    const char *path;
    bool replace;            /* an existing regular file may be replaced (--force) */
    bool no_map;             /* behave as if mapping had failed (tests) */
    uint64_t ring_bytes;     /* 0: keep everything */
    uint32_t tick_ns;        /* 16 by default, 1 for the finest; 0 means 16 */
    uint32_t python_version; /* PY_VERSION_HEX */
    uint32_t level;          /* 0 calls, 1 lines, 2 values */
    const film_redaction *redaction; /* borrowed until close; NULL: the built-in list */
} film_writer_options;

/* What a code object was, told once. All pointers are borrowed for the call. */
typedef struct film_code_record {
    const char *file, *module, *qualname, *name; /* UTF-8, NUL-terminated */
    uint32_t first_line;
    uint32_t flags;
    uint32_t argument_count, positional_only_count, keyword_only_count;
    const uint8_t *bytecode, *line_table, *exception_table;
    uint32_t bytecode_length, line_table_length, exception_table_length;
    const uint32_t *names, *locals; /* string ids */
    uint32_t name_count, local_count;
    const uint8_t *local_kinds; /* local_count bytes */
} film_code_record;

typedef struct film_meta_pair {
    const char *key, *value;
} film_meta_pair;

typedef struct film_writer_stats {
    uint64_t events; /* committed, all threads */
    uint64_t bytes;  /* size of the file without unused windows */
    uint64_t lost;
    bool stopped; /* the disk was full or failed */
} film_writer_stats;

/* Creates the file (0600, O_EXCL, never through a symlink) and commits its first
 * META chunk. FILM_EXISTS, FILM_IO or FILM_NO_SPACE say why it could not. */
FILM_NODISCARD film_status
film_writer_open(const film_writer_options *options, film_writer **out,
                 film_error *error);

/* Facts about the program, for info; later pairs override earlier ones. */
void
film_writer_meta(film_writer *writer, const film_meta_pair *pairs, size_t count);

/* The id of a string that is kept for good (names, types); same text, same id.
 * Committed before it returns. 0 is the empty string, also given when memory is out. */
uint32_t
film_writer_string(film_writer *writer, const char *text, size_t length);

/* The same for the name of what comes and goes (a task, a thread), of which a program
 * may have as many as it likes: only those of late are remembered, so that a text may
 * have several ids. */
uint32_t
film_writer_passing_name(film_writer *writer, const char *text, size_t length);

/* Describes a code object and gives it the next id, or the one that a code object of
 * late has of which the same was told; committed before it returns. UINT32_MAX when it
 * could not be kept (stopped, no memory). */
uint32_t
film_writer_code(film_writer *writer, const film_code_record *code);

/* Keeps a value's text; gives value id + 1, or 0 when it could not be kept. The text
 * passes the deny list of format/redact.h first, so it may come out redacted. */
uint64_t
film_writer_value(film_writer *writer, uint32_t type_string, const char *text,
                  size_t length, uint32_t flags);

/* Keeps a value as it is: `body` is what follows the flags (format/value_record.h). The
 * caller has taken out what is secret. Gives value id + 1, or 0 when it could not be
 * kept. A record may refer to records before it only. */
uint64_t
film_writer_value_record(film_writer *writer, uint32_t type_string, uint32_t flags,
                         const uint8_t *body, size_t length);

/* The lowest value id that a new row or record may refer to. It is 0 but in ring mode,
 * where old values are dropped with the events they belong to: a value below it has to
 * be written again, under the same serial. It only grows. Cheap enough for every
 * token. */
uint64_t
film_writer_value_floor(const film_writer *writer);

/* Where it is kept, to be read (relaxed) while the writer is open. */
const _Atomic(uint64_t) *
film_writer_value_floor_place(const film_writer *writer);

/* Keeps the source text of `file` (the name code records use). With text NULL the
 * sealing thread reads `path` itself, later, outside the GIL. Told twice: kept once. */
void
film_writer_source(film_writer *writer, const char *file, const char *path,
                   const char *text, size_t length);

/* Begins a thread's stream; ids count from 1 in order of this call. Its first event,
 * thread_start, is committed. NULL without memory: the caller then records nothing for
 * that thread but film_writer_count_lost. */
film_thread *
film_writer_thread_begin(film_writer *writer, const char *name, uint64_t native_id);

/* Begins a track: what another clock has timed (the streams of a GPU), told afterwards.
 * It is a thread without a native id, whose first event has the raw time `raw`, and whose
 * rows are film_track_op and film_track_op_end alone (append.h). It belongs to whoever may
 * call these functions, and ends by film_writer_thread_end. */
film_thread *
film_writer_track_begin(film_writer *writer, const char *name, uint64_t raw);

/* The clock whose raw ticks rows have. */
const film_clock *
film_writer_clock(const film_writer *writer);

/* Appends thread_end and gives the windows back. May be called without the GIL, by the
 * dying thread or by the one that found it dead. */
void
film_writer_thread_end(film_thread *thread);

/* True when the disk was full or failed: events are counted, not kept. */
bool
film_writer_has_stopped(film_writer *writer);

/* Counts events that could not even reach a thread's stream. */
void
film_writer_count_lost(film_writer *writer, uint64_t count);

void
film_writer_get_stats(film_writer *writer, film_writer_stats *stats);

/* Fork. `before` joins the sealing thread (it starts again when a window fills);
 * call it before fork() in the parent. In the child the parent's writer may only be
 * abandoned: that releases memory and the descriptor, touches no file and no lock. */
void
film_writer_before_fork(film_writer *writer);

void
film_writer_abandon(film_writer *writer);

/* Seals what is left, gives the windows' space back, writes totals, index and end.
 * `pairs` are the last META; with ended = "exit" among them the status the process
 * exits with is added when it does. The writer is freed in any case; the
 * error says what could not be written. All film_threads are invalid afterwards. */
film_status
film_writer_close(film_writer *writer, const film_meta_pair *pairs, size_t count,
                  film_error *error);

#endif
