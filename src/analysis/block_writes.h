/* block_writes.h: the writes to attributes and items of objects in one block of a
 * thread's events, in order: what is needed to put together what an object held. Much
 * smaller than a scene, so that many blocks are kept: objects that are asked about
 * together were written to in the same blocks.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_BLOCK_WRITES_H
#define FILMSTRIP_BLOCK_WRITES_H

#include <filmstrip/reader.h>

#include "base/buffer.h"

/* Blocks kept, and how many bytes of them but for one. */
#define FILM_BLOCK_WRITES 1024u
#define FILM_BLOCK_WRITES_BYTES ((size_t)48 << 20)

typedef struct film_block_write {
    uint64_t serial;  /* the owner's */
    uint64_t time_ns; /* of its event */
    uint32_t index;   /* of the event in the block */
    uint32_t name;    /* of the attribute; 0: an item */
    uint32_t tokens;  /* in the list's bytes: key (items), value (unless deleted) */
    uint16_t length;  /* of the tokens */
    uint8_t effect;   /* film_item_effect */
    bool deleted;
} film_block_write;

typedef struct film_writes_list {
    uint32_t thread; /* 0: free */
    uint64_t block;
    uint64_t used;
    film_block_write *items; /* owned */
    size_t count, capacity;
    film_buffer tokens;
    size_t bytes; /* of memory */
} film_writes_list;

typedef struct film_writes_lists {
    film_writes_list *lists; /* owned; NULL: none was asked for yet */
    size_t bytes;
    uint64_t clock;
    uint64_t made; /* counts lists, for tests */
} film_writes_lists;

/* The list of a block, borrowed until the next call. */
FILM_NODISCARD film_status
film_writes_of_block(film_writes_lists *lists, film_reader *reader, uint32_t thread,
                     uint64_t block, const film_writes_list **out, film_error *error);

void
film_writes_lists_reset(film_writes_lists *lists);

#endif
