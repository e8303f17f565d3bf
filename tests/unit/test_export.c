/* test_export.c: the output layer: numbers and texts, whole files or none, and every
 * exporter over a small recording, also without memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "captures.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

#include <filmstrip/filmstrip.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "export/event_json.h"
#include "export/exporter.h"
#include "export/log.h"
#include "export/output.h"
#include "export/output_file.h"
#include "writer/append.h"
#include "writer/writer.h"

static bool
holds(capture *from, const char *expected)
{
    bool equal;

    CHECK(film_output_flush(&from->output, NULL) == FILM_OK);
    equal = from->bytes.length == strlen(expected) &&
            memcmp(from->bytes.data, expected, from->bytes.length) == 0;
    if (!equal) {
        fprintf(stderr, "got: %.*s\n", (int)from->bytes.length,
                (const char *)from->bytes.data);
    }
    film_buffer_clear(&from->bytes);
    return equal;
}

static size_t
count_of(const capture *from, const char *needle)
{
    size_t count = 0, length = strlen(needle);

    for (size_t i = 0; i + length <= from->bytes.length; i++) {
        count += memcmp(from->bytes.data + i, needle, length) == 0;
    }
    return count;
}

TEST(numbers_are_written_as_printf_does)
{
    uint64_t number = 0;
    char ours[24], theirs[24];

    for (int i = 0; i < 100000; i++) {
        char *end = film_format_u64(ours, number);
        *end = '\0';
        snprintf(theirs, sizeof(theirs), "%" PRIu64, number);
        CHECK(strcmp(ours, theirs) == 0);
        number = number * 3 + 1;
    }
    for (uint64_t power = 1, i = 0; i < 20; i++, power *= 10) {
        for (uint64_t near = power - 1; near <= power + 1; near++) {
            char *end = film_format_u64(ours, near);
            *end = '\0';
            snprintf(theirs, sizeof(theirs), "%" PRIu64, near);
            CHECK(strcmp(ours, theirs) == 0);
        }
    }
}

TEST(texts_cannot_leave_their_place)
{
    capture to;
    film_text hostile =
        film_text_of("a\"\\\n\x1b[31m\x7f\xc2\x9b\xe2\x80\xae<&'>\xc3\xa9");

    open_capture(&to);
    film_output_json(&to.output, hostile);
    CHECK(holds(&to, "\"a\\\"\\\\\\n\\u001b[31m\\u007f\\u009b\\u202e<&'>\xc3\xa9\""));
    film_output_display(&to.output, hostile);
    CHECK(holds(&to, "a\"\\\\n\\x1b[31m\\x7f\\x9b\\u202e<&'>\xc3\xa9"));
    film_output_xml(&to.output, hostile);
    CHECK(holds(&to,
                "a&quot;\\\\n\\x1b[31m\\x7f\\x9b\\u202e&lt;&amp;&apos;&gt;\xc3\xa9"));
    film_output_display(&to.output, (film_text){"\xe2\x80", 2}); /* cut in two */
    CHECK(holds(&to, "\xe2\x80"));
    close_capture(&to);
}

TEST(durations_keep_three_figures)
{
    static const struct {
        uint64_t ns;
        const char *text;
    } cases[] = {{0, "0ns"},
                 {999, "999ns"},
                 {1000, "1.00us"},
                 {12345, "12.3us"},
                 {999999, "999.9us"},
                 {1000000, "1.00ms"},
                 {250000000, "250.0ms"},
                 {1500000000, "1.50s"},
                 {3600000000000, "3600s"}};
    capture to;

    open_capture(&to);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        film_output_duration(&to.output, cases[i].ns);
        CHECK(holds(&to, cases[i].text));
    }
    close_capture(&to);
}

TEST(long_output_is_whole)
{
    capture to;
    char *piece = film_alloc(200000);

    CHECK(piece != NULL);
    memset(piece, 'x', 200000);
    open_capture(&to);
    film_output_byte(&to.output, '<');
    film_output_write(&to.output, piece, 200000); /* more than the buffer */
    for (int i = 0; i < 100000; i++) {
        film_output_u64(&to.output, 12345);
    }
    CHECK(film_output_flush(&to.output, NULL) == FILM_OK);
    CHECK_EQUAL(to.bytes.length, 1 + 200000 + 500000);
    CHECK(to.bytes.data[0] == '<' && to.bytes.data[200000] == 'x');
    close_capture(&to);
    film_free(piece);
}

