/* fingerprint.c: see fingerprint.h.
 *
 * Each item gives a word of its own, salted with its index, key or name, and the words
 * are added: no item waits for the one before it, which is what makes a list of ten
 * cost 10 ns, and what one store does to the sum can be told without all the rest.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/fingerprint.h"

#include <string.h>

#include "base/hash.h"
#include "recorder/attributes.h"
#include "recorder/capture_arrays.h"
#include "recorder/capture_scalars.h"
#include "recorder/compat_objects.h"
#include "recorder/compat_modules.h"
#include "recorder/families/arrays.h"
#include "recorder/torch/tensors.h"
#include "recorder/families/family.h"
#include "recorder/fingerprint_words.h"
#include "recorder/objects.h"

/* What costs more or less than a small number in a list. */
#define MEMBERS_AN_ITEM 2
#define OTHER_ITEM 3
#define PAIR_ITEM 3

int64_t film_the_looks_left = FILM_LOOK_ITEMS;
Py_ssize_t film_the_shown_items = 32;
uint32_t film_the_shown_levels = 3;

static uint64_t
content_word(film_walk *walk, PyObject *object, film_content content, uint32_t levels);

static film_content
nested_content(const PyTypeObject *type)
{
    if (type == &PyList_Type) {
        return FILM_CONTENT_LIST;
    }
    if (type == &PyTuple_Type) {
        return FILM_CONTENT_TUPLE;
    }
    if (type == &PyDict_Type) {
        return FILM_CONTENT_DICT;
    }
    if (type == &PySet_Type) {
        return FILM_CONTENT_SET;
    }
    if (type == &PyFrozenSet_Type) {
        return FILM_CONTENT_FROZENSET;
    }
    if (type == &PyByteArray_Type) {
        return FILM_CONTENT_BYTEARRAY;
    }
    return FILM_CONTENT_OPAQUE;
}

/* Of a long text, in items. */
static int64_t
text_cost(PyObject *scalar)
{
    Py_ssize_t length = 0;

    if (Py_TYPE(scalar) == &PyUnicode_Type) {
        length = PyUnicode_GET_LENGTH(scalar) * (Py_ssize_t)PyUnicode_KIND(scalar);
    }
    else if (Py_TYPE(scalar) == &PyBytes_Type) {
        length = PyBytes_GET_SIZE(scalar);
    }
    else if (Py_TYPE(scalar) == &PyLong_Type) {
        length = (Py_ssize_t)(film_long_digit_count(scalar) * sizeof(digit));
    }
    return (length < FILM_SCALAR_HASHED ? length : FILM_SCALAR_HASHED) / BYTES_AN_ITEM;
}

/* Of an object that is nothing but its content; 0: it counts by address. */
static uint64_t
said_word(PyObject *item)
{
    const film_type *type = film_type_of(Py_TYPE(item));

    return type->said ? film_family_word(type, item) : 0;
}

/* The word of an item that is no small number and no short text. */
FILM_HOT uint64_t
film_other_word(film_walk *walk, PyObject *item, uint32_t levels)
{
    const PyTypeObject *type = Py_TYPE(item);
    uint64_t address = (uint64_t)(uintptr_t)item, word;
    film_content content;

    if (item == Py_None || type == &PyBool_Type) {
        walk->scalars = true;
        return address;
    }
    walk->left -= OTHER_ITEM - 1;
    if (film_is_scalar(item)) {
        walk->scalars = true;
        walk->left -= text_cost(item);
        return film_scalar_word(item);
    }
    content = nested_content(type);
    if (content == FILM_CONTENT_OPAQUE && (word = said_word(item)) != 0) {
        walk->scalars = true;
        return word;
    }
    if (levels == 0) {
        walk->flat = false; /* a container, or who knows */
        return identity_word(item, type);
    }
    if (content == FILM_CONTENT_OPAQUE &&
        film_content_is_value((film_content)film_type_of(Py_TYPE(item))->content)) {
        content = (film_content)film_type_of(Py_TYPE(item))->content;
    }
    if (content != FILM_CONTENT_OPAQUE) {
        walk->flat = false;
        return content_word(walk, item, content, levels) ^ address;
    }
    return identity_word(item, type);
}

