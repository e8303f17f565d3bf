/* test_scrub.c: what scrub makes of rows of kinds that it does not know.
 * SPDX-License-Identifier: Apache-2.0 */
#include "films.h"

#include <fcntl.h>

#include <filmstrip/filmstrip.h>

#include "export/scrub.h"
#include "writer/append.h"

#define NEW_EVENT 60u
#define NEW_ADJUSTMENT 0x5fu

static char path[64], clean[64];

/* A row as a later version might write it. */
static void
append_new(film_thread *thread, uint8_t kind, const char *secret, unsigned events)
{
    uint8_t *to;

    CHECK(film_append_ready(thread));
    to = film_append_tag(thread, FILM_ROW_EXT);
    *to++ = kind;
    *to++ = (uint8_t)strlen(secret);
    memcpy(to, secret, strlen(secret));
    film_append_commit(thread, to + strlen(secret), events);
}

static void
write_film(bool closes)
{
    film_writer_options options = {.path = path, .replace = true, .level = 2};
    film_writer *writer;
    film_thread *thread;
    uint32_t code;

    CHECK(film_writer_open(&options, &writer, NULL) == FILM_OK);
    thread = film_writer_thread_begin(writer, "main", 1);
    CHECK(thread != NULL);
    code = add_function(writer, "f", NULL, 0);
    CHECK(film_append_call(thread, code, 0));
    append_new(thread, NEW_EVENT, "hunter2-of-the-event", 1);
    append_new(thread, NEW_ADJUSTMENT, "hunter2-of-no-event", 0);
    append_new(thread, FILM_KIND_OUTPUT, "hunter2-on-the-screen", 1);
    CHECK(film_append_return(thread, 0));
    if (closes) {
        CHECK(film_writer_close(writer, NULL, 0, NULL) == FILM_OK);
    }
}

/* As a process that was killed leaves it: in windows. */
static void
write_film_of_the_dead(void)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        write_film(false);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void
scrub(film_scrub_counts *counts)
{
    static char name[] = "key";
    char *names[] = {name};
    film_scrub_options options = {names, 1, NULL, 0};
    film_error error = {0};
    film_reader *reader;
    int fd = open(clean, O_RDWR | O_CREAT | O_TRUNC, 0600);

    CHECK(fd >= 0);
    CHECK(film_reader_open(path, &reader, &error) == FILM_OK);
    CHECK(film_scrub(reader, &options, fd, counts, &error) == FILM_OK);
    film_reader_close(reader);
    close(fd);
}

/* Kinds, numbers and times of all events; how many bytes of them are not understood. */
static size_t
read_events(const char *film, uint8_t kinds[16], uint64_t times[16], size_t *bytes)
{
    film_error error = {0};
    film_reader *reader;
    film_cursor *cursor;
    const film_event *event;
    size_t count = 0;

    *bytes = 0;
    CHECK(film_reader_open(film, &reader, &error) == FILM_OK);
    for (size_t i = 0; i < film_reader_chunk_count(reader); i++) {
        CHECK(film_reader_verify_chunk(reader, i, &error) == FILM_OK);
    }
    CHECK(film_cursor_open(reader, 1, 0, &cursor, &error) == FILM_OK);
    while (film_cursor_next(cursor, &event, &error) == FILM_OK && count < 16) {
        CHECK_EQUAL(event->number, count);
        *bytes += event->body_length;
        times[count] = event->time_ns;
        kinds[count++] = event->kind;
    }
    film_cursor_close(cursor);
    film_reader_close(reader);
    return count;
}

static void
check_left_out(void)
{
    uint8_t kinds[16], kinds_before[16];
    uint64_t times[16], times_before[16];
    film_scrub_counts counts = {0};
    size_t bytes, count = read_events(path, kinds_before, times_before, &bytes);

    CHECK_EQUAL(count, 5); /* with the thread's start; its end is not written */
    CHECK(kinds_before[2] == NEW_EVENT && kinds_before[3] == FILM_KIND_OUTPUT);
    CHECK_EQUAL(bytes,
                strlen("hunter2-of-the-event") + strlen("hunter2-on-the-screen"));
    scrub(&counts);
    CHECK_EQUAL(counts.unknown, 3);
    CHECK_EQUAL(read_events(clean, kinds, times, &bytes), count);
    CHECK(memcmp(kinds, kinds_before, count) == 0);
    CHECK(memcmp(times, times_before, count * sizeof(times[0])) == 0);
    CHECK_EQUAL(bytes, 0);
    unlink(path);
    unlink(clean);
}

TEST(rows_of_unknown_kinds_are_left_out)
{
    snprintf(path, sizeof(path), "/tmp/filmstrip-unknown-%d.film", (int)getpid());
    snprintf(clean, sizeof(clean), "/tmp/filmstrip-known-%d.film", (int)getpid());
    write_film(true);
    check_left_out();
    write_film_of_the_dead();
    check_left_out();
}

int
main(int argc, char **argv)
{
    static const film_test tests[] = {
        TEST_ENTRY(rows_of_unknown_kinds_are_left_out),
    };

    return run_tests(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
