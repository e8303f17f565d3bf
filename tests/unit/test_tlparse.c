/* test_tlparse.c: MD5, torch's structured log, and the ops of a recording in it. That
 * tlparse takes what is written is tested in tests/python/test_tlparse.py.
 * SPDX-License-Identifier: Apache-2.0 */
#include "captures.h"
#include "op_stories.h"

#include "base/alloc.h"
#include "base/md5.h"
#include "export/tlparse.h"
#include "export/trace_log.h"

/* What was written, ended by a NUL. */
static const char *
text_of(capture *from)
{
    CHECK(film_output_flush(&from->output, NULL) == FILM_OK);
    film_buffer_put_byte(&from->bytes, 0);
    CHECK(!from->bytes.failed);
    return (const char *)from->bytes.data;
}

static size_t
count_of(const char *text, const char *needle)
{
    size_t count = 0;

    while ((text = strstr(text, needle)) != NULL) {
        count++;
        text++;
    }
    return count;
}

static void
check_has(const char *text, const char *needle)
{
    if (strstr(text, needle) == NULL) {
        fprintf(stderr, "not found: %s\nin: %s\n", needle, text);
        CHECK(false);
    }
}

TEST(md5_is_that_of_rfc_1321)
{
    static const char *const known[][2] = {
        {"", "d41d8cd98f00b204e9800998ecf8427e"},
        {"a", "0cc175b9c0f1b6a831c399e269772661"},
        {"abc", "900150983cd24fb0d6963f7d28e17f72"},
        {"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
        {"abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"},
        {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
         "d174ab98d277d9f5a5611c2c9f419d9f"},
        {"12345678901234567890123456789012345678901234567890123456789012345678901234567"
         "89"
         "0",
         "57edf4a22be3c955ac49da2e2107b67a"}};
    /* The MD5 of the MD5s of 0 to 199 letters x: every length of a last block. By
     * Python's hashlib. */
    char all[200 * 32], text[FILM_MD5_TEXT], letters[200];

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        film_md5_text(known[i][0], strlen(known[i][0]), text);
        CHECK(strcmp(text, known[i][1]) == 0);
    }
    memset(letters, 'x', sizeof(letters));
    for (size_t i = 0; i < 200; i++) {
        film_md5_text(letters, i, text);
        memcpy(all + i * 32, text, 32);
    }
    film_md5_text(all, sizeof(all), text);
    CHECK(strcmp(text, "0f0e2ac786e6a42eac7e7de3a518cd0c") == 0);
}

TEST(a_log_has_strings_once_and_payloads_behind_tabs)
{
    capture to;
    film_trace_log log;
    film_buffer json = {0};
    film_text payload = film_text_of("one\r\n\ntwo\r\xff\n");
    const char *text;

    setenv("TZ", "UTC", 1);
    open_capture(&to);
    film_trace_log_begin(&log, &to.output, 1763195185675000123u, 77, 3, 5);
    CHECK_EQUAL(film_trace_log_string(&log, 0, film_text_of("a\"\n")), 5);
    CHECK_EQUAL(film_trace_log_string(&log, 0, film_text_of("b")), 6);
    CHECK_EQUAL(film_trace_log_string(&log, 0, film_text_of("a\"\n")), 5);
    film_buffer_append_text(&json, "{}");
    film_trace_log_write(&log, 1000000000u, "artifact", &json, &payload);
    film_trace_log_write(&log, 0, "link", &json, NULL);
    CHECK(!log.failed);
    text = text_of(&to);
    if (strcmp(text,
               "V1115 08:26:25.675000 77 filmstrip:1] {\"str\": [\"a\\\"\\n\", 5]}\n"
               "V1115 08:26:25.675000 77 filmstrip:1] {\"str\": [\"b\", 6]}\n"
               "V1115 08:26:26.675000 77 filmstrip:1] {\"artifact\": {}, "
               "\"rank\": 3, \"has_payload\": "
               "\"a8cc5d9fae9d411f717e17d30f63252b\"}\n"
               "\tone\n\t\n\ttwo\n\t\xef\xbf\xbd\n\t\n"
               "V1115 08:26:25.675000 77 filmstrip:1] {\"link\": {}, \"rank\": 3}\n") !=
        0) {
        fprintf(stderr, "%s", text);
        CHECK(false);
    }
    film_buffer_reset(&json);
    film_trace_log_reset(&log);
    close_capture(&to);
}

static void
open_set(film_recordings *set)
{
    char *paths[] = {path};

    CHECK(film_recordings_open(set, paths, 1, NULL) == FILM_OK);
    unlink(path);
}

