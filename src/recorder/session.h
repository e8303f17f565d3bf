/* session.h: the one recording a process can have, and its life.
 *
 * Two numbers steer the hot path. `token` is what a thread must carry to append: a new
 * one is drawn at every start, resume and fork, and it is FILM_TOKEN_OFF (which no
 * thread ever carries) while paused or stopped, so one comparison answers "may I, and
 * is my stack still right?". `generation` is what a code object must carry for its id
 * to mean something in this file.
 *
 * Threads: all fields belong to the holder of the GIL, but `lifecycle`, which orders a
 * thread's death (no GIL) against the closing of the file.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_SESSION_H
#define FILMSTRIP_RECORDER_SESSION_H

#include "recorder/compat.h"

#include <pthread.h>
#include <stdatomic.h>

#include "format/redact.h"
#include "recorder/targets.h"
#include "writer/writer.h"

/* Which of torch's operations are recorded: those that Python calls, those that C++ calls
 * itself too. */
enum film_torch { FILM_TORCH_OFF, FILM_TORCH_OPS, FILM_TORCH_ALL };

enum film_level { FILM_LEVEL_CALLS, FILM_LEVEL_LINES, FILM_LEVEL_VALUES };

typedef struct film_session_options {
    char *path; /* owned */
    bool replace;
    bool c_calls;
    bool exceptions;
    bool children;
    bool outer_calls; /* where a target was called from is told though that is no target
                       */
    bool held_too;    /* code that was given an object may have changed the containers
                         its attributes hold: they are looked at then, as ObjWatch does */
    uint64_t ring_bytes;
    uint32_t tick_ns;
    uint32_t level;  /* film_level */
    bool line_times; /* a clock reading for each line */
    uint32_t text_bytes, items,
        item_depth;           /* how much of a value is kept; 0: default */
    uint32_t values;          /* film_values_scope */
    uint32_t torch;           /* film_torch */
    bool torch_gpu;           /* what ran on the GPU, by CUPTI */
    bool torch_values;        /* summaries of what tensors hold */
    char *home;               /* owned; shortened to ~ in file names, may be NULL */
    film_targets targets;     /* owned */
    film_redaction redaction; /* owned */
    film_string_list meta;    /* owned: key, value, key, value ... */
} film_session_options;

#define FILM_TOKEN_OFF UINT64_MAX

typedef struct film_session {
    /* Read at every event. */
    uint64_t token;
    uint64_t generation;
    film_writer *writer;                  /* NULL: no recording */
    const _Atomic(uint64_t) *value_floor; /* film_writer_value_floor of it */
    PyObject *disable; /* sys.monitoring.DISABLE, owned; NULL on 3.11 */

    /* Read when something is seen for the first time. */
    Py_ssize_t extra_index; /* co_extra slot, -1 until the first start */
    PyObject *name_key;     /* "__name__", owned */
    PyObject *file_key;     /* "__file__", owned */
    film_session_options options;
    size_t base_length; /* of path: what the names of forked children begin with */
    char *child_path;   /* this file's name in a forked child, owned; else NULL */
    uint64_t started_ns;
    /* Told by info: places a plan did not foresee, codes without a plan. */
    uint64_t unknown_edges, plans_missing;
    bool captures;    /* level values, with its tables in place */
    bool has_tables;  /* those tables are in place, for whatever needs them */
    bool operations;  /* torch's operations are recorded */
    uint64_t counter; /* source of tokens and generations; never runs back */
    bool paused;
    /* Set in a forked child by fork.c: the writer is the parent's. */
    volatile bool forked;
    bool had_recording; /* an earlier recording left places disabled */
    pthread_mutex_t lifecycle;
} film_session;

extern film_session film_the_session;

/* Has values recorded from now on, at whatever level; false when memory is out. */
bool
film_session_begin_values(void);

/* The lowest value id that may be referred to, and whether a record (value id + 1; 0:
 * none) may be: a ring drops old ones, which have to be written again. */
static inline uint64_t
film_value_floor(void)
{
    return atomic_load_explicit(film_the_session.value_floor, memory_order_relaxed);
}

static inline bool
film_record_is_kept(uint64_t record)
{
    return record > film_value_floor();
}

/* Opens the file, then puts the hooks on. Takes what *options owns (leaves it zeroed)
 * in any case. False with a Python exception set: one sentence. */
bool
film_session_start(film_session_options *options);

/* Takes the hooks off and closes the file. False when nothing was active. *path is the
 * file's name, owned by the caller. `meta`: key, value, key, value ... */
bool
film_session_stop(const film_string_list *meta, film_writer_stats *stats, char **path);

/* True while there is a recording, paused or not; in a forked child this opens the
 * child's own first. */
bool
film_session_is_active(void);

/* True when the disk was full or failed: events are counted, not kept. */
bool
film_session_has_stopped(void);

/* The file being written; borrowed until stop. */
const char *
film_session_path(void);

/* False: it was paused already. */
bool
film_session_pause(void);

void
film_session_resume(void);

/* A lost_control event in the calling thread's stream. */
void
film_session_lost_control(const char *reason, uint64_t count);

/* Forked child, at its first event: leaves the parent's file alone and opens one of
 * its own. False: this process is not recorded. */
bool
film_session_take_over_child(void);

/* `path` with the home directory shortened to ~, in `to` or `path` itself. */
const char *
film_session_short_name(const char *path, char *to, size_t capacity);

void
film_session_options_reset(film_session_options *options);

#endif
