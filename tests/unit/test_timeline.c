/* test_timeline.c: state at a moment, movement, searches, expressions and queries, on
 * films written through the writer's own interface.
 * SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <filmstrip/filmstrip.h>

#include "analysis/breakpoints.h"
#include "analysis/expression.h"
#include "analysis/query.h"
#include "analysis/questions.h"
#include "analysis/timeline.h"
#include "base/alloc.h"
#include "base/json.h"
#include "format/locals.h"
#include "format/ranges.h"
#include "format/token.h"
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

    snprintf(path, sizeof(path), "/tmp/filmstrip-timeline-%d.film", (int)getpid());
    CHECK(film_writer_open(&options, &writer, NULL) == FILM_OK);
    return writer;
}

static uint32_t
string(film_writer *writer, const char *text)
{
    return film_writer_string(writer, text, strlen(text));
}

/* def NAME(a, b): with locals a, b, x, y; a line every 8 units from first_line + 1 on.
 */
static uint32_t
add_code(film_writer *writer, const char *name, uint32_t first_line, uint32_t flags)
{
    uint32_t locals[] = {string(writer, "a"), string(writer, "b"), string(writer, "x"),
                         string(writer, "y")};
    static const uint8_t kinds[] = {0x20, 0x20, 0x20, 0x20};
    static const uint8_t bytecode[160];
    static uint8_t line_table[20];
    film_code_record code = {.file = "/src/m.py",
                             .module = "m",
                             .qualname = name,
                             .name = name,
                             .first_line = first_line,
                             .argument_count = 2,
                             .flags = flags | 3,
                             .bytecode = bytecode,
                             .bytecode_length = sizeof(bytecode),
                             .line_table = line_table,
                             .line_table_length = sizeof(line_table),
                             .locals = locals,
                             .local_count = 4,
                             .local_kinds = kinds};

    for (size_t entry = 0; entry < sizeof(line_table) / 2; entry++) {
        line_table[entry * 2] = 0x80 | 13 << 3 | 7;
        line_table[entry * 2 + 1] = 2;
    }
    return film_writer_code(writer, &code);
}

static void
set_int(film_thread *thread, uint32_t slot, int64_t number)
{
    uint8_t token[FILM_TOKEN_MAX];
    size_t length = (size_t)(film_token_put_int(token, number) - token);

    CHECK(film_append_set(thread, FILM_SET_LOCAL, slot, token, length));
}

static void
call(film_thread *thread, uint32_t code, int64_t a, int64_t b)
{
    uint8_t tokens[2 * FILM_TOKEN_MAX], *to = film_token_put_int(tokens, a);

    to = film_token_put_int(to, b);
    CHECK(film_append_values(thread, 2, tokens, (size_t)(to - tokens)));
    CHECK(film_append_call(thread, code, 1));
}

static uint64_t
put_list(film_writer *writer, uint64_t serial, const uint8_t *items, size_t count)
{
    uint8_t body[256], *to = body;

    to = film_varint_encode(to, serial);
    *to++ = FILM_OBJECT_SEQUENCE;
    to = film_varint_encode(to, count + 1);
    to = film_varint_encode(to, count);
    for (size_t i = 0; i < count; i++) {
        to = film_token_put_int(to, items[i]);
    }
    return film_writer_value_record(writer, string(writer, "list"), FILM_VALUE_OBJECT,
                                    body, (size_t)(to - body)) -
           1;
}

typedef struct film {
    film_reader *reader;
    film_timeline *timeline;
} film;

static film
open_film(void)
{
    film opened;
    film_error error;

    if (film_reader_open(path, &opened.reader, &error) != FILM_OK) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    CHECK(film_timeline_open(opened.reader, &opened.timeline, &error) == FILM_OK);
    return opened;
}

static void
close_film(film *opened)
{
    film_timeline_close(opened->timeline);
    film_reader_close(opened->reader);
    unlink(path);
}

