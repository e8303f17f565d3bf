/* reader.h: opens a recording, walks its events, seeks to a moment.
 * Threads: a reader and its cursors belong to one thread at a time; two readers may
 * share a file. A recording that is still being written, or whose process died, opens
 * like any other: recovery is part of reading.
 * Lifetime: strings, codes and infos borrow from the reader until it is closed or
 * refreshed; an event borrows from its cursor until the cursor moves.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_READER_H
#define FILMSTRIP_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <filmstrip/event.h>
#include <filmstrip/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct film_reader film_reader;
typedef struct film_cursor film_cursor;

typedef struct film_text {
    const char *data; /* UTF-8 (damaged input is replaced on reading); NUL follows */
    size_t length;
} film_text;

typedef enum film_ending {
    FILM_ENDING_CLOSED, /* the recording was closed */
    FILM_ENDING_LIVE,   /* its process is still writing */
    FILM_ENDING_DIED    /* its process went away without closing it */
} film_ending;

/* closed, live, died */
const char *
film_ending_name(film_ending ending);

typedef struct film_info {
    uint16_t version_major, version_minor;
    uint8_t uuid[16];
    uint64_t pid;
    uint64_t start_realtime_ns;  /* since the Unix epoch */
    uint64_t start_monotonic_ns; /* CLOCK_MONOTONIC of its host */
    uint64_t duration_ns;        /* start to the last event, or to the close */
    uint64_t events;             /* readable events of all threads */
    uint64_t lost;               /* events counted as lost, all reasons */
    uint64_t overwritten;        /* events given up by ring mode */
    uint64_t file_bytes;         /* apparent size */
    uint64_t disk_bytes;         /* allocated size */
    uint64_t ring_bytes;         /* 0: not a ring */
    uint32_t python_version;     /* PY_VERSION_HEX of the recorded interpreter */
    uint32_t tick_ns;
    uint32_t level; /* 0 calls, 1 lines, 2 values */
    film_ending ending;
    int exit_status;         /* what the process gave to exit(); -1: not known */
    bool stopped_early;      /* the disk was full or failed: see stop_reason and lost */
    const char *stop_reason; /* why, for people; NULL: it did not stop early */
    bool write_fallback;     /* windows were written, not mapped */
    size_t damaged;          /* chunks that could not be read when opening */
} film_info;

typedef struct film_thread_info {
    uint32_t id;
    film_text name;
    uint64_t native_id;
    uint64_t first_event; /* 0 unless ring mode dropped the beginning */
    uint64_t end_event;   /* one past the last readable event */
    uint64_t first_ns, last_ns;
    uint64_t lost;
} film_thread_info;

typedef struct film_code {
    uint32_t id;
    film_text file, module, qualname, name;
    film_text function; /* module.qualname */
    uint32_t first_line;
    uint32_t flags; /* co_flags */
    uint32_t argument_count, positional_only_count, keyword_only_count;
    uint64_t stable_hash; /* of file, qualname and first line: for comparing runs */
    const uint8_t *bytecode, *line_table, *exception_table;
    uint32_t bytecode_length, line_table_length, exception_table_length;
    const uint32_t *names, *locals; /* string ids */
    uint32_t name_count, local_count;
    const uint8_t *local_kinds; /* localsplus kinds, one byte each */
} film_code;

typedef struct film_value {
    film_text text;
    film_text type;  /* empty: not known */
    uint64_t object; /* its serial, where is_object */
    int64_t length;  /* as Python's len; -1: none */
    bool is_object;
    bool cut;      /* text does not tell all of it */
    bool redacted; /* it was taken out */
} film_value;

typedef struct film_damage {
    uint64_t offset; /* in the file */
    uint64_t number; /* which chunk of the file, from 0; UINT64_MAX: the index */
    char message[160];
} film_damage;

/* One open frame of a thread, innermost last (see film_cursor_stack). */
typedef struct film_frame {
    uint64_t serial;
    uint64_t call_event;  /* number of its call (or of its adoption) */
    uint64_t enter_tick;  /* when it was called or last resumed */
    uint64_t call_tick;   /* when it was called */
    uint64_t child_ticks; /* time in recorded callees since enter_tick */
    uint32_t code;
    uint32_t offset;     /* last known place, in code units */
    uint32_t site;       /* the caller's place + 1 when it entered; 0: unknown */
    uint32_t home_chunk; /* chunk + 1 whose keyframe holds this entry; 0: none */
    uint32_t home_index; /* its index there */
    uint32_t locals;     /* while sealing: where its variables are kept; 0: nowhere */
    bool adopted;        /* open before the recording saw it */
} film_frame;

/* A chunk as its header tells; for check, tiles and searches. */
typedef struct film_chunk_info {
    uint64_t offset; /* logical offset in the file */
    uint64_t number; /* in its stream */
    uint64_t first;  /* first event or record number */
    uint64_t first_ns, last_ns;
    uint64_t lost;
    uint64_t flow_digest, value_digest, op_digest;
    uint32_t stream; /* thread id, or a shared stream */
    uint32_t count;
    uint32_t stored_bytes;
    uint8_t type; /* film_chunk_type of format/chunk.h */
} film_chunk_info;

