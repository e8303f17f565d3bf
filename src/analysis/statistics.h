/* statistics.h: where the time went: calls and times of each function and of each
 * caller-callee pair, by cProfile's rules.
 *
 *   own_ns    time in the function itself, every activation
 *   total_ns  with what it called; only activations that are not inside another one
 *             of the same function, so recursion is not counted twice
 *   edges     the same for the pair; "inside another one" then means of the same pair
 *
 * An activation begins at a call, resume or throw and ends at a return, yield or
 * unwind: that is what cProfile counts as a call; ops count as C functions do. `calls` counts real calls only.
 * Memory grows with functions and pairs, not with events.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_STATISTICS_H
#define FILMSTRIP_STATISTICS_H

#include "analysis/functions.h"

typedef struct film_tally {
    uint64_t calls, primitive_calls;
    uint64_t activations, primitive_activations;
    uint64_t own_ns, total_ns;
    uint32_t level; /* activations open now */
} film_tally;

typedef struct film_edge {
    film_tally tally;
    uint32_t caller, callee; /* numbers of film_functions */
} film_edge;

typedef struct film_statistics film_statistics;

/* The caller owns *out; it borrows `functions`. */
FILM_NODISCARD film_status
film_statistics_new(film_functions *functions, film_statistics **out,
                    film_error *error);

void
film_statistics_free(film_statistics *statistics);

/* Adds one thread. After a failure the numbers are not to be used. */
FILM_NODISCARD film_status
film_statistics_add_thread(film_statistics *statistics, size_t recording,
                           uint32_t thread, film_error *error);

/* Adds every thread of every recording. */
FILM_NODISCARD film_status
film_statistics_add_all(film_statistics *statistics, film_error *error);

/* Forgets the numbers, keeps the memory. */
void
film_statistics_clear(film_statistics *statistics);

/* By function number; functions that never ran here have a zero tally. */
const film_tally *
film_statistics_functions(const film_statistics *statistics, size_t *count);

const film_edge *
film_statistics_edges(const film_statistics *statistics, size_t *count);

/* All own times together. */
uint64_t
film_statistics_own_ns(const film_statistics *statistics);

#endif
