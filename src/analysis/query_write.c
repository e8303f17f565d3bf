/* query_write.c: the parts that answers are made of.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <filmstrip/tensor.h>

#include "analysis/query_state.h"
#include "analysis/timeline_state.h"
#include "base/json_writer.h"

/* The text of a value in an answer is about so long at most, and with "text_bytes". */
#define VALUE_TEXT 400u
#define MOST_VALUE_TEXT (1u << 20)

void
film_ask_key(film_ask *ask, const char *key)
{
    if (ask->comma) {
        film_buffer_append(ask->out, ", ", 2);
    }
    if (key != NULL) {
        film_json_put_text(ask->out, key, strlen(key));
        film_buffer_append(ask->out, ": ", 2);
    }
    ask->comma = true;
}

void
film_ask_open(film_ask *ask, const char *key, char bracket)
{
    film_ask_key(ask, key);
    film_buffer_put_byte(ask->out, (uint8_t)bracket);
    ask->comma = false;
}

void
film_ask_close(film_ask *ask, char bracket)
{
    film_buffer_put_byte(ask->out, (uint8_t)bracket);
    ask->comma = true;
}

void
film_ask_string(film_ask *ask, const char *key, film_text text)
{
    film_ask_key(ask, key);
    film_json_put_text(ask->out, text.data, text.length);
}

void
film_ask_words(film_ask *ask, const char *key, const char *text)
{
    film_ask_key(ask, key);
    film_json_put_text(ask->out, text, strlen(text));
}

void
film_ask_number(film_ask *ask, const char *key, uint64_t number)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRIu64, number);
    film_ask_key(ask, key);
    film_buffer_append_text(ask->out, text);
}

void
film_ask_bool(film_ask *ask, const char *key, bool is)
{
    film_ask_key(ask, key);
    film_buffer_append_text(ask->out, is ? "true" : "false");
}

void
film_ask_null(film_ask *ask, const char *key)
{
    film_ask_key(ask, key);
    film_buffer_append_text(ask->out, "null");
}

void
film_ask_moment(film_ask *ask, const char *key, film_moment moment)
{
    char text[48];

    if (moment.thread == 0) {
        film_ask_null(ask, key);
        return;
    }
    snprintf(text, sizeof(text), "%u:%" PRIu64, moment.thread, moment.event);
    film_ask_words(ask, key, text);
}

void
film_ask_put_next(film_ask *ask, film_moment at, const film_tally *tally)
{
    char text[128];

    snprintf(text, sizeof(text), "%u:%" PRIu64 "/%" PRIu64 "/%" PRIu64 "/%" PRIu64,
             at.thread, at.event, tally->ran, tally->held, tally->unknown);
    film_ask_words(ask, "next", text);
}

film_status
film_ask_value(film_ask *ask, const char *key, film_moment moment,
               const film_datum *value)
{
    film_value told;
    film_tensor tensor;
    film_status status;
    uint64_t limit;

    FILM_TRY(film_ask_get_number(ask, "text_bytes", VALUE_TEXT, &limit));
    limit = limit < MOST_VALUE_TEXT ? limit : MOST_VALUE_TEXT;
    FILM_TRY(film_timeline_text(ask->timeline, moment, value, (size_t)limit, &told,
                                ask->error));
    film_ask_open(ask, key, '{');
    film_ask_string(ask, "text", told.text);
    film_ask_string(ask, "type", told.type);
    if (told.is_object) {
        film_ask_number(ask, "object", told.object);
    }
    if (told.length >= 0) {
        film_ask_number(ask, "length", (uint64_t)told.length);
    }
    if (told.cut) {
        film_ask_bool(ask, "cut", true);
    }
    if (told.redacted) {
        film_ask_bool(ask, "redacted", true);
    }
    if (told.is_object) {
        status = film_ask_get_tensor(ask, moment, value, &tensor);
        if (status == FILM_OK) {
            film_ask_put_tensor(ask, &tensor);
        }
        else if (status != FILM_END) {
            return status;
        }
    }
    film_ask_close(ask, '}');
    return FILM_OK;
}

