/* snapshot_forms.h: what a value record says of each kind of object.
 *
 * Records are built in one buffer used as a stack: a nested object's record is made
 * behind the unfinished one of its owner, written, and taken off again.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_SNAPSHOT_FORMS_H
#define FILMSTRIP_RECORDER_SNAPSHOT_FORMS_H

#include "recorder/compat.h"

#include "base/buffer.h"
#include "recorder/capture.h"
#include "recorder/capture_types.h"

typedef struct film_snapshot {
    film_buffer body; /* owned */
    uint32_t items, bytes;
} film_snapshot;

extern film_snapshot film_the_snapshot;

/* An object whose record is being made. */
typedef struct film_unfinished {
    film_context *context;
    PyObject *object;
    uint32_t levels; /* below it */
    bool hidden;     /* its texts are secrets */
    bool cut;        /* set when not all of it was told */
    bool noted;      /* set when it has a note */
} film_unfinished;

/* Appends the token of what the object holds, where no place proves that it does. */
void
film_snapshot_put_held(film_unfinished *making, PyObject *value);

/* The same of what it holds under the name of a secret. */
void
film_snapshot_put_secret(film_unfinished *making, PyObject *value, PyObject *name);

/* Appends form, length, count, content and note. */
void
film_snapshot_put(film_unfinished *making, film_content content);

#endif
