/* test_values.c: level values from the writer to the reader: lines, writes, arguments,
 * snapshots; and values as Python would write them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "films.h"
#include "random.h"

#include <math.h>

#include <filmstrip/filmstrip.h>

#include "analysis/merge.h"
#include "analysis/selection.h"
#include "base/alloc.h"
#include "export/event_json.h"
#include "export/log.h"
#include "format/columns.h"
#include "format/records.h"
#include "format/state.h"
#include "format/token.h"
#include "format/value_columns.h"
#include "reader/literal.h"
#include "writer/append.h"

static char path[64];

static film_writer *
begin(uint64_t ring_bytes)
{
    film_writer_options options = {.path = path,
                                   .replace = true,
                                   .level = 2,
                                   .ring_bytes = ring_bytes,
                                   .python_version = 0x030c0000};
    film_writer *writer;

    if (path[0] == '\0') {
        snprintf(path, sizeof(path), "/tmp/filmstrip-values-%d.film", (int)getpid());
    }
    CHECK(film_writer_open(&options, &writer, NULL) == FILM_OK);
    return writer;
}

/* def f(a, b): with locals a, b, x and a free variable n. */
static uint32_t
add_code(film_writer *writer)
{
    static const test_local locals[] = {
        {"a", 0x20}, {"b", 0x20}, {"x", 0x20}, {"n", 0x80}};

    return add_function(writer, "f", locals, 4);
}

static void
set_int(film_thread *thread, uint32_t slot, int64_t number)
{
    uint8_t token[FILM_TOKEN_MAX];
    size_t length = (size_t)(film_token_put_int(token, number) - token);

    CHECK(film_append_set(thread, FILM_SET_LOCAL, slot, token, length));
}

/* A list of small ints as a record; gives its id. */
static uint64_t
put_list(film_writer *writer, uint64_t serial, const uint8_t *items, size_t count,
         bool cut)
{
    uint8_t body[256], *to = body;
    uint64_t id;

    to = film_varint_encode(to, serial);
    *to++ = FILM_OBJECT_SEQUENCE;
    to = film_varint_encode(to, count + 1 + (cut ? 100 : 0));
    to = film_varint_encode(to, count);
    for (size_t i = 0; i < count; i++) {
        to = film_token_put_int(to, items[i]);
    }
    id = film_writer_value_record(writer, string(writer, "list"),
                                  FILM_VALUE_OBJECT | (cut ? FILM_VALUE_CUT : 0), body,
                                  (size_t)(to - body));
    CHECK(id != 0);
    return id - 1;
}

static film_reader *
open_film(void)
{
    film_error error;
    film_reader *reader = NULL;

    if (film_reader_open(path, &reader, &error) != FILM_OK) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    return reader;
}

static const film_event *
next_event(film_cursor *cursor)
{
    const film_event *event = NULL;

    CHECK(film_cursor_next(cursor, &event, NULL) == FILM_OK);
    return event;
}

static void
check_value(film_reader *reader, const film_event *event, uint32_t index,
            const char *text, const char *type)
{
    film_value value;

    CHECK(film_reader_event_value(reader, event, index, 1000, &value, NULL) == FILM_OK);
    if (strcmp(value.text.data, text) != 0 || strcmp(value.type.data, type) != 0) {
        fprintf(stderr, "%s %s is not %s %s\n", value.type.data, value.text.data, type,
                text);
        exit(1);
    }
    CHECK_EQUAL(value.text.length, strlen(text));
}

