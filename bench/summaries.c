/* summaries.c: what a summary of a CPU tensor costs (src/recorder/torch/summary.h).
 *
 *   cc -O2 -I src -I include bench/summaries.c src/recorder/torch/summary.c \
 *      src/recorder/torch/numbers.c src/recorder/torch/sums.c src/base/hash.c \
 *      src/base/clock.c -lm -o build/summaries && build/summaries
 *
 * Nanoseconds a tensor, the least of many turns: floats by number, and 1,024 elements of
 * each type, in order and transposed.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "recorder/torch/summary.h"

#define TURNS 200
#define BYTES (16u << 20)

static double
measure(const void *data, film_dtype dtype, int dimensions, const int64_t *sizes,
        const int64_t *strides, int calls)
{
    film_number_summary summary;
    double best = 1e18;

    for (int turn = 0; turn < TURNS; turn++) {
        uint64_t begin = film_clock_monotonic_ns();
        for (int i = 0; i < calls; i++) {
            if (!film_summary_of(data, dtype, dimensions, sizes, strides, &summary)) {
                abort();
            }
            __asm__ volatile("" : : "r"(&summary) : "memory");
        }
        double each = (double)(film_clock_monotonic_ns() - begin) / calls;
        best = each < best ? each : best;
    }
    return best;
}

int
main(void)
{
    static const char *const names[FILM_DTYPE_COUNT] = {
        "",          "float64",       "float32",     "float16",
        "bfloat16",  "float8_e4m3fn", "float8_e5m2", "int8",
        "int16",     "int32",         "int64",       "uint8",
        "uint16",    "uint32",        "uint64",      "bool",
        "complex64", "complex128",
    };
    static const int64_t counts[] = {4, 64, 1024, 16384, 1 << 20};
    const int64_t one = 1, sizes[] = {32, 32}, strides[] = {1, 32};
    float *floats = malloc(BYTES);
    unsigned char *bytes = malloc(BYTES);

    if (floats == NULL || bytes == NULL) {
        return 1;
    }
    for (size_t i = 0; i < BYTES / sizeof(*floats); i++) {
        floats[i] = (float)random() / 0x1p31f - 0.5f;
    }
    /* Of any type these are finite numbers. */
    for (size_t i = 0; i < BYTES; i++) {
        bytes[i] = (unsigned char)(0x34 + random() % 8);
    }
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        printf("%8lld floats %10.0f ns\n", (long long)counts[i],
               measure(floats, FILM_DTYPE_FLOAT32, 1, &counts[i], &one,
                       counts[i] > 1024 ? 5 : 100));
    }
    for (int i = 1; i < FILM_DTYPE_COUNT; i++) {
        printf("%16s %6.0f ns, transposed %6.0f\n", names[i],
               measure(bytes, (film_dtype)i, 1, &counts[2], &one, 50),
               measure(bytes, (film_dtype)i, 2, sizes, strides, 50));
    }
    free(floats);
    free(bytes);
    return 0;
}
