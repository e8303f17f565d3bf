/* scratch.c: see scratch.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/scratch.h"

#include <stdalign.h>
#include <string.h>

#include "base/alloc.h"

typedef struct film_scratch_block {
    struct film_scratch_block *before; /* owned */
    size_t bytes;                      /* behind this head */
    alignas(max_align_t) unsigned char memory[];
} film_scratch_block;

#if defined(__SANITIZE_ADDRESS__)
#define FEWEST_BYTES                                                                   \
    0u /* each table in a block of its own: what is beside it is seen */
#else
#define FEWEST_BYTES ((size_t)16 << 10)
#endif

#define FEWEST_ITEMS 16u /* of a table that grows */

static void
free_blocks(film_scratch_block *block)
{
    while (block != NULL) {
        film_scratch_block *before = block->before;

        film_free(block);
        block = before;
    }
}

static bool
add_block(film_scratch *scratch, size_t bytes)
{
    film_scratch_block *block = film_alloc_scratch(sizeof(*block) + bytes);

    if (block == NULL) {
        return false;
    }
    block->before = scratch->newest;
    block->bytes = bytes;
    scratch->newest = block;
    scratch->used = scratch->last = 0;
    return true;
}

bool
film_scratch_begin(film_scratch *scratch, size_t bytes)
{
    size_t room = FEWEST_BYTES;

    while (FEWEST_BYTES != 0 && room < bytes) {
        room *= 2;
    }
    scratch->used = scratch->last = 0;
    if (scratch->newest != NULL && scratch->newest->bytes >= room) {
        free_blocks(scratch->newest->before);
        scratch->newest->before = NULL;
        return true;
    }
    film_scratch_reset(scratch);
    return add_block(scratch, room);
}

/* Where the next table begins. */
static size_t
next_place(const film_scratch *scratch)
{
    return (scratch->used + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
}

void *
film_scratch_take(film_scratch *scratch, size_t count, size_t item_bytes)
{
    size_t bytes, at = next_place(scratch);

    if (__builtin_mul_overflow(count, item_bytes, &bytes)) {
        return NULL;
    }
    if (at + bytes > scratch->newest->bytes || at + bytes < at) {
        size_t room = FEWEST_BYTES == 0 ? 0 : 2 * scratch->newest->bytes;

        if (!add_block(scratch, bytes > room ? bytes : room)) {
            return NULL;
        }
        at = 0;
    }
    scratch->last = at;
    scratch->used = at + bytes;
    return scratch->newest->memory + at;
}

void
film_scratch_trim(film_scratch *scratch, size_t bytes)
{
    scratch->used = scratch->last + bytes;
}

void *
film_scratch_grow_further(film_scratch *scratch, void *table, size_t *capacity,
                          size_t needed, size_t item_bytes)
{
    size_t wanted = 2 * *capacity > needed ? 2 * *capacity : needed, bytes;
    void *grown;

    wanted = wanted > FEWEST_ITEMS ? wanted : FEWEST_ITEMS;
    if (__builtin_mul_overflow(wanted, item_bytes, &bytes)) {
        return NULL;
    }
    /* The one taken last grows where it is. */
    if (table != NULL && table == scratch->newest->memory + scratch->last &&
        bytes <= scratch->newest->bytes - scratch->last) {
        scratch->used = scratch->last + bytes;
        *capacity = wanted;
        return table;
    }
    grown = film_scratch_take(scratch, wanted, item_bytes);
    if (grown != NULL && table != NULL) {
        memcpy(grown, table, *capacity * item_bytes);
    }
    *capacity = grown != NULL ? wanted : *capacity;
    return grown;
}

void
film_scratch_reset(film_scratch *scratch)
{
    free_blocks(scratch->newest);
    *scratch = (film_scratch){0};
}
