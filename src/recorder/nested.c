/* nested.c: see nested.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/nested.h"

#include "recorder/attributes.h"
#include "recorder/capture_scalars.h"
#include "recorder/compat_objects.h"
#include "recorder/snapshot.h"

/* What the comparison of a container may have cost where those within are asked too:
 * that costs as much again. */
#define MOST_LOOKS (FILM_LOOK_ITEMS * 3 / 8)

static bool
may_hold_containers(film_content content)
{
    return content == FILM_CONTENT_LIST || content == FILM_CONTENT_DICT ||
           content == FILM_CONTENT_DEQUE || content == FILM_CONTENT_TUPLE;
}

/* --- the items ----------------------------------------------------------------------
 */

/* The items of a list, tuple, deque or dict one after the other, a dict's keys too. */
typedef struct items_walk {
    PyObject *value;
    film_content content;
    Py_ssize_t index;
    film_pairs pairs;
    film_deque_cursor cursor;
} items_walk;

static items_walk
walk_of(PyObject *value, film_content content)
{
    items_walk walk = {.value = value, .content = content};

    if (content == FILM_CONTENT_DICT) {
        film_pairs_of_dict(value, &walk.pairs);
    }
    else if (content == FILM_CONTENT_DEQUE) {
        walk.cursor = film_deque_begin(value);
    }
    return walk;
}

static bool
next_of_dict(items_walk *walk, PyObject **item)
{
    while (walk->index < 2 * walk->pairs.count) {
        Py_ssize_t at = walk->index++;
        PyObject *key, *value = film_pairs_get(&walk->pairs, at / 2, &key);

        if (value != NULL) {
            *item = at % 2 == 0 ? key : value;
            return true;
        }
    }
    return false;
}

static bool
next_item(items_walk *walk, PyObject **item)
{
    if (walk->content == FILM_CONTENT_DICT) {
        return next_of_dict(walk, item);
    }
    if (walk->index >= Py_SIZE(walk->value)) {
        return false;
    }
    *item = walk->content == FILM_CONTENT_DEQUE ? film_deque_next(&walk->cursor)
            : walk->content == FILM_CONTENT_LIST
                ? ((PyListObject *)walk->value)->ob_item[walk->index]
                : PyTuple_GET_ITEM(walk->value, walk->index);
    walk->index++;
    return true;
}

/* What an item holds, where that counts; else FILM_CONTENT_OPAQUE: a scalar, or one
 * that counts by address, or cannot hold what may change. */
static film_content
content_within(PyObject *item)
{
    film_content content;

    if (item == NULL || film_is_scalar(item)) {
        return FILM_CONTENT_OPAQUE;
    }
    content = (film_content)film_type_of(Py_TYPE(item))->content;
    return film_content_is_value(content) && content != FILM_CONTENT_FROZENSET
               ? content
               : FILM_CONTENT_OPAQUE;
}

/* --- the word of the items ----------------------------------------------------------
 */

void
film_nested_compared(film_object *object, PyObject *value, film_content content,
                     const film_fingerprint *now)
{
    film_fingerprint items;

    object->as_held = false;
    /* A tuple is never asked: what it holds is. */
    if (object->flat || object->partly || !object->sure ||
        content == FILM_CONTENT_TUPLE || !may_hold_containers(content)) {
        object->itemed = false;
        return;
    }
    if (now->grown) {
        object->words[FILM_WORD_OF_ITEMS] += now->items;
        return;
    }
    items = film_fingerprint_of(value, content, 1);
    object->itemed = !items.cut;
    object->words[FILM_WORD_OF_ITEMS] = items.word;
}

void
film_nested_stored(film_object *object, const film_stored *stored)
{
    bool known = object->sure && stored->itemed && (object->flat || object->itemed);

    if (known) {
        /* Of one without containers both words are the same. */
        object->words[FILM_WORD_OF_ITEMS] =
            (object->flat ? object->fingerprint : object->words[FILM_WORD_OF_ITEMS]) +
            stored->items;
    }
    object->itemed = known;
}