TEST(a_closed_pipe_is_an_end_and_a_full_disk_is_not)
{
    film_output output;
    film_error error = {0};
    int ends[2];
    int full = open("/dev/full", O_WRONLY);

    signal(SIGPIPE, SIG_IGN);
    CHECK(pipe(ends) == 0);
    close(ends[0]);
    CHECK(film_output_init(&output, ends[1], NULL) == FILM_OK);
    film_output_text(&output, "lost");
    CHECK(film_output_flush(&output, &error) == FILM_END);
    film_output_reset(&output);
    close(ends[1]);
    if (full >= 0) {
        CHECK(film_output_init(&output, full, NULL) == FILM_OK);
        film_output_text(&output, "lost");
        CHECK(film_output_flush(&output, &error) == FILM_NO_SPACE);
        CHECK(strstr(error.message, "No space") != NULL);
        film_output_reset(&output);
        close(full);
    }
}

TEST(files_appear_whole_or_not_at_all)
{
    film_output_file file;
    film_error error = {0};
    struct stat found;
    char path[64], link[64];

    snprintf(path, sizeof(path), "export-%d.out", (int)getpid());
    snprintf(link, sizeof(link), "export-%d.link", (int)getpid());
    CHECK(film_output_file_create(&file, path, false, &error) == FILM_OK);
    CHECK(write(file.fd, "one", 3) == 3);
    film_output_file_discard(&file);
    CHECK(lstat(path, &found) != 0 && errno == ENOENT);

    CHECK(film_output_file_create(&file, path, false, &error) == FILM_OK);
    CHECK(film_output_file_commit(&file, &error) == FILM_OK);
    CHECK(lstat(path, &found) == 0 && (found.st_mode & 0777) == 0600);
    film_output_file_discard(&file); /* after a commit: nothing */
    CHECK(lstat(path, &found) == 0);

    CHECK(film_output_file_create(&file, path, false, &error) == FILM_EXISTS);
    CHECK(symlink(path, link) == 0);
    CHECK(film_output_file_create(&file, link, false, &error) == FILM_EXISTS);
    /* Replacing a link replaces the link; what it points to stays. */
    CHECK(film_output_file_create(&file, link, true, &error) == FILM_OK);
    CHECK(write(file.fd, "two", 3) == 3);
    CHECK(film_output_file_commit(&file, &error) == FILM_OK);
    CHECK(lstat(link, &found) == 0 && S_ISREG(found.st_mode) && found.st_size == 3);
    CHECK(lstat(path, &found) == 0 && found.st_size == 0);
    CHECK(film_output_file_create(&file, "/dev/null", true, &error) == FILM_EXISTS);
    unlink(path);
    unlink(link);
}

/* main calls a generator twice, a function that raises, and is left open. */
static void
make_film(film_recordings *set)
{
    static char path[64];
    char *paths[] = {path};
    film_writer_options options = {.path = path, .replace = true};
    film_writer *writer;
    film_thread *thread;
    uint32_t codes[3], type;
    uint64_t frame, message;
    static const char *const names[] = {"main", "gen;erator", "f\x1b"};

    snprintf(path, sizeof(path), "export-%d.film", (int)getpid());
    CHECK(film_writer_open(&options, &writer, NULL) == FILM_OK);
    for (uint32_t i = 0; i < 3; i++) {
        film_code_record code = {.file = "m.py",
                                 .module = "m",
                                 .qualname = names[i],
                                 .name = names[i],
                                 .first_line = i + 1};
        codes[i] = film_writer_code(writer, &code);
    }
    type = film_writer_string(writer, "ValueError", 10);
    message = film_writer_value(writer, 0, "a \"word\"", 8, 0);
    thread = film_writer_thread_begin(writer, "MainThread", 1);
    CHECK(thread != NULL);
    CHECK(film_append_call(thread, codes[0], 0));
    frame = film_thread_next_frame(thread);
    CHECK(film_append_call(thread, codes[1], 1));
    CHECK(film_append_yield(thread, 1));
    CHECK(film_append_resume(thread, frame, codes[1], 1, 1));
    CHECK(film_append_return(thread, 1));
    CHECK(film_append_call(thread, codes[2], 1));
    CHECK(film_append_exception(thread, FILM_KIND_RAISE, 1, type, message));
    CHECK(film_append_exception(thread, FILM_KIND_UNWIND, 1, type, message));
    CHECK(film_append_exception(thread, FILM_KIND_HANDLED, 1, type, message));
    CHECK(film_writer_close(writer, NULL, 0, NULL) == FILM_OK);
    CHECK(film_recordings_open(set, paths, 1, NULL) == FILM_OK);
    unlink(path);
}

