/* test_values.c: level values from the writer to the reader: lines, writes, arguments,
 * snapshots.
 * SPDX-License-Identifier: Apache-2.0 */
#include "value_stories.h"

#include <filmstrip/filmstrip.h>

#include "analysis/merge.h"
#include "analysis/selection.h"
#include "base/alloc.h"
#include "export/event_json.h"
#include "export/log.h"
#include "writer/append.h"

static void
check_film(uint32_t stories)
{
    film_reader *reader = open_reader(path);
    film_cursor *cursor;
    const film_event *event;
    film_error error;

    CHECK(film_cursor_open(reader, 1, 0, &cursor, NULL) == FILM_OK);
    CHECK(next_event(cursor)->kind == FILM_KIND_THREAD_START);
    for (uint32_t i = 0; i < stories; i++) {
        read_story(reader, cursor, 1 + i * STORY_EVENTS);
    }
    CHECK(film_cursor_next(cursor, &event, NULL) == FILM_END);
    film_cursor_close(cursor);
    /* From the midst of a chunk: values still find their events. */
    for (uint32_t i = stories / 3; i < stories; i += stories / 3 + 1) {
        CHECK(film_cursor_open(reader, 1, 1 + i * STORY_EVENTS, &cursor, NULL) ==
              FILM_OK);
        read_story(reader, cursor, 1 + i * STORY_EVENTS);
        film_cursor_close(cursor);
    }
    for (size_t i = 0; i < film_reader_chunk_count(reader); i++) {
        if (film_reader_verify_chunk(reader, i, &error) != FILM_OK) {
            fprintf(stderr, "%s\n", error.message);
            exit(1);
        }
    }
    CHECK_EQUAL(film_reader_info(reader)->version_minor, FILM_FORMAT_MINOR);
    CHECK_EQUAL(film_reader_info(reader)->level, 2);
    film_reader_close(reader);
}

TEST(values_come_back_from_chunks)
{
    record_stories(20000, true);
    check_film(20000);
    unlink(path);
}

TEST(values_come_back_from_windows)
{
    record_stories(1000, false);
    check_film(1000);
    unlink(path);
}

TEST(values_come_back_from_both)
{
    record_stories(20000, false);
    check_film(20000);
    unlink(path);
}

/* Reads everything there is about every event; whatever fails, it ends. */
static void
read_all(void)
{
    film_reader *reader = NULL;
    film_cursor *cursor = NULL;
    film_event_json json;
    film_buffer bytes = {0};
    film_output output = {0};
    const film_event *event;
    film_value value;

    if (film_reader_open(path, &reader, NULL) != FILM_OK) {
        return;
    }
    if (film_event_json_init(&json, reader, NULL) == FILM_OK) {
        if (film_output_init(&output, -1, NULL) == FILM_OK) {
            output.memory = &bytes;
            if (film_cursor_open(reader, 1, 0, &cursor, NULL) == FILM_OK) {
                while (film_cursor_next(cursor, &event, NULL) == FILM_OK) {
                    for (uint32_t i = 0; i < event->token_count; i++) {
                        FILM_IGNORE(film_reader_event_value(reader, event, i, 300,
                                                            &value, NULL));
                    }
                    film_event_json_write(&json, &output, event);
                    film_buffer_clear(&bytes);
                }
            }
            film_cursor_close(cursor);
        }
        film_event_json_reset(&json);
    }
    for (size_t i = 0; i < film_reader_chunk_count(reader); i++) {
        FILM_IGNORE(film_reader_verify_chunk(reader, i, NULL));
    }
    film_output_reset(&output);
    film_buffer_reset(&bytes);
    film_reader_close(reader);
}

TEST(failing_memory_is_survived)
{
    uint64_t asked;

    record_stories(200, true);
    film_alloc_fail_at(UINT64_MAX);
    read_all();
    asked = film_alloc_fail_never();
    CHECK(asked > 20);
    for (uint64_t n = 1; n <= asked; n++) {
        film_alloc_fail_at(n);
        read_all();
        film_alloc_fail_never();
    }
    unlink(path);
}

