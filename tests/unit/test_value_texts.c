/* test_value_texts.c: values as Python would write them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "value_stories.h"

#include <math.h>

#include <filmstrip/filmstrip.h>

#include "export/event_json.h"
#include "format/token.h"
#include "reader/literal.h"
#include "writer/append.h"

static void
check_literal(const film_buffer *out, const char *expected)
{
    if (out->length != strlen(expected) ||
        memcmp(out->data, expected, out->length) != 0) {
        fprintf(stderr, "%.*s is not %s\n", (int)out->length, (const char *)out->data,
                expected);
        exit(1);
    }
}

TEST(floats_are_written_as_python_writes_them)
{
    static const struct {
        double number;
        const char *text;
    } cases[] = {{0.0, "0.0"},
                 {-0.0, "-0.0"},
                 {1.0, "1.0"},
                 {0.1, "0.1"},
                 {1.0 / 3.0, "0.3333333333333333"},
                 {0.1 + 0.2, "0.30000000000000004"},
                 {1e15, "1000000000000000.0"},
                 {1e16, "1e+16"},
                 {123456789012345680.0, "1.2345678901234568e+17"},
                 {9007199254740993.0, "9007199254740992.0"},
                 {1e-4, "0.0001"},
                 {1.5e-5, "1.5e-05"},
                 {1e22, "1e+22"},
                 {1.7976931348623157e308, "1.7976931348623157e+308"},
                 {5e-324, "5e-324"},
                 {2.2250738585072014e-308, "2.2250738585072014e-308"},
                 {-123.456, "-123.456"},
                 {294.25771, "294.25771"},
                 {12345.5, "12345.5"}};
    film_buffer out = {0};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        film_buffer_clear(&out);
        film_literal_float(&out, cases[i].number);
        check_literal(&out, cases[i].text);
    }
    film_buffer_clear(&out);
    film_literal_float(&out, (double)INFINITY);
    film_literal_float(&out, (double)-INFINITY);
    film_literal_float(&out, (double)NAN);
    check_literal(&out, "inf-infnan");
    film_buffer_clear(&out);
    film_literal_complex(&out, 1.0, -2.5);
    film_literal_complex(&out, 0.0, 1e16);
    film_literal_complex(&out, -0.0, 1.0);
    check_literal(&out, "(1-2.5j)1e+16j(-0+1j)");
    film_buffer_reset(&out);
}

TEST(ints_of_any_size_are_decimal)
{
    static const uint8_t power[] = {0, 0, 0, 0, 0, 0, 0, 0, 1}; /* 2**64 */
    static const uint8_t minus_power[] = {0, 0, 0, 0, 0, 0, 0, 0, 0xff};
    static const uint8_t least[] = {0, 0, 0, 0x80};
    static const uint8_t billion[] = {0x00, 0xca, 0x9a, 0x3b, 0}; /* 10**9 */
    static const uint8_t minus_one[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    film_buffer out = {0};

    film_literal_big_int(&out, power, sizeof(power));
    film_buffer_put_byte(&out, ' ');
    film_literal_big_int(&out, minus_power, sizeof(minus_power));
    film_buffer_put_byte(&out, ' ');
    film_literal_big_int(&out, least, sizeof(least));
    film_buffer_put_byte(&out, ' ');
    film_literal_big_int(&out, billion, sizeof(billion));
    film_buffer_put_byte(&out, ' ');
    film_literal_big_int(&out, minus_one, sizeof(minus_one));
    film_buffer_put_byte(&out, ' ');
    film_literal_big_int(&out, NULL, 0);
    film_buffer_put_byte(&out, ' ');
    film_literal_int(&out, INT64_MIN);
    check_literal(&out, "18446744073709551616 -18446744073709551616 -2147483648 "
                        "1000000000 -1 0 -9223372036854775808");
    film_buffer_reset(&out);
}

