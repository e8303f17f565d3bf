/* test_ranks.c: clocks of several hosts on one line, and collectives matched between
 * recordings that were written by hand.
 * SPDX-License-Identifier: Apache-2.0 */
#include "films.h"

#include <time.h>

#include "analysis/clocks.h"
#include "analysis/merge.h"
#include "analysis/rank_ends.h"
#include "analysis/rank_steps.h"
#include "analysis/ranks.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "files.h"
#include "format/collectives.h"
#include "writer/append.h"

#define RANKS 3
#define CLOCKS 5

TEST(the_middle_of_two_bounds)
{
    /* clock 1 is at most 700 ahead and 300 ahead at least */
    int64_t bounds[4] = {0, -300, 700, 0}, offsets[2], errors[2];

    film_clocks_solve(bounds, 2, offsets, errors);
    CHECK(offsets[0] == 0 && errors[0] == 0);
    CHECK(offsets[1] == 500 && errors[1] == 200);
}

TEST(one_bound_moves_a_clock_no_further_than_it_must)
{
    int64_t bounds[4] = {0, FILM_UNBOUNDED, -50, 0}, offsets[2], errors[2];

    film_clocks_solve(bounds, 2, offsets, errors);
    CHECK(offsets[1] == -50 && errors[1] == FILM_UNBOUNDED);
    bounds[2] = 50;
    film_clocks_solve(bounds, 2, offsets, errors);
    CHECK(offsets[1] == 0 && errors[1] == FILM_UNBOUNDED);
}

TEST(bounds_over_a_third_clock)
{
    const int64_t none = FILM_UNBOUNDED;
    /* 1 against 0: 90 to 110, 2 against 1: -10 to 30; 2 never met 0. */
    int64_t bounds[9] = {0, -90, none, 110, 0, 10, none, 30, 0}, offsets[3], errors[3];

    film_clocks_solve(bounds, 3, offsets, errors);
    CHECK(offsets[1] == 100 && errors[1] == 10);
    CHECK(offsets[2] == 110 && errors[2] == 30); /* 80 to 140 */
}

TEST(bounds_that_contradict_one_another_are_told)
{
    int64_t bounds[4] = {0, -300, 200, 0}, offsets[2], errors[2];

    film_clocks_solve(bounds, 2, offsets, errors);
    CHECK(errors[1] < 0);
    CHECK(offsets[1] == 250);
}

