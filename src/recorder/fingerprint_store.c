/* fingerprint_store.c: what a store that is about to happen will do to its owner's
 * fingerprint: see fingerprint.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/fingerprint.h"

#include <string.h>

#include "recorder/attributes.h"
#include "recorder/compat_modules.h"
#include "recorder/families/arrays.h"
#include "recorder/fingerprint_words.h"

/* An int that is an index of a sequence of this length; -1: none. */
static Py_ssize_t
index_of(PyObject *key, Py_ssize_t length)
{
    int64_t index;

    if (!PyLong_Check(key) || !film_long_small(key, &index)) {
        return -1;
    }
    if (index < 0) {
        index += length;
    }
    return index >= 0 && index < length ? (Py_ssize_t)index : -1;
}

static bool
list_store(film_walk *walk, PyObject *list, Py_ssize_t index, PyObject *value,
           uint32_t levels, film_store_effect *effect)
{
    PyObject **items = ((PyListObject *)list)->ob_item;

    effect->delta =
        0 - placed(item_word(walk, items[index], levels), (uint64_t)index + 1);
    effect->deep = !walk->flat;
    if (value != NULL) {
        effect->delta += placed(item_word(walk, value, levels), (uint64_t)index + 1);
        return true;
    }
    /* What follows moves down. */
    for (Py_ssize_t next = index + 1; next < Py_SIZE(list); next++) {
        uint64_t word = item_word(walk, items[next], levels);

        if (--walk->left <= 0) {
            return false;
        }
        effect->delta +=
            placed(word, (uint64_t)next) - placed(word, (uint64_t)next + 1);
    }
    effect->deep = !walk->flat;
    effect->delta -= GOLDEN;
    effect->growth = -1;
    return true;
}

static bool
deque_store(film_walk *walk, PyObject *deque, Py_ssize_t index, PyObject *value,
            uint32_t levels, film_store_effect *effect)
{
    film_deque_cursor cursor = film_deque_begin(deque);

    for (Py_ssize_t at = 0; at < Py_SIZE(deque); at++) {
        PyObject *item = film_deque_next(&cursor);
        uint64_t word;

        if (!pay(walk)) {
            return false;
        }
        if (at < index) {
            continue;
        }
        word = item_word(walk, item, levels);
        effect->delta -= placed(word, (uint64_t)at + 1);
        effect->deep = !walk->flat;
        if (value != NULL) {
            effect->delta += placed(item_word(walk, value, levels), (uint64_t)at + 1);
            return true;
        }
        if (at > index) { /* what follows moves down */
            effect->delta += placed(word, (uint64_t)at);
        }
    }
    effect->delta -= GOLDEN;
    effect->growth = -1;
    return true;
}

static bool
bytearray_store(film_walk *walk, PyObject *object, Py_ssize_t index, PyObject *value,
                film_store_effect *effect)
{
    const char *bytes = PyByteArray_AS_STRING(object);
    size_t length = (size_t)Py_SIZE(object), changed = (size_t)index;
    size_t shorter = length - (value == NULL);
    int64_t byte = 0;

    if (value != NULL && (!PyLong_Check(value) || !film_long_small(value, &byte) ||
                          byte < 0 || byte > UINT8_MAX)) {
        return false;
    }
    for (size_t at = changed - changed % BLOCK; at < length; at += BLOCK) {
        size_t old_count = length - at < BLOCK ? length - at : BLOCK;
        size_t new_count = shorter - at < BLOCK ? shorter - at : BLOCK;
        char block[BLOCK];

        if ((walk->left -= 2 * BLOCK / BYTES_AN_ITEM) < 0) {
            return false;
        }
        effect->delta -= block_word(bytes + at, old_count, at / BLOCK);
        for (size_t byte_at = 0; byte_at < new_count; byte_at++) {
            size_t from = at + byte_at;

            block[byte_at] = bytes[value == NULL && from >= changed ? from + 1 : from];
        }
        if (value != NULL) {
            block[changed - at] = (char)byte;
        }
        if (new_count > 0) {
            effect->delta += block_word(block, new_count, at / BLOCK);
        }
        if (value != NULL) {
            return true;
        }
    }
    effect->delta -= GOLDEN;
    effect->growth = -1;
    return true;
}

static bool
numbers_store(film_walk *walk, PyObject *array, Py_ssize_t index, PyObject *value,
              film_store_effect *effect)
{
    char item[FILM_NUMBER_BYTES], block[BLOCK];
    const char *bytes;
    size_t length, size, at, first, count;

    if (value == NULL || !film_numbers_read(array, &bytes, &length) ||
        !film_numbers_encode(array, value, item, &size)) {
        return false;
    }
    at = (size_t)index * size;
    first = at - at % BLOCK; /* an item lies in one block */
    count = length - first < BLOCK ? length - first : BLOCK;
    if ((walk->left -= 2 * BLOCK / BYTES_AN_ITEM) < 0) {
        return false;
    }
    memcpy(block, bytes + first, count);
    effect->delta -= block_word(block, count, first / BLOCK);
    memcpy(block + (at - first), item, size);
    effect->delta += block_word(block, count, first / BLOCK);
    return true;
}

/* The store of item `key` of a sequence. */
static bool
sequence_store(film_walk *walk, PyObject *owner, film_content content, PyObject *key,
               PyObject *value, uint32_t levels, film_store_effect *effect)
{
    Py_ssize_t index = index_of(key, Py_SIZE(owner));

    if (index < 0) {
        return false;
    }
    if (content == FILM_CONTENT_LIST) {
        return list_store(walk, owner, index, value, levels, effect);
    }
    if (content == FILM_CONTENT_NUMBERS) {
        return numbers_store(walk, owner, index, value, effect);
    }
    return content == FILM_CONTENT_DEQUE
               ? deque_store(walk, owner, index, value, levels, effect)
               : bytearray_store(walk, owner, index, value, effect);
}