typedef struct film_source {
    film_text file; /* as code entries name it */
    film_text text;
    bool cut;
} film_source;

/* Opens the recording at `path`; the caller owns *out. On failure *out is NULL. */
FILM_NODISCARD film_status
film_reader_open(const char *path, film_reader **out, film_error *error);

void
film_reader_close(film_reader *reader);

/* Looks again at a recording that was live: new events become readable. Open cursors
 * go on; infos and strings handed out before are no longer valid. */
FILM_NODISCARD film_status
film_reader_refresh(film_reader *reader, film_error *error);

const film_info *
film_reader_info(const film_reader *reader);

size_t
film_reader_thread_count(const film_reader *reader);

/* Threads in order of their id; NULL past the end. */
const film_thread_info *
film_reader_thread(const film_reader *reader, size_t index);

size_t
film_reader_code_count(const film_reader *reader);

/* NULL if the id is unknown (a damaged table). */
const film_code *
film_reader_code(const film_reader *reader, uint32_t id);

/* The line of a place in a code object; 0: no line, also for FILM_NO_CODE and
 * FILM_NO_OFFSET. The reader caches the table. */
uint32_t
film_reader_line(film_reader *reader, uint32_t code, uint32_t offset);

/* The line where an event's frame stood; 0: none. CPython gives the first instructions
 * of an exception handler no line: for `handled` it is the next one, the `except`. */
uint32_t
film_reader_event_line(film_reader *reader, const film_event *event);

/* The empty text if the id is unknown. */
film_text
film_reader_string(const film_reader *reader, uint32_t id);

size_t
film_reader_string_count(const film_reader *reader);

/* Reads the plain text of a value (an exception's message) by event.value - 1. Texts
 * borrow until the next film_reader_value. */
FILM_NODISCARD film_status
film_reader_value(film_reader *reader, uint64_t id, film_value *out, film_error *error);

/* The event's value at `index` (below event->token_count) as a Python literal: what
 * repr() gives for None, bool, int, float, complex, str, bytes and containers of them;
 * <Name #serial> for an instance. At most about `limit` bytes, then `...`. Borrows
 * until the next call. FILM_MISUSE: it has no such value. One that is no longer in the
 * file is no failure: its text says so. */
FILM_NODISCARD film_status
film_reader_event_value(film_reader *reader, const film_event *event, uint32_t index,
                        size_t limit, film_value *out, film_error *error);

/* The name that a set or delete wrote to; empty for an item. */
film_text
film_reader_event_name(const film_reader *reader, const film_event *event);

/* "local", "nonlocal", "global", "class", "attribute" or "item", for set and delete. */
const char *
film_reader_event_scope(const film_reader *reader, const film_event *event);

/* The name of a call's argument, in the order of its values. */
film_text
film_reader_argument_name(const film_reader *reader, const film_event *event,
                          uint32_t index);

/* What the recorder wrote about the program; NULL if absent. Keys in format.md. */
const char *
film_reader_meta(const film_reader *reader, const char *key);

size_t
film_reader_damage_count(const film_reader *reader);

/* Damage met so far, when opening or by cursors. */
const film_damage *
film_reader_damage(const film_reader *reader, size_t index);

/* How many events there are of each kind; kinds this reader does not know are not
 * among them. Reads no events but those not yet sealed into chunks. */
FILM_NODISCARD film_status
film_reader_kind_counts(film_reader *reader, uint64_t counts[FILM_KIND_COUNT],
                        film_error *error);

size_t
film_reader_chunk_count(const film_reader *reader);

const film_chunk_info *
film_reader_chunk(const film_reader *reader, size_t index);

/* Verifies one chunk's checksums and decodes it; FILM_CORRUPT says what is wrong. */
FILM_NODISCARD film_status
film_reader_verify_chunk(film_reader *reader, size_t index, film_error *error);

/* The source text of a recorded file. FILM_END: no such index. The caller owns
 * nothing; texts borrow until the next call. */
FILM_NODISCARD film_status
film_reader_source(film_reader *reader, size_t index, film_source *out,
                   film_error *error);

/* A cursor over one thread's events from number `first` on; the caller owns *out. */
FILM_NODISCARD film_status
film_cursor_open(film_reader *reader, uint32_t thread, uint64_t first,
                 film_cursor **out, film_error *error);

void
film_cursor_close(film_cursor *cursor);

/* The next event, borrowed until the next call. FILM_END after the last one; on a live
 * recording a later call may succeed (after film_reader_refresh). A damaged chunk is
 * given as one `lost` event, then reading goes on behind it. */
FILM_NODISCARD film_status
film_cursor_next(film_cursor *cursor, const film_event **event, film_error *error);

/* The open frames after the last event given, outermost first. Borrowed until the
 * cursor moves. (A return's frame is already gone: its event holds what it was.) */
const film_frame *
film_cursor_stack(const film_cursor *cursor, size_t *depth);

/* What a return, yield or unwind has just closed: its frame as it was. NULL when the
 * last event closed none. */
const film_frame *
film_cursor_closed(const film_cursor *cursor);

/* Nanoseconds of a tick count of frames (they count from the recording's start). */
uint64_t
film_reader_ticks_to_ns(const film_reader *reader, uint64_t ticks);

#ifdef __cplusplus
}
#endif
#endif
