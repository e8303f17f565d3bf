/* objwatch.c: events to lines: calls and their ends, exceptions, and who does the rest.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "export/objwatch_view.h"

#include <string.h>

#include "analysis/closures.h"
#include "base/alloc.h"
#include "reader/render.h"

#define LITERAL(out, text) film_buffer_append((out), (text), sizeof(text) - 1)
#define CO_VARARGS 0x04u
#define CO_VARKEYWORDS 0x08u
#define FIRST_THREAD 1u

static bool
is_word(film_text text, const char *word)
{
    return text.length == strlen(word) &&
           (text.length == 0 || memcmp(text.data, word, text.length) == 0);
}

film_status
film_objwatch_new(film_reader *reader, film_objwatch_mode mode,
                  film_objwatch_writer write, void *context, film_objwatch **out,
                  film_error *error)
{
    film_objwatch *view = film_alloc(sizeof(*view));
    film_status status;

    *out = NULL;
    if (view == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    view->reader = reader;
    view->mode = mode;
    view->write = write;
    view->context = context;
    film_watch_init(&view->state, reader);
    view->state.older = mode == FILM_OBJWATCH_OLD;
    status = film_objwatch_config_load(&view->config, reader, error);
    if (status != FILM_OK) {
        film_objwatch_free(view);
        return status;
    }
    *out = view;
    return FILM_OK;
}

void
film_objwatch_free(film_objwatch *view)
{
    if (view != NULL) {
        film_objwatch_config_reset(&view->config);
        film_watch_reset(&view->state);
        film_buffer_reset(&view->before);
        film_buffer_reset(&view->after);
        film_buffer_reset(&view->item);
        film_free(view);
    }
}

/* --- lines --- */

film_objwatch_line
film_objwatch_begin(film_objwatch *view, const film_event *event, const char *word,
                    uint32_t line)
{
    film_seen_thread *thread = film_watch_thread(&view->state, event->thread);
    uint32_t before = event->thread == FIRST_THREAD ? (uint32_t)view->config.depth : 0;

    return (film_objwatch_line){
        .word = word,
        .time_ns = event->time_ns,
        .line = line,
        .depth = thread == NULL ? before : before + thread->shown,
        .thread = event->thread,
        .module = {"", 0},
        .owner = {"", 0},
        .item = {"", 0},
        .before = {"", 0},
        .after = {"", 0},
        .length_before = -1,
        .length_after = -1,
    };
}

void
film_objwatch_tell_value(film_objwatch *view, film_objwatch_line *line,
                         const film_held *before, const film_held *after)
{
    bool shapes = view->config.wrapper == FILM_WRAPPER_SHAPE;

    film_buffer_clear(&view->before);
    film_buffer_clear(&view->after);
    film_objwatch_put_value(&view->state, &view->before, before, shapes);
    film_objwatch_put_value(&view->state, &view->after, after, shapes);
    line->word = "upd";
    line->length_before = line->length_after = -1; /* of another variable's line */
    line->before = film_buffer_text(&view->before);
    line->after = film_buffer_text(&view->after);
    view->write(view->context, line);
}

void
film_objwatch_tell_length(film_objwatch *view, film_objwatch_line *line, film_text type,
                          int64_t before, int64_t after)
{
    line->word = after > before ? "apd" : "pop";
    line->type = type;
    line->length_before = before;
    line->length_after = after;
    view->write(view->context, line);
}

bool
film_objwatch_is_self(film_objwatch *view, uint32_t name)
{
    return is_word(film_reader_string(view->reader, name), "self");
}

bool
film_objwatch_shows_local(film_objwatch *view, uint32_t name)
{
    return view->config.with_locals && !film_objwatch_is_self(view, name);
}

/* The object a method works on, or NULL. */
static film_seen_object *
self_of(film_objwatch *view, const film_seen_frame *frame)
{
    return film_watch_object(&view->state, &frame->self);
}

