/* words.c: the words of the console: questions that are no expressions.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dap/movement.h"
#include "dap/search.h"
#include "dap/session.h"

#define MOST_LINES 200
#define ORIGIN_DEPTH 3

typedef struct word {
    const char *name, *takes, *help;
    bool (*run)(film_dap *dap, const film_dap_handle *place, const char *rest);
} word;

/* --- answers --- */

static void
respond_text(film_dap *dap, const film_buffer *text)
{
    size_t length = text->length;

    while (length > 0 && text->data[length - 1] == '\n') {
        length--;
    }
    film_json_add_bytes(&dap->response, "result", (const char *)text->data, length);
    film_json_add_integer(&dap->response, "variablesReference", 0);
}

static void
put(film_buffer *out, const char *text)
{
    film_buffer_append_text(out, text == NULL ? "?" : text);
}

static film_json_writer *
question_at(film_dap *dap, const char *name, const film_dap_handle *place)
{
    film_json_writer *question = film_dap_question(dap, name);

    film_json_add_text(question, "m", place->moment);
    if (place->frame != 0) {
        film_json_add_integer(question, "frame", (int64_t)place->frame);
    }
    return question;
}

/* "bill.py:6" */
static void
put_place(film_buffer *out, const film_dap_answer *answer, const film_json_node *of)
{
    const char *file = film_dap_text(answer, of, "file");
    const char *name = file == NULL ? NULL : strrchr(file, '/');
    char line[24];

    put(out, name != NULL ? name + 1 : file);
    snprintf(line, sizeof(line), ":%" PRId64, film_dap_integer(answer, of, "line", 0));
    put(out, line);
}

/* "1:35  bill.py:6  total = 3" */
static void
put_write(film_buffer *out, const film_dap_answer *answer, const film_json_node *write)
{
    const film_json_node *value = film_json_get(&answer->json, write, "value");

    put(out, film_dap_text(answer, write, "m"));
    put(out, "  ");
    put_place(out, answer, write);
    put(out, "  ");
    put(out, film_dap_text(answer, write, "name"));
    if (film_json_is(value, FILM_JSON_OBJECT)) {
        put(out, " = ");
        put(out, film_dap_text(answer, value, "text"));
        put(out, film_dap_is(answer, write, "argument") ? "  (argument)\n" : "\n");
    }
    else {
        put(out, "  (deleted)\n");
    }
}

/* --- questions --- */

/* Asks for rows, page after page, up to MOST_LINES. */
static bool
ask_rows(film_dap *dap, const char *list, film_buffer *text,
         void (*write)(film_buffer *, const film_dap_answer *, const film_json_node *))
{
    film_buffer base = {0};
    film_dap_answer answer = {0};
    film_dap_watch watch;
    char next[FILM_DAP_MOMENT] = "";
    int64_t told = 0;
    bool fine;

    film_json_add_integer(&dap->question, "limit", MOST_LINES);
    film_buffer_append(&base, dap->question.out.data, dap->question.out.length);
    film_dap_watch_begin(dap, &watch, "Searching");
    for (;;) {
        const char *where;
        fine = film_dap_ask(dap, &answer);
        for (const film_json_node *row = film_json_first(
                 &answer.json,
                 fine ? film_json_get(&answer.json, answer.root, list) : NULL);
             row != NULL && told < MOST_LINES;
             row = film_json_next(&answer.json, row)) {
            write(text, &answer, row);
            told++;
        }
        where = fine ? film_dap_text(&answer, answer.root, "next") : NULL;
        if (where == NULL || told >= MOST_LINES) {
            put(text, where != NULL ? "(there are more)\n" : "");
            break;
        }
        film_dap_copy_moment(next, where);
        if (film_dap_watch_go_on(dap, &watch,
                                 film_json_number(film_json_get(
                                     &answer.json, answer.root, "progress"))) !=
            FILM_DAP_GO_ON) {
            put(text, "(stopped before the end)\n");
            break;
        }
        film_json_writer_clear(&dap->question);
        film_buffer_append(&dap->question.out, base.data, base.length);
        dap->question.comma = true;
        film_json_add_text(&dap->question, "next", next);
    }
    if (fine && told == 0) {
        put(text, "none was recorded\n");
    }
    film_dap_watch_end(dap, &watch);
    film_dap_answer_reset(&answer);
    film_buffer_reset(&base);
    return fine;
}

