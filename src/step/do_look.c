/* do_look.c: looking around at a moment: frames, threads, variables, source.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "step/handlers.h"
#include "step/paragraph.h"
#include "step/stops.h"

#define LISTED 11u
#define MOST_ITEMS 1000u
#define PRINTED_BYTES 20000u

void
film_step_do_here(film_step *step, const film_word_info *word, const char *arguments)
{
    (void)word;
    (void)arguments;
    film_step_tell_here(step);
}

/* up, down and frame: another frame of the stack is looked at. */
void
film_step_do_frame(film_step *step, const film_word_info *word, const char *arguments)
{
    const film_json *json = &step->moment;
    const film_json_node *item;
    uint64_t number, at;
    size_t index;

    if (!film_step_parse_count(step, arguments, word->word == FILM_WORD_FRAME ? 0 : 1,
                               &number) ||
        !film_step_look(step)) {
        return;
    }
    if (film_step_frame(step, &index) == NULL) {
        (void)film_step_fail(step, "no frame is open at this moment");
        return;
    }
    if (word->word == FILM_WORD_DOWN && number > index) {
        (void)film_step_fail(step, "this is the innermost frame");
        return;
    }
    at = word->word == FILM_WORD_FRAME  ? number
         : word->word == FILM_WORD_DOWN ? index - number
                                        : index + number;
    item = film_json_first(json, film_json_get(json, film_json_root(json), "stack"));
    for (uint64_t i = 0; i < at && item != NULL; i++) {
        item = film_json_next(json, item);
    }
    if (item == NULL) {
        bool more = film_step_number(json, film_json_root(json), "depth") > at;
        (void)film_step_fail(step, "%s",
                             more ? "so far out frames are not looked at"
                             : word->word == FILM_WORD_FRAME
                                 ? "there is no such frame; where lists them"
                                 : "this is the outermost frame");
        return;
    }
    step->frame = at == 0 ? 0 : film_step_number(json, item, "frame");
    film_step_tell_here(step);
}

void
film_step_do_where(film_step *step, const film_word_info *word, const char *arguments)
{
    const film_json *json = &step->moment;
    const film_json_node *stack;
    uint64_t most;
    size_t index, number = 0;

    (void)word;
    if (!film_step_parse_count(step, arguments, 100, &most) || !film_step_look(step) ||
        step->json) {
        return;
    }
    (void)film_step_frame(step, &index);
    stack = film_json_get(json, film_json_root(json), "stack");
    for (const film_json_node *item = film_json_first(json, stack);
         item != NULL && number < most; item = film_json_next(json, item)) {
        film_step_put_frame(step, json, item, number, number == index);
        number++;
    }
    if (number == 0) {
        film_output_text(&step->out, stack != NULL && stack->count > 0
                                         ? "0 frames are asked for\n"
                                         : "no frame is open at this moment\n");
    }
    else if (film_step_number(json, film_json_root(json), "depth") > number) {
        film_output_format(&step->out, "     ... of %" PRIu64 "\n",
                           film_step_number(json, film_json_root(json), "depth"));
    }
}

void
film_step_do_threads(film_step *step, const film_word_info *word, const char *arguments)
{
    const film_json *json = &step->reply;
    const film_json_node *list;

    (void)word;
    (void)arguments;
    film_step_begin(step, "threads");
    film_step_add_number(step, "frames", 1);
    if (!film_step_ask(step) || step->json) {
        return;
    }
    list = film_json_get(json, film_json_root(json), "threads");
    for (const film_json_node *item = film_json_first(json, list); item != NULL;
         item = film_json_next(json, item)) {
        uint64_t id = film_step_number(json, item, "id");
        uint64_t line = film_step_number(json, item, "line");
        film_output_format(&step->out, "%c%3" PRIu64 "  ",
                           id == step->thread ? '>' : ' ', id);
        film_output_display(&step->out,
                            film_text_of(film_step_text(json, item, "name")));
        if (film_step_text(json, item, "m")[0] == '\0') {
            film_output_text(&step->out, "  has not begun\n");
            continue;
        }
        film_output_format(&step->out, "  event %s  ", film_step_text(json, item, "m"));
        film_output_display(&step->out,
                            film_text_of(film_step_text(json, item, "function")));
        if (line != 0) {
            film_output_text(&step->out, "  ");
            film_output_display(&step->out, film_text_of(film_step_short_file(
                                                film_step_text(json, item, "file"))));
            film_output_format(&step->out, ":%" PRIu64, line);
        }
        film_output_byte(&step->out, '\n');
    }
}

