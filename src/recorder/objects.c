/* objects.c: see objects.h.
 *
 * The table: buckets of 8 addresses (one cache line), the objects beside them. It grows
 * from a few entries to MOST_OBJECTS; then the one of a bucket that was not seen for
 * the longest time is forgotten. What places of attributes, names and cells were last
 * told to hold is in a second table of check words, also bounded.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/objects.h"

#include <stdlib.h>
#include <string.h>

#include "recorder/fingerprint.h"
#include "recorder/places.h"
#include "recorder/stacks.h"
#include "recorder/told.h"

#define WAYS 8u
#define FIRST_OBJECTS 1024u
#define MOST_OBJECTS (1u << 17) /* 8 + 152 bytes each: 20 MiB */
#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

_Static_assert(sizeof(film_object) <= 152, "the object table outgrows its bound");

static struct {
    const PyObject **addresses; /* owned, 64-byte aligned */
    film_object *objects;       /* owned */
    size_t capacity;            /* a power of two, or 0 */
    unsigned shift;             /* of the hash, to the number of a bucket */
    uint32_t clock;
    uint32_t stacks; /* stack ids given */
} table;
film_capture_counts film_the_capture_counts;

static inline size_t
bucket_of(const PyObject *object)
{
    return (size_t)(((uint64_t)(uintptr_t)object >> 4) * GOLDEN >> table.shift) * WAYS;
}

film_object *
film_objects_find(const PyObject *object)
{
    size_t bucket = bucket_of(object);

    for (size_t way = bucket; way < bucket + WAYS; way++) {
        if (table.addresses[way] == object) {
            return &table.objects[way];
        }
    }
    return NULL;
}

/* --- the table ----------------------------------------------------------------------
 */

static bool
allocate(size_t capacity)
{
    table.addresses = aligned_alloc(64, capacity * sizeof(*table.addresses));
    table.objects = malloc(capacity * sizeof(*table.objects));
    if (table.addresses == NULL || table.objects == NULL) {
        free(table.addresses);
        free(table.objects);
        table.addresses = NULL;
        table.objects = NULL;
        table.capacity = 0;
        return false;
    }
    memset(table.addresses, 0, capacity * sizeof(*table.addresses));
    table.capacity = capacity;
    table.shift = 64u - (unsigned)__builtin_ctzll(capacity / WAYS);
    return true;
}

/* The way an object goes to: a free one, or the one that was not seen for the longest
 * time; SIZE_MAX when all are busy. */
static size_t
choose_way(const PyObject *object, bool *free_way)
{
    size_t bucket = bucket_of(object), oldest = SIZE_MAX;
    uint32_t age = 0;

    *free_way = true;
    for (size_t way = bucket; way < bucket + WAYS; way++) {
        const film_object *other = &table.objects[way];

        if (table.addresses[way] == NULL) {
            return way;
        }
        if (!other->busy && (oldest == SIZE_MAX || table.clock - other->seen > age)) {
            oldest = way;
            age = table.clock - other->seen;
        }
    }
    *free_way = false;
    return oldest;
}

static void
double_table(void)
{
    const PyObject **addresses = table.addresses;
    film_object *objects = table.objects;
    size_t capacity = table.capacity;
    unsigned shift = table.shift;

    if (!allocate(capacity * 2)) {
        table.addresses = addresses;
        table.objects = objects;
        table.capacity = capacity;
        table.shift = shift;
        return;
    }
    /* A bucket's objects go to two new buckets: there is room for all. */
    for (size_t way = 0; way < capacity; way++) {
        bool free_way;

        if (addresses[way] != NULL) {
            size_t to = choose_way(addresses[way], &free_way);

            table.addresses[to] = addresses[way];
            table.objects[to] = objects[way];
        }
    }
    free(addresses);
    free(objects);
}

/* A way for an address that is not in the table; NULL: all of its bucket are busy. */
static film_object *
add(const PyObject *object)
{
    bool free_way;
    size_t way = choose_way(object, &free_way);

    if (!free_way && table.capacity < MOST_OBJECTS) {
        double_table();
        way = choose_way(object, &free_way);
    }
    if (way == SIZE_MAX) {
        return NULL;
    }
    if (!free_way) {
        film_the_capture_counts.evicted++;
    }
    table.addresses[way] = object;
    return &table.objects[way];
}

static void
name_stack(film_context *context)
{
    /* Frames count anew: what an earlier recording was told must not pass for this. */
    for (film_stack_entry *entry = context->entries; entry <= context->last; entry++) {
        memset(entry->told, 0, sizeof(entry->told));
    }
    context->stack_token = context->token;
    context->stack_id = ++table.stacks;
    film_stacks_add(context);
}

/* Nothing proves that the object has lived on, but another one of its type would have
 * been seen when it was born, and this one is as it was told. */
static bool
is_the_last_born(const film_object *entry, PyObject *object, const film_holder *holder)
{
    return !holder->birth && entry->compared && !entry->partly &&
           film_type_is_born_in_sight(Py_TYPE(object)) &&
           film_fingerprint_of(object, FILM_CONTENT_INSTANCE, entry->levels).word ==
               entry->fingerprint;
}

/* Version tags of classes are given once. */
static bool
is_the_same_class(const film_object *entry, PyObject *object)
{
    return PyType_Check(object) && entry->version != 0 &&
           entry->version == ((PyTypeObject *)object)->tp_version_tag;
}

film_object *
film_objects_see(film_context *context, PyObject *object, const film_holder *holder,
                 bool *known)
{
    film_object *entry = film_objects_find(object);

    if (FILM_UNLIKELY(context->stack_token != context->token)) {
        name_stack(context); /* a new recording, or after a pause: see objects.h */
    }
    if (FILM_LIKELY(entry != NULL && entry->type == film_type_word(Py_TYPE(object)) &&
                    film_place_proves_slot(context, entry, object, holder))) {
        *known = true;
        entry->seen = ++table.clock;
        return entry;
    }
    *known =
        entry != NULL && entry->type == film_type_word(Py_TYPE(object)) &&
        (film_place_proves(context, entry, object, holder) ||
         is_the_same_class(entry, object) || is_the_last_born(entry, object, holder));
    if (FILM_UNLIKELY(!*known)) {
        if (entry == NULL && (entry = add(object)) == NULL) {
            return NULL;
        }
        *entry = (film_object){.serial = ++film_the_capture_counts.objects,
                               .type = film_type_word(Py_TYPE(object)),
                               .length = -1};
    }
    entry->seen = ++table.clock;
    film_place_put(context, entry, object, holder);
    return entry;
}

bool
film_objects_begin(void)
{
    film_objects_end();
    film_the_capture_counts = (film_capture_counts){0};
    film_stacks_begin();
    return film_told_begin() && allocate(FIRST_OBJECTS);
}

void
film_objects_end(void)
{
    film_told_end();
    free(table.addresses);
    free(table.objects);
    table.addresses = NULL;
    table.objects = NULL;
    table.capacity = 0;
}
