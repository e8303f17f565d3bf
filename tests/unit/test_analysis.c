/* test_analysis.c: balance, statistics, stacks and merging over small recordings whose
 * content is known.
 * SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <fcntl.h>

#include <filmstrip/filmstrip.h>

#include "analysis/activity.h"
#include "analysis/call_tree.h"
#include "analysis/duration_filter.h"
#include "analysis/merge.h"
#include "analysis/selection.h"
#include "analysis/statistics.h"
#include "base/alloc.h"
#include "writer/append.h"
#include "writer/writer.h"

enum { MAIN, FACT, GEN, EVEN, ODD, FUNCTIONS };

static const char *const function_names[] = {"main", "fact", "gen", "even", "odd"};

typedef struct film_under_test {
    char path[64];
    film_writer *writer;
    film_thread *thread;
    uint32_t codes[FUNCTIONS];
} film_under_test;

static void
begin(film_under_test *film)
{
    film_writer_options options = {.path = film->path, .replace = true};
    film_error error = {0};

    snprintf(film->path, sizeof(film->path), "analysis-%d.film", (int)getpid());
    CHECK(film_writer_open(&options, &film->writer, &error) == FILM_OK);
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        film_code_record code = {.file = "m.py",
                                 .module = "m",
                                 .qualname = function_names[i],
                                 .name = function_names[i],
                                 .first_line = 10 * (i + 1)};
        film->codes[i] = film_writer_code(film->writer, &code);
        CHECK(film->codes[i] != UINT32_MAX);
    }
    film->thread = film_writer_thread_begin(film->writer, "MainThread", 77);
    CHECK(film->thread != NULL);
}

static uint64_t
call(film_under_test *film, int function)
{
    uint64_t frame = film_thread_next_frame(film->thread);

    CHECK(film_append_call(film->thread, film->codes[function], 1));
    return frame;
}

static void
leave(film_under_test *film)
{
    CHECK(film_append_return(film->thread, 2));
}

static void
finish(film_under_test *film, film_recordings *set)
{
    film_error error = {0};
    char *paths[] = {film->path};

    CHECK(film_writer_close(film->writer, NULL, 0, &error) == FILM_OK);
    CHECK(film_recordings_open(set, paths, 1, &error) == FILM_OK);
    unlink(film->path);
}

/* Enters, leaves, and that no leave comes without its enter. */
static void
check_balance(const film_recordings *set, size_t *entered, size_t *supplied)
{
    film_activity *activity;
    film_step step;
    film_status status;
    size_t open = 0;
    uint64_t last_ns = 0;

    *entered = *supplied = 0;
    CHECK(film_activity_open(set, 0, 1, &activity, NULL) == FILM_OK);
    while ((status = film_activity_next(activity, &step, NULL)) == FILM_OK) {
        CHECK(step.time_ns >= last_ns);
        last_ns = step.time_ns;
        if (step.kind == FILM_STEP_ENTER) {
            open++;
            ++*entered;
        }
        else if (step.kind == FILM_STEP_LEAVE) {
            CHECK(open > 0);
            open--;
        }
        *supplied += step.event == NULL;
    }
    CHECK(status == FILM_END);
    CHECK_EQUAL(open, 0);
    film_activity_close(activity);
}

static film_tally
tally_of(const film_functions *functions, const film_statistics *statistics,
         int function)
{
    film_tally none = {0};
    size_t count;
    const film_tally *tallies = film_statistics_functions(statistics, &count);

    for (size_t i = 0; i < count; i++) {
        if (strcmp(functions->items[i].name.data, function_names[function]) == 0) {
            return tallies[i];
        }
    }
    return none;
}

static film_tally
edge_of(const film_functions *functions, const film_statistics *statistics, int caller,
        int callee)
{
    film_tally none = {0};
    size_t count;
    const film_edge *edges = film_statistics_edges(statistics, &count);

    for (size_t i = 0; i < count; i++) {
        if (strcmp(functions->items[edges[i].caller].name.data,
                   function_names[caller]) == 0 &&
            strcmp(functions->items[edges[i].callee].name.data,
                   function_names[callee]) == 0) {
            return edges[i].tally;
        }
    }
    return none;
}

static void
add_up(const film_recordings *set, film_functions *functions, film_statistics **out)
{
    CHECK(film_functions_init(functions, set, NULL) == FILM_OK);
    CHECK(film_statistics_new(functions, out, NULL) == FILM_OK);
    CHECK(film_statistics_add_all(*out, NULL) == FILM_OK);
}

/* cProfile on the same program: fact 5/1, fact->fact 4/1; even 5/2, odd 6/2,
 * odd->even 4/2, even->odd 5/2. */