void
film_step_do_print(film_step *step, const film_word_info *word, const char *arguments)
{
    const film_json *json = &step->reply;
    const film_json_node *root, *value;
    const char *why;

    (void)word;
    if (arguments[0] == '\0') {
        (void)film_step_fail(step, "print what?");
        return;
    }
    film_step_begin(step, "evaluate");
    film_step_add_text(step, "expression", arguments, strlen(arguments));
    film_step_add_number(step, "text_bytes", PRINTED_BYTES);
    if (!film_step_ask(step)) {
        return;
    }
    root = film_json_root(json);
    value = film_json_get(json, root, "value");
    if (value == NULL) {
        step->failed = true;
        why = film_step_text(json, root, "unknown");
        why = why[0] == '\0' ? film_step_text(json, root, "error_text") : why;
        film_output_display(&step->out, film_text_of(why));
    }
    else {
        film_step_put_value(step, json, value);
    }
    film_output_byte(&step->out, '\n');
}

static void
put_item(film_step *step, const film_json *json, const film_json_node *item)
{
    const film_json_node *key = film_json_get(json, item, "key");
    const film_json_node *name = film_json_get(json, item, "name");

    film_output_text(&step->out, "  ");
    if (key != NULL) {
        film_step_put_value(step, json, key);
        film_output_text(&step->out, ": ");
    }
    else if (name != NULL) {
        film_output_display(&step->out,
                            film_text_of(film_step_text(json, item, "name")));
        film_output_text(&step->out, " = ");
    }
    else {
        film_output_format(&step->out, "[%" PRIu64 "] ",
                           film_step_number(json, item, "index"));
    }
    film_step_put_value(step, json, film_json_get(json, item, "value"));
    film_output_byte(&step->out, '\n');
}

void
film_step_do_items(film_step *step, const film_word_info *word, const char *arguments)
{
    const film_json *json = &step->reply;
    const film_json_node *root, *list;
    uint64_t told = 0;

    (void)word;
    if (arguments[0] == '\0') {
        (void)film_step_fail(step, "items of what?");
        return;
    }
    film_step_begin(step, "value");
    film_step_add_text(step, "expression", arguments, strlen(arguments));
    film_step_add_number(step, "limit", MOST_ITEMS);
    if (!film_step_ask(step) || step->json) {
        return;
    }
    root = film_json_root(json);
    list = film_json_get(json, root, "items");
    film_step_put_value(step, json, film_json_get(json, root, "value"));
    film_output_byte(&step->out, '\n');
    for (const film_json_node *item = film_json_first(json, list); item != NULL;
         item = film_json_next(json, item)) {
        put_item(step, json, item);
        told++;
    }
    if (film_step_number(json, root, "length") > told && told > 0) {
        film_output_format(&step->out,
                           "  ... of %" PRIu64 "; what is behind was not recorded\n",
                           film_step_number(json, root, "length"));
    }
}

void
film_step_do_locals(film_step *step, const film_word_info *word, const char *arguments)
{
    const film_json *json = &step->moment;
    const film_json_node *list;
    bool any = false;

    (void)word;
    (void)arguments;
    if (!film_step_look(step) || step->json) {
        return;
    }
    list = film_json_get(json, film_json_root(json), "locals");
    for (const film_json_node *item = film_json_first(json, list); item != NULL;
         item = film_json_next(json, item)) {
        bool changed =
            film_json_is(film_json_get(json, item, "changed"), FILM_JSON_TRUE);
        film_output_text(&step->out, changed ? "* " : "  ");
        film_output_display(&step->out,
                            film_text_of(film_step_text(json, item, "name")));
        film_output_text(&step->out, " = ");
        film_step_put_value(step, json, film_json_get(json, item, "value"));
        film_output_byte(&step->out, '\n');
        any = true;
    }
    if (!any && strcmp(step->level, "values") != 0) {
        film_output_format(&step->out,
                           "level %s: no values were recorded; filmstrip run --level "
                           "values keeps them\n",
                           step->level);
    }
    else if (!any) {
        film_output_text(&step->out, "no variable has a value here\n");
    }
}

