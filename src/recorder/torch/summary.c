/* summary.c: elements are taken in blocks of 4 KiB, from where they lie when they lie in
 * order, else gathered into a block. So everything behind the gathering, the hash too, is
 * the same for all strides, and what is read twice (numbers, hash) is in the nearest cache.
 *
 * A block of floats or doubles is summed up as it is, others as doubles, 512 at a time.
 * Pieces with numbers that are not finite lose these first. Means and squared deviations of
 * the pieces are put together as Chan, Golub and LeVeque do.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/torch/summary.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <fenv.h>
#endif

#include "base/hash.h"
#include "recorder/torch/numbers.h"
#include "recorder/torch/sums.h"

#define BLOCK_BYTES 4096u
#define PIECE_NUMBERS 512u
#define RUN_BYTES 64u /* of a sample: a line of the cache */
#define MOST_BYTES (INT64_C(1) << 62)

/* Squares of numbers beyond these may overflow, or vanish though they matter. Numbers
 * that are all beyond one of them are summed up again, scaled. */
#define WIDE 0x1p480
#define NARROW 0x1p-480
#define SCALE_OF_WIDE 0x1p-700
#define SCALE_OF_NARROW 0x1p700

/* The elements of a tensor; dimensions that lie in order are one. */
typedef struct tensor_walk {
    const unsigned char *data;
    size_t size;    /* bytes of an element */
    uint64_t count; /* elements */
    int dimensions; /* the last one changes fastest; 0: one element */
    uint64_t sizes[FILM_SUMMARY_DIMENSIONS];
    uint64_t strides[FILM_SUMMARY_DIMENSIONS]; /* in bytes */
} tensor_walk;

/* What is gathered block by block. */
typedef struct gathering {
    film_dtype dtype;
    double scale;
    double mean, squares; /* of the finite numbers, scaled; of their deviations */
    uint64_t finite;
    film_number_summary *out; /* borrowed; the rest */
} gathering;

uint64_t
film_dtype_size(film_dtype dtype)
{
    static const uint8_t sizes[FILM_DTYPE_COUNT] = {
        [FILM_DTYPE_FLOAT64] = 8,       [FILM_DTYPE_FLOAT32] = 4,
        [FILM_DTYPE_FLOAT16] = 2,       [FILM_DTYPE_BFLOAT16] = 2,
        [FILM_DTYPE_FLOAT8_E4M3FN] = 1, [FILM_DTYPE_FLOAT8_E5M2] = 1,
        [FILM_DTYPE_INT8] = 1,          [FILM_DTYPE_INT16] = 2,
        [FILM_DTYPE_INT32] = 4,         [FILM_DTYPE_INT64] = 8,
        [FILM_DTYPE_UINT8] = 1,         [FILM_DTYPE_UINT16] = 2,
        [FILM_DTYPE_UINT32] = 4,        [FILM_DTYPE_UINT64] = 8,
        [FILM_DTYPE_BOOL] = 1,          [FILM_DTYPE_COMPLEX64] = 8,
        [FILM_DTYPE_COMPLEX128] = 16,
    };

    return (unsigned)dtype < FILM_DTYPE_COUNT ? sizes[dtype] : 0;
}

/* --- where the elements are --------------------------------------------------------- */

/* Puts the dimension before those that are known: one with it where it lies in order. */
static void
add_dimension(tensor_walk *walk, uint64_t size, uint64_t stride)
{
    if (size == 1) {
        return;
    }
    if (walk->dimensions > 0) {
        int last = walk->dimensions - 1;
        if (walk->strides[last] == size * stride) {
            walk->sizes[last] *= size;
            walk->strides[last] = stride;
            return;
        }
    }
    walk->sizes[walk->dimensions] = size;
    walk->strides[walk->dimensions] = stride;
    walk->dimensions++;
}

static bool
walk_init(tensor_walk *walk, const void *data, film_dtype dtype, int dimensions,
          const int64_t *sizes, const int64_t *strides)
{
    int64_t count = 1;

    walk->data = data;
    walk->size = (size_t)film_dtype_size(dtype);
    walk->dimensions = 0;
    if (walk->size == 0 || dimensions < 0 || dimensions > FILM_SUMMARY_DIMENSIONS) {
        return false;
    }
    for (int i = 0; i < dimensions; i++) {
        if (sizes[i] < 0 || strides[i] < 0 || strides[i] > MOST_BYTES / 16) {
            return false;
        }
    }
    for (int i = 0; i < dimensions; i++) {
        if (sizes[i] != 0 && count > MOST_BYTES / 16 / sizes[i]) {
            return false;
        }
        count *= sizes[i];
    }
    for (int i = 0; i < dimensions && count > 0; i++) {
        add_dimension(walk, (uint64_t)sizes[i], (uint64_t)strides[i] * walk->size);
    }
    walk->count = (uint64_t)count;
    return count == 0 || data != NULL;
}

