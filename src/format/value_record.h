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
 *   With NOTED a note stands behind the items: how repr() writes the object.
 *     template (string id): its text, with holes (film_note_hole)
 *     names (string id): what the tokens, items or attributes are called, with commas
 *     base (byte, film_note_base): how the items are written
 *     count (varint), tokens: what the holes show, in order; there may be more
 *   The serial is 0 where the object is nothing but its content (a Decimal, a date).
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
#define FILM_VALUE_NOTED 64u    /* an object with a note */

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

/* Bytes of a note's template that stand for something else. */
typedef enum film_note_hole {
    FILM_HOLE_VALUE = 1,  /* the next token, as repr() writes it */
    FILM_HOLE_TEXT = 2,   /* the next token, a str, as it is */
    FILM_HOLE_OBJECT = 3, /* the next token's type and serial */
    FILM_HOLE_ITEMS = 4,  /* the items, as `base` writes them */
    FILM_HOLE_FIELDS = 5, /* name=value of the items or attributes in `names`; no names:
                             of all */
    /* Attributes, each the next in `names`: as they are when that is asked for. */
    FILM_HOLE_ATTRIBUTE = 6, /* as repr() writes it */
    FILM_HOLE_MEMBER = 7,    /* a dot and the str; nothing for None */
    FILM_HOLE_UUID = 8,      /* an int as a UUID, */
    FILM_HOLE_ADDRESS4 = 11, /* an IPv4 address, */
    FILM_HOLE_ADDRESS6 = 12, /* an IPv6 address; */
    FILM_HOLE_MAPPED = 17,   /* with its last part as IPv4 where it stands for one */
    FILM_HOLE_PATH = 14, /* a pathlib path, of the attributes that Pythons keep it in */
    /* Tokens. */
    FILM_HOLE_HALF = 15,    /* a float of 16 bits, */
    FILM_HOLE_SINGLE = 16,  /* of 32 bits; */
    FILM_HOLE_COMPLEX = 18, /* two of them, 1+2j; */
    FILM_HOLE_COMPLEX_SINGLE = 19
} film_note_hole;

/* How FILM_HOLE_ITEMS writes the items. */
typedef enum film_note_base {
    FILM_BASE_NONE = 0,
    FILM_BASE_LIST = 1,   /* [1, 2] */
    FILM_BASE_TUPLE = 2,  /* (1, 2) */
    FILM_BASE_SET = 3,    /* {1, 2} */
    FILM_BASE_DICT = 4,   /* {1: 2} */
    FILM_BASE_PAIRS = 5,  /* [(1, 2)], of a mapping */
    FILM_BASE_COUNTS = 6, /* {1: 2}, the greatest values first */
    FILM_BASE_FROZEN = 7  /* {1, 2}, of a frozenset */
} film_note_base;
/* Without items the hole, and a comma, are left out. */
#define FILM_BASE_OR_NOTHING 0x80u
/* It counts as what its attribute _value_ holds; str() says that, too (IntEnum). */
#define FILM_BASE_IS_VALUE 0x40u
#define FILM_BASE_SAYS_VALUE 0x20u
#define FILM_BASE_ITEMS 0x1fu /* film_note_base */

/* The last of the names where there are more. */
#define FILM_MORE_NAMES "..."

typedef struct film_value_note {
    uint32_t text, names; /* string ids */
    uint8_t base;         /* film_note_base, FILM_BASE_... */
    uint32_t count;       /* tokens */
    film_input tokens;    /* borrowed */
} film_value_note;

typedef struct film_value_record {
    uint32_t type;   /* string id */
    uint32_t flags;  /* FILM_VALUE_... */
    uint8_t form;    /* film_object_form; 0: no object */
    uint64_t serial; /* objects */
    int64_t length;  /* objects: as Python's len; MEASURED: of the whole; -1: none */
    uint64_t count;  /* objects: items that follow */
    film_value_note note; /* with FILM_VALUE_NOTED */
    film_input rest;      /* the items, or the bytes; borrowed */
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