/* Bytes of the windows, which have no checksum, turned one by one. */
TEST(damaged_windows_are_survived)
{
    enum { TRIES = 3000 };
    FILE *file;
    long size;
    uint32_t state = 12345;

    record_stories(40, false);
    file = fopen(path, "r+b");
    CHECK(file != NULL && fseek(file, 0, SEEK_END) == 0);
    size = ftell(file);
    CHECK(size > 4096);
    for (int i = 0; i < TRIES; i++) {
        long at;
        int byte;
        state = state * 1664525u + 1013904223u;
        /* the first windows' first pages are where the rows and records are */
        at = 4096 + (long)(state >> 8) % 3 * (long)FILM_WINDOW_BYTES +
             (long)(state >> 12) % 4000;
        if (at >= size) {
            continue;
        }
        CHECK(fseek(file, at, SEEK_SET) == 0);
        byte = fgetc(file);
        CHECK(fseek(file, at, SEEK_SET) == 0);
        fputc((int)(state >> 24), file);
        fflush(file);
        read_all();
        if (i % 4 != 0) { /* some damage stays */
            CHECK(fseek(file, at, SEEK_SET) == 0);
            fputc(byte, file);
            fflush(file);
        }
    }
    fclose(file);
    unlink(path);
}

/* What the log says of the story, without its columns of times. */
static void
check_log(const char *const *variables, size_t count, bool lines, const char *expected)
{
    char *paths[] = {path};
    film_recordings set;
    film_selection selection;
    film_merge_range range = film_merge_everything();
    film_merge *merge;
    film_merged merged;
    film_log_text *log;
    film_buffer bytes = {0};
    film_output output = {0};
    char *at;

    CHECK(film_recordings_open(&set, paths, 1, NULL) == FILM_OK);
    CHECK(film_selection_init(&selection, &set, NULL) == FILM_OK);
    CHECK(film_selection_follow_values(&selection, true, NULL) == FILM_OK);
    selection.variables = (char *const *)(uintptr_t)variables;
    selection.variable_count = count;
    selection.without_lines = !lines;
    CHECK(film_log_text_new(&set, false, &log, NULL) == FILM_OK);
    film_log_text_use(log, &selection);
    CHECK(film_output_init(&output, -1, NULL) == FILM_OK);
    output.memory = &bytes;
    CHECK(film_merge_open(&set, &range, &merge, NULL) == FILM_OK);
    while (film_merge_next(merge, &merged, NULL) == FILM_OK) {
        if (film_selection_takes(&selection, 0, merged.event)) {
            film_log_text_write(log, &output, &merged);
        }
        film_selection_note(&selection, 0, merged.event);
    }
    film_output_drain(&output);
    film_buffer_put_byte(&bytes, 0);
    at = (char *)bytes.data;
    for (const char *line = expected; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        CHECK(strlen(at) > 21);
        at += 21; /* time and line number */
        if (strncmp(at, line, length) != 0) {
            fprintf(stderr, "not %.*s but %s\n", (int)length, line, at);
            exit(1);
        }
        at += strcspn(at, "\n") + 1;
        line += length + 1;
    }
    CHECK(*at == '\0');
    film_merge_close(merge);
    film_output_reset(&output);
    film_log_text_free(log);
    film_selection_reset(&selection);
    film_recordings_close(&set);
    film_buffer_reset(&bytes);
}

