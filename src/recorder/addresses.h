/* addresses.h: the items of a list or deque by their addresses: a word that stands for
 * all of them, which a queue's own methods change without a look at the others.
 *
 * word = sum of address(i) * STEP^(k + i), in 64 bits: an append adds a term, and what
 * leaves at the front takes its term along and moves k. The same addresses are the same
 * objects while the container holds them; of scalars that is not enough, because code
 * that is not recorded may replace one twice.
 * Threads: the holder of the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_ADDRESSES_H
#define FILMSTRIP_RECORDER_ADDRESSES_H

#include "recorder/compat.h"

#include "recorder/capture_types.h"
#include "recorder/plan.h"

typedef struct film_addresses {
    uint64_t word;         /* 0: not known (or empty) */
    uint64_t front, back;  /* powers of STEP: of the first item, of the next one */
    const PyObject *first; /* identity only */
} film_addresses;

/* `content`: LIST or DEQUE. `front`: of the word it is to be compared with, or 1. */
film_addresses
film_addresses_of(PyObject *sequence, film_content content, uint64_t front);

/* Brings `addresses`, of when the length was `length_before`, up to date after a method
 * with this effect, and no other. False: all of it must be looked at. */
bool
film_addresses_step(PyObject *sequence, film_content content, int64_t length_before,
                    film_effect effect, film_addresses *addresses);

#endif
