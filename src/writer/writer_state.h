/* writer_state.h: what the writer's files share: streams and the writer itself.
 *
 * Locks: writer->lock guards the streams' window queues, the list of streams and the
 * sealing thread's flags. Order: writer->lock before arena->lock before log->lock.
 * What only the sealing side touches (states, columns, totals) is used by the sealing
 * thread, or by the closing thread once that one is joined: never both.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_WRITER_STATE_H
#define FILMSTRIP_WRITER_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/buffer.h"
#include "base/intern.h"
#include "format/columns.h"
#include "format/state.h"
#include "format/summary.h"
#include "format/totals.h"
#include "format/value_columns.h"
#include "writer/append.h"
#include "writer/arena.h"
#include "writer/log.h"
#include "writer/serials.h"
#include "writer/writer.h"

/* Windows a thread may hold before it waits for the sealing thread. */
#define FILM_STREAM_WINDOWS 16u

#define FILM_LEVEL_LINES 1u
#define FILM_LEVEL_VALUES 2u

/* Windows in order: [oldest, not all sealed] ... [current, being filled]. */
typedef struct film_stream film_stream;
struct film_stream {
    uint32_t id;
    film_window *oldest;  /* under the lock; borrowed from the arena */
    film_window *current; /* under the lock for changes; its owner reads it freely */
    size_t window_count;  /* under the lock */
    bool queued;          /* under the lock: the sealing thread has it in its queue */
    bool busy;            /* under the lock: it is being sealed */
    bool current_is_full; /* under the lock: its owner waits for another window */
    bool ended;           /* under the lock: no more rows will come */
    film_stream *next_queued;
    film_stream *next;
    /* the sealing side's */
    uint64_t sealed; /* events or records in the file */
    uint64_t chunks;
    uint64_t raw; /* raw clock of the last row taken */
    uint64_t flow_digest, value_digest, op_digest;
    uint64_t watermark; /* one more than the greatest value id its events refer to */
    film_state state;
};

/* drain.c: instead of a window, once the writer has stopped. */
typedef struct film_drain {
    film_window_header header;
    uint8_t rows[FILM_APPEND_ROOM + 1]; /* that follow it */
    bool used;
    uint64_t kept;    /* events of the thread before it was */
    uint64_t counted; /* events up to which those that were lost are counted */
} film_drain;

_Static_assert(offsetof(film_drain, rows) == FILM_WINDOW_HEADER, "rows follow it");

/* A thread's stream; the hot part first, so that the two convert. One that began when
 * no window could be had has none. */
typedef struct film_thread_stream {
    film_thread hot;
    film_stream stream;
    film_writer *writer; /* borrowed */
    film_drain drain;
} film_thread_stream;

static inline film_thread_stream *
film_thread_of_stream(film_stream *stream)
{
    return (film_thread_stream *)(void *)((char *)stream -
                                          offsetof(film_thread_stream, stream));
}

/* Events of the thread that are in windows or in the file. */
static inline uint64_t
film_thread_kept(const film_thread_stream *thread)
{
    return thread->drain.used ? thread->drain.kept : thread->hot.events;
}

/* A shared stream of records; appended to by the holder of the GIL. */
typedef struct film_record_stream {
    film_stream stream;
    uint8_t chunk_type;
    uint64_t records; /* appended */
    /* the sealing side's: how many strings and codes lie in sealed records */
    uint64_t sealed_strings, sealed_codes;
} film_record_stream;

typedef struct film_source_request film_source_request;
struct film_source_request {
    char *file, *path, *text; /* owned; text may be NULL: read path */
    size_t length;
    film_source_request *next;
};

/* Stable hashes by code id, in blocks that never move, so that the sealing thread may
 * read while the recorder appends. */
#define FILM_CODE_BLOCK 1024u
#define FILM_CODE_BLOCKS 4096u

/* What was given an id lately, by hash: a place each, so that memory is bounded. What
 * lost its place gets another id the next time. */
#define FILM_RECENT_CODES 4096u
#define FILM_RECENT_NAMES 64u
typedef struct film_recent {
    uint64_t hash;
    uint64_t id; /* + 1; 0: none */
} film_recent;

