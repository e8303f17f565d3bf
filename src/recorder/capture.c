/* capture.c: see capture.h. Scalars, records, fingerprints and serials are worked out
 * in the files beside it; here they are put together.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/capture.h"

#include "recorder/capture_quick.h"
#include "recorder/capture_scalars.h"
#include "recorder/fingerprint.h"
#include "recorder/nested.h"
#include "recorder/objects.h"
#include "recorder/places.h"
#include "recorder/secrets.h"
#include "recorder/snapshot.h"

#define MOST_LEVELS 16u
#define MOST_ITEMS 512u
#define LONG_LIST 48
#define MOST_GROWTH 32
#define LOOKS_SAVED 16u /* that an append counts for */

static film_capture_limits the_limits;

FILM_HOT uint8_t *
film_capture_any(film_context *context, PyObject *value, const film_holder *holder,
                 PyObject *name, uint8_t *to)
{
    const film_object_way *way;

    if (value == NULL) {
        film_capture_vacate(holder);
        *to++ = FILM_TOKEN_UNBOUND;
        return to;
    }
    if (name != NULL && film_name_is_secret(name)) {
        return film_capture_secret(context, value, holder, name, to);
    }
    way = film_objects_quick(value);
    if (way != NULL) {
        film_capture_vacate(holder);
        return film_token_put_value(to, FILM_TOKEN_OBJECT, film_quick_record(way));
    }
    film_look_renew();
    if (film_is_scalar(value)) {
        film_capture_vacate(holder);
        return film_scalar_token(value, to);
    }
    return film_snapshot_token(context, value, holder, the_limits.depth, to);
}

uint8_t *
film_capture_secret(film_context *context, PyObject *value, const film_holder *holder,
                    PyObject *name, uint8_t *to)
{
    if (value != NULL && !film_is_scalar(value)) {
        film_secret_hide(context, value, holder);
    }
    if (value != NULL && film_secret_is_value(value, name)) {
        film_capture_vacate(holder);
        film_secret_remember(value);
        *to++ = FILM_TOKEN_REDACTED;
        return to;
    }
    if (value != NULL && film_type_of(Py_TYPE(value))->said) {
        film_look_renew();
        return film_snapshot_hidden(context, value, holder, the_limits.depth, to);
    }
    return film_capture_any(context, value, holder, NULL, to);
}