/* The function's name as ObjWatch has it: with the class of `self` and the module. The
 * older form has no module, or, with it, no class. */
static void
name_function(film_objwatch *view, const film_seen_frame *frame,
              film_objwatch_line *line)
{
    const film_code *code = film_reader_code(view->reader, frame->code);
    const film_seen_object *self = self_of(view, frame);
    bool old = view->mode == FILM_OBJWATCH_OLD;

    line->name = code == NULL ? film_text_of("?") : code->name;
    if (code != NULL && (!old || view->config.with_modules)) {
        line->module = code->module;
    }
    if (self != NULL && !(old && view->config.with_modules)) {
        line->owner = film_objwatch_type(&view->state, self);
    }
}

/* --- arguments --- */

static void
put_argument(film_objwatch *view, film_text name, const film_held *value)
{
    if (view->after.length > 0) {
        LITERAL(&view->after, ", ");
    }
    film_buffer_put_byte(&view->after, '\'');
    film_buffer_append(&view->after, name.data, name.length);
    LITERAL(&view->after, "':");
    film_objwatch_put_value(&view->state, &view->after, value,
                            view->config.wrapper == FILM_WRAPPER_SHAPE);
}

/* '0':VALUE, '1':VALUE, and by name what a function with **keywords has besides. */
static void
put_arguments(film_objwatch *view, const film_seen_frame *frame)
{
    const film_code *code = film_reader_code(view->reader, frame->code);
    bool by_name = code != NULL && (code->flags & CO_VARKEYWORDS) != 0;

    film_buffer_clear(&view->after);
    for (size_t i = 0; code != NULL && i < code->local_count; i++) {
        const film_held *value = NULL;
        film_text name = film_reader_string(view->reader, code->locals[i]);
        char number[24];

        for (size_t k = 0; k < frame->locals.count; k++) {
            if (frame->locals.items[k].name == code->locals[i] &&
                frame->locals.items[k].now.length > 0) {
                value = &frame->locals.items[k].now;
            }
        }
        if (value != NULL && i < code->argument_count) {
            char *end = film_format_u64(number, i);
            put_argument(view, (film_text){number, (size_t)(end - number)}, value);
        }
        else if (value != NULL && by_name && name.length > 0 && name.data[0] != '_') {
            put_argument(view, name, value);
        }
    }
}

/* Which locals are arguments: they come with the call, in this order. */
static uint32_t
argument_slots(const film_code *code)
{
    return code->argument_count + code->keyword_only_count +
           ((code->flags & CO_VARARGS) != 0) + ((code->flags & CO_VARKEYWORDS) != 0);
}

static void
take_arguments(film_objwatch *view, const film_event *event, film_seen_frame *frame)
{
    const film_code *code = film_reader_code(view->reader, event->code);
    film_input input = film_input_of(event->tokens, event->tokens_length);
    uint32_t slots = code == NULL ? 0 : argument_slots(code);

    for (uint32_t i = 0; i < event->token_count && i < slots; i++) {
        film_held value = film_watch_take(&view->state, &input);
        film_seen_variable *variable;

        if (input.failed || i >= code->local_count) {
            return;
        }
        variable = film_scope_find(&view->state, &frame->locals, code->locals[i], true);
        if (variable != NULL) {
            variable->now = value;
        }
        if (film_objwatch_is_self(view, code->locals[i])) {
            frame->self = value;
        }
    }
}

/* The innermost open call of a function around this one that has the variable. */
static const film_seen_variable *
outer_variable(film_objwatch *view, const film_seen_thread *thread,
               const film_code *code, uint32_t name)
{
    for (size_t at = thread->depth; at > 1; at--) {
        film_seen_frame *outer = thread->stack[at - 2];
        const film_code *around = film_reader_code(view->reader, outer->code);
        const film_seen_variable *variable =
            around == NULL || !film_code_encloses(around, code)
                ? NULL
                : film_scope_find(&view->state, &outer->locals, name, false);

        if (variable != NULL) {
            return variable->now.length > 0 ? variable : NULL;
        }
    }
    return NULL;
}