/* The text of a variable; "-" where it has no value. */
static const char *
text_at(const film *opened, uint64_t event, size_t index, const char *name)
{
    static char text[128];
    film_moment moment = film_moment_of(1, event);
    film_variable variable;
    film_value value;
    film_status status =
        film_timeline_variable(opened->timeline, moment, index, name, &variable, NULL);

    if (status != FILM_OK) {
        CHECK(status == FILM_END);
        return "-";
    }
    CHECK(film_timeline_text(opened->timeline, moment, &variable.value, 100, &value,
                             NULL) == FILM_OK);
    snprintf(text, sizeof(text), "%s", value.text.data);
    return text;
}

/* Frames that stay open over several chunks keep what they hold; a callee writes on. */
static uint64_t
write_long(uint64_t turns)
{
    film_writer *writer = begin(0);
    uint32_t outer = add_code(writer, "outer", 10, 0);
    uint32_t inner = add_code(writer, "inner", 100, 0);
    film_thread *thread = film_writer_thread_begin(writer, "main", 1);
    uint64_t events;

    call(thread, outer, 1, 2);
    CHECK(film_append_line(thread, 8, false));
    set_int(thread, 2, 77);
    for (uint64_t i = 0; i < turns; i++) {
        CHECK(film_append_line(thread, 16, false));
        call(thread, inner, (int64_t)i, 5);
        CHECK(film_append_line(thread, 8, false));
        set_int(thread, 3, (int64_t)i * 10);
        CHECK(film_append_return(thread, 20));
    }
    if (turns > 0) {
        CHECK(film_append_line(thread, 24, false));
        set_int(thread, 3, 5);
    }
    events = thread->events;
    CHECK(film_append_return(thread, 30));
    CHECK(film_writer_close(writer, NULL, 0, NULL) == FILM_OK);
    return events;
}

TEST(variables_are_known_in_every_chunk)
{
    uint64_t last = write_long(20000);
    film opened = open_film();
    const film_stack_frame *frames;
    size_t depth;

    CHECK(last > 5 * FILM_CHUNK_EVENTS);
    for (uint64_t turn = 0; turn < 20000; turn += 613) {
        uint64_t event = 4 + turn * 5 + 3; /* the set in inner */
        char wanted[32];
        CHECK(film_timeline_stack(opened.timeline, film_moment_of(1, event), &frames,
                                  &depth, NULL) == FILM_OK);
        CHECK_EQUAL(depth, 2);
        CHECK_EQUAL(frames[0].entered, 1);
        CHECK_EQUAL(frames[1].line, 102);
        CHECK(strcmp(text_at(&opened, event, 0, "a"), "1") == 0);
        CHECK(strcmp(text_at(&opened, event, 0, "x"), "77") == 0);
        CHECK(strcmp(text_at(&opened, event, 0, "y"), "-") == 0);
        snprintf(wanted, sizeof(wanted), "%d", (int)turn);
        CHECK(strcmp(text_at(&opened, event, 1, "a"), wanted) == 0);
        snprintf(wanted, sizeof(wanted), "%d", (int)turn * 10);
        CHECK(strcmp(text_at(&opened, event, 1, "y"), wanted) == 0);
        CHECK(strcmp(text_at(&opened, event - 1, 1, "y"), "-") == 0);
    }
    close_film(&opened);
}

static film_moment
move(const film *opened, film_moment from, film_move how, film_stop_reason wanted)
{
    film_stop stop;

    CHECK(film_timeline_move(opened->timeline, from, how, NULL, &stop, NULL) ==
          FILM_OK);
    CHECK_EQUAL(stop.reason, wanted);
    return stop.moment;
}