void
film_ask_place(film_ask *ask, uint32_t code, uint32_t line)
{
    const film_code *of = film_reader_code(ask->reader, code);

    if (of == NULL) {
        film_ask_null(ask, "function");
        film_ask_null(ask, "file");
    }
    else {
        film_ask_string(ask, "function", of->function);
        film_ask_string(ask, "file", of->file);
    }
    if (line == 0) {
        film_ask_null(ask, "line");
    }
    else {
        film_ask_number(ask, "line", line);
    }
}

static const char *
scope_name(film_scope scope)
{
    switch (scope) {
    case FILM_SCOPE_NONLOCAL:
        return "nonlocal";
    case FILM_SCOPE_CLASS:
        return "class";
    case FILM_SCOPE_GLOBAL:
        return "global";
    case FILM_SCOPE_LOCAL:
    default:
        return "local";
    }
}

static film_status
put_variables(film_ask *ask, const char *key, film_moment moment,
              const film_variable *variables, size_t count)
{
    film_ask_open(ask, key, '[');
    for (size_t i = 0; i < count; i++) {
        film_variable variable = variables[i];
        film_ask_open(ask, NULL, '{');
        film_ask_string(ask, "name", variable.name);
        film_ask_words(ask, "scope", scope_name(variable.scope));
        FILM_TRY(film_ask_value(ask, "value", moment, &variable.value));
        film_ask_bool(ask, "changed", variable.changed);
        if (variable.shared) {
            film_ask_bool(ask, "shared", true);
        }
        film_ask_moment(ask, "wrote", variable.wrote);
        film_ask_close(ask, '}');
    }
    film_ask_close(ask, ']');
    return FILM_OK;
}

film_status
film_ask_locals(film_ask *ask, film_moment moment, size_t index)
{
    const film_variable *variables;
    size_t count;

    FILM_TRY(film_timeline_variables(ask->timeline, moment, index, &variables, &count,
                                     ask->error));
    return put_variables(ask, "locals", moment, variables, count);
}

film_status
film_ask_globals(film_ask *ask, film_moment moment, size_t index)
{
    const film_variable *variables;
    size_t count;

    FILM_TRY(film_timeline_globals(ask->timeline, moment, index, &variables, &count,
                                   ask->error));
    return put_variables(ask, "globals", moment, variables, count);
}

/* The event's values from `first` up to `end`, by the names of an op's keywords. */
static film_status
put_op_values(film_ask *ask, film_moment moment, const film_event *event,
              uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end && i < event->token_count; i++) {
        film_text name = film_reader_op_keyword(ask->reader, event, i);
        film_scene *scene;
        film_datum datum;
        uint32_t index;
        char key[256];

        FILM_TRY(
            film_timeline_locate(ask->timeline, moment, &scene, &index, ask->error));
        datum = film_scene_token(scene, index, i);
        if (name.length > 0) {
            snprintf(key, sizeof(key), "%.*s",
                     (int)(name.length < 255 ? name.length : 255), name.data);
        }
        else {
            snprintf(key, sizeof(key), "?%u", i); /* its name is lost */
        }
        FILM_TRY(film_ask_value(ask, i < event->slot ? NULL : key, moment, &datum));
    }
    return FILM_OK;
}

/* What was called, and with what. */
static film_status
put_op(film_ask *ask, film_moment moment, const film_event *event)
{
    film_ask_string(ask, "function", film_reader_string(ask->reader, event->text));
    film_ask_open(ask, "args", '[');
    FILM_TRY(put_op_values(ask, moment, event, 0, event->slot));
    film_ask_close(ask, ']');
    film_ask_open(ask, "kwargs", '{');
    FILM_TRY(put_op_values(ask, moment, event, event->slot, UINT32_MAX));
    film_ask_close(ask, '}');
    if (event->module != 0) {
        film_ask_string(ask, "module", film_reader_string(ask->reader, event->module));
    }
    if (event->api != 0) {
        film_ask_string(ask, "api", film_reader_string(ask->reader, event->api));
    }
    return film_ask_put_forward(ask, event);
}