TEST(texts_are_quoted_as_python_quotes_them)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {{"", "''"},
                 {"plain", "'plain'"},
                 {"it's", "\"it's\""},
                 {"say \"it's\"", "'say \"it\\'s\"'"},
                 {"a\\b\n\r\t", "'a\\\\b\\n\\r\\t'"},
                 {"\x01\x7f", "'\\x01\\x7f'"},
                 {"\xc3\xa9\xe2\x82\xac", "'\xc3\xa9\xe2\x82\xac'"},
                 {"\xc2\xa0", "'\\xa0'"},
                 {"\xe2\x80\xa8", "'\\u2028'"},
                 {"\xed\xa0\x80", "'\\ud800'"},
                 {"\xf0\x9f\x98\x80", "'\xf0\x9f\x98\x80'"},
                 {"\xf3\xa0\x80\x81", "'\\U000e0001'"},
                 {"\xff", "'\xef\xbf\xbd'"},
                 {"\xe2\x82", "'\xef\xbf\xbd\xef\xbf\xbd'"}};
    film_buffer out = {0};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        film_buffer_clear(&out);
        film_literal_str(&out, (const uint8_t *)cases[i].text, strlen(cases[i].text));
        check_literal(&out, cases[i].expected);
    }
    film_buffer_clear(&out);
    film_literal_bytes(&out, (const uint8_t *)"a'\0\xff\n", 5);
    check_literal(&out, "b\"a'\\x00\\xff\\n\"");
    film_buffer_reset(&out);
}

/* Records of every form, and what they come to. */
typedef struct form_case {
    const char *type;
    uint32_t flags;
    const char *body;
    size_t length;
    const char *text;
} form_case;

#define BODY(text) text, sizeof(text) - 1

/* One event for each record, then the recording is closed and read. */
static film_reader *
film_of_records(const form_case *cases, size_t count, film_cursor **cursor)
{
    film_writer *writer = begin(0);
    uint32_t code = add_code(writer);
    film_thread *thread = film_writer_thread_begin(writer, "MainThread", 1);
    film_reader *reader;

    CHECK(film_append_call(thread, code, 0));
    for (size_t i = 0; i < count; i++) {
        uint8_t token[FILM_TOKEN_MAX];
        uint64_t id = film_writer_value_record(
            writer, string(writer, cases[i].type), cases[i].flags,
            (const uint8_t *)cases[i].body, cases[i].length);
        size_t length =
            (size_t)(film_token_put_value(token, FILM_TOKEN_VALUE, id - 1) - token);
        CHECK(id == i + 1);
        CHECK(film_append_set(thread, FILM_SET_LOCAL, 2, token, length));
    }
    CHECK(film_writer_close(writer, NULL, 0, NULL) == FILM_OK);
    reader = open_reader(path);
    CHECK(film_cursor_open(reader, 1, 2, cursor, NULL) == FILM_OK);
    return reader;
}

