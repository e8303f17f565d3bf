/* capture.h: Python objects to tokens, without running any code of the program.
 *
 * Exact types are read in place; everything else is its type and a serial. Nothing here
 * calls repr, str, len, ==, hash, getattr or a descriptor, takes a reference that
 * outlives the call, or allocates a Python object. One value costs at most
 * FILM_CAPTURE_BUDGET of work (see capture.c), whatever its size.
 *
 * Containers and instances have a serial: objects.h. Threads: the holder of the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_CAPTURE_H
#define FILMSTRIP_RECORDER_CAPTURE_H

#include "recorder/compat.h"

#include "format/token.h"
#include "recorder/capture_types.h"
#include "recorder/compat_objects.h"
#include "recorder/plan.h"
#include "recorder/thread_context.h"
#include "recorder/known_secrets.h"

/* Who holds a value that is looked at: what proves, at the next sighting of its
 * address, that it is still the same object (objects.h). */
typedef enum film_holder_kind {
    FILM_HOLDER_NONE,      /* seen in passing: a return value, a key */
    FILM_HOLDER_SLOT,      /* local `slot` of `entry` */
    FILM_HOLDER_CELL,      /* what the cell in that slot holds */
    FILM_HOLDER_ATTRIBUTE, /* attribute `name` of `owner` */
    FILM_HOLDER_ITEM,      /* an item of `owner` */
    FILM_HOLDER_NAMESPACE  /* `name` in the dict `owner` (globals, class body) */
} film_holder_kind;

typedef struct film_holder {
    film_holder_kind kind;
    film_stack_entry *entry; /* of the thread's own stack; NULL: none yet */
    uint32_t slot;
    PyObject *owner;   /* borrowed for the call */
    PyObject *name;    /* borrowed for the call */
    uint32_t position; /* ATTRIBUTE, ITEM: where in the owner + 1, 0: not known */
    bool in_flight;    /* the value is the result of a call that has just returned into
                          this frame (see film_capture_returned) */
} film_holder;

/* True when values bound to `name` are redacted: see capture_types.h. Hooks may ask
 * once for a variable and pass no name for it from then on. */
#define film_capture_is_secret film_name_is_secret

/* The rest of film_capture. */
uint8_t *
film_capture_any(film_context *context, PyObject *value, const film_holder *holder,
                 PyObject *name, uint8_t *to);

/* The same for a value with a secret's name, or in a hidden container: secrets.h says what
 * is told of it. */
uint8_t *
film_capture_secret(film_context *context, PyObject *value, const film_holder *holder,
                    PyObject *name, uint8_t *to);

/* A value that is no object was written to the place (objects.h). */
void
film_objects_vacate(const film_holder *holder);

/* To be called for every write to a variable, cell, attribute or name whose value is
 * not captured: a delete, the compiler's own hidden writes. (film_capture does it
 * itself.) Otherwise the next object there may pass for the one before. */
static inline void
film_capture_vacate(const film_holder *holder)
{
    if (FILM_LIKELY(holder->kind == FILM_HOLDER_SLOT && holder->entry != NULL &&
                    !holder->entry->suspends && holder->slot < FILM_TOLD_SLOTS)) {
        holder->entry->told[holder->slot] = 0;
    }
    else if (holder->kind != FILM_HOLDER_NONE) {
        film_objects_vacate(holder);
    }
}

/* The token of a small scalar, which is no secret; false: something else. */
static inline bool
film_capture_scalar(PyObject *value, uint8_t **to)
{
    const PyTypeObject *type = Py_TYPE(value);
    int64_t number;

    if (type == &PyLong_Type && FILM_LIKELY(film_long_small(value, &number))) {
        *to = film_token_put_int(*to, number);
        return true;
    }
    if (type == &PyFloat_Type) {
        *to = film_token_put_float(*to, PyFloat_AS_DOUBLE(value));
        return true;
    }
    if (value == Py_None || type == &PyBool_Type) {
        *(*to)++ = value == Py_None   ? FILM_TOKEN_NONE
                   : value == Py_True ? FILM_TOKEN_TRUE
                                      : FILM_TOKEN_FALSE;
        return true;
    }
    if (type == &PyUnicode_Type && PyUnicode_IS_COMPACT_ASCII(value) &&
        PyUnicode_GET_LENGTH(value) <= (Py_ssize_t)FILM_TOKEN_TEXT &&
        film_the_secret_count == 0) {
        *to = film_token_put_text(*to, PyUnicode_DATA(value),
                                  (size_t)PyUnicode_GET_LENGTH(value));
        return true;
    }
    return false;
}

/* Writes the token of `value` (NULL: UNBOUND) to `to`, which has FILM_TOKEN_MAX bytes.
 * Returns the end. `name` (may be NULL) is what it is bound to, for the deny list. The
 * shadow stack is in step with the running frame. */
static inline uint8_t *
film_capture(film_context *context, PyObject *value, const film_holder *holder,
             PyObject *name, uint8_t *to)
{
    if (FILM_LIKELY(value != NULL && (name == NULL || !film_name_is_secret(name))) &&
        film_capture_scalar(value, &to)) {
        film_capture_vacate(holder);
        return to;
    }
    return film_capture_any(context, value, holder, name, to);
}

/* The token of an object that owns an attribute or item: its content is not told again.
 */