TEST(recursion_is_counted_as_cprofile_does)
{
    film_under_test film;
    film_recordings set;
    film_functions functions;
    film_statistics *statistics;
    film_tally tally;

    begin(&film);
    call(&film, MAIN);
    for (int i = 0; i < 5; i++) {
        call(&film, FACT);
    }
    for (int i = 0; i < 5; i++) {
        leave(&film);
    }
    for (int i = 0; i < 6; i++) { /* even(5) -> odd -> ... */
        call(&film, i % 2 == 0 ? EVEN : ODD);
    }
    for (int i = 0; i < 6; i++) {
        leave(&film);
    }
    for (int i = 0; i < 5; i++) { /* odd(4) -> even -> ... */
        call(&film, i % 2 == 0 ? ODD : EVEN);
    }
    for (int i = 0; i < 5; i++) {
        leave(&film);
    }
    leave(&film);
    finish(&film, &set);
    add_up(&set, &functions, &statistics);

    tally = tally_of(&functions, statistics, FACT);
    CHECK_EQUAL(tally.calls, 5);
    CHECK_EQUAL(tally.primitive_calls, 1);
    tally = edge_of(&functions, statistics, FACT, FACT);
    CHECK_EQUAL(tally.activations, 4);
    CHECK_EQUAL(tally.primitive_activations, 1);
    tally = tally_of(&functions, statistics, EVEN);
    CHECK_EQUAL(tally.activations, 5);
    CHECK_EQUAL(tally.primitive_activations, 2);
    tally = tally_of(&functions, statistics, ODD);
    CHECK_EQUAL(tally.activations, 6);
    CHECK_EQUAL(tally.primitive_activations, 2);
    tally = edge_of(&functions, statistics, ODD, EVEN);
    CHECK_EQUAL(tally.activations, 4);
    CHECK_EQUAL(tally.primitive_activations, 2);
    tally = edge_of(&functions, statistics, EVEN, ODD);
    CHECK_EQUAL(tally.activations, 5);
    CHECK_EQUAL(tally.primitive_activations, 2);
    /* All time lies below main, and own times add up to it. */
    CHECK_EQUAL(tally_of(&functions, statistics, MAIN).total_ns,
                film_statistics_own_ns(statistics));

    film_statistics_free(statistics);
    film_functions_reset(&functions);
    film_recordings_close(&set);
}

TEST(generators_are_called_once_and_run_often)
{
    film_under_test film;
    film_recordings set;
    film_functions functions;
    film_statistics *statistics;
    film_tally tally;
    uint64_t frame;

    begin(&film);
    call(&film, MAIN);
    frame = call(&film, GEN);
    CHECK(film_append_yield(film.thread, 3));
    CHECK(film_append_resume(film.thread, frame, film.codes[GEN], 3, 1));
    CHECK(film_append_yield(film.thread, 4));
    CHECK(film_append_throw(film.thread, frame, film.codes[GEN], 4, 1, 0, 0));
    CHECK(film_append_exception(film.thread, FILM_KIND_UNWIND, 4, 0, 0));
    leave(&film);
    finish(&film, &set);
    add_up(&set, &functions, &statistics);
    tally = tally_of(&functions, statistics, GEN);
    CHECK_EQUAL(tally.calls, 1);
    CHECK_EQUAL(tally.activations, 3);
    CHECK_EQUAL(tally.primitive_activations, 3);
    film_statistics_free(statistics);
    film_functions_reset(&functions);
    film_recordings_close(&set);
}

TEST(frames_left_open_are_closed_at_the_end)
{
    film_under_test film;
    film_recordings set;
    size_t entered, supplied;

    begin(&film);
    for (int i = 0; i < 20; i++) {
        call(&film, FACT);
    }
    finish(&film, &set);
    check_balance(&set, &entered, &supplied);
    CHECK_EQUAL(entered, 20);
    CHECK_EQUAL(supplied, 20);
    film_recordings_close(&set);
}

TEST(adopted_dropped_and_refocused_frames_balance)
{
    film_under_test film;
    film_recordings set;
    film_functions functions;
    film_statistics *statistics;
    size_t entered, supplied;

    begin(&film);
    CHECK(film_append_adopt(film.thread, film.codes[MAIN], 5));
    call(&film, FACT);
    call(&film, EVEN);
    CHECK(film_append_drop(film.thread, 0)); /* even ended unseen */
    call(&film, ODD);
    CHECK(film_append_focus(film.thread, 1)); /* fact runs on, odd waits */
    leave(&film);
    leave(&film);
    leave(&film);
    finish(&film, &set);
    check_balance(&set, &entered, &supplied);
    CHECK(entered >= 4);
    add_up(&set, &functions, &statistics);
    CHECK_EQUAL(tally_of(&functions, statistics, MAIN).calls, 0);
    CHECK_EQUAL(tally_of(&functions, statistics, FACT).calls, 1);
    CHECK_EQUAL(tally_of(&functions, statistics, EVEN).calls, 1);
    CHECK_EQUAL(tally_of(&functions, statistics, ODD).calls, 1);
    film_statistics_free(statistics);
    film_functions_reset(&functions);
    film_recordings_close(&set);
}

