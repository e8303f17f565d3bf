/* objwatch_xml.c: the run as ObjWatch 0.3 saves it.
 *
 *   <Function name="main" run_line="3" call_msg="" return_msg="None" end_line="9">
 *     <upd name="_.x" line="5" old="None" new="1" />
 *
 * How a function ended stands in its opening tag, so what happened in it is kept until
 * then; it may be as much as the document.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/objwatch.h"

#include <string.h>

#include "base/alloc.h"
#include "export/exporter.h"

typedef struct element {
    film_buffer head, inside; /* owned: attributes so far; child elements */
} element;

typedef struct document {
    element *open; /* owned; the first is the root */
    size_t depth, capacity;
    film_output text; /* formats into `scratch` */
    film_buffer scratch;
    bool failed;
} document;

/* Python's writer leaves apostrophes as they are. */
static void
put_escaped(film_buffer *out, const film_buffer *escaped)
{
    static const char apostrophe[] = "&apos;";
    const size_t length = sizeof(apostrophe) - 1;

    for (size_t i = 0; i < escaped->length; i++) {
        bool found = escaped->length - i >= length &&
                     memcmp(escaped->data + i, apostrophe, length) == 0;
        film_buffer_put_byte(out, found ? '\'' : escaped->data[i]);
        i += found ? length - 1 : 0;
    }
}

/* ` key="value"`, escaped. */
static void
put_attribute(document *to, film_buffer *out, const char *key, const film_text *parts,
              size_t count)
{
    film_buffer_clear(&to->scratch);
    for (size_t i = 0; i < count; i++) {
        film_output_xml(&to->text, parts[i]);
    }
    film_output_drain(&to->text);
    film_buffer_put_byte(out, ' ');
    film_buffer_append_text(out, key);
    film_buffer_append(out, "=\"", 2);
    put_escaped(out, &to->scratch);
    film_buffer_put_byte(out, '"');
    to->failed = to->failed || out->failed || to->scratch.failed;
}

static void
put_text(document *to, film_buffer *out, const char *key, film_text text)
{
    put_attribute(to, out, key, &text, 1);
}

static void
put_number(document *to, film_buffer *out, const char *key, uint64_t number)
{
    char digits[24];
    char *end = film_format_u64(digits, number);

    put_text(to, out, key, (film_text){digits, (size_t)(end - digits)});
}

static void
put_indent(film_buffer *out, size_t depth)
{
    film_buffer_put_byte(out, '\n');
    for (size_t i = 0; i < depth; i++) {
        film_buffer_append(out, "  ", 2);
    }
}

static void
begin_function(document *to, const film_objwatch_line *line)
{
    element *open = film_grow(to->open, &to->capacity, to->depth + 1, sizeof(*open));
    film_text name[] = {line->module,
                        {".", line->module.length > 0},
                        line->owner,
                        {".", line->owner.length > 0},
                        line->name};

    if (open == NULL) {
        to->failed = true;
        return;
    }
    to->open = open;
    open += to->depth++;
    memset(open, 0, sizeof(*open));
    put_attribute(to, &open->head, "name", name, 5);
    put_number(to, &open->head, "run_line", line->line);
    if (line->has_message) {
        put_text(to, &open->head, "call_msg", line->after);
    }
}

/* Hands the innermost function to the one around it. */
static void
end_function(document *to, const film_objwatch_line *line)
{
    element *done = &to->open[--to->depth];
    film_buffer *out = &to->open[to->depth - 1].inside;

    if (line != NULL) {
        put_text(to, &done->head, "return_msg", line->after);
        put_number(to, &done->head, "end_line", line->line);
    }
    put_indent(out, to->depth);
    film_buffer_append_text(out, "<Function");
    film_buffer_append(out, done->head.data, done->head.length);
    if (done->inside.length == 0) {
        film_buffer_append_text(out, " />");
    }
    else {
        film_buffer_put_byte(out, '>');
        film_buffer_append(out, done->inside.data, done->inside.length);
        put_indent(out, to->depth);
        film_buffer_append_text(out, "</Function>");
    }
    to->failed = to->failed || out->failed || done->inside.failed;
    film_buffer_reset(&done->head);
    film_buffer_reset(&done->inside);
}

static void
put_size(document *to, film_buffer *out, const char *key, film_text type,
         int64_t length)
{
    char digits[24];
    char *end = film_format_u64(digits, (uint64_t)length);
    film_text parts[] = {film_text_of("("),
                         type,
                         film_text_of(")(len)"),
                         {digits, (size_t)(end - digits)}};

    put_attribute(to, out, key, parts, 4);
}

static void
put_variable(document *to, const film_objwatch_line *line)
{
    film_buffer *out = &to->open[to->depth - 1].inside;
    film_text name[] = {
        line->owner, {".", line->owner.length > 0}, line->name, line->item};

    put_indent(out, to->depth);
    film_buffer_put_byte(out, '<');
    film_buffer_append_text(out, line->word);
    put_attribute(to, out, "name", name, 4);
    put_number(to, out, "line", line->line);
    if (line->length_before >= 0) {
        put_size(to, out, "old", line->type, line->length_before);
        put_size(to, out, "new", line->type, line->length_after);
    }
    else {
        put_text(to, out, "old", line->before);
        put_text(to, out, "new", line->after);
    }
    film_buffer_append_text(out, " />");
}

static void
write_line(void *context, const film_objwatch_line *line)
{
    document *to = context;

    if (to->failed) {
        return;
    }
    if (strcmp(line->word, "run") == 0) {
        begin_function(to, line);
    }
    else if (strcmp(line->word, "end") != 0) {
        put_variable(to, line);
    }
    else if (to->depth > 1) {
        end_function(to, line);
    }
}

static void
end_thread(void *context)
{
    document *to = context;

    while (!to->failed && to->depth > 1) {
        end_function(to, NULL);
    }
}

static void
reset(document *to)
{
    for (size_t i = 0; i < to->depth; i++) {
        film_buffer_reset(&to->open[i].head);
        film_buffer_reset(&to->open[i].inside);
    }
    film_free(to->open);
    film_output_reset(&to->text);
    film_buffer_reset(&to->scratch);
}

film_status
film_export_objwatch_xml(const film_recordings *set, film_output *output,
                         film_error *error)
{
    document to = {.depth = 0};
    const film_objwatch_tree lines = {write_line, end_thread, &to, &to.failed, output};
    film_status status = film_output_init(&to.text, -1, error);

    to.text.memory = &to.scratch;
    to.open = film_grow(NULL, &to.capacity, 1, sizeof(*to.open));
    if (to.open == NULL) {
        film_output_reset(&to.text);
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    memset(to.open, 0, sizeof(*to.open));
    to.depth = 1;
    for (size_t i = 0; status == FILM_OK && i < set->count; i++) {
        status =
            film_objwatch_walk(set->items[i].reader, FILM_OBJWATCH_OLD, &lines, error);
    }
    FILM_OUTPUT_LITERAL(output, "<?xml version='1.0' encoding='utf-8'?>\n<ObjWatch");
    if (status == FILM_OK && to.open[0].inside.length > 0) {
        film_output_byte(output, '>');
        film_output_write(output, to.open[0].inside.data, to.open[0].inside.length);
        FILM_OUTPUT_LITERAL(output, "\n</ObjWatch>");
    }
    else {
        FILM_OUTPUT_LITERAL(output, " />");
    }
    reset(&to);
    return status;
}
