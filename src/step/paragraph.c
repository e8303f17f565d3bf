/* paragraph.c: moments, frames, values and writes as text for people.
 * SPDX-License-Identifier: Apache-2.0 */
#include "step/paragraph.h"

#include <inttypes.h>
#include <string.h>

#define NO_VALUES                                                                      \
    "no values were recorded (level %s); record with --level values to see them\n"

const char *
film_step_short_file(const char *file)
{
    const char *slash = strrchr(file, '/');
    const char *last = slash == NULL ? file : slash + 1;

    if (strncmp(last, "__", 2) == 0) {
        while (slash != NULL && slash > file && slash[-1] != '/') {
            slash--;
        }
        return slash == NULL ? file : slash;
    }
    return last;
}

static void
put_text(film_output *to, const char *text)
{
    film_output_display(to, film_text_of(text));
}

void
film_step_put_time(film_step *step, uint64_t time_ns)
{
    film_output_format(&step->out, "%" PRIu64 ".%06" PRIu64 " s", time_ns / 1000000000,
                       time_ns % 1000000000 / 1000);
}

void
film_step_put_numbers(film_output *to, const film_json *json,
                      const film_json_node *tensor)
{
    const film_json_node *summary = film_json_get(json, tensor, "summary");
    const film_json_node *least = film_json_get(json, summary, "min");
    uint64_t nonfinite = film_step_number(json, summary, "nonfinite");
    bool has_range = least != NULL && least->kind != FILM_JSON_NULL;

    if (!has_range && nonfinite == 0) {
        return;
    }
    film_output_text(to, " (");
    if (has_range) {
        film_output_format(to, "%.6g to %.6g%s", film_json_number(least),
                           film_json_number(film_json_get(json, summary, "max")),
                           nonfinite > 0 ? ", " : "");
    }
    if (nonfinite > 0) {
        film_output_format(to, "%" PRIu64 " not finite", nonfinite);
    }
    film_output_byte(to, ')');
}

static void
put_value(film_output *to, const film_json *json, const film_json_node *of)
{
    if (!film_json_is(of, FILM_JSON_OBJECT)) {
        film_output_text(to, "deleted");
        return;
    }
    put_text(to, film_step_text(json, of, "text"));
    film_step_put_numbers(to, json, film_json_get(json, of, "tensor"));
}

void
film_step_put_value(film_step *step, const film_json *json, const film_json_node *of)
{
    put_value(&step->out, json, of);
}

static void
put_exception(film_output *to, const film_json *json, const film_json_node *exception)
{
    const char *message = film_step_text(json, exception, "message");

    put_text(to, film_step_text(json, exception, "type"));
    if (message[0] != '\0') {
        film_output_text(to, ": ");
        put_text(to, message);
    }
}

static void
describe_write(const film_json *json, const film_json_node *event, film_output *to)
{
    const film_json_node *owner = film_json_get(json, event, "owner");
    const film_json_node *key = film_json_get(json, event, "key");
    const char *name = film_step_text(json, event, "name");

    film_output_text(to, "wrote ");
    if (owner != NULL) {
        put_value(to, json, owner);
    }
    if (key != NULL) {
        film_output_byte(to, '[');
        put_value(to, json, key);
        film_output_byte(to, ']');
    }
    else {
        film_output_text(to, owner != NULL ? "." : "");
        put_text(to, name);
    }
    film_output_text(to, " = ");
    put_value(to, json, film_json_get(json, event, "value"));
}

static void
put_values(const film_json *json, const film_json_node *values, bool named,
           const char *comma, film_output *to)
{
    for (const film_json_node *item = film_json_first(json, values); item != NULL;
         item = film_json_next(json, item)) {
        film_output_text(to, comma);
        comma = ", ";
        put_text(to, named ? film_json_key(json, item) : "");
        film_output_text(to, named ? "=" : "");
        put_value(to, json, item);
    }
}

/* torch.add(t5: f32[2], 1, alpha=2) */
static void
describe_op(const film_json *json, const film_json_node *event, film_output *to)
{
    const film_json_node *args = film_json_get(json, event, "args");

    put_text(to, film_step_text(json, event, "function"));
    film_output_byte(to, '(');
    put_values(json, args, false, "", to);
    put_values(json, film_json_get(json, event, "kwargs"), true,
               args != NULL && args->count > 0 ? ", " : "", to);
    film_output_byte(to, ')');
}

/* torch.add gives t6: f32[2], changes t5: f32[2] */
static void
describe_op_end(const film_json *json, const film_json_node *event, film_output *to)
{
    const film_json_node *value = film_json_get(json, event, "value");
    const char *raised = film_step_text(json, event, "text");

    put_text(to, film_step_text(json, event, "function"));
    if (raised[0] != '\0') {
        film_output_text(to, " raises ");
        put_text(to, raised);
    }
    else if (value == NULL) {
        film_output_text(to, " ends");
    }
    else {
        film_output_text(to, " gives ");
        put_value(to, json, value);
        put_values(json, film_json_get(json, event, "changed"), false, ", changes ",
                   to);
    }
}