static bool
tell_history(film_dap *dap, const film_dap_handle *place, const char *rest)
{
    film_buffer text = {0};
    bool fine;

    film_json_add_text(question_at(dap, "history", place), "variable", rest);
    fine = ask_rows(dap, "writes", &text, put_write);
    if (fine) {
        respond_text(dap, &text);
    }
    film_buffer_reset(&text);
    return fine;
}

static void
put_origin(film_buffer *out, const film_dap_answer *answer,
           const film_json_node *origin, unsigned depth)
{
    const film_json_node *reads = film_json_get(&answer->json, origin, "reads");
    const char *stopped = film_dap_text(answer, origin, "stopped");

    put_write(out, answer, origin);
    if (stopped != NULL) {
        for (unsigned i = 0; i <= depth; i++) {
            put(out, "    ");
        }
        put(out, stopped);
        put(out, "\n");
    }
    for (const film_json_node *read = film_json_first(&answer->json, reads);
         read != NULL; read = film_json_next(&answer->json, read)) {
        const film_json_node *inner = film_json_get(&answer->json, read, "origin");
        for (unsigned i = 0; i <= depth; i++) {
            put(out, "    ");
        }
        if (inner != NULL) {
            put_origin(out, answer, inner, depth + 1);
            continue;
        }
        put(out, film_dap_text(answer, read, "name"));
        put(out, " = ");
        put(out,
            film_dap_text(answer, film_json_get(&answer->json, read, "value"), "text"));
        put(out, "\n");
    }
}

static bool
tell_origin(film_dap *dap, const film_dap_handle *place, const char *rest)
{
    film_json_writer *question = question_at(dap, "origin", place);
    film_dap_answer answer = {0};
    film_dap_interrupt interrupt;
    film_buffer text = {0};
    bool fine;

    film_json_add_text(question, "variable", rest);
    film_json_add_integer(question, "depth", ORIGIN_DEPTH);
    fine = film_dap_search(dap, "Searching back", &answer, &interrupt);
    if (fine && interrupt != FILM_DAP_GO_ON) {
        fine = film_dap_refuse(dap, "cancelled");
    }
    if (fine) {
        put_origin(&text, &answer, film_json_get(&answer.json, answer.root, "origin"),
                   0);
        respond_text(dap, &text);
    }
    film_buffer_reset(&text);
    film_dap_answer_reset(&answer);
    return fine;
}

/* --- hits --- */

static void
put_row(film_buffer *out, const film_dap_answer *answer, const film_json_node *row)
{
    const film_json_node *values = film_json_get(&answer->json, row, "values");

    put(out, film_dap_text(answer, row, "m"));
    for (const film_json_node *value = film_json_first(&answer->json, values);
         value != NULL; value = film_json_next(&answer->json, value)) {
        const char *text = film_dap_text(answer, value, "text");
        put(out, "  ");
        put(out, text != NULL ? text : "<not recorded>");
    }
    put(out, "\n");
}

/* The expressions, between commas that no bracket holds. */
static void
add_expressions(film_json_writer *question, const char *rest)
{
    int depth = 0;
    const char *begin = rest;

    film_json_open(question, "expressions", '[');
    for (const char *at = rest;; at++) {
        depth += strchr("([{", *at) != NULL && *at != '\0';
        depth -= strchr(")]}", *at) != NULL && *at != '\0';
        if (*at != '\0' && (*at != ',' || depth > 0)) {
            continue;
        }
        if (at > begin) {
            film_json_add_bytes(question, NULL, begin, (size_t)(at - begin));
        }
        begin = at + 1;
        if (*at == '\0') {
            break;
        }
    }
    film_json_close(question, ']');
}