/* A page of words that read zero in a forked child: word 0 marks the owner, the others
 * are threads' append limits. */
#define FILM_LIMIT_WORDS 512u
typedef struct film_limit_page film_limit_page;
struct film_limit_page {
    void *mapping;            /* owned */
    _Atomic(uint64_t) *words; /* the same, as what it holds */
    bool used[FILM_LIMIT_WORDS];
    film_limit_page *next;
};

/* gone.c: frames that have ended without an event. */
typedef struct film_gone_frame {
    uint64_t serial;
    uint64_t events; /* of its thread, when that was found out */
    uint32_t stream; /* the thread's */
} film_gone_frame;

typedef struct film_gone_frames {
    film_gone_frame *ring;        /* owned; NULL before the first */
    _Atomic(uint64_t) put, taken; /* since the start */
    film_gone_frame *waiting;     /* owned; the sealing side's, as what follows */
    size_t waiting_count, waiting_capacity;
} film_gone_frames;

struct film_writer {
    film_sink sink;
    film_superblock block;
    film_clock clock;
    film_log log;
    film_arena arena;
    film_limit_page *limits; /* owned */

    pthread_mutex_t lock;
    pthread_cond_t work;  /* a stream was queued, or stopping */
    pthread_cond_t space; /* a window came back, or the writer stopped */
    film_stream *queue, *queue_end;
    film_stream *threads; /* all thread streams, newest first; owned */
    film_source_request *sources, *sources_end;
    uint32_t thread_count;
    pthread_t sealer;
    bool sealer_runs, sealer_must_end;
    uint64_t ended_events;          /* of threads whose streams are freed */
    uint64_t lost;                  /* counted outside any stream */
    _Atomic(film_thread *) running; /* whose row was the last */
    _Atomic(uint32_t) stop_reason;  /* film_lost_reason; not 0: keeps nothing more */

    /* Strings, codes and threads: by the holder of this lock. */
    pthread_mutex_t table_lock;
    film_record_stream table;
    film_intern strings;

    /* recorder's side, by the holder of the GIL */
    film_record_stream values;
    film_intern source_files;
    uint32_t string_count, code_count;
    film_recent recent_codes[FILM_RECENT_CODES], recent_names[FILM_RECENT_NAMES];
    bool ends_with_process; /* meta said ended = "exit" */
    film_buffer scratch, redacted;
    const film_redaction *redaction; /* borrowed; NULL: the built-in list */
    _Atomic(uint64_t *) code_hashes[FILM_CODE_BLOCKS];

    /* the sealing side's */
    film_columns columns;
    film_value_columns value_columns;
    film_summary summary;
    film_touched touched;  /* not at level calls */
    film_locals locals;    /* level values */
    film_gone_frames gone; /* from both sides: see gone.c */
    film_serials serials;  /* level values */
    film_totals totals;
    film_buffer summary_bytes, keyframe_bytes, payload_bytes;
    uint64_t chunks_since_totals;
    bool scale_is_used; /* times of sealed events go by it */
};

/* sealer.c */

/* Puts a stream into the sealing thread's queue and makes sure one runs; seals here
 * and now if none can be started. Called with the lock held. */
void
film_sealer_queue(film_writer *writer, film_stream *stream);

/* Ends the sealing thread, leaving its queue for the next one. */
void
film_sealer_join(film_writer *writer);

/* Seals everything that is left; no sealing thread may run. */
void
film_sealer_finish(film_writer *writer);

/* seal_rows.c: what one chunk's rows come to. */
typedef struct film_gathering {
    uint64_t first_tick, first_value, lost;
    uint64_t next_value; /* one more than the greatest value id */
    uint32_t events;
} film_gathering;

/* Takes rows from the stream's windows up to and with its `wanted`-th event into the
 * writer's columns, summary and totals and the stream's state and digest. */
FILM_NODISCARD film_status
film_seal_rows(film_writer *writer, film_stream *stream, uint32_t wanted,
               film_gathering *chunk);

/* seal_notes.c: for the summary: what a set or delete wrote to (`tokens` begins with
 * the owner), and the same for the rarer events. */
void
film_seal_note_write(film_writer *writer, uint32_t code, uint64_t head,
                     film_input tokens);

