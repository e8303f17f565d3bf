/* test_reader.c: recordings written with the writer, read back and compared with a
 * model that notes what each event should be.
 * SPDX-License-Identifier: Apache-2.0 */
#include "players.h"

#include <errno.h>

#include <filmstrip/filmstrip.h>

#include "base/hash.h"
#include "writer/append.h"
#include "writer/sink.h"
#include "writer/writer.h"

static void
check_seeks(film_reader *reader, uint32_t thread, const player *played)
{
    uint64_t random = 7;

    for (unsigned i = 0; i < 40; i++) {
        uint64_t first = next_random(&random) % played->count;
        uint64_t end = first + 50 < played->count ? first + 50 : played->count;
        check_thread(reader, thread, played, first, end);
    }
}

static void
check_all_chunks(film_reader *reader)
{
    film_error error;

    for (size_t i = 0; i < film_reader_chunk_count(reader); i++) {
        if (film_reader_verify_chunk(reader, i, &error) != FILM_OK) {
            fprintf(stderr, "%s\n", error.message);
            CHECK(false);
        }
    }
    CHECK_EQUAL(film_reader_damage_count(reader), 0);
}

/* Gives the recording another process for its writer. */
static void
set_pid(const char *path, uint64_t pid)
{
    uint8_t bytes[112];
    FILE *file = fopen(path, "r+b");

    CHECK(file != NULL && fread(bytes, 1, sizeof(bytes), file) == sizeof(bytes));
    film_put_u64(bytes + 32, pid);
    film_put_u64(bytes + 104, film_hash(bytes, 104));
    rewind(file);
    CHECK(fwrite(bytes, 1, sizeof(bytes), file) == sizeof(bytes));
    fclose(file);
}

static void
check_tables(film_reader *reader, const recording *made)
{
    film_error error;
    film_value value;
    film_source source;
    const film_code *code = film_reader_code(reader, 3);

    CHECK_EQUAL(film_reader_code_count(reader), CODES);
    CHECK(code != NULL && film_reader_code(reader, CODES) == NULL);
    CHECK(strcmp(code->function.data, "program.function_3") == 0);
    CHECK(strcmp(code->file.data, "/src/program.py") == 0);
    CHECK_EQUAL(code->function.length, strlen(code->function.data));
    CHECK(code->stable_hash != film_reader_code(reader, 4)->stable_hash);
    CHECK_EQUAL(film_reader_line(reader, 3, 0), 32);
    CHECK_EQUAL(film_reader_line(reader, 3, 3), 32);
    CHECK_EQUAL(film_reader_line(reader, 3, 4), 33);
    CHECK_EQUAL(film_reader_line(reader, 3, 8), 0);
    CHECK_EQUAL(film_reader_line(reader, 3, 100000), 0);
    CHECK_EQUAL(film_reader_line(reader, FILM_NO_CODE, 0), 0);
    CHECK(strcmp(film_reader_string(reader, made->texts[2]).data, "Error2") == 0);
    CHECK_EQUAL(film_reader_string(reader, 0).length, 0);
    CHECK_EQUAL(film_reader_string(reader, 12345678).length, 0);
    CHECK(film_reader_value(reader, made->values[5] - 1, &value, &error) == FILM_OK);
    CHECK(strcmp(value.text.data, "message 5") == 0);
    CHECK(strcmp(value.type.data, "Error5") == 0);
    CHECK(film_reader_value(reader, 999999, &value, &error) == FILM_CORRUPT);
    CHECK(strcmp(film_reader_meta(reader, "program"), "test") == 0);
    CHECK(film_reader_meta(reader, "nothing") == NULL);
    if (film_reader_info(reader)->ending == FILM_ENDING_CLOSED) {
        CHECK(film_reader_source(reader, 0, &source, &error) == FILM_OK);
        CHECK(strcmp(source.file.data, "/src/program.py") == 0);
        CHECK(strcmp(source.text.data, "pass\n") == 0 && !source.cut);
        CHECK(film_reader_source(reader, 1, &source, &error) == FILM_END);
        CHECK(strcmp(film_reader_meta(reader, "exit"), "0") == 0);
    }
}

