/* summary.h: what the numbers of a CPU tensor were, in one pass of C.
 *
 * Plain C: nothing of Python's or torch's is called, so it may run wherever the caller may
 * read the memory. Nothing is allocated, 6 KB of stack are used, and the floating-point
 * state of the thread (its flags, traps, rounding and flushing of denormals) is as it was.
 *
 * At most FILM_SUMMARY_BYTES of elements are looked at. Of a larger tensor a sample is: runs
 * of one cache line each (64 bytes of elements in order, whatever the strides), every n-th
 * one, n odd, so that rows of an even length are not always met in the same columns. The
 * sample depends on the number of elements and their size alone: two recordings of a
 * program look at the same ones.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_TORCH_SUMMARY_H
#define FILMSTRIP_RECORDER_TORCH_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#define FILM_SUMMARY_BYTES 65536
#define FILM_SUMMARY_DIMENSIONS 64 /* torch has no more */

/* What an element is. FP8: the two of OCP (e4m3fn: no infinities, one NaN; e5m2: as half
 * precision). Complex: two floats of half the size. */
typedef enum film_dtype {
    FILM_DTYPE_UNKNOWN = 0,
    FILM_DTYPE_FLOAT64,
    FILM_DTYPE_FLOAT32,
    FILM_DTYPE_FLOAT16,
    FILM_DTYPE_BFLOAT16,
    FILM_DTYPE_FLOAT8_E4M3FN,
    FILM_DTYPE_FLOAT8_E5M2,
    FILM_DTYPE_INT8,
    FILM_DTYPE_INT16,
    FILM_DTYPE_INT32,
    FILM_DTYPE_INT64,
    FILM_DTYPE_UINT8,
    FILM_DTYPE_UINT16,
    FILM_DTYPE_UINT32,
    FILM_DTYPE_UINT64,
    FILM_DTYPE_BOOL,
    FILM_DTYPE_COMPLEX64,
    FILM_DTYPE_COMPLEX128,
    FILM_DTYPE_COUNT
} film_dtype;

/* Of a sample, everything here is the sample's: `zeros` of `count`, not of the tensor. */
typedef struct film_number_summary {
    /* Of the finite numbers; NaN where there is none. Of complex ones all four are of their
     * magnitudes. Integers beyond 2^53 are rounded to the nearest double. */
    double min, max;
    /* The mean is right to 1e-14 of the greatest magnitude. std divides by n - 1, as
     * torch.std does, so it is NaN of a single number; right to a part in 1e9 (usually
     * 1e12), also where it is tiny beside the mean, and where squares would overflow or
     * vanish. */
    double mean, std;
    uint64_t zeros;     /* 0 and -0; complex: both parts */
    uint64_t nonfinite; /* NaN and infinities; complex: either part */
    /* Of the bytes of the elements in order, whatever the strides. So 0 and -0 differ, and
     * NaNs with different payloads. */
    uint64_t hash;
    uint64_t count; /* elements looked at */
    bool sampled;   /* there are more */
} film_number_summary;

/* Bytes of an element; 0 of an unknown type. */
uint64_t
film_dtype_size(film_dtype dtype);

/* Sums up the tensor whose first element is at `data`; sizes and strides are counted in
 * elements, as torch does. False, and *out is zero: an unknown type, more dimensions than
 * FILM_SUMMARY_DIMENSIONS, a negative size or stride, more than 2^62 bytes of elements, no
 * data though there are elements. */
bool
film_summary_of(const void *data, film_dtype dtype, int dimensions,
                const int64_t *sizes, const int64_t *strides, film_number_summary *out);

#endif
