/* objwatch_text.c: ObjWatch's lines, and the header before them.
 *
 *   {index}{line:>5} {indent}{word} {object} {message}
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/objwatch_view.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"

/* Beyond it lines are no longer moved in: Python itself stops at 1,000 by default. */
#define DEEPEST 1000u
#define LEVEL_DEBUG 10u
#define LEVEL_INFO 20u
#define VERSION "0.5.1"

typedef struct recorded {
    film_objwatch_text *text; /* the whole, for the writer */
    film_reader *reader;      /* borrowed */
    film_objwatch *view;      /* owned */
    const film_objwatch_config *config;
} recorded;

struct film_objwatch_text {
    const film_recordings *set; /* borrowed */
    film_output *output;        /* borrowed */
    film_objwatch_mode mode;
    recorded *items; /* owned, one a recording */
};

/* `2026-11-15 13:46:36`, of the machine's own time. */
static void
put_clock(film_output *output, const film_reader *reader, uint64_t time_ns)
{
    time_t seconds =
        (time_t)((film_reader_info(reader)->start_realtime_ns + time_ns) / 1000000000);
    struct tm parts;
    char text[32];

    if (localtime_r(&seconds, &parts) != NULL &&
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts) > 0) {
        film_output_text(output, text);
    }
}

/* What stands before a message: its level, its time. */
static void
begin_message(const recorded *item, uint64_t time_ns, const char *level)
{
    film_output *output = item->text->output;

    if (item->text->mode == FILM_OBJWATCH_OLD) {
        film_output_text(output, level);
        FILM_OUTPUT_LITERAL(output, ": ");
    }
    else if (!item->config->simple) {
        film_output_byte(output, '[');
        put_clock(output, item->reader, time_ns);
        FILM_OUTPUT_LITERAL(output, "] [");
        film_output_text(output, level);
        FILM_OUTPUT_LITERAL(output, "] objwatch: ");
    }
}

/* A text of the program. Line breaks and tabs stand as they are where the lines are to
 * be ObjWatch's very own; what steers a terminal never does. */
static void
put_text(const recorded *item, film_text text)
{
    film_output *output = item->text->output;

    if (item->text->mode == FILM_OBJWATCH_FULL) {
        film_output_display(output, text);
        return;
    }
    while (text.length > 0) {
        size_t plain = 0;

        while (plain < text.length && text.data[plain] != '\n' &&
               text.data[plain] != '\t') {
            plain++;
        }
        film_output_display(output, (film_text){text.data, plain});
        if (plain < text.length) {
            film_output_byte(output, text.data[plain++]);
        }
        text.data += plain;
        text.length -= plain;
    }
}

static void
put_prefix(const recorded *item, const film_objwatch_line *line)
{
    film_output *output = item->text->output;
    bool old = item->text->mode == FILM_OBJWATCH_OLD;

    begin_message(item, line->time_ns, "DEBUG");
    if (item->config->has_index) {
        film_output_text(output, old ? "[Rank " : "[#");
        film_output_u64(output, item->config->index);
        FILM_OUTPUT_LITERAL(output, "] ");
    }
    film_output_padded_u64(output, line->line, 5);
    film_output_byte(output, ' ');
    for (uint32_t i = 0; i < line->depth && i < DEEPEST; i++) {
        film_output_text(output, old ? "| " : "  ");
    }
    film_output_text(output, line->word);
    film_output_byte(output, ' ');
}

/* `module.Class.function`. */
static void
put_function(const recorded *item, const film_objwatch_line *line)
{
    film_output *output = item->text->output;

    if (line->module.length > 0) {
        put_text(item, line->module);
        film_output_byte(output, '.');
    }
    if (line->owner.length > 0) {
        put_text(item, line->owner);
        film_output_byte(output, '.');
    }
    put_text(item, line->name);
    if (line->has_message) {
        film_output_text(output, line->word[0] == 'r' ? " <- " : " -> ");
        put_text(item, line->after);
    }
}