/* The same numbers in every run. */
static uint64_t
next_number(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Times at which clocks met, made up from offsets that are known: what is found must
 * satisfy every one, and lie no further from the truth than it says. */
TEST(many_meetings_of_clocks)
{
    uint64_t state = 15;

    for (int round = 0; round < 200; round++) {
        int64_t truth[CLOCKS] = {0}, offsets[CLOCKS], errors[CLOCKS];
        int64_t bounds[CLOCKS * CLOCKS], told[CLOCKS * CLOCKS];

        for (size_t i = 1; i < CLOCKS; i++) {
            truth[i] = (int64_t)(next_number(&state) % 2000000) - 1000000;
        }
        for (size_t i = 0; i < CLOCKS * CLOCKS; i++) {
            bounds[i] = FILM_UNBOUNDED;
        }
        for (int meeting = 0; meeting < 40; meeting++) {
            size_t a = next_number(&state) % CLOCKS, b = next_number(&state) % CLOCKS;
            int64_t slack = (int64_t)(next_number(&state) % 5000);
            int64_t bound = truth[a] - truth[b] + slack;

            if (a != b && bound < bounds[a * CLOCKS + b]) {
                bounds[a * CLOCKS + b] = bound;
            }
        }
        memcpy(told, bounds, sizeof(told));
        film_clocks_solve(bounds, CLOCKS, offsets, errors);
        for (size_t a = 0; a < CLOCKS; a++) {
            CHECK(errors[a] >= 0);
            CHECK(errors[a] == FILM_UNBOUNDED ||
                  llabs(offsets[a] - truth[a]) <= errors[a] + 1);
            for (size_t b = 0; b < CLOCKS; b++) {
                CHECK(told[a * CLOCKS + b] == FILM_UNBOUNDED ||
                      errors[a] == FILM_UNBOUNDED || errors[b] == FILM_UNBOUNDED ||
                      offsets[a] - offsets[b] <= told[a * CLOCKS + b] + 2);
            }
        }
    }
}

/* Some ranks' recordings, written side by side by one process. */
typedef struct job {
    char paths[RANKS][128];
    film_writer *writers[RANKS];
    film_thread *threads[RANKS];
    uint32_t barrier[RANKS], work[RANKS];
    const char *hosts[RANKS];
    int count;
} job;

static void
pause_us(long us)
{
    struct timespec wait = {0, us * 1000};

    nanosleep(&wait, NULL);
}

static void
begin(job *all, int count)
{
    all->count = count;
    for (int i = 0; i < count; i++) {
        film_writer_options options = {.path = all->paths[i], .replace = true};
        film_error error = {0};
        char name[32];
        film_code_record barrier = {.file = "distributed_c10d.py",
                                    .module = FILM_COLLECTIVES_MODULE,
                                    .qualname = "barrier",
                                    .name = "barrier",
                                    .first_line = 10};
        film_code_record work = {.file = "train.py",
                                 .module = "train",
                                 .qualname = "work",
                                 .name = "work",
                                 .first_line = 3};

        snprintf(name, sizeof(name), "rank%d", i);
        temporary_path(all->paths[i], sizeof(all->paths[i]), name);
        CHECK(film_writer_open(&options, &all->writers[i], &error) == FILM_OK);
        all->barrier[i] = film_writer_code(all->writers[i], &barrier);
        all->work[i] = film_writer_code(all->writers[i], &work);
        all->threads[i] = film_writer_thread_begin(all->writers[i], "MainThread", 77);
        CHECK(all->threads[i] != NULL);
        pause_us(300);
    }
}

static void
enter(job *all, int rank)
{
    CHECK(film_append_call(all->threads[rank], all->barrier[rank], 1));
}

static void
leave(job *all, int rank)
{
    CHECK(film_append_return(all->threads[rank], 2));
}

/* All come, one `late_us` after the others, and all leave. */
static void
meet(job *all, int late, long late_us)
{
    for (int i = 0; i < all->count; i++) {
        if (i != late) {
            enter(all, i);
        }
    }
    pause_us(late_us);
    enter(all, late);
    pause_us(20); /* what real ones take at least; clocks are read to some 50 ns */
    for (int i = 0; i < all->count; i++) {
        leave(all, i);
    }
}

static void
finish(job *all)
{
    for (int i = 0; i < all->count; i++) {
        char rank[24], world[24];
        film_meta_pair pairs[] = {
            {"rank", rank}, {"world_size", world}, {"host_hash", all->hosts[i]}};
        film_error error = {0};

        snprintf(rank, sizeof(rank), "%d", i);
        snprintf(world, sizeof(world), "%d", all->count);
        CHECK(film_writer_close(all->writers[i], pairs, 3, &error) == FILM_OK);
    }
}

static void
put_u64(uint8_t *to, uint64_t number)
{
    for (int i = 0; i < 8; i++) {
        to[i] = (uint8_t)(number >> 8 * i);
    }
}

static uint64_t
get_u64(const uint8_t *from)
{
    uint64_t number = 0;

    for (int i = 7; i >= 0; i--) {
        number = number << 8 | from[i];
    }
    return number;
}

/* What the recording would say if its host's clocks were wrong by that much. Returns
 * when it began by the clock as it is. */
static uint64_t
shift_clocks(const char *path, int64_t wall_ns, int64_t monotonic_ns)
{
    size_t length;
    uint8_t *bytes = read_file(path, &length);
    uint64_t started = get_u64(bytes + 48);

    put_u64(bytes + 40, get_u64(bytes + 40) + (uint64_t)wall_ns);
    put_u64(bytes + 48, started + (uint64_t)monotonic_ns);
    put_u64(bytes + 104, film_hash(bytes, 104));
    write_file(path, bytes, length);
    free(bytes);
    return started;
}

static void
open_all(job *all, film_recordings *set)
{
    char *paths[RANKS];
    film_error error = {0};

    for (int i = 0; i < all->count; i++) {
        paths[i] = all->paths[i];
    }
    if (film_recordings_open(set, paths, (size_t)all->count, &error) != FILM_OK) {
        fprintf(stderr, "%s\n", error.message);
        CHECK(false);
    }
    for (int i = 0; i < all->count; i++) {
        unlink(all->paths[i]);
    }
}

/* In the merged order nobody leaves a barrier before everybody has come to it. */
static void
check_order(const film_recordings *set)
{
    film_merge_range range = film_merge_everything();
    film_merge *merge;
    film_merged merged;
    film_error error = {0};
    size_t came[RANKS] = {0}, left[RANKS] = {0}, met = 0;

    CHECK(film_merge_open(set, &range, &merge, &error) == FILM_OK);
    while (film_merge_next(merge, &merged, &error) == FILM_OK) {
        if (merged.event->kind == FILM_KIND_CALL) {
            came[merged.recording]++;
        }
        else if (merged.event->kind == FILM_KIND_RETURN) {
            size_t number = ++left[merged.recording];

            for (size_t i = 0; i < set->count; i++) {
                CHECK(came[i] >= number);
            }
            met++;
        }
    }
    film_merge_close(merge);
    CHECK(met > 0);
}

TEST(one_host_needs_no_collectives)
{
    job all = {.hosts = {"aaaa", "aaaa", "aaaa"}};
    film_recordings set;
    uint64_t started[RANKS];

    begin(&all, RANKS);
    meet(&all, 1, 200);
    finish(&all);
    for (int i = 0; i < RANKS; i++) {
        /* The wall clock was set between the starts. */
        started[i] = shift_clocks(all.paths[i], i * INT64_C(-3600000000000), 0);
    }
    open_all(&all, &set);
    CHECK_EQUAL(set.host_count, 1);
    for (int i = 0; i < RANKS; i++) {
        CHECK_EQUAL(set.items[i].shift_ns, started[i] - started[0]);
        CHECK_EQUAL(set.items[i].rank, i);
    }
    CHECK(strcmp(set.items[2].label, "r2") == 0);
    check_order(&set);
    film_recordings_close(&set);
}

TEST(hosts_are_aligned_by_what_their_ranks_met_in)
{
    job all = {.hosts = {"aaaa", "bbbb", "cccc"}};
    film_recordings set;
    uint64_t started[RANKS];

    begin(&all, RANKS);
    for (int i = 0; i < 40; i++) {
        meet(&all, i % RANKS, 100);
    }
    finish(&all);
    /* Wall clocks are off by seconds, the others began with their hosts. */
    started[0] = shift_clocks(all.paths[0], 0, 0);
    started[1] =
        shift_clocks(all.paths[1], INT64_C(-7000000000), INT64_C(123456789012));
    started[2] = shift_clocks(all.paths[2], INT64_C(5000000000), INT64_C(-1000000000));
    open_all(&all, &set);
    CHECK_EQUAL(set.host_count, RANKS);
    CHECK_EQUAL(set.hosts[0].way, FILM_CLOCK_REFERENCE);
    for (int i = 1; i < RANKS; i++) {
        int64_t found = (int64_t)(set.items[i].shift_ns - set.items[0].shift_ns);
        int64_t truth = (int64_t)(started[i] - started[0]);

        CHECK_EQUAL(set.hosts[i].way, FILM_CLOCK_COLLECTIVES);
        CHECK_EQUAL(set.hosts[i].bounds, 40);
        CHECK(llabs(found - truth) <= (int64_t)set.hosts[i].error_ns + 1000);
        CHECK(set.hosts[i].error_ns < 100000000);
    }
    check_order(&set);
    film_recordings_close(&set);
}

TEST(without_collectives_the_wall_clock_counts)
{
    job all = {.hosts = {"aaaa", "bbbb"}};
    film_recordings set;

    begin(&all, 2);
    finish(&all);
    (void)shift_clocks(all.paths[1], INT64_C(9000000000), INT64_C(77000000000));
    open_all(&all, &set);
    CHECK_EQUAL(set.hosts[1].way, FILM_CLOCK_WALL);
    CHECK(set.items[1].shift_ns - set.items[0].shift_ns >= 9000000000u);
    CHECK(set.items[1].shift_ns - set.items[0].shift_ns < 19000000000u);
    film_recordings_close(&set);
}

TEST(the_slowest_rank_of_a_step)
{
    job all = {.hosts = {"aaaa", "aaaa", "aaaa"}};
    film_recordings set;
    film_ranks ranks = {0};
    film_rank_steps steps = {0};
    film_error error = {0};

    begin(&all, RANKS);
    for (int i = 0; i < 6; i++) {
        meet(&all, i == 4 ? 2 : 1, i == 4 ? 30000 : 50);
    }
    finish(&all);
    open_all(&all, &set);
    CHECK(film_ranks_read(&set, &ranks, &error) == FILM_OK);
    CHECK_EQUAL(ranks.count, RANKS);
    CHECK_EQUAL(ranks.world_size, RANKS);
    CHECK_EQUAL(ranks.groups[0].count, 6);
    CHECK(film_rank_steps_read(&ranks, NULL, &steps, &error) == FILM_OK);
    CHECK_EQUAL(steps.count, 5); /* nothing says when the first began */
    for (size_t i = 0; i < steps.count; i++) {
        if (steps.items[i].number == 4) {
            CHECK_EQUAL(steps.items[i].slowest, 2);
            CHECK(steps.items[i].slowest_ns >= 30000000);
            CHECK(steps.items[i].slowest_ns >= steps.items[i].others_ns + 10000000);
            CHECK(steps.items[i].waited_ns >= 40000000);
        }
    }
    film_rank_steps_reset(&steps);
    film_ranks_reset(&ranks);
    film_recordings_close(&set);
}

TEST(the_rank_that_did_not_come)
{
    job all = {.hosts = {"aaaa", "aaaa", "aaaa"}};
    film_recordings set;
    film_ranks ranks = {0};
    film_rank_ends ends = {0};
    film_error error = {0};

    begin(&all, RANKS);
    meet(&all, 0, 50);
    enter(&all, 0);
    enter(&all, 2);
    CHECK(film_append_call(all.threads[1], all.work[1], 1));
    finish(&all);
    open_all(&all, &set);
    CHECK(film_ranks_read(&set, &ranks, &error) == FILM_OK);
    CHECK(film_rank_ends_read(&ranks, &ends, &error) == FILM_OK);
    CHECK_EQUAL(ends.unfinished_count, 1);
    CHECK_EQUAL(ends.unfinished[0].number, 1);
    CHECK_EQUAL(ends.unfinished[0].waiting, 2);
    CHECK_EQUAL(ends.unfinished[0].missing, 1);
    CHECK(film_ranks_met(&ranks, ends.unfinished[0].group, 1, 1) == NULL);
    CHECK(ends.items[0].within != NULL && ends.items[1].within == NULL);
    CHECK_EQUAL(ends.items[1].depth, 1);
    CHECK(film_reader_code(set.items[1].reader, ends.items[1].frames[0].code)
              ->name.data[0] == 'w');
    film_rank_ends_reset(&ends);
    film_ranks_reset(&ranks);
    film_recordings_close(&set);
}

TEST(memory_runs_out_anywhere)
{
    job all = {.hosts = {"aaaa", "bbbb", "cccc"}};
    film_error error = {0};
    char *paths[RANKS];
    bool whole = false;

    begin(&all, RANKS);
    for (int i = 0; i < 4; i++) {
        meet(&all, i % RANKS, 50);
        paths[i % RANKS] = all.paths[i % RANKS];
    }
    finish(&all);
    for (uint64_t at = 1; !whole; at++) {
        film_recordings set = {0};
        film_ranks ranks = {0};
        film_rank_steps steps = {0}, calls = {0};
        film_rank_ends ends = {0};

        film_alloc_fail_at(at);
        if (film_recordings_open(&set, paths, RANKS, &error) == FILM_OK) {
            whole = film_ranks_read(&set, &ranks, &error) == FILM_OK &&
                    film_rank_steps_read(&ranks, NULL, &steps, &error) == FILM_OK &&
                    film_rank_steps_read(&ranks, "work", &calls, &error) == FILM_OK &&
                    film_rank_ends_read(&ranks, &ends, &error) == FILM_OK;
        }
        film_alloc_fail_never();
        film_rank_ends_reset(&ends);
        film_rank_steps_reset(&steps);
        film_rank_steps_reset(&calls);
        film_ranks_reset(&ranks);
        film_recordings_close(&set);
        CHECK(at < 100000);
    }
    for (int i = 0; i < RANKS; i++) {
        unlink(all.paths[i]);
    }
}

int
main(int argc, char **argv)
{
    static const film_test tests[] = {
        TEST_ENTRY(the_middle_of_two_bounds),
        TEST_ENTRY(one_bound_moves_a_clock_no_further_than_it_must),
        TEST_ENTRY(bounds_over_a_third_clock),
        TEST_ENTRY(bounds_that_contradict_one_another_are_told),
        TEST_ENTRY(many_meetings_of_clocks),
        TEST_ENTRY(one_host_needs_no_collectives),
        TEST_ENTRY(hosts_are_aligned_by_what_their_ranks_met_in),
        TEST_ENTRY(without_collectives_the_wall_clock_counts),
        TEST_ENTRY(the_slowest_rank_of_a_step),
        TEST_ENTRY(the_rank_that_did_not_come),
        TEST_ENTRY(memory_runs_out_anywhere),
    };

    return run_tests(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
