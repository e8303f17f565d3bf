/* query_questions.c: answers about values: what they hold, who wrote them, where they
 * came from.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "analysis/query_state.h"
#include "analysis/timeline_state.h"
#include "format/value_record.h"

#define MOST_ITEMS 1000u
#define MOST_WRITES 10000u
#define MOST_DEPTH 8u
#define MOST_NODES 64u

static const char *const the_forms[] = {"none",       "sequence",  "mapping",
                                        "attributes", "opaque",    "array",
                                        "named",      "exception", "bytes"};

/* --- value and evaluate --- */

/* The value that "expression" or "object" names. */
film_status
film_ask_find_value(film_ask *ask, film_moment moment, film_datum *out)
{
    const char *text;
    film_expression *tree;
    film_evaluated value;
    uint64_t serial, object;
    size_t index;
    film_status status;

    FILM_TRY(film_ask_get_text(ask, "expression", false, &text));
    if (text == NULL) {
        FILM_TRY(film_ask_get_number(ask, "object", 0, &object));
        if (object == 0) {
            return film_fail(ask->error, FILM_MISUSE,
                             "'expression' or 'object' is missing");
        }
        out->bytes[0] = FILM_TOKEN_CYCLE; /* an object by its serial alone */
        out->length = (uint8_t)(film_varint_encode(
                                    film_varint_encode(out->bytes + 1, object), 0) -
                                out->bytes);
        return FILM_OK;
    }
    FILM_TRY(film_ask_get_frame(ask, moment, &index, &serial));
    FILM_TRY(film_expression_parse(text, strlen(text), &tree, ask->error));
    status = film_expression_evaluate(tree, ask->timeline, moment, index, &value,
                                      ask->error);
    film_expression_free(tree);
    FILM_TRY(status);
    if (value.outcome != FILM_EVAL_VALUE || value.datum.length == 0) {
        return film_fail(ask->error, FILM_END, "%s",
                         value.outcome != FILM_EVAL_VALUE ? value.why
                                                          : "it is no recorded value");
    }
    *out = value.datum;
    return FILM_OK;
}

static film_status
put_items(film_ask *ask, film_moment moment, const film_content *content,
          uint64_t offset, uint64_t limit)
{
    film_content held = *content;

    film_ask_open(ask, "items", '[');
    for (uint64_t i = offset; i < held.count && i < offset + limit; i++) {
        film_item item = ask->timeline->items[i];
        film_ask_open(ask, NULL, '{');
        if (held.form == FILM_OBJECT_ATTRIBUTES) {
            film_ask_string(ask, "name", item.name);
        }
        else if (held.form == FILM_OBJECT_MAPPING) {
            FILM_TRY(film_ask_value(ask, "key", moment, &item.key));
        }
        else {
            film_ask_number(ask, "index", i);
            if (item.name.length > 0) {
                film_ask_string(ask, "name", item.name);
            }
        }
        FILM_TRY(film_ask_value(ask, "value", moment, &item.value));
        film_ask_close(ask, '}');
    }
    film_ask_close(ask, ']');
    return FILM_OK;
}

film_status
film_answer_value(film_ask *ask)
{
    film_moment moment;
    film_datum value;
    film_content content;
    uint64_t offset, limit;
    film_status status;

    FILM_TRY(film_ask_get_moment(ask, "m", true, &moment));
    FILM_TRY(film_ask_get_number(ask, "offset", 0, &offset));
    FILM_TRY(film_ask_get_number(ask, "limit", 100, &limit));
    FILM_TRY(film_ask_find_value(ask, moment, &value));
    limit = limit < MOST_ITEMS ? limit : MOST_ITEMS;
    FILM_TRY(film_ask_value(ask, "value", moment, &value));
    status = film_timeline_content(ask->timeline, moment, &value, &content, ask->error);
    if (status == FILM_END) {
        film_ask_words(ask, "form", "none");
        film_ask_open(ask, "items", '[');
        film_ask_close(ask, ']');
        return FILM_OK;
    }
    FILM_TRY(status);
    film_ask_string(ask, "type", content.type);
    film_ask_number(ask, "object", content.serial);
    film_ask_words(ask, "form",
                   content.form < sizeof(the_forms) / sizeof(the_forms[0])
                       ? the_forms[content.form]
                       : "unknown");
    if (content.length >= 0) {
        film_ask_number(ask, "length", (uint64_t)content.length);
    }
    film_ask_bool(ask, "cut", content.cut || content.doubtful);
    film_ask_number(ask, "count", content.count);
    return put_items(ask, moment, &content, offset, limit);
}