static FILM_HOT uint64_t
array_word(film_walk *walk, PyObject *const *items, Py_ssize_t count, uint32_t levels)
{
    Py_ssize_t shown = count < film_the_shown_items ? count : film_the_shown_items;
    Py_ssize_t index = 0;
    uint64_t sum = 0, head;

    for (; index < shown && pay(walk); index++) {
        sum += placed(item_word(walk, items[index], levels), (uint64_t)index + 1);
    }
    head = sum;
    for (; index < count && pay(walk); index++) {
        sum += placed(item_word(walk, items[index], levels), (uint64_t)index + 1);
    }
    walk->head = head;
    return sum + (uint64_t)count * GOLDEN;
}

/* Of an OrderedDict: which key comes behind which, by the list it keeps apart. */
static uint64_t
chain_word(film_walk *walk, PyObject *dict, uint32_t levels)
{
    const film_ordered_node *node = ((const film_ordered_dict *)dict)->first;
    Py_ssize_t left = film_dict_length(dict);
    uint64_t sum = 0, before = 0;

    for (; node != NULL && left > 0 && pay(walk); node = node->next, left--) {
        uint64_t word = item_word(walk, node->key, levels);

        sum += order_word(before, word);
        before = word;
    }
    return sum;
}

static FILM_HOT uint64_t
dict_word(film_walk *walk, PyObject *dict, uint32_t levels)
{
    uint64_t sum = (uint64_t)film_dict_length(dict) * GOLDEN, before = 0;
    bool ordered = film_is_ordered(dict);
    film_pairs pairs;

    film_pairs_of_dict(dict, &pairs);
    for (Py_ssize_t index = 0; index < pairs.count && pay(walk); index++) {
        PyObject *key, *value = film_pairs_get(&pairs, index, &key);

        walk->left -= PAIR_ITEM - 1;
        if (value != NULL) {
            uint64_t word = item_word(walk, key, levels);

            sum += placed(item_word(walk, value, levels), word);
            sum += ordered ? 0 : order_word(before, word);
            before = word;
        }
    }
    return ordered ? sum + chain_word(walk, dict, levels) : sum;
}

uint64_t
film_key_word(film_walk *walk, const film_pairs *pairs, Py_ssize_t position, int step,
              uint32_t levels)
{
    for (; position >= 0 && position < pairs->count && pay(walk); position += step) {
        PyObject *key;

        if (film_pairs_get(pairs, position, &key) != NULL) {
            return item_word(walk, key, levels);
        }
    }
    return 0;
}

/* What the last `count` pairs of a dict add to its fingerprint. */
static uint64_t
dict_tail_word(film_walk *walk, PyObject *dict, int64_t count, uint32_t levels)
{
    uint64_t sum = 0, after = 0;
    film_pairs pairs;
    Py_ssize_t index;

    film_pairs_of_dict(dict, &pairs);
    for (index = pairs.count; index > 0 && count > 0; index--) {
        PyObject *key, *value = film_pairs_get(&pairs, index - 1, &key);

        if (value != NULL) {
            uint64_t word = item_word(walk, key, levels);

            sum += placed(item_word(walk, value, levels), word);
            sum += order_word(word, after);
            after = word;
            count--;
        }
    }
    return sum + order_word(film_key_word(walk, &pairs, index - 1, -1, levels), after);
}

/* Members count by address and hash: they are not looked at. One that was replaced by
 * an equal one makes another word; tell_changed (capture.c) sees to that. */
static uint64_t
set_word(film_walk *walk, PyObject *set)
{
    Py_ssize_t last = film_set_positions(set), most = walk->left * MEMBERS_AN_ITEM;
    const setentry *table = ((PySetObject *)set)->table;
    uint64_t sum = (uint64_t)((PySetObject *)set)->used * GOLDEN;

    last = last < most ? last : most + 1;
    walk->left -= last / MEMBERS_AN_ITEM + (last > most);
    for (Py_ssize_t index = 0; index < last; index++) {
        if (table[index].key != NULL && table[index].hash != -1) {
            sum += placed((uint64_t)(uintptr_t)table[index].key,
                          (uint64_t)table[index].hash);
        }
    }
    return sum;
}

