/* capture_scalars.h: values that are wholly their own content: ints, floats, complex,
 * str, bytes.
 *
 * What does not fit a token becomes a value record; the same text is written once (as
 * long as a bounded cache knows it). Threads: the holder of the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_CAPTURE_SCALARS_H
#define FILMSTRIP_RECORDER_CAPTURE_SCALARS_H

#include "recorder/compat.h"

/* True for the exact types film_scalar_token knows, and None, True, False. */
static inline bool
film_is_scalar(PyObject *value)
{
    const PyTypeObject *type = Py_TYPE(value);

    return type == &PyLong_Type || type == &PyUnicode_Type || type == &PyFloat_Type ||
           value == Py_None || type == &PyBool_Type || type == &PyBytes_Type ||
           type == &PyComplex_Type;
}

/* The most bytes of a scalar that are hashed. */
#define FILM_SCALAR_HASHED (128 << 10)

/* The token of a scalar. Returns the end. */
uint8_t *
film_scalar_token(PyObject *value, uint8_t *to);

/* The same for an argument of an exception: secrets within a message are taken out. */
uint8_t *
film_message_token(PyObject *value, uint8_t *to);

/* A word that stands for the content of a scalar; equal values, equal words. */
uint64_t
film_scalar_word(PyObject *value);

/* `text_bytes`: the most that is kept of one value. */
bool
film_scalars_begin(uint32_t text_bytes);

void
film_scalars_end(void);

#endif
