/* places.c: see places.h and the rule in objects.h. What slots were last told to hold
 * is kept in their entries, of all other places in told.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/places.h"

#include "recorder/attributes.h"
#include "recorder/compat_objects.h"
#include "recorder/fingerprint.h"
#include "recorder/stacks.h"
#include "recorder/told.h"

#define PROOF_STEPS 4u /* owners of owners */
#define SEARCHED_ITEMS 64
#define SEARCHED_FRAMES 8
#define NAMESPACES 256u

/* How often code has begun in the globals at an address: the stamp of its names. */
static uint32_t namespaces[NAMESPACES];

static inline uint32_t *
namespace_count(const PyObject *dict)
{
    return &namespaces[(((uint64_t)(uintptr_t)dict >> 4) * 0x9e3779b1u >> 16) %
                       NAMESPACES];
}

void
film_place_renew(const PyObject *dict)
{
    (*namespace_count(dict))++;
}

/* --- proofs -------------------------------------------------------------------------
 */

static bool
is_proven(film_context *context, film_object *object, const PyObject *address,
          unsigned steps);

/* True when what the variable was told to hold is kept in its frame's entry; else, for
 * frames that are suspended now and then and for variables beyond the entry's room, in
 * told.c. */
static inline bool
is_in_entry(const film_stack_entry *entry, uint32_t slot)
{
    return FILM_LIKELY(!entry->suspends && slot < FILM_TOLD_SLOTS);
}

static inline bool
slot_is_told(const film_stack_entry *entry, const film_slot_place *place,
             const PyObject *address)
{
    if (!is_in_entry(entry, place->slot)) {
        return film_told_is(film_told_slot_key(place->frame, place->slot), address, 0);
    }
    return entry->told[place->slot] ==
           film_slot_word(place->frame, place->slot, address);
}

/* `entry` is of the place's frame, and that is `frame`; NULL: it cannot be looked at.
 */
static bool
entry_holds(const film_stack_entry *entry, const film_frame *frame,
            const film_slot_place *place, const PyObject *address)
{
    PyObject *value;

    if (FILM_UNLIKELY(frame == NULL)) {
        return false;
    }
    value = film_frame_local(frame, (int)place->slot);
    if (FILM_UNLIKELY(place->is_cell)) {
        return value != NULL && Py_TYPE(value) == &PyCell_Type &&
               ((PyCellObject *)value)->ob_ref == address &&
               film_told_is(film_told_key(value, NULL), address, 0);
    }
    return value == address && slot_is_told(entry, place, address);
}

/* A generator may have come back at another height. */
static const film_stack_entry *
resumed_entry(const film_context *context, film_slot_place *place)
{
    const film_stack_entry *entry = context->top;

    for (int count = 0; entry > context->entries && count < SEARCHED_FRAMES;
         entry--, count++) {
        if (entry->serial == place->frame && entry->suspends) {
            place->index = (uint32_t)(entry - context->entries) & 0x3ffff;
            return entry;
        }
    }
    return NULL;
}

