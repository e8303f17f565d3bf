/* value_record.h: the body of a VALUE record: one value that did not fit a token.
 *
 *   type (string id), flags, then
 *   without OBJECT  the bytes to the end: UTF-8 of a str, raw of bytes, little-endian
 *                   two's complement of an int, two doubles of a complex, the text of
 *                   anything else. With MEASURED they are the head of a longer one: its
 *                   length (varint) and XXH3 (8 bytes) come first, and CUT is set
 *   with OBJECT     serial (varint), form (byte), length + 1 (varint, 0: none), count
 *                   (varint), then by form, `count` times:
 *     1 SEQUENCE    token                        list, tuple, set, frozenset, deque
 *     2 MAPPING     key token, value token       dict
 *     3 ATTRIBUTES  name (string id), token      an instance
 *     4 OPAQUE      (nothing)                    anything else
 *     5 ARRAY       a size; then dtype (string id)         numpy array, tensor
 *     6 NAMED       qualified name (string id)   function, class, module, builtin
 *     7 EXCEPTION   token                        each of its args
 *     8 BYTES       the raw bytes to the end, `count` of them        bytearray
 *     9 AGAIN       VALUE token: a record of this object whose items these still are
 *   CUT: there is more than `count`.
 * Records refer to records before them only.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_VALUE_RECORD_H
#define FILMSTRIP_VALUE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

#define FILM_VALUE_CUT 1u      /* it is only the beginning */
#define FILM_VALUE_REDACTED 2u /* it was taken out */
#define FILM_VALUE_OBJECT 4u
#define FILM_VALUE_MEASURED 8u
#define FILM_VALUE_SLOTS 16u    /* an instance without a __dict__ */
#define FILM_VALUE_CALLABLE 32u /* its type has a __call__ */

typedef enum film_object_form {
    FILM_OBJECT_SEQUENCE = 1,
    FILM_OBJECT_MAPPING = 2,
    FILM_OBJECT_ATTRIBUTES = 3,
    FILM_OBJECT_OPAQUE = 4,
    FILM_OBJECT_ARRAY = 5,
    FILM_OBJECT_NAMED = 6,
    FILM_OBJECT_EXCEPTION = 7,
    FILM_OBJECT_BYTES = 8,
    FILM_OBJECT_AGAIN = 9 /* film_reader_record puts the items in its place */
} film_object_form;

typedef struct film_value_record {
    uint32_t type;   /* string id */
    uint32_t flags;  /* FILM_VALUE_... */
    uint8_t form;    /* film_object_form; 0: no object */
    uint64_t serial; /* objects */
    int64_t length;  /* objects: as Python's len; MEASURED: of the whole; -1: none */
    uint64_t count;  /* objects: items that follow */
    film_input rest; /* the items, or the bytes; borrowed */
} film_value_record;

/* False when the body makes no sense. Items are not looked at. */
bool
film_value_record_decode(const uint8_t *body, size_t length, film_value_record *record);

/* The record whose items an AGAIN stands for; false when it makes no sense. */
bool
film_value_record_again(const film_value_record *record, uint64_t *id);

/* The value ids its items refer to: from *lowest (UINT64_MAX: none) up to, not
 * including, *end. False when an item makes no sense. */
bool
film_value_record_range(const film_value_record *record, uint64_t *lowest,
                        uint64_t *end);

#endif
