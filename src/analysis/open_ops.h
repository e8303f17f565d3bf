/* open_ops.h: ops that have begun and not ended yet, for one who goes over events in order
 * and wants to know, at an op's end, when it began.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_OPEN_OPS_H
#define FILMSTRIP_OPEN_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <filmstrip/event.h>

typedef struct film_open_op {
    uint64_t number; /* of its event */
    uint64_t time_ns;
    uint64_t frame;    /* 0: it is in none */
    uint32_t function; /* string id */
    uint32_t depth;    /* of its frame */
    uint32_t note;     /* the caller's */
    bool mark;         /* the same, for film_open_ops_marked */
    uint8_t flags;     /* FILM_OPERATION_ */
} film_open_op;

typedef struct film_thread_ops {
    uint64_t key;
    film_open_op *ops; /* owned; outermost first */
    size_t count, capacity;
} film_thread_ops;

/* Valid when zeroed. */
typedef struct film_open_ops {
    film_thread_ops *threads; /* owned */
    size_t count, capacity;
} film_open_ops;

void
film_open_ops_reset(film_open_ops *open);

/* The open ops of that recording's thread, outermost first; NULL: it has none. */
film_thread_ops *
film_open_ops_of(film_open_ops *open, size_t recording, uint32_t thread);

/* How many of them carry the mark. */
uint32_t
film_open_ops_marked(const film_open_ops *open, size_t recording, uint32_t thread);

/* Forgets those that an event shows to have ended unseen: their frame is gone. */
void
film_open_ops_settle(film_open_ops *open, size_t recording, const film_event *event);

/* Notes an op event. NULL: memory ran out, and its end will not know of it. Valid until
 * the next op. */
film_open_op *
film_open_ops_begin(film_open_ops *open, size_t recording, const film_event *event);

/* Takes the op out that an op_end event ends, and those within it that have no end. False:
 * its beginning was not seen. */
bool
film_open_ops_end(film_open_ops *open, size_t recording, const film_event *event,
                  film_open_op *out);

#endif
