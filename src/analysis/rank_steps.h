/* rank_steps.h: how long each rank took for each step, without waiting for the others.
 * A step ends where its rank comes to a collective of the default group, and begins
 * where it left the one before; or it is a call of a chosen function. Time in collectives
 * within it, of whichever group, does not count. Times of one rank are by its own clock, so how well clocks agree does not
 * matter.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_ANALYSIS_RANK_STEPS_H
#define FILMSTRIP_ANALYSIS_RANK_STEPS_H

#include "analysis/ranks.h"

typedef struct film_rank_step {
    const char *until;   /* the collective's name; NULL: a call */
    uint32_t number;     /* of the collective in its group, or of the call, from 0 */
    size_t slowest;      /* index of the rank */
    uint64_t slowest_ns; /* what it took */
    uint64_t others_ns;  /* the median of the others */
    uint64_t waited_ns;  /* all others' time in the collective, taken together */
    uint64_t at_ns;      /* when the slowest was done, on the common line */
} film_rank_step;

typedef struct film_rank_total {
    uint64_t busy_ns, waited_ns; /* in all steps; in their collectives */
    uint32_t slowest;            /* steps in which it was the slowest */
} film_rank_total;

typedef struct film_rank_steps {
    film_rank_step *items; /* owned */
    size_t count, capacity;
    uint64_t *took;          /* owned; of rank i in step n at n * ranks + i */
    size_t took_capacity;    /* steps */
    film_rank_total *totals; /* owned; by rank */
} film_rank_steps;

/* `function`: a name or pattern of the function whose calls are steps; NULL: the
 * collectives end them. Only steps that all ranks have are told. `steps` is zeroed;
 * after a failure it is to be reset like any other. */
FILM_NODISCARD film_status
film_rank_steps_read(const film_ranks *ranks, const char *function,
                     film_rank_steps *steps, film_error *error);

void
film_rank_steps_reset(film_rank_steps *steps);

#endif
