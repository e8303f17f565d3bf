/* test_timeline.c: state at a moment, movement and searches, on films written through
 * the writer's own interface.
 * SPDX-License-Identifier: Apache-2.0 */
#include "timeline_films.h"

#include "analysis/breakpoints.h"
#include "analysis/questions.h"
#include "analysis/timeline.h"
#include "format/token.h"
#include "writer/append.h"

TEST(variables_are_known_in_every_chunk)
{
    uint64_t last = write_long(20000);
    film opened = open_film();
    const film_stack_frame *frames;
    size_t depth;

    CHECK(last > 5 * FILM_CHUNK_EVENTS);
    for (uint64_t turn = 0; turn < 20000; turn += 613) {
        uint64_t event = 4 + turn * 5 + 3; /* the set in inner */
        char wanted[32];
        CHECK(film_timeline_stack(opened.timeline, film_moment_of(1, event), &frames,
                                  &depth, NULL) == FILM_OK);
        CHECK_EQUAL(depth, 2);
        CHECK_EQUAL(frames[0].entered, 1);
        CHECK_EQUAL(frames[1].line, 102);
        CHECK(strcmp(text_at(&opened, event, 0, "a"), "1") == 0);
        CHECK(strcmp(text_at(&opened, event, 0, "x"), "77") == 0);
        CHECK(strcmp(text_at(&opened, event, 0, "y"), "-") == 0);
        snprintf(wanted, sizeof(wanted), "%d", (int)turn);
        CHECK(strcmp(text_at(&opened, event, 1, "a"), wanted) == 0);
        snprintf(wanted, sizeof(wanted), "%d", (int)turn * 10);
        CHECK(strcmp(text_at(&opened, event, 1, "y"), wanted) == 0);
        CHECK(strcmp(text_at(&opened, event - 1, 1, "y"), "-") == 0);
    }
    close_film(&opened);
}

static film_moment
move(const film *opened, film_moment from, film_move how, film_stop_reason wanted)
{
    film_stop stop;

    CHECK(film_timeline_move(opened->timeline, from, how, NULL, &stop, NULL) ==
          FILM_OK);
    CHECK_EQUAL(stop.reason, wanted);
    return stop.moment;
}

TEST(moves_have_mirrors)
{
    uint64_t last = write_long(20000);
    film opened = open_film();
    film_moment first_line = film_moment_of(1, 2), at;

    /* Over all calls of the loop's line, one after the other. */
    at = move(&opened, first_line, FILM_MOVE_NEXT, FILM_STOP_ARRIVED);
    CHECK_EQUAL(at.event, 4);
    CHECK_EQUAL(move(&opened, at, FILM_MOVE_BACK_NEXT, FILM_STOP_ARRIVED).event, 2);
    CHECK_EQUAL(move(&opened, at, FILM_MOVE_LINE, FILM_STOP_ARRIVED).event, 6);
    at = film_moment_of(1, 6);
    CHECK_EQUAL(move(&opened, at, FILM_MOVE_OUT, FILM_STOP_ARRIVED).event, 9);
    CHECK_EQUAL(move(&opened, at, FILM_MOVE_BACK_OUT, FILM_STOP_ARRIVED).event, 4);
    CHECK_EQUAL(move(&opened, at, FILM_MOVE_CALL, FILM_STOP_ARRIVED).event, 5);
    CHECK_EQUAL(move(&opened, at, FILM_MOVE_RETURN, FILM_STOP_ARRIVED).event, 8);
    CHECK_EQUAL(move(&opened, first_line, FILM_MOVE_RETURN, FILM_STOP_ARRIVED).event,
                last);
    CHECK_EQUAL(
        move(&opened, film_moment_of(1, last), FILM_MOVE_CALL, FILM_STOP_ARRIVED).event,
        1);
    move(&opened, first_line, FILM_MOVE_RAISE, FILM_STOP_AT_END);
    move(&opened, film_moment_of(1, 0), FILM_MOVE_BACK, FILM_STOP_AT_START);
    for (uint64_t event = 0; event < last; event += 97) {
        film_moment there = film_moment_of(1, event);
        film_moment next = move(&opened, there, FILM_MOVE_STEP, FILM_STOP_ARRIVED);
        CHECK_EQUAL(next.event, event + 1);
        CHECK_EQUAL(move(&opened, next, FILM_MOVE_BACK, FILM_STOP_ARRIVED).event,
                    event);
    }
    close_film(&opened);
}