TEST(moves_have_mirrors)
{
    uint64_t last = write_long(20000);
    film opened = open_film();
    film_moment first_line = film_moment_of(1, 2), at;

    /* Over all calls of the loop's line, one after the other. */
    at = move(&opened, first_line, FILM_MOVE_NEXT, FILM_STOP_ARRIVED);
    CHECK_EQUAL(at.event, 4);
    CHECK_EQUAL(move(&opened, at, FILM_MOVE_BACK_NEXT, FILM_STOP_ARRIVED).event, 2);
    CHECK_EQUAL(move(&opened, at, FILM_MOVE_LINE, FILM_STOP_ARRIVED).event, 6);
    at = film_moment_of(1, 6);
    CHECK_EQUAL(move(&opened, at, FILM_MOVE_OUT, FILM_STOP_ARRIVED).event, 9);
    CHECK_EQUAL(move(&opened, at, FILM_MOVE_BACK_OUT, FILM_STOP_ARRIVED).event, 4);
    CHECK_EQUAL(move(&opened, at, FILM_MOVE_CALL, FILM_STOP_ARRIVED).event, 5);
    CHECK_EQUAL(move(&opened, at, FILM_MOVE_RETURN, FILM_STOP_ARRIVED).event, 8);
    CHECK_EQUAL(move(&opened, first_line, FILM_MOVE_RETURN, FILM_STOP_ARRIVED).event,
                last);
    CHECK_EQUAL(
        move(&opened, film_moment_of(1, last), FILM_MOVE_CALL, FILM_STOP_ARRIVED).event,
        1);
    move(&opened, first_line, FILM_MOVE_RAISE, FILM_STOP_AT_END);
    move(&opened, film_moment_of(1, 0), FILM_MOVE_BACK, FILM_STOP_AT_START);
    for (uint64_t event = 0; event < last; event += 97) {
        film_moment there = film_moment_of(1, event);
        film_moment next = move(&opened, there, FILM_MOVE_STEP, FILM_STOP_ARRIVED);
        CHECK_EQUAL(next.event, event + 1);
        CHECK_EQUAL(move(&opened, next, FILM_MOVE_BACK, FILM_STOP_ARRIVED).event,
                    event);
    }
    close_film(&opened);
}

TEST(the_last_write_is_found_far_back)
{
    uint64_t last = write_long(20000);
    film opened = open_film();
    film_target target;
    film_written written;
    film_stop stop;
    film_error error = {0};

    CHECK(film_target_parse(opened.timeline, film_moment_of(1, last - 3), 0, "x",
                            &target, &error) == FILM_OK);
    CHECK(film_find_write(opened.timeline, &target, film_moment_of(1, last - 3), true,
                          NULL, &written, &stop, NULL) == FILM_OK);
    CHECK_EQUAL(stop.reason, FILM_STOP_ARRIVED);
    CHECK_EQUAL(stop.moment.event, 3);
    CHECK_EQUAL(written.line, 12);
    /* An argument that was never written to was written by the call. */
    CHECK(film_target_parse(opened.timeline, film_moment_of(1, last - 3), 0, "b",
                            &target, &error) == FILM_OK);
    CHECK(film_find_write(opened.timeline, &target, film_moment_of(1, last - 3), true,
                          NULL, &written, &stop, NULL) == FILM_OK);
    CHECK_EQUAL(stop.moment.event, 1);
    CHECK(written.argument);
    close_film(&opened);
}

