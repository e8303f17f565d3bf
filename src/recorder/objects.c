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

#include "recorder/attributes.h"
#include "recorder/compat_objects.h"
#include "recorder/fingerprint.h"
#include "recorder/told.h"

#define WAYS 8u
#define FIRST_OBJECTS 1024u
#define MOST_OBJECTS (1u << 17) /* 8 + 120 bytes each: 16 MiB */
#define PROOF_STEPS 4u          /* owners of owners */
#define SEARCHED_ITEMS 64
#define SEARCHED_FRAMES 8
#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

_Static_assert(sizeof(film_object) <= 120, "the object table outgrows its bound");

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

static inline uint32_t
type_word(const PyTypeObject *type)
{
    return (uint32_t)(((uint64_t)(uintptr_t)type >> 4) * GOLDEN >> 32);
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

/* --- proofs -------------------------------------------------------------------------
 */

static bool
is_proven(film_context *context, film_object *object, const PyObject *address,
          unsigned steps);

/* The check word of a variable and what it holds. */
static inline uint32_t
slot_word(uint64_t frame, uint32_t slot, const PyObject *object)
{
    uint64_t word = ((uint64_t)(uintptr_t)object >> 4) * GOLDEN + frame * 31 + slot;

    return (uint32_t)(word >> 16) | 1u; /* 0 is: nothing */
}

static bool
slot_holds(film_context *context, const film_slot_place *place, const PyObject *address)
{
    const film_stack_entry *entry;
    PyObject *value;

    if (place->stack == 0 || place->stack != context->stack_id ||
        place->index > (size_t)(context->top - context->entries)) {
        return false;
    }
    entry = context->entries + place->index;
    /* An entry of this serial on the thread's own stack: the frame has not ended. */
    if (entry->serial != place->frame) {
        return false;
    }
    if (FILM_UNLIKELY(place->is_cell)) {
        value = film_frame_local(entry->frame, (int)place->slot);
        return value != NULL && Py_TYPE(value) == &PyCell_Type &&
               ((PyCellObject *)value)->ob_ref == address &&
               film_told_is(film_told_key(value, NULL), address);
    }
    return entry->told[place->slot % FILM_TOLD_SLOTS] ==
               slot_word(place->frame, place->slot, address) &&
           film_frame_local(entry->frame, (int)place->slot) == address;
}

/* True when the container holds `address`, by its hint or among its first items. */
static bool
item_is_in(PyObject *owner, film_content content, int32_t hint, const PyObject *address)
{
    PyObject *const *items = NULL;
    Py_ssize_t last;

    switch ((int)content) {
    case FILM_CONTENT_LIST:
        items = ((PyListObject *)owner)->ob_item;
        break;
    case FILM_CONTENT_TUPLE:
        items = ((PyTupleObject *)owner)->ob_item;
        break;
    case FILM_CONTENT_DICT:
        if (hint >= FILM_HINT_KEY) {
            return film_dict_has_key(owner, hint - FILM_HINT_KEY, address);
        }
        return film_dict_holds(owner, hint, address) ||
               film_dict_hint(owner, NULL, address) != FILM_HINT_NONE;
    case FILM_CONTENT_SET:
    case FILM_CONTENT_FROZENSET:
        last = film_set_positions(owner);
        for (Py_ssize_t index = 0; index < last && index < 4 * SEARCHED_ITEMS;
             index++) {
            if (film_set_get(owner, index) == address) {
                return true;
            }
        }
        return false;
    case FILM_CONTENT_DEQUE: {
        film_deque_cursor cursor = film_deque_begin(owner);

        for (int index = 0; index < SEARCHED_ITEMS; index++) {
            PyObject *item = film_deque_next(&cursor);

            if (item == NULL || item == address) {
                return item != NULL;
            }
        }
        return false;
    }
    default:
        return false;
    }
    if (hint >= 0 && hint < Py_SIZE(owner) && items[hint] == address) {
        return true;
    }
    last = Py_SIZE(owner) < SEARCHED_ITEMS ? Py_SIZE(owner) : SEARCHED_ITEMS;
    for (Py_ssize_t index = 0; index < last; index++) {
        if (items[index] == address) {
            return true;
        }
    }
    return false;
}

/* True when `dict` is the namespace of a frame that runs now. */
static bool
namespace_is_alive(film_context *context, const PyObject *dict)
{
    const film_stack_entry *entry = context->top;

    for (int count = 0; entry > context->entries && count < SEARCHED_FRAMES;
         entry--, count++) {
        if (film_frame_globals(entry->frame) == dict ||
            film_frame_namespace(entry->frame) == dict) {
            return true;
        }
    }
    return false;
}

/* An item was seen in its owner's last record, or put there since. While that owner's
 * next record is made, items of the last one count too, unless they have changed
 * themselves: then they may be others at the same addresses. */
static bool
edition_holds(const film_object *owner, const film_held_place *place,
              const film_object *object, PyObject *value)
{
    film_content content;

    if (owner->edition == place->key) {
        return true;
    }
    if (!owner->busy || owner->edition != place->key + 1 || !object->compared) {
        return false;
    }
    content = (film_content)film_type_of(Py_TYPE(value))->content;
    return film_fingerprint_of(value, content, object->levels).word ==
           object->fingerprint;
}

static bool
held_holds(film_context *context, film_object *object, const PyObject *address,
           unsigned steps)
{
    const film_held_place *place = &object->held;
    film_object *owner;

    if (place->kind == FILM_HOLDER_NONE || steps == 0) {
        return false;
    }
    if (place->kind == FILM_HOLDER_NAMESPACE) {
        return film_told_is(place->key, address) &&
               namespace_is_alive(context, place->owner) &&
               PyDict_Check(place->owner) &&
               film_dict_holds(place->owner, place->hint, address);
    }
    if (place->kind == FILM_HOLDER_ATTRIBUTE && !film_told_is(place->key, address)) {
        return false;
    }
    owner = film_objects_find(place->owner);
    if (owner == NULL || owner->serial != place->owner_serial ||
        !is_proven(context, owner, place->owner, steps - 1)) {
        return false;
    }
    /* Now the owner is alive, and so `address` if it holds it. */
    if (owner->type != type_word(Py_TYPE(place->owner))) {
        return false;
    }
    if (place->kind == FILM_HOLDER_ATTRIBUTE) {
        return film_attribute_holds(place->owner, place->hint, address);
    }
    return item_is_in(place->owner,
                      (film_content)film_type_of(Py_TYPE(place->owner))->content,
                      place->hint, address) &&
           edition_holds(owner, place, object, (PyObject *)(uintptr_t)address);
}

/* True when something holds the object since its last sighting. */
static bool
is_proven(film_context *context, film_object *object, const PyObject *address,
          unsigned steps)
{
    if (slot_holds(context, &object->first, address)) {
        return true;
    }
    if (slot_holds(context, &object->last, address)) {
        object->first = object->last;
        return true;
    }
    if (object->busy) {
        return true; /* we are within it */
    }
    return held_holds(context, object, address, steps);
}

/* --- places -------------------------------------------------------------------------
 */

static bool
same_slot(const film_slot_place *one, const film_slot_place *other)
{
    return one->frame == other->frame && one->stack == other->stack &&
           one->slot == other->slot && one->is_cell == other->is_cell;
}

/* A cell's location is the cell: several frames share it. */
static PyObject *
cell_of(const film_holder *holder)
{
    PyObject *cell = film_frame_local(holder->entry->frame, (int)holder->slot);

    return cell != NULL && Py_TYPE(cell) == &PyCell_Type ? cell : NULL;
}

static void
put_slot(film_context *context, film_object *object, const PyObject *address,
         const film_holder *holder)
{
    film_stack_entry *entry = holder->entry;
    size_t index = (size_t)(entry - context->entries);
    film_slot_place place = {
        .frame = entry->serial,
        .stack = context->stack_id,
        .index = (uint32_t)index & 0x7ffff,
        .slot = holder->slot & 0xfff,
        .is_cell = holder->kind == FILM_HOLDER_CELL,
    };

    if (FILM_UNLIKELY(index > 0x7ffff || holder->slot > 0xfff)) {
        return; /* no evidence from there */
    }
    if (place.is_cell) {
        PyObject *cell = cell_of(holder);

        if (cell == NULL) {
            return;
        }
        film_told_put(film_told_key(cell, NULL), address);
    }
    else {
        entry->told[place.slot % FILM_TOLD_SLOTS] =
            slot_word(place.frame, place.slot, address);
    }
    /* The first one stays as long as it holds: a caller's variable outlives the
     * callee's. */
    if (!same_slot(&object->first, &place)) {
        if (slot_holds(context, &object->first, address)) {
            object->last = place;
        }
        else {
            object->first = place;
        }
    }
}

static void
put_held(film_context *context, film_object *object, const PyObject *address,
         const film_holder *holder)
{
    film_held_place place = {
        .owner = holder->owner, .kind = holder->kind, .hint = FILM_HINT_NONE};

    if (holder->owner == NULL) {
        return;
    }
    if (holder->kind == FILM_HOLDER_NAMESPACE) {
        if (!PyDict_Check(holder->owner)) {
            return;
        }
        place.hint = film_dict_hint(holder->owner, holder->name, address);
    }
    else {
        const film_object *owner = film_objects_find(holder->owner);

        if (owner == NULL) {
            return;
        }
        place.owner_serial = owner->serial & 0xffffffffffff;
        place.key = owner->edition;
        place.hint = (int32_t)holder->position - 1;
        if (holder->kind == FILM_HOLDER_ATTRIBUTE && place.hint < 0) {
            place.hint = film_attribute_hint(holder->owner, holder->name, address);
        }
    }
    if (holder->kind != FILM_HOLDER_ITEM) {
        place.key = film_told_key(holder->owner, holder->name);
        film_told_put(place.key, address);
    }
    /* An older one that still holds is as good as any. */
    if (object->held.kind == FILM_HOLDER_ATTRIBUTE &&
        holder->kind == FILM_HOLDER_ITEM &&
        held_holds(context, object, address, PROOF_STEPS)) {
        return;
    }
    object->held = place;
}

void
film_objects_vacate(const film_holder *holder)
{
    switch (holder->kind) {
    case FILM_HOLDER_SLOT:
        if (holder->entry != NULL) {
            holder->entry->told[holder->slot % FILM_TOLD_SLOTS] = 0;
        }
        break;
    case FILM_HOLDER_CELL:
        if (holder->entry != NULL) {
            PyObject *cell = cell_of(holder);

            if (cell != NULL) {
                film_told_put(film_told_key(cell, NULL), NULL);
            }
        }
        break;
    case FILM_HOLDER_ATTRIBUTE:
    case FILM_HOLDER_NAMESPACE:
        if (holder->owner != NULL) {
            film_told_put(film_told_key(holder->owner, holder->name), NULL);
        }
        break;
    case FILM_HOLDER_NONE:
    case FILM_HOLDER_ITEM:
        break;
    }
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
    context->stack_token = context->token;
    context->stack_id = ++table.stacks;
}

film_object *
film_objects_see(film_context *context, PyObject *object, const film_holder *holder,
                 bool *known)
{
    film_object *entry = film_objects_find(object);

    if (FILM_UNLIKELY(context->stack_token != context->token)) {
        name_stack(context); /* a new recording, or after a pause: see objects.h */
    }
    *known = entry != NULL && entry->type == type_word(Py_TYPE(object)) &&
             ((holder->in_flight && context->returned == object) ||
              is_proven(context, entry, object, PROOF_STEPS));
    if (FILM_UNLIKELY(!*known)) {
        if (entry == NULL && (entry = add(object)) == NULL) {
            return NULL;
        }
        *entry = (film_object){.serial = ++film_the_capture_counts.objects,
                               .type = type_word(Py_TYPE(object)),
                               .length = -1};
    }
    entry->seen = ++table.clock;
    switch (holder->kind) {
    case FILM_HOLDER_SLOT:
    case FILM_HOLDER_CELL:
        if (holder->entry != NULL) {
            put_slot(context, entry, object, holder);
        }
        break;
    case FILM_HOLDER_ATTRIBUTE:
    case FILM_HOLDER_ITEM:
    case FILM_HOLDER_NAMESPACE:
        put_held(context, entry, object, holder);
        break;
    case FILM_HOLDER_NONE:
        break;
    }
    return entry;
}

bool
film_objects_begin(void)
{
    film_objects_end();
    film_the_capture_counts = (film_capture_counts){0};
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