TEST(closed_recordings_read_back)
{
    recording made;
    player played[3];
    film_reader *reader;
    static const char *const names[] = {"MainThread", "worker", "idle"};

    begin_recording(&made, "closed", 0);
    for (unsigned i = 0; i < 3; i++) {
        begin_player(&played[i], &made, names[i], i + 1);
    }
    play(&played[0], &made, 50000, 0, 30);
    play(&played[1], &made, 16384, 0, 5);
    end_recording(&made);
    reader = open_reader(made.path);
    CHECK_EQUAL(film_reader_thread_count(reader), 3);
    CHECK(film_reader_thread(reader, 3) == NULL);
    for (unsigned i = 0; i < 3; i++) {
        const film_thread_info *thread = film_reader_thread(reader, i);
        CHECK_EQUAL(thread->id, i + 1);
        CHECK_EQUAL(thread->end_event, played[i].count);
        CHECK_EQUAL(thread->native_id, 1001 + i);
        CHECK_EQUAL(thread->lost, 0);
        CHECK(strcmp(thread->name.data, names[i]) == 0);
        check_thread(reader, i + 1, &played[i], 0, played[i].count);
        check_seeks(reader, i + 1, &played[i]);
    }
    CHECK_EQUAL(film_reader_info(reader)->events,
                played[0].count + played[1].count + played[2].count);
    CHECK(film_reader_info(reader)->ending == FILM_ENDING_CLOSED);
    CHECK(film_reader_info(reader)->duration_ns >=
          film_reader_thread(reader, 0)->last_ns);
    check_tables(reader, &made);
    check_all_chunks(reader);
    film_reader_close(reader);
    for (unsigned i = 0; i < 3; i++) {
        free_player(&played[i]);
    }
    unlink(made.path);
}

/* The file as a kill would leave it, at several moments. */
TEST(killed_recordings_lose_nothing)
{
    static const size_t moments[] = {1, 2, 500, 16384, 40000, 120000, 250000};
    recording made;
    player main_player, other;
    char path[128];

    begin_recording(&made, "killed", 0);
    begin_player(&main_player, &made, "MainThread", 1);
    begin_player(&other, &made, "other", 2);
    for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
        film_reader *reader;
        play(&main_player, &made, moments[i], 0, 100);
        play(&other, &made, moments[i] / 3, 0, 10);
        /* A copy takes time: nothing may move from windows to the log meanwhile. */
        film_writer_before_fork(made.writer);
        copy_file(made.path, path, sizeof(path), "killed_copy");
        set_pid(path, 1); /* not ours any more */
        reader = open_reader(path);
        CHECK(film_reader_info(reader)->ending == FILM_ENDING_DIED);
        CHECK_EQUAL(film_reader_info(reader)->events, main_player.count + other.count);
        CHECK_EQUAL(film_reader_info(reader)->lost, 0);
        check_thread(reader, 1, &main_player, 0, main_player.count);
        check_thread(reader, 2, &other, 0, other.count);
        check_seeks(reader, 1, &main_player);
        check_tables(reader, &made);
        check_all_chunks(reader);
        film_reader_close(reader);
        unlink(path);
    }
    end_recording(&made);
    free_player(&main_player);
    free_player(&other);
    unlink(made.path);
}

TEST(deep_stacks_come_back_from_references)
{
    recording made;
    player played;
    film_reader *reader;

    begin_recording(&made, "deep", 0);
    begin_player(&played, &made, "MainThread", 9);
    play(&played, &made, 60000, 3000, 3010);
    play(&played, &made, 120000, 2950, 3100);
    play(&played, &made, 200000, 100, 3100);
    end_recording(&made);
    reader = open_reader(made.path);
    check_thread(reader, 1, &played, 0, played.count);
    check_seeks(reader, 1, &played);
    for (uint64_t n = 1; n < played.count; n += 16384) {
        check_thread(reader, 1, &played, n, n + 2);
    }
    check_thread(reader, 1, &played, played.count - 10, played.count);
    check_all_chunks(reader);
    film_reader_close(reader);
    free_player(&played);
    unlink(made.path);
}

/* Every event given is as it should be, or a `lost` one. Returns how many are lost. */
static uint64_t
check_what_is_there(film_reader *reader, const player *played)
{
    film_cursor *cursor;
    const film_event *event;
    film_error error;
    uint64_t number = film_reader_thread(reader, 0)->first_event, lost = 0;

    CHECK(film_cursor_open(reader, 1, 0, &cursor, &error) == FILM_OK);
    while (film_cursor_next(cursor, &event, &error) == FILM_OK) {
        CHECK_EQUAL(event->number, number);
        CHECK(number < played->count);
        if (event->kind == FILM_KIND_LOST) {
            lost += event->count;
            number += event->count;
        }
        else {
            CHECK_EQUAL(event->kind, played->events[number].kind);
            number++;
        }
    }
    CHECK_EQUAL(number, film_reader_thread(reader, 0)->end_event);
    film_cursor_close(cursor);
    return lost + played->count - number;
}

