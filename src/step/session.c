/* session.c: opening, and standing at a moment.
 * SPDX-License-Identifier: Apache-2.0 */
#include "step/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "step/stops.h"

const char *
film_step_text(const film_json *json, const film_json_node *of, const char *key)
{
    const char *text = film_json_text(json, film_json_get(json, of, key));

    return text == NULL ? "" : text;
}

uint64_t
film_step_number(const film_json *json, const film_json_node *of, const char *key)
{
    const film_json_node *number = film_json_get(json, of, key);

    return film_json_is(number, FILM_JSON_INTEGER) && number->integer > 0
               ? (uint64_t)number->integer
               : 0;
}

/* Takes the place and its innermost frame from a MOMENT. */
static void
take_place(film_step *step, const film_json *json)
{
    const film_json_node *root = film_json_root(json);
    const film_json_node *inner =
        film_json_first(json, film_json_get(json, root, "stack"));
    const char *at = film_step_text(json, root, "m");
    char *end;

    snprintf(step->at, sizeof(step->at), "%s", at);
    step->thread = (uint32_t)strtoul(at, &end, 10);
    step->event = *end == ':' ? strtoull(end + 1, NULL, 10) : 0;
    step->innermost = inner == NULL ? 0 : film_step_number(json, inner, "frame");
}

static bool
is_open(const film_json *json, uint64_t frame)
{
    const film_json_node *stack = film_json_get(json, film_json_root(json), "stack");

    for (const film_json_node *item = film_json_first(json, stack); item != NULL;
         item = film_json_next(json, item)) {
        if (film_step_number(json, item, "frame") == frame) {
            return true;
        }
    }
    return false;
}

bool
film_step_arrive(film_step *step, bool keep)
{
    char before[FILM_STEP_PLACE];

    memcpy(before, step->at, sizeof(before));
    step->found = 0;
    take_place(step, &step->reply);
    if (!keep || !is_open(&step->reply, step->frame)) {
        step->frame = 0;
    }
    if (before[0] != '\0' && strcmp(before, step->at) != 0) {
        memcpy(step->trail[step->trail_count++ % FILM_STEP_TRAIL], before,
               sizeof(before));
    }
    return true;
}

/* An answer that is kept beside the reply. */
static bool
keep_reply(film_step *step, film_json *to)
{
    if (film_json_read(to, (const char *)step->answer.data, step->answer.length,
                       NULL) != FILM_OK) {
        return film_step_fail(step, "memory ran out");
    }
    return true;
}

bool
film_step_look(film_step *step)
{
    if (step->at[0] == '\0') {
        return film_step_fail(step, "the recording has no events");
    }
    film_step_begin(step, "moment");
    film_step_add_raw(step, "with", "[\"locals\"]", 10);
    film_step_add_number(step, "frames", FILM_STEP_FRAMES);
    return film_step_ask(step) && keep_reply(step, &step->moment);
}

bool
film_step_look_lines(film_step *step)
{
    film_json_reset(&step->written);
    if (step->innermost == 0) {
        return true;
    }
    film_step_begin(step, "written");
    film_step_add_number(step, "text_bytes", 120);
    return film_step_ask(step) && keep_reply(step, &step->written);
}

const film_json_node *
film_step_frame(const film_step *step, size_t *index)
{
    const film_json *json = &step->moment;
    const film_json_node *stack = film_json_get(json, film_json_root(json), "stack");
    const film_json_node *item = film_json_first(json, stack);

    *index = 0;
    while (item != NULL && step->frame != 0 &&
           film_step_number(json, item, "frame") != step->frame) {
        item = film_json_next(json, item);
        ++*index;
    }
    return item;
}

/* --- opening --- */

/* What `open` says of the whole, and where the recording begins. */
static bool
take_recording(film_step *step, char *start)
{
    const film_json *reply = &step->reply;
    const film_json_node *root;

    film_step_begin(step, "open");
    if (!film_step_ask(step)) {
        return false;
    }
    root = film_json_root(reply);
    step->duration_ns = film_step_number(reply, root, "duration_ns");
    step->live = strcmp(film_step_text(reply, root, "ending"), "live") == 0;
    snprintf(step->level, sizeof(step->level), "%s",
             film_step_text(reply, root, "level"));
    snprintf(start, FILM_STEP_PLACE, "%s", film_step_text(reply, root, "start"));
    return true;
}

/* The first line: before it nothing can be looked at. */
static void
stand_at_first_line(film_step *step, const char *start)
{
    memcpy(step->at, start, sizeof(step->at));
    film_step_begin(step, "moment");
    if (!film_step_ask(step)) {
        return;
    }
    take_place(step, &step->reply);
    film_step_begin(step, "move");
    film_step_add_text(step, "how", "line", 4);
    if (film_step_ask(step)) {
        take_place(step, &step->reply);
    }
}

film_status
film_step_open(film_step *step, film_reader *reader, const char *path,
               film_error *error)
{
    char start[FILM_STEP_PLACE] = "";
    film_status status;

    memset(step, 0, sizeof(*step));
    step->reader = reader;
    step->path = path;
    status = film_output_init(&step->out, -1, error);
    if (status == FILM_OK) {
        step->out.memory = &step->text;
        status = film_timeline_open(reader, &step->timeline, error);
    }
    if (status == FILM_OK && take_recording(step, start) && start[0] != '\0') {
        stand_at_first_line(step, start);
        (void)film_step_look(step);
    }
    film_output_drain(&step->out);
    if (status == FILM_OK && step->failed) {
        status = film_fail(error, FILM_CORRUPT, "%.*s", (int)step->text.length,
                           step->text.length == 0 ? "" : (char *)step->text.data);
    }
    film_buffer_clear(&step->text);
    if (status != FILM_OK) {
        film_step_close(step);
    }
    return status;
}

void
film_step_close(film_step *step)
{
    film_step_delete_stops(step);
    film_free(step->stops);
    film_sources_reset(&step->sources);
    film_json_reset(&step->reply);
    film_json_reset(&step->moment);
    film_json_reset(&step->written);
    film_buffer_reset(&step->request);
    film_buffer_reset(&step->answer);
    film_buffer_reset(&step->text);
    film_buffer_reset(&step->searched);
    film_output_reset(&step->out);
    film_timeline_close(step->timeline);
    memset(step, 0, sizeof(*step));
}

void
film_step_refresh(film_step *step)
{
    char start[FILM_STEP_PLACE] = "";

    if (!step->live || film_reader_refresh(step->reader, NULL) != FILM_OK ||
        film_timeline_refresh(step->timeline, NULL) != FILM_OK) {
        return;
    }
    film_sources_reset(&step->sources);
    if (take_recording(step, start) && step->at[0] == '\0' && start[0] != '\0') {
        stand_at_first_line(step, start);
    }
}
