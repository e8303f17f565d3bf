/* number_forms.h: numbers as classes of the libraries write them: the shortest digits of
 * floats of 16 and 32 bits, the addresses and UUIDs that ints stand for.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_NUMBER_FORMS_H
#define FILMSTRIP_NUMBER_FORMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

typedef enum film_float_width {
    FILM_FLOAT_HALF,
    FILM_FLOAT_SINGLE,
    FILM_FLOAT_DOUBLE
} film_float_width;

/* The shortest digits that give the same number of that width back; `whole`: with .0
 * where there is neither point nor exponent. */
void
film_form_float(film_buffer *out, double number, film_float_width width, bool whole);

/* 1+2j, as numpy writes it. */
void
film_form_complex(film_buffer *out, double real, double imaginary,
                  film_float_width width);

/* Bytes in the order that they are written in. */
void
film_form_uuid(film_buffer *out, const uint8_t bytes[16]);

void
film_form_ipv4(film_buffer *out, const uint8_t bytes[4]);

/* mapped: ::ffff:1.2.3.4 for an IPv4 address. */
void
film_form_ipv6(film_buffer *out, const uint8_t bytes[16], bool mapped);

#endif
