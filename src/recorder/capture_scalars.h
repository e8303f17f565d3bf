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

/* Of an instance of a class made of a scalar's: of what it is made of. */
uint8_t *
film_made_scalar_token(PyObject *value, uint8_t *to);

/* UTF-8, bytes and a number that are no Python objects. */
uint8_t *
film_text_token(const char *text, size_t length, uint8_t *to);

uint8_t *
film_bytes_token(const char *bytes, size_t length, uint8_t *to);

uint8_t *
film_unsigned_token(uint64_t number, uint8_t *to);

/* The record (value id + 1) that was written for what has this hash; 0: none is known, or
 * it is not kept any more. */
uint64_t
film_known_record(uint64_t hash);

void
film_know_record(uint64_t hash, uint64_t id);

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
