/* arrays.h: the numbers of an array.array.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_FAMILIES_ARRAYS_H
#define FILMSTRIP_RECORDER_FAMILIES_ARRAYS_H

#include "recorder/compat.h"

#include <stddef.h>

/* The bytes of its items; false: it is not laid out as we read it. Borrowed. */
bool
film_numbers_read(PyObject *object, const char **bytes, size_t *length);

/* Appends the tokens of its first items to the record that is made. It is one that
 * film_numbers_read can read. */
void
film_numbers_put(PyObject *object, uint32_t count);

/* The bytes of an item of the array that `value` is stored as; false: it cannot be, or
 * that is not known. */
#define FILM_NUMBER_BYTES 8u
bool
film_numbers_encode(PyObject *object, PyObject *value, char *to, size_t *size);

#endif