static uint64_t
deque_word(film_walk *walk, PyObject *deque, uint32_t levels)
{
    film_deque_cursor cursor = film_deque_begin(deque);
    uint64_t sum = (uint64_t)Py_SIZE(deque) * GOLDEN;

    for (Py_ssize_t index = 0; index < Py_SIZE(deque) && pay(walk); index++) {
        sum += placed(item_word(walk, film_deque_next(&cursor), levels),
                      (uint64_t)index + 1);
    }
    return sum;
}

static uint64_t
bytes_word(film_walk *walk, const char *bytes, size_t length)
{
    uint64_t sum = (uint64_t)length * GOLDEN;

    for (size_t at = 0; at < length && pay(walk); at += BLOCK) {
        sum += block_word(bytes + at, length - at < BLOCK ? length - at : BLOCK,
                          at / BLOCK);
        walk->left -= BLOCK / BYTES_AN_ITEM;
    }
    return sum;
}

static uint64_t
numbers_word(film_walk *walk, PyObject *array)
{
    const char *bytes;
    size_t length;

    return film_numbers_read(array, &bytes, &length) ? bytes_word(walk, bytes, length)
                                                     : 0;
}

/* What a member of __slots__ adds. */
static inline uint64_t
member_word(film_walk *walk, PyObject *object, const film_type *type, unsigned index)
{
    PyObject *value = *(PyObject **)((char *)object + type->slots[index].offset);

    return value == NULL ? 0 : placed(item_word(walk, value, 0), index + 1);
}

/* What an attribute that is kept in line adds. By name, not by place: the same
 * attributes may move from the instance into a __dict__. */
static inline uint64_t
attribute_word(film_walk *walk, const film_pairs *pairs, Py_ssize_t index)
{
    PyObject *value = pairs->values[index];

    return value == NULL ? 0
                         : placed(item_word(walk, value, 0),
                                  (uint64_t)(uintptr_t)pairs->texts[index].me_key);
}

static FILM_HOT uint64_t
instance_word(film_walk *walk, PyObject *object)
{
    const film_type *type = film_type_of(Py_TYPE(object));
    film_pairs pairs;
    uint64_t sum = 1;

    for (unsigned index = 0; index < type->slot_count; index++) {
        sum += member_word(walk, object, type, index);
    }
    if (!film_pairs_of_object(object, &pairs)) {
        return sum;
    }
    if (FILM_LIKELY(pairs.values != NULL && pairs.texts != NULL)) {
        for (Py_ssize_t index = 0; index < pairs.count; index++) {
            sum += attribute_word(walk, &pairs, index);
        }
        return sum; /* a few dozen at most */
    }
    for (Py_ssize_t index = 0; index < pairs.count && pay(walk); index++) {
        PyObject *key, *value = film_pairs_get(&pairs, index, &key);

        if (value != NULL) {
            sum += placed(item_word(walk, value, 0), (uint64_t)(uintptr_t)key);
        }
    }
    return sum;
}

/* The attributes that are kept in line; none where the type has no __dict__. False: in
 * a __dict__. */
static inline bool
inline_pairs(PyObject *instance, film_pairs *pairs)
{
    PyTypeObject *type = Py_TYPE(instance);
    PyObject *const *values;
    PyDictKeysObject *keys;

    pairs->count = 0;
    if ((type->tp_flags & Py_TPFLAGS_MANAGED_DICT) == 0 && type->tp_dictoffset == 0) {
        return true;
    }
    (void)film_object_dict(instance, &values, &keys);
    if (values == NULL) {
        return false;
    }
    film_pairs_of_keys(keys, values, pairs);
    return pairs->texts != NULL;
}