TEST(continue_goes_both_ways)
{
    uint64_t last = write_long(20000);
    film opened = open_film();
    film_breakpoint list[] = {
        {.kind = FILM_BREAK_LINE, .file = "m.py", .line = 12},
        {.kind = FILM_BREAK_LINE,
         .file = "m.py",
         .line = 102,
         .condition = "a == 15000"},
    };
    film_breakpoints *set;
    film_stop stop;
    size_t bad;

    CHECK(film_breakpoints_make(opened.timeline, list, 1, &set, &bad, NULL) == FILM_OK);
    CHECK(film_breakpoints_continue(set, film_moment_of(1, last), true, false, NULL,
                                    NULL, NULL, &stop, NULL) == FILM_OK);
    CHECK_EQUAL(stop.reason, FILM_STOP_BREAKPOINT);
    CHECK_EQUAL(stop.moment.event, 2);
    film_breakpoints_free(set);
    CHECK(film_breakpoints_make(opened.timeline, &list[1], 1, &set, &bad, NULL) ==
          FILM_OK);
    for (unsigned back = 0; back < 2; back++) {
        CHECK(film_breakpoints_continue(set, film_moment_of(1, back ? last : 0), back,
                                        false, NULL, NULL, NULL, &stop,
                                        NULL) == FILM_OK);
        CHECK_EQUAL(stop.reason, FILM_STOP_BREAKPOINT);
        CHECK_EQUAL(stop.moment.event, 4 + 15000 * 5 + 2);
    }
    film_breakpoints_free(set);
    list[0].condition = "a ==";
    CHECK(film_breakpoints_make(opened.timeline, list, 1, &set, &bad, NULL) ==
          FILM_MISUSE);
    close_film(&opened);
}

/* A generator that sleeps over chunks has what it held when it is resumed. */
TEST(generators_keep_their_variables)
{
    film_writer *writer = begin(0);
    uint32_t outer = add_code(writer, "outer", 10, 0);
    uint32_t source = add_code(writer, "source", 200, 0x20);
    film_thread *thread = film_writer_thread_begin(writer, "main", 1);
    uint64_t frame, resumed;
    film opened;

    call(thread, outer, 1, 2);
    frame = film_thread_next_frame(thread);
    call(thread, source, 3, 4);
    CHECK(film_append_line(thread, 8, false));
    set_int(thread, 2, 33);
    CHECK(film_append_yield(thread, 10));
    for (uint32_t i = 0; i < 3 * FILM_CHUNK_EVENTS; i++) {
        CHECK(film_append_line(thread, 16, false));
    }
    CHECK(film_append_resume(thread, frame, source, 10, 1));
    resumed = thread->events;
    CHECK(film_append_line(thread, 16, false));
    set_int(thread, 3, 44);
    CHECK(film_append_yield(thread, 20));
    CHECK(film_append_resume(thread, frame, source, 20, 1));
    CHECK(film_append_line(thread, 24, false));
    CHECK(film_writer_close(writer, NULL, 0, NULL) == FILM_OK);
    opened = open_film();
    CHECK(strcmp(text_at(&opened, resumed, 1, "x"), "33") == 0);
    CHECK(strcmp(text_at(&opened, resumed, 1, "a"), "3") == 0);
    CHECK(strcmp(text_at(&opened, resumed, 1, "y"), "-") == 0);
    CHECK(strcmp(text_at(&opened, resumed + 4, 1, "y"), "44") == 0);
    CHECK(strcmp(text_at(&opened, resumed + 4, 1, "x"), "33") == 0);
    /* The next line of its own lies behind everything the caller did. */
    CHECK_EQUAL(
        move(&opened, film_moment_of(1, 3), FILM_MOVE_NEXT, FILM_STOP_ARRIVED).event,
        resumed);
    close_film(&opened);
}

static void
put_token(film_thread *thread, film_set_form form, uint32_t number, uint64_t owner,
          int64_t key, int64_t value)
{
    uint8_t tokens[3 * FILM_TOKEN_MAX], *to;

    to = film_token_put_value(tokens, FILM_TOKEN_OBJECT, owner);
    if (form == FILM_SET_ITEM) {
        to = film_token_put_int(to, key);
    }
    to = film_token_put_int(to, value);
    CHECK(film_append_set(thread, form, number, tokens, (size_t)(to - tokens)));
}