/* What the event itself says, in the words of dump. */
film_status
film_ask_whole_event(film_ask *ask, film_moment moment, const film_event *event)
{
    static const struct {
        film_value_role role;
        const char *key;
    } roles[] = {
        {FILM_ROLE_OWNER, "owner"}, {FILM_ROLE_KEY, "key"}, {FILM_ROLE_VALUE, "value"}};
    film_event kept = *event;
    film_scene *scene;
    uint32_t index;

    film_ask_open(ask, "event", '{');
    film_ask_words(ask, "kind", film_kind_name(kept.kind));
    if (kept.kind == FILM_KIND_SET || kept.kind == FILM_KIND_DELETE) {
        film_text name = film_reader_event_name(ask->reader, &kept);
        film_ask_words(ask, "scope", film_reader_event_scope(ask->reader, &kept));
        if (name.length > 0) {
            film_ask_string(ask, "name", name);
        }
    }
    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
        int at = film_event_value_index(&kept, roles[i].role);
        film_datum datum;
        if (at < 0) {
            continue;
        }
        FILM_TRY(
            film_timeline_locate(ask->timeline, moment, &scene, &index, ask->error));
        datum = film_scene_token(scene, index, (uint32_t)at);
        if (datum.length > 0) {
            FILM_TRY(film_ask_value(ask, roles[i].key, moment, &datum));
        }
    }
    if (kept.kind == FILM_KIND_CALL) {
        film_ask_open(ask, "args", '{');
        for (uint32_t i = 0; i < kept.token_count; i++) {
            film_text name = film_reader_argument_name(ask->reader, &kept, i);
            char key[256];
            film_datum datum;
            snprintf(key, sizeof(key), "%.*s",
                     (int)(name.length < 255 ? name.length : 255), name.data);
            FILM_TRY(film_timeline_locate(ask->timeline, moment, &scene, &index,
                                          ask->error));
            datum = film_scene_token(scene, index, i);
            FILM_TRY(film_ask_value(ask, key, moment, &datum));
        }
        film_ask_close(ask, '}');
    }
    if (kept.kind == FILM_KIND_OP || kept.kind == FILM_KIND_OP_END) {
        film_ask_number(ask, "op", kept.op);
    }
    if (kept.kind == FILM_KIND_OP) {
        FILM_TRY(put_op(ask, moment, &kept));
    }
    else if (kept.kind == FILM_KIND_OP_END) {
        FILM_TRY(film_ask_put_op_end(ask, moment, &kept));
    }
    if (kept.kind != FILM_KIND_OP && kept.text != 0) {
        film_ask_string(ask, kept.kind == FILM_KIND_LOST ? "reason" : "text",
                        film_reader_string(ask->reader, kept.text));
    }
    if (kept.kind == FILM_KIND_LOST || kept.kind == FILM_KIND_LOST_CONTROL) {
        film_ask_number(ask, "count", kept.count);
    }
    film_ask_close(ask, '}');
    return FILM_OK;
}

void
film_ask_put_exception(film_ask *ask, const film_event *event)
{
    film_value message;

    if (event->kind != FILM_KIND_RAISE && event->kind != FILM_KIND_UNWIND &&
        event->kind != FILM_KIND_HANDLED && event->kind != FILM_KIND_THROW) {
        film_ask_null(ask, "exception");
        return;
    }
    film_ask_open(ask, "exception", '{');
    film_ask_string(ask, "type", film_reader_string(ask->reader, event->text));
    if (event->value != 0 &&
        film_reader_value(ask->reader, event->value - 1, &message, NULL) == FILM_OK) {
        film_ask_string(ask, "message", message.text);
    }
    film_ask_close(ask, '}');
}