TEST(the_log_tells_values_before_and_after)
{
    static const char *const by_name[] = {"x"}, *const by_owner[] = {"b.c*", "b"};

    record_stories(2, true);
    check_log(NULL, 0, false,
              "thread_start MainThread\n"
              "run m.f(a=1, b=[1, 2, 3])  m.py:10\n"
              "  upd x -> 100000\n"
              "  upd b.count -> 'abc'\n"
              "  upd b['k'] -> 2.5\n"
              "  upd n -> None\n"
              "  upd G -> True\n"
              "  del x 100000\n"
              "  del b['k'] 2.5\n"
              "  apd b (list)(len)3 -> 4  [1, 2, 3, 4]\n"
              "end m.f\n"
              "run m.f(a=1, b=[1, 2, 3])  m.py:10\n"
              "  upd x -> 100000\n"
              "  upd b.count 'abc' -> 'abc'\n"
              "  upd b['k'] -> 2.5\n"
              "  upd n -> None\n"
              "  upd G True -> True\n"
              "  del x 100000\n"
              "  del b['k'] 2.5\n"
              "  apd b (list)(len)3 -> 4  [1, 2, 3, 4]\n"
              "end m.f\n");
    check_log(by_name, 1, false,
              "  upd x -> 100000\n"
              "  del x 100000\n"
              "  upd x -> 100000\n"
              "  del x 100000\n");
    /* An item of b is b's. */
    check_log(by_owner, 2, true,
              "  upd b.count -> 'abc'\n"
              "  upd b['k'] -> 2.5\n"
              "  del b['k'] 2.5\n"
              "  apd b (list)(len)3 -> 4  [1, 2, 3, 4]\n"
              "  upd b.count 'abc' -> 'abc'\n"
              "  upd b['k'] -> 2.5\n"
              "  del b['k'] 2.5\n"
              "  apd b (list)(len)3 -> 4  [1, 2, 3, 4]\n");
    unlink(path);
}

TEST(kinds_are_counted_in_chunks_and_windows)
{
    uint64_t counts[FILM_KIND_COUNT];

    for (int closed = 0; closed < 2; closed++) {
        film_reader *reader;
        record_stories(5000, closed == 1);
        reader = open_reader(path);
        CHECK(film_reader_kind_counts(reader, counts, NULL) == FILM_OK);
        CHECK_EQUAL(counts[FILM_KIND_CALL], 5000);
        CHECK_EQUAL(counts[FILM_KIND_LINE], 10000);
        CHECK_EQUAL(counts[FILM_KIND_SET], 25000);
        CHECK_EQUAL(counts[FILM_KIND_DELETE], 10000);
        CHECK_EQUAL(counts[FILM_KIND_CHANGE], 5000);
        CHECK_EQUAL(counts[FILM_KIND_THREAD_START], 1);
        film_reader_close(reader);
    }
    unlink(path);
}

/* Two runs of one program have one digest; another value, another digest. */
TEST(digests_tell_values_apart)
{
    uint64_t digests[3] = {0};

    for (int run = 0; run < 3; run++) {
        film_writer *writer = begin(0);
        uint32_t code = add_code(writer);
        film_thread *thread = film_writer_thread_begin(writer, "MainThread", 1);
        film_reader *reader;
        CHECK(film_append_call(thread, code, 0));
        for (int i = 0; i < 100; i++) {
            set_int(thread, 2, run == 2 && i == 50 ? 1 : i);
        }
        CHECK(film_writer_close(writer, NULL, 0, NULL) == FILM_OK);
        reader = open_reader(path);
        for (size_t i = 0; i < film_reader_chunk_count(reader); i++) {
            const film_chunk_info *chunk = film_reader_chunk(reader, i);
            digests[run] = chunk->stream == 1 ? chunk->value_digest : digests[run];
        }
        film_reader_close(reader);
    }
    CHECK(digests[0] != 0 && digests[0] == digests[1] && digests[1] != digests[2]);
    unlink(path);
}

int
main(int argc, char **argv)
{
    static const film_test tests[] = {
        TEST_ENTRY(values_come_back_from_chunks),
        TEST_ENTRY(values_come_back_from_windows),
        TEST_ENTRY(values_come_back_from_both),
        TEST_ENTRY(failing_memory_is_survived),
        TEST_ENTRY(damaged_windows_are_survived),
        TEST_ENTRY(the_log_tells_values_before_and_after),
        TEST_ENTRY(kinds_are_counted_in_chunks_and_windows),
        TEST_ENTRY(digests_tell_values_apart),
    };

    return run_tests(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
