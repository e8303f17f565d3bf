/* recent.c: see recent.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/recent.h"

#include <string.h>

#include "base/alloc.h"

#define WAYS 4u
#define CACHE_LINE 64u

_Static_assert(sizeof(film_recent_entry) == 32, "two entries a cache line");

bool
film_recent_init(film_recent *table)
{
    table->clock = 0;
    memset(table->forgotten, 0, sizeof(table->forgotten));
    table->memory = film_alloc_array((size_t)FILM_RECENT_BUCKETS * WAYS +
                                         CACHE_LINE / sizeof(*table->memory),
                                     sizeof(*table->memory));
    if (table->memory == NULL) {
        return false;
    }
    table->entries =
        (film_recent_entry *)((uint8_t *)table->memory +
                              (CACHE_LINE - (uintptr_t)table->memory % CACHE_LINE) %
                                  CACHE_LINE);
    return true;
}

void
film_recent_reset(film_recent *table)
{
    film_free(table->memory);
    memset(table, 0, sizeof(*table));
}

film_recent_entry *
film_recent_find(film_recent *table, film_recent_key at)
{
    film_recent_entry *bucket = &table->entries[at.bucket * WAYS];

    for (unsigned i = 0; i < WAYS; i++) {
        if (bucket[i].key == at.key) {
            bucket[i].used = ++table->clock;
            return &bucket[i];
        }
    }
    return NULL;
}

void
film_recent_put(film_recent *table, film_recent_key at, const void *bytes,
                size_t length)
{
    film_recent_entry *bucket = &table->entries[at.bucket * WAYS], *to = bucket;

    if (length > FILM_RECENT_BYTES) {
        return;
    }
    for (unsigned i = 0; i < WAYS; i++) {
        if (bucket[i].key >> 32 == at.key >> 32) {
            to = &bucket[i];
            break;
        }
        if (bucket[i].used < to->used) {
            to = &bucket[i];
        }
    }
    if (to->key != 0 && to->key >> 32 != at.key >> 32) {
        table->forgotten[at.bucket / (FILM_RECENT_BUCKETS / 4)]++;
    }
    to->key = at.key;
    to->used = ++table->clock;
    to->length = (uint8_t)length;
    memcpy(to->bytes, bytes, length);
}

void
film_recent_forget(film_recent *table, film_recent_key at)
{
    film_recent_entry *found = film_recent_find(table, at);

    if (found != NULL) {
        found->key = 0;
        found->used = 0;
    }
}