/* --- source --- */

/* What a line wrote last, behind it. */
static void
put_written(film_step *step, uint64_t line)
{
    const film_json *json = &step->written;
    const film_json_node *list = film_json_get(json, film_json_root(json), "written");
    const char *before = "   # ";

    for (const film_json_node *item = film_json_first(json, list); item != NULL;
         item = film_json_next(json, item)) {
        if (film_step_number(json, item, "line") == line) {
            film_output_text(&step->out, before);
            film_output_display(&step->out,
                                film_text_of(film_step_text(json, item, "name")));
            film_output_text(&step->out, " = ");
            film_step_put_value(step, json, film_json_get(json, item, "value"));
            before = ", ";
        }
    }
}

static void
put_lines(film_step *step, const film_source_lines *source, uint64_t around,
          uint64_t here)
{
    uint64_t first = around > LISTED / 2 ? around - LISTED / 2 : 1;

    for (uint64_t i = first; i < first + LISTED && i <= source->count; i++) {
        film_text line = film_source_line(source, i);
        bool stop = film_step_stop_at(step, source->file, i) != NULL;
        film_output_format(&step->out, "%5" PRIu64, i);
        if (line.length > 0) {
            film_output_format(&step->out, " %s%c ", i == here ? "->" : "  ",
                               stop ? 'b' : ' ');
        }
        film_output_display(&step->out, line);
        if (here != 0) {
            put_written(step, i);
        }
        film_output_byte(&step->out, '\n');
    }
    if (source->cut && first + LISTED > source->count) {
        film_output_text(&step->out, "      (the recording has no more of it)\n");
    }
}

static void
put_lines_json(film_step *step, const film_source_lines *source, uint64_t around)
{
    uint64_t first = around > LISTED / 2 ? around - LISTED / 2 : 1;
    char number[64];

    film_buffer_clear(&step->answer);
    film_buffer_append_text(&step->answer, "{\"file\": ");
    film_json_put(&step->answer, source->file, strlen(source->file));
    snprintf(number, sizeof(number),
             ", \"line\": %" PRIu64 ", \"first\": %" PRIu64 ", \"lines\": [", around,
             first);
    film_buffer_append_text(&step->answer, number);
    for (uint64_t i = first; i < first + LISTED && i <= source->count; i++) {
        film_text line = film_source_line(source, i);
        film_buffer_append_text(&step->answer, i > first ? ", " : "");
        film_json_put(&step->answer, line.data, line.length);
    }
    film_buffer_append_text(&step->answer, "]}");
}

/* Where the source is that was asked for: *file as the recording names it. */
static bool
find_source(film_step *step, film_step_place *place, char *file, size_t capacity)
{
    if (place->function[0] != '\0') {
        return film_step_find_function(step, place, file, capacity)
                   ? true
                   : film_step_fail(step, "no function '%.100s'%s%.100s was recorded",
                                    place->function,
                                    place->file[0] == '\0' ? "" : " of ", place->file);
    }
    return film_step_find_file(step, place->file, file, capacity)
               ? true
               : film_step_fail(step,
                                "no file '%.100s' was recorded; info files lists them",
                                place->file);
}

