/* state.h: what is true in a thread after a row: its open frames, time, exception.
 * The sealing thread replays rows through it to write keyframes and summaries, readers
 * to turn rows into events: one piece of code, so both agree.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_STATE_H
#define FILMSTRIP_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <filmstrip/event.h>
#include <filmstrip/reader.h>
#include <filmstrip/status.h>

#include "base/buffer.h"
#include "format/locals.h"
#include "format/row.h"

/* Bytes of values before one event: some thousand arguments; a bound for hostile files.
 */
#define FILM_STATE_MAX_VALUES (256u << 10)

/* More open frames than any real program has; a bound for hostile files. */
#define FILM_STATE_MAX_DEPTH (8u << 20)

typedef struct film_state {
    film_frame *frames; /* owned; outermost first */
    size_t depth, capacity;
    film_frame closed; /* the frame the last row closed, if has_closed */
    bool has_closed;
    uint32_t thread;
    uint32_t tick_ns;
    uint64_t event;        /* number of the next event */
    uint64_t tick;         /* time of the last row, file ticks */
    uint64_t next_frame;   /* serial of the next call or adopted frame */
    uint64_t last_resumed; /* what the next resume is relative to */
    uint64_t task;         /* current asyncio task, 0 none */
    uint32_t task_name;
    uint32_t exception_type; /* raised and not yet handled; 0 none */
    uint64_t exception_value;
    /* Tokens of VALUES rows that wait for their event, or were given with the last. */
    film_buffer values; /* owned */
    uint32_t value_count;
    bool values_given;
    film_locals *locals; /* borrowed; NULL: variables are not kept */
    /* Bodies of CELLS rows that wait for their call, or were given with the last. */
    film_buffer cells; /* owned */
    bool cells_given;
    /* The same of RESTORED rows, which wait for the next event. */
    film_buffer restored; /* owned */
    uint64_t restored_frame;
    bool restored_given;
} film_state;

/* The state before a thread's first row. */
void
film_state_begin(film_state *state, uint32_t thread, uint32_t tick_ns);

/* Applies a row (delta in file ticks) and describes it as an event. *is_event tells an
 * event from an adjustment (then *event is not to be used). FILM_CORRUPT: a row that
 * cannot follow this state; FILM_NO_MEMORY. */
FILM_NODISCARD film_status
film_state_apply(film_state *state, const film_row *row, film_event *event,
                 bool *is_event);

void
film_state_reset(film_state *state);

/* Forgets values that wait for an event: rows between were lost. */
void
film_state_forget_values(film_state *state);

/* The same of cells and restored variables. */
void
film_state_forget_variables(film_state *state);

/* Room for one more frame. FILM_CORRUPT past the greatest depth, FILM_NO_MEMORY. */
FILM_NODISCARD film_status
film_state_grow(film_state *state);

static inline film_frame *
film_state_top(film_state *state)
{
    return state->depth == 0 ? NULL : &state->frames[state->depth - 1];
}

/* What a call does to the stack; used by film_state_apply and, without the event, by
 * the sealing thread's fast path. The caller's place becomes known when it calls. */
static inline void
film_state_note_site(film_state *state, uint32_t site)
{
    if (site != 0 && state->depth > 0) {
        film_frame *caller = &state->frames[state->depth - 1];
        caller->offset = site - 1; /* NOLINT: a depth has its frames */
        caller->home_chunk = 0;    /* it changed since a keyframe stored it */
    }
}

static inline film_status
film_state_push(film_state *state, uint64_t serial, uint32_t code, uint32_t offset,
                uint32_t site)
{
    film_frame *frame;

    if (__builtin_expect(state->depth == state->capacity, 0)) {
        FILM_TRY(film_state_grow(state));
    }
    frame = &state->frames[state->depth++];
    *frame = (film_frame){.serial = serial,
                          .call_event = state->event,
                          .enter_tick = state->tick,
                          .call_tick = state->tick,
                          .code = code,
                          .offset = offset,
                          .site = site};
    return FILM_OK;
}

/* The cells that wait are those of the frame just pushed. */
void
film_state_bind_cells(film_state *state);

/* The frame just pushed is a new one: its variables are the values that wait. */
static inline void
film_state_begin_locals(film_state *state, const uint8_t *tokens, size_t length,
                        uint32_t count)
{
    if (state->locals != NULL) {
        uint32_t block = film_locals_take(state->locals);
        state->frames[state->depth - 1].locals = block;
        film_locals_set_arguments(state->locals, block, tokens, length, count);
        if (__builtin_expect(state->cells.length != 0, 0)) {
            film_state_bind_cells(state);
        }
    }
}

/* A set (without tokens: a delete) of a variable of the top frame. */
static inline void
film_state_keep_write(film_state *state, uint64_t head, const uint8_t *tokens,
                      size_t length)
{
    film_frame *top;
    uint32_t number = (uint32_t)(head >> FILM_SET_SHIFT);

    if (state->locals == NULL || state->depth == 0) {
        return;
    }
    top = &state->frames[state->depth - 1];
    top->home_chunk = 0;
    if ((head & 7) == FILM_SET_LOCAL) {
        if (length > 0) {
            film_locals_set(state->locals, top->locals, number, tokens, length);
        }
        else {
            film_locals_delete(state->locals, top->locals, number);
        }
    }
    else if ((head & 7) == FILM_SET_CLASS) {
        film_locals_set_name(state->locals, top->locals, number, tokens, length);
    }
}

/* What a return does to the stack; the frame is in state->closed afterwards. */
static inline film_status
film_state_pop(film_state *state)
{
    if (__builtin_expect(state->depth == 0, 0)) {
        return FILM_CORRUPT;
    }
    state->closed = state->frames[--state->depth];
    state->has_closed = true;
    if (state->depth > 0) {
        film_frame *caller = &state->frames[state->depth - 1];
        caller->child_ticks += state->tick - state->closed.enter_tick;
        caller->home_chunk = 0;
    }
    return FILM_OK;
}

#endif