TEST(c_functions_are_entered_and_left)
{
    film_under_test film;
    film_recordings set;
    size_t entered, supplied;
    uint32_t sort;

    begin(&film);
    sort = film_writer_string(film.writer, "list.sort", 9);
    call(&film, MAIN);
    CHECK(film_append_c(film.thread, FILM_KIND_C_CALL, sort, 3));
    call(&film, EVEN); /* a key function, called by the C function */
    leave(&film);
    CHECK(film_append_c(film.thread, FILM_KIND_C_RETURN, sort, 3));
    CHECK(film_append_c(film.thread, FILM_KIND_C_CALL, sort,
                        4)); /* its end is not seen */
    leave(&film);
    finish(&film, &set);
    check_balance(&set, &entered, &supplied);
    CHECK_EQUAL(entered, 4);
    CHECK_EQUAL(supplied, 1);
    film_recordings_close(&set);
}

TEST(random_calls_balance_and_agree)
{
    film_under_test film;
    film_recordings set;
    film_functions functions;
    film_statistics *statistics;
    film_call_tree *tree;
    uint64_t calls[FUNCTIONS] = {0};
    uint64_t own_ns = 0;
    size_t count, depth = 0;
    const film_call_node *nodes;

    begin(&film);
    srand(7);
    for (int i = 0; i < 100000; i++) {
        if (depth == 0 || (depth < 50 && rand() % 2 == 0)) {
            int function = rand() % FUNCTIONS;
            call(&film, function);
            calls[function]++;
            depth++;
        }
        else {
            leave(&film);
            depth--;
        }
    }
    finish(&film, &set);
    add_up(&set, &functions, &statistics);
    for (int i = 0; i < FUNCTIONS; i++) {
        CHECK_EQUAL(tally_of(&functions, statistics, i).calls, calls[i]);
    }
    CHECK(film_call_tree_new(&functions, &tree, NULL) == FILM_OK);
    CHECK(film_call_tree_add_thread(tree, 0, 1, NULL) == FILM_OK);
    nodes = film_call_tree_nodes(tree, &count);
    for (size_t i = 1; i < count; i++) {
        CHECK(nodes[i].parent < i);
        own_ns += nodes[i].own_ns;
    }
    CHECK_EQUAL(own_ns, film_statistics_own_ns(statistics));
    film_call_tree_free(tree);
    film_statistics_free(statistics);
    film_functions_reset(&functions);
    film_recordings_close(&set);
}

TEST(merged_events_come_in_order_of_time)
{
    film_under_test film;
    film_recordings set;
    film_merge *merge;
    film_merged merged;
    film_merge_range range = film_merge_everything();
    film_thread *threads[3];
    uint64_t seen[3] = {0}, last_ns = 0, total = 0, expected = 0;
    film_status status;

    begin(&film);
    threads[0] = film.thread;
    threads[1] = film_writer_thread_begin(film.writer, "second", 78);
    threads[2] = film_writer_thread_begin(film.writer, "third", 79);
    for (int i = 0; i < 60000; i++) {
        film.thread = threads[rand() % 3];
        call(&film, MAIN);
        leave(&film);
    }
    finish(&film, &set);
    CHECK(film_merge_open(&set, &range, &merge, NULL) == FILM_OK);
    while ((status = film_merge_next(merge, &merged, NULL)) == FILM_OK) {
        CHECK(merged.time_ns >= last_ns);
        last_ns = merged.time_ns;
        CHECK_EQUAL(merged.event->number, seen[merged.event->thread - 1]);
        seen[merged.event->thread - 1]++;
        if (total == 40000) {
            range.from_ns = merged.time_ns;
        }
        expected += total >= 40000 && merged.event->thread == 2 &&
                    (total < 80000 || merged.time_ns == range.to_ns);
        if (total == 80000) {
            range.to_ns = merged.time_ns;
            expected += merged.event->thread == 2;
        }
        total++;
    }
    CHECK(status == FILM_END);
    CHECK_EQUAL(total, film_reader_info(set.items[0].reader)->events);
    film_merge_close(merge);

    /* A range in the middle gives exactly its events. */
    range.thread = 2;
    total = 0;
    CHECK(film_merge_open(&set, &range, &merge, NULL) == FILM_OK);
    while (film_merge_next(merge, &merged, NULL) == FILM_OK) {
        CHECK(merged.time_ns >= range.from_ns && merged.time_ns <= range.to_ns);
        CHECK_EQUAL(merged.event->thread, 2);
        total++;
    }
    /* Events of the very first moment may stand before the one that was noted. */
    CHECK(total >= expected && total < expected + 100 && expected > 5000);
    film_merge_close(merge);
    film_recordings_close(&set);
}

