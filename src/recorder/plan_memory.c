/* plan_memory.c: see plan_draft.h: the memory a plan is made in, and what is kept in it
 * once however many regions read it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/plan_draft.h"

#include <stddef.h>
#include <string.h>

#include "base/alloc.h"

/* Distances have 31 bits; no code that gets a plan comes near. */
#define KEPT_LIMIT ((size_t)INT32_MAX / 2)

uint32_t
film_draft_keep(film_draft *draft, size_t count, size_t bytes, size_t bytes_apart)
{
    size_t at = (draft->kept_bytes + bytes_apart - 1) / bytes_apart * bytes_apart;
    size_t end;
    unsigned char *grown;

    if (__builtin_mul_overflow(count, bytes, &end) ||
        __builtin_add_overflow(end, at, &end) || end > KEPT_LIMIT) {
        return 0;
    }
    grown = end <= draft->kept_capacity
                ? draft->kept
                : film_grow(draft->kept, &draft->kept_capacity, end, 1);
    if (grown == NULL) {
        return 0;
    }
    draft->kept = grown;
    memset(grown + draft->kept_bytes, 0, end - draft->kept_bytes);
    draft->kept_bytes = end;
    return (uint32_t)at;
}

void
film_draft_link(film_draft *draft, uint32_t field, uint32_t to)
{
    film_near *near = film_draft_kept(draft, field);

    *near = to == 0 ? 0 : (film_near)((int64_t)to - (int64_t)field);
}

/* --- sets ------------------------------------------------------------------------ */