/* --- as it was told -----------------------------------------------------------------
 */

/* The fingerprint of a container within, as deep as the one that is kept of it. */
static film_fingerprint
fingerprint_again(const film_object *object, PyObject *item, film_content content,
                  uint32_t depth)
{
    uint32_t levels = object->flat || object->levels == 0 ? depth : object->levels;

    return film_fingerprint_of(item, content, levels);
}

/* True when it holds what it was last told to hold, which is found by addresses alone,
 * or by *now. */
static bool
is_as_told(const film_object *object, PyObject *item, film_content content,
           uint32_t depth, film_fingerprint *now)
{
    if (object->pointers != 0 &&
        film_object_has_same_addresses(object, item, content)) {
        return true;
    }
    *now = fingerprint_again(object, item, content, depth);
    return !now->cut && !object->wordless && object->pointers == 0 &&
           now->word == object->fingerprint;
}

/* --- becoming known -----------------------------------------------------------------
 */

static bool
know_items(film_context *context, items_walk *walk, uint32_t levels);

/* One that was compared: where it is not as it was told, what it holds now is part of
 * what is told of the container, though not of itself. */
static bool
know_again(film_object *object, PyObject *item, film_content content, uint32_t levels)
{
    film_fingerprint now;

    if (is_as_told(object, item, content, levels, &now)) {
        if (!object->flat && object->levels < levels) {
            now = film_fingerprint_of(item, content, levels);
            if (now.cut) {
                return false;
            }
            film_snapshot_compared(object, item, levels, &now);
        }
        return true;
    }
    object->as_held = !now.cut;
    object->words[FILM_WORD_AS_HELD] = now.word;
    return object->as_held;
}

/* False: it has not become known. */
static bool
know_item(film_context *context, PyObject *item, uint32_t levels)
{
    film_holder nowhere = {.kind = FILM_HOLDER_NONE};
    film_content content = content_within(item);
    items_walk within;
    film_object *object;
    film_fingerprint now;
    bool known;

    if (content == FILM_CONTENT_OPAQUE) {
        return true;
    }
    if (content == FILM_CONTENT_TUPLE) {
        within = walk_of(item, content);
        return levels == 1 || know_items(context, &within, levels - 1);
    }
    object = film_objects_find_sure(item);
    if (object != NULL && object->compared && !object->partly && !object->unsure) {
        return know_again(object, item, content, levels);
    }
    if (object == NULL && film_type_of(Py_TYPE(item))->dies_in_sight) {
        object = film_objects_see(context, item, &nowhere, &known);
    }
    if (object == NULL || object->busy || object->compared) {
        return false;
    }
    film_the_looks_left -= FILM_WRITTEN_RECORD;
    now = film_fingerprint_of(item, content, levels);
    if (now.cut) {
        return false;
    }
    film_snapshot_compared(object, item, levels, &now);
    within = walk_of(item, content);
    return now.flat || levels == 1 || !may_hold_containers(content) ||
           know_items(context, &within, levels - 1);
}

static bool
know_items(film_context *context, items_walk *walk, uint32_t levels)
{
    PyObject *item;
    bool all = true;

    while (film_the_looks_left > 0 && next_item(walk, &item)) {
        film_the_looks_left--;
        all = know_item(context, item, levels) && all;
    }
    return all && film_the_looks_left > 0;
}

void
film_nested_know(film_context *context, PyObject *value, film_content content,
                 uint32_t levels, int64_t first)
{
    items_walk walk = walk_of(value, content);
    film_object *object;

    if (levels <= 1 || !may_hold_containers(content)) {
        return;
    }
    if (content == FILM_CONTENT_LIST && first > 0) {
        walk.index = (Py_ssize_t)first;
    }
    if (!know_items(context, &walk, levels - 1)) {
        object = film_objects_find(value); /* it may have moved */
        if (object != NULL) {
            object->itemed = false;
        }
    }
}

