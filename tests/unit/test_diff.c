/* test_diff.c: two runs side by side: ops, and the way that control took.
 * SPDX-License-Identifier: Apache-2.0 */
#include "op_films.h"

#include "analysis/ops/op_compare.h"
#include "analysis/run_diff.h"
#include "base/alloc.h"

typedef struct pair {
    film_reader *readers[2];
    film_run_diff run;
} pair;

/* What one side's ops are. */
typedef struct told_op {
    const char *function;
    int64_t size;  /* of its argument and result */
    int64_t hash;  /* of the result; -1: no summary */
    double number; /* an argument; 0: none */
    bool raises;
} told_op;

static void
write_side(const char *name, const told_op *ops, size_t count, uint64_t serial)
{
    op_film film = begin_ops(name);

    for (size_t i = 0; i < count; i++) {
        op_tensor one = {.serial = serial + 2 * i, .size = ops[i].size, .hash = 5},
                  two = {.serial = serial + 2 * i + 1,
                         .size = ops[i].size,
                         .nonfinite = ops[i].hash < 0 ? -1 : 0,
                         .hash = ops[i].hash};
        uint64_t took = tensor(&film, one);

        op(&film,
           (op_call){.function = ops[i].function,
                     .number = ops[i].number,
                     .raises = ops[i].raises,
                     .gave = tensor(&film, two)},
           &took, 1);
    }
    end_ops(&film);
}

static void
open_pair(pair *both, const told_op *left, size_t left_count, const told_op *right,
          size_t right_count, bool of_ops)
{
    const uint32_t threads[2] = {1, 1};

    write_side("a", left, left_count, 1);
    both->readers[0] = open_reader(path);
    unlink(path);
    write_side("b", right, right_count, 100); /* other serials: they do not count */
    both->readers[1] = open_reader(path);
    unlink(path);
    CHECK(film_run_diff_open(&both->run, both->readers, threads, of_ops, NULL, NULL) ==
          FILM_OK);
}

static void
close_pair(pair *both)
{
    film_run_diff_reset(&both->run);
    film_reader_close(both->readers[0]);
    film_reader_close(both->readers[1]);
}

/* In what the two events of a difference differ. */
static film_op_comparison
compare(pair *both, const film_difference *found)
{
    film_op_item items[2] = {{.kind = 0}, {.kind = 0}};
    film_op_comparison result;

    for (size_t i = 0; i < 2; i++) {
        film_cursor *cursor;
        const film_event *event;

        CHECK(film_cursor_open(both->readers[i], 1, found->first[i].number, &cursor,
                               NULL) == FILM_OK);
        CHECK(film_cursor_next(cursor, &event, NULL) == FILM_OK);
        CHECK(film_op_item_read(&items[i], both->readers[i], event, NULL) == FILM_OK);
        film_cursor_close(cursor);
    }
    result = film_op_compare(&items[0], &items[1], true);
    film_op_item_reset(&items[0]);
    film_op_item_reset(&items[1]);
    return result;
}

#define COUNT(ops) (sizeof(ops) / sizeof((ops)[0]))

static const told_op plain[] = {
    {.function = "torch.mm", .size = 4, .hash = 1},
    {.function = "torch.relu", .size = 4, .hash = 2},
    {.function = "torch.mul", .size = 4, .hash = 3, .number = 0.5},
    {.function = "torch.sum", .size = 1, .hash = 4}};

TEST(equal_runs_are_equal)
{
    pair both;
    film_difference found;

    open_pair(&both, plain, COUNT(plain), plain, COUNT(plain), true);
    CHECK(film_diff_next(&both.run.diff, &found, NULL) == FILM_END);
    CHECK_EQUAL(both.run.diff.equal, 2 * COUNT(plain));
    CHECK_EQUAL(both.run.diff.counted, COUNT(plain));
    close_pair(&both);
}

/* One op is another one: which aspect, at the op or at its end, and that the rest is the
 * same. */
