/* scratch.h: memory for one piece of work. Its tables lie one behind the other in few
 * blocks, of big pages where there is much of it, and are let go all at once. The plan of
 * a long module is made in 3 MB: to be given them in 700 pages took as long as the
 * planner itself.
 *
 * Zeroed before the first use. Threads: one at a time.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_SCRATCH_H
#define FILMSTRIP_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

typedef struct film_scratch {
    struct film_scratch_block *newest; /* owned, with those before it */
    size_t used;                       /* bytes of the newest */
    size_t last; /* where in it the table lies that was taken last */
} film_scratch;

/* Lets all tables go and makes room for about so many bytes, in the memory of those
 * before where it will do. False when memory is out. */
bool
film_scratch_begin(film_scratch *scratch, size_t bytes);

/* A table, not zeroed, that can be used until all are let go; NULL when memory is out.
 * Only between begin and reset. */
void *
film_scratch_take(film_scratch *scratch, size_t count, size_t item_bytes);

/* Of the table that was taken last only so many bytes are needed. */
void
film_scratch_trim(film_scratch *scratch, size_t bytes);

/* film_scratch_grow where there is no room. */
void *
film_scratch_grow_further(film_scratch *scratch, void *table, size_t *capacity,
                          size_t needed, size_t item_bytes);

/* As film_grow: a table of *capacity items with room for `needed`, doubled; NULL when
 * memory is out, and then it stays as it was. */
static inline void *
film_scratch_grow(film_scratch *scratch, void *table, size_t *capacity, size_t needed,
                  size_t item_bytes)
{
    return needed <= *capacity && table != NULL
               ? table
               : film_scratch_grow_further(scratch, table, capacity, needed,
                                           item_bytes);
}

/* Gives the memory back. */
void
film_scratch_reset(film_scratch *scratch);

#endif