/* --- asking -------------------------------------------------------------------------
 */

/* A look at containers within containers. */
typedef struct nested_look {
    uint32_t depth; /* levels of fingerprints */
    uint32_t left;  /* levels that may still be gone down: there may be cycles */
    film_nested_changes *changes;
} nested_look;

static film_nested
ask_items(PyObject *value, film_content content, nested_look look);

/* Where only those within have changed, they are in look.changes. */
static film_nested
ask(const film_object *object, PyObject *value, film_content content, nested_look look)
{
    film_fingerprint items;

    if (object->flat || !may_hold_containers(content) ||
        object->length != film_content_length(value, content)) {
        return FILM_NESTED_CHANGED;
    }
    if (!object->itemed) {
        return FILM_NESTED_DOUBT;
    }
    items = film_fingerprint_of(value, content, 1);
    if (!items.cut && items.word != object->words[FILM_WORD_OF_ITEMS]) {
        return FILM_NESTED_CHANGED;
    }
    return items.cut || look.left-- == 0 ? FILM_NESTED_DOUBT
                                         : ask_items(value, content, look);
}

/* An item that may have been found before: a container may hold it twice. */
static void
note_change(film_nested_changes *changes, PyObject *item)
{
    for (uint32_t index = 0; index < changes->count && index < FILM_CHANGES; index++) {
        if (changes->items[index] == item) {
            return;
        }
    }
    if (changes->count < FILM_CHANGES) {
        changes->items[changes->count] = item;
    }
    changes->count++;
}

/* Of one that is no container: it has stayed, as its address has. */
static film_nested
ask_item(PyObject *item, nested_look look)
{
    film_content content = content_within(item);
    const film_object *object;
    film_fingerprint now;
    film_nested answer;

    if (content == FILM_CONTENT_OPAQUE) {
        return FILM_NESTED_TOLD;
    }
    if (content == FILM_CONTENT_TUPLE) {
        return look.left-- == 0 ? FILM_NESTED_DOUBT : ask_items(item, content, look);
    }
    object = film_objects_find_sure(item);
    if (object == NULL || !object->compared || object->partly || object->unsure) {
        return FILM_NESTED_DOUBT;
    }
    if (is_as_told(object, item, content, look.depth, &now)) {
        return FILM_NESTED_TOLD;
    }
    if (now.cut) {
        return FILM_NESTED_DOUBT;
    }
    if (object->as_held && now.word == object->words[FILM_WORD_AS_HELD]) {
        return FILM_NESTED_TOLD;
    }
    answer = ask(object, item, content, look);
    if (answer != FILM_NESTED_CHANGED) {
        return answer;
    }
    if (object->as_held) {
        return FILM_NESTED_DOUBT;
    }
    note_change(look.changes, item);
    return FILM_NESTED_WITHIN;
}

static film_nested
ask_items(PyObject *value, film_content content, nested_look look)
{
    items_walk walk = walk_of(value, content);
    film_nested answer = FILM_NESTED_TOLD;
    PyObject *item;

    while (answer != FILM_NESTED_DOUBT && next_item(&walk, &item)) {
        film_nested one = ask_item(item, look);

        answer = one == FILM_NESTED_TOLD ? answer : one;
    }
    return answer;
}

film_nested
film_nested_ask(const film_object *object, PyObject *value, film_content content,
                uint32_t depth, film_nested_changes *changes)
{
    nested_look look = {.depth = depth, .left = depth, .changes = changes};
    film_nested answer;

    changes->count = 0;
    if (!object->compared || object->partly) {
        return FILM_NESTED_CHANGED;
    }
    if (film_the_looks_left < FILM_LOOK_ITEMS - MOST_LOOKS) {
        look.left = 0;
    }
    answer = ask(object, value, content, look);
    return answer == FILM_NESTED_WITHIN && changes->count > FILM_CHANGES
               ? FILM_NESTED_CHANGED
               : answer;
}
