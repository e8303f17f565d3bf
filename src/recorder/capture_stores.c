/* capture_stores.c: see capture.h: what a store read off the evaluation stack does to
 * the fingerprint of its owner.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/capture.h"

#include "recorder/capture_quick.h"
#include "recorder/capture_scalars.h"
#include "recorder/fingerprint.h"
#include "recorder/nested.h"
#include "recorder/objects.h"
#include "recorder/snapshot.h"

/* A container is told anew, in one piece, after so many stores, and one more for so
 * many items: that costs each store little. */
#define PIECES_LEAST 3
#define ITEMS_A_PIECE 4

uint32_t film_the_period_shift = FILM_PERIOD_SHIFT;

/* An attribute that an instance with words has already; false: it is another store. */
static bool
expect_word(PyObject *owner, film_named *named, PyObject *value, film_stored *stored)
{
    const film_object_way *way = film_objects_quick(owner);
    film_kept kept;
    uint32_t place;

    if (way == NULL || (way->quick & FILM_QUICK_WORDED) == 0) {
        return false;
    }
    (void)film_attribute_read(named, owner, &kept);
    place = film_attribute_place(named, kept);
    if (place >= FILM_WORDS) {
        return false;
    }
    stored->address = owner;
    stored->quick = film_quick_record(way) + 1;
    stored->place = place;
    stored->delta = film_attribute_word(named, kept, value);
    return true;
}

FILM_HOT void
film_capture_expect(PyObject *owner, film_named *named, PyObject *key, PyObject *value,
                    film_stored *stored)
{
    film_object *object;
    film_store_effect effect;
    film_content content;

    *stored = (film_stored){0};
    if (named != NULL && expect_word(owner, named, value, stored)) {
        return;
    }
    if (film_is_scalar(owner) || (object = film_objects_find(owner)) == NULL) {
        return;
    }
    content = (film_content)film_type_of(Py_TYPE(owner))->content;
    if (!object->compared) {
        /* What it comes to is not known, but that it is written to. */
        object->stale = object->stale || film_content_is_value(content);
        return;
    }
    stored->address = owner;
    stored->serial = object->serial;
    if (object->partly) {
        object->stale = object->stale || film_content_is_value(content);
        stored->known = stored->partly = true;
        return;
    }
    stored->known =
        film_fingerprint_store(owner, content, film_compared_levels(object),
                               named == NULL ? NULL : named->name, key, value, &effect);
    stored->delta = effect.delta;
    stored->growth = effect.growth;
    stored->flat = effect.flat;
    if (stored->known && named == NULL && !(object->flat && effect.flat)) {
        film_store_effect items;

        stored->itemed =
            film_fingerprint_store(owner, content, 1, NULL, key, value, &items);
        stored->items = items.delta;
    }
    stored->deep = stored->known && effect.deep && !object->flat;
}

film_item_effect
film_capture_item_effect(const film_stored *stored, bool alone)
{
    film_object *object;
    PyObject *owner;

    if (stored->known && !stored->partly) {
        return stored->growth > 0 ? FILM_ITEM_ADDED : FILM_ITEM_REPLACED;
    }
    if (!stored->partly || !alone ||
        (owner = film_capture_living(stored->address, stored->serial)) == NULL ||
        (object = film_objects_find(owner)) == NULL || object->length < 0) {
        return FILM_ITEM_UNSAID;
    }
    return film_content_length(owner,
                               (film_content)film_type_of(Py_TYPE(owner))->content) >
                   object->length
               ? FILM_ITEM_ADDED
               : FILM_ITEM_REPLACED;
}

bool
film_capture_is_scattered(const film_stored *stored)
{
    const film_object *object;

    if (!stored->known || stored->partly || stored->quick != 0 || !stored->flat ||
        (object = film_objects_find(stored->address)) == NULL ||
        object->serial != stored->serial) {
        return false;
    }
    return object->compared && object->flat && !object->partly && !object->unsure &&
           !object->wordless && object->told_in != film_told_period() &&
           object->length < film_the_shown_items &&
           object->pieces >= PIECES_LEAST + object->length / ITEMS_A_PIECE;
}

uint64_t
film_capture_again(film_context *context, const film_stored *stored)
{
    PyObject *owner = film_capture_living(stored->address, stored->serial);
    film_fingerprint now;
    film_object *object;

    if (owner == NULL) {
        return 0;
    }
    film_look_renew();
    object = film_objects_find(owner);
    now =
        film_fingerprint_of(owner, (film_content)film_type_of(Py_TYPE(owner))->content,
                            film_the_shown_levels);
    if (now.cut || !now.flat || now.word != film_object_fingerprint(object)) {
        return 0; /* something else has changed it: that is told as a change */
    }
    return film_snapshot_write(context, owner, film_the_shown_levels, &now)->record;
}

/* The word of an attribute; the object may have died and another taken its place. */
static FILM_HOT void
store_word(const film_stored *stored)
{
    film_object_way *way = film_objects_find_way(stored->address);

    if (way != NULL && (way->quick & FILM_QUICK_WORDED) != 0 &&
        film_quick_record(way) + 1 == stored->quick) {
        film_object_of_way(way)->words[stored->place] = stored->delta;
    }
}

/* A store was told whose effect is not known. Where it is all that has happened, what
 * the object holds now counts as told. */
static void
take_as_told(film_object *object, const film_stored *stored, bool alone)
{
    PyObject *owner = film_capture_living(stored->address, stored->serial);

    if (alone && owner != NULL) {
        film_capture_told(owner, NULL);
        return;
    }
    object->unsure = true;
    object->stale = true;
}

/* Of what is compared in part, a store's effect on the length is all that can be
 * known. */
static void
count_again(film_object *object, const film_stored *stored, bool alone)
{
    PyObject *owner = film_capture_living(stored->address, stored->serial);

    if (object->length < 0 || !object->partly) {
        return;
    }
    object->length =
        alone && owner != NULL
            ? film_content_length(owner,
                                  (film_content)film_type_of(Py_TYPE(owner))->content)
            : -1;
}

FILM_HOT void
film_capture_stored(const film_stored *stored, bool alone)
{
    film_object *object;

    if (stored->quick != 0) {
        store_word(stored);
        return;
    }
    film_the_changes++;
    if (stored->address == NULL ||
        (object = film_objects_find(stored->address)) == NULL ||
        object->serial != stored->serial || !object->compared) {
        return;
    }
    if (stored->partly) {
        count_again(object, stored, alone);
        return;
    }
    if (!stored->known || object->wordless) {
        take_as_told(object, stored, alone);
        return;
    }
    if (!object->flat || !stored->flat) {
        film_nested_stored(object, stored);
    }
    if (object->worded) {
        object->fingerprint = film_object_fingerprint(object) + stored->delta;
        object->worded = false;
        film_objects_renew_quick(object);
    }
    else {
        object->fingerprint += stored->delta;
    }
    if (object->dict) {
        object->version = 0;
    }
    object->pointers = 0;
    object->headed = false;
    object->stale = true;
    if (object->pieces < FILM_PIECES) {
        object->pieces++;
    }
    if (object->length >= 0) {
        object->length += stored->growth;
    }
    if (!stored->flat && object->flat) {
        object->levels = (uint8_t)film_the_shown_levels;
        object->flat = false;
    }
}
