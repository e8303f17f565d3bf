/* test_number_summary.c: what the numbers of a tensor were.
 * SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "random.h"

#include <errno.h>
#include <fenv.h>
#include <float.h>
#include <math.h>

#include "base/hash.h"
#include "recorder/torch/summary.h"

static film_number_summary
summary_of(const void *data, film_dtype dtype, int64_t count)
{
    film_number_summary summary;
    const int64_t one = 1;

    CHECK(film_summary_of(data, dtype, 1, &count, &one, &summary));
    return summary;
}

static bool
near(double left, double right, double part)
{
    return fabs(left - right) <= part * fmax(fabs(left), fabs(right));
}

TEST(a_few_numbers)
{
    const float numbers[] = {1, -2, 0, 4, -0.0f, 7, 7};
    film_number_summary summary = summary_of(numbers, FILM_DTYPE_FLOAT32, 7);

    CHECK(summary.min == -2 && summary.max == 7);
    CHECK(near(summary.mean, 17.0 / 7, 1e-14));
    /* sum of squares 119, of which 17^2 / 7 is the mean's; divided by 6 */
    CHECK(near(summary.std, sqrt((119 - 289.0 / 7) / 6), 1e-12));
    CHECK_EQUAL(summary.zeros, 2);
    CHECK_EQUAL(summary.nonfinite, 0);
    CHECK_EQUAL(summary.count, 7);
    CHECK(!summary.sampled);
    CHECK_EQUAL(summary.hash, film_hash(numbers, sizeof(numbers)));
}

TEST(nothing_and_one)
{
    const double number = -3.25;
    film_number_summary summary = summary_of(NULL, FILM_DTYPE_FLOAT64, 0);

    CHECK(isnan(summary.min) && isnan(summary.max) && isnan(summary.mean) &&
          isnan(summary.std));
    CHECK(summary.zeros == 0 && summary.nonfinite == 0 && summary.count == 0);
    CHECK_EQUAL(summary.hash, film_hash("", 0));
    CHECK(film_summary_of(&number, FILM_DTYPE_FLOAT64, 0, NULL, NULL, &summary));
    CHECK(summary.min == number && summary.max == number && summary.mean == number);
    CHECK(isnan(summary.std) && summary.count == 1);
}

/* Wherever they stand, and however many: they are counted, and nothing else sees them. */
TEST(numbers_that_are_not_finite)
{
    double numbers[1500];

    for (int64_t count = 1; count <= 1500; count = count * 3 / 2 + 1) {
        for (int64_t bad = 0; bad < count; bad += 1 + count / 7) {
            film_number_summary summary;
            double sum = 0;
            for (int64_t i = 0; i < count; i++) {
                numbers[i] = (double)i;
                sum += i == bad ? 0 : (double)i;
            }
            numbers[bad] = bad % 3 == 0   ? (double)NAN
                           : bad % 3 == 1 ? (double)INFINITY
                                          : -(double)INFINITY;
            summary = summary_of(numbers, FILM_DTYPE_FLOAT64, count);
            CHECK_EQUAL(summary.nonfinite, 1);
            CHECK_EQUAL(summary.zeros, bad != 0);
            if (count > 1) {
                CHECK(summary.min == (bad == 0 ? 1 : 0));
                CHECK(summary.max ==
                      (double)(bad == count - 1 ? count - 2 : count - 1));
                CHECK(near(summary.mean, sum / (double)(count - 1), 1e-13));
            }
        }
    }
    for (size_t i = 0; i < 1500; i++) {
        numbers[i] = (double)NAN;
    }
    CHECK(isnan(summary_of(numbers, FILM_DTYPE_FLOAT64, 1500).min));
    CHECK_EQUAL(summary_of(numbers, FILM_DTYPE_FLOAT64, 1500).nonfinite, 1500);
}

