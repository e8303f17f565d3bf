/* do_break.c: breakpoints, watches and log points.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "step/handlers.h"
#include "step/paragraph.h"
#include "step/stops.h"

/* A breakpoint being made of what was typed. */
typedef struct draft {
    film_buffer spec;
    film_step_place place;
    bool is_line;
} draft;

static void
add_member(draft *of, const char *key, const char *text, size_t length)
{
    film_buffer_append_text(&of->spec, of->spec.length == 0 ? "{" : ", ");
    film_json_put(&of->spec, key, strlen(key));
    film_buffer_append_text(&of->spec, ": ");
    film_json_put(&of->spec, text, length);
}

static void
add_number(draft *of, const char *key, uint64_t number)
{
    char digits[24];

    film_buffer_append_text(&of->spec, ", ");
    film_json_put(&of->spec, key, strlen(key));
    snprintf(digits, sizeof(digits), ": %" PRIu64, number);
    film_buffer_append_text(&of->spec, digits);
}

/* Tells what was set and releases the draft. */
static void
set_stop(film_step *step, draft *of, const char *words, bool once)
{
    char line[32];
    const film_step_stop *stop;

    film_buffer_append_text(&of->spec, "}");
    if (film_step_add_stop(step, &of->spec, words, of->is_line ? of->place.file : NULL,
                           of->place.line, once)) {
        stop = &step->stops[step->stop_count - 1];
        film_output_format(&step->out, "%s %u: ", once ? "once" : "breakpoint",
                           stop->id);
        film_output_display(&step->out, film_text_of(words));
        if (of->is_line && stop->line != of->place.line) {
            snprintf(line, sizeof(line), ", at line %u", stop->line);
            film_output_text(&step->out, line);
        }
        film_output_byte(&step->out, '\n');
        if (stop->never[0] != '\0') {
            step->failed = stop->for_ever;
            film_output_text(&step->out, stop->for_ever ? "it never stops: "
                                                        : "it may never stop: ");
            film_output_display(&step->out, film_text_of(stop->never));
            film_output_byte(&step->out, '\n');
        }
        if (step->json) {
            film_buffer_clear(&step->answer);
            snprintf(line, sizeof(line), "{\"id\": %u", stop->id);
            film_buffer_append_text(&step->answer, line);
            if (stop->never[0] != '\0') {
                film_buffer_append_text(&step->answer, ", \"message\": ");
                film_json_put(&step->answer, stop->never, strlen(stop->never));
            }
            if (of->is_line) {
                snprintf(line, sizeof(line), ", \"line\": %u", stop->line);
                film_buffer_append_text(&step->answer, line);
            }
            film_buffer_append_text(&step->answer, ", \"breakpoint\": ");
            film_buffer_append_text(&step->answer, stop->spec);
            film_buffer_append_text(&step->answer, "}");
        }
    }
    film_buffer_reset(&of->spec);
}

/* A line, a function, an op, raise or uncaught; nothing: the line one is at. */
static bool
draft_place(film_step *step, const char *text, size_t length, draft *of)
{
    char here[24];
    size_t index;

    if (length == 5 && memcmp(text, "raise", 5) == 0) {
        add_member(of, "kind", "raised", 6);
        return true;
    }
    if (length == 8 && memcmp(text, "uncaught", 8) == 0) {
        add_member(of, "kind", "uncaught", 8);
        return true;
    }
    if (length > 3 && memcmp(text, "op ", 3) == 0) {
        size_t from = 3 + strspn(text + 3, " ");
        add_member(of, "kind", "op", 2);
        add_member(of, "function", text + from, length > from ? length - from : 0);
        return true;
    }
    if (!film_step_look(step)) {
        return false;
    }
    if (length == 0) {
        length = (size_t)snprintf(
            here, sizeof(here), "%" PRIu64,
            film_step_number(&step->moment, film_step_frame(step, &index), "line"));
        text = here;
    }
    if (!film_step_parse_location(step, text, length, &of->place)) {
        return false;
    }
    of->is_line = of->place.line != 0;
    film_step_open_spec(&of->spec, &of->place);
    return true;
}

/* " hit N" at the end; the text before it ends at *length. */
static const char *
split_hit(const char *text, size_t *length)
{
    for (size_t i = *length; i >= 5; i--) {
        const char *at = text + i - 5;
        size_t spec = 0;
        if (memcmp(at, " hit ", 5) != 0) {
            continue;
        }
        while (i + spec < *length && strchr("0123456789<>=%", text[i + spec]) != NULL) {
            spec++;
        }
        if (spec > 0 && i + spec == *length) {
            *length = i - 5;
            return text + i;
        }
        return NULL;
    }
    return NULL;
}

