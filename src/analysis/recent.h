/* recent.h: a table of small values that keeps those used last. Four entries to a
 * bucket; who asks says which bucket, so that what is used together lies together.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECENT_H
#define FILMSTRIP_RECENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FILM_RECENT_BUCKETS (1u << 16)
#define FILM_RECENT_BYTES 19u /* the longest token there is has 18 */

typedef struct film_recent_entry {
    uint64_t key;  /* 0: free */
    uint32_t used; /* when, by film_recent.clock */
    uint8_t length;
    uint8_t bytes[FILM_RECENT_BYTES];
} film_recent_entry;

typedef struct film_recent {
    film_recent_entry *memory;  /* owned */
    film_recent_entry *entries; /* borrowed: in it, at the start of a cache line */
    uint32_t clock;             /* counts uses */
    /* How many entries of each quarter have made room for others. */
    uint32_t forgotten[4];
} film_recent;

/* Which entry, and in which bucket it is. The upper half of the key is its place: an
 * entry takes that of another with the same place, however recent. */
typedef struct film_recent_key {
    uint64_t key;
    size_t bucket;
} film_recent_key;

/* False when memory is out. */
bool
film_recent_init(film_recent *table);

void
film_recent_reset(film_recent *table);

/* NULL: not known (any more). */
film_recent_entry *
film_recent_find(film_recent *table, film_recent_key at);

/* Does nothing when there are more than FILM_RECENT_BYTES. */
void
film_recent_put(film_recent *table, film_recent_key at, const void *bytes,
                size_t length);

void
film_recent_forget(film_recent *table, film_recent_key at);

#endif
