/* event_json.c: one function per group of kinds; calls and returns go straight to
 * bytes, because nine events of ten are one of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/event_json.h"

#include "analysis/ops/forward.h"
#include "export/op_json.h"

/* A call's or return's keys, its fixed words and numbers: six numbers of at most 20
 * digits and some 110 letters, before the function's own bytes. */
#define LINE_BYTES 256u

#define PUT(to, literal)                                                               \
    (memcpy((to), (literal), sizeof(literal) - 1), (to) + sizeof(literal) - 1)

static void
render_call(film_output *output, const film_reader *reader, const film_code *code)
{
    (void)reader;
    if (code == NULL) {
        FILM_OUTPUT_LITERAL(output, ",\"function\":null,\"file\":null,\"line\":null");
        return;
    }
    FILM_OUTPUT_LITERAL(output, ",\"function\":");
    film_output_json(output, code->function);
    FILM_OUTPUT_LITERAL(output, ",\"file\":");
    film_output_json(output, code->file);
    FILM_OUTPUT_LITERAL(output, ",\"line\":");
    film_output_u64(output, code->first_line);
}

film_status
film_event_json_init(film_event_json *json, film_reader *reader, film_error *error)
{
    film_status status;

    memset(json, 0, sizeof(*json));
    json->reader = reader;
    json->head_length = (size_t)(PUT(json->head, "{\"event\":") - json->head);
    film_value_json_init(&json->values, reader);
    json->has_values = film_reader_info(reader)->level >= 2;
    status = film_moment_texts_init(&json->texts, reader, error);
    if (status == FILM_OK) {
        status = film_names_init(&json->calls, reader, render_call, error);
    }
    if (status != FILM_OK) {
        film_event_json_reset(json);
    }
    return status;
}

void
film_event_json_reset(film_event_json *json)
{
    film_open_ops_reset(&json->ops);
    film_forwards_free(json->forwards);
    film_names_reset(&json->calls);
    film_value_json_reset(&json->values);
    film_moment_texts_reset(&json->texts);
    memset(json, 0, sizeof(*json));
}

void
film_event_json_name_process(film_event_json *json, uint64_t pid, int64_t rank)
{
    char *to = PUT(json->head, "{\"pid\":");

    to = film_format_u64(to, pid);
    if (rank >= 0) {
        to = PUT(to, ",\"rank\":");
        to = film_format_u64(to, (uint64_t)rank);
    }
    to = PUT(to, ",\"event\":");
    json->head_length = (size_t)(to - json->head);
}

static void
change_thread(film_event_json *json, uint32_t id)
{
    static const char before[] = ",\"thread\":", after[] = ",\"time_ns\":";
    char *to = json->thread;

    memcpy(to, before, sizeof(before) - 1);
    to = film_format_u64(to + sizeof(before) - 1, id);
    memcpy(to, after, sizeof(after) - 1);
    to += sizeof(after) - 1;
    json->thread_length = (size_t)(to - json->thread);
    json->thread_id = id;
}

/* {"event":N,"thread":N,"time_ns":N,"kind":" */
static char *
put_head(film_event_json *json, char *to, const film_event *event)
{
    if (event->thread != json->thread_id) {
        change_thread(json, event->thread);
    }
    /* All of head and thread, used or not: copies of a fixed size are fast. */
    memcpy(to, json->head, sizeof(json->head));
    to = film_format_u64(to + json->head_length, event->number);
    memcpy(to, json->thread, sizeof(json->thread));
    to += json->thread_length;
    to = film_format_u64(to, event->time_ns);
    return PUT(to, ",\"kind\":\"");
}

static char *
put_line(char *to, uint32_t line)
{
    return line == 0 ? PUT(to, "null") : film_format_u64(to, line);
}

static void
write_arguments(film_event_json *json, film_output *output, const film_event *event)
{
    FILM_OUTPUT_LITERAL(output, ",\"args\":{");
    for (uint32_t i = 0; i < event->token_count; i++) {
        film_text name = film_reader_argument_name(json->reader, event, i);
        if (i > 0) {
            film_output_byte(output, ',');
        }
        if (name.length > 0) {
            film_output_json(output, name);
        }
        else { /* a table that lacks the name must not make two keys one */
            film_output_format(output, "\"?%u\"", i);
        }
        film_output_byte(output, ':');
        film_value_json_write(&json->values, output, event, i);
    }
    film_output_byte(output, '}');
}

static void
write_role(film_event_json *json, film_output *output, const film_event *event,
           const char *key, film_value_role role)
{
    int index = film_event_value_index(event, role);

    if (index >= 0) {
        film_output_text(output, key);
        film_value_json_write(&json->values, output, event, (uint32_t)index);
    }
}