TEST(every_form_of_value_has_its_text)
{
    /* string ids: 1 to 4 are the locals of add_code, 5 on are added below */
    static const form_case cases[] = {
        {"tuple", 4, BODY("\x01\x01\x02\x01!"), "(1,)"},
        {"tuple", 4, BODY("\x01\x01\x01\x00"), "()"},
        {"set", 4, BODY("\x01\x01\x01\x00"), "set()"},
        {"set", 4, BODY("\x01\x01\x03\x02!\""), "{1, 2}"},
        {"frozenset", 4, BODY("\x01\x01\x01\x00"), "frozenset()"},
        {"frozenset", 4, BODY("\x01\x01\x02\x01!"), "frozenset({1})"},
        {"collections.deque", 4, BODY("\x01\x01\x02\x01!"), "deque([1])"},
        {"list", 5, BODY("\x01\x01\x65\x01!"), "[1, ...]"},
        {"dict", 4, BODY("\x01\x02\x02\x01!\x08\x01x"), "{1: 'x'}"},
        {"dict", 4, BODY("\x01\x02\x01\x00"), "{}"},
        {"collections.OrderedDict", 4, BODY("\x01\x02\x02\x01!\""),
         "OrderedDict({1: 2})"},
        {"m.Point", 4, BODY("\x05\x03\x00\x01\x01!"), "<Point #5>"},
        {"m.Lock", 4, BODY("\x06\x04\x00\x00"), "<Lock #6>"},
        {"numpy.ndarray", 4, BODY("\x06\x05\x03\x02\x02\x03\x01"),
         "ndarray(shape=(2, 3), dtype=a)"},
        {"torch.Tensor", 4, BODY("\x06\x05\x03\x01\x02\x01"),
         "Tensor(shape=(2,), dtype=a)"},
        {"function", 4, BODY("\x06\x06\x00\x01\x01"), "<function a>"},
        {"type", 4, BODY("\x06\x06\x00\x01\x01"), "<class 'a'>"},
        {"module", 4, BODY("\x06\x06\x00\x01\x01"), "<module 'a'>"},
        {"ValueError", 4, BODY("\x06\x07\x00\x01\x08\x01x"), "ValueError('x')"},
        {"bytearray", 4, BODY("\x06\x08\x03\x02\x61\x00"), "bytearray(b'a\\x00')"},
        {"str", 0, BODY("a longer str than a token holds"),
         "'a longer str than a token holds'"},
        {"str", 9, BODY("\x64hashhashhead"), "'head'..."},
        {"bytes", 0, BODY("\x00\x01"), "b'\\x00\\x01'"},
        {"int", 0, BODY("\x00\x00\x00\x00\x00\x00\x00\x00\x01"),
         "18446744073709551616"},
        {"complex", 0,
         BODY("\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\x00"
              "\x00\x40"),
         "(1+2j)"},
        {"list", 4, BODY("\x01\x01\x02\x01\x0a\x01\x06"), "[<m #1>]"},
        {"str", 2, BODY(""), "[redacted]"},
    };
    enum { COUNT = sizeof(cases) / sizeof(cases[0]) };
    film_cursor *cursor;
    film_reader *reader = film_of_records(cases, COUNT, &cursor);

    for (size_t i = 0; i < COUNT; i++) {
        const char *type = cases[i].type;
        check_value(reader, next_event(cursor), 0, cases[i].text, type);
    }
    film_cursor_close(cursor);
    film_reader_close(reader);
    unlink(path);
}

TEST(hostile_records_have_a_text_and_an_end)
{
    static const form_case cases[] = {
        /* itself, a later one, one that is not there */
        {"list", 4, BODY("\x01\x01\x02\x01\x06\x00"), "[<not in the recording>]"},
        {"list", 4, BODY("\x01\x01\x02\x01\x06\x05"), "[<not in the recording>]"},
        {"list", 4, BODY("\x01\x01\x02\x01\x09\xff\x7f"), "[<not in the recording>]"},
        /* more items than bytes, a token that is cut, an unknown form and token */
        {"list", 4, BODY("\x01\x01\x02\x05\x21"), "<not in the recording>"},
        {"list", 4, BODY("\x01\x01\x02\x02\x21\x08"), "[1, ...]"},
        {"thing", 4, BODY("\x01\x63\x02\x02\x21\x21"), "<thing #1>"},
        {"list", 4, BODY("\x01\x01\x02\x01\x0f"), "[...]"},
        {"list", 4, BODY(""), "<not in the recording>"},
        {"list", 9, BODY("\x10short"), "<not in the recording>"},
        {"numpy.ndarray", 4, BODY("\x06\x05\x03\x02\x02"), "<not in the recording>"},
    };
    enum { COUNT = sizeof(cases) / sizeof(cases[0]) };
    film_cursor *cursor;
    film_reader *reader = film_of_records(cases, COUNT, &cursor);

    for (size_t i = 0; i < COUNT; i++) {
        const film_event *event = next_event(cursor);
        film_value value;
        CHECK(film_reader_event_value(reader, event, 0, 1000, &value, NULL) == FILM_OK);
        if (strcmp(value.text.data, cases[i].text) != 0) {
            fprintf(stderr, "%zu: %s is not %s\n", i, value.text.data, cases[i].text);
            exit(1);
        }
        CHECK(film_reader_event_value(reader, event, 1, 1000, &value, NULL) ==
              FILM_MISUSE);
    }
    film_cursor_close(cursor);
    film_reader_close(reader);
    unlink(path);
}

