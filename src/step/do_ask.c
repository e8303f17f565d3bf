/* do_ask.c: questions about values: who wrote them, what they were, where they came
 * from, what a line saw each time it ran.
 * SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "step/handlers.h"
#include "step/paragraph.h"

#define MOST_TOLD 10000u
#define MOST_AROUND 1000u
#define AROUND 40u
#define TOLD 100u
#define ORIGIN_DEPTH 3u

void
film_step_do_last(film_step *step, const film_word_info *word, const char *arguments)
{
    bool back = word->word == FILM_WORD_LAST;
    const film_json *json = &step->reply;
    const film_json_node *write;

    if (arguments[0] == '\0') {
        (void)film_step_fail(step, "which variable?");
        return;
    }
    film_step_begin(step, "writes");
    film_step_add_text(step, "variable", arguments, strlen(arguments));
    film_step_add_raw(step, "back", back ? "true" : "false", back ? 4 : 5);
    if (!film_step_ask_list(step, "writes", 1)) {
        return;
    }
    write = film_json_first(json, film_json_get(json, film_json_root(json), "writes"));
    if (write == NULL) {
        step->failed = true;
        film_output_text(&step->out, "no write of ");
        film_output_display(&step->out, film_text_of(arguments));
        film_output_format(&step->out, " was recorded %s event %s\n",
                           back ? "up to" : "behind", step->at);
    }
    else {
        bool is_tensor =
            back && film_json_get(json, film_json_get(json, write, "value"), "tensor");

        film_step_put_write(step, json, write);
        if (is_tensor && !step->json) {
            film_step_tell_made(step, arguments, strlen(arguments));
        }
    }
}

bool
film_step_split_number(film_step *step, const char *arguments, size_t *length,
                       uint64_t fallback, uint64_t *number)
{
    const char *blank = strrchr(arguments, ' ');

    *length = strlen(arguments);
    *number = fallback;
    if (arguments[0] == '\0') {
        return film_step_fail(step, "which variable?");
    }
    if (blank != NULL && isdigit((unsigned char)blank[1]) &&
        blank[1 + strspn(blank + 1, "0123456789")] == '\0') {
        *number = strtoull(blank + 1, NULL, 10);
        *length = (size_t)(blank - arguments);
    }
    return true;
}

/* A plain name is this frame's or its module's: others have to be named. */
static void
put_no_write(film_step *step, const char *name, size_t length)
{
    film_text told = {name, length};

    step->failed = true;
    film_output_text(&step->out, "no write of ");
    film_output_display(&step->out, told);
    film_output_text(&step->out, " was recorded");
    if (memchr(name, ':', length) == NULL && memchr(name, '.', length) == NULL &&
        memchr(name, '[', length) == NULL) {
        film_output_text(&step->out,
                         " that is this frame's or its module's; FUNCTION:");
        film_output_display(&step->out, told);
        film_output_text(&step->out, " is another's");
    }
    film_output_byte(&step->out, '\n');
}

void
film_step_do_history(film_step *step, const film_word_info *word, const char *arguments)
{
    const film_json *json = &step->reply;
    const film_json_node *root, *list;
    uint64_t limit;
    size_t length;

    (void)word;
    if (!film_step_split_number(step, arguments, &length, TOLD, &limit)) {
        return;
    }
    limit = limit == 0 || limit > MOST_TOLD ? MOST_TOLD : limit;
    film_step_begin(step, "history");
    film_step_add_text(step, "variable", arguments, length);
    if (!film_step_ask_list(step, "writes", limit) || step->json) {
        return;
    }
    root = film_json_root(json);
    list = film_json_get(json, root, "writes");
    for (const film_json_node *item = film_json_first(json, list); item != NULL;
         item = film_json_next(json, item)) {
        film_step_put_write(step, json, item);
    }
    if (list == NULL || list->count == 0) {
        put_no_write(step, arguments, length);
    }
    else if (film_json_get(json, root, "next") != NULL) {
        film_output_format(&step->out,
                           "the first %u; history %.*s %" PRIu64 " asks for more\n",
                           list->count, (int)length, arguments, limit * 10);
    }
}

/* --- writes around a moment --- */

/* A local is looked for in every call of its function: "function:x". */
static void
qualify(film_step *step, const char *name, size_t length, film_buffer *to)
{
    const film_json *json = &step->moment;
    const film_json_node *locals = film_json_get(json, film_json_root(json), "locals");
    size_t index;
    const film_json_node *frame = film_step_frame(step, &index);

    for (const film_json_node *item = film_json_first(json, locals); item != NULL;
         item = film_json_next(json, item)) {
        const char *known = film_step_text(json, item, "name");
        if (strlen(known) == length && memcmp(known, name, length) == 0 &&
            strcmp(film_step_text(json, item, "scope"), "local") == 0) {
            film_buffer_append_text(to, film_step_text(json, frame, "function"));
            film_buffer_put_byte(to, ':');
        }
    }
    film_buffer_append(to, name, length);
}