/* [if CONDITION] [hit N], in either order. */
static void
draft_extras(draft *of, const char *condition, size_t condition_length, const char *hit,
             size_t hit_length)
{
    if (condition != NULL) {
        add_member(of, "condition", condition, condition_length);
    }
    if (hit != NULL) {
        add_member(of, "hit", hit, hit_length);
    }
}

void
film_step_do_break(film_step *step, const film_word_info *word, const char *arguments)
{
    draft of = {.is_line = false};
    char words[1200];
    const char *condition, *hit = NULL;
    size_t length, condition_length = 0, hit_length = 0, whole;

    condition = film_step_condition(arguments, &length);
    if (condition != NULL) {
        condition_length = whole = strlen(condition);
        hit = split_hit(condition, &condition_length);
        hit_length = hit == NULL ? 0 : whole - (size_t)(hit - condition);
    }
    if (hit == NULL) {
        whole = length;
        hit = split_hit(arguments, &length);
        hit_length = hit == NULL ? 0 : whole - (size_t)(hit - arguments);
    }
    if (!draft_place(step, arguments, length, &of)) {
        film_buffer_reset(&of.spec);
        return;
    }
    draft_extras(&of, condition, condition_length, hit, hit_length);
    if (length == 0) { /* the line one is at */
        snprintf(words, sizeof(words), "%.600s:%u%s%.400s",
                 film_step_short_file(of.place.file), of.place.line,
                 arguments[0] == '\0' ? "" : " ", arguments);
    }
    else {
        snprintf(words, sizeof(words), "%.1000s", arguments);
    }
    set_stop(step, &of, words, word->word == FILM_WORD_TBREAK);
}

/* --- watch --- */

/* The object that an expression holds here; 0: none, which was told. */
static uint64_t
object_of(film_step *step, const char *text, size_t length)
{
    uint64_t serial;

    film_step_begin(step, "value");
    film_step_add_text(step, "expression", text, length);
    film_step_add_number(step, "limit", 0);
    if (!film_step_ask(step)) {
        return 0;
    }
    serial = film_step_number(&step->reply, film_json_root(&step->reply), "object");
    if (serial == 0) {
        (void)film_step_fail(step, "'%.*s' is no object here",
                             (int)(length < 80 ? length : 80), text);
    }
    return serial;
}

/* A name is a local of the frame if it has one, else a global of its module. */
static bool
draft_name(film_step *step, const char *name, size_t length, draft *of)
{
    const film_json *json = &step->moment;
    const film_json_node *frame, *locals;
    const char *function, *own;
    size_t index, module;

    if (!film_step_look(step)) {
        return false;
    }
    frame = film_step_frame(step, &index);
    if (frame == NULL) {
        return film_step_fail(step, "no frame is open at this moment");
    }
    function = film_step_text(json, frame, "function");
    own = film_step_text(json, frame, "name");
    add_member(of, "kind", "variable", 8);
    add_member(of, "name", name, length);
    locals = film_json_get(json, film_json_root(json), "locals");
    for (const film_json_node *item = film_json_first(json, locals); item != NULL;
         item = film_json_next(json, item)) {
        const char *known = film_step_text(json, item, "name");
        if (strlen(known) == length && memcmp(known, name, length) == 0 &&
            strcmp(film_step_text(json, item, "scope"), "global") != 0) {
            add_member(of, "function", function, strlen(function));
            return true;
        }
    }
    module = strlen(function) > strlen(own) ? strlen(function) - strlen(own) - 1 : 0;
    add_member(of, "module", function, module);
    return true;
}

/* Where the last .name or [key] begins, outside of brackets and strings; 0: nowhere. */
static size_t
last_part(const char *text, size_t length)
{
    size_t depth = 0, found = 0;
    char quote = 0;

    for (size_t i = 0; i < length; i++) {
        if (quote != 0) {
            quote = text[i] == quote ? 0 : quote;
        }
        else if (text[i] == '\'' || text[i] == '"') {
            quote = text[i];
        }
        else if (text[i] == ']' || text[i] == ')') {
            depth -= depth > 0;
        }
        else if (text[i] == '[' || text[i] == '(') {
            found = depth == 0 && text[i] == '[' ? i : found;
            depth++;
        }
        else if (text[i] == '.' && depth == 0) {
            found = i;
        }
    }
    return found;
}

