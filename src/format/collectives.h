/* collectives.h: the functions of torch.distributed by which ranks communicate. The
 * recorder records their calls whatever its targets are; readers match them between
 * the recordings of several ranks.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_COLLECTIVES_H
#define FILMSTRIP_COLLECTIVES_H

#include <stdbool.h>
#include <stddef.h>

#define FILM_COLLECTIVES_MODULE "torch.distributed.distributed_c10d"

/* Who waits for whom. */
typedef enum film_collective_kind {
    FILM_COLLECTIVE_BEGIN,     /* init_process_group */
    FILM_COLLECTIVE_GROUP,     /* makes a group of ranks */
    FILM_COLLECTIVE_ALL,       /* nobody leaves before everybody has entered */
    FILM_COLLECTIVE_FROM_ROOT, /* nobody leaves before the root has entered */
    FILM_COLLECTIVE_TO_ROOT,   /* the root leaves when all have entered */
    FILM_COLLECTIVE_PAIR       /* between two ranks */
} film_collective_kind;

typedef struct film_collective_function {
    const char *name;
    film_collective_kind kind;
    bool blocks;      /* its caller waits, wherever its tensors are */
    const char *root; /* the argument with the root's rank; NULL: it has no root */
} film_collective_function;

/* NULL: it is none of them. */
const film_collective_function *
film_collective_find(const char *module, const char *qualname);

#endif
