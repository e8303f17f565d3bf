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
#include "recorder/objects.h"

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)
#define SALT_INT UINT64_C(0x1d8e4e27c47d124f)
#define SALT_FLOAT UINT64_C(0xa54ff53a5f1d36f1)
#define SALT_TEXT UINT64_C(0x510e527fade682d1)
#define SHORT_TEXT 16
#define BYTES_AN_ITEM 32 /* hashed in the time of an item */
#define MEMBERS_AN_ITEM 2
#define BLOCK 64 /* bytes of a bytearray that are one item */

int64_t film_the_looks_left = FILM_LOOK_ITEMS;

typedef struct film_walk {
    int64_t left; /* items that may still be looked at */
    bool flat, scalars;
} film_walk;

static uint64_t
content_word(film_walk *walk, PyObject *object, film_content content, uint32_t levels);

/* Adds an item's word at its place. */
static inline uint64_t
placed(uint64_t word, uint64_t place)
{
    word = (word ^ place * GOLDEN) * UINT64_C(0xff51afd7ed558ccd);
    return (word ^ word >> 32) * UINT64_C(0xc4ceb9fe1a85ec53);
}

/* All bytes of a short text in two words. */
static inline uint64_t
short_text_word(const char *text, size_t length)
{
    uint64_t first = 0, last = 0;

    if (length >= 8) {
        memcpy(&first, text, 8);
        memcpy(&last, text + length - 8, 8);
    }
    else if (length >= 4) {
        uint32_t head, tail;

        memcpy(&head, text, 4);
        memcpy(&tail, text + length - 4, 4);
        first = head;
        last = tail;
    }
    else {
        for (size_t index = 0; index < length; index++) {
            first = first << 8 | (uint8_t)text[index];
        }
    }
    first = (first ^ SALT_TEXT) * GOLDEN;
    return ((first ^ first >> 32) + last) * UINT64_C(0xff51afd7ed558ccd) + length;
}

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

static inline uint64_t
identity_word(const PyObject *item, const PyTypeObject *type)
{
    return (uint64_t)(uintptr_t)item ^ (uint64_t)(uintptr_t)type * GOLDEN;
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

/* The word of an item that is no small number and no short text. */
static uint64_t
other_word(film_walk *walk, PyObject *item, uint32_t levels)
{
    const PyTypeObject *type = Py_TYPE(item);
    uint64_t address = (uint64_t)(uintptr_t)item;
    film_content content;

    if (film_is_scalar(item)) {
        walk->scalars = true;
        walk->left -= text_cost(item);
        return film_scalar_word(item);
    }
    content = nested_content(type);
    if (content == FILM_CONTENT_OPAQUE) {
        if (levels == 0) {
            walk->flat = false; /* who knows */
        }
        else if (film_content_is_value(
                     (film_content)film_type_of(Py_TYPE(item))->content)) {
            content = (film_content)film_type_of(Py_TYPE(item))->content;
        }
    }
    if (content != FILM_CONTENT_OPAQUE) {
        walk->flat = false;
        if (levels > 0) {
            return content_word(walk, item, content, levels) ^ address;
        }
    }
    return identity_word(item, type);
}

static inline uint64_t
item_word(film_walk *walk, PyObject *item, uint32_t levels)
{
    const PyTypeObject *type;
    int64_t number;

    if (FILM_UNLIKELY(item == NULL)) {
        return 0;
    }
    type = Py_TYPE(item);
    if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0) {
        return identity_word(item, type); /* instances: no need to look closer */
    }
    if (type == &PyLong_Type && film_long_small(item, &number)) {
        walk->scalars = true;
        return (uint64_t)number ^ SALT_INT;
    }
    if (type == &PyFloat_Type) {
        uint64_t bits;

        walk->scalars = true;
        memcpy(&bits, &((PyFloatObject *)item)->ob_fval, sizeof(bits));
        return bits ^ SALT_FLOAT;
    }
    if (type == &PyUnicode_Type && PyUnicode_IS_COMPACT_ASCII(item) &&
        PyUnicode_GET_LENGTH(item) <= SHORT_TEXT) {
        walk->scalars = true;
        return short_text_word(PyUnicode_DATA(item),
                               (size_t)PyUnicode_GET_LENGTH(item));
    }
    return other_word(walk, item, levels);
}

/* False when no more may be looked at. */
static inline bool
pay(film_walk *walk)
{
    return FILM_LIKELY(walk->left-- > 0);
}

static uint64_t
array_word(film_walk *walk, PyObject *const *items, Py_ssize_t count, uint32_t levels)
{
    uint64_t sum = (uint64_t)count * GOLDEN;

    for (Py_ssize_t index = 0; index < count && pay(walk); index++) {
        sum += placed(item_word(walk, items[index], levels), (uint64_t)index + 1);
    }
    return sum;
}

