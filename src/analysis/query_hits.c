/* query_hits.c: answers about breakpoints, hits of lines and conditions.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "analysis/query_state.h"
#include "analysis/timeline_state.h"
#include "analysis/verdict.h"
#include "base/alloc.h"

#define MOST_BREAKPOINTS 1000u
#define MOST_EXPRESSIONS 16u
#define MOST_ROWS 1000u

static const struct {
    const char *name;
    film_break_kind kind;
} the_kinds[] = {{"line", FILM_BREAK_LINE},         {"function", FILM_BREAK_FUNCTION},
                 {"raised", FILM_BREAK_RAISED},     {"uncaught", FILM_BREAK_UNCAUGHT},
                 {"variable", FILM_BREAK_VARIABLE}, {"attribute", FILM_BREAK_ATTRIBUTE},
                 {"object", FILM_BREAK_OBJECT},     {"op", FILM_BREAK_OP}};

static uint64_t
number_of(const film_ask *ask, const film_json_node *of, const char *key)
{
    const film_json_node *value = film_json_get(&ask->json, of, key);

    return film_json_is(value, FILM_JSON_INTEGER) && value->integer > 0
               ? (uint64_t)value->integer
               : 0;
}

static film_status
take_breakpoint(film_ask *ask, const film_json_node *from, film_breakpoint *to)
{
    const film_json *json = &ask->json;
    const char *kind = film_json_text(json, film_json_get(json, from, "kind"));

    memset(to, 0, sizeof(*to));
    for (size_t i = 0; i < sizeof(the_kinds) / sizeof(the_kinds[0]); i++) {
        if (kind != NULL && strcmp(kind, the_kinds[i].name) == 0) {
            to->kind = the_kinds[i].kind;
            to->file = film_json_text(json, film_json_get(json, from, "file"));
            to->function = film_json_text(json, film_json_get(json, from, "function"));
            to->module = film_json_text(json, film_json_get(json, from, "module"));
            to->name = film_json_text(json, film_json_get(json, from, "name"));
            to->condition =
                film_json_text(json, film_json_get(json, from, "condition"));
            to->hit = film_json_text(json, film_json_get(json, from, "hit"));
            to->log = film_json_text(json, film_json_get(json, from, "log"));
            to->line = (uint32_t)number_of(ask, from, "line");
            to->serial = number_of(ask, from, "object");
            to->frame = number_of(ask, from, "frame");
            return FILM_OK;
        }
    }
    return film_fail(ask->error, FILM_MISUSE, "a breakpoint has no kind that is known");
}

film_status
film_ask_breakpoints(film_ask *ask, film_breakpoints **out, size_t *bad)
{
    const film_json_node *list = film_ask_get(ask, "breakpoints");
    size_t count = film_json_is(list, FILM_JSON_ARRAY) ? list->count : 0, made = 0;
    film_breakpoint *specs;
    film_status status = FILM_OK;

    *out = NULL;
    if (count > MOST_BREAKPOINTS) {
        return film_fail(ask->error, FILM_LIMIT, "there are too many breakpoints");
    }
    specs = film_alloc_array(count + 1, sizeof(*specs));
    if (specs == NULL) {
        return film_fail(ask->error, FILM_NO_MEMORY, "memory ran out");
    }
    for (const film_json_node *item = count == 0 ? NULL
                                                 : film_json_first(&ask->json, list);
         item != NULL && status == FILM_OK; item = film_json_next(&ask->json, item)) {
        *bad = made;
        status = take_breakpoint(ask, item, &specs[made++]);
    }
    if (status == FILM_OK) {
        status =
            film_breakpoints_make(ask->timeline, specs, made, out, bad, ask->error);
    }
    film_free(specs);
    return status;
}

/* What was met where nothing stopped, and what is to be said of it. `whole`: all that
 * is there was looked at. */
static void
put_verdict(film_ask *ask, film_breakpoints *set, const film_tally *tally, bool whole)
{
    film_verdict verdict = film_breakpoints_verdict(set, 0, tally);
    char text[FILM_VERDICT_TEXT];

    whole = whole && film_reader_info(ask->reader)->ending != FILM_ENDING_LIVE;
    film_verdict_tell(set, 0, verdict, tally, whole, text);
    film_ask_bool(ask, "whole", whole);
    film_ask_words(ask, "verdict", film_verdict_name(verdict));
    film_ask_words(ask, "message", text);
}