static bool
ask_writes(film_step *step, const film_buffer *variable, bool back, uint64_t limit)
{
    film_step_begin(step, "writes");
    film_step_add_text(step, "variable", (const char *)variable->data,
                       variable->length);
    film_step_add_raw(step, "back", back ? "true" : "false", back ? 4 : 5);
    return film_step_ask_list(step, "writes", limit);
}

/* Those of the reply, oldest first; `reversed`: they are told newest first, and the
 * newest is marked. */
static size_t
put_writes(film_step *step, bool reversed)
{
    const film_json *json = &step->reply;
    const film_json_node *list = film_json_get(json, film_json_root(json), "writes");
    const film_json_node *items[MOST_AROUND];
    size_t count = 0;

    for (const film_json_node *item = film_json_first(json, list);
         item != NULL && count < MOST_AROUND; item = film_json_next(json, item)) {
        items[count++] = item;
    }
    for (size_t i = 0; i < count; i++) {
        bool mark = reversed && i + 1 == count;
        film_output_text(&step->out, mark ? "> " : "  ");
        film_step_put_write(step, json, items[reversed ? count - 1 - i : i]);
    }
    return count;
}

/* {"before": [the last one first], "behind": [...]} of the reply and what was kept. */
static void
join_writes(film_step *step, film_buffer *before)
{
    const film_json *json = &step->reply;
    const film_json_node *list = film_json_get(json, film_json_root(json), "writes");

    film_buffer_append_text(before, ", \"behind\": ");
    film_json_copy(json, list, before);
    film_buffer_append_text(before, "}");
    film_buffer_clear(&step->answer);
    film_buffer_append(&step->answer, before->data, before->length);
}

void
film_step_do_writes(film_step *step, const film_word_info *word, const char *arguments)
{
    film_buffer variable = {0}, before = {0};
    const film_json *json = &step->reply;
    uint64_t limit;
    size_t length, count;

    (void)word;
    if (!film_step_split_number(step, arguments, &length, AROUND, &limit) ||
        !film_step_look(step)) {
        return;
    }
    limit = limit == 0 || limit > MOST_AROUND ? MOST_AROUND : limit;
    qualify(step, arguments, length, &variable);
    if (ask_writes(step, &variable, true, limit)) {
        count = put_writes(step, true);
        film_buffer_append_text(&before, "{\"before\": ");
        film_json_copy(json, film_json_get(json, film_json_root(json), "writes"),
                       &before);
        if (ask_writes(step, &variable, false, limit)) {
            count += put_writes(step, false);
            join_writes(step, &before);
            if (count == 0) {
                put_no_write(step, arguments, length);
            }
        }
    }
    film_buffer_reset(&variable);
    film_buffer_reset(&before);
}

/* --- origin --- */

static void
put_origin(film_step *step, const film_json *json, const film_json_node *origin,
           int indent)
{
    const char *stopped = film_step_text(json, origin, "stopped");
    const film_json_node *reads = film_json_get(json, origin, "reads");

    film_output_format(&step->out, "%*s", indent, "");
    film_step_put_write(step, json, origin);
    for (const film_json_node *read = film_json_first(json, reads); read != NULL;
         read = film_json_next(json, read)) {
        const film_json_node *deeper = film_json_get(json, read, "origin");
        const char *from = film_step_text(json, read, "m");
        film_output_format(&step->out, "%*s%s ", indent + 2, "",
                           film_step_text(json, read, "kind"));
        film_output_display(&step->out,
                            film_text_of(film_step_text(json, read, "name")));
        film_output_text(&step->out, " = ");
        film_step_put_value(step, json, film_json_get(json, read, "value"));
        if (from[0] != '\0' && deeper == NULL) {
            film_output_format(&step->out, "  written at %s", from);
        }
        film_output_text(&step->out, deeper == NULL ? "\n" : ", from\n");
        if (deeper != NULL) {
            put_origin(step, json, deeper, indent + 4);
        }
    }
    if (stopped[0] != '\0') {
        film_output_format(&step->out, "%*s(%s)\n", indent + 2, "", stopped);
    }
}

void
film_step_do_origin(film_step *step, const film_word_info *word, const char *arguments)
{
    const film_json *json = &step->reply;
    uint64_t depth;
    size_t length;

    (void)word;
    if (!film_step_split_number(step, arguments, &length, ORIGIN_DEPTH, &depth)) {
        return;
    }
    film_step_begin(step, "origin");
    film_step_add_text(step, "variable", arguments, length);
    film_step_add_number(step, "depth", depth < 8 ? depth : 8);
    if (film_step_ask(step) && !step->json) {
        put_origin(step, json, film_json_get(json, film_json_root(json), "origin"), 0);
    }
}

/* --- hits --- */