bool
film_fingerprint_words(PyObject *instance, uint64_t *words)
{
    const film_type *type = film_type_of(Py_TYPE(instance));
    film_walk walk = {.left = FILM_WORDS};
    film_pairs pairs;

    if (type->content != FILM_CONTENT_INSTANCE || !inline_pairs(instance, &pairs) ||
        type->slot_count + pairs.count > (Py_ssize_t)FILM_WORDS) {
        return false;
    }
    memset(words, 0, FILM_WORDS * sizeof(*words));
    for (unsigned index = 0; index < type->slot_count; index++) {
        *words++ = member_word(&walk, instance, type, index);
    }
    for (Py_ssize_t index = 0; index < pairs.count; index++) {
        *words++ = attribute_word(&walk, &pairs, index);
    }
    return true;
}

uint64_t
film_fingerprint_item(PyObject *value, uint64_t place)
{
    film_walk walk = {.left = 1};

    return placed(item_word(&walk, value, 0), place);
}

static uint64_t
shape_word(PyObject *object, film_content content)
{
    film_array array;
    uint64_t sum;

    if (content == FILM_CONTENT_TENSOR) {
        return film_tensor_word(object);
    }
    if (!film_array_read(object, &array)) {
        return 0;
    }
    sum = (uint64_t)(uintptr_t)array.dtype;
    for (int index = 0; index < array.dimensions; index++) {
        sum = film_digest_mix(sum, (uint64_t)array.shape[index]);
    }
    return film_digest_mix(sum, (uint64_t)array.dimensions);
}

static FILM_HOT uint64_t
content_word(film_walk *walk, PyObject *object, film_content content, uint32_t levels)
{
    uint32_t below = levels - 1;

    switch (content) {
    case FILM_CONTENT_LIST:
        return array_word(walk, ((PyListObject *)object)->ob_item, Py_SIZE(object),
                          below);
    case FILM_CONTENT_TUPLE:
        return array_word(walk, ((PyTupleObject *)object)->ob_item, Py_SIZE(object),
                          below);
    case FILM_CONTENT_DICT:
        return dict_word(walk, object, below);
    case FILM_CONTENT_SET:
    case FILM_CONTENT_FROZENSET:
        return set_word(walk, object);
    case FILM_CONTENT_DEQUE:
        return deque_word(walk, object, below);
    case FILM_CONTENT_BYTEARRAY:
        return bytes_word(walk, PyByteArray_AS_STRING(object), (size_t)Py_SIZE(object));
    case FILM_CONTENT_NUMBERS:
        return numbers_word(walk, object);
    case FILM_CONTENT_ARRAY:
    case FILM_CONTENT_TENSOR:
        return shape_word(object, content);
    case FILM_CONTENT_INSTANCE:
        return instance_word(walk, object);
    case FILM_CONTENT_OPAQUE:
    case FILM_CONTENT_EXCEPTION:
    case FILM_CONTENT_FUNCTION:
    case FILM_CONTENT_METHOD:
    case FILM_CONTENT_BUILTIN:
    case FILM_CONTENT_CLASS:
    case FILM_CONTENT_MODULE:
        break;
    }
    return 0;
}

int64_t
film_content_length(PyObject *object, film_content content)
{
    switch (content) {
    case FILM_CONTENT_LIST:
    case FILM_CONTENT_TUPLE:
    case FILM_CONTENT_DEQUE:
    case FILM_CONTENT_BYTEARRAY:
    case FILM_CONTENT_NUMBERS:
        return (int64_t)Py_SIZE(object);
    case FILM_CONTENT_DICT:
        return (int64_t)film_dict_length(object);
    case FILM_CONTENT_SET:
    case FILM_CONTENT_FROZENSET:
        return (int64_t)((PySetObject *)object)->used;
    case FILM_CONTENT_OPAQUE:
    case FILM_CONTENT_ARRAY:
    case FILM_CONTENT_TENSOR:
    case FILM_CONTENT_INSTANCE:
    case FILM_CONTENT_EXCEPTION:
    case FILM_CONTENT_FUNCTION:
    case FILM_CONTENT_METHOD:
    case FILM_CONTENT_BUILTIN:
    case FILM_CONTENT_CLASS:
    case FILM_CONTENT_MODULE:
        break;
    }
    return -1;
}

