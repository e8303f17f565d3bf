/* capture_arrays.h: numpy arrays: shape and dtype, read in place. Nothing of numpy is
 * linked or imported.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_CAPTURE_ARRAYS_H
#define FILMSTRIP_RECORDER_CAPTURE_ARRAYS_H

#include "recorder/compat.h"

#define FILM_ARRAY_DIMENSIONS 64

typedef struct film_array {
    int dimensions;
    int64_t shape[FILM_ARRAY_DIMENSIONS];
    const char *dtype; /* borrowed; "" when it is not known */
} film_array;

bool
film_array_is_array(const PyTypeObject *type);

/* False when it could not be read. */
bool
film_array_read(PyObject *object, film_array *array);

#endif
