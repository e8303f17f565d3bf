/* capture_types.h: what capture needs to know about a type or a name, worked out once.
 *
 * A type can change or die, and another take its address: what is kept holds while the
 * type's version tag does. Threads: the holder of the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_CAPTURE_TYPES_H
#define FILMSTRIP_RECORDER_CAPTURE_TYPES_H

#include "recorder/compat.h"

/* How the content of an object is read. */
typedef enum film_content {
    FILM_CONTENT_OPAQUE, /* type and serial only */
    FILM_CONTENT_LIST,
    FILM_CONTENT_TUPLE,
    FILM_CONTENT_DICT,
    FILM_CONTENT_SET,
    FILM_CONTENT_FROZENSET,
    FILM_CONTENT_DEQUE,
    FILM_CONTENT_BYTEARRAY,
    FILM_CONTENT_NUMBERS, /* array.array */
    FILM_CONTENT_ARRAY,
    FILM_CONTENT_TENSOR,
    FILM_CONTENT_LAST_VALUE = FILM_CONTENT_TENSOR, /* up to here: told by VALUE */
    FILM_CONTENT_INSTANCE,
    FILM_CONTENT_EXCEPTION,
    FILM_CONTENT_FUNCTION,
    FILM_CONTENT_METHOD,
    FILM_CONTENT_BUILTIN,
    FILM_CONTENT_CLASS,
    FILM_CONTENT_MODULE
} film_content;

/* True when a token tells the content as it is at this moment. */
static inline bool
film_content_is_value(film_content content)
{
    return content >= FILM_CONTENT_LIST && content <= FILM_CONTENT_LAST_VALUE;
}

/* One member of __slots__. */
typedef struct film_slot {
    Py_ssize_t offset;
    const void *name; /* identity only */
    uint32_t name_id; /* string id */
    bool secret;
} film_slot;

typedef struct film_type {
    const PyTypeObject *type; /* identity only */
    uint32_t version;
    uint32_t name_id; /* string id */
    uint8_t content;  /* film_content */
    bool heap;
    bool dies_in_sight; /* film_type_dies_in_sight */
    bool plain;         /* a builtin container, or a class made of one that has
                           replaced none of its methods */
    bool own_items;     /* a __setitem__ or __delitem__ written in Python */
    bool ordered;       /* OrderedDict, whose order is kept apart from the dict's */
    bool named;         /* a tuple with `_fields` */
    bool has_factory;   /* defaultdict */
    bool said; /* its objects are nothing but their content: families/family.h */
    bool note_is_whole; /* its notes need neither items nor attributes */
    uint8_t family;     /* which family says what its objects' notes are; 0: none */
    uint8_t note_base;  /* film_note_base: what the notes of all its objects share */
    uint32_t note_text, note_names; /* string ids, 0: each has its own */
    uint16_t slot_count;
    film_slot *slots; /* owned */
    const char *name; /* identity only: tp_name of one that cannot change and has no
                         version */
} film_type;

#define FILM_TYPES 1024u
extern film_type *film_the_types; /* FILM_TYPES of them */

const film_type *
film_type_learn(PyTypeObject *type);

static inline film_type *
film_type_place(const PyTypeObject *type)
{
    return &film_the_types[((uint64_t)(uintptr_t)type >> 4) *
                               UINT64_C(0x9e3779b97f4a7c15) >>
                           54];
}

/* Borrowed until the next call with another type. Never NULL. */
static inline const film_type *
film_type_of(PyTypeObject *type)
{
    const film_type *known = film_type_place(type);

    if (FILM_LIKELY(known->type == type &&
                    (!known->heap || (known->version == type->tp_version_tag &&
                                      (FILM_LIKELY(known->version != 0) ||
                                       known->name == type->tp_name))))) {
        return known;
    }
    return film_type_learn(type);
}

/* A name (str) as the recording knows it; `secret` when the deny list has it. */
typedef struct film_name {
    Py_hash_t hash;
    uint32_t length;
    uint32_t id; /* string id, 0 until asked for */
    bool secret;
} film_name;

extern film_name *film_the_names; /* FILM_NAMES of them; NULL: not begun */
#define FILM_NAMES 2048u

bool
film_name_is_secret_slow(PyObject *name);

/* True when values bound to `name` are not to be kept. Any object may be asked for. */
static inline bool
film_name_is_secret(PyObject *name)
{
    /* A str keeps its hash once it was a key or a name; equal hashes are taken as equal
     * texts (as in base/intern.h). */
    Py_hash_t hash;
    const film_name *known;

    if (FILM_UNLIKELY(Py_TYPE(name) != &PyUnicode_Type)) {
        return false;
    }
    hash = ((PyASCIIObject *)name)->hash;
    known = &film_the_names[(size_t)hash % FILM_NAMES];
    if (FILM_LIKELY(known->hash == hash && hash != -1 &&
                    known->length == (uint32_t)PyUnicode_GET_LENGTH(name))) {
        return known->secret;
    }
    return film_name_is_secret_slow(name);
}

/* The string id of a name (str). */
uint32_t
film_name_id(PyObject *name);

/* The string id of what follows the last dot of `text`. */
uint32_t
film_last_name_id(const char *text);

/* contents: false where containers and instances are their type and serial only. */
bool
film_types_begin(bool contents);

void
film_types_end(void);

#endif