TEST(rings_keep_the_newest_events)
{
    recording made;
    player played;
    film_reader *reader;
    const film_thread_info *thread;
    char path[128];

    begin_recording(&made, "ring", 4u << 20);
    begin_player(&played, &made, "MainThread", 5);
    for (unsigned i = 1; i <= 6; i++) {
        play(&played, &made, 400000 * i, 0, 20);
        film_writer_before_fork(made.writer); /* a copy is no snapshot: hold still */
        film_writer_before_fork(made.writer);
        copy_file(made.path, path, sizeof(path), "ring_copy");
        reader = open_reader(path);
        thread = film_reader_thread(reader, 0);
        CHECK(thread->first_event < played.count);
        /* A small ring has few windows; rows in others do not survive a kill. */
        CHECK(check_what_is_there(reader, &played) < 16 * 100000);
        check_tables(reader, &made);
        check_all_chunks(reader);
        film_reader_close(reader);
        unlink(path);
    }
    end_recording(&made);
    reader = open_reader(made.path);
    thread = film_reader_thread(reader, 0);
    CHECK_EQUAL(thread->end_event, played.count);
    CHECK(thread->first_event > 0);
    CHECK_EQUAL(film_reader_info(reader)->overwritten, thread->first_event);
    CHECK(film_reader_info(reader)->file_bytes <= 4u << 20);
    check_thread(reader, 1, &played, thread->first_event, played.count);
    check_tables(reader, &made);
    check_all_chunks(reader);
    film_reader_close(reader);
    free_player(&played);
    unlink(made.path);
}

#define MORE_CALLS 2000000u

TEST(a_full_disk_is_told)
{
    recording made;
    player played;
    film_reader *reader;
    film_cursor *cursor;
    const film_event *event = NULL, *last = NULL;
    film_event kept = {0};
    film_error error;
    uint64_t lost;

    begin_recording(&made, "full", 0);
    begin_player(&played, &made, "MainThread", 8);
    play(&played, &made, 100000, 0, 10);
    film_sink_fail_at(1, ENOSPC);
    for (unsigned i = 0; i < MORE_CALLS; i++) {
        CHECK(film_append_call(played.thread, 1, 0));
    }
    film_sink_fail_at(0, 0);
    CHECK(film_writer_close(made.writer, NULL, 0, &error) == FILM_NO_SPACE);
    reader = open_reader(made.path);
    lost = film_reader_thread(reader, 0)->lost;
    CHECK_EQUAL(film_reader_info(reader)->lost, lost);
    CHECK(lost > 1000);
    /* The loss is an event too. */
    CHECK_EQUAL(film_reader_thread(reader, 0)->end_event - 1 + lost,
                played.count + MORE_CALLS);
    check_thread(reader, 1, &played, 0, played.count - 1);
    CHECK(film_cursor_open(reader, 1, played.count, &cursor, &error) == FILM_OK);
    while (film_cursor_next(cursor, &event, &error) == FILM_OK) {
        kept = *event;
        last = &kept;
    }
    CHECK(last != NULL && last->kind == FILM_KIND_LOST);
    CHECK_EQUAL(last->count, lost);
    CHECK_EQUAL(last->number + 1, film_reader_thread(reader, 0)->end_event);
    CHECK(film_reader_string(reader, last->text).length > 0);
    film_cursor_close(cursor);
    film_reader_close(reader);
    free_player(&played);
    unlink(made.path);
}

TEST(wrong_files_are_refused_with_a_sentence)
{
    film_reader *reader;
    film_error error;
    char path[128];

    CHECK(film_reader_open("/nonexistent/x.film", &reader, &error) == FILM_IO);
    CHECK(reader == NULL && strstr(error.message, "no such file") != NULL);
    CHECK(film_reader_open("/tmp", &reader, &error) == FILM_NOT_A_FILM);
    CHECK(film_reader_open("/dev/null", &reader, &error) == FILM_NOT_A_FILM);
    temporary_path(path, sizeof(path), "wrong");
    write_file(path, (const uint8_t *)"hello, world", 12);
    CHECK(film_reader_open(path, &reader, &error) == FILM_NOT_A_FILM);
    CHECK(strstr(error.message, "is not a .film recording") != NULL);
    write_file(path,
               (const uint8_t *)"\x89"
                                "FILM\r\n\x1a",
               8);
    CHECK(film_reader_open(path, &reader, &error) == FILM_TRUNCATED);
    unlink(path);
}

int
main(int argc, char **argv)
{
    static const film_test tests[] = {
        TEST_ENTRY(closed_recordings_read_back),
        TEST_ENTRY(killed_recordings_lose_nothing),
        TEST_ENTRY(deep_stacks_come_back_from_references),
        TEST_ENTRY(rings_keep_the_newest_events),
        TEST_ENTRY(a_full_disk_is_told),
        TEST_ENTRY(wrong_files_are_refused_with_a_sentence),
    };

    return run_tests(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
