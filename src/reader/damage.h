/* damage.h: what was found broken, each place once.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_DAMAGE_H
#define FILMSTRIP_DAMAGE_H

#include <stddef.h>
#include <stdint.h>

#include <filmstrip/reader.h>

typedef struct film_damages {
    film_damage *items; /* owned */
    size_t count, capacity;
} film_damages;

/* The chunk number under which a damaged index is noted. */
#define FILM_DAMAGED_INDEX UINT64_MAX

/* Notes damage of chunk `number` at physical `offset`; `why` ends the sentence. A place
 * already noted is not noted again; without memory it is forgotten. */
void
film_damages_note(film_damages *damages, uint64_t number, uint64_t offset,
                  const char *why);

void
film_damages_reset(film_damages *damages);

#endif
