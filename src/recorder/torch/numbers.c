/* numbers.c: one loop for each type of element. Floats of 8 and 16 bits are told by their
 * bits, four at a time: the machine has no such numbers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/torch/numbers.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef uint8_t four_bytes __attribute__((vector_size(4)));
typedef uint16_t four_halves __attribute__((vector_size(8)));
typedef uint32_t four_words __attribute__((vector_size(16)));
typedef int32_t four_ints __attribute__((vector_size(16)));
typedef float four_floats __attribute__((vector_size(16)));
typedef float two_floats __attribute__((vector_size(8)));
typedef double two_doubles __attribute__((vector_size(16)));

/* `mantissa` bits of mantissa behind exponents of that `bias`; with a magnitude (all but
 * the sign, the highest of `width` bits) of at least `none` it is no number. A denormal is
 * its mantissa times a power of two. */
typedef struct small_form {
    uint32_t width, mantissa, bias, none;
} small_form;

static inline __attribute__((always_inline)) four_floats
from_small(four_words bits, small_form form)
{
    const uint32_t top = 1u << (form.width - 1);
    const uint32_t unit_bits = (128u - form.bias - form.mantissa) << 23;
    four_words magnitude = bits & (top - 1);
    four_words sign = (bits & top) << (32 - form.width);
    four_words normal =
        (magnitude << (23 - form.mantissa)) + ((127u - form.bias) << 23);
    four_words none = (four_words)(magnitude >= form.none) & 0x7f800000u;
    four_words denormal = (four_words)(magnitude < (1u << form.mantissa));
    four_words units = (four_words){0} + unit_bits;
    four_floats small =
        __builtin_convertvector((four_ints)magnitude, four_floats) * (four_floats)units;

    return (four_floats)(((four_words)small & denormal) |
                         ((normal | none) & ~denormal) | sign);
}

static inline __attribute__((always_inline)) four_words
load_four(const unsigned char *from, size_t size)
{
    if (size == 1) {
        four_bytes bytes;
        memcpy(&bytes, from, sizeof(bytes));
        return __builtin_convertvector(bytes, four_words);
    }
    four_halves halves;
    memcpy(&halves, from, sizeof(halves));
    return __builtin_convertvector(halves, four_words);
}

static inline __attribute__((always_inline)) void
store_four(four_floats numbers, double *to)
{
    two_floats halves[2];
    two_doubles lower, upper;

    memcpy(halves, &numbers, sizeof(halves));
    lower = __builtin_convertvector(halves[0], two_doubles);
    upper = __builtin_convertvector(halves[1], two_doubles);
    memcpy(to, &lower, sizeof(lower));
    memcpy(to + 2, &upper, sizeof(upper));
}

static inline __attribute__((always_inline)) void
convert_small(const unsigned char *from, size_t count, small_form form, double *to)
{
    const size_t size = form.width / 8;
    unsigned char rest[8] = {0};
    double last[4];
    size_t i = 0;

    for (; i + 4 <= count; i += 4) {
        store_four(from_small(load_four(from + i * size, size), form), to + i);
    }
    memcpy(rest, from + i * size, (count - i) * size);
    store_four(from_small(load_four(rest, size), form), last);
    memcpy(to + i, last, (count - i) * sizeof(*to));
}

/* The upper half of a float. */
static inline double
from_brain(uint16_t half)
{
    uint32_t bits = (uint32_t)half << 16;
    float number;

    memcpy(&number, &bits, sizeof(number));
    return (double)number;
}

#define CONVERT(type, expression)                                                      \
    for (size_t i = 0; i < count; i++) {                                               \
        type element;                                                                  \
        memcpy(&element, from + i * sizeof(element), sizeof(element));                 \
        to[i] = (expression);                                                          \
    }                                                                                  \
    break

static void
convert_floats(const unsigned char *from, film_dtype dtype, size_t count, double *to)
{
    switch ((int)dtype) {
    case FILM_DTYPE_FLOAT64:
        memcpy(to, from, count * sizeof(*to));
        break;
    case FILM_DTYPE_FLOAT32:
        CONVERT(float, (double)element);
    case FILM_DTYPE_FLOAT16:
        convert_small(from, count, (small_form){16, 10, 15, 0x7c00}, to);
        break;
    case FILM_DTYPE_BFLOAT16:
        CONVERT(uint16_t, from_brain(element));
    case FILM_DTYPE_FLOAT8_E4M3FN:
        convert_small(from, count, (small_form){8, 3, 7, 0x7f}, to);
        break;
    case FILM_DTYPE_FLOAT8_E5M2:
        convert_small(from, count, (small_form){8, 2, 15, 0x7c}, to);
        break;
    default:
        break;
    }
}

static void
convert_integers(const unsigned char *from, film_dtype dtype, size_t count, double *to)
{
    switch ((int)dtype) {
    case FILM_DTYPE_INT8:
        CONVERT(int8_t, (double)element);
    case FILM_DTYPE_INT16:
        CONVERT(int16_t, (double)element);
    case FILM_DTYPE_INT32:
        CONVERT(int32_t, (double)element);
    case FILM_DTYPE_INT64:
        CONVERT(int64_t, (double)element);
    case FILM_DTYPE_UINT8:
        CONVERT(uint8_t, (double)element);
    case FILM_DTYPE_UINT16:
        CONVERT(uint16_t, (double)element);
    case FILM_DTYPE_UINT32:
        CONVERT(uint32_t, (double)element);
    case FILM_DTYPE_UINT64:
        CONVERT(uint64_t, (double)element);
    case FILM_DTYPE_BOOL:
        CONVERT(uint8_t, element != 0 ? 1.0 : 0.0);
    default:
        break;
    }
}

/* hypot says that infinity and NaN is infinity; to us either is just not finite. What is
 * beyond all doubles though its parts are not counts as the greatest of them. */
static inline double
magnitude_of(double real, double imaginary)
{
    double square = real * real + imaginary * imaginary;

    if (square > 0x1p-900 && square < 0x1p900) {
        return sqrt(square);
    }
    if (!isfinite(real) || !isfinite(imaginary)) {
        return (double)NAN;
    }
    return fmin(hypot(real, imaginary), DBL_MAX);
}

typedef struct float_pair {
    float real, imaginary;
} float_pair;

typedef struct double_pair {
    double real, imaginary;
} double_pair;

static void
convert_complex(const unsigned char *from, film_dtype dtype, size_t count, double *to)
{
    switch ((int)dtype) {
    case FILM_DTYPE_COMPLEX64:
        CONVERT(float_pair,
                magnitude_of((double)element.real, (double)element.imaginary));
    case FILM_DTYPE_COMPLEX128:
        CONVERT(double_pair, magnitude_of(element.real, element.imaginary));
    default:
        break;
    }
}

void
film_numbers_to_doubles(const unsigned char *from, film_dtype dtype, size_t count,
                        double *to)
{
    if (dtype <= FILM_DTYPE_FLOAT8_E5M2) {
        convert_floats(from, dtype, count, to);
    }
    else if (dtype <= FILM_DTYPE_BOOL) {
        convert_integers(from, dtype, count, to);
    }
    else {
        convert_complex(from, dtype, count, to);
    }
}
