/* intern.h: text to a dense id, for names that are kept for good.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_INTERN_H
#define FILMSTRIP_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Open addressing over 64-bit hashes; the texts themselves are not kept: two texts
 * with one XXH3-64 hash are taken as equal (a chance of 1e-9 at 190,000 names). */
typedef struct film_intern {
    uint64_t *hashes; /* owned; 0 = free */
    uint32_t *ids;    /* owned */
    size_t capacity;  /* a power of two, or 0 */
    size_t count;
} film_intern;

/* The id stored under `hash`, or false. */
bool
film_intern_find(const film_intern *table, uint64_t hash, uint32_t *id);

/* False when memory is out; the table is then unchanged. */
bool
film_intern_add(film_intern *table, uint64_t hash, uint32_t id);

void
film_intern_reset(film_intern *table);

#endif