/* Every number of 16 and 8 bits, against what its bits say. */
static double
small_float(uint32_t bits, int exponent_bits, int mantissa_bits, bool infinities)
{
    uint32_t sign = bits >> (exponent_bits + mantissa_bits);
    uint32_t exponent = bits >> mantissa_bits & ((1u << exponent_bits) - 1);
    uint32_t mantissa = bits & ((1u << mantissa_bits) - 1);
    int bias = (1 << (exponent_bits - 1)) - 1;
    double value;

    if (exponent == (1u << exponent_bits) - 1 &&
        (infinities || mantissa == (1u << mantissa_bits) - 1)) {
        return (double)NAN;
    }
    value = exponent == 0 ? ldexp(mantissa, 1 - bias - mantissa_bits)
                          : ldexp(mantissa + (1u << mantissa_bits),
                                  (int)exponent - bias - mantissa_bits);
    return sign != 0 ? -value : value;
}

TEST(every_small_float)
{
    static const struct {
        film_dtype dtype;
        int exponent, mantissa;
    } forms[] = {{FILM_DTYPE_FLOAT16, 5, 10},
                 {FILM_DTYPE_BFLOAT16, 8, 7},
                 {FILM_DTYPE_FLOAT8_E4M3FN, 4, 3},
                 {FILM_DTYPE_FLOAT8_E5M2, 5, 2}};

    for (size_t f = 0; f < sizeof(forms) / sizeof(*forms); f++) {
        int width = 1 + forms[f].exponent + forms[f].mantissa;
        for (uint32_t bits = 0; bits < 1u << width; bits++) {
            double told = small_float(bits, forms[f].exponent, forms[f].mantissa,
                                      forms[f].dtype != FILM_DTYPE_FLOAT8_E4M3FN);
            uint16_t elements[5] = {(uint16_t)bits};
            film_number_summary summary;
            if (width == 8) {
                elements[0] = (uint16_t)(bits * 0x101);
            }
            elements[1] = elements[2] = elements[3] = elements[4] = elements[0];
            /* As one, and as four and one. */
            for (int64_t count = 1; count <= 5; count += 4) {
                summary = summary_of(elements, forms[f].dtype, count);
                CHECK_EQUAL(summary.nonfinite, isnan(told) ? count : 0);
                CHECK_EQUAL(summary.zeros, told == 0 ? count : 0);
                CHECK(isnan(told) ? isnan(summary.min) : summary.min == told);
                CHECK(isnan(told) ? isnan(summary.max) : summary.max == told);
                CHECK(isnan(told) ? isnan(summary.mean) : summary.mean == told);
            }
        }
    }
}

TEST(extreme_integers)
{
    const int64_t longs[] = {INT64_MIN, INT64_MAX, 0};
    const uint64_t unsigneds[] = {UINT64_MAX, 1, UINT64_MAX};
    const int8_t bytes[] = {-128, 127, 0, 5, 0};
    const uint8_t bools[] = {0, 1, 1, 255, 0, 0};
    film_number_summary summary = summary_of(longs, FILM_DTYPE_INT64, 3);

    CHECK(summary.min == -0x1p63 && summary.max == 0x1p63 && summary.zeros == 1);
    CHECK(near(summary.std, 0x1p63, 1e-12));
    summary = summary_of(unsigneds, FILM_DTYPE_UINT64, 3);
    CHECK(summary.min == 1 && summary.max == 0x1p64);
    summary = summary_of(bytes, FILM_DTYPE_INT8, 5);
    CHECK(summary.min == -128 && summary.max == 127 && summary.zeros == 2);
    CHECK(fabs(summary.mean - 0.8) <= 1e-14 * 128);
    summary = summary_of(bytes, FILM_DTYPE_UINT8, 5);
    CHECK(summary.min == 0 && summary.max == 128 && summary.zeros == 2);
    summary = summary_of(bools, FILM_DTYPE_BOOL, 6);
    CHECK(summary.max == 1 && summary.zeros == 3 && summary.mean == 0.5);
}

