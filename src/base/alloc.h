/* alloc.h: the library's only way to the heap.
 * Memory comes zeroed, so a half-built object can always be released. Tests can make
 * the n-th allocation fail.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_ALLOC_H
#define FILMSTRIP_ALLOC_H

#include <stddef.h>
#include <stdint.h>

/* NULL when memory is out. A size of 0 gives a pointer that may be freed. */
void *
film_alloc(size_t bytes);

/* Room for `count` items of `bytes` each; NULL also when the product overflows. */
void *
film_alloc_array(size_t count, size_t bytes);

/* The same, to begin where a line of the processor's cache does. */
void *
film_alloc_lines(size_t count, size_t bytes);

/* Room for a short time, not zeroed: where there is much of it, in big pages, since it
 * takes the kernel longer to give 4 KiB at a time than most work takes. */
void *
film_alloc_scratch(size_t bytes);

/* Grows or shrinks; new bytes are not zeroed. On failure the old block stays. */
void *
film_realloc(void *block, size_t bytes);

void
film_free(void *block);

/* film_grow where there is no room. */
void *
film_grow_further(void *array, size_t *capacity, size_t needed, size_t item_bytes);

/* Grows an array that holds *capacity items so that it holds at least `needed`,
 * doubling. On failure array and capacity stay as they are and NULL is returned. */
static inline void *
film_grow(void *array, size_t *capacity, size_t needed, size_t item_bytes)
{
    return needed <= *capacity && array != NULL
               ? array
               : film_grow_further(array, capacity, needed, item_bytes);
}

/* Tests: the n-th allocation from now on fails (1 = the next), and so do all later
 * ones until film_alloc_fail_never. Returns how many were asked for since. */
void
film_alloc_fail_at(uint64_t n);

uint64_t
film_alloc_fail_never(void);

#endif
