/* objects.c: see objects.h.
 *
 * The table grows from a few entries to MOST_OBJECTS; then the one of a bucket that was
 * not seen for the longest time is forgotten. What places of attributes, names and
 * cells were last told to hold is in a second table of check words, also bounded.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/objects.h"

#include <string.h>

#include "base/alloc.h"
#include "recorder/fingerprint.h"
#include "recorder/places.h"
#include "recorder/stacks.h"
#include "recorder/told.h"

#define WAYS FILM_OBJECT_WAYS
#define FIRST_OBJECTS 1024u
#define MOST_OBJECTS (1u << 17) /* 16 + 192 bytes each: 26 MiB */

_Static_assert(sizeof(film_object) <= 192, "the object table outgrows its bound");

#define table film_the_objects
film_object_table film_the_objects;
uint64_t film_the_changes;
film_capture_counts film_the_capture_counts;

/* --- the table ----------------------------------------------------------------------
 */

static bool
allocate(size_t capacity)
{
    table.ways = film_alloc_lines(capacity, sizeof(*table.ways));
    table.objects = film_alloc_lines(capacity, sizeof(*table.objects));
    if (table.ways == NULL || table.objects == NULL) {
        film_free(table.ways);
        film_free(table.objects);
        table.ways = NULL;
        table.objects = NULL;
        table.capacity = 0;
        return false;
    }
    table.capacity = capacity;
    return true;
}

/* True when it was asked for since the last time somebody had to go. */
static bool
was_used(film_object_way *way)
{
    bool used = (way->quick & FILM_QUICK_USED) != 0;

    way->quick &= ~FILM_QUICK_USED;
    return used;
}

/* The way an object goes to: a free one, or the one that was not seen for the longest
 * time; SIZE_MAX when all are busy. */
static size_t
choose_way(const PyObject *object, bool *free_way)
{
    size_t place = film_objects_place(object), oldest = SIZE_MAX;
    uint64_t age = 0;

    *free_way = true;
    for (size_t number = 0; number < WAYS; number++) {
        if (table.ways[place ^ number].address == NULL) {
            return place ^ number;
        }
    }
    *free_way = false;
    for (size_t number = 0; number < WAYS; number++) {
        size_t way = place ^ number;
        uint64_t here = (uint64_t)(table.clock - table.objects[way].seen) + 1;

        if (was_used(&table.ways[way])) {
            here = 1;
        }
        if (!table.objects[way].busy && here > age) {
            oldest = way;
            age = here;
        }
    }
    return oldest;
}

static void
double_table(void)
{
    film_object_table old = table;

    if (!allocate(old.capacity * 2)) {
        table = old;
        return;
    }
    /* A bucket's objects go to two new buckets: there is room for all. */
    for (size_t way = 0; way < old.capacity; way++) {
        bool free_way;

        if (old.ways[way].address != NULL) {
            size_t to = choose_way(old.ways[way].address, &free_way);

            table.ways[to] = old.ways[way];
            table.objects[to] = old.objects[way];
        }
    }
    film_free(old.ways);
    film_free(old.objects);
}

/* A way for an address that is not in the table; NULL: all of its bucket are busy. */
static film_object *
add(const PyObject *object)
{
    bool free_way;
    size_t way = choose_way(object, &free_way);

    /* Addresses that lie a table's span apart share a bucket until it has grown beyond
     * that. */
    for (size_t before = 0;
         !free_way && table.capacity < MOST_OBJECTS && table.capacity != before;) {
        before = table.capacity;
        double_table();
        way = choose_way(object, &free_way);
    }
    if (way == SIZE_MAX) {
        return NULL;
    }
    if (!free_way) {
        film_the_capture_counts.evicted++;
        if (table.objects[way].sure && film_deaths_are_seen()) {
            film_deaths_forget(table.ways[way].address);
        }
    }
    table.ways[way] = (film_object_way){.address = object};
    table.clock++;
    return &table.objects[way];
}