TEST(the_last_write_is_found_far_back)
{
    uint64_t last = write_long(20000);
    film opened = open_film();
    film_target target;
    film_written written;
    film_stop stop;
    film_error error = {0};

    CHECK(film_target_parse(opened.timeline, film_moment_of(1, last - 3), 0, "x",
                            &target, &error) == FILM_OK);
    CHECK(film_find_write(opened.timeline, &target, film_moment_of(1, last - 3), true,
                          NULL, &written, &stop, NULL) == FILM_OK);
    CHECK_EQUAL(stop.reason, FILM_STOP_ARRIVED);
    CHECK_EQUAL(stop.moment.event, 3);
    CHECK_EQUAL(written.line, 12);
    /* An argument that was never written to was written by the call. */
    CHECK(film_target_parse(opened.timeline, film_moment_of(1, last - 3), 0, "b",
                            &target, &error) == FILM_OK);
    CHECK(film_find_write(opened.timeline, &target, film_moment_of(1, last - 3), true,
                          NULL, &written, &stop, NULL) == FILM_OK);
    CHECK_EQUAL(stop.moment.event, 1);
    CHECK(written.argument);
    close_film(&opened);
}

TEST(continue_goes_both_ways)
{
    uint64_t last = write_long(20000);
    film opened = open_film();
    film_breakpoint list[] = {
        {.kind = FILM_BREAK_LINE, .file = "m.py", .line = 12},
        {.kind = FILM_BREAK_LINE,
         .file = "m.py",
         .line = 102,
         .condition = "a == 15000"},
    };
    film_breakpoints *set;
    film_stop stop;
    size_t bad;

    CHECK(film_breakpoints_make(opened.timeline, list, 1, &set, &bad, NULL) == FILM_OK);
    CHECK(film_breakpoints_continue(set, film_moment_of(1, last), true, false, NULL,
                                    NULL, NULL, &stop, NULL) == FILM_OK);
    CHECK_EQUAL(stop.reason, FILM_STOP_BREAKPOINT);
    CHECK_EQUAL(stop.moment.event, 2);
    film_breakpoints_free(set);
    CHECK(film_breakpoints_make(opened.timeline, &list[1], 1, &set, &bad, NULL) ==
          FILM_OK);
    for (unsigned back = 0; back < 2; back++) {
        CHECK(film_breakpoints_continue(set, film_moment_of(1, back ? last : 0), back,
                                        false, NULL, NULL, NULL, &stop,
                                        NULL) == FILM_OK);
        CHECK_EQUAL(stop.reason, FILM_STOP_BREAKPOINT);
        CHECK_EQUAL(stop.moment.event, 4 + 15000 * 5 + 2);
    }
    film_breakpoints_free(set);
    list[0].condition = "a ==";
    CHECK(film_breakpoints_make(opened.timeline, list, 1, &set, &bad, NULL) ==
          FILM_MISUSE);
    close_film(&opened);
}

/* A generator that sleeps over chunks has what it held when it is resumed. */
TEST(generators_keep_their_variables)
{
    film_writer *writer = begin(0);
    uint32_t outer = add_code(writer, "outer", 10, 0);
    uint32_t source = add_code(writer, "source", 200, 0x20);
    film_thread *thread = film_writer_thread_begin(writer, "main", 1);
    uint64_t frame, resumed;
    film opened;

    call(thread, outer, 1, 2);
    frame = film_thread_next_frame(thread);
    call(thread, source, 3, 4);
    CHECK(film_append_line(thread, 8, false));
    set_int(thread, 2, 33);
    CHECK(film_append_yield(thread, 10));
    for (uint32_t i = 0; i < 3 * FILM_CHUNK_EVENTS; i++) {
        CHECK(film_append_line(thread, 16, false));
    }
    CHECK(film_append_resume(thread, frame, source, 10, 1));
    resumed = thread->events;
    CHECK(film_append_line(thread, 16, false));
    set_int(thread, 3, 44);
    CHECK(film_append_yield(thread, 20));
    CHECK(film_append_resume(thread, frame, source, 20, 1));
    CHECK(film_append_line(thread, 24, false));
    CHECK(film_writer_close(writer, NULL, 0, NULL) == FILM_OK);
    opened = open_film();
    CHECK(strcmp(text_at(&opened, resumed, 1, "x"), "33") == 0);
    CHECK(strcmp(text_at(&opened, resumed, 1, "a"), "3") == 0);
    CHECK(strcmp(text_at(&opened, resumed, 1, "y"), "-") == 0);
    CHECK(strcmp(text_at(&opened, resumed + 4, 1, "y"), "44") == 0);
    CHECK(strcmp(text_at(&opened, resumed + 4, 1, "x"), "33") == 0);
    /* The next line of its own lies behind everything the caller did. */
    CHECK_EQUAL(
        move(&opened, film_moment_of(1, 3), FILM_MOVE_NEXT, FILM_STOP_ARRIVED).event,
        resumed);
    close_film(&opened);
}