/* Squares that overflow or vanish, and a spread that is tiny beside the mean. */
TEST(wide_and_narrow)
{
    const double wide[] = {DBL_MAX, -DBL_MAX, DBL_MAX, -DBL_MAX};
    const double large[] = {DBL_MAX, DBL_MAX, DBL_MAX / 2};
    const double narrow[] = {5e-324, 0, 5e-324, 1e-323};
    const double both[] = {1e300, (double)NAN, 0, 1e-300, 3e300};
    double far[3000];
    film_number_summary summary = summary_of(wide, FILM_DTYPE_FLOAT64, 4);

    CHECK(summary.min == -DBL_MAX && summary.max == DBL_MAX && summary.mean == 0);
    CHECK(summary.nonfinite == 0);
    summary = summary_of(large, FILM_DTYPE_FLOAT64, 3);
    CHECK(near(summary.mean, DBL_MAX / 6 * 5, 1e-14));
    CHECK(near(summary.std, DBL_MAX / sqrt(12), 1e-12));
    summary = summary_of(narrow, FILM_DTYPE_FLOAT64, 4);
    CHECK(summary.min == 0 && summary.max == 1e-323 && summary.zeros == 1);
    CHECK(summary.mean == 5e-324 && summary.std == 5e-324);
    summary = summary_of(both, FILM_DTYPE_FLOAT64, 5);
    CHECK(summary.zeros == 1 && summary.nonfinite == 1);
    CHECK(near(summary.mean, 1e300, 1e-14));
    CHECK(near(summary.std, 1e300 * sqrt(6.0 / 3), 1e-12));

    for (int i = 0; i < 3000; i++) {
        far[i] = 1e9 + (i % 2 == 0 ? 1e-3 : -1e-3); /* 1e9 - 1e-3 is not a double */
    }
    summary = summary_of(far, FILM_DTYPE_FLOAT64, 3000);
    CHECK(near(summary.std, (far[0] - far[1]) / 2 * sqrt(3000.0 / 2999), 1e-9));
    for (int i = 0; i < 3000; i++) { /* outliers as the first of pieces */
        far[i] = i % 512 == 0 ? 1e12 : (double)(i % 2);
    }
    far[0] = -1e15;
    summary = summary_of(far, FILM_DTYPE_FLOAT64, 3000);
    long double mean = 0, squares = 0;
    for (int i = 0; i < 3000; i++) {
        mean += (long double)far[i] / 3000;
    }
    for (int i = 0; i < 3000; i++) {
        squares += ((long double)far[i] - mean) * ((long double)far[i] - mean);
    }
    CHECK(fabs(summary.mean - (double)mean) <= 1e-14 * 1e15);
    CHECK(near(summary.std, (double)sqrtl(squares / 2999), 1e-10));
}

TEST(complex_numbers)
{
    const float numbers[] = {3, 4, 0, -0.0f, 0, -5, (float)INFINITY, 0, 1, (float)NAN};
    const double large[] = {DBL_MAX, DBL_MAX, 5e-324, 0, 0, 0};
    film_number_summary summary = summary_of(numbers, FILM_DTYPE_COMPLEX64, 5);

    CHECK(summary.min == 0 && summary.max == 5 && summary.zeros == 1);
    CHECK(summary.nonfinite == 2 && near(summary.mean, 10.0 / 3, 1e-14));
    summary = summary_of(large, FILM_DTYPE_COMPLEX128, 3);
    CHECK(summary.max == DBL_MAX && summary.zeros == 1 && summary.nonfinite == 0);
    CHECK_EQUAL(summary.hash, film_hash(large, sizeof(large)));
}