/* What a function has of those around it stands among its locals. Calls that have ended
 * are not known by their closures: what they left is not shown. */
static void
take_closure(film_objwatch *view, const film_seen_thread *thread,
             film_seen_frame *frame)
{
    const film_code *code = film_reader_code(view->reader, frame->code);

    for (uint32_t i = 0; code != NULL && i < code->local_count; i++) {
        const film_seen_variable *outer =
            (code->local_kinds[i] & FILM_LOCAL_FREE) == 0
                ? NULL
                : outer_variable(view, thread, code, code->locals[i]);
        film_seen_variable *variable =
            outer == NULL
                ? NULL
                : film_scope_find(&view->state, &frame->locals, code->locals[i], true);

        if (variable != NULL) {
            variable->now = outer->now;
        }
    }
}

/* --- calls and their ends --- */

static bool
traces(film_objwatch *view, const film_event *event, const film_seen_frame *frame)
{
    film_objwatch_place place = {.code = film_reader_code(view->reader, frame->code)};
    film_seen_object *self = self_of(view, frame);

    if (place.code != NULL && is_word(place.code->file, FILM_OBJWATCH_FIRST_VALUES)) {
        return false;
    }
    if (view->mode == FILM_OBJWATCH_FULL) {
        return true;
    }
    if (event->thread != FIRST_THREAD || place.code == NULL) {
        return false;
    }
    if (self != NULL) {
        film_text type = film_reader_string(view->reader, self->type);

        place.owner = film_short_name(type);
        if (type.length > place.owner.length) {
            place.home = (film_text){type.data, type.length - place.owner.length - 1};
        }
        for (size_t i = 0; i < self->attributes.count; i++) {
            film_seen_variable *item = &self->attributes.items[i];
            place.has_attribute = place.has_attribute ||
                                  (item->now.length > 0 &&
                                   film_objwatch_names_attribute(
                                       &view->config, place.code->module, place.owner,
                                       film_reader_string(view->reader, item->name)));
        }
    }
    return film_objwatch_traces(&view->config, &place);
}

static void
enter(film_objwatch *view, const film_event *event)
{
    film_seen_frame *frame = film_watch_enter(&view->state, event);
    film_seen_thread *thread = film_watch_thread(&view->state, event->thread);
    film_objwatch_line line;

    if (frame == NULL || thread == NULL) {
        return;
    }
    if (event->kind == FILM_KIND_CALL) {
        take_arguments(view, event, frame);
        take_closure(view, thread, frame);
    }
    frame->traced = traces(view, event, frame);
    if (!frame->traced) {
        return;
    }
    frame->run_line =
        view->mode == FILM_OBJWATCH_OLD
            ? film_reader_event_line(view->reader, event)
            : film_reader_line(view->reader, event->caller_code, event->caller_offset);
    if (view->mode == FILM_OBJWATCH_OLD && event->kind == FILM_KIND_CALL) {
        const film_code *code = film_reader_code(view->reader, frame->code);
        frame->run_line = code == NULL ? 0 : code->first_line;
    }
    line = film_objwatch_begin(view, event, "run", frame->run_line);
    name_function(view, frame, &line);
    line.has_message = view->config.wrapper != FILM_WRAPPER_NONE;
    if (line.has_message) {
        put_arguments(view, frame);
        line.after = film_buffer_text(&view->after);
    }
    film_objwatch_meet(view, frame, true);
    view->write(view->context, &line);
    thread->shown++;
}

