/* ranks.h: several ranks' recordings laid side by side: which of them came to which
 * collective, and when.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_ANALYSIS_RANKS_H
#define FILMSTRIP_ANALYSIS_RANKS_H

#include "analysis/collectives.h"
#include "analysis/recordings.h"

/* The recording of a rank's own process. */
typedef struct film_rank {
    size_t recording;
    int64_t rank;
    film_collectives collectives;
} film_rank;

/* One group, as all ranks together tell of it. */
typedef struct film_rank_group {
    const char *key; /* borrowed from the rank that told of it first */
    uint32_t count;  /* collectives: the most that any rank has */
    /* owned; of rank i its collective n at n * ranks + i: place in its items + 1, 0: it
     * has not come to it */
    uint32_t *met;
} film_rank_group;

typedef struct film_ranks {
    const film_recordings *set; /* borrowed */
    film_rank *items;           /* owned; in order of rank */
    size_t count;
    int64_t world_size;      /* 0: not known */
    film_rank_group *groups; /* owned; [0] is the default one, where any was recorded */
    size_t group_count, group_capacity;
} film_ranks;

/* Reads the collectives of all ranks. `ranks` is zeroed; after a failure it is to be
 * reset like any other. Recordings that are no rank's, or a helper's, are left out. */
FILM_NODISCARD film_status
film_ranks_read(const film_recordings *set, film_ranks *ranks, film_error *error);

void
film_ranks_reset(film_ranks *ranks);

/* What rank `index` has at that place of a group; NULL: nothing. */
const film_collective *
film_ranks_met(const film_ranks *ranks, const film_rank_group *group, uint32_t number,
               size_t index);

/* Whether the rank belongs to the group, as far as the group's key tells. */
bool
film_ranks_has_member(const film_rank_group *group, int64_t rank);

#endif
