/* forward.h: which op of the forward pass a node of the backward pass belongs to.
 *
 * An op within torch's C++ carries the number that autograd gives the next node of its
 * thread, so the op that made node N is the last of that thread that began while the
 * number was N, or less: an op that makes several nodes carries the first one's number.
 * Numbers only grow, so what is kept is the least number of each block of events, and of
 * a few blocks, those asked about last, which op carries which.
 *
 * Threads: as the timeline, one at a time.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_FORWARD_H
#define FILMSTRIP_FORWARD_H

#include "analysis/timeline.h"

typedef struct film_forwards film_forwards;

typedef struct film_forward {
    uint32_t thread;
    uint64_t inner; /* event of the op that made the node */
    uint64_t op;    /* of the op around it that the program called; else inner again */
    uint32_t function, module; /* string ids, of `op` */
    uint32_t code, line; /* where the program called it, outside of torch's own code;
                            FILM_NO_CODE: no frame is known */
} film_forward;

/* Borrows the timeline. */
FILM_NODISCARD film_status
film_forwards_new(film_timeline *timeline, film_forwards **out, film_error *error);

/* With a timeline of its own. */
FILM_NODISCARD film_status
film_forwards_open(film_reader *reader, film_forwards **out, film_error *error);

void
film_forwards_free(film_forwards *forwards);

/* Whether an op is a node of the backward pass that has a number. */
bool
film_op_is_node(const film_event *event);

/* The op that made the node. FILM_END: it is not known. */
FILM_NODISCARD film_status
film_forwards_find(film_forwards *forwards, const film_event *node, film_forward *out,
                   film_error *error);

#endif