/* Writes the event as dump does; gives the length. */
static size_t
dump_length(film_event_json *json, const film_event *event)
{
    film_buffer bytes = {0};
    film_output output = {0};
    size_t length;

    CHECK(film_output_init(&output, -1, NULL) == FILM_OK);
    output.memory = &bytes;
    film_event_json_write(json, &output, event);
    film_output_drain(&output);
    length = bytes.length;
    CHECK(length > 2 && bytes.data[length - 1] == '\n' && bytes.data[0] == '{');
    film_output_reset(&output);
    film_buffer_reset(&bytes);
    return length;
}

/* Record n is [n - 1, n - 1]: 2^60 items if all were followed. */
TEST(nesting_without_end_is_cut)
{
    enum { COUNT = 60 };
    static uint8_t bodies[COUNT][16];
    static form_case cases[COUNT];
    film_cursor *cursor;
    film_reader *reader;
    film_event_json json;
    const film_event *event = NULL;
    film_value value;

    for (size_t i = 0; i < COUNT; i++) {
        uint8_t *to = bodies[i];
        *to++ = 1;
        *to++ = FILM_OBJECT_SEQUENCE;
        *to++ = 3;
        *to++ = i == 0 ? 0 : 2;
        for (int k = 0; i > 0 && k < 2; k++) {
            to = film_token_put_value(to, FILM_TOKEN_VALUE, i - 1);
        }
        cases[i] = (form_case){"list", 4, (const char *)bodies[i],
                               (size_t)(to - bodies[i]), ""};
    }
    reader = film_of_records(cases, COUNT, &cursor);
    CHECK(film_event_json_init(&json, reader, NULL) == FILM_OK);
    for (size_t i = 0; i < COUNT; i++) {
        event = next_event(cursor);
    }
    CHECK(film_reader_event_value(reader, event, 0, 1000, &value, NULL) == FILM_OK);
    CHECK(value.cut && value.text.length < 1500);
    CHECK(dump_length(&json, event) < (size_t)64 << 20);
    film_event_json_reset(&json);
    film_cursor_close(cursor);
    film_reader_close(reader);
    unlink(path);
}

TEST(texts_keep_to_their_limit)
{
    static char body[5000];
    form_case one = {"str", 0, body, sizeof(body), ""};
    film_cursor *cursor;
    film_reader *reader;
    film_value value;

    for (size_t i = 0; i < sizeof(body); i += 2) {
        memcpy(body + i, "\xc3\xa9", 2);
    }
    reader = film_of_records(&one, 1, &cursor);
    CHECK(film_reader_event_value(reader, next_event(cursor), 0, 101, &value, NULL) ==
          FILM_OK);
    CHECK(value.cut && value.text.length < 110);
    CHECK(strcmp(value.text.data + value.text.length - 6, "\xc3\xa9'...") == 0);
    film_cursor_close(cursor);
    film_reader_close(reader);
    unlink(path);
}

int
main(int argc, char **argv)
{
    static const film_test tests[] = {
        TEST_ENTRY(floats_are_written_as_python_writes_them),
        TEST_ENTRY(ints_of_any_size_are_decimal),
        TEST_ENTRY(texts_are_quoted_as_python_quotes_them),
        TEST_ENTRY(every_form_of_value_has_its_text),
        TEST_ENTRY(hostile_records_have_a_text_and_an_end),
        TEST_ENTRY(nesting_without_end_is_cut),
        TEST_ENTRY(texts_keep_to_their_limit),
    };

    return run_tests(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