static void
put_stack(film_ask *ask, film_moment moment, const film_stack_frame *frames,
          size_t depth, uint64_t most)
{
    film_ask_open(ask, "stack", '[');
    for (size_t i = depth; i > 0 && depth - i < most; i--) {
        const film_stack_frame *frame = &frames[i - 1];
        const film_code *code = film_reader_code(ask->reader, frame->code);
        film_ask_open(ask, NULL, '{');
        film_ask_number(ask, "frame", frame->serial);
        film_ask_place(ask, frame->code, frame->line);
        if (code != NULL) {
            film_ask_string(ask, "name", code->qualname);
            film_ask_number(ask, "code", frame->code);
        }
        film_ask_moment(ask, "entered", film_moment_of(moment.thread, frame->entered));
        film_ask_bool(ask, "adopted", frame->adopted);
        film_ask_close(ask, '}');
    }
    film_ask_close(ask, ']');
}

static film_status
put_task(film_ask *ask, film_moment moment)
{
    film_scene *scene;
    uint32_t index, name;
    uint64_t task;

    FILM_TRY(film_timeline_locate(ask->timeline, moment, &scene, &index, ask->error));
    task = film_scene_task(scene, index, &name);
    if (task == 0) {
        film_ask_null(ask, "task");
        return FILM_OK;
    }
    film_ask_open(ask, "task", '{');
    film_ask_number(ask, "id", task);
    film_ask_string(ask, "name", film_reader_string(ask->reader, name));
    film_ask_close(ask, '}');
    return FILM_OK;
}

film_status
film_ask_whole_moment(film_ask *ask, film_moment moment, bool locals, uint64_t frame)
{
    const film_event *event;
    const film_stack_frame *frames;
    film_event kept;
    size_t depth, index;
    uint64_t most;

    FILM_TRY(film_ask_get_number(ask, "frames", UINT64_MAX, &most));
    FILM_TRY(film_timeline_event(ask->timeline, moment, &event, ask->error));
    kept = *event;
    moment.event = kept.number;
    film_ask_moment(ask, "m", moment);
    film_ask_words(ask, "kind", film_kind_name(kept.kind));
    film_ask_number(ask, "time_ns", kept.time_ns);
    film_ask_number(ask, "thread", moment.thread);
    FILM_TRY(film_timeline_stack(ask->timeline, moment, &frames, &depth, ask->error));
    film_ask_place(ask, depth > 0 ? frames[depth - 1].code : FILM_NO_CODE,
                   depth > 0 ? frames[depth - 1].line : 0);
    film_ask_number(ask, "depth", depth);
    film_ask_put_exception(ask, &kept);
    put_stack(ask, moment, frames, depth, most);
    FILM_TRY(put_task(ask, moment));
    index = depth;
    for (size_t i = depth; i > 0 && index == depth; i--) {
        if (frame == 0 || frames[i - 1].serial == frame) {
            index = i - 1;
        }
    }
    FILM_TRY(film_ask_whole_event(ask, moment, &kept));
    if (!locals) {
        return FILM_OK;
    }
    if (index == depth) {
        film_ask_open(ask, "locals", '[');
        film_ask_close(ask, ']');
        return FILM_OK;
    }
    return film_ask_locals(ask, moment, index);
}

film_status
film_ask_written(film_ask *ask, const film_written *written, const char *name)
{
    const film_event *event;
    uint64_t time_ns;

    FILM_TRY(film_timeline_event(ask->timeline, written->moment, &event, ask->error));
    time_ns = event->time_ns;
    film_ask_moment(ask, "m", written->moment);
    film_ask_number(ask, "time_ns", time_ns);
    film_ask_place(ask, written->code, written->line);
    if (name != NULL) {
        film_ask_words(ask, "name", name);
    }
    if (written->deleted || written->value.length == 0) {
        film_ask_null(ask, "value");
    }
    else {
        FILM_TRY(film_ask_value(ask, "value", written->moment, &written->value));
    }
    film_ask_bool(ask, "argument", written->argument);
    return FILM_OK;
}