static void
write_call(film_event_json *json, film_output *output, const film_event *event)
{
    film_text function = film_names_get(&json->calls, event->code);
    uint32_t line =
        film_reader_line(json->reader, event->caller_code, event->caller_offset);
    char *to = film_output_room(output, LINE_BYTES);
    char *from = to;

    to = put_head(json, to, event);
    to = PUT(to, "call\",\"frame\":");
    to = film_format_u64(to, event->frame);
    output->used += (size_t)(to - from);
    film_output_write(output, function.data, function.length);
    to = from = film_output_room(output, 64);
    to = PUT(to, ",\"caller_line\":");
    to = put_line(to, line);
    output->used += (size_t)(to - from);
    if (json->has_values) {
        write_arguments(json, output, event);
    }
    FILM_OUTPUT_LITERAL(output, "}\n");
}

static void
write_return(film_event_json *json, film_output *output, const film_event *event)
{
    uint32_t line = film_reader_event_line(json->reader, event);
    char *from = film_output_room(output, LINE_BYTES);
    char *to = put_head(json, from, event);

    to = PUT(to, "return\",\"frame\":");
    to = film_format_u64(to, event->frame);
    to = PUT(to, ",\"line\":");
    to = put_line(to, line);
    output->used += (size_t)(to - from);
    write_role(json, output, event, ",\"value\":", FILM_ROLE_VALUE);
    FILM_OUTPUT_LITERAL(output, "}\n");
}

static void
write_line_key(film_output *output, const char *key, uint32_t line)
{
    film_output_text(output, key);
    if (line == 0) {
        FILM_OUTPUT_LITERAL(output, "null");
    }
    else {
        film_output_u64(output, line);
    }
}

static void
write_frame(film_event_json *json, film_output *output, const film_event *event)
{
    FILM_OUTPUT_LITERAL(output, ",\"frame\":");
    film_output_u64(output, event->frame);
    write_line_key(output, ",\"line\":", film_reader_event_line(json->reader, event));
}

static void
write_frame_if_any(film_event_json *json, film_output *output, const film_event *event)
{
    if (event->frame != 0) {
        write_frame(json, output, event);
    }
}

static void
write_exception(film_event_json *json, film_output *output, const film_event *event)
{
    film_value message;

    if (event->text == 0 && event->value == 0 && event->kind == FILM_KIND_THROW) {
        return; /* a resume by close() or throw() whose exception was not readable */
    }
    FILM_OUTPUT_LITERAL(output, ",\"exception\":{\"type\":");
    film_output_json(output, film_reader_string(json->reader, event->text));
    if (event->value != 0 &&
        film_reader_value(json->reader, event->value - 1, &message, NULL) == FILM_OK) {
        FILM_OUTPUT_LITERAL(output, ",\"message\":");
        film_output_json(output, message.text);
        if (message.cut) {
            FILM_OUTPUT_LITERAL(output, ",\"cut\":true");
        }
        if (message.redacted) {
            FILM_OUTPUT_LITERAL(output, ",\"redacted\":true");
        }
    }
    FILM_OUTPUT_LITERAL(output, "}");
}

static void
write_text(film_event_json *json, film_output *output, const char *key, uint32_t text)
{
    film_output_text(output, key);
    film_output_json(output, film_reader_string(json->reader, text));
}

static void
write_number(film_output *output, const char *key, uint64_t number)
{
    film_output_text(output, key);
    film_output_u64(output, number);
}

static void
write_thread_name(film_event_json *json, film_output *output, const film_event *event)
{
    if (event->kind == FILM_KIND_THREAD_END) {
        size_t count = film_reader_thread_count(json->reader);
        for (size_t i = 0; i < count; i++) {
            const film_thread_info *thread = film_reader_thread(json->reader, i);
            if (thread->id == event->thread) {
                FILM_OUTPUT_LITERAL(output, ",\"name\":");
                film_output_json(output, thread->name);
                return;
            }
        }
        return;
    }
    write_text(json, output, ",\"name\":", event->text);
    write_number(output, ",\"native_id\":", event->count);
}

/* set, delete: what was written to, and the value. */
static void
write_write(film_event_json *json, film_output *output, const film_event *event)
{
    const film_code *code = film_reader_code(json->reader, event->code);
    bool is_item = event->form == FILM_SET_ITEM || event->form == FILM_SET_ITEM_VIA;

    write_frame(json, output, event);
    FILM_OUTPUT_LITERAL(output, ",\"scope\":\"");
    film_output_text(output, film_reader_event_scope(json->reader, event));
    film_output_byte(output, '"');
    if (!is_item) {
        FILM_OUTPUT_LITERAL(output, ",\"name\":");
        film_output_json(output, film_reader_event_name(json->reader, event));
    }
    if (event->form == FILM_SET_GLOBAL && code != NULL) {
        FILM_OUTPUT_LITERAL(output, ",\"module\":");
        film_output_json(output, code->module);
    }
    write_role(json, output, event, ",\"owner\":", FILM_ROLE_OWNER);
    write_role(json, output, event, ",\"key\":", FILM_ROLE_KEY);
    write_role(json, output, event, ",\"value\":", FILM_ROLE_VALUE);
    if (event->form == FILM_SET_ATTRIBUTE_VIA || event->form == FILM_SET_ITEM_VIA) {
        FILM_OUTPUT_LITERAL(output, ",\"via\":true");
    }
}