/* The keys before and behind the one at `position`, or at the end where that is
 * negative; by the list that an OrderedDict keeps. False: not known. */
static bool
chain_neighbours(film_walk *walk, PyObject *dict, Py_ssize_t position, uint32_t levels,
                 uint64_t *before, uint64_t *after)
{
    const film_ordered_dict *ordered = (const film_ordered_dict *)dict;
    const film_ordered_node *node = NULL, *left = ordered->last;

    *after = 0;
    if (position >= 0) {
        if (ordered->resize_sentinel != ordered->dict.ma_keys ||
            position >= ordered->fast_nodes_size ||
            (node = ordered->fast_nodes[position]) == NULL) {
            return false;
        }
        left = node->before;
        *after = node->next == NULL ? 0 : item_word(walk, node->next->key, levels);
    }
    *before = left == NULL ? 0 : item_word(walk, left->key, levels);
    return true;
}

/* What it does to the order of the keys that one is put at the end or taken away. */
static uint64_t
order_change(film_walk *walk, const film_pairs *pairs, uint64_t key,
             Py_ssize_t position, uint32_t levels)
{
    uint64_t before, after;

    if (position < 0) {
        before = film_key_word(walk, pairs, pairs->count - 1, -1, levels);
        return order_word(before, key);
    }
    before = film_key_word(walk, pairs, position - 1, -1, levels);
    after = film_key_word(walk, pairs, position + 1, 1, levels);
    return order_word(before, after) - order_word(before, key) - order_word(key, after);
}

static bool
dict_store(film_walk *walk, PyObject *dict, PyObject *key, PyObject *value,
           uint32_t levels, film_store_effect *effect)
{
    film_dict_place place;
    film_pairs pairs;
    uint64_t word;

    /* Keys that are the program's own objects are compared by its own code. */
    if (!film_dict_item(dict, key, &place)) {
        return false;
    }
    if (place.value == NULL && value == NULL) {
        return false; /* it will raise */
    }
    word = item_word(walk, place.key, levels);
    if (place.value != NULL) {
        effect->delta -= placed(item_word(walk, place.value, levels), word);
        effect->growth--;
    }
    effect->deep = !walk->flat;
    if (value != NULL) {
        effect->delta += placed(item_word(walk, value, levels), word);
        effect->growth++;
    }
    effect->delta += (uint64_t)effect->growth * GOLDEN;
    if (effect->growth != 0) {
        film_pairs_of_dict(dict, &pairs);
        if (pairs.values != NULL) {
            return false; /* an instance's: it shares the places of its keys */
        }
        if (film_is_ordered(dict)) {
            uint64_t before, after;

            if (!chain_neighbours(walk, dict, place.position, levels, &before,
                                  &after)) {
                return false;
            }
            effect->delta += place.position < 0 ? order_word(before, word)
                                                : order_word(before, after) -
                                                      order_word(before, word) -
                                                      order_word(word, after);
            return true;
        }
        effect->delta += order_change(walk, &pairs, word, place.position, levels);
    }
    return true;
}

static bool
attribute_store(film_walk *walk, PyObject *object, PyObject *name, PyObject *value,
                film_store_effect *effect)
{
    const film_type *type = film_type_of(Py_TYPE(object));
    uint64_t place = (uint64_t)(uintptr_t)name;
    PyObject *old = NULL;
    film_pairs pairs;
    unsigned slot = 0;

    while (slot < type->slot_count && type->slots[slot].name != name) {
        slot++;
    }
    if (slot < type->slot_count) {
        old = *(PyObject **)((char *)object + type->slots[slot].offset);
        place = slot + 1;
    }
    else if (film_pairs_of_object(object, &pairs)) {
        for (Py_ssize_t index = 0; index < pairs.count && old == NULL; index++) {
            PyObject *key, *kept = film_pairs_get(&pairs, index, &key);

            if (key == name) {
                old = kept;
            }
        }
    }
    if (old != NULL) {
        effect->delta -= placed(item_word(walk, old, 0), place);
    }
    if (value != NULL) {
        effect->delta += placed(item_word(walk, value, 0), place);
    }
    return true;
}

FILM_HOT bool
film_fingerprint_store(PyObject *owner, film_content content, uint32_t levels,
                       PyObject *name, PyObject *key, PyObject *value,
                       film_store_effect *effect)
{
    film_walk walk = {.left = FILM_FINGERPRINT_ITEMS, .flat = true};
    uint32_t below = levels == 0 ? 0 : levels - 1;
    bool known = false;

    *effect = (film_store_effect){0};
    if (name != NULL) {
        known = content == FILM_CONTENT_INSTANCE &&
                attribute_store(&walk, owner, name, value, effect);
    }
    else if ((content == FILM_CONTENT_LIST || content == FILM_CONTENT_DEQUE ||
              content == FILM_CONTENT_BYTEARRAY || content == FILM_CONTENT_NUMBERS) &&
             key != NULL) {
        known = sequence_store(&walk, owner, content, key, value, below, effect);
    }
    else if (content == FILM_CONTENT_DICT && key != NULL) {
        known = dict_store(&walk, owner, key, value, below, effect);
    }
    effect->flat = walk.flat;
    return known && walk.left >= 0;
}