FILM_HOT film_fingerprint
film_fingerprint_of(PyObject *object, film_content content, uint32_t levels)
{
    int64_t most = film_the_looks_left < FILM_FINGERPRINT_ITEMS
                       ? film_the_looks_left
                       : FILM_FINGERPRINT_ITEMS;
    film_walk walk = {.left = most, .flat = true};
    film_fingerprint result;

    result.length = film_content_length(object, content);
    result.word = content_word(&walk, object, content, levels == 0 ? 1 : levels);
    result.flat = walk.flat;
    result.scalars = walk.scalars;
    result.cut = walk.left < 0;
    result.grown = false;
    result.wordless = false;
    result.head = walk.head;
    result.items = 0;
    result.headed = !walk.flat && content == FILM_CONTENT_LIST &&
                    result.length > film_the_shown_items;
    result.addresses = (film_addresses){0};
    film_the_looks_left -= most - walk.left;
    return result;
}

film_fingerprint
film_fingerprint_grown(PyObject *list, const film_list_before *before)
{
    film_walk walk = {.left = FILM_FINGERPRINT_ITEMS, .flat = true};
    PyObject **items = ((PyListObject *)list)->ob_item;
    uint32_t below = before->headed ? before->levels - 1 : 0;
    film_fingerprint result = {.length = Py_SIZE(list),
                               .scalars = true,
                               .cut = before->partly,
                               .grown = true,
                               .headed = before->headed};

    result.word = before->word + (uint64_t)(result.length - before->length) * GOLDEN;
    if (before->headed) {
        for (Py_ssize_t index = 0; index < film_the_shown_items; index++) {
            result.head +=
                placed(item_word(&walk, items[index], below), (uint64_t)index + 1);
        }
        result.word += result.head - before->head;
        result.grown = result.head == before->head;
    }
    /* Of one that is looked at in part, the end is not in the word. */
    for (int64_t index = before->length; index < result.length; index++) {
        uint64_t word = item_word(&walk, items[index], below);

        result.word += before->partly ? 0 : placed(word, (uint64_t)index + 1);
        result.items += placed(item_word(&walk, items[index], 0), (uint64_t)index + 1);
    }
    result.items += (uint64_t)(result.length - before->length) * GOLDEN;
    result.flat = walk.flat && !before->headed;
    result.cut = result.cut || walk.left < 0;
    film_the_looks_left -= FILM_FINGERPRINT_ITEMS - walk.left;
    return result;
}

bool
film_fingerprint_tail_is_plain(PyObject *sequence, film_content content,
                               int64_t length_before)
{
    film_walk walk = {.left = FILM_FINGERPRINT_ITEMS, .flat = true};
    film_deque_cursor cursor;

    if (Py_SIZE(sequence) <= length_before) {
        return true;
    }
    if (content == FILM_CONTENT_LIST) {
        PyObject **items = ((PyListObject *)sequence)->ob_item;

        for (int64_t index = length_before; index < Py_SIZE(sequence); index++) {
            (void)item_word(&walk, items[index], 0);
        }
    }
    else {
        cursor = film_deque_end(sequence, Py_SIZE(sequence) - length_before);
        while (cursor.left > 0) {
            (void)item_word(&walk, film_deque_next(&cursor), 0);
        }
    }
    return walk.flat && !walk.scalars;
}

bool
film_fingerprint_only_grew(PyObject *object, film_content content, uint32_t levels,
                           uint64_t before, int64_t length_before,
                           const film_fingerprint *now)
{
    film_walk walk = {.left = FILM_FINGERPRINT_ITEMS, .flat = true};
    int64_t grown = now->length - length_before;
    uint32_t below = levels == 0 ? 0 : levels - 1;
    uint64_t tail = (uint64_t)grown * GOLDEN;

    if (length_before < 0 || grown <= 0 || grown > 64 || now->cut) {
        return false;
    }
    if (content == FILM_CONTENT_LIST) {
        PyObject **items = ((PyListObject *)object)->ob_item;

        for (int64_t index = length_before; index < now->length; index++) {
            tail += placed(item_word(&walk, items[index], below), (uint64_t)index + 1);
        }
    }
    else if (content == FILM_CONTENT_DICT) {
        tail += dict_tail_word(&walk, object, grown, below);
    }
    else {
        return false;
    }
    return now->word - tail == before;
}