static bool
slot_holds(film_context *context, film_slot_place *place, const PyObject *address)
{
    const film_stack_entry *entry;
    const film_frame *frame;

    if (FILM_UNLIKELY(place->stack != context->stack_id)) {
        if (place->stack == 0) {
            return false;
        }
        entry = film_stacks_find(place, &frame);
        if (entry == NULL || !entry_holds(entry, frame, place, address)) {
            place->stack = 0; /* not to be looked for again */
            return false;
        }
        return true;
    }
    entry = context->entries + place->index;
    if (entry > context->top || entry->serial != place->frame) {
        if (FILM_LIKELY(!place->suspends) ||
            (entry = resumed_entry(context, place)) == NULL) {
            return false;
        }
    }
    return entry_holds(entry, film_entry_frame(context, entry), place, address);
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

/* The stamp of names in `dict`, if that is the namespace of a frame that runs now, else
 * 0. The body of a class has one of its own, which dies with it. */
static uint64_t
namespace_stamp(film_context *context, const PyObject *dict)
{
    const film_stack_entry *entry = context->top;

    for (int count = 0; entry > context->entries && count < SEARCHED_FRAMES;
         entry--, count++) {
        const film_frame *frame = film_entry_frame(context, entry);

        if (frame == NULL) {
            continue;
        }
        if (film_frame_globals(frame) == dict) {
            return *namespace_count(dict) + 1;
        }
        if (film_frame_namespace(frame) == dict) {
            return (entry->serial & 0x7fffffffffff) | (uint64_t)1 << 47;
        }
    }
    return 0;
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
    if (!owner->busy || !owner->renewed || owner->edition != place->key + 1 ||
        !object->compared) {
        return false;
    }
    content = (film_content)film_type_of(Py_TYPE(value))->content;
    return film_fingerprint_of(value, content, object->levels).word ==
           film_object_fingerprint(object);
}

static bool
held_holds(film_context *context, const film_object *object, film_held_place *place,
           const PyObject *address, unsigned steps)
{
    film_object *owner;

    if (place->kind == FILM_HOLDER_NONE || steps == 0) {
        return false;
    }
    if (place->kind == FILM_HOLDER_NAMESPACE) {
        return place->owner_serial != 0 &&
               film_told_is(place->key, address, place->owner_serial) &&
               namespace_stamp(context, place->owner) == place->owner_serial &&
               PyDict_Check(place->owner) &&
               film_dict_holds(place->owner, place->hint, address);
    }
    if (place->kind == FILM_HOLDER_ATTRIBUTE &&
        !film_told_is(place->key, address, place->owner_serial)) {
        return false;
    }
    owner = film_objects_find(place->owner);
    if (owner == NULL || owner->serial != place->owner_serial ||
        !is_proven(context, owner, place->owner, steps - 1)) {
        return false;
    }
    /* Now the owner is alive, and so `address` if it holds it. */
    if (owner->type != film_type_word(Py_TYPE(place->owner))) {
        return false;
    }
    if (place->kind == FILM_HOLDER_ATTRIBUTE) {
        if (place->hint < 0) { /* it was told before it was stored */
            place->hint = film_attribute_hint(place->owner, NULL, address);
        }
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
    if (object->sure) {
        return film_deaths_are_seen();
    }
    if (FILM_LIKELY(object->first.stack == context->stack_id) &&
        slot_holds(context, &object->first, address)) {
        return true;
    }
    if (slot_holds(context, &object->last, address)) {
        /* Another thread's variable stays first, as long as it may hold. */
        if (object->first.stack == context->stack_id || object->first.stack == 0) {
            object->first = object->last;
        }
        return true;
    }
    if (slot_holds(context, &object->first, address)) {
        return true;
    }
    if (object->busy) {
        return true; /* we are within it */
    }
    if (held_holds(context, object, &object->held, address, steps)) {
        return true;
    }
    if (!held_holds(context, object, &object->also, address, steps)) {
        return false;
    }
    object->held = object->also;
    object->also.kind = FILM_HOLDER_NONE;
    return true;
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
    const film_frame *frame = film_entry_frame(&film_this_thread, holder->entry);
    PyObject *cell = frame == NULL ? NULL : film_frame_local(frame, (int)holder->slot);

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
        .index = (uint32_t)index & 0x3ffff,
        .slot = holder->slot & 0xfff,
        .is_cell = holder->kind == FILM_HOLDER_CELL,
        .suspends = entry->suspends != FILM_SUSPENDS_NOT,
    };

    if (FILM_UNLIKELY(index > 0x3ffff || holder->slot > 0xfff)) {
        return; /* no evidence from there */
    }
    if (place.is_cell) {
        PyObject *cell = cell_of(holder);

        if (cell == NULL) {
            return;
        }
        film_told_put(film_told_key(cell, NULL), address, 0);
        object->cell = (uint16_t)film_told_key(cell, NULL);
    }
    else if (!is_in_entry(entry, place.slot)) {
        film_told_put(film_told_slot_key(place.frame, place.slot), address, 0);
    }
    else {
        entry->told[place.slot] = film_slot_word(place.frame, place.slot, address);
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

/* What film_holding_bit says of the attribute found by this hint. */
static uint16_t
holding_bits(int32_t hint)
{
    if (hint == FILM_HINT_NONE) {
        return UINT16_MAX;
    }
    return hint >= FILM_HINT_SLOT ? film_holding_bit(hint - FILM_HINT_SLOT, 0)
                                  : film_holding_bit(-1, hint);
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
        place.owner_serial = namespace_stamp(context, holder->owner) & 0xffffffffffff;
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
        film_told_put(place.key, address, place.owner_serial);
    }
    if (holder->kind == FILM_HOLDER_ATTRIBUTE) {
        film_object *owner = film_objects_find(holder->owner);

        owner->holding |= holding_bits(place.hint);
        film_objects_renew_quick(owner);
    }
    if (object->held.kind != FILM_HOLDER_NONE &&
        (object->held.owner != place.owner || object->held.key != place.key) &&
        held_holds(context, object, &object->held, address, PROOF_STEPS)) {
        object->also = place;
    }
    else {
        object->held = place;
    }
}

/* A function that has ended was the last to tell of this cell, and the frame that shows
 * it now is older than that function's: so the cell, which a frame has from its
 * beginning to its end, has lived all the time. */
static bool
cell_proves(const film_context *context, const film_object *object,
            const PyObject *address, const film_holder *holder)
{
    const PyObject *cell = cell_of(holder);
    const film_slot_place *place = object->last.is_cell && object->last.stack != 0
                                       ? &object->last
                                       : &object->first;
    uint32_t key;

    if (cell == NULL || !place->is_cell || place->stack != context->stack_id ||
        place->frame <= holder->entry->serial) {
        return false;
    }
    key = film_told_key(cell, NULL);
    return object->cell == (uint16_t)key && film_told_is(key, address, 0);
}

FILM_HOT void
film_objects_vacate(const film_holder *holder)
{
    switch (holder->kind) {
    case FILM_HOLDER_SLOT:
        if (holder->entry == NULL) {
            break;
        }
        if (is_in_entry(holder->entry, holder->slot)) {
            holder->entry->told[holder->slot] = 0;
        }
        else {
            film_told_clear(film_told_slot_key(holder->entry->serial, holder->slot));
        }
        break;
    case FILM_HOLDER_CELL:
        if (holder->entry != NULL) {
            PyObject *cell = cell_of(holder);

            if (cell != NULL) {
                film_told_clear(film_told_key(cell, NULL));
            }
        }
        break;
    case FILM_HOLDER_ATTRIBUTE:
    case FILM_HOLDER_NAMESPACE:
        if (holder->owner != NULL) {
            film_told_clear(film_told_key(holder->owner, holder->name));
        }
        break;
    case FILM_HOLDER_NONE:
    case FILM_HOLDER_ITEM:
        break;
    }
}

/* The variable, name or attribute itself was last told to hold the object, and shows it
 * now. */
static bool
holder_proves(film_context *context, const film_holder *holder, const PyObject *value)
{
    film_slot_place place;
    film_object *owner;

    switch (holder->kind) {
    case FILM_HOLDER_SLOT:
        if (holder->entry == NULL || holder->slot > 0xfff) {
            return false;
        }
        place = (film_slot_place){.frame = holder->entry->serial,
                                  .slot = holder->slot & 0xfff};
        return entry_holds(holder->entry, film_entry_frame(context, holder->entry),
                           &place, value);
    case FILM_HOLDER_NAMESPACE:
        return holder->owner != NULL &&
               film_told_is(film_told_key(holder->owner, holder->name), value,
                            namespace_stamp(context, holder->owner));
    case FILM_HOLDER_ATTRIBUTE:
        owner = holder->owner == NULL ? NULL : film_objects_find(holder->owner);
        return owner != NULL &&
               film_told_is(film_told_key(holder->owner, holder->name), value,
                            owner->serial & 0xffffffffffff) &&
               is_proven(context, owner, holder->owner, PROOF_STEPS);
    case FILM_HOLDER_NONE:
    case FILM_HOLDER_CELL:
    case FILM_HOLDER_ITEM:
        break;
    }
    return false;
}

/* A variable of the running function, or of the one that called it, was last told to
 * hold the object, and holds it. */
static bool
frames_prove(const film_context *context, const PyObject *value)
{
    const film_stack_entry *entry = context->top;

    for (int count = 0; entry > context->entries && count < 2; entry--, count++) {
        const film_frame *frame = film_entry_frame(context, entry);
        int slots = frame == NULL
                        ? 0
                        : ((const PyCodeObject *)film_frame_code(frame))->co_nlocals;

        for (int slot = 0; slot < slots && slot < (int)FILM_TOLD_SLOTS; slot++) {
            film_slot_place place = {.frame = entry->serial,
                                     .slot = (uint32_t)slot & 0xfff};

            if (film_frame_local(frame, slot) == value &&
                slot_is_told(entry, &place, value)) {
                return true;
            }
        }
    }
    return false;
}

bool
film_place_proves(film_context *context, film_object *object, PyObject *value,
                  const film_holder *holder)
{
    return (holder->in_flight && context->returned == value) ||
           is_proven(context, object, value, PROOF_STEPS) ||
           holder_proves(context, holder, value) || frames_prove(context, value) ||
           (holder->kind == FILM_HOLDER_CELL && holder->entry != NULL &&
            cell_proves(context, object, value, holder));
}

void
film_place_put(film_context *context, film_object *object, PyObject *value,
               const film_holder *holder)
{
    switch (holder->kind) {
    case FILM_HOLDER_SLOT:
    case FILM_HOLDER_CELL:
        if (holder->entry != NULL) {
            put_slot(context, object, value, holder);
        }
        break;
    case FILM_HOLDER_ATTRIBUTE:
    case FILM_HOLDER_ITEM:
    case FILM_HOLDER_NAMESPACE:
        put_held(context, object, value, holder);
        break;
    case FILM_HOLDER_NONE:
        break;
    }
}

void
film_place_adopt(film_context *context, film_object *object, PyObject *value)
{
    film_holder holder = {.kind = FILM_HOLDER_NAMESPACE};
    const film_frame *frame = film_entry_frame(context, context->top);
    film_pairs pairs;
    int32_t hint;

    if (frame == NULL) {
        return;
    }
    holder.owner = film_frame_globals(frame);
    if (holder.owner == NULL || !PyDict_CheckExact(holder.owner)) {
        return;
    }
    hint = film_dict_hint(holder.owner, NULL, value);
    if (hint == FILM_HINT_NONE) {
        return;
    }
    film_pairs_of_dict(holder.owner, &pairs);
    (void)film_pairs_get(&pairs, hint, &holder.name);
    /* A write to it names it by the same object. */
    if (PyUnicode_CheckExact(holder.name) && PyUnicode_CHECK_INTERNED(holder.name)) {
        put_held(context, object, value, &holder);
    }
}
