/* test_space.c: windows of threads that have ended: their space is used again while a
 * recording lasts, and not in the file when it is closed, which can be read at every
 * instant until then.
 * SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <sys/stat.h>

#include <filmstrip/filmstrip.h>

#include "writer/append.h"
#include "writer/sink.h"
#include "writer/writer.h"

#define ROUNDS 2u
#define THREADS 34u /* at a time: more than the arena has windows for */
#define CALLS 9000u /* of the main thread between them: more than a chunk's events */
/* Each of a round's threads: its start, a call, its return and its end. */
#define EVENTS (1 + ROUNDS * (2 * CALLS + 4 * THREADS))

static char path[64];

static void
name_file(void)
{
    snprintf(path, sizeof(path), "/tmp/filmstrip-space-%d.film", (int)getpid());
}

static uint64_t
file_bytes(void)
{
    struct stat found;

    CHECK(stat(path, &found) == 0);
    return (uint64_t)found.st_size;
}

static uint64_t
disk_bytes(void)
{
    struct stat found;

    CHECK(stat(path, &found) == 0);
    return (uint64_t)found.st_blocks * 512u;
}

/* Until the sealing thread has nothing to do. */
static void
wait_until_sealed(film_writer *writer)
{
    film_writer_stats stats = {0};
    uint64_t before;

    do {
        before = stats.bytes;
        usleep(4000);
        film_writer_get_stats(writer, &stats);
    } while (stats.bytes != before);
}

static void
call(film_thread *thread, uint32_t code)
{
    CHECK(film_append_call(thread, code, 0));
    CHECK(film_append_return(thread, 0));
}

static film_writer *
record(bool no_map)
{
    film_writer_options options = {.path = path, .replace = true, .no_map = no_map};
    film_code_record function = {
        .file = "prog.py", .module = "prog", .qualname = "f", .name = "f"};
    film_thread *main_thread, *threads[THREADS];
    film_writer *writer;
    uint32_t code;

    CHECK(film_writer_open(&options, &writer, NULL) == FILM_OK);
    code = film_writer_code(writer, &function);
    main_thread = film_writer_thread_begin(writer, "MainThread", 1);
    CHECK(main_thread != NULL);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < THREADS; i++) {
            threads[i] = film_writer_thread_begin(writer, "T", 2 + i);
            CHECK(threads[i] != NULL);
            call(threads[i], code);
        }
        for (unsigned i = 0; i < CALLS; i++) {
            call(main_thread, code);
        }
        for (unsigned i = 0; i < THREADS; i++) {
            film_writer_thread_end(threads[i]);
        }
        if (round + 1 < ROUNDS) {
            wait_until_sealed(writer);
        }
    }
    wait_until_sealed(writer);
    return writer;
}

static uint64_t
count_events(film_reader *reader)
{
    uint64_t events = 0;

    for (size_t i = 0; i < film_reader_thread_count(reader); i++) {
        const film_thread_info *thread = film_reader_thread(reader, i);
        const film_event *event;
        film_cursor *cursor;
        CHECK(film_cursor_open(reader, thread->id, 0, &cursor, NULL) == FILM_OK);
        while (film_cursor_next(cursor, &event, NULL) == FILM_OK) {
            if (event->kind == FILM_KIND_LOST) {
                fprintf(stderr, "thread %u: %llu lost: %s\n", thread->id,
                        (unsigned long long)event->count,
                        film_reader_damage_count(reader) == 0
                            ? ""
                            : film_reader_damage(reader, 0)->message);
                exit(1);
            }
            events++;
        }
        film_cursor_close(cursor);
    }
    return events;
}

/* All events are there and nothing is damaged. */
static void
check_whole(uint64_t n)
{
    film_reader *reader = NULL;
    film_error error = {0};
    film_status status = film_reader_open(path, &reader, &error);
    uint64_t events;

    if (status != FILM_OK) {
        fprintf(stderr, "call %llu: %s\n", (unsigned long long)n, error.message);
        exit(1);
    }
    for (size_t i = 0; i < film_reader_chunk_count(reader); i++) {
        if (film_reader_verify_chunk(reader, i, &error) != FILM_OK) {
            fprintf(stderr, "call %llu: %s\n", (unsigned long long)n, error.message);
            exit(1);
        }
    }
    CHECK_EQUAL(film_reader_damage_count(reader), 0);
    events = count_events(reader);
    if (events != EVENTS) {
        fprintf(stderr, "call %llu: %llu events of %u\n", (unsigned long long)n,
                (unsigned long long)events, (unsigned)EVENTS);
        exit(1);
    }
    film_reader_close(reader);
}

static void
check_closed(bool no_map)
{
    film_writer *writer;

    name_file();
    writer = record(no_map);
    /* 32 spare windows are 8 MiB. */
    for (unsigned tries = 0; disk_bytes() >= 10u << 20 && tries < 6000; tries++) {
        usleep(10000);
    }
    CHECK(disk_bytes() < 10u << 20);
    check_whole(0);
    CHECK(film_writer_close(writer, NULL, 0, NULL) == FILM_OK);
    CHECK(file_bytes() < 1u << 20);
    check_whole(0);
    unlink(path);
}

TEST(a_closed_file_is_its_content)
{
    check_closed(false);
}

TEST(a_closed_file_is_its_content_without_mapping)
{
    check_closed(true);
}

/* From the n-th call on all fail, as if the process had been killed before it. */
TEST(the_file_is_whole_at_every_instant_of_a_close)
{
    uint64_t calls, n = 0;

    name_file();
    do {
        film_writer *writer = record(false);
        film_sink_fail_at(++n, EIO);
        FILM_IGNORE(film_writer_close(writer, NULL, 0, NULL));
        calls = film_sink_fail_at(0, 0);
        check_whole(n);
    } while (calls >= n);
    CHECK(n > 50);
    CHECK(file_bytes() < 1u << 20);
    unlink(path);
}

TEST(a_reader_from_before_the_close_finds_its_chunks)
{
    film_reader *reader;
    film_writer *writer;

    name_file();
    writer = record(false);
    CHECK(film_reader_open(path, &reader, NULL) == FILM_OK);
    CHECK(film_writer_close(writer, NULL, 0, NULL) == FILM_OK);
    CHECK_EQUAL(count_events(reader), EVENTS);
    CHECK(film_reader_refresh(reader, NULL) == FILM_OK);
    CHECK_EQUAL(count_events(reader), EVENTS);
    film_reader_close(reader);
    unlink(path);
}

int
main(int argc, char **argv)
{
    static const film_test tests[] = {
        TEST_ENTRY(a_closed_file_is_its_content),
        TEST_ENTRY(a_closed_file_is_its_content_without_mapping),
        TEST_ENTRY(the_file_is_whole_at_every_instant_of_a_close),
        TEST_ENTRY(a_reader_from_before_the_close_finds_its_chunks),
    };

    return run_tests(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
