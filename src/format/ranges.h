/* ranges.h: a set of numbers as a few ranges that hold all of them, and perhaps others:
 * number of ranges, each: first - end of the range before, length - 1.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RANGES_H
#define FILMSTRIP_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* How many `most` may be. */
#define FILM_RANGES_MOST 64u

/* Sorts the numbers and appends at most `most` ranges; or, where at most `exact` ranges
 * hold them and nothing else, those. */
void
film_ranges_put(uint64_t *numbers, size_t count, unsigned most, unsigned exact,
                film_buffer *out);

typedef struct film_range {
    uint64_t first, last;
} film_range;

/* Takes ranges from the input into `to`, which holds `room`; gives how many there are,
 * though they did not fit. */
size_t
film_ranges_take(film_input *input, film_range *to, size_t room);

/* Takes ranges from the input; whether one of them holds the number. True as well where
 * the input fails. */
bool
film_ranges_hold(film_input *input, uint64_t number);

#endif