static void
put_variable(const recorded *item, const film_objwatch_line *line)
{
    film_output *output = item->text->output;

    put_text(item, line->owner);
    film_output_byte(output, '.');
    put_text(item, line->name);
    put_text(item, line->item);
    film_output_byte(output, ' ');
    if (line->length_before >= 0) {
        film_output_byte(output, '(');
        put_text(item, line->type);
        FILM_OUTPUT_LITERAL(output, ")(len)");
        film_output_u64(output, (uint64_t)line->length_before);
        FILM_OUTPUT_LITERAL(output, " -> ");
        film_output_u64(output, (uint64_t)line->length_after);
        return;
    }
    put_text(item, line->before);
    if (line->word[0] != 'd') {
        FILM_OUTPUT_LITERAL(output, " -> ");
        put_text(item, line->after);
    }
}

static void
write_line(void *context, const film_objwatch_line *line)
{
    const recorded *item = context;
    film_output *output = item->text->output;

    if (item->config->level > LEVEL_DEBUG) {
        return;
    }
    put_prefix(item, line);
    if (strcmp(line->word, "run") == 0 || strcmp(line->word, "end") == 0) {
        put_function(item, line);
    }
    else if (strcmp(line->word, "raise") == 0) {
        put_text(item, line->name);
        film_output_byte(output, ' ');
        put_text(item, line->after);
    }
    else {
        put_variable(item, line);
    }
    film_output_byte(output, '\n');
}

/* --- header --- */

static void
put_meta(film_output *output, const film_reader *reader, const char *key,
         const char *otherwise)
{
    const char *text = film_reader_meta(reader, key);

    film_output_display(output, film_text_of(text == NULL ? otherwise : text));
}

/* The configuration of a recording that was not made by filmstrip.watch: it shows all
 * there is. */
static void
put_default_header(const recorded *item)
{
    film_output *output = item->text->output;
    static const char rule[] = "======================================================="
                               "=========================";

    film_output_text(output, rule);
    FILM_OUTPUT_LITERAL(output, "\n# ObjWatch Log\n> Version:        " VERSION
                                "\n> Start Time:     ");
    put_clock(output, item->reader, 0);
    FILM_OUTPUT_LITERAL(output, "\n> System Info:    ");
    put_meta(output, item->reader, "system", "Linux");
    FILM_OUTPUT_LITERAL(output, "\n> Python Version: ");
    put_meta(output, item->reader, "python", "");
    FILM_OUTPUT_LITERAL(output, "\n\n## Config:\n* targets: ");
    put_meta(output, item->reader, "targets", "None");
    FILM_OUTPUT_LITERAL(output, "\n* exclude_targets: ");
    put_meta(output, item->reader, "excludes", "None");
    FILM_OUTPUT_LITERAL(output,
                        "\n* with_locals: True\n* with_globals: True\n* output: None\n"
                        "* output_json: None\n* level: DEBUG\n* simple: True\n"
                        "* wrapper: BaseWrapper\n* framework: None\n* indexes: None\n\n"
                        "## Targets:\n{}\n\n## Filename Targets:\n* None\n\n"
                        "## Exclude Filename Targets:\n* None\n");
    film_output_text(output, rule);
    film_output_byte(output, '\n');
}

/* The header is kept as it was written; line breaks are its own. */
static void
put_kept_header(const recorded *item, const char *header)
{
    while (*header != '\0') {
        size_t length = strcspn(header, "\n");

        film_output_display(item->text->output, (film_text){header, length});
        film_output_byte(item->text->output, '\n');
        header += length + (header[length] == '\n');
    }
}

