/* text.c: see text.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/text.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of the longest encoded code point. */
#define CODE_POINT_BYTES 4

/* What becomes of a surrogate, which UTF-8 has no form for. */
typedef enum surrogates {
    SURROGATES_REPLACED, /* by U+FFFD */
    SURROGATES_BYTES,    /* as the byte it stands for in a file name, else replaced */
    SURROGATES_KEPT      /* in three bytes as if it were a character: readers know */
} surrogates;

static size_t
encode_code_point(Py_UCS4 point, char *to, surrogates how)
{
    unsigned char *out = (unsigned char *)to;

    if (point >= 0xd800 && point <= 0xdfff && how != SURROGATES_KEPT) {
        if (how == SURROGATES_BYTES && point >= 0xdc80 && point <= 0xdcff) {
            out[0] = (unsigned char)(point - 0xdc00);
            return 1;
        }
        point = 0xfffd;
    }
    if (point < 0x80) {
        out[0] = (unsigned char)point;
        return 1;
    }
    if (point < 0x800) {
        out[0] = (unsigned char)(0xc0 | point >> 6);
        out[1] = (unsigned char)(0x80 | (point & 0x3f));
        return 2;
    }
    if (point < 0x10000) {
        out[0] = (unsigned char)(0xe0 | point >> 12);
        out[1] = (unsigned char)(0x80 | (point >> 6 & 0x3f));
        out[2] = (unsigned char)(0x80 | (point & 0x3f));
        return 3;
    }
    out[0] = (unsigned char)(0xf0 | point >> 18);
    out[1] = (unsigned char)(0x80 | (point >> 12 & 0x3f));
    out[2] = (unsigned char)(0x80 | (point >> 6 & 0x3f));
    out[3] = (unsigned char)(0x80 | (point & 0x3f));
    return 4;
}

size_t
film_text_encode(Py_UCS4 point, char *to)
{
    return encode_code_point(point, to, SURROGATES_KEPT);
}

static size_t
copy_text(PyObject *source, char *to, size_t capacity, surrogates how, bool *cut)
{
    Py_ssize_t length = PyUnicode_GET_LENGTH(source);
    int kind = (int)PyUnicode_KIND(source);
    const void *data = PyUnicode_DATA(source);
    size_t used = 0;
    Py_ssize_t index;

    for (index = 0; index < length; index++) {
        char bytes[CODE_POINT_BYTES];
        size_t count = encode_code_point(PyUnicode_READ(kind, data, index), bytes, how);
        if (used + count > capacity) {
            break;
        }
        memcpy(to + used, bytes, count);
        used += count;
    }
    to[used] = '\0';
    if (cut != NULL) {
        *cut = index < length;
    }
    return used;
}

size_t
film_text_copy(PyObject *source, char *to, size_t capacity, bool *cut)
{
    if (PyUnicode_IS_COMPACT_ASCII(source)) {
        size_t length = (size_t)PyUnicode_GET_LENGTH(source);
        size_t used = length < capacity ? length : capacity;

        memcpy(to, PyUnicode_DATA(source), used);
        to[used] = '\0';
        if (cut != NULL) {
            *cut = used < length;
        }
        return used;
    }
    return copy_text(source, to, capacity, SURROGATES_KEPT, cut);
}

char *
film_text_new(PyObject *source, bool raw_bytes)
{
    size_t capacity = (size_t)PyUnicode_GET_LENGTH(source) *
                      (PyUnicode_IS_COMPACT_ASCII(source) ? 1 : CODE_POINT_BYTES);
    char *text = malloc(capacity + 1);

    if (text != NULL) {
        copy_text(source, text, capacity,
                  raw_bytes ? SURROGATES_BYTES : SURROGATES_REPLACED, NULL);
    }
    return text;
}