static void
write_change(film_event_json *json, film_output *output, const film_event *event)
{
    film_value value;

    write_frame(json, output, event);
    if (film_reader_event_value(json->reader, event, 0, 0, &value, NULL) == FILM_OK &&
        value.is_object) {
        write_number(output, ",\"object\":", value.object);
    }
    write_role(json, output, event, ",\"value\":", FILM_ROLE_VALUE);
    if (event->length_before >= 0) {
        write_number(output, ",\"length_before\":", (uint64_t)event->length_before);
    }
    if (event->cut) {
        FILM_OUTPUT_LITERAL(output, ",\"cut\":true");
    }
}

/* The keys of the rarer kinds. */
static void
write_keys(film_event_json *json, film_output *output, const film_event *event)
{
    switch (event->kind) {
    case FILM_KIND_LINE:
        write_frame(json, output, event);
        break;
    case FILM_KIND_YIELD:
        write_frame(json, output, event);
        write_role(json, output, event, ",\"value\":", FILM_ROLE_VALUE);
        break;
    case FILM_KIND_SET:
    case FILM_KIND_DELETE:
        write_write(json, output, event);
        break;
    case FILM_KIND_CHANGE:
        write_change(json, output, event);
        break;
    case FILM_KIND_RESUME:
    case FILM_KIND_THROW:
        write_frame(json, output, event);
        write_line_key(
            output, ",\"caller_line\":",
            film_reader_line(json->reader, event->caller_code, event->caller_offset));
        write_role(json, output, event, ",\"value\":", FILM_ROLE_VALUE);
        if (event->kind == FILM_KIND_THROW) {
            write_exception(json, output, event);
        }
        break;
    case FILM_KIND_RAISE:
    case FILM_KIND_UNWIND:
    case FILM_KIND_HANDLED:
        write_frame(json, output, event);
        write_exception(json, output, event);
        break;
    case FILM_KIND_C_CALL:
    case FILM_KIND_C_RETURN:
    case FILM_KIND_C_RAISE:
        write_frame(json, output, event);
        write_text(json, output, ",\"function\":", event->text);
        break;
    case FILM_KIND_OP:
        write_frame_if_any(json, output, event);
        film_op_json_begin(json, output, event);
        break;
    case FILM_KIND_OP_END:
        write_frame_if_any(json, output, event);
        film_op_json_end(json, output, event);
        if ((event->form & FILM_OPERATION_RAISED) != 0) {
            write_exception(json, output, event);
        }
        break;
    case FILM_KIND_THREAD_START:
    case FILM_KIND_THREAD_END:
        write_thread_name(json, output, event);
        break;
    case FILM_KIND_TASK:
        write_number(output, ",\"id\":", event->count);
        write_text(json, output, ",\"name\":", event->text);
        break;
    case FILM_KIND_LOST:
    case FILM_KIND_LOST_CONTROL:
        write_number(output, ",\"count\":", event->count);
        write_text(json, output, ",\"reason\":", event->text);
        break;
    default: /* a kind of a later step: what can be said of every event */
        write_frame_if_any(json, output, event);
        if (event->body != NULL) {
            write_number(output, ",\"number\":", event->kind);
            write_number(output, ",\"bytes\":", event->body_length);
        }
    }
}

static void
write_other(film_event_json *json, film_output *output, const film_event *event)
{
    char *from, *to;

    from = film_output_room(output, LINE_BYTES);
    to = put_head(json, from, event);
    output->used += (size_t)(to - from);
    film_output_text(output, film_kind_name(event->kind));
    film_output_byte(output, '"');
    write_keys(json, output, event);
    FILM_OUTPUT_LITERAL(output, "}\n");
}

void
film_event_json_write(film_event_json *json, film_output *output,
                      const film_event *event)
{
    if (json->has_values) {
        film_moment_texts_begin(&json->texts, event);
    }
    if (event->kind == FILM_KIND_CALL) {
        write_call(json, output, event);
    }
    else if (event->kind == FILM_KIND_RETURN) {
        write_return(json, output, event);
    }
    else {
        write_other(json, output, event);
    }
    if (json->has_values) {
        film_moment_texts_end(&json->texts);
    }
}
