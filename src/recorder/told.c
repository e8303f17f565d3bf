/* told.c: see told.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/told.h"

#include <string.h>

#include "base/alloc.h"

#define WAYS 4u
#define FIRST_PLACES 1024u
#define MOST_PLACES (1u << 18) /* 8 bytes each: 2 MiB */

uint8_t film_the_told_filter[FILM_TOLD_FILTER];

typedef struct told {
    uint32_t key; /* 0: free */
    uint32_t word;
} told;

static struct {
    told *places; /* owned */
    uint32_t capacity;
    uint32_t turn; /* which way is given up next */
} table;

static inline uint32_t
object_word(const PyObject *object, uint64_t stamp)
{
    return (uint32_t)((((uint64_t)(uintptr_t)object >> 4) +
                       stamp * UINT64_C(0x9e3779b97f4a7c15)) *
                          UINT64_C(0xd6e8feb86659fd93) >>
                      32);
}

static inline told *
set_of(uint32_t key)
{
    return &table.places[(key >> 1) * WAYS & (table.capacity - 1)];
}

/* One key more or less that the filter must let through; it stops at its highest. */
static void
count(uint32_t key, int more)
{
    uint8_t *filter = film_told_filter(key);

    if (*filter < UINT8_MAX) {
        *filter = (uint8_t)(*filter + more);
    }
}

static void
put_new(uint32_t key, uint32_t word)
{
    told *set = set_of(key);

    for (unsigned way = 0; way < WAYS; way++) {
        if (set[way].key == 0) {
            set[way] = (told){key, word};
            return;
        }
    }
    set += table.turn++ % WAYS;
    count(set->key, -1);
    *set = (told){key, word};
}

static void
grow(void)
{
    told *places = table.places;
    uint32_t capacity = table.capacity;
    told *more = film_alloc_array((size_t)capacity * 2, sizeof(*more));

    if (more == NULL) {
        return;
    }
    table.places = more;
    table.capacity = capacity * 2;
    for (uint32_t index = 0; index < capacity; index++) {
        if (places[index].key != 0) {
            put_new(places[index].key, places[index].word);
        }
    }
    film_free(places);
}

void
film_told_put(uint32_t key, const PyObject *object, uint64_t stamp)
{
    told *set = set_of(key);
    bool full = true;

    for (unsigned way = 0; way < WAYS; way++) {
        if (set[way].key == key) {
            set[way].word = object_word(object, stamp);
            return;
        }
        full = full && set[way].key != 0;
    }
    if (full && table.capacity < MOST_PLACES) {
        grow();
    }
    count(key, 1);
    put_new(key, object_word(object, stamp));
}

void
film_told_take(uint32_t key)
{
    told *set = set_of(key);

    for (unsigned way = 0; way < WAYS; way++) {
        if (set[way].key == key) {
            set[way].key = 0;
            count(key, -1);
        }
    }
}

bool
film_told_is(uint32_t key, const PyObject *object, uint64_t stamp)
{
    const told *set = set_of(key);

    for (unsigned way = 0; way < WAYS; way++) {
        if (set[way].key == key) {
            return set[way].word == object_word(object, stamp);
        }
    }
    return false;
}

bool
film_told_begin(void)
{
    memset(film_the_told_filter, 0, sizeof(film_the_told_filter));
    table.places = film_alloc_array(FIRST_PLACES, sizeof(*table.places));
    table.capacity = FIRST_PLACES;
    return table.places != NULL;
}

void
film_told_end(void)
{
    film_free(table.places);
    table.places = NULL;
    table.capacity = 0;
}
