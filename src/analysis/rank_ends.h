/* rank_ends.h: where each rank was at the end of its recording, and which collectives
 * some ranks were waiting in while others had not come: what a hung job looks like.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_ANALYSIS_RANK_ENDS_H
#define FILMSTRIP_ANALYSIS_RANK_ENDS_H

#include "analysis/ranks.h"

/* A frame that was open at the end. */
typedef struct film_rank_frame {
    uint32_t code, line; /* 0: no line is known */
} film_rank_frame;

typedef struct film_rank_end {
    uint64_t last_ns; /* its last event in any thread, on the common line */
    uint64_t event;   /* number of the last event of `thread` */
    uint32_t thread;  /* the one that waits in a collective, else the first; 0: none */
    uint8_t kind;     /* of that event */
    const film_collective *within; /* it has not left it; NULL: none */
    film_rank_frame *frames;       /* owned; of `thread`, outermost first */
    size_t depth;
} film_rank_end;

/* A collective that ranks have come to and not left. */
typedef struct film_unfinished {
    const film_rank_group *group;
    uint32_t number;
    const char *name;
    uint64_t since_ns;       /* when the first of them came, on the common line */
    size_t waiting, missing; /* ranks with a recording */
} film_unfinished;

typedef struct film_rank_ends {
    film_rank_end *items; /* owned; by rank */
    size_t count;
    film_unfinished *unfinished; /* owned */
    size_t unfinished_count, unfinished_capacity;
    uint64_t
        end_ns; /* the last event of all ranks, on the common line; where one of this
                        machine still runs, now */
    bool is_now;
} film_rank_ends;

/* `ends` is zeroed; after a failure it is to be reset like any other. */
FILM_NODISCARD film_status
film_rank_ends_read(const film_ranks *ranks, film_rank_ends *ends, film_error *error);

void
film_rank_ends_reset(film_rank_ends *ends);

#endif
