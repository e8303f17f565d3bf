/* test_fault.c: the n-th allocation and the n-th file call fail, for every n, until a
 * run meets no fault. Whatever fails: no crash, the file opens if it was created, and
 * what was committed plus what was counted as lost is what the program emitted.
 * SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>

#include <filmstrip/filmstrip.h>

#include "base/alloc.h"
#include "writer/append.h"
#include "writer/sink.h"

/* Enough for several chunks, windows and a second thread. */
#define CALLS 24000u

typedef struct outcome {
    bool opened;
    uint64_t emitted; /* by threads that have a window: they can be counted there */
    uint64_t kept;    /* as the writer says; the rest is lost */
} outcome;

static char path[64];

static void
note(outcome *result, bool taken)
{
    CHECK(taken);
    result->emitted++;
}

static uint32_t
add_code(film_writer *writer, const char *name)
{
    static const uint8_t bytes[] = {1, 2, 3, 4};
    film_code_record code = {.file = "prog.py",
                             .module = "prog",
                             .qualname = name,
                             .name = name,
                             .first_line = 7,
                             .bytecode = bytes,
                             .bytecode_length = sizeof(bytes)};

    return film_writer_code(writer, &code);
}

/* A line, a write and the value of the return that follows. */
static void
note_values(film_writer *writer, film_thread *thread, uint32_t turn, outcome *result)
{
    static const uint8_t list[] = {1, FILM_OBJECT_SEQUENCE, 2, 1, FILM_TOKEN_NONE};
    uint8_t token[FILM_TOKEN_MAX];
    uint64_t id = turn % 16 != 0
                      ? 0
                      : film_writer_value_record(writer, 0, FILM_VALUE_OBJECT, list,
                                                 sizeof(list));
    uint8_t *end = id == 0 ? film_token_put_int(token, turn)
                           : film_token_put_value(token, FILM_TOKEN_VALUE, id - 1);

    note(result, film_append_line(thread, 2, turn % 64 == 0));
    note(result,
         film_append_set(thread, FILM_SET_LOCAL, 0, token, (size_t)(end - token)));
    (void)film_append_values(thread, 1, token, (size_t)(end - token)); /* no event */
}

static void
emit(film_writer *writer, film_thread *thread, uint32_t code, outcome *result)
{
    for (uint32_t i = 0; i < CALLS / 2; i++) {
        note(result, film_append_call(thread, code, 3));
        if (i % 4096 == 0) {
            uint64_t message = film_writer_value(writer, 0, "boom", 4, 0);
            note(result, film_append_exception(thread, FILM_KIND_RAISE, 4, 0, message));
        }
        note_values(writer, thread, i, result);
        note(result, film_append_return(thread, 5));
    }
}

/* True when even the start of a thread that has just begun is lost: it has no window.
 */
static bool
loses_all(film_writer *writer, uint64_t lost_before)
{
    film_writer_stats stats;

    film_writer_get_stats(writer, &stats);
    return stats.lost > lost_before;
}

/* A recording with two threads, tables, values and a source; everything a writer
 * does, start to end. */
static outcome
record(uint64_t ring_bytes, bool no_map)
{
    film_writer_options options = {
        .path = path, .replace = true, .no_map = no_map, .ring_bytes = ring_bytes};
    film_meta_pair pair = {"exit_status", "0"};
    outcome result = {0}, uncounted = {0};
    film_thread *threads[2];
    film_writer_stats stats = {0};
    film_writer *writer;
    uint32_t code;

    if (film_writer_open(&options, &writer, NULL) != FILM_OK) {
        return result;
    }
    result.opened = true;
    film_writer_meta(writer, &pair, 1);
    film_writer_source(writer, "prog.py", NULL, "x = 1\n", 6);
    code = add_code(writer, "f");
    for (int i = 0; i < 2; i++) {
        threads[i] = film_writer_thread_begin(writer, i == 0 ? "MainThread" : "T", 1);
        if (threads[i] != NULL && code != UINT32_MAX) {
            emit(writer, threads[i], code,
                 loses_all(writer, stats.lost) ? &uncounted : &result);
        }
        film_writer_get_stats(writer, &stats);
    }
    result.kept = stats.events;
    CHECK(stats.events + stats.lost >= result.emitted + uncounted.emitted);
    if (threads[1] != NULL) {
        film_writer_thread_end(threads[1]);
    }
    FILM_IGNORE(film_writer_close(writer, &pair, 1, NULL));
    return result;
}