/* Two threads: what the other one wrote counts once it has. */
TEST(objects_are_what_threads_made_of_them)
{
    static const uint8_t items[] = {1, 2, 3};
    film_writer *writer = begin(0);
    uint32_t code = add_code(writer, "work", 10, 0);
    film_thread *one = film_writer_thread_begin(writer, "main", 1);
    film_thread *two = film_writer_thread_begin(writer, "other", 2);
    uint64_t list = put_list(writer, 9, items, 3);
    uint8_t token[FILM_TOKEN_MAX];
    size_t length =
        (size_t)(film_token_put_value(token, FILM_TOKEN_VALUE, list) - token);
    film opened;
    film_moment other;

    call(one, code, 1, 2);
    CHECK(film_append_set(one, FILM_SET_LOCAL, 2, token, length)); /* 1:2 */
    CHECK(film_append_line(one, 8, false));                        /* 1:3 */
    call(two, code, 1, 2);
    CHECK(film_append_line(two, 8, false));
    put_token(two, FILM_SET_ITEM, 0, list, 0, 50);
    CHECK(film_append_line(two, 16, false));
    CHECK(film_append_line(one, 16, false)); /* 1:4 */
    put_token(one, FILM_SET_ITEM, 0, list, -1, 60);
    CHECK(film_append_line(one, 24, false)); /* 1:6 */
    CHECK(film_writer_close(writer, NULL, 0, NULL) == FILM_OK);
    opened = open_film();
    CHECK(strcmp(text_at(&opened, 2, 0, "x"), "[1, 2, 3]") == 0);
    CHECK(strcmp(text_at(&opened, 3, 0, "x"), "[1, 2, 3]") == 0);
    CHECK(strcmp(text_at(&opened, 4, 0, "x"), "[50, 2, 3]") == 0);
    CHECK(strcmp(text_at(&opened, 6, 0, "x"), "[50, 2, 60]") == 0);
    /* While the second thread ran, the first stood at its line. */
    CHECK(film_timeline_other_thread(opened.timeline, film_moment_of(2, 4), 1, &other,
                                     NULL) == FILM_OK);
    CHECK_EQUAL(other.event, 3);
    close_film(&opened);
}

/* A ring forgets the past, not what frames hold as far as it is scalar. */
TEST(a_ring_keeps_scalars_of_old_frames)
{
    film_writer *writer = begin(16u << 20);
    uint32_t outer = add_code(writer, "outer", 10, 0);
    film_thread *thread = film_writer_thread_begin(writer, "main", 1);
    film_moment first, last;
    film opened;

    call(thread, outer, 1, 2);
    set_int(thread, 2, 77);
    for (uint32_t i = 0; i < 300 * FILM_CHUNK_EVENTS; i++) {
        set_int(thread, 3, (int64_t)i * 0x9e3779b9);
    }
    CHECK(film_writer_close(writer, NULL, 0, NULL) == FILM_OK);
    opened = open_film();
    CHECK(film_timeline_ends(opened.timeline, 1, &first, &last, NULL) == FILM_OK);
    CHECK(first.event > FILM_CHUNK_EVENTS);
    CHECK(strcmp(text_at(&opened, first.event, 0, "x"), "77") == 0);
    CHECK(strcmp(text_at(&opened, last.event, 0, "x"), "77") == 0);
    close_film(&opened);
}

/* --- expressions --- */

static const char *
evaluate(const film *opened, const char *text)
{
    static char told[300];
    film_expression *tree;
    film_evaluated value;
    film_error error = {0};

    if (film_expression_parse(text, strlen(text), &tree, &error) != FILM_OK) {
        snprintf(told, sizeof(told), "! %s", error.message);
        return told;
    }
    CHECK(film_expression_evaluate(tree, opened->timeline, film_moment_of(1, 3), 0,
                                   &value, &error) == FILM_OK);
    snprintf(told, sizeof(told), "%s%s",
             value.outcome == FILM_EVAL_VALUE     ? ""
             : value.outcome == FILM_EVAL_UNKNOWN ? "? "
                                                  : "x ",
             value.outcome == FILM_EVAL_VALUE ? value.value.text.data : value.why);
    film_expression_free(tree);
    return told;
}

