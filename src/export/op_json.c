/* op_json.c: see op_json.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/op_json.h"

#include <filmstrip/tensor.h>

#include "analysis/ops/forward.h"

static void
write_text(film_event_json *json, film_output *output, const char *key, uint32_t text)
{
    film_output_text(output, key);
    film_output_json(output, film_reader_string(json->reader, text));
}

static void
write_keywords(film_event_json *json, film_output *output, const film_event *event)
{
    FILM_OUTPUT_LITERAL(output, ",\"kwargs\":{");
    for (uint32_t i = event->slot; i < event->token_count; i++) {
        film_text name = film_reader_op_keyword(json->reader, event, i);

        if (i > event->slot) {
            film_output_byte(output, ',');
        }
        if (name.length > 0) {
            film_output_json(output, name);
        }
        else { /* a name that is lost must not make two keys one */
            film_output_format(output, "\"?%u\"", i);
        }
        film_output_byte(output, ':');
        film_value_json_write(&json->values, output, event, i);
    }
    film_output_byte(output, '}');
}

/* Values from `first` up to, not including, `end`. */
static void
write_values(film_event_json *json, film_output *output, const film_event *event,
             const char *key, uint32_t first, uint32_t end)
{
    film_output_text(output, key);
    film_output_byte(output, '[');
    for (uint32_t i = first; i < end && i < event->token_count; i++) {
        if (i > first) {
            film_output_byte(output, ',');
        }
        film_value_json_write(&json->values, output, event, i);
    }
    film_output_byte(output, ']');
}

static void
write_flags(film_output *output, uint8_t flags)
{
    static const struct {
        uint8_t flag;
        const char *key;
    } keys[] = {{FILM_OPERATION_GRAD, ",\"grad\":true"},
                {FILM_OPERATION_INFERENCE, ",\"inference\":true"},
                {FILM_OPERATION_INNER, ",\"inner\":true"},
                {FILM_OPERATION_BACKWARD, ",\"backward\":true"},
                {FILM_OPERATION_SYNC, ",\"sync\":true"},
                {FILM_OPERATION_LAUNCH, ",\"launch\":true"},
                {FILM_OPERATION_COMPILED, ",\"compiled\":true"},
                {FILM_OPERATION_MODE, ",\"mode\":true"}};
    bool inner = (flags & FILM_OPERATION_INNER) != 0;

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if ((flags & keys[i].flag) != 0 &&
            !(inner && keys[i].flag == FILM_OPERATION_NODE)) {
            film_output_text(output, keys[i].key);
        }
    }
    if (inner && (flags & FILM_OPERATION_NODE) != 0) {
        FILM_OUTPUT_LITERAL(output, ",\"node\":true");
    }
}

/* Of a node of the backward pass: the op that made it. */
static void
write_forward(film_event_json *json, film_output *output, const film_event *event)
{
    film_forward of;

    if (!film_op_is_node(event) ||
        (json->forwards == NULL &&
         film_forwards_open(json->reader, &json->forwards, NULL) != FILM_OK) ||
        film_forwards_find(json->forwards, event, &of, NULL) != FILM_OK) {
        return;
    }
    FILM_OUTPUT_LITERAL(output, ",\"forward\":{\"thread\":");
    film_output_u64(output, of.thread);
    FILM_OUTPUT_LITERAL(output, ",\"op\":");
    film_output_u64(output, of.op);
    FILM_OUTPUT_LITERAL(output, ",\"inner\":");
    film_output_u64(output, of.inner);
    FILM_OUTPUT_LITERAL(output, "}");
}

void
film_op_json_begin(film_event_json *json, film_output *output, const film_event *event)
{
    (void)film_open_ops_begin(&json->ops, 0, event);
    FILM_OUTPUT_LITERAL(output, ",\"op\":");
    film_output_u64(output, event->op);
    write_text(json, output, ",\"function\":", event->text);
    if ((event->form & FILM_OPERATION_INNER) == 0 || event->token_count > 0) {
        write_values(json, output, event, ",\"args\":", 0, event->slot);
        write_keywords(json, output, event);
    }
    if (event->module != 0) {
        write_text(json, output, ",\"module\":", event->module);
    }
    if (event->api != 0) {
        write_text(json, output, ",\"api\":", event->api);
    }
    write_flags(output, event->form);
    if (event->count != 0) {
        FILM_OUTPUT_LITERAL(output, ",\"sequence\":");
        film_output_u64(output, event->count - 1);
    }
    write_forward(json, output, event);
}

void
film_op_json_end(film_event_json *json, film_output *output, const film_event *event)
{
    int result = film_event_value_index(event, FILM_ROLE_VALUE);
    bool is_known;
    film_open_op op;

    is_known = film_open_ops_end(&json->ops, 0, event, &op);
    FILM_OUTPUT_LITERAL(output, ",\"op\":");
    film_output_u64(output, event->op);
    if (result >= 0) {
        FILM_OUTPUT_LITERAL(output, ",\"result\":");
        film_value_json_write(&json->values, output, event, (uint32_t)result);
    }
    if (result >= 0 && event->token_count > 1) {
        write_values(json, output, event, ",\"changed\":", 1, event->token_count);
    }
    FILM_OUTPUT_LITERAL(output, ",\"duration_ns\":");
    if (is_known && op.time_ns <= event->time_ns) {
        film_output_u64(output, event->time_ns - op.time_ns);
    }
    else {
        FILM_OUTPUT_LITERAL(output, "null");
    }
}