/* By key, not by place. */
static inline uint64_t
pair_word(film_walk *walk, PyObject *key, PyObject *value, uint32_t levels)
{
    return placed(item_word(walk, value, levels), item_word(walk, key, levels));
}

static uint64_t
dict_word(film_walk *walk, PyObject *dict, uint32_t levels)
{
    uint64_t sum = (uint64_t)film_dict_length(dict) * GOLDEN;
    film_pairs pairs;

    film_pairs_of_dict(dict, &pairs);
    for (Py_ssize_t index = 0; index < pairs.count && pay(walk); index++) {
        PyObject *key, *value = film_pairs_get(&pairs, index, &key);

        if (value != NULL) {
            sum += pair_word(walk, key, value, levels);
        }
    }
    return sum;
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

static inline uint64_t
block_word(const char *bytes, size_t length, size_t block)
{
    return placed(film_hash(bytes, length), block + 1);
}

static uint64_t
bytearray_word(film_walk *walk, PyObject *object)
{
    const char *bytes = PyByteArray_AS_STRING(object);
    size_t length = (size_t)Py_SIZE(object);
    uint64_t sum = (uint64_t)length * GOLDEN;

    for (size_t at = 0; at < length && pay(walk); at += BLOCK) {
        sum += block_word(bytes + at, length - at < BLOCK ? length - at : BLOCK,
                          at / BLOCK);
        walk->left -= BLOCK / BYTES_AN_ITEM;
    }
    return sum;
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

static uint64_t
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

    if (!(content == FILM_CONTENT_ARRAY ? film_array_read(object, &array)
                                        : film_tensor_read(object, &array))) {
        return 0;
    }
    sum = (uint64_t)(uintptr_t)array.dtype;
    for (int index = 0; index < array.dimensions; index++) {
        sum = film_digest_mix(sum, (uint64_t)array.shape[index]);
    }
    return film_digest_mix(sum, (uint64_t)array.dimensions);
}

static uint64_t
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
        return bytearray_word(walk, object);
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

film_fingerprint
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
    result.addresses = (film_addresses){0};
    film_the_looks_left -= most - walk.left;
    return result;
}

film_fingerprint
film_fingerprint_grown(PyObject *list, uint64_t before, int64_t length_before,
                       bool partly)
{
    film_walk walk = {.left = FILM_FINGERPRINT_ITEMS, .flat = true};
    PyObject **items = ((PyListObject *)list)->ob_item;
    film_fingerprint result = {
        .length = Py_SIZE(list), .scalars = true, .cut = partly, .grown = true};

    result.word = before + (uint64_t)(result.length - length_before) * GOLDEN;
    /* Of one that is looked at in part, the end is not in the word. */
    for (int64_t index = length_before; index < result.length; index++) {
        uint64_t word = item_word(&walk, items[index], 0);

        result.word += partly ? 0 : placed(word, (uint64_t)index + 1);
    }
    result.flat = walk.flat;
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
        film_pairs pairs;

        film_pairs_of_dict(object, &pairs);
        for (Py_ssize_t index = pairs.count; index > 0 && grown > 0; index--) {
            PyObject *key, *value = film_pairs_get(&pairs, index - 1, &key);

            if (value != NULL) {
                tail += pair_word(&walk, key, value, below);
                grown--;
            }
        }
    }
    else {
        return false;
    }
    return now->word - tail == before;
}

/* --- what a store will do -----------------------------------------------------------
 */

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
    return content == FILM_CONTENT_DEQUE
               ? deque_store(walk, owner, index, value, levels, effect)
               : bytearray_store(walk, owner, index, value, effect);
}

static bool
dict_store(film_walk *walk, PyObject *dict, PyObject *key, PyObject *value,
           uint32_t levels, film_store_effect *effect)
{
    PyObject *kept, *old;

    /* Keys that are the program's own objects are compared by its own code. */
    if (!film_dict_item(dict, key, &kept, &old)) {
        return false;
    }
    if (old == NULL && value == NULL) {
        return false; /* it will raise */
    }
    if (old != NULL) {
        effect->delta -= pair_word(walk, kept, old, levels);
        effect->growth--;
    }
    if (value != NULL) {
        effect->delta += pair_word(walk, kept, value, levels);
        effect->growth++;
    }
    effect->delta += (uint64_t)effect->growth * GOLDEN;
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

bool
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
              content == FILM_CONTENT_BYTEARRAY) &&
             key != NULL) {
        known = sequence_store(&walk, owner, content, key, value, below, effect);
    }
    else if (content == FILM_CONTENT_DICT && key != NULL) {
        known = dict_store(&walk, owner, key, value, below, effect);
    }
    effect->flat = walk.flat;
    return known && walk.left >= 0;
}