TEST(expressions_mean_what_python_means)
{
    static const char *const cases[][2] = {
        {"a + b * x", "155"},
        {"(a + b) * x", "231"},
        {"-a ** 2", "-1"},
        {"2 ** 3 ** 2", "512"},
        {"7 // -2", "-4"},
        {"-7 % 3", "2"},
        {"7.5 // 2", "3.0"},
        {"1 / 4", "0.25"},
        {"1 < b <= 2 < x", "True"},
        {"1 < b < 2", "False"},
        {"a == 1 and b == 2 or 1 / 0", "True"},
        {"not a", "False"},
        {"0 or 'text'", "'text'"},
        {"[1, 2, 3][-1]", "3"},
        {"[1, 2, 3, 4][1:3]", "[2, 3]"},
        {"'hello'[::-1]", "'olleh'"},
        {"'ell' in 'hello'", "True"},
        {"3 not in (1, 2)", "True"},
        {"{'k': a}['k']", "1"},
        {"len({1: 2, 3: 4})", "2"},
        {"x if a else b", "77"},
        {"type(a) == 'int'", "True"},
        {"type(a) is int", "True"},
        {"a is None", "False"},
        {"(1, 2) < (1, 3)", "True"},
        {"max([1, 5, 3]) + min(4, 2) + sum((1, 2))", "10"},
        {"0x1f + 0b11 + 1_000", "1034"},
        {"1e3", "1000.0"},
        {"'a' 'b' + \"\\x41\"", "'abA'"},
        {"b'ab'[0]", "97"},
        {"1 << 3 | 1", "9"},
        {"~5 & 7", "2"},
        {"abs(-3)", "3"},
        {"()", "()"},
        {"(1,)", "(1,)"},
        {"{1, 2} == {2, 1}", "True"},
    };
    film opened;

    write_long(0);
    opened = open_film();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *found = evaluate(&opened, cases[i][0]);
        if (strcmp(found, cases[i][1]) != 0) {
            fprintf(stderr, "%s gives %s, not %s\n", cases[i][0], found, cases[i][1]);
            exit(1);
        }
    }
    close_film(&opened);
}

TEST(expressions_say_what_is_wrong)
{
    static const char *const faults[] = {
        "",        "a +",    "(a",     "a)",        "[1, 2",
        "a b",     "1 2",    "f(a)",   "a.b(c)",    "lambda: 1",
        "x = 1",   "a if b", "'open",  "0x",        "1__2x",
        "a[",      "a[]",    "a[1,2]", "{1: 2, 3}", "not",
        "a not b", "..a",    "@",      "a; b",      "99999999999999999999",
        "\x01",    "a.",     "{,}",
    };
    static const char *const outcomes[] = {"y",
                                           "x.attr",
                                           "a[0]",
                                           "1 / 0",
                                           "[1][5]",
                                           "{}['k']",
                                           "9223372036854775807 + 1",
                                           "len(5)",
                                           "'a' + 1",
                                           "1 < 'a'",
                                           "zzz"};
    char deep[2 * FILM_EXPRESSION_LENGTH];
    film opened;

    write_long(0);
    opened = open_film();
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        CHECK(evaluate(&opened, faults[i])[0] == '!');
    }
    for (size_t i = 0; i < sizeof(outcomes) / sizeof(outcomes[0]); i++) {
        CHECK(strchr("?x", evaluate(&opened, outcomes[i])[0]) != NULL);
    }
    memset(deep, '(', sizeof(deep) - 1);
    deep[sizeof(deep) - 1] = '\0';
    CHECK(evaluate(&opened, deep)[0] == '!');
    deep[2000] = '\0';
    CHECK(evaluate(&opened, deep)[0] == '!');
    memset(deep, '-', 2000);
    CHECK(evaluate(&opened, deep)[0] == '!');
    close_film(&opened);
}

/* --- queries --- */

