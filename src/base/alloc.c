/* alloc.c: heap with an optional fault for tests.
 *
 * Big blocks are mapped by ourselves. glibc takes a big block that is freed for a sign
 * that such blocks come often: it keeps those of that size, the program's too, in its
 * heap from then on, and gives less of it back. A table of ours that was doubled made
 * the program keep 20 MB more that way.
 *
 * A mapped block lies FIRST_LINE bytes behind the start of its mapping, where its length
 * is kept. Blocks of the heap may lie so, too, so those that are mapped are listed.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* mremap */
#include "base/alloc.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LINE_BYTES 64u /* of the processor's cache */
#define FIRST_LINE LINE_BYTES
#define PAGE_BYTES 4096u
#define MOST_MAPPED 256u
/* Where one page of 2 MiB is given sooner than 128 of 4 KiB. */
#define BIG_PAGE_BYTES ((size_t)2 << 20)
#define BIG_PAGES_FROM ((size_t)512 << 10)
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature) /* clang's way to say it */
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(SANITIZED)
/* Or the sanitizer does not see what lies beside them, nor what they alone lead to. */
#define MAPPED_FROM SIZE_MAX
#else
#define MAPPED_FROM ((size_t)128 << 10) /* as malloc begins to map, too */
#endif

static _Atomic(void *) mapped[MOST_MAPPED];
static char moving; /* its address: a place that is held while its block moves */

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

/* --- blocks that are mapped --------------------------------------------------------- */

/* The place of a block in the list; NULL: it is one of the heap. */
static _Atomic(void *) *
find_mapped(const void *block)
{
    if ((uintptr_t)block % PAGE_BYTES != FIRST_LINE) {
        return NULL;
    }
    for (size_t i = 0; i < MOST_MAPPED; i++) {
        if (atomic_load_explicit(&mapped[i], memory_order_acquire) == block) {
            return &mapped[i];
        }
    }
    return NULL;
}

static _Atomic(void *) *
take_place(void *block)
{
    for (size_t i = 0; i < MOST_MAPPED; i++) {
        void *none = NULL;

        if (atomic_compare_exchange_strong(&mapped[i], &none, block)) {
            return &mapped[i];
        }
    }
    return NULL;
}

static size_t *
length_of(void *block)
{
    return (size_t *)(void *)((char *)block - FIRST_LINE);
}

static char *
map_pages(size_t length)
{
    char *start =
        mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return start == MAP_FAILED ? NULL : start;
}

/* A whole number of big pages; the kernel may have none, and takes others then. */
static char *
map_big_pages(size_t length)
{
    char *start = map_pages(length + BIG_PAGE_BYTES);
    size_t before;

    if (start != NULL) {
        before = -(uintptr_t)start & (BIG_PAGE_BYTES - 1);
        if (before != 0) {
            (void)munmap(start, before);
        }
        start += before;
        (void)munmap(start + length, BIG_PAGE_BYTES - before);
        (void)madvise(start, length, MADV_HUGEPAGE);
    }
    return start;
}

/* A new block, zeroed; NULL: it is to come from the heap. */
static void *
map_block(size_t bytes, bool in_big_pages)
{
    size_t length = bytes + FIRST_LINE;
    char *start;

    if (bytes < MAPPED_FROM || length < bytes || length > SIZE_MAX / 2) {
        return NULL;
    }
    if (in_big_pages) {
        length = (length + BIG_PAGE_BYTES - 1) & ~(BIG_PAGE_BYTES - 1);
    }
    start = in_big_pages ? map_big_pages(length) : map_pages(length);
    if (start == NULL) {
        return NULL;
    }
    *(size_t *)(void *)start = length;
    if (take_place(start + FIRST_LINE) == NULL) {
        (void)munmap(start, length);
        return NULL;
    }
    return start + FIRST_LINE;
}

static void
unmap_block(_Atomic(void *) *place, void *block)
{
    size_t *start = length_of(block);

    /* First off the list: another thread may be given the same address at once. */
    atomic_store_explicit(place, NULL, memory_order_release);
    (void)munmap(start, *start);
}

/* A block that stays mapped, grown or shrunk; NULL: it has stayed as it was. */
static void *
remap_block(_Atomic(void *) *place, void *block, size_t bytes)
{
    size_t *start = length_of(block), length = bytes + FIRST_LINE;
    char *moved;

    if (length < bytes) {
        return NULL;
    }
    /* Off the list first, as above, but the place stays ours. */
    atomic_store_explicit(place, &moving, memory_order_release);
    moved = mremap(start, *start, length, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED) {
        atomic_store_explicit(place, block, memory_order_release);
        return NULL;
    }
    *(size_t *)(void *)moved = length;
    atomic_store_explicit(place, moved + FIRST_LINE, memory_order_release);
    return moved + FIRST_LINE;
}

/* --- blocks ------------------------------------------------------------------------- */

void *
film_alloc(size_t bytes)
{
    void *block;

    if (must_fail()) {
        return NULL;
    }
    block = map_block(bytes, false);
    return block != NULL ? block : calloc(1, bytes == 0 ? 1 : bytes);
}

void *
film_alloc_scratch(size_t bytes)
{
    void *block;

    if (must_fail()) {
        return NULL;
    }
    block = map_block(bytes, bytes >= BIG_PAGES_FROM);
    return block != NULL ? block : malloc(bytes == 0 ? 1 : bytes);
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
film_alloc_lines(size_t count, size_t bytes)
{
    size_t total, whole;
    void *block;

    if (__builtin_mul_overflow(count, bytes, &total) ||
        __builtin_add_overflow(total, LINE_BYTES - 1, &whole) || must_fail()) {
        return NULL;
    }
    block = map_block(total, false);
    if (block == NULL) {
        whole -= whole % LINE_BYTES;
        block = aligned_alloc(LINE_BYTES, whole == 0 ? LINE_BYTES : whole);
        if (block != NULL) {
            memset(block, 0, whole);
        }
    }
    return block;
}

/* From the heap to a mapping of its own. */
static void *
move_to_mapping(void *block, size_t bytes)
{
    void *moved = map_block(bytes, false);

    if (moved != NULL && block != NULL) {
        size_t had = malloc_usable_size(block);

        memcpy(moved, block, had < bytes ? had : bytes);
        free(block);
    }
    return moved;
}

void *
film_realloc(void *block, size_t bytes)
{
    _Atomic(void *) *place = block == NULL ? NULL : find_mapped(block);
    void *moved;

    if (must_fail()) {
        return NULL;
    }
    if (place == NULL) {
        moved = move_to_mapping(block, bytes);
        return moved != NULL ? moved : realloc(block, bytes == 0 ? 1 : bytes);
    }
    if (bytes >= MAPPED_FROM) {
        return remap_block(place, block, bytes);
    }
    moved = malloc(bytes == 0 ? 1 : bytes);
    if (moved != NULL) {
        memcpy(moved, block, bytes);
        unmap_block(place, block);
    }
    return moved;
}

void
film_free(void *block)
{
    _Atomic(void *) *place = block == NULL ? NULL : find_mapped(block);

    if (place == NULL) {
        free(block);
        return;
    }
    unmap_block(place, block);
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