static void
put_old_header(const recorded *item)
{
    film_output *output = item->text->output;

    FILM_OUTPUT_LITERAL(output, "DEBUG: Processed targets:\n>>>>>>>>>>\n");
    if (item->config->rule_count == 0) {
        put_meta(output, item->reader, "targets", "");
        film_output_byte(output, '\n');
    }
    for (size_t i = 0; i < item->config->rule_count; i++) {
        if (!item->config->rules[i].excludes) {
            film_output_display(output, item->config->rules[i].module);
            film_output_byte(output, '\n');
        }
    }
    FILM_OUTPUT_LITERAL(output, "<<<<<<<<<<\n");
    if (item->config->wrapper == FILM_WRAPPER_BASE) {
        FILM_OUTPUT_LITERAL(output, "WARNING: wrapper 'BaseWrapper' loaded\n");
    }
    else if (item->config->wrapper == FILM_WRAPPER_SHAPE) {
        FILM_OUTPUT_LITERAL(output, "WARNING: wrapper 'TensorShapeWrapper' loaded\n");
    }
    FILM_OUTPUT_LITERAL(output, "INFO: Starting ObjWatch tracing.\n"
                                "INFO: Starting tracing.\n");
}

static void
put_header(const recorded *item)
{
    const char *kept = film_reader_meta(item->reader, "objwatch.header");

    if (item->config->level > LEVEL_INFO || item->config->is_child) {
        return;
    }
    if (item->text->mode == FILM_OBJWATCH_OLD) {
        put_old_header(item);
        return;
    }
    begin_message(item, 0, "INFO");
    FILM_OUTPUT_LITERAL(item->text->output, "Starting ObjWatch tracing.\n");
    begin_message(item, 0, "INFO");
    if (kept != NULL) {
        put_kept_header(item, kept);
    }
    else {
        put_default_header(item);
    }
}

film_status
film_objwatch_text_new(const film_recordings *set, film_objwatch_mode mode,
                       film_output *output, film_objwatch_text **out, film_error *error)
{
    film_objwatch_text *text = film_alloc(sizeof(*text));
    film_status status = FILM_OK;

    *out = NULL;
    if (text == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    text->set = set;
    text->mode = mode;
    text->output = output;
    text->items = film_alloc_array(set->count, sizeof(*text->items));
    if (text->items == NULL) {
        status = film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    for (size_t i = 0; status == FILM_OK && i < set->count; i++) {
        recorded *item = &text->items[i];

        item->text = text;
        item->reader = set->items[i].reader;
        status =
            film_objwatch_new(item->reader, mode, write_line, item, &item->view, error);
        if (status == FILM_OK) {
            item->config = &item->view->config;
            put_header(item);
        }
    }
    if (status != FILM_OK) {
        film_objwatch_text_free(text);
        return status;
    }
    *out = text;
    return FILM_OK;
}

void
film_objwatch_text_free(film_objwatch_text *text)
{
    if (text != NULL) {
        for (size_t i = 0; text->items != NULL && i < text->set->count; i++) {
            film_objwatch_free(text->items[i].view);
        }
        film_free(text->items);
        film_free(text);
    }
}

film_status
film_objwatch_text_write(film_objwatch_text *text, const film_merged *merged,
                         film_error *error)
{
    return film_objwatch_event(text->items[merged->recording].view, merged->event,
                               error);
}

void
film_objwatch_text_finish(film_objwatch_text *text)
{
    for (size_t i = 0; i < text->set->count; i++) {
        const recorded *item = &text->items[i];
        const char *ended = film_reader_meta(item->reader, "ended");
        uint64_t end_ns = film_reader_info(item->reader)->duration_ns;

        /* A program that did not stop the watching never said so. */
        if (item->config->level > LEVEL_INFO || item->config->is_child ||
            (item->config->is_watched &&
             (ended == NULL || strcmp(ended, "stop") != 0))) {
            continue;
        }
        begin_message(item, end_ns, "INFO");
        FILM_OUTPUT_LITERAL(text->output, "Stopping ObjWatch tracing.\n");
        if (text->mode == FILM_OBJWATCH_OLD) {
            FILM_OUTPUT_LITERAL(text->output, "INFO: Stopping tracing.\n");
        }
    }
}
