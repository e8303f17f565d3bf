/* capture.c: see capture.h. Scalars, records, fingerprints and serials are worked out
 * in the files beside it; here they are put together. SPDX-License-Identifier:
 * Apache-2.0 */
#include "recorder/capture.h"

#include "recorder/capture_scalars.h"
#include "recorder/fingerprint.h"
#include "recorder/objects.h"
#include "recorder/places.h"
#include "recorder/snapshot.h"

#define MOST_LEVELS 16u
#define MOST_ITEMS 512u
#define LONG_LIST 48
#define MOST_GROWTH 32
#define LOOKS_SAVED 16u /* that an append counts for */

static film_capture_limits the_limits;

uint8_t *
film_capture_any(film_context *context, PyObject *value, const film_holder *holder,
                 PyObject *name, uint8_t *to)
{
    if (value == NULL) {
        film_capture_vacate(holder);
        *to++ = FILM_TOKEN_UNBOUND;
        return to;
    }
    if (name != NULL && film_name_is_secret(name)) {
        film_capture_vacate(holder);
        if (value != Py_None && value != Py_True && value != Py_False) {
            film_secret_remember(value);
        }
        *to++ = FILM_TOKEN_REDACTED;
        return to;
    }
    film_look_renew();
    if (film_is_scalar(value)) {
        film_capture_vacate(holder);
        return film_scalar_token(value, to);
    }
    return film_snapshot_token(context, value, holder, the_limits.depth, to);
}

uint8_t *
film_capture_owner(film_context *context, PyObject *owner, const film_holder *holder,
                   uint8_t *to)
{
    film_object *object;
    bool known;

    film_look_renew();
    if (film_is_scalar(owner)) {
        return film_scalar_token(owner, to);
    }
    object = film_objects_see(context, owner, holder, &known);
    if (object != NULL && !known && holder->kind == FILM_HOLDER_NONE) {
        film_place_adopt(context, object, owner);
    }
    if (object != NULL && FILM_UNLIKELY(object->record == 0)) {
        film_content content = (film_content)film_type_of(Py_TYPE(owner))->content;
        film_fingerprint fingerprint =
            film_fingerprint_of(owner, content, the_limits.depth);

        object = film_snapshot_write(context, owner, the_limits.depth, &fingerprint);
    }
    if (object == NULL || object->record == 0) {
        *to++ = FILM_TOKEN_UNBOUND;
        return to;
    }
    return film_token_put_value(to, FILM_TOKEN_OBJECT, object->record - 1);
}

/* True for what can be changed in place and compared. */
static bool
can_change(film_content content)
{
    return film_content_is_value(content)
               ? content != FILM_CONTENT_TUPLE && content != FILM_CONTENT_FROZENSET
               : content == FILM_CONTENT_INSTANCE;
}

static uint32_t
compared_levels(const film_object *object)
{
    return object->flat || object->levels == 0 ? the_limits.depth : object->levels;
}

void
film_capture_told(PyObject *owner)
{
    film_object *object;
    film_fingerprint fingerprint;
    film_content content;

    if (film_is_scalar(owner) || (object = film_objects_find(owner)) == NULL) {
        return;
    }
    content = (film_content)film_type_of(Py_TYPE(owner))->content;
    if (!can_change(content)) {
        return;
    }
    film_look_renew();
    fingerprint = film_fingerprint_of(owner, content, compared_levels(object));
    film_snapshot_compared(object, owner, compared_levels(object), &fingerprint);
    object->stale = film_content_is_value(content);
}

/* A quick no for what has a number that every change changes. */
static bool
is_surely_unchanged(const film_object *object, PyObject *value, film_content content)
{
    if (object->pointers != 0) {
        return object->pointers == film_fingerprint_pointers(value);
    }
    return content == FILM_CONTENT_DICT && object->flat && object->version != 0 &&
           object->version == film_dict_version(value);
}

static bool
put_changed(const film_object *object, uint8_t **to)
{
    if (object->record == 0) {
        return false;
    }
    *to = film_token_put_value(*to, FILM_TOKEN_VALUE, object->record - 1);
    return true;
}

/* A long list that has got a few items more: they are at its end, as far as the
 * fingerprint says the next time that all of it is compared. That is put off so long
 * that appending costs no more for a longer list. */
static bool
only_grows(film_object *object, PyObject *value, film_content content)
{
    int64_t grown = (int64_t)Py_SIZE(value) - object->length;

    if (content != FILM_CONTENT_LIST || object->length < LONG_LIST || grown < 1 ||
        grown > MOST_GROWTH || !object->compared || !object->flat || object->stale) {
        return false;
    }
    return object->version < FILM_FINGERPRINT_ITEMS &&
           object->version < (uint32_t)Py_SIZE(value);
}

