/* sums.h: sums over numbers that lie in order, two to a vector.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_TORCH_SUMS_H
#define FILMSTRIP_RECORDER_TORCH_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct film_sums {
    double least, greatest;
    double shift;        /* what was taken off each number before it was summed up */
    double sum, squares; /* of x - shift and of its square */
    uint64_t zeros;
} film_sums;

/* Of `count` numbers, at least one: doubles, or floats where `narrow`. `from` need not be
 * aligned. False: some number is not finite, or beside it the square of one is none; all
 * but least and greatest, where all numbers are finite, is then without meaning. */
bool
film_sums_of(const unsigned char *from, bool narrow, size_t count, film_sums *out);

#endif
