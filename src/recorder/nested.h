/* nested.h: containers within a container. Its fingerprint counts what they hold too,
 * so that a change which nobody told is seen; but a store to one of them that was told
 * is no change of the container around it.
 *
 * So besides the fingerprint a word is kept in which they count by address, and where
 * only the fingerprint has changed, each of them is asked whether it is as it was told.
 * Those that a record does not show are told by no one: they get a fingerprint of their
 * own when the record is made.
 * Threads: the holder of the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_NESTED_H
#define FILMSTRIP_RECORDER_NESTED_H

#include "recorder/compat.h"

#include "recorder/fingerprint.h"
#include "recorder/objects.h"

/* The fingerprint of the object was taken anew. */
void
film_nested_compared(film_object *object, PyObject *value, film_content content,
                     const film_fingerprint *now);

/* A store to an item, before the fingerprint has it; the object or the store is not
 * flat. */
void
film_nested_stored(film_object *object, const film_stored *stored);

/* The container was told, `levels` deep, but not all of it was shown: those within from
 * item `first` on become known as they are now. */
void
film_nested_know(film_context *context, PyObject *value, film_content content,
                 uint32_t levels, int64_t first);

typedef enum film_nested {
    FILM_NESTED_CHANGED, /* it holds something else, or many within have changed */
    FILM_NESTED_TOLD,    /* nothing is to be told of it */
    FILM_NESTED_WITHIN, /* it holds the same ones, of which a few have changed untold */
    FILM_NESTED_DOUBT,  /* it holds the same ones, of which some are not known */
} film_nested;

/* The containers within that have changed themselves. */
typedef struct film_nested_changes {
    PyObject *items[FILM_CHANGES]; /* borrowed */
    uint32_t count;                /* of FILM_NESTED_WITHIN at most FILM_CHANGES */
} film_nested_changes;

/* Of an object whose fingerprint differs: why. `depth`: levels that fingerprints have
 * at most. */
film_nested
film_nested_ask(const film_object *object, PyObject *value, film_content content,
                uint32_t depth, film_nested_changes *changes);

#endif
