/* fingerprint_words.h: the word of one item, which fingerprints are sums of. For
 * fingerprint.c and fingerprint_store.c alone.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_FINGERPRINT_WORDS_H
#define FILMSTRIP_RECORDER_FINGERPRINT_WORDS_H

#include "recorder/compat.h"

#include <string.h>

#include "base/hash.h"
#include "recorder/capture_types.h"
#include "recorder/compat_objects.h"

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)
#define SALT_INT UINT64_C(0x1d8e4e27c47d124f)
#define SALT_FLOAT UINT64_C(0xa54ff53a5f1d36f1)
#define SALT_TEXT UINT64_C(0x510e527fade682d1)
#define SALT_ORDER UINT64_C(0x9b05688c2b3e6c1f)
#define SHORT_TEXT 16
#define BYTES_AN_ITEM 32 /* hashed in the time of an item */
#define BLOCK 240        /* bytes of a bytearray or array that are one item */

typedef struct film_walk {
    int64_t left; /* items that may still be looked at */
    bool flat, scalars;
    uint64_t head; /* of the list that was last finished: the sum of what is shown */
} film_walk;

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

static inline uint64_t
identity_word(const PyObject *item, const PyTypeObject *type)
{
    return (uint64_t)(uintptr_t)item ^ (uint64_t)(uintptr_t)type * GOLDEN;
}

/* The word of an item that is no small number and no short text. */
uint64_t
film_other_word(film_walk *walk, PyObject *item, uint32_t levels);

static inline uint64_t
item_word(film_walk *walk, PyObject *item, uint32_t levels)
{
    const PyTypeObject *type;
    int64_t number;

    if (FILM_UNLIKELY(item == NULL)) {
        return 0;
    }
    type = Py_TYPE(item);
    if ((type->tp_flags & (Py_TPFLAGS_HEAPTYPE | Py_TPFLAGS_IMMUTABLETYPE)) ==
        Py_TPFLAGS_HEAPTYPE) {
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
    return film_other_word(walk, item, levels);
}

/* True for OrderedDict and classes made of it. */
static inline bool
film_is_ordered(PyObject *dict)
{
    return Py_TYPE(dict) != &PyDict_Type && film_type_of(Py_TYPE(dict))->ordered;
}

/* False when no more may be looked at. */
static inline bool
pay(film_walk *walk)
{
    return FILM_LIKELY(walk->left-- > 0);
}

/* What stands for a key of a dict coming right after another, both as item words; 0:
 * there is none. Their order counts by this: their places change when CPython tidies
 * up. */
static inline uint64_t
order_word(uint64_t before, uint64_t key)
{
    return key == 0 ? 0 : placed(before ^ SALT_ORDER, key);
}

/* The item word of the first key of a dict from `position` on in steps of 1 or -1; 0:
 * there is none, or too many places are empty. */
uint64_t
film_key_word(film_walk *walk, const film_pairs *pairs, Py_ssize_t position, int step,
              uint32_t levels);

static inline uint64_t
block_word(const char *bytes, size_t length, size_t block)
{
    return placed(film_hash(bytes, length), block + 1);
}

#endif