static void
check_one(told_op other, film_op_aspect aspect, bool at_end, film_diff_kind kind)
{
    told_op changed[COUNT(plain)];
    film_difference found;
    film_op_comparison compared;
    uint64_t numbers[2];
    pair both;

    memcpy(changed, plain, sizeof(plain));
    changed[2] = other;
    open_pair(&both, plain, COUNT(plain), changed, COUNT(plain), true);
    CHECK(film_diff_next(&both.run.diff, &found, NULL) == FILM_OK);
    CHECK_EQUAL(found.kind, kind);
    CHECK_EQUAL(both.run.diff.equal, 4 + at_end);
    CHECK(film_diff_recent(&both.run.diff, 0, numbers));
    CHECK_EQUAL(numbers[0], found.first[0].number - 1);
    compared = compare(&both, &found);
    CHECK_EQUAL(compared.aspect, aspect);
    close_pair(&both);
}

TEST(what_differs_is_told)
{
    told_op other = plain[2];

    other.function = "torch.div";
    check_one(other, FILM_OP_FUNCTION, false, FILM_DIFF_KEY);
    other = plain[2];
    other.size = 5;
    check_one(other, FILM_OP_SHAPE, false, FILM_DIFF_SHAPE);
    other = plain[2];
    other.number = 0.25;
    check_one(other, FILM_OP_VALUE, false, FILM_DIFF_SHAPE);
    other.number = 0;
    check_one(other, FILM_OP_ARGUMENTS, false, FILM_DIFF_SHAPE);
    other = plain[2];
    other.hash = 77;
    check_one(other, FILM_OP_NUMBERS, true, FILM_DIFF_VALUES);
    other = plain[2];
    other.raises = true;
    check_one(other, FILM_OP_RAISED, true, FILM_DIFF_SHAPE);
}

/* Numbers are compared where both recordings tell them. */
TEST(numbers_that_one_does_not_tell_do_not_differ)
{
    told_op without[COUNT(plain)];
    film_difference found;
    pair both;

    memcpy(without, plain, sizeof(plain));
    for (size_t i = 0; i < COUNT(plain); i++) {
        without[i].hash = -1;
    }
    open_pair(&both, plain, COUNT(plain), without, COUNT(plain), true);
    CHECK(film_diff_next(&both.run.diff, &found, NULL) == FILM_END);
    close_pair(&both);
}

/* Memory that nothing was written to holds what was there before. */
TEST(blank_memory_is_not_compared)
{
    static const told_op left[] = {{.function = "torch.empty", .size = 4, .hash = 1}},
                         right[] = {{.function = "torch.empty", .size = 4, .hash = 2}};
    film_difference found;
    pair both;

    open_pair(&both, left, 1, right, 1, true);
    CHECK(film_diff_next(&both.run.diff, &found, NULL) == FILM_END);
    close_pair(&both);
}

TEST(after_more_ops_they_are_together_again)
{
    told_op longer[COUNT(plain) + 2];
    film_difference found;
    pair both;

    memcpy(longer, plain, sizeof(plain[0]));
    longer[1] = longer[2] =
        (told_op){.function = "torch.dropout", .size = 4, .hash = 1};
    memcpy(longer + 3, plain + 1, 3 * sizeof(plain[0]));
    longer[5].hash = 99;
    open_pair(&both, plain, COUNT(plain), longer, COUNT(longer), true);
    CHECK(film_diff_next(&both.run.diff, &found, NULL) == FILM_OK);
    CHECK(found.kind == FILM_DIFF_KEY && found.has[0] && found.has[1]);
    CHECK_EQUAL(found.counts[0], 0);
    CHECK_EQUAL(found.counts[1], 4);
    CHECK(film_diff_next(&both.run.diff, &found, NULL) == FILM_OK);
    CHECK(found.kind == FILM_DIFF_VALUES);
    CHECK(film_diff_next(&both.run.diff, &found, NULL) == FILM_END);
    close_pair(&both);
}

TEST(one_may_end_before_the_other)
{
    film_difference found;
    pair both;

    open_pair(&both, plain, 2, plain, COUNT(plain), true);
    CHECK(film_diff_next(&both.run.diff, &found, NULL) == FILM_OK);
    CHECK(!found.has[0] && found.has[1]);
    CHECK_EQUAL(found.counts[0], 0);
    CHECK_EQUAL(found.counts[1], 4);
    CHECK(film_diff_next(&both.run.diff, &found, NULL) == FILM_END);
    close_pair(&both);
}