static bool
draft_watch(film_step *step, const char *text, size_t length, draft *of)
{
    const char *colon = memchr(text, ':', length);
    size_t part = last_part(text, length);
    uint64_t object;

    if (length == 0) {
        return film_step_fail(step, "watch which variable?");
    }
    if (part == 0 && colon == NULL) {
        return draft_name(step, text, length, of);
    }
    if (colon != NULL &&
        (part == 0 || memchr(colon, '.', length - (size_t)(colon - text)) == NULL) &&
        memchr(text, '[', length) == NULL) {
        add_member(of, "kind", "variable", 8);
        add_member(of, "function", text, (size_t)(colon - text));
        add_member(of, "name", colon + 1, length - (size_t)(colon + 1 - text));
        return true;
    }
    object = object_of(step, text, part);
    if (object == 0) {
        return false;
    }
    if (text[part] == '.') {
        add_member(of, "kind", "attribute", 9);
        add_member(of, "name", text + part + 1, length - part - 1);
    }
    else {
        add_member(of, "kind", "object", 6);
    }
    add_number(of, "object", object);
    return true;
}

void
film_step_do_watch(film_step *step, const film_word_info *word, const char *arguments)
{
    draft of = {.is_line = false};
    char words[1200];
    size_t length;
    const char *condition = film_step_condition(arguments, &length);

    (void)word;
    if (!draft_watch(step, arguments, length, &of)) {
        film_buffer_reset(&of.spec);
        return;
    }
    draft_extras(&of, condition, condition == NULL ? 0 : strlen(condition), NULL, 0);
    snprintf(words, sizeof(words), "watch %.1000s", arguments);
    set_stop(step, &of, words, false);
}

void
film_step_do_logpoint(film_step *step, const film_word_info *word,
                      const char *arguments)
{
    draft of = {.is_line = false};
    size_t place = strcspn(arguments, " \t");
    const char *text = arguments + place + strspn(arguments + place, " \t");
    char words[1200];

    (void)word;
    if (text[0] == '\0') {
        (void)film_step_fail(step, "logpoint FILE:LINE TEXT, like: "
                                   "logpoint train.py:12 step {step}: {loss}");
        return;
    }
    if (!draft_place(step, arguments, place, &of)) {
        film_buffer_reset(&of.spec);
        return;
    }
    add_member(&of, "log", text, strlen(text));
    snprintf(words, sizeof(words), "log %.1000s", arguments);
    set_stop(step, &of, words, false);
}

/* --- the list --- */

void
film_step_do_delete(film_step *step, const film_word_info *word, const char *arguments)
{
    const char *at = arguments;
    char *end;

    (void)word;
    if (*at == '\0' && step->stop_count == 0) {
        film_output_text(&step->out, "no breakpoint is set\n");
    }
    else if (*at == '\0') {
        film_output_format(&step->out, "%zu removed\n", step->stop_count);
        film_step_delete_stops(step);
    }
    while (*at != '\0') {
        unsigned long id = strtoul(at, &end, 10);
        if (end == at || id > UINT32_MAX || (*end != '\0' && *end != ' ')) {
            (void)film_step_fail(step, "'%.40s' is no number of a breakpoint", at);
            return;
        }
        if (!film_step_delete_stop(step, (unsigned)id)) {
            (void)film_step_fail(step, "there is no breakpoint %lu", id);
            return;
        }
        film_output_format(&step->out, "%lu removed\n", id);
        at = end + strspn(end, " ");
    }
    if (step->json) {
        film_step_do_breakpoints(step, word, "");
    }
}

void
film_step_do_breakpoints(film_step *step, const film_word_info *word,
                         const char *arguments)
{
    char id[32];

    (void)word;
    (void)arguments;
    film_buffer_clear(&step->answer);
    film_buffer_append_text(&step->answer, "{\"breakpoints\": [");
    for (size_t i = 0; i < step->stop_count; i++) {
        const film_step_stop *stop = &step->stops[i];
        film_output_format(&step->out, "%4u  ", stop->id);
        film_output_display(&step->out, film_text_of(stop->words));
        film_output_text(&step->out, stop->once ? "  (once)\n" : "\n");
        snprintf(id, sizeof(id), "%s{\"id\": %u, ", i > 0 ? ", " : "", stop->id);
        film_buffer_append_text(&step->answer, id);
        film_buffer_append_text(&step->answer, "\"breakpoint\": ");
        film_buffer_append_text(&step->answer, stop->spec);
        film_buffer_append_text(&step->answer, "}");
    }
    film_buffer_append_text(&step->answer, "]}");
    if (step->stop_count == 0) {
        film_output_text(&step->out, "no breakpoint is set\n");
    }
}