FILM_HOT uint8_t *
film_capture_owner(film_context *context, PyObject *owner, const film_holder *holder,
                   uint8_t *to)
{
    const film_object_way *way;
    film_object *object;
    bool known;

    way = film_objects_quick(owner);
    if (FILM_LIKELY(way != NULL)) {
        return film_token_put_value(to, FILM_TOKEN_OBJECT, film_quick_record(way));
    }
    film_look_renew();
    if (film_is_scalar(owner)) {
        return film_scalar_token(owner, to);
    }
    if (film_type_of(Py_TYPE(owner))->said) {
        return film_snapshot_token(context, owner, holder, the_limits.depth, to);
    }
    object = film_objects_see(context, owner, holder, &known);
    if (object != NULL && !known && !object->sure && holder->kind == FILM_HOLDER_NONE) {
        film_place_adopt(context, object, owner);
    }
    if (object != NULL && FILM_UNLIKELY(film_snapshot_is_missing(object))) {
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

void
film_capture_written_slowly(PyObject *owner, const film_named *named)
{
    film_holder holder = {
        .kind = FILM_HOLDER_ATTRIBUTE, .owner = owner, .name = named->name};

    film_objects_vacate(&holder);
}

void
film_capture_told(PyObject *owner, film_named *named)
{
    film_object *object;
    film_fingerprint fingerprint;
    film_content content;

    if (film_is_scalar(owner) || (object = film_objects_find(owner)) == NULL) {
        return;
    }
    if (named != NULL && object->worded) {
        film_kept kept;
        PyObject *value = film_attribute_read(named, owner, &kept);
        uint32_t place = film_attribute_place(named, kept);

        if (place < FILM_WORDS) {
            object->words[place] = film_attribute_word(named, kept, value);
            return;
        }
    }
    content = (film_content)film_type_of(Py_TYPE(owner))->content;
    if (!can_change(content)) {
        return;
    }
    film_look_renew();
    fingerprint = film_fingerprint_of(owner, content, film_compared_levels(object));
    film_snapshot_compared(object, owner, film_compared_levels(object), &fingerprint);
    object->stale = film_content_is_value(content);
}

/* A quick no for what has a number that every change changes. */
static bool
is_surely_unchanged(const film_object *object, PyObject *value, film_content content)
{
    if (object->pointers != 0) {
        return film_object_has_same_addresses(object, value, content);
    }
    return content == FILM_CONTENT_DICT && object->flat && object->version != 0 &&
           object->version == film_dict_version(value);
}

/* A long list that has got a few items more: they are at its end, as far as the
 * fingerprint says the next time that all of it is compared. That is put off so long
 * that appending costs no more for a longer list. Of one with containers, those that
 * the record shows are looked at every time. */
static bool
only_grows(const film_object *object, PyObject *value)
{
    int64_t grown = (int64_t)Py_SIZE(value) - object->length;

    if (object->length < LONG_LIST || grown < 1 || grown > MOST_GROWTH ||
        !object->compared || object->stale ||
        !(object->flat || (object->headed && object->length > film_the_shown_items &&
                           object->levels == the_limits.depth))) {
        return false;
    }
    return object->version < FILM_FINGERPRINT_ITEMS &&
           object->version < (uint32_t)Py_SIZE(value);
}

/* A list or deque whose items count by address: they are looked at by address again, as
 * long as nothing else can have come among them. False: it must be looked at as any
 * other. */
static bool
compare_addresses(const film_object *object, PyObject *value, film_content content,
                  film_effect effect, film_fingerprint *fingerprint)
{
    int64_t grown = (int64_t)Py_SIZE(value) - object->length;
    film_addresses addresses = film_object_addresses(object);

    if (addresses.word == 0 || object->stale || !object->compared || object->partly ||
        grown == 0 || grown > MOST_GROWTH ||
        (grown > 1 && content == FILM_CONTENT_DEQUE) ||
        (grown < 0 && effect != FILM_EFFECT_REMOVES) ||
        Py_SIZE(value) > FILM_FINGERPRINT_ITEMS ||
        !film_fingerprint_tail_is_plain(value, content, object->length)) {
        return false;
    }
    if (!object->sure ||
        !film_addresses_step(value, content, object->length, effect, &addresses)) {
        addresses = film_addresses_of(value, content, addresses.front);
    }
    *fingerprint =
        (film_fingerprint){.length = Py_SIZE(value),
                           .flat = true,
                           .grown = grown > 0 && content == FILM_CONTENT_LIST,
                           .wordless = true,
                           .addresses = addresses};
    return true;
}

/* A quick yes for long lists and queues; `saved`: what it costs the next full
 * comparison. */
static bool
is_surely_changed(const film_object *object, PyObject *value, film_content content,
                  film_effect effect, film_fingerprint *fingerprint, uint32_t *saved)
{
    *saved = 0;
    if (content != FILM_CONTENT_LIST && content != FILM_CONTENT_DEQUE) {
        return false;
    }
    if (object->sure &&
        compare_addresses(object, value, content, effect, fingerprint)) {
        return true;
    }
    if (content == FILM_CONTENT_LIST && !object->wordless &&
        only_grows(object, value)) {
        film_list_before before = {.word = object->fingerprint,
                                   .length = object->length,
                                   .levels = the_limits.depth,
                                   .partly = object->partly,
                                   .headed = !object->flat};

        if (before.headed) {
            before.head = object->words[FILM_WORD_OF_HEAD];
        }
        *fingerprint = film_fingerprint_grown(value, &before);
        *saved = object->version + LOOKS_SAVED;
        return fingerprint->flat || fingerprint->headed;
    }
    return !object->sure &&
           compare_addresses(object, value, content, effect, fingerprint);
}

/* A list whose end alone was looked at lately, and containers have changed since that
 * may lie within it: then nobody knows when it came to differ. */
static bool
is_behind(const film_object *object, PyObject *value)
{
    return object->headed && object->version != 0 &&
           object->words[FILM_WORD_OF_CHANGES] != film_the_changes &&
           Py_SIZE(value) == object->length;
}

/* What was compared in part before may be what it was then. */
static bool
is_in_doubt(const film_object *object, const film_fingerprint *now)
{
    return object->partly && (object->length < 0 || object->length == now->length);
}

/* The fingerprint differs from what was told: a new record. */
static bool
tell_changed(film_context *context, film_object *object, PyObject *value,
             const film_fingerprint *fingerprint, bool doubt, film_changed *changed)
{
    uint64_t record = object->record;

    changed->cut = doubt || fingerprint->cut || !object->compared ||
                   is_behind(object, value) || is_in_doubt(object, fingerprint);
    film_the_changes++;
    changed->length_before = object->length;
    object = film_snapshot_write(context, value, the_limits.depth, fingerprint);
    if (object->record == 0) {
        film_writer_count_lost(film_the_session.writer, 1);
        return false;
    }
    if (object->record == record && !changed->cut && PyAnySet_Check(value) &&
        object->length <= (int64_t)the_limits.items) {
        return false; /* a member of a set was replaced by an equal one */
    }
    film_the_capture_counts.cut += changed->cut;
    changed->record = object->record - 1;
    return true;
}

/* Tells the containers within `value` that a line has changed; it holds what it held.
 */
static uint32_t
tell_changed_within(film_context *context, PyObject *value,
                    const film_fingerprint *fingerprint,
                    const film_nested_changes *within, film_changed *changed)
{
    uint32_t count = 0;
    film_object *object;

    for (uint32_t index = 0; index < within->count; index++) {
        PyObject *item = within->items[index];
        film_fingerprint now = film_fingerprint_of(
            item, (film_content)film_type_of(Py_TYPE(item))->content, the_limits.depth);

        object = film_objects_find(item);
        count += object != NULL &&
                 tell_changed(context, object, item, &now, false, &changed[count]);
    }
    object = film_objects_find(value);
    if (object != NULL) {
        film_snapshot_compared(object, value, film_compared_levels(object),
                               fingerprint);
        object->stale = true; /* its record shows them as they were */
    }
    return count;
}

FILM_HOT uint32_t
film_capture_changed(film_context *context, PyObject *value, const film_holder *holder,
                     film_effect effect, film_changed *changed)
{
    film_content content;
    film_fingerprint fingerprint;
    film_object *object;
    film_nested_changes within;
    film_nested nested;
    uint32_t saved;
    bool known;

    if (film_is_scalar(value)) {
        return 0;
    }
    content = (film_content)film_type_of(Py_TYPE(value))->content;
    if (!can_change(content)) {
        return 0;
    }
    film_look_renew();
    object = film_objects_see(context, value, holder, &known);
    if (object == NULL) {
        return 0;
    }
    if (FILM_UNLIKELY(object->unsure)) {
        fingerprint = film_fingerprint_of(value, content, film_compared_levels(object));
        film_snapshot_compared(object, value, film_compared_levels(object),
                               &fingerprint);
        if (!fingerprint.flat) {
            film_nested_know(context, value, content, the_limits.depth, 0);
        }
        return 0;
    }
    if (is_surely_changed(object, value, content, effect, &fingerprint, &saved)) {
        bool alone =
            object->headed && object->words[FILM_WORD_OF_CHANGES] == film_the_changes;

        if (!tell_changed(context, object, value, &fingerprint, false, changed)) {
            return 0;
        }
        if (saved != 0) {
            object = film_objects_find(value);
            object->version = saved;
            if (object->headed && !alone) {
                object->words[FILM_WORD_OF_CHANGES] = UINT64_MAX;
            }
        }
        return 1;
    }
    if (is_surely_unchanged(object, value, content)) {
        return 0;
    }
    fingerprint = film_fingerprint_of(value, content, film_compared_levels(object));
    if (FILM_LIKELY(object->compared &&
                    fingerprint.word == film_object_fingerprint(object) &&
                    !fingerprint.cut)) {
        if (content == FILM_CONTENT_LIST && (object->flat || object->headed)) {
            object->version = 0;
            film_snapshot_address(object, value, &fingerprint);
            if (object->headed) {
                object->words[FILM_WORD_OF_CHANGES] = film_the_changes;
            }
        }
        return 0;
    }
    if (!object->compared && content == FILM_CONTENT_INSTANCE) {
        /* Never seen before: nothing says that this line has changed it. */
        film_snapshot_compared(object, value, the_limits.depth, &fingerprint);
        return 0;
    }
    nested = fingerprint.cut
                 ? FILM_NESTED_DOUBT
                 : film_nested_ask(object, value, content, the_limits.depth, &within);
    if (nested == FILM_NESTED_TOLD || nested == FILM_NESTED_WITHIN) {
        return tell_changed_within(context, value, &fingerprint, &within, changed);
    }
    if (film_compared_levels(object) != the_limits.depth) {
        fingerprint = film_fingerprint_of(value, content, the_limits.depth);
    }
    return (uint32_t)tell_changed(context, object, value, &fingerprint,
                                  nested == FILM_NESTED_DOUBT, changed);
}

uint64_t
film_capture_awaits(film_context *context, PyObject *value)
{
    film_holder nowhere = {.kind = FILM_HOLDER_NONE};
    film_content content = (film_content)film_type_of(Py_TYPE(value))->content;
    film_fingerprint fingerprint;
    film_object *object;
    bool known;

    if (film_is_scalar(value) || !can_change(content)) {
        return 0;
    }
    object = film_objects_see(context, value, &nowhere, &known);
    if (object == NULL || !object->sure) {
        return 0;
    }
    if (!object->compared || object->unsure) {
        film_look_renew();
        fingerprint = film_fingerprint_of(value, content, the_limits.depth);
        film_snapshot_compared(object, value, the_limits.depth, &fingerprint);
    }
    return object->serial;
}

PyObject *
film_capture_living(const void *address, uint64_t serial)
{
    film_object *object = film_objects_find(address);

    return object != NULL && object->serial == serial && object->sure &&
                   film_deaths_are_seen()
               ? (PyObject *)(uintptr_t)address
               : NULL;
}

FILM_HOT void
film_capture_returned(film_context *context, PyObject *value)
{
    context->returned = value;
}

bool
film_items_are_overridden(PyObject *owner)
{
    return film_type_of(Py_TYPE(owner))->own_items;
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
    film_the_shown_items = (Py_ssize_t)the_limits.items;
    film_the_shown_levels = the_limits.depth;
    film_capture_end(NULL);
    if (!film_types_begin(the_limits.contents) ||
        !film_scalars_begin(the_limits.text_bytes) || !film_objects_begin() ||
        !film_snapshot_begin(&the_limits)) {
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