bool
film_capture_changed(film_context *context, PyObject *value, const film_holder *holder,
                     uint8_t **to, int64_t *length_before, bool *cut)
{
    film_content content;
    film_fingerprint fingerprint;
    film_object *object;
    bool known;

    if (film_is_scalar(value)) {
        return false;
    }
    content = (film_content)film_type_of(Py_TYPE(value))->content;
    if (!can_change(content)) {
        return false;
    }
    film_look_renew();
    object = film_objects_see(context, value, holder, &known);
    if (object == NULL || is_surely_unchanged(object, value, content)) {
        return false;
    }
    if (only_grows(object, value, content)) {
        fingerprint = film_fingerprint_grown(value, object->fingerprint, object->length,
                                             object->partly);
        if (fingerprint.flat) {
            uint32_t saved = object->version + LOOKS_SAVED;

            *length_before = object->length;
            *cut = fingerprint.cut;
            film_the_capture_counts.cut += *cut;
            object =
                film_snapshot_write(context, value, the_limits.depth, &fingerprint);
            object->version = saved;
            return put_changed(object, to);
        }
    }
    fingerprint = film_fingerprint_of(value, content, compared_levels(object));
    if (FILM_LIKELY(object->compared && fingerprint.word == object->fingerprint &&
                    !fingerprint.cut)) {
        if (content == FILM_CONTENT_LIST && object->flat) {
            object->version = 0;
            object->pointers =
                fingerprint.scalars ? 0 : film_fingerprint_pointers(value);
        }
        return false;
    }
    *cut = fingerprint.cut || !object->compared;
    if (!object->compared && content == FILM_CONTENT_INSTANCE) {
        /* Never seen before: nothing says that this line has changed it. */
        film_snapshot_compared(object, value, the_limits.depth, &fingerprint);
        return false;
    }
    *length_before = object->length;
    film_the_capture_counts.cut += *cut;
    if (compared_levels(object) != the_limits.depth) {
        fingerprint = film_fingerprint_of(value, content, the_limits.depth);
    }
    object = film_snapshot_write(context, value, the_limits.depth, &fingerprint);
    return put_changed(object, to);
}

void
film_capture_returned(film_context *context, PyObject *value)
{
    context->returned = value;
}

void
film_capture_expect(PyObject *owner, film_write *write, PyObject *key, PyObject *value,
                    film_stored *stored)
{
    film_object *object;
    film_store_effect effect;
    film_content content;

    stored->address = NULL;
    if (film_is_scalar(owner) || (object = film_objects_find(owner)) == NULL) {
        return;
    }
    content = (film_content)film_type_of(Py_TYPE(owner))->content;
    if (!object->compared || object->partly ||
        !film_fingerprint_store(owner, content, compared_levels(object),
                                write == NULL ? NULL : write->name, key, value,
                                &effect)) {
        /* What it comes to is not known, but that it is written to. */
        object->stale = object->stale || film_content_is_value(content);
        return;
    }
    stored->address = owner;
    stored->serial = object->serial;
    stored->delta = effect.delta;
    stored->growth = effect.growth;
    stored->flat = effect.flat;
}

void
film_capture_stored(const film_stored *stored)
{
    film_object *object;

    if (stored->address == NULL ||
        (object = film_objects_find(stored->address)) == NULL ||
        object->serial != stored->serial || !object->compared) {
        return;
    }
    object->fingerprint += stored->delta;
    if (object->dict) {
        object->version = 0;
    }
    object->pointers = 0;
    object->stale = true;
    if (object->length >= 0) {
        object->length += stored->growth;
    }
    if (!stored->flat && object->flat) {
        object->levels = (uint8_t)the_limits.depth;
        object->flat = false;
    }
}

bool
film_items_are_overridden(PyObject *owner)
{
    return film_type_of(Py_TYPE(owner))->own_items;
}

PyObject *
film_secret_key(PyObject *key)
{
    return key != NULL && film_name_is_secret(key) ? key : NULL;
}

bool
film_capture_begin(const film_capture_limits *limits)
{
    the_limits = *limits;
    if (the_limits.depth < 1 || the_limits.depth > MOST_LEVELS) {
        the_limits.depth = the_limits.depth < 1 ? 1 : MOST_LEVELS;
    }
    if (the_limits.items > MOST_ITEMS) {
        the_limits.items = MOST_ITEMS;
    }
    film_capture_end(NULL);
    if (!film_types_begin() || !film_scalars_begin(the_limits.text_bytes) ||
        !film_objects_begin() || !film_snapshot_begin(&the_limits)) {
        film_capture_end(NULL);
        return false;
    }
    return true;
}

void
film_capture_end(film_capture_counts *counts)
{
    if (counts != NULL) {
        *counts = film_the_capture_counts;
    }
    film_snapshot_end();
    film_objects_end();
    film_scalars_end();
    film_types_end();
}