static uint64_t
hash_key(const unsigned char *key, size_t bytes)
{
    uint64_t hash = 0;

    for (size_t at = 0; at + sizeof(uint64_t) <= bytes; at += sizeof(uint64_t)) {
        uint64_t word;

        memcpy(&word, key + at, sizeof(word));
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    return hash;
}

/* Where the key is in the table, or would be. */
static size_t
find_key(const film_set *set, const void *key)
{
    size_t mask = set->table_size - 1;
    size_t at = (size_t)hash_key(key, set->key_bytes) & mask;

    while (set->table[at] != 0 &&
           memcmp(set->keys + (set->table[at] - 1) * set->key_bytes, key,
                  set->key_bytes) != 0) {
        at = (at + 1) & mask;
    }
    return at;
}

static bool
widen_table(film_set *set)
{
    size_t size = set->table_size == 0 ? 16 : 2 * set->table_size;
    uint32_t *table = film_alloc_array(size, sizeof(*table));

    if (table == NULL) {
        return false;
    }
    film_free(set->table);
    set->table = table;
    set->table_size = size;
    for (size_t index = 0; index < set->count; index++) {
        table[find_key(set, set->keys + index * set->key_bytes)] = (uint32_t)index + 1;
    }
    return true;
}

/* The index of a key, which is new where it equals the count before; FILM_NONE when
 * memory is out. */
static uint32_t
add_key(film_set *set, const void *key)
{
    unsigned char *grown;
    size_t at;

    if (2 * (set->count + 1) > set->table_size && !widen_table(set)) {
        return FILM_NONE;
    }
    at = find_key(set, key);
    if (set->table[at] != 0) {
        return set->table[at] - 1;
    }
    grown = film_grow(set->keys, &set->capacity, set->count + 1, set->key_bytes);
    if (grown == NULL) {
        return FILM_NONE;
    }
    set->keys = grown;
    memcpy(grown + set->count * set->key_bytes, key, set->key_bytes);
    set->table[at] = (uint32_t)++set->count;
    return (uint32_t)set->count - 1;
}

/* Where the thing of a key is kept, once; *fresh: it is new, and zeroed. 0 when memory
 * is out: then the plan has failed, and nobody asks again. */
static uint32_t
keep_once(film_draft *draft, film_set *set, const void *key, size_t bytes, bool *fresh)
{
    size_t known = set->count;
    uint32_t index = add_key(set, key), *grown;

    *fresh = index == known;
    if (index == FILM_NONE || !*fresh) {
        return index == FILM_NONE ? 0 : set->kept_at[index];
    }
    grown = film_grow(set->kept_at, &set->kept_capacity, known + 1, sizeof(*grown));
    if (grown == NULL) {
        return 0;
    }
    set->kept_at = grown;
    grown[index] = film_draft_keep(draft, 1, bytes, _Alignof(void *));
    return grown[index];
}

static void
forget_set(film_set *set)
{
    film_free(set->keys);
    film_free(set->kept_at);
    film_free(set->table);
}

/* --- names and touches ------------------------------------------------------------ */

_Static_assert(sizeof(film_named_key) == 32 && sizeof(film_touched) == 32,
               "keys have padding");

uint32_t
film_draft_keep_named(film_draft *draft, const film_named_key *key)
{
    bool fresh;
    uint32_t at;

    draft->named.key_bytes = sizeof(*key);
    at = keep_once(draft, &draft->named, key, sizeof(film_named), &fresh);
    if (at != 0 && fresh) {
        *(film_named *)film_draft_kept(draft, at) = film_named_new(key->name);
    }
    return at;
}

uint32_t
film_draft_number_touch(film_draft *draft, const film_touched *touched)
{
    film_touched key = *touched;

    key.within = false;
    draft->touches.key_bytes = sizeof(key);
    return add_key(&draft->touches, &key);
}

static uint32_t
keep_lookup(film_draft *draft, const film_touched *touched)
{
    film_touched key = {.base = touched->base, .name = touched->name};
    bool fresh;
    uint32_t at;

    draft->lookups.key_bytes = sizeof(key);
    at = keep_once(draft, &draft->lookups, &key, sizeof(film_lookup), &fresh);
    if (at != 0 && fresh) {
        ((film_lookup *)film_draft_kept(draft, at))->name = touched->name;
    }
    return at;
}

/* The parts of the touch that is kept at `at`. */
static bool
keep_steps(film_draft *draft, const film_touched *touched, uint32_t at)
{
    film_named_key key = {.variable = touched->name,
                          .owner = film_named_owner(touched->base, touched->slot)};

    for (uint32_t step = 0; step < touched->depth; step++) {
        uint32_t named;

        key.name = touched->steps[step];
        named = film_draft_keep_named(draft, &key);
        if (named == 0) {
            return false;
        }
        film_draft_link(
            draft,
            at + (uint32_t)(offsetof(film_touch, step) + step * sizeof(film_near)),
            named);
        key.step = touched->steps[step];
    }
    return true;
}

uint32_t
film_draft_keep_touches(film_draft *draft)
{
    const film_touched *all = (const film_touched *)(void *)draft->touches.keys;
    uint32_t first = film_draft_keep(draft, draft->touches.count, sizeof(film_touch),
                                     _Alignof(film_touch));
    bool done = first != 0;

    for (uint32_t index = 0; done && index < draft->touches.count; index++) {
        uint32_t at = first + index * (uint32_t)sizeof(film_touch);
        film_touch *touch = film_draft_kept(draft, at);

        touch->base = all[index].base;
        touch->depth = all[index].depth;
        touch->slot = all[index].slot;
        touch->method = all[index].method;
        if (all[index].name != NULL) {
            uint32_t lookup = keep_lookup(draft, &all[index]);

            film_draft_link(draft, at + (uint32_t)offsetof(film_touch, lookup), lookup);
            done = lookup != 0;
        }
        done = done && keep_steps(draft, &all[index], at);
    }
    return done ? first : 0;
}

void
film_draft_forget(film_draft *draft)
{
    film_free(draft->made);
    film_free(draft->points);
    film_free(draft->region_of);
    film_free(draft->writes);
    film_free(draft->regions);
    film_free(draft->nodes);
    film_free(draft->reaches);
    film_free(draft->touched);
    film_free(draft->quiet);
    film_free(draft->kept);
    forget_set(&draft->named);
    forget_set(&draft->lookups);
    forget_set(&draft->touches);
    film_bytecode_reset(&draft->bytecode);
}