TEST(serials_are_taken_out_of_texts)
{
    static const struct {
        const char *text, *plain;
    } cases[] = {{"<Cart #31>", "<Cart #>"},
                 {"[t17: f32[2], t18: f32[3]]", "[t: f32[2], t: f32[3]]"},
                 {"{'a': t3: i64[]}", "{'a': t: i64[]}"},
                 {"'#12'", "'#12'"},
                 {"t5", "t5"},
                 {"", ""},
                 {"part12: x", "part12: x"}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        film_buffer out = {0};
        film_text text = {cases[i].text, strlen(cases[i].text)};

        film_op_plain_text(&out, text);
        film_buffer_put_byte(&out, 0);
        CHECK(strcmp((const char *)out.data, cases[i].plain) == 0);
        film_buffer_reset(&out);
    }
}

/* --- control --- */

/* Lines 11 and 12 by turns, `lines` of them; at line `other` it is the same one again. */
static void
write_lines(const char *name, uint32_t lines, uint32_t other)
{
    op_film film = begin_ops(name);

    for (uint32_t i = 0; i < lines; i++) {
        CHECK(film_append_line(film.thread, 1 + 8 * ((i + (i == other)) % 2), false));
    }
    end_ops(&film);
}

TEST(control_is_compared_from_the_first_chunk_that_differs)
{
    const uint32_t threads[2] = {1, 1};
    film_difference found;
    pair both;

    write_lines("a", 50000, UINT32_MAX);
    both.readers[0] = open_reader(path);
    unlink(path);
    write_lines("b", 50000, 40000);
    both.readers[1] = open_reader(path);
    unlink(path);
    CHECK(film_run_diff_open(&both.run, both.readers, threads, false, NULL, NULL) ==
          FILM_OK);
    CHECK_EQUAL(both.run.skipped, 2 * FILM_CHUNK_EVENTS);
    CHECK(film_diff_next(&both.run.diff, &found, NULL) == FILM_OK);
    CHECK(found.kind == FILM_DIFF_KEY);
    CHECK_EQUAL(found.first[0].number, 3 + 40000);
    CHECK_EQUAL(found.counts[0], 1);
    CHECK_EQUAL(found.counts[1], 1);
    CHECK(film_diff_next(&both.run.diff, &found, NULL) == FILM_END);
    close_pair(&both);
}

/* Every allocation that can fail does, once. */
TEST(memory_may_run_out)
{
    const uint32_t threads[2] = {1, 1};
    uint64_t asked = UINT64_MAX;
    pair both;

    open_pair(&both, plain, COUNT(plain), plain, COUNT(plain), true);
    film_run_diff_reset(&both.run);
    for (uint64_t fail = 1; fail <= asked; fail++) {
        film_difference found;
        film_status status;

        film_alloc_fail_at(fail);
        status = film_run_diff_open(&both.run, both.readers, threads, true, NULL, NULL);
        while (status == FILM_OK) {
            status = film_diff_next(&both.run.diff, &found, NULL);
        }
        asked = film_alloc_fail_never();
        film_run_diff_reset(&both.run);
        CHECK(status == FILM_END || status == FILM_NO_MEMORY);
    }
    close_pair(&both);
}

int
main(int argc, char **argv)
{
    static const film_test tests[] = {
        TEST_ENTRY(equal_runs_are_equal),
        TEST_ENTRY(what_differs_is_told),
        TEST_ENTRY(numbers_that_one_does_not_tell_do_not_differ),
        TEST_ENTRY(blank_memory_is_not_compared),
        TEST_ENTRY(after_more_ops_they_are_together_again),
        TEST_ENTRY(one_may_end_before_the_other),
        TEST_ENTRY(serials_are_taken_out_of_texts),
        TEST_ENTRY(control_is_compared_from_the_first_chunk_that_differs),
        TEST_ENTRY(memory_may_run_out),
    };

    return run_tests(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
