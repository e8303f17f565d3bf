/* objwatch_json.c: the run as ObjWatch 0.5 saves it: functions within their callers.
 *
 *   {"id":1,"type":"Function",...,"events":[...],"call_msg":..,"return_msg":..,
 *    "end_line":..}
 *
 * Threads follow one another. What is said of a function's end stands behind what
 * happened in it, so nothing is kept but the messages of open calls.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/objwatch.h"

#include <string.h>

#include "base/alloc.h"
#include "export/exporter.h"

typedef struct open_call {
    film_buffer message; /* owned; what it was called with */
    bool has_message;
} open_call;

typedef struct tree {
    film_output *output; /* borrowed */
    uint64_t id;
    open_call *calls; /* owned */
    size_t depth, capacity;
    bool is_first; /* of the list that is being written */
    bool failed;
} tree;

static void
put_comma(tree *to)
{
    if (!to->is_first) {
        film_output_byte(to->output, ',');
    }
    to->is_first = false;
}

static void
put_number(tree *to, const char *key, uint64_t number)
{
    film_output_text(to->output, key);
    film_output_u64(to->output, number);
}

static void
put_string(tree *to, const char *key, film_text text)
{
    film_output_text(to->output, key);
    film_output_json(to->output, text);
}

/* One string made of parts: `Class.method`. */
static void
put_dotted(tree *to, const char *key, const film_text *parts, size_t count)
{
    bool begun = false;

    film_output_text(to->output, key);
    film_output_byte(to->output, '"');
    for (size_t i = 0; i < count; i++) {
        if (parts[i].length > 0) {
            if (begun) {
                film_output_byte(to->output, '.');
            }
            film_output_json_part(to->output, parts[i]);
            begun = true;
        }
    }
    film_output_byte(to->output, '"');
}

static void
begin_call(tree *to, const film_objwatch_line *line)
{
    film_text parts[] = {line->module, line->owner, line->name};
    open_call *calls =
        film_grow(to->calls, &to->capacity, to->depth + 1, sizeof(*calls));

    if (calls == NULL) {
        to->failed = true;
        return;
    }
    to->calls = calls;
    calls += to->depth++;
    memset(calls, 0, sizeof(*calls));
    calls->has_message = line->has_message;
    film_buffer_append(&calls->message, line->after.data, line->after.length);
    to->failed = to->failed || calls->message.failed;
    put_comma(to);
    put_number(to, "{\"id\":", ++to->id);
    put_string(to, ",\"type\":\"Function\",\"module\":", line->module);
    put_dotted(to, ",\"symbol\":", parts + 1, 2);
    put_number(to, ",\"symbol_type\":\"function\",\"run_line\":", line->line);
    put_dotted(to, ",\"qualified_name\":", parts, 3);
    FILM_OUTPUT_LITERAL(to->output, ",\"events\":[");
    to->is_first = true;
}

/* `line` is NULL where the end was not seen. */
static void
end_call(tree *to, const film_objwatch_line *line)
{
    open_call *call = &to->calls[--to->depth];
    film_text message = {call->message.length == 0 ? "" : (char *)call->message.data,
                         call->message.length};

    film_output_byte(to->output, ']');
    if (call->has_message) {
        put_string(to, ",\"call_msg\":", message);
    }
    if (line != NULL) {
        put_string(to, ",\"return_msg\":", line->after);
        put_number(to, ",\"end_line\":", line->line);
    }
    film_output_byte(to->output, '}');
    film_buffer_reset(&call->message);
    to->is_first = false;
}

static void
put_length(tree *to, const char *key, film_text type, int64_t length)
{
    put_string(to, key, type);
    put_number(to, ",\"len\":", (uint64_t)length);
    film_output_byte(to->output, '}');
}

static void
put_variable(tree *to, const film_objwatch_line *line)
{
    put_comma(to);
    put_number(to, "{\"id\":", ++to->id);
    put_string(to, ",\"type\":", film_text_of(line->word));
    FILM_OUTPUT_LITERAL(to->output, ",\"name\":\"");
    film_output_json_part(to->output, line->owner);
    if (line->owner.length > 0) {
        film_output_byte(to->output, '.');
    }
    film_output_json_part(to->output, line->name);
    film_output_json_part(to->output, line->item);
    put_number(to, "\",\"line\":", line->line);
    if (line->length_before >= 0) {
        put_length(to, ",\"old\":{\"type\":", line->type, line->length_before);
        put_length(to, ",\"new\":{\"type\":", line->type, line->length_after);
    }
    else {
        put_string(to, ",\"old\":", line->before);
        put_string(to, ",\"new\":", line->after);
    }
    put_number(to, ",\"call_depth\":", line->depth);
    film_output_byte(to->output, '}');
}

static void
write_line(void *context, const film_objwatch_line *line)
{
    tree *to = context;

    if (strcmp(line->word, "run") == 0) {
        begin_call(to, line);
    }
    else if (strcmp(line->word, "end") == 0) {
        if (to->depth > 0) {
            end_call(to, line);
        }
    }
    else {
        put_variable(to, line);
    }
}

static void
end_thread(void *context)
{
    tree *to = context;

    while (to->depth > 0) {
        end_call(to, NULL);
    }
}

/* ObjWatch's own tree, unless the watching was to be full. */
static film_objwatch_mode
mode_of(const film_reader *reader)
{
    const char *words = film_reader_meta(reader, "objwatch");

    return words != NULL && strstr(words, "strict=1") != NULL ? FILM_OBJWATCH_STRICT
                                                              : FILM_OBJWATCH_FULL;
}

/* A JSON object that filmstrip.watch kept, or an empty one. */
static void
put_kept(film_output *output, const char *key, const char *kept)
{
    film_output_text(output, key);
    film_output_text(output, kept != NULL && kept[0] == '{' ? kept : "{}");
}

film_status
film_export_objwatch_json(const film_recordings *set, film_output *output,
                          film_error *error)
{
    tree to = {.output = output, .is_first = true};
    const film_objwatch_tree lines = {write_line, end_thread, &to, &to.failed, output};
    film_status status = FILM_OK;

    put_kept(output, "{\"ObjWatch\":{\"runtime_info\":",
             film_reader_meta(set->items[0].reader, "objwatch.runtime"));
    put_kept(output,
             ",\"config\":", film_reader_meta(set->items[0].reader, "objwatch.config"));
    FILM_OUTPUT_LITERAL(output, ",\"events\":[");
    for (size_t i = 0; status == FILM_OK && i < set->count; i++) {
        film_reader *reader = set->items[i].reader;

        status = film_objwatch_walk(reader, mode_of(reader), &lines, error);
    }
    FILM_OUTPUT_LITERAL(output, "]}}");
    film_free(to.calls);
    return status;
}
