/* nested.h: containers within a container. Its fingerprint counts what they hold too,
 * so that a change which nobody told is seen; but a store to one of them that was told
 * is no change of the container around it.
 *
 * So besides the fingerprint a word is kept in which they count by address, and where
 * only the fingerprint has changed, each of them is asked whether it is as it was told.
 * Threads: the holder of the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_NESTED_H
#define FILMSTRIP_RECORDER_NESTED_H

#include "recorder/compat.h"

#include "recorder/fingerprint.h"
#include "recorder/objects.h"

/* The fingerprint of the object was taken anew; grown: of its new items only. */
void
film_nested_compared(film_object *object, PyObject *value, film_content content,
                     bool grown);

/* A store to an item, before the fingerprint has it; the object or the store is not
 * flat. */
void
film_nested_stored(film_object *object, const film_stored *stored);

/* True when the object holds what it held, and the containers within are as they were
 * told: nothing is to be told of it. `depth`: levels that fingerprints have at most. */
bool
film_nested_are_told(const film_object *object, PyObject *value, film_content content,
                     uint32_t depth);

#endif
