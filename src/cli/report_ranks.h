/* report_ranks.h: the report of several ranks: who was slow, and who did not come.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_REPORT_RANKS_H
#define FILMSTRIP_REPORT_RANKS_H

#include "analysis/rank_ends.h"
#include "analysis/rank_steps.h"
#include "cli/reading.h"

typedef struct film_ranks_report {
    film_ranks ranks;
    film_rank_steps steps;
    film_rank_ends ends;
    const char *function; /* borrowed; NULL: collectives end the steps */
    uint64_t limit;       /* steps shown to people; 0: all */
} film_ranks_report;

/* Reads and prints; `function` and `limit` as above. */
FILM_NODISCARD film_status
film_report_ranks(film_reading *reading, const char *function, uint64_t limit,
                  bool json);

void
film_ranks_report_print(const film_ranks_report *report, film_output *output);

void
film_ranks_report_print_json(const film_ranks_report *report, film_output *output);

/* Two ranks that called different functions for the same collective of a group: the
 * first one; false: there is none. */
bool
film_ranks_disagree(const film_ranks *ranks, const film_rank_group *group,
                    uint32_t number, size_t *one, size_t *other);

#endif