/* Views against a copy of the same elements in order: all the same but for nothing. */
static void
check_view(const unsigned char *data, film_dtype dtype, int dimensions,
           const int64_t *sizes, const int64_t *strides)
{
    const uint64_t size = film_dtype_size(dtype);
    film_number_summary view, copy;
    int64_t count = 1, one = 1;
    unsigned char *bytes;

    for (int i = 0; i < dimensions; i++) {
        count *= sizes[i];
    }
    bytes = malloc((size_t)count * size + 1);
    CHECK(bytes != NULL);
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = i, at = 0;
        for (int d = dimensions - 1; d >= 0; d--) {
            at += rest % sizes[d] * strides[d];
            rest /= sizes[d];
        }
        memcpy(bytes + (uint64_t)i * size, data + (uint64_t)at * size, size);
    }
    CHECK(film_summary_of(data, dtype, dimensions, sizes, strides, &view));
    CHECK(film_summary_of(bytes, dtype, 1, &count, &one, &copy));
    CHECK(memcmp(&view, &copy, sizeof(view)) == 0);
    free(bytes);
}

TEST(views_are_as_copies)
{
    static unsigned char data[1 << 20];

    for (size_t i = 0; i < sizeof(data); i++) {
        data[i] = (unsigned char)random_number();
    }
    for (int turn = 0; turn < 1500; turn++) {
        film_dtype dtype = (film_dtype)(1 + random_number() % (FILM_DTYPE_COUNT - 1));
        int64_t room = (int64_t)(sizeof(data) / film_dtype_size(dtype));
        int64_t sizes[6], strides[6], reach = 1;
        int dimensions = (int)(random_number() % 6);
        for (int i = 0; i < dimensions; i++) {
            int64_t most = turn % 8 == 0 ? 40 : 9;
            int64_t steps[] = {0, 1, reach, 2, 3, reach + 1};
            sizes[i] = (int64_t)(random_number() % (uint64_t)most) +
                       (random_number() % 16 != 0);
            strides[i] = steps[random_number() % 6];
            if (sizes[i] > 1 && reach + (sizes[i] - 1) * strides[i] > room) {
                strides[i] = 0;
            }
            reach += sizes[i] > 1 ? (sizes[i] - 1) * strides[i] : 0;
        }
        for (int i = dimensions - 1; i > 0; i--) { /* in any order */
            int other = (int)(random_number() % (uint64_t)(i + 1));
            int64_t size = sizes[i], stride = strides[i];
            sizes[i] = sizes[other], strides[i] = strides[other];
            sizes[other] = size, strides[other] = stride;
        }
        check_view(data + random_number() % 2, dtype, dimensions, sizes, strides);
    }
}

TEST(large_ones_are_sampled)
{
    static float numbers[1 << 20];
    const int64_t square[] = {1024, 1024}, across[] = {1, 1024};
    const int64_t wide[] = {1 << 20, 1 << 20, 3}, still[] = {0, 0, 1};
    film_number_summary whole, summary;

    for (size_t i = 0; i < 1 << 20; i++) {
        numbers[i] = (float)(i % 1024);
    }
    CHECK(!summary_of(numbers, FILM_DTYPE_FLOAT32, 16384).sampled);
    summary = summary_of(numbers, FILM_DTYPE_FLOAT32, 16385);
    CHECK(summary.sampled && summary.count <= 16384 && summary.count > 5000);
    for (int64_t count = 16385; count < 1 << 20; count = count * 5 / 4) {
        summary = summary_of(numbers, FILM_DTYPE_FLOAT32, count);
        CHECK(summary.sampled && summary.count <= 16384 && summary.count > 5000);
    }
    /* Rows of 1,024: all columns are met. */
    whole = summary_of(numbers, FILM_DTYPE_FLOAT32, 1 << 20);
    CHECK(whole.min == 0 && whole.max == 1023 && near(whole.mean, 511.5, 0.02));
    CHECK(near(whole.std, 1024 / sqrt(12), 0.01));
    CHECK(film_summary_of(numbers, FILM_DTYPE_FLOAT32, 2, square, across, &summary));
    CHECK(summary.sampled && summary.hash != whole.hash);
    CHECK_EQUAL(summary_of(numbers, FILM_DTYPE_FLOAT32, 1 << 20).hash, whole.hash);
    numbers[16 * 65 * 3 + 5] += 1; /* in a run: every 65th of 16 floats */
    CHECK(summary_of(numbers, FILM_DTYPE_FLOAT32, 1 << 20).hash != whole.hash);
    check_view((const unsigned char *)numbers, FILM_DTYPE_FLOAT32, 2, square, across);
    /* Expanded: far more elements than there is memory. */
    CHECK(film_summary_of(numbers, FILM_DTYPE_FLOAT32, 3, wide, still, &summary));
    CHECK(summary.sampled && summary.min == 0 && summary.max == 2);
}