static void
write_story(film_writer *writer, film_thread *thread, uint32_t code)
{
    static const uint8_t items[] = {1, 2, 3};
    uint8_t tokens[FILM_APPEND_TOKENS], *to;
    uint64_t list = put_list(writer, 7, items, 3, false);
    uint64_t longer = 0;

    /* f(1, [1, 2, 3]) */
    to = film_token_put_int(tokens, 1);
    CHECK(film_append_values(thread, 1, tokens, (size_t)(to - tokens)));
    to = film_token_put_value(tokens, FILM_TOKEN_VALUE, list);
    CHECK(film_append_values(thread, 1, tokens, (size_t)(to - tokens)));
    CHECK(film_append_call(thread, code, 0));
    CHECK(film_append_line(thread, 2, false));
    set_int(thread, 2, 100000);
    CHECK(film_append_line(thread, 9, true));
    /* a.count = 'abc' */
    to = film_token_put_value(tokens, FILM_TOKEN_OBJECT, list);
    to = film_token_put_text(to, "abc", 3);
    CHECK(film_append_set(thread, FILM_SET_ATTRIBUTE, string(writer, "count"), tokens,
                          (size_t)(to - tokens)));
    /* b['k'] = 2.5, by a __setitem__ */
    to = film_token_put_value(tokens, FILM_TOKEN_VALUE, list);
    to = film_token_put_text(to, "k", 1);
    to = film_token_put_float(to, 2.5);
    CHECK(film_append_set(thread, FILM_SET_ITEM_VIA, 0, tokens, (size_t)(to - tokens)));
    /* n = None; G = True; del x; del b['k'] */
    *tokens = FILM_TOKEN_NONE;
    CHECK(film_append_set(thread, FILM_SET_LOCAL, 3, tokens, 1));
    *tokens = FILM_TOKEN_TRUE;
    CHECK(film_append_set(thread, FILM_SET_GLOBAL, string(writer, "G"), tokens, 1));
    CHECK(film_append_delete(thread, FILM_SET_LOCAL, 2, tokens, 0));
    to = film_token_put_value(tokens, FILM_TOKEN_VALUE, list);
    to = film_token_put_text(to, "k", 1);
    CHECK(film_append_delete(thread, FILM_SET_ITEM, 0, tokens, (size_t)(to - tokens)));
    /* b.append(4) */
    longer = put_list(writer, 7, (const uint8_t[]){1, 2, 3, 4}, 4, false);
    to = film_token_put_value(tokens, FILM_TOKEN_VALUE, longer);
    CHECK(film_append_change(thread, tokens, (size_t)(to - tokens), 3, false));
    /* return -5 */
    to = film_token_put_int(tokens, -5);
    CHECK(film_append_values(thread, 1, tokens, (size_t)(to - tokens)));
    CHECK(film_append_return(thread, 9));
}

static void
read_story(film_reader *reader, film_cursor *cursor, uint64_t first)
{
    const film_event *event = next_event(cursor);
    film_value value;

    CHECK(event->kind == FILM_KIND_CALL && event->number == first);
    CHECK_EQUAL(event->token_count, 2);
    check_value(reader, event, 0, "1", "int");
    check_value(reader, event, 1, "[1, 2, 3]", "list");
    CHECK(strcmp(film_reader_argument_name(reader, event, 1).data, "b") == 0);
    CHECK(film_event_value_index(event, FILM_ROLE_VALUE) == -1);
    event = next_event(cursor);
    CHECK(event->kind == FILM_KIND_LINE && event->offset == 2);
    CHECK_EQUAL(event->token_count, 0);
    event = next_event(cursor);
    CHECK(event->kind == FILM_KIND_SET && event->form == FILM_SET_LOCAL);
    CHECK_EQUAL(event->offset, 2);
    CHECK_EQUAL(film_reader_event_line(reader, event), 11);
    CHECK(strcmp(film_reader_event_name(reader, event).data, "x") == 0);
    check_value(reader, event, 0, "100000", "int");
    CHECK(next_event(cursor)->kind == FILM_KIND_LINE);
    event = next_event(cursor);
    CHECK(event->form == FILM_SET_ATTRIBUTE && event->token_count == 2);
    CHECK_EQUAL(event->offset, 9);
    CHECK(strcmp(film_reader_event_name(reader, event).data, "count") == 0);
    check_value(reader, event, 0, "<list #7>", "list");
    check_value(reader, event, 1, "'abc'", "str");
    CHECK(film_event_value_index(event, FILM_ROLE_OWNER) == 0);
    CHECK(film_event_value_index(event, FILM_ROLE_KEY) == -1);
    CHECK(film_event_value_index(event, FILM_ROLE_VALUE) == 1);
    event = next_event(cursor);
    CHECK(event->form == FILM_SET_ITEM_VIA && event->token_count == 3);
    check_value(reader, event, 1, "'k'", "str");
    check_value(reader, event, 2, "2.5", "float");
    event = next_event(cursor);
    CHECK(strcmp(film_reader_event_scope(reader, event), "nonlocal") == 0);
    check_value(reader, event, 0, "None", "NoneType");
    event = next_event(cursor);
    CHECK(strcmp(film_reader_event_scope(reader, event), "global") == 0);
    check_value(reader, event, 0, "True", "bool");
    event = next_event(cursor);
    CHECK(event->kind == FILM_KIND_DELETE && event->slot == 2);
    CHECK(film_event_value_index(event, FILM_ROLE_VALUE) == -1);
    event = next_event(cursor);
    CHECK(event->kind == FILM_KIND_DELETE && event->form == FILM_SET_ITEM);
    check_value(reader, event, 1, "'k'", "str");
    CHECK(film_event_value_index(event, FILM_ROLE_KEY) == 1);
    CHECK(film_event_value_index(event, FILM_ROLE_VALUE) == -1);
    event = next_event(cursor);
    CHECK(event->kind == FILM_KIND_CHANGE && event->length_before == 3);
    check_value(reader, event, 0, "[1, 2, 3, 4]", "list");
    CHECK(film_reader_event_value(reader, event, 0, 100, &value, NULL) == FILM_OK);
    CHECK(value.is_object && value.object == 7 && value.length == 4 && !value.cut);
    event = next_event(cursor);
    CHECK(event->kind == FILM_KIND_RETURN && event->token_count == 1);
    check_value(reader, event, 0, "-5", "int");
}