/* Counts events, and what lost ones admit. */
static void
count_events(film_reader *reader, uint64_t *events, uint64_t *lost)
{
    *events = *lost = 0;
    for (size_t i = 0; i < film_reader_thread_count(reader); i++) {
        const film_thread_info *thread = film_reader_thread(reader, i);
        const film_event *event;
        film_cursor *cursor;
        CHECK(film_cursor_open(reader, thread->id, 0, &cursor, NULL) == FILM_OK);
        while (film_cursor_next(cursor, &event, NULL) == FILM_OK) {
            *events += event->kind != FILM_KIND_LOST;
            *lost += event->kind == FILM_KIND_LOST ? event->count : 0;
        }
        film_cursor_close(cursor);
    }
}

static void
check_file(const outcome *result, uint64_t n, const char *fault)
{
    film_reader *reader = NULL;
    film_error error = {0};
    uint64_t events, lost;
    film_status status;

    if (!result->opened) {
        return;
    }
    status = film_reader_open(path, &reader, &error);
    if (status != FILM_OK) {
        fprintf(stderr, "%s %llu: %s\n", fault, (unsigned long long)n, error.message);
        exit(1);
    }
    count_events(reader, &events, &lost);
    if (events < result->kept || events + lost < result->emitted) {
        fprintf(stderr, "%s %llu: read %llu of %llu kept, %llu lost of %llu\n", fault,
                (unsigned long long)n, (unsigned long long)events,
                (unsigned long long)result->kept, (unsigned long long)lost,
                (unsigned long long)result->emitted);
        exit(1);
    }
    film_reader_close(reader);
}

/* Without mapping, rows reach the file by calls that all fail from the n-th on: nobody
 * could keep or count them there. Then the promise is an open file and no crash. */
static void
fail_each_file_call(int error, bool no_map, const char *name)
{
    uint64_t calls, n = 0;

    snprintf(path, sizeof(path), "/tmp/filmstrip-fault-%d.film", (int)getpid());
    film_sink_fail_at(UINT64_MAX, error);
    record(0, no_map);
    calls = film_sink_fail_at(0, 0);
    CHECK(calls > 3);
    for (n = 1; n <= calls + 1; n++) {
        outcome result;
        film_sink_fail_at(n, error);
        result = record(0, no_map);
        film_sink_fail_at(0, 0);
        if (no_map && n <= calls) {
            result.emitted = result.kept = 0;
        }
        check_file(&result, n, name);
        CHECK(n <= calls || result.kept >= result.emitted);
    }
    unlink(path);
}

TEST(a_full_disk_at_every_file_call)
{
    fail_each_file_call(ENOSPC, false, "ENOSPC");
}

TEST(an_io_error_at_every_file_call)
{
    fail_each_file_call(EIO, false, "EIO");
}

TEST(an_io_error_at_every_file_call_without_mapping)
{
    fail_each_file_call(EIO, true, "EIO, not mapped");
}

TEST(mapping_refused_at_every_call)
{
    fail_each_file_call(ENOMEM, false, "mapping refused");
}

TEST(no_memory_at_every_allocation)
{
    uint64_t asked, n;

    snprintf(path, sizeof(path), "/tmp/filmstrip-fault-%d.film", (int)getpid());
    film_alloc_fail_at(UINT64_MAX);
    record(0, false);
    asked = film_alloc_fail_never();
    CHECK(asked > 20);
    for (n = 1; n <= asked + 1; n++) {
        outcome result;
        film_alloc_fail_at(n);
        result = record(0, false);
        film_alloc_fail_never();
        check_file(&result, n, "no memory");
    }
    unlink(path);
}

TEST(reading_without_memory_at_every_allocation)
{
    uint64_t asked, n;
    outcome result;

    snprintf(path, sizeof(path), "/tmp/filmstrip-fault-%d.film", (int)getpid());
    result = record(0, false);
    CHECK(result.opened && result.kept >= result.emitted);
    film_alloc_fail_at(UINT64_MAX);
    check_file(&result, 0, "read");
    asked = film_alloc_fail_never();
    for (n = 1; n <= asked; n++) {
        film_reader *reader = NULL;
        const film_event *event;
        film_cursor *cursor = NULL;
        film_alloc_fail_at(n);
        if (film_reader_open(path, &reader, NULL) == FILM_OK &&
            film_cursor_open(reader, 1, 0, &cursor, NULL) == FILM_OK) {
            while (film_cursor_next(cursor, &event, NULL) == FILM_OK) {
            }
        }
        film_alloc_fail_never();
        film_cursor_close(cursor);
        film_reader_close(reader);
    }
    unlink(path);
}

int
main(int argc, char **argv)
{
    static const film_test tests[] = {
        TEST_ENTRY(a_full_disk_at_every_file_call),
        TEST_ENTRY(an_io_error_at_every_file_call),
        TEST_ENTRY(an_io_error_at_every_file_call_without_mapping),
        TEST_ENTRY(mapping_refused_at_every_call),
        TEST_ENTRY(no_memory_at_every_allocation),
        TEST_ENTRY(reading_without_memory_at_every_allocation),
    };

    return run_tests(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