/* What an end says of the value, or of the exception that ended it. */
static void
put_result(film_objwatch *view, const film_event *event)
{
    film_input input = film_input_of(event->tokens, event->tokens_length);
    film_held value = {0};

    film_buffer_clear(&view->after);
    if (event->kind == FILM_KIND_UNWIND && view->mode == FILM_OBJWATCH_FULL) {
        film_text type = film_reader_string(view->reader, event->text);
        LITERAL(&view->after, "raised ");
        film_buffer_append(&view->after, type.data, type.length);
        return;
    }
    if (event->kind != FILM_KIND_UNWIND && event->token_count > 0) {
        value = film_watch_take(&view->state, &input);
    }
    if (film_objwatch_is_container(&view->state, &value)) {
        film_buffer_put_byte(&view->after, '[');
    }
    film_objwatch_put_value(&view->state, &view->after, &value,
                            view->config.wrapper == FILM_WRAPPER_SHAPE);
    if (film_objwatch_is_container(&view->state, &value)) {
        film_buffer_put_byte(&view->after, ']');
    }
}

static void
leave(film_objwatch *view, const film_event *event)
{
    film_seen_frame *frame = film_watch_frame(&view->state, event);
    film_seen_thread *thread = film_watch_thread(&view->state, event->thread);
    bool traced = frame != NULL && frame->traced;
    film_objwatch_line line;

    if (frame == NULL || thread == NULL) {
        return;
    }
    line = film_objwatch_begin(view, event, "end",
                               view->mode == FILM_OBJWATCH_OLD
                                   ? film_reader_event_line(view->reader, event)
                                   : frame->run_line);
    if (traced) {
        line.depth = line.depth > 0 ? line.depth - 1 : 0;
        name_function(view, frame, &line);
        line.has_message = view->config.wrapper != FILM_WRAPPER_NONE;
        if (line.has_message) {
            put_result(view, event);
            line.after = film_buffer_text(&view->after);
        }
        film_objwatch_meet(view, frame, false);
        view->write(view->context, &line);
    }
    film_watch_leave(&view->state, thread, event->kind == FILM_KIND_YIELD);
}

/* --- the rest --- */

static void
tell_exception(film_objwatch *view, const film_event *event)
{
    film_seen_frame *frame = film_watch_frame(&view->state, event);
    film_objwatch_line line;
    film_value message;

    if (frame == NULL || !frame->traced || view->mode != FILM_OBJWATCH_FULL) {
        return;
    }
    line = film_objwatch_begin(view, event, "raise",
                               film_reader_event_line(view->reader, event));
    line.name = film_reader_string(view->reader, event->text);
    film_buffer_clear(&view->after);
    if (event->value != 0 &&
        film_reader_value(view->reader, event->value - 1, &message, NULL) == FILM_OK) {
        film_buffer_append(&view->after, message.text.data, message.text.length);
    }
    line.after = film_buffer_text(&view->after);
    view->write(view->context, &line);
}

film_status
film_objwatch_event(film_objwatch *view, const film_event *event, film_error *error)
{
    film_seen_frame *frame;

    switch (event->kind) {
    case FILM_KIND_CALL:
    case FILM_KIND_RESUME:
    case FILM_KIND_THROW:
        enter(view, event);
        break;
    case FILM_KIND_RETURN:
    case FILM_KIND_YIELD:
    case FILM_KIND_UNWIND:
        leave(view, event);
        break;
    case FILM_KIND_LINE:
        frame = film_watch_frame(&view->state, event);
        if (frame != NULL) {
            if (frame->traced && view->mode != FILM_OBJWATCH_FULL) {
                film_objwatch_look(view, event, frame);
            }
            frame->last_line = film_reader_event_line(view->reader, event);
        }
        break;
    case FILM_KIND_SET:
    case FILM_KIND_DELETE:
        film_objwatch_take_set(view, event, film_watch_frame(&view->state, event));
        break;
    case FILM_KIND_CHANGE:
        film_objwatch_take_change(view, event, film_watch_frame(&view->state, event));
        break;
    case FILM_KIND_RAISE:
        tell_exception(view, event);
        break;
    default:
        break;
    }
    if (view->state.failed || view->before.failed || view->after.failed ||
        view->item.failed) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    return FILM_OK;
}