static bool
answers(const film *opened, const char *request, const char *wanted)
{
    film_buffer answer = {0};
    film_json json = {0};
    bool found;

    CHECK(film_query(opened->timeline, request, strlen(request), &answer) == FILM_OK);
    CHECK(film_json_read(&json, (const char *)answer.data, answer.length, NULL) ==
          FILM_OK);
    film_buffer_put_byte(&answer, 0);
    found = strstr((const char *)answer.data, wanted) != NULL;
    if (!found) {
        fprintf(stderr, "%s: %s\n", request, answer.data);
    }
    film_json_reset(&json);
    film_buffer_reset(&answer);
    return found;
}

TEST(queries_are_answered)
{
    film opened;

    write_long(100);
    opened = open_film();
    CHECK(answers(&opened, "{\"q\": \"open\"}", "\"start\": \"1:0\""));
    CHECK(
        answers(&opened, "{\"q\": \"moment\", \"m\": \"1:3\", \"with\": [\"locals\"]}",
                "\"name\": \"x\", \"scope\": \"local\", \"value\": {\"text\": \"77\""));
    CHECK(answers(&opened, "{\"q\": \"move\", \"m\": \"1:2\", \"how\": \"next\"}",
                  "\"m\": \"1:4\""));
    CHECK(answers(&opened,
                  "{\"q\": \"evaluate\", \"m\": \"1:3\", \"expression\": \"x + 1\"}",
                  "\"text\": \"78\""));
    CHECK(answers(&opened, "{\"q\": \"lines\", \"file\": \"/src/m.py\"}", "[11, 12"));
    CHECK(
        answers(&opened, "{\"q\": \"source\", \"file\": \"/src/m.py\"}", "\"error\""));
    CHECK(answers(&opened, "{\"q\": 1}", "\"misuse\""));
    CHECK(answers(&opened, "{", "\"misuse\""));
    CHECK(answers(&opened, "[1]", "\"misuse\""));
    close_film(&opened);
}

/* Every allocation that can fail does, once. */
TEST(memory_may_run_out)
{
    static const char *const requests[] = {
        "{\"q\": \"moment\", \"m\": \"1:300\", \"with\": [\"locals\"]}",
        "{\"q\": \"move\", \"m\": \"1:400\", \"how\": \"reverse-continue\", "
        "\"breakpoints\": [{\"kind\": \"line\", \"file\": \"m.py\", \"line\": 12}]}",
        "{\"q\": \"writes\", \"m\": \"1:300\", \"variable\": \"x\", \"back\": true}",
        "{\"q\": \"evaluate\", \"m\": \"1:3\", \"expression\": \"[x, 'abc', a]\"}",
    };

    write_long(100);
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        for (uint64_t fail = 1; fail < 60; fail++) {
            film opened = open_film();
            film_buffer answer = {0};
            film_alloc_fail_at(fail);
            (void)!film_query(opened.timeline, requests[i], strlen(requests[i]),
                              &answer);
            film_alloc_fail_never();
            film_buffer_reset(&answer);
            film_timeline_close(opened.timeline);
            film_reader_close(opened.reader);
        }
    }
    unlink(path);
}

/* --- the pieces --- */

TEST(json_is_read_strictly)
{
    static const char *const good[] = {"null", " [1, -2.5e3, \"a\\u00e9\\n\", {}, []] ",
                                       "{\"a\": {\"b\": [true, false]}}"};
    static const char *const bad[] = {"",         "[1,]", "{\"a\"}",  "01",    "1.",
                                      "\"\\x\"",  "\"a",  "nul",      "[1 2]", "{1: 2}",
                                      "\"\x01\"", "1 1",  "\"\xff\"", "-",     "+1"};
    film_json json = {0};
    const film_json_node *node;
    char deep[200];

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        CHECK(film_json_read(&json, good[i], strlen(good[i]), NULL) == FILM_OK);
    }
    node = film_json_get(&json, film_json_root(&json), "a");
    node = film_json_get(&json, node, "b");
    CHECK(film_json_is(node, FILM_JSON_ARRAY) && node->count == 2);
    CHECK(film_json_is(film_json_first(&json, node), FILM_JSON_TRUE));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        CHECK(film_json_read(&json, bad[i], strlen(bad[i]), NULL) == FILM_MISUSE);
        CHECK(film_json_root(&json) == NULL);
    }
    memset(deep, '[', sizeof(deep));
    CHECK(film_json_read(&json, deep, sizeof(deep), NULL) == FILM_MISUSE);
    film_json_reset(&json);
}

