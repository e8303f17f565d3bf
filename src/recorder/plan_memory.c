/* plan_memory.c: see plan_draft.h: the memory a plan is made in, and what is kept in it
 * once however many regions read it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/plan_draft.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"

/* Distances have 31 bits; no code that gets a plan comes near. */
#define KEPT_LIMIT ((size_t)INT32_MAX / 2)

bool
film_draft_grow_kept(film_draft *draft, size_t end)
{
    unsigned char *grown =
        end > KEPT_LIMIT ? NULL : film_grow(draft->kept, &draft->kept_capacity, end, 1);

    if (grown == NULL) {
        return false;
    }
    draft->kept = grown;
    return true;
}

uint32_t
film_draft_keep_zeroed(film_draft *draft, size_t count, size_t bytes,
                       size_t bytes_apart)
{
    uint32_t at = film_draft_keep(draft, count * bytes, bytes_apart);

    if (at != 0) {
        memset(film_draft_kept(draft, at), 0, count * bytes);
    }
    return at;
}

/* --- sets ------------------------------------------------------------------------ */

static uint64_t
hash_key(const unsigned char *key)
{
    uint64_t hash = 0;

    for (size_t at = 0; at < FILM_KEY_BYTES; at += sizeof(uint64_t)) {
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
    size_t at = (size_t)hash_key(key) & mask;

    while (set->table[at] != 0 &&
           memcmp(set->keys + (set->table[at] - 1) * FILM_KEY_BYTES, key,
                  FILM_KEY_BYTES) != 0) {
        at = (at + 1) & mask;
    }
    return at;
}

static bool
widen_table(film_set *set)
{
    size_t size = set->table_size == 0 ? 16 : 2 * set->table_size;
    uint32_t *table = film_grow(set->table, &set->table_capacity, size, sizeof(*table));

    if (table == NULL) {
        return false;
    }
    memset(table, 0, size * sizeof(*table));
    set->table = table;
    set->table_size = size;
    for (size_t index = 0; index < set->count; index++) {
        table[find_key(set, set->keys + index * FILM_KEY_BYTES)] = (uint32_t)index + 1;
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
    grown = film_grow(set->keys, &set->capacity, set->count + 1, FILM_KEY_BYTES);
    if (grown == NULL) {
        return FILM_NONE;
    }
    set->keys = grown;
    memcpy(grown + set->count * FILM_KEY_BYTES, key, FILM_KEY_BYTES);
    set->table[at] = (uint32_t)++set->count;
    return (uint32_t)set->count - 1;
}

/* Where the thing of a key is kept, once; *fresh: it is new, to be filled in. 0 when memory
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
    grown[index] = film_draft_keep(draft, bytes, _Alignof(void *));
    return grown[index];
}

/* --- names and touches ------------------------------------------------------------ */

_Static_assert(sizeof(film_named_key) == FILM_KEY_BYTES &&
                   sizeof(film_touched) == FILM_KEY_BYTES,
               "keys have padding");

uint32_t
film_draft_keep_named(film_draft *draft, const film_named_key *key)
{
    bool fresh;
    uint32_t at;

    at = keep_once(draft, &draft->named, key, sizeof(film_named), &fresh);
    if (at != 0 && fresh) {
        *(film_named *)film_draft_kept(draft, at) = film_named_new(key->name);
    }
    return at;
}

uint32_t
film_draft_keep_variable(film_draft *draft, uint32_t name_index)
{
    uint32_t *at = &draft->name_kept[name_index];

    if (*at == 0) {
        *at = film_draft_keep(draft, sizeof(film_named), _Alignof(film_named));
        if (*at != 0) {
            *(film_named *)film_draft_kept(draft, *at) =
                film_named_new(film_draft_name(draft, name_index));
        }
    }
    return *at;
}

uint32_t
film_draft_number_touch(film_draft *draft, const film_touched *touched)
{
    film_touched key = *touched;

    key.within = false;
    return add_key(&draft->touches, &key);
}

static uint32_t
keep_lookup(film_draft *draft, const film_touched *touched)
{
    film_touched key = {.base = touched->base, .name = touched->name};
    bool fresh;
    uint32_t at;

    at = keep_once(draft, &draft->lookups, &key, sizeof(film_lookup), &fresh);
    if (at != 0 && fresh) {
        *(film_lookup *)film_draft_kept(draft, at) =
            (film_lookup){.name = touched->name};
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
    uint32_t first = film_draft_keep_zeroed(draft, draft->touches.count,
                                            sizeof(film_touch), _Alignof(film_touch));
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

/* --- drafts ----------------------------------------------------------------------- */

/* The draft that waits for the next plan. A plan may be made while one is made, by a
 * finaliser that the collector runs: that one has a draft of its own. */
static _Atomic(film_draft *) spare;

static void
empty_set(film_set *set)
{
    set->count = 0;
    set->table_size = 0;
}

static void
free_set(film_set *set)
{
    film_free(set->keys);
    film_free(set->kept_at);
    film_free(set->table);
}

static void
free_draft(film_draft *draft)
{
    if (draft == NULL) {
        return;
    }
    film_free(draft->kept);
    free_set(&draft->named);
    free_set(&draft->lookups);
    free_set(&draft->touches);
    film_bytecode_reset(&draft->bytecode);
    film_free(draft);
}

/* Tables that grow, with room for what most code needs: the old ones stay behind where
 * they move. */
static bool
make_lists(film_draft *draft)
{
    size_t count = draft->bytecode.count, few = count / 2 + 8;

    draft->writes = film_draft_grow(draft, NULL, &draft->write_capacity, few,
                                    sizeof(film_draft_write));
    draft->regions = film_draft_grow(draft, NULL, &draft->region_capacity, few,
                                     sizeof(film_flow_region));
    draft->nodes =
        film_draft_grow(draft, NULL, &draft->node_capacity, few, sizeof(film_node));
    draft->reaches = film_draft_grow(draft, NULL, &draft->reach_capacity, count + few,
                                     sizeof(film_reach));
    return draft->writes != NULL && draft->regions != NULL && draft->nodes != NULL &&
           draft->reaches != NULL;
}

/* The draft's tables by instruction and by name. */
static bool
make_tables(film_draft *draft)
{
    film_scratch *scratch = &draft->bytecode.scratch;
    size_t count = draft->bytecode.count;
    size_t names = (size_t)PyTuple_GET_SIZE(draft->bytecode.code->co_names);

    draft->made = film_scratch_take(scratch, count, sizeof(film_made));
    draft->points = film_scratch_take(scratch, count, sizeof(bool));
    draft->fresh = film_scratch_take(scratch, count, sizeof(bool));
    draft->region_of = film_scratch_take(scratch, count, sizeof(uint16_t));
    draft->passed = film_scratch_take(scratch, count, sizeof(film_passed));
    draft->name_traits = film_scratch_take(scratch, names, 1);
    draft->name_kept = film_scratch_take(scratch, names, sizeof(uint32_t));
    if (draft->made == NULL || draft->points == NULL || draft->fresh == NULL ||
        draft->region_of == NULL || draft->passed == NULL ||
        draft->name_traits == NULL || draft->name_kept == NULL) {
        return false;
    }
    memset(draft->name_traits, 0, names);
    memset(draft->name_kept, 0, names * sizeof(uint32_t));
    return true;
}

/* Without the tables of the plan before, whose memory is used again. */
static void
empty_draft(film_draft *draft)
{
    draft->writes = NULL;
    draft->regions = NULL;
    draft->nodes = NULL;
    draft->reaches = draft->stops = NULL;
    draft->work = NULL;
    draft->touched = NULL;
    draft->quiet = NULL;
    draft->write_count = draft->write_capacity = 0;
    draft->region_count = draft->region_capacity = 0;
    draft->node_count = draft->node_capacity = 0;
    draft->reach_count = draft->reach_capacity = 0;
    draft->stop_capacity = draft->work_capacity = 0;
    draft->touched_count = draft->touched_capacity = 0;
    draft->quiet_count = draft->quiet_capacity = 0;
    draft->kept_bytes = 0;
    empty_set(&draft->named);
    empty_set(&draft->lookups);
    empty_set(&draft->touches);
}

film_draft *
film_draft_take(PyCodeObject *code, const film_plan_wishes *wishes)
{
    film_draft *draft = atomic_exchange(&spare, NULL);

    draft = draft != NULL ? draft : film_alloc(sizeof(*draft));
    if (draft == NULL) {
        return NULL;
    }
    draft->wishes = wishes;
    empty_draft(draft);
    if (!film_bytecode_read(&draft->bytecode, code) || !make_tables(draft) ||
        !make_lists(draft)) {
        film_draft_give_back(draft);
        return NULL;
    }
    return draft;
}

void
film_draft_give_back(film_draft *draft)
{
    if (film_draft_is_spare(draft)) {
        draft = atomic_exchange(&spare, draft);
    }
    free_draft(draft);
}

void
film_plan_forget_drafts(void)
{
    free_draft(atomic_exchange(&spare, NULL));
}
