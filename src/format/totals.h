/* totals.h: hits and time per function and per place that called, for a whole
 * recording so far: what heat and hit counts show at once.
 *
 * Payload of a TOTALS chunk: number of functions, then for each: code - last code,
 * calls, own ticks; number of places, then for each: code - last code, offset, hits
 * (calls and resumes that ended), ticks in the callees. All varints, in order of code
 * and offset; later chunks replace earlier ones.
 *
 * Only the functions that were told first have totals, and the places in them: a program
 * that compiles new code for ever would fill the memory with them, and each chunk.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_TOTALS_H
#define FILMSTRIP_TOTALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "format/state.h"
#include "format/summary.h"

#define FILM_TOTALS_CODES 32768u

typedef struct film_function_total {
    uint64_t calls, own_ticks;
} film_function_total;

typedef struct film_place_total {
    uint32_t code, offset;
    uint64_t hits; /* 0: a free slot */
    uint64_t ticks;
} film_place_total;

/* Places met lately, by a hash of code and offset: most returns find theirs here. */
#define FILM_RECENT_PLACES 256u

typedef struct film_totals {
    film_function_total *functions; /* owned; by code id */
    size_t function_capacity;
    film_place_total *places; /* owned; open addressing */
    size_t place_capacity, place_count;
    film_place_total recent[FILM_RECENT_PLACES];
    bool failed; /* memory ran out; what is there is a lower bound */
} film_totals;

/* Adds what a chunk's summary has gathered per function; once a chunk, which is much
 * cheaper than once an event. */
void
film_totals_add(film_totals *totals, film_summary *summary);

/* Puts a recent place's counts into the table and makes it free. */
void
film_totals_settle(film_totals *totals, film_place_total *recent);

/* Counts the frame that film_state_apply has just closed (state->has_closed) as a hit
 * of the place that called or resumed it. */
static inline void
film_totals_close(film_totals *totals, const film_state *state)
{
    const film_frame *closed = &state->closed;
    film_place_total *recent;
    uint32_t code, offset;

    if (closed->site == 0 || state->depth == 0) {
        return; /* nobody recorded called it, or not from a known place */
    }
    code = state->frames[state->depth - 1].code;
    offset = closed->site - 1;
    recent = &totals->recent[(code * 31 + offset) % FILM_RECENT_PLACES];
    if (__builtin_expect(recent->code != code || recent->offset != offset, 0)) {
        film_totals_settle(totals, recent);
        recent->code = code;
        recent->offset = offset;
    }
    recent->hits++;
    recent->ticks += state->tick - closed->enter_tick;
}

void
film_totals_encode(film_totals *totals, film_buffer *out);

void
film_totals_reset(film_totals *totals);

#endif
