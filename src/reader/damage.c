/* damage.c: see damage.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reader/damage.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

/* Nobody reads more; it also bounds the search below. */
#define MOST_ITEMS 4096u

void
film_damages_note(film_damages *damages, uint64_t number, uint64_t offset,
                  const char *why)
{
    film_damage *items, *added;

    for (size_t i = 0; i < damages->count; i++) {
        if (damages->items[i].offset == offset) {
            return;
        }
    }
    if (damages->count >= MOST_ITEMS) {
        return;
    }
    items = film_grow(damages->items, &damages->capacity, damages->count + 1,
                      sizeof(*items));
    if (items == NULL) {
        return;
    }
    damages->items = items;
    added = &items[damages->count++];
    added->offset = offset;
    added->number = number;
    if (number == FILM_DAMAGED_INDEX) {
        snprintf(added->message, sizeof(added->message),
                 "the index at byte %" PRIu64 " is damaged: %s", offset, why);
        return;
    }
    snprintf(added->message, sizeof(added->message),
             "chunk %" PRIu64 " at byte %" PRIu64 " is damaged: %s", number, offset,
             why);
}

void
film_damages_reset(film_damages *damages)
{
    film_free(damages->items);
    memset(damages, 0, sizeof(*damages));
}