void
film_seal_note_touched(film_writer *writer, const film_event *event);

/* The ids of values told by the rarer rows, whose tokens lie in their bodies. */
void
film_seal_note_greatest(const film_event *event, film_gathering *chunk);

void
film_seal_note_cells(const film_row *row, film_gathering *chunk);

void
film_seal_note_restored(const film_row *row, film_gathering *chunk);

/* seal_events.c: turns full windows of a thread into chunks; with `all` the last,
 * shorter one too. seal_records.c: the same for a shared stream, up to what is
 * committed. Both give windows back. */
FILM_NODISCARD film_status
film_seal_events(film_writer *writer, film_stream *stream, bool all);

FILM_NODISCARD film_status
film_seal_records(film_writer *writer, film_record_stream *stream);

FILM_NODISCARD film_status
film_seal_totals(film_writer *writer);

/* gone.c: a chunk of the stream is sealed: forgets the frames that no later one tells
 * of. */
void
film_gone_forget(film_writer *writer, const film_stream *stream);

void
film_gone_reset(film_gone_frames *gone);

FILM_NODISCARD film_status
film_seal_sources(film_writer *writer);

/* stream.c: gives back the windows of a stream that are sealed whole. */
void
film_stream_release(film_writer *writer, film_stream *stream);

/* Stops keeping events, for good; the first reason counts. */
void
film_writer_stop(film_writer *writer, film_status why);

static inline bool
film_writer_stopped(film_writer *writer)
{
    return atomic_load_explicit(&writer->stop_reason, memory_order_relaxed) != 0;
}

/* stream.c */

/* Gives a stream its first window. Lock held. False without memory or disk. */
bool
film_stream_begin(film_writer *writer, film_stream *stream,
                  const film_window_start *start);

/* Leaves the current window, `start` saying where the stream stands, and takes the
 * next one, waiting for the sealing thread where it lags. NULL: the writer has
 * stopped (it stops if no window can be had). */
film_window *
film_stream_next_window(film_writer *writer, film_stream *stream,
                        const film_window_start *start);

/* drain.c: room for the next row, which will be counted as lost. */
void
film_drain_next(film_thread_stream *thread);

/* drain.c: all that was lost so far is counted. Lock held, or nobody appends. */
void
film_drain_settle(film_writer *writer);

/* writer.c: as film_writer_count_lost. Lock held. */
void
film_writer_add_lost(film_writer *writer, uint64_t count);

/* sealer.c: frees a thread's stream whose rows are all in the file, or nowhere. Lock
 * held. */
void
film_stream_forget(film_writer *writer, film_stream *stream);

/* limits.c; taking and giving with the lock held */
_Atomic(uint64_t) *
film_limits_take(film_writer *writer);

void
film_limits_give(film_writer *writer, _Atomic(uint64_t) *word);

FILM_NODISCARD film_status
film_limits_begin(film_writer *writer, film_error *error);

void
film_limits_reset(film_writer *writer);

/* False in a forked child. */
bool
film_limits_are_ours(const film_writer *writer);

/* records.c: what stands for a function in digests, in this recording and in others;
 * its id where that is not known. The sealing thread's. */
uint64_t
film_writer_code_hash(film_writer *writer, uint32_t code);

/* records.c: false when the record could not be kept. Of the table, by any thread: */
bool
film_table_append(film_writer *writer, uint8_t kind, const film_buffer *body);

/* and of the values, by the holder of the GIL. */
bool
film_record_append(film_writer *writer, film_record_stream *stream, uint8_t kind,
                   const film_buffer *body);

/* close.c: releases memory, mappings and the descriptor; the file stays as it is. */
void
film_writer_free(film_writer *writer);

/* space.c: leaves the WINDOWS chunks out of the log, where that is worth it: what comes
 * then is the index. The file must say that it is closed: its windows are not looked at
 * any more. */
bool
film_space_is_to_be_compacted(const film_writer *writer);

void
film_space_compact(film_writer *writer);

/* space.c: the space of the arena, when the index is written. */
void
film_space_give_back(film_writer *writer);

/* close.c: the sum of what windows counted as lost. Lock held. */
uint64_t
film_writer_count_window_losses(film_writer *writer);

#endif