TEST(every_exporter_balances)
{
    film_recordings set;
    capture to;

    make_film(&set);
    open_capture(&to);
    CHECK(film_export_chrome(&set, &to.output, NULL) == FILM_OK);
    CHECK(film_output_flush(&to.output, NULL) == FILM_OK);
    CHECK_EQUAL(count_of(&to, "\"ph\":\"B\""), 4);
    CHECK_EQUAL(count_of(&to, "\"ph\":\"E\""), 4);
    CHECK_EQUAL(count_of(&to, "\"exception\":\"ValueError\""), 1);
    film_buffer_clear(&to.bytes);
    CHECK(film_export_speedscope(&set, &to.output, NULL) == FILM_OK);
    CHECK(film_output_flush(&to.output, NULL) == FILM_OK);
    CHECK_EQUAL(count_of(&to, "\"type\":\"O\""), 4);
    CHECK_EQUAL(count_of(&to, "\"type\":\"C\""), 4);
    CHECK_EQUAL(count_of(&to, "\x1b"), 0);
    film_buffer_clear(&to.bytes);
    CHECK(film_export_collapsed(&set, &to.output, NULL) == FILM_OK);
    CHECK(film_output_flush(&to.output, NULL) == FILM_OK);
    CHECK_EQUAL(count_of(&to, "gen;erator"), 0);
    film_buffer_clear(&to.bytes);
    CHECK(film_export_pstats(&set, &to.output, NULL) == FILM_OK);
    CHECK(film_output_flush(&to.output, NULL) == FILM_OK);
    CHECK(to.bytes.data[0] == '{' && to.bytes.data[to.bytes.length - 1] == '0');
    CHECK_EQUAL(count_of(&to, "m.py"),
                5); /* three functions, two of them with callers */
    close_capture(&to);
    film_recordings_close(&set);
}

TEST(dump_lines_have_their_keys)
{
    film_recordings set;
    film_event_json json;
    film_cursor *cursor;
    const film_event *event;
    capture to;

    make_film(&set);
    open_capture(&to);
    CHECK(film_event_json_init(&json, set.items[0].reader, NULL) == FILM_OK);
    CHECK(film_cursor_open(set.items[0].reader, 1, 0, &cursor, NULL) == FILM_OK);
    while (film_cursor_next(cursor, &event, NULL) == FILM_OK) {
        film_event_json_write(&json, &to.output, event);
    }
    CHECK(film_output_flush(&to.output, NULL) == FILM_OK);
    CHECK_EQUAL(count_of(&to, "\n"), film_reader_info(set.items[0].reader)->events);
    CHECK_EQUAL(count_of(&to, "\"kind\":\"call\",\"frame\":"), 3);
    CHECK_EQUAL(count_of(&to, ",\"function\":\"m.main\",\"file\":\"m.py\",\"line\":1,"
                              "\"caller_line\":null}\n"),
                1);
    CHECK_EQUAL(count_of(&to, "\"exception\":{\"type\":\"ValueError\","
                              "\"message\":\"a \\\"word\\\"\"}}\n"),
                3);
    film_cursor_close(cursor);
    film_event_json_reset(&json);
    close_capture(&to);
    film_recordings_close(&set);
}

TEST(exporters_survive_without_memory)
{
    film_recordings set;

    make_film(&set);
    for (const film_exporter *exporter = film_exporters; exporter->name != NULL;
         exporter++) {
        film_status status = FILM_NO_MEMORY;

        if (strcmp(exporter->name, "svg") == 0) {
            continue; /* its child writes to a descriptor, not to memory */
        }
        for (uint64_t n = 1; status != FILM_OK; n++) {
            int nowhere = open("/dev/null", O_WRONLY);
            film_output output;

            CHECK(n < 10000);
            CHECK(film_output_init(&output, nowhere, NULL) == FILM_OK);
            film_alloc_fail_at(n);
            status = exporter->run(&set, &output, NULL);
            film_alloc_fail_never();
            CHECK(status == FILM_OK || status == FILM_NO_MEMORY);
            film_output_reset(&output);
            close(nowhere);
        }
    }
    film_recordings_close(&set);
}

int
main(int argc, char **argv)
{
    static const film_test tests[] = {
        TEST_ENTRY(numbers_are_written_as_printf_does),
        TEST_ENTRY(texts_cannot_leave_their_place),
        TEST_ENTRY(durations_keep_three_figures),
        TEST_ENTRY(long_output_is_whole),
        TEST_ENTRY(a_closed_pipe_is_an_end_and_a_full_disk_is_not),
        TEST_ENTRY(files_appear_whole_or_not_at_all),
        TEST_ENTRY(every_exporter_balances),
        TEST_ENTRY(dump_lines_have_their_keys),
        TEST_ENTRY(exporters_survive_without_memory),
    };

    return run_tests(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