/* Whether a breakpoint can be hit, as far as the budget goes. Within it "verdict" is
 * not told where it is not known. */
static film_status
try_breakpoint(film_ask *ask, film_breakpoints *set)
{
    const film_tally *tally = film_breakpoints_tally(set, 0);
    uint32_t line = 0;
    bool verified = film_breakpoints_verified(set, 0, &line);
    film_stop stop = {.reason = FILM_STOP_AT_END};

    film_ask_bool(ask, "verified", verified);
    if (line != 0) {
        film_ask_number(ask, "line", line);
    }
    if (verified && !film_budget_spent(&ask->budget)) {
        FILM_TRY(film_breakpoints_try(set, &ask->budget, &stop, ask->error));
    }
    else if (verified) {
        return FILM_OK;
    }
    if (stop.reason == FILM_STOP_BREAKPOINT) {
        film_ask_words(ask, "verdict", film_verdict_name(FILM_VERDICT_STOPS));
    }
    else if (stop.reason == FILM_STOP_AT_END ||
             (tally->ran > 0 && tally->unknown == tally->ran)) {
        put_verdict(ask, set, tally, stop.reason == FILM_STOP_AT_END);
    }
    return FILM_OK;
}

film_status
film_ask_put_verdict(film_ask *ask, const film_breakpoint *place)
{
    film_breakpoints *set;
    film_stop stop = {.reason = FILM_STOP_AT_END};
    uint32_t line;
    size_t bad;
    film_status status;

    FILM_TRY(film_breakpoints_make(ask->timeline, place, 1, &set, &bad, ask->error));
    status = film_breakpoints_verified(set, 0, &line)
                 ? film_breakpoints_try(set, &ask->budget, &stop, ask->error)
                 : FILM_OK;
    if (status == FILM_OK && stop.reason == FILM_STOP_AT_END) {
        put_verdict(ask, set, film_breakpoints_tally(set, 0), true);
    }
    film_breakpoints_free(set);
    return status;
}

/* Each one by itself: one that makes no sense does not spoil the others. */
film_status
film_answer_breakpoints(film_ask *ask)
{
    const film_json_node *list = film_ask_get(ask, "breakpoints");

    film_ask_open(ask, "breakpoints", '[');
    for (const film_json_node *item = film_json_first(&ask->json, list); item != NULL;
         item = film_json_next(&ask->json, item)) {
        film_error error = {FILM_OK, 0, ""};
        film_error *kept = ask->error;
        film_breakpoint spec;
        film_breakpoints *set = NULL;
        size_t bad;
        film_status status;
        ask->error = &error;
        status = take_breakpoint(ask, item, &spec);
        if (status == FILM_OK) {
            status = film_breakpoints_make(ask->timeline, &spec, 1, &set, &bad, &error);
        }
        ask->error = kept;
        film_ask_open(ask, NULL, '{');
        if (status == FILM_OK) {
            status = try_breakpoint(ask, set);
            film_breakpoints_free(set);
            FILM_TRY(status);
        }
        else {
            film_ask_bool(ask, "verified", false);
            film_ask_words(ask, "message", error.message);
        }
        film_ask_close(ask, '}');
    }
    film_ask_close(ask, ']');
    return FILM_OK;
}

/* --- hits --- */

typedef struct columns {
    film_expression *trees[MOST_EXPRESSIONS];
    const char *texts[MOST_EXPRESSIONS];
    size_t count;
} columns;

static void
free_columns(columns *with)
{
    for (size_t i = 0; i < with->count; i++) {
        film_expression_free(with->trees[i]);
    }
}