TEST(misuse_is_refused)
{
    const float number = 1;
    film_number_summary summary;
    const int64_t one = 1, two = 2, minus = -1, much[] = {INT64_MAX / 4, 16};
    const int64_t none[] = {0, INT64_MAX}, still[] = {0, 0};

    CHECK(!film_summary_of(&number, FILM_DTYPE_UNKNOWN, 1, &one, &one, &summary));
    CHECK(!film_summary_of(&number, FILM_DTYPE_COUNT, 1, &one, &one, &summary));
    CHECK(!film_summary_of(&number, FILM_DTYPE_FLOAT32, -1, &one, &one, &summary));
    CHECK(!film_summary_of(&number, FILM_DTYPE_FLOAT32, 65, &one, &one, &summary));
    CHECK(!film_summary_of(&number, FILM_DTYPE_FLOAT32, 1, &minus, &one, &summary));
    CHECK(!film_summary_of(&number, FILM_DTYPE_FLOAT32, 1, &two, &minus, &summary));
    CHECK(!film_summary_of(&number, FILM_DTYPE_FLOAT32, 2, much, still, &summary));
    CHECK(!film_summary_of(NULL, FILM_DTYPE_FLOAT32, 1, &one, &one, &summary));
    CHECK_EQUAL(summary.count, 0);
    CHECK(film_summary_of(NULL, FILM_DTYPE_FLOAT32, 2, none, still, &summary));
}

/* The program's own floating-point state and errno are as before, and change nothing:
 * denormals are seen where it flushes them, traps do not fire. */
TEST(the_state_of_the_thread_stays)
{
    const float numbers[] = {1e-45f, 0, (float)NAN, (float)INFINITY};
    const double large[] = {DBL_MAX, DBL_MAX};
    film_number_summary summary;

    errno = EDOM;
    CHECK(feclearexcept(FE_ALL_EXCEPT) == 0 && fesetround(FE_UPWARD) == 0);
    CHECK(feenableexcept(FE_INVALID | FE_OVERFLOW) != -1);
#if defined(__x86_64__)
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040u); /* flush, are zeros */
    unsigned before = __builtin_ia32_stmxcsr();
#endif
    summary = summary_of(numbers, FILM_DTYPE_FLOAT32, 4);
    (void)summary_of(large, FILM_DTYPE_COMPLEX128, 1);
#if defined(__x86_64__)
    CHECK_EQUAL(__builtin_ia32_stmxcsr(), before);
#endif
    CHECK(fegetround() == FE_UPWARD && errno == EDOM);
    CHECK(fetestexcept(FE_ALL_EXCEPT) == 0);
    CHECK(fesetenv(FE_DFL_ENV) == 0);
    CHECK(summary.max == 0x1p-149 && summary.zeros == 1 && summary.nonfinite == 2);
}

int
main(int argc, char **argv)
{
    static const film_test tests[] = {
        TEST_ENTRY(a_few_numbers),
        TEST_ENTRY(nothing_and_one),
        TEST_ENTRY(numbers_that_are_not_finite),
        TEST_ENTRY(every_small_float),
        TEST_ENTRY(extreme_integers),
        TEST_ENTRY(wide_and_narrow),
        TEST_ENTRY(complex_numbers),
        TEST_ENTRY(views_are_as_copies),
        TEST_ENTRY(large_ones_are_sampled),
        TEST_ENTRY(misuse_is_refused),
        TEST_ENTRY(the_state_of_the_thread_stays),
    };

    return run_tests(tests, sizeof(tests) / sizeof(*tests), argc, argv);
}