TEST(given_up_generators_are_forgotten)
{
    film_locals locals = {0};
    film_buffer out = {0};
    uint8_t token[FILM_TOKEN_MAX];
    uint64_t many = 3 * (uint64_t)FILM_LOCALS_BLOCKS;
    uint32_t block;

    for (uint64_t serial = 1; serial <= many; serial++) {
        size_t length = (size_t)(film_token_put_int(token, (int64_t)serial) - token);
        if (serial % 1000 == 0) {
            film_locals_begin_chunk(&locals, 0);
        }
        block = film_locals_take(&locals);
        CHECK(block != 0); /* a new frame always finds a place */
        film_locals_set(&locals, block, 1, token, length);
        film_locals_suspend(&locals, serial, block);
    }
    CHECK(locals.count <= FILM_LOCALS_BLOCKS);
    /* One that yielded lately is known, the first are not. */
    film_locals_begin_chunk(&locals, 0);
    film_locals_put(&locals, film_locals_resume(&locals, many - 10), &out);
    CHECK(out.length > 3 && out.data[0] == 1);
    CHECK_EQUAL(locals.resumed_count, 1);
    film_buffer_clear(&out);
    film_locals_put(&locals, film_locals_resume(&locals, 5), &out);
    CHECK(out.data[0] == 0);
    film_buffer_reset(&out);
    film_locals_reset(&locals);
}

TEST(ranges_hold_all_of_their_numbers)
{
    uint64_t numbers[500], state = 7;
    film_range ranges[FILM_RANGES_MOST];

    for (unsigned most = 1; most <= 20; most++) {
        film_buffer bytes = {0};
        film_input input;
        size_t count;
        for (size_t i = 0; i < 500; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            numbers[i] = state >> (40 + i % 20);
        }
        film_ranges_put(numbers, 500, most, &bytes);
        input = film_input_of(bytes.data, bytes.length);
        count = film_ranges_take(&input, ranges, FILM_RANGES_MOST);
        CHECK(!input.failed && count >= 1 && count <= most);
        for (size_t i = 0; i < 500; i++) {
            bool held = false;
            for (size_t k = 0; k < count; k++) {
                held = held ||
                       (numbers[i] >= ranges[k].first && numbers[i] <= ranges[k].last);
            }
            CHECK(held);
        }
        film_buffer_reset(&bytes);
    }
}

int
main(int argc, char **argv)
{
    static const film_test tests[] = {
        TEST_ENTRY(variables_are_known_in_every_chunk),
        TEST_ENTRY(moves_have_mirrors),
        TEST_ENTRY(the_last_write_is_found_far_back),
        TEST_ENTRY(continue_goes_both_ways),
        TEST_ENTRY(generators_keep_their_variables),
        TEST_ENTRY(objects_are_what_threads_made_of_them),
        TEST_ENTRY(a_ring_keeps_scalars_of_old_frames),
        TEST_ENTRY(expressions_mean_what_python_means),
        TEST_ENTRY(expressions_say_what_is_wrong),
        TEST_ENTRY(queries_are_answered),
        TEST_ENTRY(memory_may_run_out),
        TEST_ENTRY(json_is_read_strictly),
        TEST_ENTRY(given_up_generators_are_forgotten),
        TEST_ENTRY(ranges_hold_all_of_their_numbers),
    };

    return run_tests(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
