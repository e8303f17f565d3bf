/* json.h: reads JSON that comes from outside: requests, messages of editors.
 * (Debian's libjansson.a is not position-independent and so cannot be in the Python
 * extension; libcjson has no archive at all. What is needed is small.)
 *
 * A text is read whole into a tree of nodes in one array. Hostile input is expected:
 * depth and size are bounded, UTF-8 is checked, numbers are kept as they are told.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_JSON_H
#define FILMSTRIP_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <filmstrip/status.h>

#include "base/buffer.h"

#define FILM_JSON_DEPTH 64u
#define FILM_JSON_NODES (1u << 20)

typedef enum film_json_kind {
    FILM_JSON_NULL,
    FILM_JSON_FALSE,
    FILM_JSON_TRUE,
    FILM_JSON_INTEGER, /* fits 64 bits, signed */
    FILM_JSON_NUMBER,  /* any other number */
    FILM_JSON_STRING,
    FILM_JSON_ARRAY,
    FILM_JSON_OBJECT
} film_json_kind;

typedef struct film_json_node {
    film_json_kind kind;
    uint32_t next;  /* index of the next member or item; 0: none */
    uint32_t first; /* arrays and objects: their first; 0: none */
    uint32_t count;
    size_t key;  /* members: where the key is in the texts */
    size_t text; /* strings: where it is; a NUL follows */
    size_t length;
    int64_t integer;
    double number;
} film_json_node;

typedef struct film_json {
    film_json_node *nodes; /* owned; [1] is the root */
    size_t count, capacity;
    film_buffer texts;
} film_json;

/* Reads a text; json is zeroed or was read before. FILM_MISUSE with a sentence (and the
 * byte in error->offset) where it is none, FILM_NO_MEMORY. */
FILM_NODISCARD film_status
film_json_read(film_json *json, const char *text, size_t length, film_error *error);

void
film_json_reset(film_json *json);

/* NULL after a failure. */
const film_json_node *
film_json_root(const film_json *json);

/* The member of an object; NULL: it has none, or is no object. Of members with the same
 * name the first. */
const film_json_node *
film_json_get(const film_json *json, const film_json_node *object, const char *key);

/* The first item or member, and the one behind; NULL: none. */
const film_json_node *
film_json_first(const film_json *json, const film_json_node *of);

const film_json_node *
film_json_next(const film_json *json, const film_json_node *item);

/* The key of a member. */
const char *
film_json_key(const film_json *json, const film_json_node *member);

/* NULL where it is no string, or one with a NUL in it. */
const char *
film_json_text(const film_json *json, const film_json_node *node);

/* INTEGER or NUMBER; 0 for anything else. */
double
film_json_number(const film_json_node *node);

static inline bool
film_json_is(const film_json_node *node, film_json_kind kind)
{
    return node != NULL && node->kind == kind;
}

#endif