static void
count_taken(void *context, const film_merged *merged)
{
    uint64_t *taken = context;

    taken[merged->event->kind]++;
}

TEST(short_calls_are_left_out)
{
    film_under_test film;
    film_recordings set;
    film_merge *merge;
    film_merged merged;
    film_merge_range range = film_merge_everything();
    film_duration_filter *filter;
    uint64_t taken[256] = {0};

    begin(&film);
    call(&film, MAIN);
    for (int i = 0; i < 1000; i++) {
        call(&film, EVEN);
        leave(&film);
    }
    call(&film, ODD);
    usleep(60000);
    leave(&film);
    leave(&film);
    finish(&film, &set);
    CHECK(film_duration_filter_new(&set, 50000000, &filter, NULL) == FILM_OK);
    CHECK(film_merge_open(&set, &range, &merge, NULL) == FILM_OK);
    while (film_merge_next(merge, &merged, NULL) == FILM_OK) {
        CHECK(film_duration_filter_add(filter, &merged, count_taken, taken, NULL) ==
              FILM_OK);
    }
    film_duration_filter_finish(filter, film_recordings_end_ns(&set), count_taken,
                                taken);
    CHECK_EQUAL(taken[FILM_KIND_CALL], 2);
    CHECK_EQUAL(taken[FILM_KIND_RETURN], 2);
    film_duration_filter_free(filter);
    film_merge_close(merge);
    film_recordings_close(&set);
}

TEST(functions_are_chosen_by_glob_and_depth)
{
    film_under_test film;
    film_recordings set;
    film_selection selection;
    film_event event = {.frame = 1, .depth = 3};
    char pattern[] = "m.e*", bare[] = "fact";
    char *patterns[] = {pattern, bare};

    begin(&film);
    call(&film, MAIN);
    finish(&film, &set);
    CHECK(film_selection_init(&selection, &set, NULL) == FILM_OK);
    CHECK(film_selection_takes_code(&selection, 0, film.codes[MAIN]));
    selection.patterns = patterns;
    selection.pattern_count = 2;
    CHECK(!film_selection_takes_code(&selection, 0, film.codes[MAIN]));
    CHECK(film_selection_takes_code(&selection, 0, film.codes[EVEN]));
    CHECK(film_selection_takes_code(&selection, 0, film.codes[FACT]));
    CHECK(!film_selection_takes_code(&selection, 0, 4000000000u));
    event.code = film.codes[EVEN];
    CHECK(film_selection_takes(&selection, 0, &event));
    selection.depth = 3;
    CHECK(!film_selection_takes(&selection, 0, &event));
    film_selection_reset(&selection);
    film_recordings_close(&set);
}

/* Every allocation fails once: a status comes back, nothing leaks or crashes. */
TEST(statistics_survive_without_memory)
{
    film_under_test film;
    film_recordings set;
    film_status status = FILM_NO_MEMORY;

    begin(&film);
    for (int i = 0; i < 40; i++) {
        call(&film, i % FUNCTIONS);
    }
    finish(&film, &set);
    for (uint64_t n = 1; status != FILM_OK; n++) {
        film_functions functions;
        film_statistics *statistics = NULL;

        CHECK(n < 10000);
        film_alloc_fail_at(n);
        status = film_functions_init(&functions, &set, NULL);
        if (status == FILM_OK) {
            status = film_statistics_new(&functions, &statistics, NULL);
        }
        if (status == FILM_OK) {
            status = film_statistics_add_all(statistics, NULL);
        }
        film_alloc_fail_never();
        CHECK(status == FILM_OK || status == FILM_NO_MEMORY);
        film_statistics_free(statistics);
        film_functions_reset(&functions);
    }
    film_recordings_close(&set);
}

int
main(int argc, char **argv)
{
    static const film_test tests[] = {
        TEST_ENTRY(recursion_is_counted_as_cprofile_does),
        TEST_ENTRY(generators_are_called_once_and_run_often),
        TEST_ENTRY(frames_left_open_are_closed_at_the_end),
        TEST_ENTRY(adopted_dropped_and_refocused_frames_balance),
        TEST_ENTRY(c_functions_are_entered_and_left),
        TEST_ENTRY(random_calls_balance_and_agree),
        TEST_ENTRY(merged_events_come_in_order_of_time),
        TEST_ENTRY(short_calls_are_left_out),
        TEST_ENTRY(functions_are_chosen_by_glob_and_depth),
        TEST_ENTRY(statistics_survive_without_memory),
    };

    return run_tests(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