/* True if all elements lie one behind the other. */
static bool
lies_in_order(const tensor_walk *walk)
{
    return walk->dimensions == 0 ||
           (walk->dimensions == 1 && walk->strides[0] == walk->size);
}

static inline __attribute__((always_inline)) void
copy_apart(unsigned char *to, const unsigned char *from, uint64_t count,
           uint64_t stride, size_t size)
{
    for (uint64_t i = 0; i < count; i++) {
        memcpy(to + i * size, from + i * stride, size);
    }
}

/* Copies elements that lie `stride` bytes apart. */
static void
copy_elements(unsigned char *to, const unsigned char *from, uint64_t count,
              uint64_t stride, size_t size)
{
    switch (size) {
    case 1:
        copy_apart(to, from, count, stride, 1);
        break;
    case 2:
        copy_apart(to, from, count, stride, 2);
        break;
    case 4:
        copy_apart(to, from, count, stride, 4);
        break;
    case 8:
        copy_apart(to, from, count, stride, 8);
        break;
    default:
        copy_apart(to, from, count, stride, 16);
        break;
    }
}

/* Copies `count` elements from the one numbered `first` on. */
static void
gather(const tensor_walk *walk, uint64_t first, uint64_t count, unsigned char *to)
{
    uint64_t at[FILM_SUMMARY_DIMENSIONS];
    const unsigned char *from = walk->data;
    int last = walk->dimensions - 1;

    if (last < 0 || lies_in_order(walk)) {
        memcpy(to, walk->data + first * walk->size, count * walk->size);
        return;
    }
    for (int i = last; i >= 0; i--) {
        at[i] = first % walk->sizes[i];
        first /= walk->sizes[i];
        from += at[i] * walk->strides[i];
    }
    while (count > 0) {
        uint64_t row = walk->sizes[last] - at[last];
        row = row < count ? row : count;
        copy_elements(to, from, row, walk->strides[last], walk->size);
        to += row * walk->size;
        count -= row;
        from += row * walk->strides[last];
        at[last] += row;
        for (int i = last; i > 0 && at[i] == walk->sizes[i]; i--) {
            from -= at[i] * walk->strides[i];
            at[i] = 0;
            at[i - 1]++;
            from += walk->strides[i - 1];
        }
    }
}

/* --- what they are ------------------------------------------------------------------ */

static void
add_sums(gathering *all, const film_sums *sums, size_t count)
{
    film_number_summary *out = all->out;
    double here = (double)count, before = (double)all->finite;
    double mean = sums->shift + sums->sum / here;
    double squares = sums->squares - sums->sum * sums->sum / here;
    double apart = mean - all->mean;

    out->min = fmin(out->min, sums->least);
    out->max = fmax(out->max, sums->greatest);
    out->zeros += sums->zeros;
    all->finite += count;
    all->mean += apart * (here / (here + before));
    all->squares +=
        (squares > 0 ? squares : 0) + apart * apart * (before * here / (here + before));
}

/* Takes out what is not finite; returns how many are left. */
static size_t
keep_finite(double *numbers, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        double number = numbers[i];
        numbers[kept] = number;
        kept += isfinite(number) != 0;
    }
    return kept;
}

static void
add_piece(gathering *all, const unsigned char *bytes, size_t count)
{
    double numbers[PIECE_NUMBERS];
    film_sums sums;
    size_t kept = count;

    film_numbers_to_doubles(bytes, all->dtype, count, numbers);
    if (all->scale != 1) {
        for (size_t i = 0; i < count; i++) {
            numbers[i] *= all->scale;
        }
    }
    if (!film_sums_of((const unsigned char *)numbers, false, count, &sums)) {
        kept = keep_finite(numbers, count);
        all->out->nonfinite += count - kept;
        if (kept == 0) {
            return;
        }
        /* The squares may still not be finite: then all is gathered again, scaled. */
        (void)film_sums_of((const unsigned char *)numbers, false, kept, &sums);
    }
    add_sums(all, &sums, kept);
}