static film_status
take_columns(film_ask *ask, columns *out)
{
    const film_json_node *list = film_ask_get(ask, "expressions");

    memset(out, 0, sizeof(*out));
    for (const film_json_node *item = film_json_first(&ask->json, list); item != NULL;
         item = film_json_next(&ask->json, item)) {
        const char *text = film_json_text(&ask->json, item);
        if (text == NULL || out->count == MOST_EXPRESSIONS) {
            return film_fail(ask->error, FILM_MISUSE,
                             "'expressions' is a list of at most %u texts",
                             MOST_EXPRESSIONS);
        }
        FILM_TRY(film_expression_parse(text, strlen(text), &out->trees[out->count],
                                       ask->error));
        out->texts[out->count++] = text;
    }
    return FILM_OK;
}

static film_status
put_row(film_ask *ask, film_moment moment, const columns *with)
{
    const film_event *event;
    size_t depth;

    FILM_TRY(film_timeline_event(ask->timeline, moment, &event, ask->error));
    depth = event->depth;
    film_ask_open(ask, NULL, '{');
    film_ask_moment(ask, "m", moment);
    film_ask_number(ask, "time_ns", event->time_ns);
    film_ask_open(ask, "values", '[');
    for (size_t i = 0; i < with->count; i++) {
        film_evaluated value;
        FILM_TRY(film_expression_evaluate(with->trees[i], ask->timeline, moment, depth,
                                          &value, ask->error));
        film_ask_open(ask, NULL, '{');
        if (value.outcome == FILM_EVAL_VALUE) {
            film_ask_string(ask, "text", value.value.text);
            film_ask_string(ask, "type", value.value.type);
        }
        else {
            film_ask_words(
                ask, value.outcome == FILM_EVAL_UNKNOWN ? "unknown" : "error_text",
                value.why);
        }
        film_ask_close(ask, '}');
    }
    film_ask_close(ask, ']');
    film_ask_close(ask, '}');
    return FILM_OK;
}

static film_status
put_rows(film_ask *ask, film_breakpoints *set, const columns *with)
{
    bool back = film_ask_get_bool(ask, "back");
    film_moment at, first, last;
    film_stop stop = {.reason = FILM_STOP_BREAKPOINT};
    film_tally *tally = film_breakpoints_tally(set, 0);
    uint64_t limit;
    uint32_t line;

    FILM_TRY(film_ask_get_number(ask, "limit", 100, &limit));
    limit = limit < MOST_ROWS ? limit : MOST_ROWS;
    FILM_TRY(film_timeline_ends(ask->timeline, film_reader_thread(ask->reader, 0)->id,
                                &first, &last, ask->error));
    at = back ? last : first;
    if (film_ask_get(ask, "m") != NULL) {
        FILM_TRY(film_ask_get_moment(ask, "m", false, &at));
    }
    FILM_TRY(film_ask_get_next(ask, &at, tally));
    film_ask_open(ask, "rows", '[');
    for (uint64_t i = 0; i < limit && stop.reason == FILM_STOP_BREAKPOINT; i++) {
        FILM_TRY(film_breakpoints_continue(set, at, back, true, &ask->budget, NULL,
                                           NULL, &stop, ask->error));
        at = stop.moment;
        if (stop.reason == FILM_STOP_BREAKPOINT) {
            FILM_TRY(put_row(ask, at, with));
        }
        if (film_budget_spent(&ask->budget)) {
            break;
        }
    }
    film_ask_close(ask, ']');
    film_ask_number(ask, "ran", tally->ran);
    film_ask_number(ask, "held", tally->held);
    film_ask_number(ask, "unknown", tally->unknown);
    if (tally->why[0] != '\0') {
        film_ask_words(ask, "why", tally->why);
    }
    if (film_breakpoints_verified(set, 0, &line) && line != 0) {
        film_ask_number(ask, "line", line);
    }
    if (stop.reason == FILM_STOP_BREAKPOINT || stop.reason == FILM_STOP_UNFINISHED) {
        film_ask_put_next(ask, at, tally);
    }
    else if (tally->held > 0) {
        film_ask_words(ask, "verdict", film_verdict_name(FILM_VERDICT_STOPS));
    }
    else {
        put_verdict(ask, set, tally, true);
    }
    return FILM_OK;
}

