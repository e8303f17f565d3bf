/* sums.c: one loop, made for floats and for doubles.
 *
 * The shift is the first number: one subtraction instead of a second pass, and exact
 * enough unless that number lies far off (an outlier). Then squares and sum^2 / n cancel
 * each other out, and the sums are made again with the mean so found as the shift. NaNs and
 * infinities need no test in the loop: they make the sum of squares one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/torch/sums.h"

#include <emmintrin.h>
#include <math.h>
#include <string.h>

/* The sums are made again when more than 10 bits of the squares cancel out. */
#define CANCELLED 0x1p-10

typedef double two_doubles __attribute__((vector_size(16)));
typedef float two_floats __attribute__((vector_size(8)));
typedef int64_t two_words __attribute__((vector_size(16)));

typedef struct sum_lanes {
    two_doubles least, greatest, sum, squares;
    two_words zeros;
} sum_lanes;

/* The lesser and the greater of each two; gcc finds minpd and maxpd in no other spelling. */
static inline two_doubles
least_of(two_doubles left, two_doubles right)
{
    return (two_doubles)_mm_min_pd((__m128d)left, (__m128d)right);
}

static inline two_doubles
greatest_of(two_doubles left, two_doubles right)
{
    return (two_doubles)_mm_max_pd((__m128d)left, (__m128d)right);
}

static inline __attribute__((always_inline)) two_doubles
load_two(const unsigned char *from, bool narrow)
{
    two_doubles numbers;

    if (narrow) {
        two_floats floats;
        memcpy(&floats, from, sizeof(floats));
        return __builtin_convertvector(floats, two_doubles);
    }
    memcpy(&numbers, from, sizeof(numbers));
    return numbers;
}

static inline __attribute__((always_inline)) double
load_one(const unsigned char *from, bool narrow)
{
    double number;

    if (narrow) {
        float brief;
        memcpy(&brief, from, sizeof(brief));
        return (double)brief;
    }
    memcpy(&number, from, sizeof(number));
    return number;
}

static inline __attribute__((always_inline)) void
add_two(sum_lanes *lanes, two_doubles numbers, two_doubles shift)
{
    two_doubles off = numbers - shift;

    lanes->least = least_of(numbers, lanes->least);
    lanes->greatest = greatest_of(numbers, lanes->greatest);
    lanes->sum += off;
    lanes->squares += off * off;
    lanes->zeros -= (two_words)(numbers == (two_doubles){0, 0});
}

static void
put_together(const sum_lanes *left, const sum_lanes *right, film_sums *out)
{
    two_doubles least = least_of(left->least, right->least);
    two_doubles greatest = greatest_of(left->greatest, right->greatest);

    out->least = least[0] < least[1] ? least[0] : least[1];
    out->greatest = greatest[0] > greatest[1] ? greatest[0] : greatest[1];
    out->sum = (left->sum[0] + left->sum[1]) + (right->sum[0] + right->sum[1]);
    out->squares =
        (left->squares[0] + left->squares[1]) + (right->squares[0] + right->squares[1]);
    out->zeros =
        (uint64_t)(left->zeros[0] + left->zeros[1] + right->zeros[0] + right->zeros[1]);
}

static inline __attribute__((always_inline)) void
sum_up(const unsigned char *from, bool narrow, size_t count, double shift,
       film_sums *out)
{
    const size_t size = narrow ? sizeof(float) : sizeof(double);
    const double first = load_one(from, narrow);
    const two_doubles shifts = {shift, shift}, firsts = {first, first};
    sum_lanes left = {firsts, firsts, {0, 0}, {0, 0}, {0, 0}}, right = left;
    size_t i = 0;

    for (; i + 4 <= count; i += 4) {
        add_two(&left, load_two(from + i * size, narrow), shifts);
        add_two(&right, load_two(from + (i + 2) * size, narrow), shifts);
    }
    put_together(&left, &right, out);
    out->shift = shift;
    for (; i < count; i++) {
        double number = load_one(from + i * size, narrow), off = number - shift;
        out->least = number < out->least ? number : out->least;
        out->greatest = number > out->greatest ? number : out->greatest;
        out->sum += off;
        out->squares += off * off;
        out->zeros += number == 0;
    }
}

static void
sum_up_floats(const unsigned char *from, size_t count, double shift, film_sums *out)
{
    sum_up(from, true, count, shift, out);
}

static void
sum_up_doubles(const unsigned char *from, size_t count, double shift, film_sums *out)
{
    sum_up(from, false, count, shift, out);
}

bool
film_sums_of(const unsigned char *from, bool narrow, size_t count, film_sums *out)
{
    void (*sum_up_all)(const unsigned char *, size_t, double, film_sums *) =
        narrow ? sum_up_floats : sum_up_doubles;
    double spread;

    sum_up_all(from, count, load_one(from, narrow), out);
    if (!isfinite(out->squares)) {
        return false;
    }
    spread = out->squares - out->sum * out->sum / (double)count;
    if (spread < out->squares * CANCELLED) {
        sum_up_all(from, count, out->shift + out->sum / (double)count, out);
    }
    return true;
}
