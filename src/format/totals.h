/* totals.h: hits and time per function and per place that called, for a whole
 * recording so far: what heat and hit counts show at once.
 *
 * Payload of a TOTALS chunk: number of functions, then for each: code - last code,
 * calls, own ticks; number of places, then for each: code - last code, offset, hits
 * (calls and resumes that ended), ticks in the callees. All varints, in order of code
 * and offset; later chunks replace earlier ones. SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_TOTALS_H
#define FILMSTRIP_TOTALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "format/state.h"
#include "format/summary.h"

typedef struct film_function_total {
    uint64_t calls, own_ticks;
} film_function_total;

typedef struct film_place_total {
    uint32_t code, offset;
    uint64_t hits; /* 0: a free slot */
    uint64_t ticks;
} film_place_total;

typedef struct film_totals {
    film_function_total *functions; /* owned; by code id */
    size_t function_capacity;
    film_place_total *places; /* owned; open addressing */
    size_t place_capacity, place_count;
    bool failed; /* memory ran out; what is there is a lower bound */
} film_totals;

/* Adds what a chunk's summary has gathered per function; once a chunk, which is much
 * cheaper than once an event. */
void
film_totals_add(film_totals *totals, const film_summary *summary);

/* Counts the frame that film_state_apply has just closed (state->has_closed) as a hit
 * of the place that called or resumed it. */
void
film_totals_close(film_totals *totals, const film_state *state);

void
film_totals_encode(const film_totals *totals, film_buffer *out);

void
film_totals_reset(film_totals *totals);

#endif
