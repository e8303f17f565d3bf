/* places.h: where an object was seen, and whether it is still there: the proofs of
 * objects.h.
 * Threads: the holder of the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_PLACES_H
#define FILMSTRIP_RECORDER_PLACES_H

#include "recorder/compat.h"

#include "recorder/objects.h"

/* True when `value`, of the type `object` has, is the object that was seen at its
 * address before. */
bool
film_place_proves(film_context *context, film_object *object, PyObject *value,
                  const film_holder *holder);

/* `value` has just been seen there. */
void
film_place_put(film_context *context, film_object *object, PyObject *value,
               const film_holder *holder);

#endif