static void
add_block(gathering *all, const unsigned char *bytes, size_t size, size_t count)
{
    film_number_summary *out = all->out;
    uint64_t hash = film_hash(bytes, size * count);
    film_sums sums;

    out->hash = out->count == 0 ? hash : film_digest_mix(out->hash, hash);
    out->count += count;
    if ((all->dtype == FILM_DTYPE_FLOAT32 || all->dtype == FILM_DTYPE_FLOAT64) &&
        all->scale == 1 &&
        film_sums_of(bytes, all->dtype == FILM_DTYPE_FLOAT32, count, &sums)) {
        add_sums(all, &sums, count);
        return;
    }
    for (size_t i = 0; i < count; i += PIECE_NUMBERS) {
        add_piece(all, bytes + i * size,
                  count - i < PIECE_NUMBERS ? count - i : PIECE_NUMBERS);
    }
}

static void
add_all(gathering *all, const tensor_walk *walk)
{
    unsigned char block[BLOCK_BYTES];
    const uint64_t most = BLOCK_BYTES / walk->size;

    for (uint64_t i = 0; i < walk->count; i += most) {
        uint64_t count = walk->count - i < most ? walk->count - i : most;
        const unsigned char *bytes = walk->data + i * walk->size;
        if (!lies_in_order(walk)) {
            gather(walk, i, count, block);
            bytes = block;
        }
        add_block(all, bytes, walk->size, count);
    }
}

static void
add_sample(gathering *all, const tensor_walk *walk)
{
    unsigned char block[BLOCK_BYTES];
    const uint64_t run = RUN_BYTES / walk->size, runs = walk->count / run;
    const uint64_t most = FILM_SUMMARY_BYTES / RUN_BYTES;
    const uint64_t every = ((runs + most - 1) / most) | 1;
    uint64_t filled = 0;

    for (uint64_t i = 0; i < runs; i += every) {
        gather(walk, i * run, run, block + filled);
        filled += RUN_BYTES;
        if (filled == BLOCK_BYTES) {
            add_block(all, block, walk->size, filled / walk->size);
            filled = 0;
        }
    }
    if (filled > 0) {
        add_block(all, block, walk->size, filled / walk->size);
    }
}

/* Gathers everything into *out, or, scaled, nothing but mean and std. */
static void
summarize(const tensor_walk *walk, film_dtype dtype, double scale,
          film_number_summary *out)
{
    const double none = (double)NAN;
    film_number_summary scaled = {0};
    gathering all = {.dtype = dtype, .scale = scale, .out = scale == 1 ? out : &scaled};

    *all.out = (film_number_summary){none, none, none, none, 0, 0, 0, 0, false};
    all.out->sampled = walk->count > FILM_SUMMARY_BYTES / walk->size;
    if (walk->count == 0) {
        out->hash = film_hash("", 0);
    }
    else if (all.out->sampled) {
        add_sample(&all, walk);
    }
    else {
        add_all(&all, walk);
    }
    if (all.finite > 0) {
        out->mean = all.mean / scale;
    }
    if (all.finite > 1) {
        out->std = sqrt(all.squares / (double)(all.finite - 1)) / scale;
    }
}

static __attribute__((noinline)) void
summarize_scaled(const tensor_walk *walk, film_dtype dtype, film_number_summary *out)
{
    double largest;

    summarize(walk, dtype, 1, out);
    largest = fmax(fabs(out->min), fabs(out->max));
    if (largest > WIDE) {
        summarize(walk, dtype, SCALE_OF_WIDE, out);
    }
    else if (largest < NARROW && largest > 0) {
        summarize(walk, dtype, SCALE_OF_NARROW, out);
    }
}

/* In an environment of our own: the program may trap on or look at floating-point
 * exceptions, round otherwise or flush denormals. hypot may set errno. Behind a call that
 * is not inlined, no arithmetic comes before or after it. */
bool
film_summary_of(const void *data, film_dtype dtype, int dimensions,
                const int64_t *sizes, const int64_t *strides, film_number_summary *out)
{
    tensor_walk walk;
    int error = errno;

    memset(out, 0, sizeof(*out));
    if (!walk_init(&walk, data, dtype, dimensions, sizes, strides)) {
        return false;
    }
#if defined(__x86_64__)
    unsigned state = _mm_getcsr();
    _mm_setcsr(_MM_MASK_MASK | _MM_ROUND_NEAREST);
    summarize_scaled(&walk, dtype, out);
    _mm_setcsr(state);
#else
    fenv_t state;
    (void)fegetenv(&state);
    (void)fesetenv(FE_DFL_ENV);
    summarize_scaled(&walk, dtype, out);
    (void)fesetenv(&state);
#endif
    errno = error;
    return true;
}
