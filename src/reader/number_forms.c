/* number_forms.c: see number_forms.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reader/number_forms.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader/literal.h"

#define HALF_DIGITS 5
#define SINGLE_DIGITS 9

/* --- floats ------------------------------------------------------------------------- */

/* To a float of 16 bits and back, rounded to even. */
static double
as_half(double number)
{
    int exponent;
    double step;

    if (number == 0.0 || !isfinite(number)) {
        return number;
    }
    (void)frexp(number, &exponent);
    exponent = exponent < -13 ? -13 : exponent; /* subnormal */
    step = ldexp(1.0, exponent - 11);
    return nearbyint(number / step) * step;
}

static bool
is_same(double number, const char *text, film_float_width width)
{
    return width == FILM_FLOAT_HALF ? as_half(strtod(text, NULL)) == number
                                    : (double)strtof(text, NULL) == number;
}

/* Digits and exponent as Python's repr() would put them. */
static void
put_digits(film_buffer *out, const char *scientific, bool whole)
{
    char digits[SINGLE_DIGITS + 2] = {0};
    int count = 0, exponent;
    const char *at = scientific;
    char text[64];

    if (*at == '-') {
        film_buffer_put_byte(out, '-');
        at++;
    }
    for (; *at != 'e' && *at != '\0'; at++) {
        if (*at != '.' && count < SINGLE_DIGITS) {
            digits[count++] = *at;
        }
    }
    exponent = *at == 'e' ? atoi(at + 1) : 0;
    while (count > 1 && digits[count - 1] == '0') {
        count--;
    }
    digits[count] = '\0';
    if (exponent < -4 || exponent >= 16) {
        snprintf(text, sizeof(text), "%c%s%se%c%02d", digits[0], count > 1 ? "." : "",
                 digits + 1, exponent < 0 ? '-' : '+', abs(exponent));
    }
    else if (exponent < 0) {
        snprintf(text, sizeof(text), "0.%.*s%s", -exponent - 1, "0000", digits);
    }
    else if (count > exponent + 1) {
        snprintf(text, sizeof(text), "%.*s.%s", exponent + 1, digits,
                 digits + exponent + 1);
    }
    else {
        snprintf(text, sizeof(text), "%s%.*s%s", digits, exponent + 1 - count,
                 "0000000000000000", whole ? ".0" : "");
    }
    film_buffer_append_text(out, text);
}

void
film_form_float(film_buffer *out, double number, film_float_width width, bool whole)
{
    int most = width == FILM_FLOAT_HALF ? HALF_DIGITS : SINGLE_DIGITS;
    char text[40];
    size_t start = out->length;

    if (width == FILM_FLOAT_DOUBLE || !isfinite(number)) {
        film_literal_float(out, number);
        if (!whole && out->length >= start + 2 && !out->failed &&
            memcmp(out->data + out->length - 2, ".0", 2) == 0) {
            out->length -= 2;
        }
        return;
    }
    for (int digits = 0; digits < most; digits++) {
        snprintf(text, sizeof(text), "%.*e", digits, number);
        if (is_same(number, text, width)) {
            break;
        }
    }
    put_digits(out, text, whole);
}

void
film_form_complex(film_buffer *out, double real, double imaginary,
                  film_float_width width)
{
    if (real != 0.0 || signbit(real)) {
        film_form_float(out, real, width, false);
        if (isnan(imaginary) || !signbit(imaginary)) {
            film_buffer_put_byte(out, '+');
        }
    }
    film_form_float(out, imaginary, width, false);
    film_buffer_put_byte(out, 'j');
}

/* --- addresses ---------------------------------------------------------------------- */

void
film_form_uuid(film_buffer *out, const uint8_t bytes[16])
{
    char text[3];

    for (int index = 0; index < 16; index++) {
        if (index == 4 || index == 6 || index == 8 || index == 10) {
            film_buffer_put_byte(out, '-');
        }
        snprintf(text, sizeof(text), "%02x", bytes[index]);
        film_buffer_append_text(out, text);
    }
}

void
film_form_ipv4(film_buffer *out, const uint8_t bytes[4])
{
    char text[16];

    snprintf(text, sizeof(text), "%u.%u.%u.%u", bytes[0], bytes[1], bytes[2], bytes[3]);
    film_buffer_append_text(out, text);
}

/* The longest run of zero words, of two at least: the first of equals. */
static int
longest_zeros(const unsigned words[8], int *length)
{
    int best = -1;

    *length = 1;
    for (int begin = 0; begin < 8; begin++) {
        int end = begin;

        while (end < 8 && words[end] == 0) {
            end++;
        }
        if (end - begin > *length) {
            best = begin;
            *length = end - begin;
        }
        begin = end > begin ? end : begin;
    }
    return best;
}

static bool
is_mapped(const unsigned words[8])
{
    for (int index = 0; index < 5; index++) {
        if (words[index] != 0) {
            return false;
        }
    }
    return words[5] == 0xffff;
}

void
film_form_ipv6(film_buffer *out, const uint8_t bytes[16], bool mapped)
{
    unsigned words[8];
    int zeros, length;
    char text[8];

    for (int index = 0; index < 8; index++) {
        words[index] = (unsigned)bytes[2 * index] << 8 | bytes[2 * index + 1];
    }
    if (mapped && is_mapped(words)) {
        film_buffer_append_text(out, "::ffff:");
        film_form_ipv4(out, bytes + 12);
        return;
    }
    zeros = longest_zeros(words, &length);
    for (int index = 0; index < 8; index++) {
        if (index == zeros) {
            film_buffer_append_text(out, "::");
            index += length - 1;
            continue;
        }
        snprintf(text, sizeof(text), "%s%x",
                 index > 0 && (zeros < 0 || index != zeros + length) ? ":" : "",
                 words[index]);
        film_buffer_append_text(out, text);
    }
}
