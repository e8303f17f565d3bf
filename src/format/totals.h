/* totals.h: hits and time per function and per place that called, for a whole
 * recording so far: what heat and hit counts show at once.
 *
 * Payload of a TOTALS chunk: number of functions, then for each: code - last code,
 * calls, own ticks; number of places, then for each: code - last code, offset, hits,
 * ticks in the callees. All varints, in order of code and offset; later chunks replace
 * earlier ones.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_TOTALS_H
#define FILMSTRIP_TOTALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "format/state.h"

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

void
film_totals_elapse(film_totals *totals, uint32_t code, uint64_t ticks);

/* Notes an event that film_state_apply has just made. */
void
film_totals_note(film_totals *totals, const film_state *state, const film_event *event);

void
film_totals_encode(const film_totals *totals, film_buffer *out);

void
film_totals_reset(film_totals *totals);

#endif