void
film_objects_renew_quick(film_object *object)
{
    film_object_way *way = &table.ways[object - table.objects];

    way->quick = 0;
    /* In a ring the record may be dropped: see film_record_is_kept. */
    if (film_the_session.options.ring_bytes == 0 && object->whole && object->sure &&
        object->record != 0 && object->record - 1 <= FILM_QUICK_RECORD) {
        way->quick = film_quick_type(way->address->ob_type) | (object->record - 1) |
                     (object->worded ? FILM_QUICK_WORDED : 0) |
                     (object->holding != 0 ? FILM_QUICK_HOLDS : 0);
    }
}

void
film_objects_set_record(film_object *object, uint64_t record, bool whole)
{
    object->record = record;
    object->whole = whole;
    film_objects_renew_quick(object);
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

/* The memory of a watched block goes: see deaths.h. */
static bool
on_death(const PyObject *object)
{
    film_object *entry = film_objects_find(object);

    if (entry == NULL || !entry->sure) {
        return false;
    }
    table.ways[entry - table.objects] = (film_object_way){0};
    return true;
}

/* Somebody has taken our hook away: who has died since is not known. */
static void
forget_the_sure(void)
{
    for (size_t way = 0; way < table.capacity; way++) {
        if (table.ways[way].address != NULL && table.objects[way].sure) {
            table.ways[way] = (film_object_way){0};
        }
    }
    (void)film_deaths_begin(on_death);
}

/* Version tags of classes are given once. */
static bool
is_the_same_class(const film_object *entry, PyObject *object)
{
    return PyType_Check(object) && entry->version != 0 &&
           entry->version == ((PyTypeObject *)object)->tp_version_tag;
}

/* A new object at this address; `entry`: of the one that was there, or NULL. */
static film_object *
renew(PyObject *object, film_object *entry)
{
    bool watched = entry != NULL && entry->sure; /* one whose class was changed */
    bool sure = film_type_of(Py_TYPE(object))->dies_in_sight;

    if (entry == NULL && (entry = add(object)) == NULL) {
        return NULL;
    }
    if (sure && !watched) {
        film_deaths_watch(object);
    }
    table.ways[entry - table.objects].quick = 0;
    *entry = (film_object){.serial = ++film_the_capture_counts.objects,
                           .type = film_type_word(Py_TYPE(object)),
                           .sure = sure || watched,
                           .length = -1};
    return entry;
}

FILM_HOT film_object *
film_objects_see(film_context *context, PyObject *object, const film_holder *holder,
                 bool *known)
{
    film_object *entry = film_objects_find_sure(object);

    if (FILM_LIKELY(entry != NULL)) {
        *known = true;
        film_capture_vacate(holder);
        return entry;
    }
    if (!film_deaths_are_seen()) {
        forget_the_sure();
    }
    entry = film_objects_find(object);
    if (FILM_UNLIKELY(context->stack_token != context->token)) {
        name_stack(context); /* a new recording, or after a pause: see objects.h */
    }
    if (FILM_LIKELY(entry != NULL && entry->type == film_type_word(Py_TYPE(object)) &&
                    film_place_proves_slot(context, entry, object, holder))) {
        *known = true;
        entry->seen = table.clock;
        return entry;
    }
    *known = entry != NULL && entry->type == film_type_word(Py_TYPE(object)) &&
             (film_place_proves(context, entry, object, holder) ||
              is_the_same_class(entry, object));
    if (FILM_UNLIKELY(!*known)) {
        entry = renew(object, entry);
    }
    if (entry != NULL) {
        entry->seen = table.clock;
        if (entry->sure) {
            film_capture_vacate(holder);
        }
        else {
            film_place_put(context, entry, object, holder);
        }
    }
    return entry;
}

FILM_HOT film_object *
film_objects_see_new(PyObject *object)
{
    film_object *entry;

    if (!film_deaths_are_seen()) {
        forget_the_sure();
    }
    entry = renew(object, film_objects_find(object));
    if (entry != NULL) {
        entry->seen = table.clock;
    }
    return entry;
}

bool
film_objects_begin(void)
{
    film_objects_end();
    film_the_capture_counts = (film_capture_counts){0};
    film_stacks_begin();
    return film_told_begin() && allocate(FIRST_OBJECTS) && film_deaths_begin(on_death);
}

void
film_objects_end(void)
{
    film_deaths_end();
    film_told_end();
    film_free(table.ways);
    film_free(table.objects);
    table.ways = NULL;
    table.objects = NULL;
    table.capacity = 0;
}