void
film_step_do_list(film_step *step, const film_word_info *word, const char *arguments)
{
    const film_json_node *frame;
    const film_source_lines *source;
    film_step_place place = {.line = 0};
    char file[1024];
    const char *own;
    uint64_t here;
    size_t index;

    (void)word;
    if (!film_step_look(step)) {
        return;
    }
    frame = film_step_frame(step, &index);
    own = film_step_text(&step->moment, frame, "file");
    here = film_step_number(&step->moment, frame, "line");
    if (arguments[0] == '\0' && frame != NULL) {
        snprintf(place.file, sizeof(place.file), "%s", own);
        place.line = (uint32_t)here;
    }
    else if (!film_step_parse_location(step, arguments, strlen(arguments), &place)) {
        return;
    }
    if (!find_source(step, &place, file, sizeof(file)) || !film_step_look_lines(step)) {
        return;
    }
    source = film_sources_get(&step->sources, step->reader, file);
    if (source == NULL || source->text == NULL || place.line > source->count) {
        (void)film_step_fail(step, source == NULL ? "memory ran out"
                                   : source->text == NULL
                                       ? "the recording has no source of "
                                         "this file"
                                       : "the source has no such line");
        return;
    }
    if (step->json) {
        put_lines_json(step, source, place.line);
        return;
    }
    put_lines(step, source, place.line, strcmp(file, own) == 0 ? here : 0);
}

/* --- info --- */

static void
put_files(film_step *step, const film_json *json)
{
    const film_json_node *list = film_json_get(json, film_json_root(json), "files");

    for (const film_json_node *item = film_json_first(json, list); item != NULL;
         item = film_json_next(json, item)) {
        film_output_display(&step->out,
                            film_text_of(film_step_text(json, item, "file")));
        film_output_text(&step->out, film_json_is(film_json_get(json, item, "source"),
                                                  FILM_JSON_TRUE)
                                         ? "\n"
                                         : "  (no source)\n");
    }
}

static void
put_recording(film_step *step, const film_json *json)
{
    const film_json_node *root = film_json_root(json);
    const film_json_node *list = film_json_get(json, root, "threads");
    uint64_t events = film_step_number(json, root, "events");
    uint64_t lost = film_step_number(json, root, "lost");
    size_t damaged = film_reader_damage_count(step->reader);
    unsigned threads = list == NULL ? 0 : list->count;

    film_output_display(&step->out,
                        film_text_of(film_step_text(json, root, "program")));
    film_output_format(&step->out,
                       "\nPython %s, level %s, %" PRIu64 " event%s of %u thread%s in ",
                       film_step_text(json, root, "python"), step->level, events,
                       events == 1 ? "" : "s", threads, threads == 1 ? "" : "s");
    film_step_put_time(step, step->duration_ns);
    if (step->live) {
        film_output_text(&step->out, "\nit is being written\n");
    }
    else {
        film_output_text(&step->out, "\nended: ");
        film_output_display(&step->out,
                            film_text_of(film_step_text(json, root, "how_ended")));
        film_output_byte(&step->out, '\n');
    }
    if (lost > 0) {
        film_output_format(&step->out, "%" PRIu64 " event%s lost\n", lost,
                           lost == 1 ? " was" : "s were");
    }
    if (damaged > 0) {
        film_output_format(&step->out, "%zu place%s damaged: filmstrip check\n",
                           damaged, damaged == 1 ? " is" : "s are");
    }
}

/* Also gdb's info locals, info threads, info breakpoints. */
void
film_step_do_info(film_step *step, const film_word_info *word, const char *arguments)
{
    bool files = strcmp(arguments, "files") == 0 || strcmp(arguments, "sources") == 0;

    if (arguments[0] != '\0' && !files) {
        if (strcmp(arguments, "locals") == 0) {
            film_step_do_locals(step, word, "");
        }
        else if (strcmp(arguments, "threads") == 0) {
            film_step_do_threads(step, word, "");
        }
        else if (arguments[0] == 'b') {
            film_step_do_breakpoints(step, word, "");
        }
        else {
            (void)film_step_fail(
                step, "info knows files, locals, threads and breakpoints, not '%.40s'",
                arguments);
        }
        return;
    }
    film_step_refresh(step);
    film_step_begin(step, "open");
    if (film_step_ask(step) && !step->json) {
        if (files) {
            put_files(step, &step->reply);
        }
        else {
            put_recording(step, &step->reply);
        }
    }
}