static void
put_token(film_thread *thread, film_set_form form, uint32_t number, uint64_t owner,
          int64_t key, int64_t value)
{
    uint8_t tokens[3 * FILM_TOKEN_MAX], *to;

    to = film_token_put_value(tokens, FILM_TOKEN_OBJECT, owner);
    if (form == FILM_SET_ITEM) {
        to = film_token_put_int(to, key);
    }
    to = film_token_put_int(to, value);
    CHECK(film_append_set(thread, form, number, tokens, (size_t)(to - tokens)));
}

/* Two threads: what the other one wrote counts once it has. */
TEST(objects_are_what_threads_made_of_them)
{
    static const uint8_t items[] = {1, 2, 3};
    film_writer *writer = begin(0);
    uint32_t code = add_code(writer, "work", 10, 0);
    film_thread *one = film_writer_thread_begin(writer, "main", 1);
    film_thread *two = film_writer_thread_begin(writer, "other", 2);
    uint64_t list = put_list(writer, 9, items, 3);
    uint8_t token[FILM_TOKEN_MAX];
    size_t length =
        (size_t)(film_token_put_value(token, FILM_TOKEN_VALUE, list) - token);
    film opened;
    film_moment other;

    call(one, code, 1, 2);
    CHECK(film_append_set(one, FILM_SET_LOCAL, 2, token, length)); /* 1:2 */
    CHECK(film_append_line(one, 8, false));                        /* 1:3 */
    call(two, code, 1, 2);
    CHECK(film_append_line(two, 8, false));
    put_token(two, FILM_SET_ITEM, 0, list, 0, 50);
    CHECK(film_append_line(two, 16, false));
    CHECK(film_append_line(one, 16, false)); /* 1:4 */
    put_token(one, FILM_SET_ITEM, 0, list, -1, 60);
    CHECK(film_append_line(one, 24, false)); /* 1:6 */
    CHECK(film_writer_close(writer, NULL, 0, NULL) == FILM_OK);
    opened = open_film();
    CHECK(strcmp(text_at(&opened, 2, 0, "x"), "[1, 2, 3]") == 0);
    CHECK(strcmp(text_at(&opened, 3, 0, "x"), "[1, 2, 3]") == 0);
    CHECK(strcmp(text_at(&opened, 4, 0, "x"), "[50, 2, 3]") == 0);
    CHECK(strcmp(text_at(&opened, 6, 0, "x"), "[50, 2, 60]") == 0);
    /* While the second thread ran, the first stood at its line. */
    CHECK(film_timeline_other_thread(opened.timeline, film_moment_of(2, 4), 1, &other,
                                     NULL) == FILM_OK);
    CHECK_EQUAL(other.event, 3);
    close_film(&opened);
}

/* A ring forgets the past, not what frames hold as far as it is scalar. */
TEST(a_ring_keeps_scalars_of_old_frames)
{
    film_writer *writer = begin(16u << 20);
    uint32_t outer = add_code(writer, "outer", 10, 0);
    film_thread *thread = film_writer_thread_begin(writer, "main", 1);
    film_moment first, last;
    film opened;

    call(thread, outer, 1, 2);
    set_int(thread, 2, 77);
    for (uint32_t i = 0; i < 300 * FILM_CHUNK_EVENTS; i++) {
        set_int(thread, 3, (int64_t)i * 0x9e3779b9);
    }
    CHECK(film_writer_close(writer, NULL, 0, NULL) == FILM_OK);
    opened = open_film();
    CHECK(film_timeline_ends(opened.timeline, 1, &first, &last, NULL) == FILM_OK);
    CHECK(first.event > FILM_CHUNK_EVENTS);
    CHECK(strcmp(text_at(&opened, first.event, 0, "x"), "77") == 0);
    CHECK(strcmp(text_at(&opened, last.event, 0, "x"), "77") == 0);
    close_film(&opened);
}

int
main(int argc, char **argv)
{
    static const film_test tests[] = {
        TEST_ENTRY(variables_are_known_in_every_chunk),
        TEST_ENTRY(moves_have_mirrors),
        TEST_ENTRY(the_last_write_is_found_far_back),
        TEST_ENTRY(continue_goes_both_ways),
        TEST_ENTRY(generators_keep_their_variables),
        TEST_ENTRY(objects_are_what_threads_made_of_them),
        TEST_ENTRY(a_ring_keeps_scalars_of_old_frames),
    };

    return run_tests(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
