/* nested.c: see nested.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/nested.h"

#include "recorder/attributes.h"
#include "recorder/capture_scalars.h"
#include "recorder/compat_objects.h"

/* What may be looked at twice: the container, and then those within. */
#define MOST_ITEMS 4096

static bool
may_hold_containers(film_content content)
{
    return content == FILM_CONTENT_LIST || content == FILM_CONTENT_DICT ||
           content == FILM_CONTENT_DEQUE;
}

void
film_nested_compared(film_object *object, PyObject *value, film_content content,
                     bool grown)
{
    film_fingerprint items;

    object->itemed = false;
    if (object->flat || object->partly || !object->sure || grown ||
        object->length > MOST_ITEMS || !may_hold_containers(content)) {
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

/* A look at containers within containers. */
typedef struct nested_look {
    uint32_t depth; /* levels of fingerprints */
    uint32_t left;  /* levels that may still be gone down: there may be cycles */
} nested_look;

static bool
are_told(const film_object *object, PyObject *value, film_content content,
         nested_look look);

/* True when an item is no container, or holds what it was last told to hold. */
static bool
is_told(PyObject *item, nested_look look)
{
    film_content content;
    const film_object *object;
    film_fingerprint now;

    if (item == NULL || film_is_scalar(item)) {
        return true;
    }
    content = (film_content)film_type_of(Py_TYPE(item))->content;
    if (!film_content_is_value(content)) {
        return true; /* counts by address */
    }
    object = film_objects_find_sure(item);
    if (object == NULL || !object->compared || object->partly || object->unsure) {
        return false;
    }
    if (object->pointers != 0) {
        return film_object_has_same_addresses(object, item, content);
    }
    now = film_fingerprint_of(item, content,
                              object->flat || object->levels == 0 ? look.depth
                                                                  : object->levels);
    return !now.cut && ((!object->wordless && now.word == object->fingerprint) ||
                        are_told(object, item, content, look));
}

static bool
pairs_are_told(PyObject *dict, nested_look look)
{
    film_pairs pairs;

    film_pairs_of_dict(dict, &pairs);
    for (Py_ssize_t index = 0; index < pairs.count; index++) {
        PyObject *key, *value = film_pairs_get(&pairs, index, &key);

        if (value != NULL && !(is_told(value, look) && is_told(key, look))) {
            return false;
        }
    }
    return true;
}

static bool
items_are_told(PyObject *value, film_content content, nested_look look)
{
    film_deque_cursor cursor;

    if (content == FILM_CONTENT_DICT) {
        return pairs_are_told(value, look);
    }
    if (content == FILM_CONTENT_DEQUE) {
        cursor = film_deque_begin(value);
    }
    for (Py_ssize_t index = 0; index < Py_SIZE(value); index++) {
        PyObject *item = content == FILM_CONTENT_DEQUE
                             ? film_deque_next(&cursor)
                             : ((PyListObject *)value)->ob_item[index];

        if (!is_told(item, look)) {
            return false;
        }
    }
    return true;
}

static bool
are_told(const film_object *object, PyObject *value, film_content content,
         nested_look look)
{
    film_fingerprint items;

    if (!object->itemed || look.left-- == 0) {
        return false;
    }
    items = film_fingerprint_of(value, content, 1);
    return !items.cut && items.word == object->words[FILM_WORD_OF_ITEMS] &&
           items_are_told(value, content, look);
}

bool
film_nested_are_told(const film_object *object, PyObject *value, film_content content,
                     uint32_t depth)
{
    nested_look look = {.depth = depth, .left = depth};

    return object->compared && !object->unsure && !object->partly &&
           film_the_looks_left >= FILM_LOOK_ITEMS - MOST_ITEMS &&
           are_told(object, value, content, look);
}
