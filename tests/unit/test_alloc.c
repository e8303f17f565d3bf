/* test_alloc.c: blocks below and above the size from which they are mapped, grown and
 * shrunk across it, by several threads, and more of them than are listed; what is given
 * back leaves the program's heap as it would be without us.
 * SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <pthread.h>
#include <stdint.h>

#include "base/alloc.h"

#define BIG ((size_t)200 << 10)
#define BLOCKS 300u /* more than are listed */
#define STEPS 20000u
#define THREADS 4u

/* Bytes that only this block can have at this length. */
static void
fill(unsigned char *block, size_t bytes, unsigned seed)
{
    for (size_t i = 0; i < bytes; i += 509) {
        block[i] = (unsigned char)(seed + i / 509);
    }
}

static void
check(const unsigned char *block, size_t bytes, unsigned seed)
{
    for (size_t i = 0; i < bytes; i += 509) {
        CHECK_EQUAL(block[i], (unsigned char)(seed + i / 509));
    }
}

TEST(comes_zeroed)
{
    const size_t sizes[] = {0, 1, 1000, BIG - 1, BIG, 4 * BIG};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        unsigned char *block = film_alloc(sizes[i]);

        CHECK(block != NULL);
        CHECK_EQUAL((uintptr_t)block % 16, 0);
        for (size_t at = 0; at < sizes[i]; at++) {
            CHECK_EQUAL(block[at], 0);
        }
        film_free(block);
    }
    film_free(NULL);
}

TEST(begins_with_a_line)
{
    for (size_t count = 1; count < 2000; count += 111) {
        unsigned char *block = film_alloc_lines(count, 208);

        CHECK(block != NULL);
        CHECK_EQUAL((uintptr_t)block % 64, 0);
        for (size_t at = 0; at < count * 208; at++) {
            CHECK_EQUAL(block[at], 0);
        }
        film_free(block);
    }
    CHECK(film_alloc_lines(SIZE_MAX / 2, 4) == NULL);
    CHECK(film_alloc_array(SIZE_MAX / 2, 4) == NULL);
}

TEST(scratch_can_be_written_and_moved)
{
    const size_t sizes[] = {0, 1000, BIG, 600u << 10, 5u << 20};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        unsigned char *block = film_alloc_scratch(sizes[i]);

        CHECK(block != NULL);
        CHECK_EQUAL((uintptr_t)block % 16, 0);
        fill(block, sizes[i], 7);
        block = film_realloc(block, sizes[i] / 2);
        CHECK(block != NULL);
        check(block, sizes[i] / 2, 7);
        film_free(block);
    }
}

/* Each thread has numbers of its own. */
static uint64_t
next_number(uint64_t *state, uint64_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (*state >> 33) % below;
}

static void *
walk_over_sizes(void *seed)
{
    unsigned char *blocks[8] = {0};
    size_t bytes[8] = {0};
    uint64_t state = (uint64_t)(uintptr_t)seed;

    for (unsigned step = 0; step < STEPS / THREADS; step++) {
        unsigned i = (unsigned)next_number(&state, 8);
        bool big = next_number(&state, 3) == 0;
        size_t now = (size_t)next_number(&state, big ? 4 * BIG : 2000);
        size_t both = now < bytes[i] ? now : bytes[i];
        unsigned char *block = film_realloc(blocks[i], now);

        CHECK(block != NULL);
        check(block, both, i);
        fill(block, now, i);
        blocks[i] = block;
        bytes[i] = now;
    }
    for (unsigned i = 0; i < 8; i++) {
        check(blocks[i], bytes[i], i);
        film_free(blocks[i]);
    }
    return NULL;
}

TEST(keeps_what_it_held)
{
    (void)walk_over_sizes((void *)1);
}

TEST(belongs_to_its_thread)
{
    pthread_t threads[THREADS];

    for (uintptr_t i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, walk_over_sizes, (void *)(i + 2)) == 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
}

TEST(more_than_are_listed)
{
    static unsigned char *blocks[BLOCKS];

    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < BLOCKS; i++) {
            blocks[i] = film_alloc(BIG + i);
            CHECK(blocks[i] != NULL);
            fill(blocks[i], BIG, i);
        }
        for (unsigned i = 0; i < BLOCKS; i += 2) {
            blocks[i] = film_realloc(blocks[i], 3 * BIG);
            CHECK(blocks[i] != NULL);
        }
        for (unsigned i = 0; i < BLOCKS; i++) {
            check(blocks[i], BIG, i);
            film_free(blocks[i]);
        }
    }
}

/* Resident bytes. */
static size_t
resident(void)
{
    unsigned long all = 0, here = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    CHECK(file != NULL && fscanf(file, "%lu %lu", &all, &here) == 2);
    fclose(file);
    return (size_t)here * 4096u;
}

/* What the program's own blocks, one of them small and at the end, leave behind. */
static size_t
left_behind(void)
{
    void *blocks[100], *last;
    size_t before = resident(), after;

    for (unsigned i = 0; i < 100; i++) {
        blocks[i] = malloc(BIG);
        CHECK(blocks[i] != NULL);
        memset(blocks[i], 1, BIG);
    }
    last = malloc(100);
    for (unsigned i = 0; i < 100; i++) {
        free(blocks[i]);
    }
    after = resident();
    free(last);
    return after > before ? after - before : 0;
}

TEST(leaves_the_heap_alone)
{
    void *block = NULL;

    for (size_t bytes = 1 << 10; bytes < 32u << 20; bytes *= 2) {
        block = film_realloc(block, bytes);
        CHECK(block != NULL);
    }
    film_free(block);
    film_free(film_alloc_lines(1u << 16, 208));
    for (size_t bytes = 1 << 10; bytes < 32u << 20; bytes *= 2) {
        film_free(film_alloc_scratch(bytes));
    }
#if !defined(__SANITIZE_ADDRESS__)
    CHECK(left_behind() < (2u << 20));
#else
    (void)left_behind;
#endif
}

int
main(int argc, char **argv)
{
    static const film_test tests[] = {
        TEST_ENTRY(comes_zeroed),
        TEST_ENTRY(begins_with_a_line),
        TEST_ENTRY(scratch_can_be_written_and_moved),
        TEST_ENTRY(keeps_what_it_held),
        TEST_ENTRY(belongs_to_its_thread),
        TEST_ENTRY(more_than_are_listed),
        TEST_ENTRY(leaves_the_heap_alone),
    };

    return run_tests(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