/* Each time the frame's line ran. */
static bool
tell_hits(film_dap *dap, const film_dap_handle *place, const char *rest)
{
    film_dap_answer answer = {0};
    film_json_writer *question = film_dap_question(dap, "moment");
    const film_json_node *frame;
    const char *file;
    film_buffer text = {0};
    bool fine;

    film_json_add_text(question, "m", place->moment);
    fine = film_dap_ask(dap, &answer);
    frame = film_json_first(
        &answer.json, fine ? film_json_get(&answer.json, answer.root, "stack") : NULL);
    while (frame != NULL && place->frame != 0 &&
           (uint64_t)film_dap_integer(&answer, frame, "frame", 0) != place->frame) {
        frame = film_json_next(&answer.json, frame);
    }
    file = frame == NULL ? NULL : film_dap_text(&answer, frame, "file");
    if (fine && file == NULL) {
        fine = film_dap_refuse(dap, "no line is known here");
    }
    if (fine) {
        question = film_dap_question(dap, "hits");
        film_json_add_text(question, "file", file);
        film_json_add_integer(question, "line",
                              film_dap_integer(&answer, frame, "line", 0));
        add_expressions(question, rest);
        fine = ask_rows(dap, "rows", &text, put_row);
    }
    if (fine) {
        respond_text(dap, &text);
    }
    film_buffer_reset(&text);
    film_dap_answer_reset(&answer);
    return fine;
}

/* --- moves --- */

static void
respond_words(film_dap *dap, const char *text)
{
    film_json_add_text(&dap->response, "result", text);
    film_json_add_integer(&dap->response, "variablesReference", 0);
}

static bool
go_to_write(film_dap *dap, const film_dap_handle *place, const char *rest, bool back)
{
    const char *how = back ? "back-write" : "write";
    film_json_writer *question = question_at(dap, "move", place);

    film_json_add_text(question, "how", how);
    film_json_add_text(question, "variable", rest);
    film_json_add_integer(question, "frames", 1);
    respond_words(dap, back ? "the last write" : "the next write");
    return film_dap_arrive(dap, how, "goto", back ? "Last write" : "Next write");
}

static bool
go_to_last(film_dap *dap, const film_dap_handle *place, const char *rest)
{
    return go_to_write(dap, place, rest, true);
}

static bool
go_to_next(film_dap *dap, const film_dap_handle *place, const char *rest)
{
    return go_to_write(dap, place, rest, false);
}

static bool
go_to_first(film_dap *dap, const film_dap_handle *place, const char *rest, bool back)
{
    film_json_writer *question = question_at(dap, "first", place);

    film_json_add_text(question, "condition", rest);
    film_json_add_bool(question, "back", back);
    film_json_add_integer(question, "frames", 1);
    respond_words(dap, "there it holds");
    return film_dap_arrive(dap, "first", "goto", "The condition holds");
}

static bool
go_to_condition(film_dap *dap, const film_dap_handle *place, const char *rest)
{
    return go_to_first(dap, place, rest, false);
}

static bool
go_back_to_condition(film_dap *dap, const film_dap_handle *place, const char *rest)
{
    return go_to_first(dap, place, rest, true);
}

static bool
go_to_raise(film_dap *dap, const film_dap_handle *place, const char *rest)
{
    (void)rest;
    respond_words(dap, "the next exception");
    return film_dap_jump(dap, place->moment, "raise", NULL, "goto", "Exception");
}

static bool
go_back_to_raise(film_dap *dap, const film_dap_handle *place, const char *rest)
{
    (void)rest;
    respond_words(dap, "the exception before");
    return film_dap_jump(dap, place->moment, "back-raise", NULL, "goto", "Exception");
}

/* 1:1234, 1234, 1.5s, 50% */
static bool
go_to(film_dap *dap, const film_dap_handle *place, const char *rest)
{
    char with[96], moment[FILM_DAP_MOMENT], *end;
    const char *how = "event", *event = rest;
    double number;

    film_dap_copy_moment(moment, place->moment);
    if (strchr(rest, ':') != NULL) {
        film_dap_copy_moment(moment, rest);
        event = strchr(rest, ':') + 1;
    }
    number = strtod(event, &end);
    if (end == event || !(number >= 0) || number > 1e18) {
        return film_dap_refuse(dap, "goto takes 1:1234, 1234, 1.5s or 50%%");
    }
    if (*end == '%') {
        how = "fraction";
        snprintf(with, sizeof(with), "\"fraction\": %.9g", number / 100);
    }
    else if (*end == 's') {
        how = "time";
        snprintf(with, sizeof(with), "\"time_ns\": %.0f", number * 1e9);
    }
    else {
        snprintf(with, sizeof(with), "\"event\": %.0f", number);
    }
    respond_words(dap, "there");
    return film_dap_jump(dap, moment, how, with, "goto", "Went there");
}