film_status
film_ask_get_place(film_ask *ask, film_breakpoint *out)
{
    uint64_t line;

    memset(out, 0, sizeof(*out));
    FILM_TRY(film_ask_get_text(ask, "function", false, &out->function));
    FILM_TRY(film_ask_get_text(ask, "file", out->function == NULL, &out->file));
    FILM_TRY(film_ask_get_number(ask, "line", 0, &line));
    out->line = line < UINT32_MAX ? (uint32_t)line : UINT32_MAX;
    out->kind = out->function != NULL ? FILM_BREAK_FUNCTION : FILM_BREAK_LINE;
    return FILM_OK;
}

film_status
film_answer_hits(film_ask *ask)
{
    film_breakpoint spec;
    film_breakpoints *set;
    columns with;
    size_t bad;
    film_status status;

    FILM_TRY(film_ask_get_place(ask, &spec));
    FILM_TRY(film_ask_get_text(ask, "where", false, &spec.condition));
    status = take_columns(ask, &with);
    if (status == FILM_OK) {
        status = film_breakpoints_make(ask->timeline, &spec, 1, &set, &bad, ask->error);
        if (status == FILM_OK) {
            status = put_rows(ask, set, &with);
            film_breakpoints_free(set);
        }
    }
    free_columns(&with);
    return status;
}

/* --- first --- */

/* Where it was looked, and what was met there. */
static void
put_looked(film_ask *ask, const film_condition *condition, film_moment from,
           bool arrived)
{
    const film_code *code = film_reader_code(ask->reader, condition->code);
    const film_tally *tally = condition->tally;
    char text[FILM_VERDICT_TEXT], what[280];

    film_ask_moment(ask, "from", from);
    film_ask_number(ask, "ran", tally->ran);
    film_ask_number(ask, "unknown", tally->unknown);
    if (arrived) {
        return;
    }
    snprintf(what, sizeof(what), "%s event %u:%llu%s%.*s",
             condition->back ? "before" : "behind", from.thread,
             (unsigned long long)from.event, code == NULL ? "" : ", in ",
             code == NULL
                 ? 0
                 : (int)(code->function.length < 200 ? code->function.length : 200),
             code == NULL ? "" : code->function.data);
    if (tally->ran == 0) {
        snprintf(text, sizeof(text), "nothing runs %s", what);
    }
    else {
        snprintf(text, sizeof(text), "%s: ", what);
        film_tally_tell(tally, "looked at", text + strlen(text),
                        sizeof(text) - strlen(text));
    }
    film_ask_words(ask, "verdict",
                   film_verdict_name(tally->ran == 0 ? FILM_VERDICT_NEVER_RAN
                                     : tally->ran == tally->unknown
                                         ? FILM_VERDICT_NEVER_KNOWN
                                         : FILM_VERDICT_NEVER_TRUE));
    film_ask_words(ask, "message", text);
}

film_status
film_answer_first(film_ask *ask)
{
    const film_stack_frame *frames;
    film_moment moment, at;
    film_tally tally = {0};
    film_condition condition = {.back = film_ask_get_bool(ask, "back"),
                                .monotone = film_ask_get_bool(ask, "monotone"),
                                .tally = &tally};
    film_stop stop;
    const char *text;
    uint64_t line, serial;
    size_t index, depth;
    film_status status;

    FILM_TRY(film_ask_get_moment(ask, "m", true, &moment));
    FILM_TRY(film_ask_get_text(ask, "condition", true, &text));
    FILM_TRY(film_ask_get_number(ask, "line", 0, &line));
    FILM_TRY(film_ask_get_frame(ask, moment, &index, &serial));
    FILM_TRY(film_timeline_stack(ask->timeline, moment, &frames, &depth, ask->error));
    condition.code = frames[index].code;
    condition.line = (uint32_t)line;
    at = moment;
    FILM_TRY(film_ask_get_next(ask, &at, &tally));
    FILM_TRY(film_expression_parse(text, strlen(text), &condition.tree, ask->error));
    status = film_find_condition(ask->timeline, &condition, at, &ask->budget, &stop,
                                 ask->error);
    film_expression_free(condition.tree);
    FILM_TRY(status);
    if (stop.reason != FILM_STOP_UNFINISHED) {
        put_looked(ask, &condition, moment, stop.reason == FILM_STOP_ARRIVED);
    }
    return film_ask_stopped(ask, moment, &stop, &tally);
}