static film_status
put_evaluated(film_ask *ask, const char *key, film_moment moment,
              const film_evaluated *value)
{
    if (key != NULL) {
        film_ask_open(ask, key, '{');
    }
    if (value->outcome != FILM_EVAL_VALUE) {
        film_ask_words(ask,
                       value->outcome == FILM_EVAL_UNKNOWN ? "unknown" : "error_text",
                       value->why);
    }
    else if (value->datum.length > 0) {
        FILM_TRY(film_ask_value(ask, "value", moment, &value->datum));
    }
    else {
        film_ask_open(ask, "value", '{');
        film_ask_string(ask, "text", value->value.text);
        film_ask_string(ask, "type", value->value.type);
        film_ask_close(ask, '}');
    }
    if (value->outcome == FILM_EVAL_VALUE && value->truth_known) {
        film_ask_bool(ask, "truth", value->truth);
    }
    if (key != NULL) {
        film_ask_close(ask, '}');
    }
    return FILM_OK;
}

film_status
film_answer_evaluate(film_ask *ask)
{
    film_moment moment;
    const char *text;
    film_expression *tree;
    film_evaluated value;
    uint64_t serial;
    size_t index;
    film_status status;

    FILM_TRY(film_ask_get_moment(ask, "m", true, &moment));
    FILM_TRY(film_ask_get_text(ask, "expression", true, &text));
    FILM_TRY(film_ask_get_frame(ask, moment, &index, &serial));
    FILM_TRY(film_expression_parse(text, strlen(text), &tree, ask->error));
    status = film_expression_evaluate(tree, ask->timeline, moment, index, &value,
                                      ask->error);
    if (status == FILM_OK) {
        status = put_evaluated(ask, NULL, moment, &value);
    }
    film_expression_free(tree);
    return status;
}

/* --- writes --- */

/* The frame that "frame" names, or the innermost; none: index 0. */
static film_status
frame_or_none(film_ask *ask, film_moment moment, size_t *index)
{
    uint64_t serial;
    film_status status = film_ask_get_frame(ask, moment, index, &serial);

    return status == FILM_END ? FILM_OK : status;
}

/* The "variable" of a frame at the moment "m". */
static film_status
get_target(film_ask *ask, film_moment *moment, const char **variable,
           film_target *target)
{
    size_t index = 0;

    FILM_TRY(film_ask_get_moment(ask, "m", true, moment));
    FILM_TRY(film_ask_get_text(ask, "variable", true, variable));
    FILM_TRY(frame_or_none(ask, *moment, &index));
    return film_target_parse(ask->timeline, *moment, index, *variable, target,
                             ask->error);
}

/* Writes from `at` on into "writes"; where to go on into "next". */
static film_status
put_writes(film_ask *ask, const film_target *target, film_moment at, bool back,
           const char *name)
{
    uint64_t limit;
    film_stop stop;
    film_written written;

    FILM_TRY(film_ask_get_number(ask, "limit", 100, &limit));
    limit = limit < MOST_WRITES ? limit : MOST_WRITES;
    film_ask_open(ask, "writes", '[');
    memset(&stop, 0, sizeof(stop));
    for (uint64_t i = 0; i < limit; i++) {
        FILM_TRY(film_find_write(ask->timeline, target, at, back, &ask->budget,
                                 &written, &stop, ask->error));
        if (stop.reason != FILM_STOP_ARRIVED) {
            break;
        }
        film_ask_open(ask, NULL, '{');
        FILM_TRY(film_ask_written(ask, &written, name));
        film_ask_close(ask, '}');
        at = stop.moment;
        if (back && at.event == 0) {
            stop.reason = FILM_STOP_AT_START;
            break;
        }
        at.event -= back;
        if (back && target->least != 0 && at.event < target->least) {
            stop.reason = FILM_STOP_AT_START;
            break;
        }
    }
    film_ask_close(ask, ']');
    if (stop.reason == FILM_STOP_UNFINISHED) {
        at = stop.moment;
    }
    if (stop.reason == FILM_STOP_UNFINISHED || stop.reason == FILM_STOP_ARRIVED) {
        char progress[32];
        film_ask_moment(ask, "next", at);
        snprintf(progress, sizeof(progress), "%.6f", stop.progress);
        film_ask_key(ask, "progress");
        film_buffer_append_text(ask->out, progress);
    }
    return FILM_OK;
}