static bool
tell_where(film_dap *dap, const film_dap_handle *place, const char *rest)
{
    film_json_writer *question = film_dap_question(dap, "moment");
    film_dap_answer answer = {0};
    film_buffer text = {0};
    char time[64];
    bool fine;

    (void)rest;
    film_json_add_text(question, "m", place->moment);
    film_json_add_integer(question, "frames", 1);
    fine = film_dap_ask(dap, &answer);
    if (fine) {
        put(&text, film_dap_text(&answer, answer.root, "m"));
        snprintf(time, sizeof(time), ", %.6f s, ",
                 (double)film_dap_integer(&answer, answer.root, "time_ns", 0) / 1e9);
        put(&text, time);
        put(&text, film_dap_text(&answer, answer.root, "kind"));
        put(&text, " at ");
        put_place(&text, &answer, answer.root);
        respond_text(dap, &text);
    }
    film_buffer_reset(&text);
    film_dap_answer_reset(&answer);
    return fine;
}

static bool
tell_help(film_dap *dap, const film_dap_handle *place, const char *rest);

/* Words that take nothing are such only where no variable has their name. */
static const word the_words[] = {
    {"history", "NAME", "every write of a variable", tell_history},
    {"last", "NAME", "goes to its last write", go_to_last},
    {"next", "NAME", "goes to its next write", go_to_next},
    {"origin", "NAME", "where its value came from", tell_origin},
    {"hits", "EXPR, ...", "this line, each time it ran, with expressions", tell_hits},
    {"first", "CONDITION", "goes on to where it holds in this function",
     go_to_condition},
    {"rfirst", "CONDITION", "goes back to where it held", go_back_to_condition},
    {"goto", "WHERE", "goes to 1:1234 (thread:event), 1234, 1.5s or 50%", go_to},
    {"raise", NULL, "goes to the next exception", go_to_raise},
    {"rraise", NULL, "goes to the exception before", go_back_to_raise},
    {"where", NULL, "the moment", tell_where},
    {"help", NULL, "this list", tell_help},
};

#define WORD_COUNT (sizeof(the_words) / sizeof(the_words[0]))

static bool
tell_help(film_dap *dap, const film_dap_handle *place, const char *rest)
{
    film_buffer text = {0};
    char line[160];

    (void)place;
    (void)rest;
    put(&text, "An expression, or:\n");
    for (size_t i = 0; i < WORD_COUNT; i++) {
        snprintf(line, sizeof(line), "  %-8s%-10s %s\n", the_words[i].name,
                 the_words[i].takes == NULL ? "" : the_words[i].takes,
                 the_words[i].help);
        put(&text, line);
    }
    put(&text, "NAME is x, self.x, d['k'], module:NAME or function:x.\n");
    respond_text(dap, &text);
    film_buffer_reset(&text);
    return true;
}

const char *
film_dap_word_named(size_t index)
{
    return index < WORD_COUNT ? the_words[index].name : NULL;
}

/* Whether the name has a value here. */
static bool
is_variable(film_dap *dap, const film_dap_handle *place, const char *name)
{
    film_dap_answer answer = {0};
    bool found;

    film_json_add_text(question_at(dap, "evaluate", place), "expression", name);
    found = film_dap_ask(dap, &answer) &&
            film_json_get(&answer.json, answer.root, "value") != NULL;
    film_dap_answer_reset(&answer);
    return found;
}

/* Whether what follows a name makes an expression of it: "last + 1", "first in x".
 * "NAME NAME" is none. */
static bool
goes_on(const char *rest)
{
    static const char *const operators[] = {"if ",  "in ", "is ",
                                            "and ", "or ", "not in "};

    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        if (strncmp(rest, operators[i], strlen(operators[i])) == 0) {
            return true;
        }
    }
    return *rest == '\0' || strchr("+-*/<>=!%&|^.,:", *rest) != NULL;
}

bool
film_dap_word(film_dap *dap, const char *line, const film_dap_handle *place, bool *fine)
{
    for (size_t i = 0; i < WORD_COUNT; i++) {
        size_t length = strlen(the_words[i].name);
        const char *rest = line + length;
        if (strncmp(line, the_words[i].name, length) != 0) {
            continue;
        }
        rest += strspn(rest, " \t");
        if (the_words[i].takes != NULL
                ? rest == line + length || goes_on(rest)
                : *rest != '\0' || is_variable(dap, place, the_words[i].name)) {
            continue;
        }
        *fine = the_words[i].run(dap, place, rest);
        return true;
    }
    return false;
}
