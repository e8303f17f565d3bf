/* test_reader_live.c: recordings read while they are being written.
 * SPDX-License-Identifier: Apache-2.0 */
#include "players.h"

#include <pthread.h>

#include <filmstrip/filmstrip.h>

TEST(live_recordings_are_followed)
{
    recording made;
    player played;
    film_reader *reader;
    film_cursor *cursor;
    const film_event *event;
    film_error error;
    uint64_t number = 0;

    begin_recording(&made, "live", 0);
    begin_player(&played, &made, "MainThread", 6);
    reader = open_reader(made.path);
    CHECK(film_reader_info(reader)->ending == FILM_ENDING_LIVE);
    film_reader_close(reader); /* takes the process's lock away */
    reader = open_reader(made.path);
    CHECK(film_reader_info(reader)->ending == FILM_ENDING_LIVE);
    CHECK(film_cursor_open(reader, 1, 0, &cursor, &error) == FILM_OK);
    for (unsigned i = 0; i < 60; i++) {
        while (film_cursor_next(cursor, &event, &error) == FILM_OK) {
            check_event(event, &played.events[number], number);
            number++;
        }
        CHECK_EQUAL(number, played.count);
        play(&played, &made, played.count + 1 + i * 300, 0, 80);
        if (i == 59) {
            end_recording(&made);
        }
        CHECK(film_reader_refresh(reader, &error) == FILM_OK);
    }
    while (film_cursor_next(cursor, &event, &error) == FILM_OK) {
        check_event(event, &played.events[number], number);
        number++;
    }
    CHECK_EQUAL(number, played.count);
    CHECK(film_reader_info(reader)->ending == FILM_ENDING_CLOSED);
    CHECK_EQUAL(film_reader_damage_count(reader), 0);
    film_cursor_close(cursor);
    film_reader_close(reader);
    free_player(&played);
    unlink(made.path);
}

typedef struct busy {
    player played;
    const recording *made;
    _Atomic(bool) stop;
} busy;

static void *
be_busy(void *context)
{
    busy *work = context;

    while (!work->stop) {
        play(&work->played, work->made, work->played.count + 1000, 0, 30);
    }
    return NULL;
}

/* Opened again and again while two threads write as fast as they can. */
TEST(open_while_being_written)
{
    recording made;
    busy work[2] = {0};
    pthread_t threads[2];
    unsigned opened = 0;

    begin_recording(&made, "busy", 0);
    for (unsigned i = 0; i < 2; i++) {
        begin_player(&work[i].played, &made, "busy", i + 1);
        work[i].made = &made;
    }
    for (unsigned i = 0; i < 2; i++) {
        CHECK(pthread_create(&threads[i], NULL, be_busy, &work[i]) == 0);
    }
    for (; opened < 25; opened++) {
        film_reader *reader = open_reader(made.path);
        CHECK_EQUAL(film_reader_damage_count(reader), 0);
        CHECK_EQUAL(film_reader_info(reader)->lost, 0);
        for (uint32_t thread = 1; thread <= 2; thread++) {
            uint64_t end = film_reader_thread(reader, thread - 1)->end_event,
                     number = 0;
            film_cursor *cursor;
            const film_event *event;
            film_error error;
            number = end > 60000 ? end - 60000 : 0;
            CHECK(film_cursor_open(reader, thread, number, &cursor, &error) == FILM_OK);
            while (film_cursor_next(cursor, &event, &error) == FILM_OK) {
                CHECK_EQUAL(event->number, number);
                CHECK(event->kind != FILM_KIND_LOST);
                number++;
            }
            CHECK_EQUAL(number, end);
            film_cursor_close(cursor);
        }
        film_reader_close(reader);
    }
    for (unsigned i = 0; i < 2; i++) {
        work[i].stop = true;
        pthread_join(threads[i], NULL);
    }
    end_recording(&made);
    {
        film_reader *reader = open_reader(made.path);
        check_thread(reader, 1, &work[0].played, 0, work[0].played.count);
        check_thread(reader, 2, &work[1].played, 0, work[1].played.count);
        film_reader_close(reader);
    }
    free_player(&work[0].played);
    free_player(&work[1].played);
    unlink(made.path);
}

int
main(int argc, char **argv)
{
    static const film_test tests[] = {
        TEST_ENTRY(live_recordings_are_followed),
        TEST_ENTRY(open_while_being_written),
    };

    return run_tests(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