film_status
film_answer_writes(film_ask *ask)
{
    film_moment moment, at;
    film_target target;
    const char *variable;

    FILM_TRY(get_target(ask, &moment, &variable, &target));
    at = moment;
    if (film_ask_get(ask, "next") != NULL) {
        FILM_TRY(film_ask_get_moment(ask, "next", false, &at));
    }
    return put_writes(ask, &target, at, film_ask_get_bool(ask, "back"), variable);
}

/* The whole history: from the start, in every call of its function. */
film_status
film_answer_history(film_ask *ask)
{
    film_moment moment, at, last;
    film_target target;
    const char *variable;

    FILM_TRY(get_target(ask, &moment, &variable, &target));
    if (!film_ask_get_bool(ask, "this_frame")) {
        target.frame = target.kind == FILM_TARGET_CLASS ? target.frame : 0;
        target.least = 0;
    }
    FILM_TRY(film_timeline_ends(ask->timeline, film_reader_thread(ask->reader, 0)->id,
                                &at, &last, ask->error));
    if (film_ask_get(ask, "next") != NULL) {
        FILM_TRY(film_ask_get_moment(ask, "next", false, &at));
    }
    return put_writes(ask, &target, at, false, variable);
}

/* --- origin --- */

static const char *const the_reads[] = {"local", "global",   "attribute",
                                        "item",  "constant", "return"};

static film_status
put_origin(film_ask *ask, const film_written *written, const char *name, unsigned depth,
           unsigned *nodes)
{
    film_origin origin;

    FILM_TRY(
        film_find_origin(ask->timeline, written, &ask->budget, &origin, ask->error));
    FILM_TRY(film_ask_written(ask, written, name));
    if (origin.stopped != NULL) {
        film_ask_words(ask, "stopped", origin.stopped);
    }
    film_ask_open(ask, "reads", '[');
    for (size_t i = 0; i < origin.read_count; i++) {
        const film_read *read = &origin.reads[i];
        film_written deeper;
        film_target target;
        memset(&target, 0, sizeof(target));
        film_ask_open(ask, NULL, '{');
        film_ask_words(ask, "kind", the_reads[read->kind]);
        film_ask_words(ask, "name", read->name);
        FILM_TRY(film_ask_value(ask, "value", written->moment, &read->value));
        film_ask_moment(ask, "m", read->wrote);
        if (depth > 1 && read->wrote.thread != 0 && ++*nodes < MOST_NODES &&
            !film_budget_spent(&ask->budget)) {
            FILM_TRY(film_written_at(ask->timeline, &target, read->wrote, &deeper,
                                     ask->error));
            deeper.value = read->value;
            film_ask_open(ask, "origin", '{');
            FILM_TRY(put_origin(ask, &deeper, read->name, depth - 1, nodes));
            film_ask_close(ask, '}');
        }
        film_ask_close(ask, '}');
    }
    film_ask_close(ask, ']');
    return FILM_OK;
}

film_status
film_answer_origin(film_ask *ask)
{
    film_moment moment;
    film_target target;
    film_written written;
    film_stop stop;
    const char *variable;
    uint64_t depth;
    unsigned nodes = 0;

    FILM_TRY(film_ask_get_number(ask, "depth", 1, &depth));
    FILM_TRY(get_target(ask, &moment, &variable, &target));
    if (film_ask_get(ask, "next") != NULL) {
        FILM_TRY(film_ask_get_moment(ask, "next", false, &moment));
    }
    FILM_TRY(film_find_write(ask->timeline, &target, moment, true, &ask->budget,
                             &written, &stop, ask->error));
    if (stop.reason == FILM_STOP_UNFINISHED) {
        film_ask_moment(ask, "next", stop.moment);
        return FILM_OK;
    }
    if (stop.reason != FILM_STOP_ARRIVED) {
        return film_fail(ask->error, FILM_END,
                         "no write of '%.60s' was recorded before", variable);
    }
    film_ask_open(ask, "origin", '{');
    FILM_TRY(put_origin(ask, &written, variable,
                        depth < MOST_DEPTH ? (unsigned)depth : MOST_DEPTH, &nodes));
    film_ask_close(ask, '}');
    return FILM_OK;
}