void
film_step_describe(const film_json *json, film_output *to)
{
    static const struct {
        const char *kind, *words;
    } with_value[] = {{"return", "returns "}, {"yield", "yields "}};
    const film_json_node *root = film_json_root(json);
    const film_json_node *event = film_json_get(json, root, "event");
    const film_json_node *exception = film_json_get(json, root, "exception");
    const film_json_node *value = film_json_get(json, event, "value");
    const char *kind = film_step_text(json, root, "kind");

    if (film_json_is(exception, FILM_JSON_OBJECT)) {
        film_output_text(to, strcmp(kind, "handled") == 0  ? "handles "
                             : strcmp(kind, "unwind") == 0 ? "is left by "
                                                           : "raises ");
        put_exception(to, json, exception);
        return;
    }
    for (size_t i = 0; i < sizeof(with_value) / sizeof(with_value[0]); i++) {
        if (strcmp(kind, with_value[i].kind) == 0) {
            film_output_text(to, with_value[i].words);
            if (value != NULL) {
                put_value(to, json, value);
            }
        }
    }
    if (strcmp(kind, "op") == 0) {
        describe_op(json, event, to);
    }
    else if (strcmp(kind, "op_end") == 0) {
        describe_op_end(json, event, to);
    }
    else if (strcmp(kind, "set") == 0) {
        describe_write(json, event, to);
    }
    else if (strcmp(kind, "delete") == 0) {
        film_output_text(to, "deleted ");
        put_text(to, film_step_text(json, event, "name"));
    }
    else if (strcmp(kind, "change") == 0 && value != NULL) {
        film_output_text(to, "changed ");
        put_value(to, json, value);
    }
    else if (strcmp(kind, "lost") == 0) {
        uint64_t count = film_step_number(json, event, "count");
        film_output_format(to, "%" PRIu64 " event%s lost: ", count,
                           count == 1 ? " was" : "s were");
        put_text(to, film_step_text(json, event, "reason"));
    }
    else if (strncmp(kind, "thread_", 7) == 0) {
        put_text(to, film_step_text(json, event, "text"));
    }
}

/* The line of source a frame stands at. */
static void
put_source_line(film_step *step, const film_json_node *frame)
{
    const film_json *json = &step->moment;
    uint64_t line = film_step_number(json, frame, "line");
    const film_source_lines *source = film_sources_get(
        &step->sources, step->reader, film_step_text(json, frame, "file"));

    if (line == 0 || source == NULL) {
        return;
    }
    film_output_format(&step->out, "%5" PRIu64 " ->  ", line);
    if (source->text == NULL) {
        film_output_text(&step->out, "(the recording has no source of this file)\n");
        return;
    }
    film_output_display(&step->out, film_source_line(source, line));
    film_output_byte(&step->out, '\n');
}

static void
put_changed(film_step *step)
{
    const film_json *json = &step->moment;
    const film_json_node *locals = film_json_get(json, film_json_root(json), "locals");

    for (const film_json_node *item = film_json_first(json, locals); item != NULL;
         item = film_json_next(json, item)) {
        if (film_json_is(film_json_get(json, item, "changed"), FILM_JSON_TRUE)) {
            film_output_text(&step->out, "         * ");
            put_text(&step->out, film_step_text(json, item, "name"));
            film_output_text(&step->out, " = ");
            put_value(&step->out, json, film_json_get(json, item, "value"));
            film_output_byte(&step->out, '\n');
        }
    }
}

static void
put_place(film_step *step, const film_json *json, const film_json_node *frame)
{
    uint64_t line = film_step_number(json, frame, "line");

    put_text(&step->out, film_step_short_file(film_step_text(json, frame, "file")));
    if (line != 0) {
        film_output_format(&step->out, ":%" PRIu64, line);
    }
}

void
film_step_put_here(film_step *step)
{
    const film_json *json = &step->moment;
    const film_json_node *root = film_json_root(json);
    size_t index, before;
    const film_json_node *frame = film_step_frame(step, &index);
    uint64_t time_ns = film_step_number(json, root, "time_ns");

    if (step->quiet) {
        return;
    }
    if (frame != NULL) {
        put_place(step, json, frame);
        film_output_text(&step->out, "  ");
        put_text(&step->out, film_step_text(json, frame, "function"));
        film_output_text(&step->out, "  ");
    }
    film_output_format(&step->out, "event %s %s, ", step->at,
                       film_step_text(json, root, "kind"));
    film_step_put_time(step, time_ns);
    if (index > 0) {
        film_output_format(&step->out, ", frame %zu", index);
    }
    film_output_byte(&step->out, '\n');
    if (frame != NULL) {
        put_source_line(step, frame);
    }
    if (index == 0) {
        film_output_drain(&step->out);
        before = step->text.length;
        film_output_text(&step->out, "         ");
        film_step_describe(json, &step->out);
        film_output_drain(&step->out);
        if (step->text.length == before + 9) {
            step->text.length = before; /* there was nothing to say */
        }
        else {
            film_output_byte(&step->out, '\n');
        }
    }
    put_changed(step);
}

void
film_step_put_frame(film_step *step, const film_json *json, const film_json_node *frame,
                    size_t number, bool marked)
{
    film_output_format(&step->out, "%c%3zu  ", marked ? '>' : ' ', number);
    put_text(&step->out, film_step_text(json, frame, "function"));
    film_output_text(&step->out, "  ");
    put_place(step, json, frame);
    film_output_byte(&step->out, '\n');
}

/* "function:x" is x: the function is told before it. */
static const char *
bare_name(const char *name)
{
    size_t plain = strcspn(name, "[:\"'");

    return name[plain] == ':' ? name + plain + 1 : name;
}

void
film_step_put_write(film_step *step, const film_json *json, const film_json_node *write)
{
    film_output_format(&step->out, "%-10s ", film_step_text(json, write, "m"));
    put_place(step, json, write);
    film_output_text(&step->out, "  ");
    put_text(&step->out, film_step_text(json, write, "function"));
    film_output_text(&step->out, "  ");
    put_text(&step->out, bare_name(film_step_text(json, write, "name")));
    film_output_text(&step->out, " = ");
    put_value(&step->out, json, film_json_get(json, write, "value"));
    if (film_json_is(film_json_get(json, write, "argument"), FILM_JSON_TRUE)) {
        film_output_text(&step->out, "  (argument)");
    }
    film_output_byte(&step->out, '\n');
}
