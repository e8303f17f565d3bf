/* collectives.h: the collectives of one recording, numbered within their groups.
 * All ranks of a group call its collectives in one order, so what has the same group and
 * number in two recordings is one collective.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_ANALYSIS_COLLECTIVES_H
#define FILMSTRIP_ANALYSIS_COLLECTIVES_H

#include <filmstrip/reader.h>

#include "format/collectives.h"

#define FILM_NEVER_NS UINT64_MAX
#define FILM_NO_GROUP UINT32_MAX

typedef struct film_collective {
    const film_collective_function *function;
    uint64_t event;    /* number of its call, in its thread */
    uint64_t frame;    /* serial */
    uint64_t enter_ns; /* of the recording */
    uint64_t leave_ns; /* FILM_NEVER_NS: the recording has no end of it */
    int64_t root;      /* rank; -1: none, or not known */
    uint32_t thread;
    uint32_t group;  /* of film_collectives.groups; FILM_NO_GROUP: not known */
    uint32_t number; /* in the group, from 0; for what is between two ranks 0 */
    bool waits;      /* its caller has waited: it left when it was over */
    bool raised;
} film_collective;

/* Groups have the same key in all recordings: empty for the default group, else the
 * ranks in it, "[0, 2]", for the second one of these "[0, 2] (2)". */
typedef struct film_collective_group {
    char *key;       /* owned */
    uint64_t serial; /* of its object; 0: the default group's */
    uint32_t count;  /* collectives so far */
} film_collective_group;

typedef struct film_collectives {
    film_collective *items; /* owned; in order of time */
    size_t count, capacity;
    film_collective_group *groups; /* owned; [0] is the default one */
    size_t group_count, group_capacity;
    bool groups_unknown; /* arguments were not recorded, and there are several groups */
    bool cut;            /* a ring has given up the beginning: no number is known */
} film_collectives;

/* `collectives` is zeroed. After a failure it is to be reset like any other. */
FILM_NODISCARD film_status
film_collectives_read(film_reader *reader, film_collectives *collectives,
                      film_error *error);

void
film_collectives_reset(film_collectives *collectives);

#endif
