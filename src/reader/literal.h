/* literal.h: values as Python writes them: what repr() gives, made without Python.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_LITERAL_H
#define FILMSTRIP_LITERAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

void
film_literal_int(film_buffer *out, int64_t number);

/* Little-endian two's complement of any length; no bytes: 0. One of more than
 * FILM_LITERAL_INT bytes is told by its size alone, for decimal digits take time. */
#define FILM_LITERAL_INT 4096u

void
film_literal_big_int(film_buffer *out, const uint8_t *bytes, size_t length);

/* The shortest digits that give the same double back. */
void
film_literal_float(film_buffer *out, double number);

void
film_literal_complex(film_buffer *out, double real, double imaginary);

/* UTF-8, in which lone surrogates may stand as three bytes; what is neither becomes
 * U+FFFD. */
void
film_literal_str(film_buffer *out, const uint8_t *bytes, size_t length);

void
film_literal_bytes(film_buffer *out, const uint8_t *bytes, size_t length);

#endif
