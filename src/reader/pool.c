/* pool.c: see pool.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reader/pool.h"

#include <stdalign.h>
#include <string.h>

#include "base/alloc.h"
#include "reader/text.h"

#define BLOCK_BYTES ((size_t)64 << 10)

struct film_pool_block {
    film_pool_block *next;
    alignas(16) uint8_t bytes[];
};

film_status
film_pool_take(film_pool *pool, size_t bytes, void **out)
{
    film_pool_block *block;
    size_t rounded, size;

    if (bytes > FILM_POOL_BUDGET) {
        return FILM_LIMIT;
    }
    rounded = (bytes + 15) & ~(size_t)15;
    if (pool->blocks == NULL || pool->size - pool->used < rounded) {
        size = rounded > BLOCK_BYTES ? rounded : BLOCK_BYTES;
        if (pool->total + size > FILM_POOL_BUDGET) {
            return FILM_LIMIT;
        }
        block = film_alloc(sizeof(*block) + size);
        if (block == NULL) {
            return FILM_NO_MEMORY;
        }
        block->next = pool->blocks;
        pool->blocks = block;
        pool->used = 0;
        pool->size = size;
        pool->total += size;
    }
    *out = pool->blocks->bytes + pool->used;
    pool->used += rounded;
    return FILM_OK;
}

film_status
film_pool_bytes(film_pool *pool, const uint8_t *bytes, size_t length,
                const uint8_t **out)
{
    void *to;

    FILM_TRY(film_pool_take(pool, length, &to));
    if (length > 0) {
        memcpy(to, bytes, length);
    }
    *out = to;
    return FILM_OK;
}

film_status
film_pool_text(film_pool *pool, const uint8_t *bytes, size_t length, film_text *out)
{
    size_t repaired = film_text_repaired_length(bytes, length);
    void *to;

    FILM_TRY(film_pool_take(pool, repaired + 1, &to));
    film_text_repair(to, bytes, length);
    out->data = to;
    out->length = repaired;
    return FILM_OK;
}

void
film_pool_reset(film_pool *pool)
{
    film_pool_block *block = pool->blocks;

    while (block != NULL) {
        film_pool_block *next = block->next;
        film_free(block);
        block = next;
    }
    memset(pool, 0, sizeof(*pool));
}