TEST(ops_are_written_as_torchdbg_writes_them)
{
    film_recordings set;
    film_tlparse_options options = {0};
    film_tlparse_result result;
    capture to;
    const char *text;

    record_op_stories(2, true);
    open_set(&set);
    open_capture(&to);
    CHECK(film_tlparse_write(&set, &options, &to.output, &result, NULL) == FILM_OK);
    text = text_of(&to);
    /* Of three ops a story one raised and one is torch's own. */
    CHECK_EQUAL(count_of(text, "{\"eager_dispatch\": "), 2);
    CHECK_EQUAL(result.ops, 2);
    CHECK(result.note[0] == '\0');
    check_has(
        text,
        "{\"eager_dispatch\": {\"target\": \"torch.add\", \"stack\": [{\"name\": "
        "\"f\", \"line\": 11, \"filename\": 0, \"locals\": {\"a\": 1, \"b\": 2}}], "
        "\"args\": [{\"dtype\": \"torch.float32\", \"shape\": [64, 128]}, "
        "[{\"dtype\": \"torch.bfloat16\", \"shape\": [8, 64]}]], \"kwargs\": "
        "{\"alpha\": 2, \"out\": null}, \"user_name\": "
        "\"torch.nn.functional.linear\", \"user_line\": 11, \"user_filename\": 0, "
        "\"module\": \"layers.3.attn\", \"ret\": {\"dtype\": \"torch.int64\", "
        "\"shape\": []}}}\n");
    /* Each call and op begins and ends. */
    CHECK_EQUAL(count_of(text, "\"cat\": \"op\", \"ph\": \"B\""), 6);
    CHECK_EQUAL(count_of(text, "\"cat\": \"op\", \"ph\": \"E\""), 6);
    CHECK_EQUAL(count_of(text, "\"cat\": \"call\", \"ph\": \"B\""), 2);
    CHECK_EQUAL(count_of(text, "\"cat\": \"call\", \"ph\": \"E\""), 2);
    CHECK_EQUAL(count_of(text, "\"exception\": \"RuntimeError\""), 2);
    check_has(text, "{\"name\": \"filmstrip_ops_1\", \"encoding\": \"string\"}");
    check_has(text, "m.py:11 f  torch.mm(t3: f32[64, 128] cpu grad) raised "
                    "RuntimeError\n");
    check_has(text, "\"ops\": 2,\n");
    check_has(text, "\"ops_that_raised\": 2,\n");
    CHECK_EQUAL(count_of(text, "{\"str\": "), 1);
    CHECK_EQUAL(count_of(text, ": -1"), 0);
    close_capture(&to);
    film_recordings_close(&set);
}

TEST(a_part_is_exported_alone)
{
    film_recordings set;
    film_tlparse_options options = {.thread = 1, .strings = 7};
    film_tlparse_result result;
    capture to;
    const char *text;

    record_op_stories(3, true);
    open_set(&set);
    open_capture(&to);
    /* thread_start, then nine events a story: the second, from its call's line on. */
    options.first = 1 + OP_STORY_EVENTS + 1;
    options.end = 1 + 2 * OP_STORY_EVENTS;
    CHECK(film_tlparse_write(&set, &options, &to.output, &result, NULL) == FILM_OK);
    text = text_of(&to);
    CHECK_EQUAL(count_of(text, "{\"eager_dispatch\": "), 1);
    CHECK_EQUAL(count_of(text, "\"cat\": \"call\""), 0); /* it was open before */
    CHECK_EQUAL(count_of(text, "\"cat\": \"op\""), 6);
    check_has(text, "{\"str\": [\"m.py\", 7]}");
    CHECK_EQUAL(result.strings, 8);
    close_capture(&to);

    options.outer = 1; /* the frame of f is above the part */
    open_capture(&to);
    CHECK(film_tlparse_write(&set, &options, &to.output, &result, NULL) == FILM_OK);
    check_has(text_of(&to), "\"stack\": [], ");
    close_capture(&to);
    film_recordings_close(&set);
}

TEST(ops_that_did_not_end_are_told)
{
    film_writer *writer = begin(0);
    film_op_row op = {.function = string(writer, "torch.hang"),
                      .offset = FILM_NO_OFFSET};
    film_thread *thread = film_writer_thread_begin(writer, "MainThread", 1);
    film_tlparse_options options = {0};
    film_tlparse_result result;
    film_recordings set;
    capture to;
    const char *text;

    CHECK(thread != NULL && film_append_op(thread, &op));
    CHECK(film_writer_close(writer, NULL, 0, NULL) == FILM_OK);
    open_set(&set);
    open_capture(&to);
    CHECK(film_tlparse_write(&set, &options, &to.output, &result, NULL) == FILM_OK);
    text = text_of(&to);
    CHECK_EQUAL(count_of(text, "eager_dispatch"), 0);
    check_has(text, "\ttorch.hang() did not end\n");
    check_has(text, "\"ops_that_did_not_end\": 1,\n");
    close_capture(&to);
    film_recordings_close(&set);
}

TEST(it_survives_without_memory)
{
    film_recordings set;
    film_status status = FILM_NO_MEMORY;

    record_op_stories(1, true);
    open_set(&set);
    for (uint64_t n = 1; status != FILM_OK; n++) {
        film_tlparse_options options = {0};
        film_tlparse_result result;
        capture to;

        CHECK(n < 20000);
        open_capture(&to);
        film_alloc_fail_at(n);
        status = film_tlparse_write(&set, &options, &to.output, &result, NULL);
        film_alloc_fail_never();
        CHECK(status == FILM_OK || status == FILM_NO_MEMORY);
        close_capture(&to);
    }
    film_recordings_close(&set);
}

int
main(int argc, char **argv)
{
    static const film_test tests[] = {
        TEST_ENTRY(md5_is_that_of_rfc_1321),
        TEST_ENTRY(a_log_has_strings_once_and_payloads_behind_tabs),
        TEST_ENTRY(ops_are_written_as_torchdbg_writes_them),
        TEST_ENTRY(a_part_is_exported_alone),
        TEST_ENTRY(ops_that_did_not_end_are_told),
        TEST_ENTRY(it_survives_without_memory),
    };

    return run_tests(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
