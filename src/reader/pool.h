/* pool.h: memory that is kept until the reader goes: names, code, meta.
 * Blocks never move, so what lies in them can be handed out. A budget bounds what a
 * hostile file can make the reader keep.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_POOL_H
#define FILMSTRIP_POOL_H

#include <stddef.h>
#include <stdint.h>

#include <filmstrip/reader.h>
#include <filmstrip/status.h>

/* All names and code of one recording. A real one has 30 to 300 KiB. */
#define FILM_POOL_BUDGET (256u << 20)

typedef struct film_pool_block film_pool_block;

typedef struct film_pool {
    film_pool_block *blocks; /* owned; newest first */
    size_t used, size;       /* of the newest block */
    size_t total;
} film_pool;

/* `bytes` bytes aligned for any number, not zeroed. FILM_NO_MEMORY; FILM_LIMIT when
 * the budget is spent. */
FILM_NODISCARD film_status
film_pool_take(film_pool *pool, size_t bytes, void **out);

/* A copy of the bytes; *out is not NULL even if there are none. */
FILM_NODISCARD film_status
film_pool_bytes(film_pool *pool, const uint8_t *bytes, size_t length,
                const uint8_t **out);

/* A copy as UTF-8 with a NUL behind it. */
FILM_NODISCARD film_status
film_pool_text(film_pool *pool, const uint8_t *bytes, size_t length, film_text *out);

void
film_pool_reset(film_pool *pool);

#endif
