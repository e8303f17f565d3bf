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
#include "recorder/plan.h"
#include "recorder/thread_context.h"

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
    const film_stack_entry *entry;
    uint32_t slot;
    PyObject *owner; /* borrowed for the call */
    PyObject *name;  /* borrowed for the call */
    bool in_flight;  /* the value is the result of a call that has just returned into
                        this frame (see film_capture_returned) */
} film_holder;

/* Writes the token of `value` (NULL: UNBOUND) to `to`, which has FILM_TOKEN_MAX bytes.
 * Returns the end. `name` (may be NULL) is what it is bound to, for the deny list. */
uint8_t *
film_capture(film_context *context, PyObject *value, const film_holder *holder,
             PyObject *name, uint8_t *to);

/* The token of an object that owns an attribute or item: its content is not told again.
 */
uint8_t *
film_capture_owner(film_context *context, PyObject *owner, const film_holder *holder,
                   uint8_t *to);

/* The object has just been written to by a recorded attribute or item store: its
 * content as it is now counts as told. */
void
film_capture_told(PyObject *owner);

/* A line may have changed `value` in place. False: it did not, or has no content to
 * compare. True: writes the token of its new content and what the length was before
 * (-1: it has none); *cut when it could not be compared in full. */
bool
film_capture_changed(film_context *context, PyObject *value, const film_holder *holder,
                     uint8_t **to, int64_t *length_before, bool *cut);

/* A store read off the evaluation stack before it
 * happens (`a[i] = v`, `f().x = v`, `del d[k]`). For this a fingerprint must be a SUM
 * over items, each mixed with its index, key or attribute name (commutative, so that
 * fp_after = fp_before - h(key, old) + h(key, new)), plus a term for the length.
 * film_capture_expect works out, while owner, key and value are alive and the store has
 * not happened, what it will do to the owner's fingerprint (attribute: `write` gives
 * the name, key NULL; item: key, write NULL; value NULL: a delete). It applies only
 * where the owner is known and of a type whose items/attributes we read (list with
 * exact int index in range, negative too; dict, by a lookup that runs no user code;
 * instance attribute); else stored->address is NULL. film_capture_stored applies it
 * afterwards by address alone, WITHOUT following the address (the owner may be dead by
 * then); for containers it also marks the last record stale, so that the next
 * film_capture writes a new one. */
typedef struct film_stored {
    const void *address;
    uint64_t delta; /* to add to the fingerprint */
    int64_t growth; /* of the length */
} film_stored;

void
film_capture_expect(PyObject *owner, film_write *write, PyObject *key, PyObject *value,
                    film_stored *stored);

void
film_capture_stored(const film_stored *stored);

/* True where a __setitem__/__delitem__ written in Python takes the store (found without
 * running code: a heap type whose MRO has a Python function of that name). */
bool
film_items_are_overridden(PyObject *owner);

/* The key itself where it is an exact str on the deny list, else NULL. */
PyObject *
film_secret_key(PyObject *key);

/* A frame of this thread has ended and gives `value` to its caller (NULL: an unwinding
 * or __init__, whose `self` is given): until the caller's next event that value keeps
 * its serial. */
void
film_capture_returned(film_context *context, PyObject *value);

/* Reads attribute `write->name` of `owner` where it is kept, by the cache in `write`:
 * inline values, a slot's offset, the __dict__. *via when a data descriptor or a
 * __setattr__ of Python code stands before it (then NULL). Borrowed. */
PyObject *
film_attribute_read(film_write *write, PyObject *owner, bool *via);

/* Looks `name` up in a dict without running code of the program. Borrowed, or NULL. */
PyObject *
film_dict_lookup(PyObject *dict, PyObject *name);

typedef struct film_capture_limits {
    uint32_t text_bytes; /* 256 */
    uint32_t items;      /* 32 */
    uint32_t depth;      /* 3 */
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
