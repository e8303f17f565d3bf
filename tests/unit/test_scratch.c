/* test_scratch.c: tables do not overlap, keep what they hold when they grow, and their
 * memory is used again.
 * SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <stdint.h>

#include "base/alloc.h"
#include "base/scratch.h"

#define TABLES 20u

TEST(tables_grow_beside_one_another)
{
    film_scratch scratch = {0};
    uint32_t *tables[TABLES] = {0};
    size_t capacity[TABLES] = {0};

    for (unsigned round = 0; round < 3; round++) {
        CHECK(film_scratch_begin(&scratch, 100));
        memset(tables, 0, sizeof(tables));
        memset(capacity, 0, sizeof(capacity));
        for (uint32_t count = 0; count < 3000; count++) {
            for (uint32_t number = 0; number < TABLES; number++) {
                uint32_t *grown =
                    film_scratch_grow(&scratch, tables[number], &capacity[number],
                                      count + 1, sizeof(uint32_t));

                CHECK(grown != NULL && capacity[number] > count);
                CHECK_EQUAL((uintptr_t)grown % 16, 0);
                tables[number] = grown;
                grown[count] = count * TABLES + number;
            }
        }
        for (uint32_t at = 0; at < 3000 * TABLES; at++) {
            CHECK_EQUAL(tables[at % TABLES][at / TABLES], at);
        }
    }
    film_scratch_reset(&scratch);
}

TEST(the_last_gives_back_its_rest)
{
    film_scratch scratch = {0};
    char *first, *second;
    size_t capacity = 0;

    CHECK(film_scratch_begin(&scratch, 10000));
    first = film_scratch_take(&scratch, 1000, 4);
    CHECK(first != NULL);
    memset(first, 1, 4000);
    film_scratch_trim(&scratch, 100);
    second = film_scratch_grow(&scratch, NULL, &capacity, 50, 1);
    CHECK(second != NULL);
    CHECK(second >= first + 100 || second + 50 <= first);
#if !defined(__SANITIZE_ADDRESS__)
    CHECK(second < first + 4000);
    CHECK(film_scratch_grow(&scratch, second, &capacity, 5000, 1) == second);
#endif
    memset(second, 2, 50);
    CHECK_EQUAL(first[99], 1);
    film_scratch_reset(&scratch);
}

TEST(uses_its_memory_again)
{
    film_scratch scratch = {0};

    CHECK(film_scratch_begin(&scratch, 1000));
    CHECK(film_scratch_take(&scratch, 1u << 20, 1) != NULL); /* a block of its own */
    film_alloc_fail_at(1);
#if !defined(__SANITIZE_ADDRESS__)
    CHECK(film_scratch_begin(&scratch, 1u << 20));
    CHECK(film_scratch_take(&scratch, 1u << 20, 1) != NULL);
#endif
    CHECK(film_scratch_take(&scratch, 1u << 22, 1) == NULL);
    film_alloc_fail_never();
    film_scratch_reset(&scratch);
    film_scratch_reset(&scratch);
}

TEST(a_table_stays_when_memory_is_out)
{
    film_scratch scratch = {0};
    size_t capacity = 0;
    char *table;

    film_alloc_fail_at(1);
    CHECK(!film_scratch_begin(&scratch, 1000));
    film_alloc_fail_never();
    CHECK(film_scratch_begin(&scratch, 1000));
    table = film_scratch_grow(&scratch, NULL, &capacity, 1000, 1);
    CHECK(table != NULL);
    memset(table, 3, 1000);
    film_alloc_fail_at(1);
    CHECK(film_scratch_grow(&scratch, table, &capacity, 1u << 22, 1) == NULL);
    film_alloc_fail_never();
    CHECK(film_scratch_grow(&scratch, table, &capacity, SIZE_MAX / 2, 4) == NULL);
    CHECK_EQUAL(capacity, 1000);
    CHECK_EQUAL(table[999], 3);
    CHECK(film_scratch_take(&scratch, SIZE_MAX / 2, 4) == NULL);
    film_scratch_reset(&scratch);
}

int
main(int argc, char **argv)
{
    static const film_test tests[] = {
        TEST_ENTRY(tables_grow_beside_one_another),
        TEST_ENTRY(the_last_gives_back_its_rest),
        TEST_ENTRY(uses_its_memory_again),
        TEST_ENTRY(a_table_stays_when_memory_is_out),
    };

    return run_tests(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
