/* alloc.c: heap with an optional fault for tests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

/* 0: never fail; else the number of the first allocation that fails. */
static _Atomic(uint64_t) fail_at;
static _Atomic(uint64_t) asked;

static bool
must_fail(void)
{
    uint64_t n = atomic_load_explicit(&fail_at, memory_order_relaxed);

    if (__builtin_expect(n == 0, 1)) {
        return false;
    }
    return atomic_fetch_add_explicit(&asked, 1, memory_order_relaxed) + 1 >= n;
}

void
film_alloc_fail_at(uint64_t n)
{
    atomic_store(&asked, 0);
    atomic_store(&fail_at, n);
}

uint64_t
film_alloc_fail_never(void)
{
    atomic_store(&fail_at, 0);
    return atomic_load(&asked);
}

void *
film_alloc(size_t bytes)
{
    return must_fail() ? NULL : calloc(1, bytes == 0 ? 1 : bytes);
}

void *
film_alloc_array(size_t count, size_t bytes)
{
    size_t total;

    if (__builtin_mul_overflow(count, bytes, &total)) {
        return NULL;
    }
    return film_alloc(total);
}

void *
film_realloc(void *block, size_t bytes)
{
    return must_fail() ? NULL : realloc(block, bytes == 0 ? 1 : bytes);
}

void
film_free(void *block)
{
    free(block);
}

void *
film_grow_further(void *array, size_t *capacity, size_t needed, size_t item_bytes)
{
    size_t wanted = *capacity < 8 ? 8 : *capacity;
    size_t total;
    void *grown;

    while (wanted < needed) {
        if (__builtin_mul_overflow(wanted, (size_t)2, &wanted)) {
            return NULL;
        }
    }
    if (__builtin_mul_overflow(wanted, item_bytes, &total)) {
        return NULL;
    }
    grown = film_realloc(array, total);
    if (grown != NULL) {
        *capacity = wanted;
    }
    return grown;
}
