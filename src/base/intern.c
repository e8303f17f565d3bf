/* intern.c: hash to id, linear probing, at most half full.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/intern.h"

#include <string.h>

#include "base/alloc.h"

/* 0 marks a free slot, so no text may have that hash. */
static uint64_t
usable(uint64_t hash)
{
    return hash == 0 ? 1 : hash;
}

static size_t
slot_of(const uint64_t *hashes, size_t capacity, uint64_t hash)
{
    size_t slot = (size_t)hash & (capacity - 1);

    while (hashes[slot] != 0 && hashes[slot] != hash) {
        slot = (slot + 1) & (capacity - 1);
    }
    return slot;
}

bool
film_intern_find(const film_intern *table, uint64_t hash, uint32_t *id)
{
    size_t slot;

    if (table->capacity == 0) {
        return false;
    }
    slot = slot_of(table->hashes, table->capacity, usable(hash));
    if (table->hashes[slot] == 0) {
        return false;
    }
    *id = table->ids[slot];
    return true;
}

static bool
enlarge(film_intern *table)
{
    size_t capacity = table->capacity == 0 ? 256 : table->capacity * 2;
    uint64_t *hashes = film_alloc_array(capacity, sizeof(*hashes));
    uint32_t *ids = film_alloc_array(capacity, sizeof(*ids));

    if (hashes == NULL || ids == NULL) {
        film_free(hashes);
        film_free(ids);
        return false;
    }
    for (size_t i = 0; i < table->capacity; i++) {
        if (table->hashes[i] != 0) {
            size_t slot = slot_of(hashes, capacity, table->hashes[i]);
            hashes[slot] = table->hashes[i];
            ids[slot] = table->ids[i];
        }
    }
    film_free(table->hashes);
    film_free(table->ids);
    table->hashes = hashes;
    table->ids = ids;
    table->capacity = capacity;
    return true;
}

bool
film_intern_add(film_intern *table, uint64_t hash, uint32_t id)
{
    size_t slot;

    if (table->count * 2 >= table->capacity && !enlarge(table)) {
        return false;
    }
    slot = slot_of(table->hashes, table->capacity, usable(hash));
    if (table->hashes[slot] == 0) {
        table->count++;
    }
    table->hashes[slot] = usable(hash);
    table->ids[slot] = id;
    return true;
}

void
film_intern_reset(film_intern *table)
{
    film_free(table->hashes);
    film_free(table->ids);
    memset(table, 0, sizeof(*table));
}