#define STORY_EVENTS 12u

static void
check_film(uint32_t stories)
{
    film_reader *reader = open_film();
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

static void
write_stories(uint32_t stories, bool close)
{
    film_writer *writer = begin(0);
    uint32_t code = add_code(writer);
    film_thread *thread = film_writer_thread_begin(writer, "MainThread", 1);

    CHECK(thread != NULL && code == 0);
    for (uint32_t i = 0; i < stories; i++) {
        write_story(writer, thread, code);
    }
    if (close) {
        CHECK(film_writer_close(writer, NULL, 0, NULL) == FILM_OK);
    }
}

/* Without `close` by a process that is killed. */
static void
record_stories(uint32_t stories, bool close)
{
    int status = 0;
    pid_t child;

    if (close) {
        write_stories(stories, true);
        return;
    }
    snprintf(path, sizeof(path), "/tmp/filmstrip-values-%d.film", (int)getpid());
    child = fork();
    if (child == 0) {
        write_stories(stories, false);
        kill(getpid(), SIGKILL);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status));
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
    reader = open_film();
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

/* Ring mode drops old values, but never one that a kept event needs. */
TEST(rings_keep_the_values_of_their_events)
{
    enum { OBJECTS = 50, RING = 4 << 20 };
    film_writer *writer = begin(RING);
    uint32_t code = add_code(writer);
    film_thread *thread = film_writer_thread_begin(writer, "MainThread", 1);
    uint64_t ids[OBJECTS], rewritten = 0, seen = 0, turn;
    film_reader *reader;
    film_cursor *cursor;
    const film_event *event;
    uint32_t state = 1;

    memset(ids, 0, sizeof(ids));
    CHECK(film_append_call(thread, code, 0));
    for (turn = 0; turn < 300000; turn++) {
        uint8_t tokens[FILM_APPEND_TOKENS], *to, items[20];
        uint32_t which = (uint32_t)(turn % OBJECTS);
        uint64_t list;
        for (size_t i = 0; i < sizeof(items); i++) {
            state = state * 1664525u + 1013904223u;
            items[i] = (uint8_t)(state >> 24);
        }
        if (turn < OBJECTS || ids[which] < film_writer_value_floor(writer)) {
            ids[which] = put_list(writer, which, items, 3, false);
            rewritten++;
        }
        list = put_list(writer, 1000 + turn, items, sizeof(items), false);
        to = film_token_put_value(tokens, FILM_TOKEN_OBJECT, ids[which]);
        to = film_token_put_value(to, FILM_TOKEN_VALUE, list);
        CHECK(film_append_set(thread, FILM_SET_ATTRIBUTE, 1, tokens,
                              (size_t)(to - tokens)));
        for (int i = 0; i < 3; i++) {
            state = state * 1664525u + 1013904223u;
            set_int(thread, 2, (int64_t)state);
        }
    }
    CHECK(film_writer_close(writer, NULL, 0, NULL) == FILM_OK);
    CHECK(rewritten > OBJECTS && rewritten < turn / 4);
    reader = open_film();
    CHECK(film_reader_info(reader)->overwritten > 0 &&
          film_reader_info(reader)->lost == 0);
    CHECK(film_cursor_open(reader, 1, 0, &cursor, NULL) == FILM_OK);
    while (film_cursor_next(cursor, &event, NULL) == FILM_OK) {
        film_value value;
        for (uint32_t i = 0; i < event->token_count && event->token_count > 1; i++) {
            CHECK(film_reader_event_value(reader, event, i, 200, &value, NULL) ==
                  FILM_OK);
            CHECK(value.is_object && value.text.data[0] == (i == 0 ? '<' : '['));
            CHECK(strcmp(value.type.data, "list") == 0);
            seen++;
        }
    }
    CHECK(seen > 20000);
    film_cursor_close(cursor);
    film_reader_close(reader);
    unlink(path);
}

/* Objects that are never told again: the ring must go on all the same. */
TEST(a_ring_does_not_stop_for_old_values)
{
    film_writer *writer = begin(4 << 20);
    uint32_t code = add_code(writer);
    film_thread *thread = film_writer_thread_begin(writer, "MainThread", 1);
    film_writer_stats stats;
    uint64_t old = put_list(writer, 1, (const uint8_t[]){1}, 1, false);

    CHECK(film_append_call(thread, code, 0));
    for (uint64_t turn = 0; turn < 400000; turn++) {
        uint8_t tokens[FILM_APPEND_TOKENS], *to, items[8];
        uint64_t list;
        for (size_t i = 0; i < sizeof(items); i++) {
            items[i] = (uint8_t)(turn * 2654435761u >> (3 * i));
        }
        list = put_list(writer, 1000 + turn, items, sizeof(items), false);
        to = film_token_put_value(tokens, FILM_TOKEN_OBJECT, old);
        to = film_token_put_value(to, FILM_TOKEN_VALUE, list);
        CHECK(film_append_set(thread, FILM_SET_ATTRIBUTE, 1, tokens,
                              (size_t)(to - tokens)));
    }
    film_writer_get_stats(writer, &stats);
    CHECK(!stats.stopped && stats.lost == 0);
    CHECK(film_writer_close(writer, NULL, 0, NULL) == FILM_OK);
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

static uint8_t *
random_token(uint8_t *to, uint64_t id)
{
    switch (random_number() % 7) {
    case 0:
        return film_token_put_int(to, (int64_t)random_number());
    case 1:
        return film_token_put_float(to, (double)random_number() / 3);
    case 2:
        return film_token_put_value(to, FILM_TOKEN_VALUE, random_number() % (id + 1));
    case 3:
        return film_token_put_value(to, FILM_TOKEN_OBJECT, random_number());
    case 4:
        return film_token_put_text(to, "sixteen letters!", random_number() % 17);
    case 5:
        *to++ = FILM_TOKEN_CYCLE;
        to = film_varint_encode(to, random_number());
        return film_varint_encode(to, (uint32_t)random_number());
    default:
        *to++ = (uint8_t)(random_number() % 4);
        return to;
    }
}

/* A record as the writer puts it: kind, length, body. One in eight makes no sense. */
static void
random_record(film_buffer *out, uint64_t id)
{
    uint8_t body[1024], *to = body;
    uint32_t form = (uint32_t)(random_number() % 9),
             count = (uint32_t)(random_number() % 20);
    uint32_t tokens = form == FILM_OBJECT_MAPPING ? 2 : 1;

    to = film_varint_encode(to, (uint32_t)random_number());
    to = film_varint_encode(to,
                            form == 0 ? random_number() % 4 : 4 + random_number() % 4);
    if (form != 0) {
        to = film_varint_encode(to, random_number());
        *to++ = (uint8_t)form;
        to = film_varint_encode(to, random_number() % 100);
        to = film_varint_encode(to, count);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (form == FILM_OBJECT_ATTRIBUTES) {
            to = film_varint_encode(to, (uint32_t)random_number());
        }
        for (uint32_t k = 0; k < tokens; k++) {
            to = random_token(to, id);
        }
    }
    if (random_number() % 8 == 0) { /* cut, or too long */
        *to++ = 0x7f;
        to -= random_number() % 3;
    }
    film_buffer_put_byte(out, random_number() % 50 == 0 ? 77 : FILM_RECORD_VALUE);
    film_buffer_put_bytes(out, body, (size_t)(to - body));
}

TEST(value_columns_give_back_the_records)
{
    film_value_columns columns = {0};
    film_buffer records = {0}, raw = {0}, back = {0};

    for (int round = 0; round < 200; round++) {
        uint64_t first = random_number() >> 8;
        film_buffer_clear(&records);
        film_buffer_clear(&raw);
        film_buffer_clear(&back);
        for (uint64_t i = 0; i < 60; i++) {
            random_record(&records, first + i);
        }
        film_value_columns_split(&columns, records.data, records.length, first, &raw);
        CHECK(!raw.failed);
        CHECK(film_value_columns_join(raw.data, raw.length, first, 1 << 20, &back) ==
              FILM_OK);
        CHECK_EQUAL(back.length, records.length);
        CHECK(memcmp(back.data, records.data, records.length) == 0);
    }
    film_value_columns_reset(&columns);
    film_buffer_reset(&records);
    film_buffer_reset(&raw);
    film_buffer_reset(&back);
}

TEST(damaged_value_columns_are_refused_or_read)
{
    film_value_columns columns = {0};
    film_buffer records = {0}, raw = {0}, back = {0};

    for (uint64_t i = 0; i < 40; i++) {
        random_record(&records, i);
    }
    film_value_columns_split(&columns, records.data, records.length, 0, &raw);
    for (int i = 0; i < 20000; i++) {
        size_t at = (size_t)(random_number() % raw.length);
        size_t cut = i % 4 == 0 ? at : raw.length;
        uint8_t *copy = malloc(cut + 1); /* exact, for the address sanitizer */
        CHECK(copy != NULL);
        memcpy(copy, raw.data, cut);
        if (at < cut) {
            copy[at] = (uint8_t)random_number();
        }
        film_buffer_clear(&back);
        FILM_IGNORE(film_value_columns_join(copy, cut, 0, 1 << 16, &back));
        CHECK(back.length < 1 << 20);
        free(copy);
    }
    film_value_columns_reset(&columns);
    film_buffer_reset(&records);
    film_buffer_reset(&raw);
    film_buffer_reset(&back);
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
    CHECK(film_selection_follow_values(&selection, NULL) == FILM_OK);
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
        reader = open_film();
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
        reader = open_film();
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
        TEST_ENTRY(floats_are_written_as_python_writes_them),
        TEST_ENTRY(ints_of_any_size_are_decimal),
        TEST_ENTRY(texts_are_quoted_as_python_quotes_them),
        TEST_ENTRY(every_form_of_value_has_its_text),
        TEST_ENTRY(hostile_records_have_a_text_and_an_end),
        TEST_ENTRY(nesting_without_end_is_cut),
        TEST_ENTRY(texts_keep_to_their_limit),
        TEST_ENTRY(rings_keep_the_values_of_their_events),
        TEST_ENTRY(a_ring_does_not_stop_for_old_values),
        TEST_ENTRY(failing_memory_is_survived),
        TEST_ENTRY(damaged_windows_are_survived),
        TEST_ENTRY(value_columns_give_back_the_records),
        TEST_ENTRY(damaged_value_columns_are_refused_or_read),
        TEST_ENTRY(the_log_tells_values_before_and_after),
        TEST_ENTRY(kinds_are_counted_in_chunks_and_windows),
        TEST_ENTRY(digests_tell_values_apart),
    };

    return run_tests(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