uint8_t *
film_capture_owner(film_context *context, PyObject *owner, const film_holder *holder,
                   uint8_t *to);

/* The object has just been written to by this attribute store or delete, which is told:
 * what the attribute holds now counts as told. NULL: all it holds. */
void
film_capture_told(PyObject *owner, film_named *named);

typedef struct film_changed {
    uint64_t record;       /* value id of the new content */
    int64_t length_before; /* -1: it has none */
    bool cut;              /* it could not be compared in full */
} film_changed;

/* The most changes that one value may come to. */
#define FILM_CHANGES 4u

/* A line may have changed `value` in place: how many changes there are to be told, of
 * it or of containers within it. 0: none, or it has no content to compare. `effect`: of
 * the one method that the line has called on it; `changed`: room for FILM_CHANGES. */
uint32_t
film_capture_changed(film_context *context, PyObject *value, const film_holder *holder,
                     film_effect effect, film_changed *changed);

/* The same for a container that will be looked at later, when it may be dead: its
 * serial, with what it holds now known; 0: it cannot be found again, or not compared.
 */
uint64_t
film_capture_awaits(film_context *context, PyObject *value);

/* The object of that serial at this address; NULL: it is dead. */
PyObject *
film_capture_living(const void *address, uint64_t serial);

/* A store read off the evaluation stack before it happens (`a[i] = v`, `f().x = v`,
 * `del d[k]`): what it will do to the owner's fingerprint, worked out while owner, key
 * and value are alive (attribute: `write` gives the name, key NULL; item: key, write
 * NULL; value NULL: a delete). Where that is not known without looking at all of the
 * owner, stored->known is false: what it holds once the store has happened counts as
 * told, or when the line ends, if something else may have changed it meanwhile.
 * film_capture_stored applies it once the store has happened; the owner may be dead by
 * then, and is followed only where it is known not to be. The last record of a
 * container is stale afterwards: the next film_capture writes a new one. */
typedef struct film_stored {
    const void *address; /* identity only; NULL: the owner is not known */
    uint64_t serial;
    bool known;     /* what follows */
    bool partly;    /* the owner is compared in part: the length alone changes */
    uint64_t delta; /* to add to the fingerprint */
    int64_t growth; /* of the length */
    uint64_t quick; /* of an attribute of an instance with words: the record + 1; then
                       `delta` is the attribute's new word */
    uint32_t place; /* of that word */
    bool flat;      /* the value is no container */
    bool itemed;    /* `items` holds */
    uint64_t items; /* to add to FILM_WORD_OF_ITEMS */
    bool deep;      /* known while no container within the owner has changed since that
                       was compared: film_capture_changed first, then anew */
} film_stored;

void
film_capture_expect(PyObject *owner, film_named *named, PyObject *key, PyObject *value,
                    film_stored *stored);

/* Of an item's store once it has happened: what it did to the owner's length. */
film_item_effect
film_capture_item_effect(const film_stored *stored, bool alone);

/* Whether what the owner holds has been told in many pieces, the first of them long ago:
 * a reader that stands at a late moment puts it together from all of them. */
bool
film_capture_is_scattered(const film_stored *stored);

/* Behind film_capture_stored, where the store is `alone`: tells all that the owner holds
 * anew. Returns the value id + 1; 0: it is not told. */
uint64_t
film_capture_again(film_context *context, const film_stored *stored);

/* `alone`: nothing else may have changed the owner since. */
void
film_capture_stored(const film_stored *stored, bool alone);

/* True where a __setitem__/__delitem__ written in Python takes the store (found without
 * running code: a heap type whose MRO has a Python function of that name). */
bool
film_items_are_overridden(PyObject *owner);

/* A frame of this thread has ended and gives `value` to its caller (NULL: an unwinding
 * or __init__, whose `self` is given): until the caller's next event that value keeps
 * its serial. */
void
film_capture_returned(film_context *context, PyObject *value);

/* How an object keeps an attribute. */
typedef enum film_kept {
    FILM_KEPT_ELSEWHERE, /* in its __dict__, a class's dict, or nowhere */
    FILM_KEPT_IN_LINE,   /* at write->value_index, under this very name */
    FILM_KEPT_IN_SLOT,   /* in a member of __slots__ */
    FILM_KEPT_VIA        /* a data descriptor or a __setattr__ of Python code has it */
} film_kept;

/* Reads attribute `named->name` of `owner` where it is kept, by the cache in `named`.
 * NULL: it has none, or VIA. Borrowed. */
PyObject *
film_attribute_read(film_named *named, PyObject *owner, film_kept *kept);

/* Looks `name` up in a dict without running code of the program. Borrowed, or NULL. */
PyObject *
film_dict_lookup(PyObject *dict, PyObject *name);

typedef struct film_capture_limits {
    uint32_t text_bytes; /* 256 */
    uint32_t items;      /* 32 */
    uint32_t depth;      /* 3 */
    bool contents;       /* what objects hold; else they are type and serial */
} film_capture_limits;

typedef struct film_capture_counts {
    uint64_t objects; /* serials given */
    uint64_t evicted; /* objects forgotten because the table was full */
    uint64_t cut;     /* changes that could not be compared in full */
} film_capture_counts;

/* At the start of a recording, in a forked child too; false when memory is out. */
bool
film_capture_begin(const film_capture_limits *limits);

void
film_capture_end(film_capture_counts *counts);

#endif