/* Adds the expressions, which commas part that stand in no bracket and no string. */
static void
add_expressions(film_step *step, const char *text, size_t length)
{
    size_t from = 0, depth = 0;
    char quote = 0;
    const char *comma = "";

    film_step_add_raw(step, "expressions", "[", 1);
    for (size_t i = 0; i <= length; i++) {
        char at = i < length ? text[i] : ',';
        if (quote != 0) {
            i += at == '\\' && i + 1 < length;
            quote = at == quote ? 0 : quote;
            if (i < length) {
                continue;
            }
            at = ',';
            depth = 0;
        }
        if (at == '\'' || at == '"') {
            quote = at;
        }
        depth += at == '(' || at == '[' || at == '{';
        depth -= depth > 0 && (at == ')' || at == ']' || at == '}');
        if (i >= length || (at == ',' && depth == 0)) {
            from += strspn(text + from, " ");
            if (from < i && i <= length) {
                film_buffer_append_text(&step->request, comma);
                film_json_put(&step->request, text + from, i - from);
                comma = ", ";
            }
            from = i + 1;
        }
    }
    film_buffer_append_text(&step->request, "]");
}

static void
put_row(film_step *step, const film_json *json, const film_json_node *row)
{
    const film_json_node *values = film_json_get(json, row, "values");
    const char *comma = "  ";

    film_output_format(&step->out, "%-10s ", film_step_text(json, row, "m"));
    film_step_put_time(step, film_step_number(json, row, "time_ns"));
    for (const film_json_node *value = film_json_first(json, values); value != NULL;
         value = film_json_next(json, value)) {
        const char *text = film_step_text(json, value, "text");
        film_output_text(&step->out, comma);
        comma = ", ";
        if (film_json_get(json, value, "text") == NULL) {
            text = film_step_text(json, value, "unknown");
            text = text[0] == '\0' ? film_step_text(json, value, "error_text") : text;
            film_output_byte(&step->out, '(');
        }
        film_output_display(&step->out, film_text_of(text));
        if (film_json_get(json, value, "text") == NULL) {
            film_output_byte(&step->out, ')');
        }
    }
    film_output_byte(&step->out, '\n');
}

/* The place and what follows into the request; *asked: its line, 0: a function. */
static bool
begin_hits(film_step *step, const char *arguments, uint32_t *asked)
{
    size_t length, place_length = strcspn(arguments, " \t,");
    const char *condition;
    film_step_place place;
    size_t from;

    *asked = 0;
    if (place_length == 0) {
        return film_step_fail(step, "hits of what? FILE:LINE or a function");
    }
    if (!film_step_look(step) ||
        !film_step_parse_location(step, arguments, place_length, &place)) {
        return false;
    }
    *asked = place.line;
    film_step_begin_at(step, "hits", ""); /* from the start on, not from here */
    film_step_add_location(step, &place);
    from = place_length + strspn(arguments + place_length, " \t,");
    condition = film_step_condition(arguments + from, &length);
    if (length > 0) {
        add_expressions(step, arguments + from, length);
    }
    if (condition != NULL) {
        film_step_add_text(step, "where", condition, strlen(condition));
    }
    return true;
}

/* Where a condition could not be told it was no hit. */
static void
put_doubts(film_step *step, const film_json *json, const film_json_node *root)
{
    uint64_t unknown = film_step_number(json, root, "unknown");
    const char *why = film_step_text(json, root, "why");

    if (unknown > 0) {
        film_output_format(
            &step->out, "the condition could not be told %" PRIu64 " more time%s%s",
            unknown, unknown == 1 ? "" : "s", why[0] == '\0' ? "" : ": ");
        film_output_display(&step->out, film_text_of(why));
        film_output_byte(&step->out, '\n');
    }
}

void
film_step_do_hits(film_step *step, const film_word_info *word, const char *arguments)
{
    const film_json *json = &step->reply;
    const film_json_node *root, *rows;
    uint32_t asked;
    uint64_t line;

    (void)word;
    if (!begin_hits(step, arguments, &asked) ||
        !film_step_ask_list(step, "rows", MOST_TOLD)) {
        return;
    }
    root = film_json_root(json);
    rows = film_json_get(json, root, "rows");
    step->failed = rows == NULL || rows->count == 0;
    if (step->json) {
        return;
    }
    line = film_step_number(json, root, "line");
    if (asked != 0 && line != 0 && line != asked) {
        film_output_format(&step->out,
                           "line %u has no recorded code; of line %" PRIu64 ":\n",
                           asked, line);
    }
    for (const film_json_node *row = film_json_first(json, rows); row != NULL;
         row = film_json_next(json, row)) {
        put_row(step, json, row);
    }
    if (rows == NULL || rows->count == 0) {
        film_output_display(&step->out,
                            film_text_of(film_step_text(json, root, "message")));
        film_output_byte(&step->out, '\n');
        return;
    }
    film_output_format(
        &step->out, "%u hit%s%s\n", rows->count, rows->count == 1 ? "" : "s",
        film_json_get(json, root, "next") != NULL ? ", the most that are told" : "");
    put_doubts(step, json, root);
}
