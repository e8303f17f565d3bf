/* stops.c: the list of breakpoints.
 * SPDX-License-Identifier: Apache-2.0 */
#include "step/stops.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

char *
film_step_copy(const char *text, size_t length)
{
    char *copy = film_alloc(length + 1);

    if (copy != NULL && length > 0) {
        memcpy(copy, text, length);
    }
    return copy;
}

static void
forget(film_step_stop *stop)
{
    film_free(stop->spec);
    film_free(stop->words);
    film_free(stop->file);
    memset(stop, 0, sizeof(*stop));
}

void
film_step_delete_stops(film_step *step)
{
    for (size_t i = 0; i < step->stop_count; i++) {
        forget(&step->stops[i]);
    }
    step->stop_count = 0;
}

bool
film_step_delete_stop(film_step *step, unsigned id)
{
    for (size_t i = 0; i < step->stop_count; i++) {
        if (step->stops[i].id == id) {
            forget(&step->stops[i]);
            memmove(&step->stops[i], &step->stops[i + 1],
                    (step->stop_count - i - 1) * sizeof(*step->stops));
            step->stop_count--;
            return true;
        }
    }
    return false;
}

void
film_step_add_stops(film_step *step, const char *spec)
{
    film_buffer *to = &step->request;

    film_step_add_raw(step, "breakpoints", "[", 1);
    if (spec != NULL) {
        film_buffer_append_text(to, spec);
    }
    for (size_t i = 0; spec == NULL && i < step->stop_count; i++) {
        film_buffer_append_text(to, i > 0 ? ", " : "");
        film_buffer_append_text(to, step->stops[i].spec);
    }
    film_buffer_append_text(to, "]");
}

/* Whether film_query can make something of it; where it stands, and why nothing stops
 * there. */
static bool
verify(film_step *step, film_step_stop *stop)
{
    const film_json_node *told;
    const film_json *reply = &step->reply;

    film_step_begin(step, "breakpoints");
    film_step_add_stops(step, stop->spec);
    if (!film_step_ask(step)) {
        return false;
    }
    told = film_json_first(reply,
                           film_json_get(reply, film_json_root(reply), "breakpoints"));
    if (!film_json_is(film_json_get(reply, told, "verified"), FILM_JSON_TRUE)) {
        return film_step_fail(step, "%s", film_step_text(reply, told, "message"));
    }
    if (film_step_number(reply, told, "line") != 0) {
        stop->line = (uint32_t)film_step_number(reply, told, "line");
    }
    snprintf(stop->never, sizeof(stop->never), "%s",
             film_step_text(reply, told, "message"));
    stop->for_ever = film_json_is(film_json_get(reply, told, "whole"), FILM_JSON_TRUE);
    return true;
}

bool
film_step_add_stop(film_step *step, const film_buffer *spec, const char *words,
                   const char *file, uint32_t line, bool once)
{
    film_step_stop stop = {.line = line, .once = once};
    film_step_stop *stops;

    stop.spec = film_step_copy((const char *)spec->data, spec->length);
    stop.words = film_step_copy(words, strlen(words));
    stop.file = file == NULL ? NULL : film_step_copy(file, strlen(file));
    stops = film_grow(step->stops, &step->stop_capacity, step->stop_count + 1,
                      sizeof(*stops));
    step->stops = stops != NULL ? stops : step->stops;
    if (spec->failed || stop.spec == NULL || stop.words == NULL || stops == NULL ||
        (file != NULL && stop.file == NULL)) {
        forget(&stop);
        return film_step_fail(step, "memory ran out");
    }
    if (!verify(step, &stop)) {
        forget(&stop);
        return false;
    }
    stop.id = ++step->last_stop;
    stops[step->stop_count++] = stop;
    return true;
}

bool
film_step_is_file(const char *file, const char *typed)
{
    size_t whole = strlen(file), part = strlen(typed);

    return part > 0 && part <= whole && strcmp(file + whole - part, typed) == 0 &&
           (part == whole || file[whole - part - 1] == '/');
}

const film_step_stop *
film_step_stop_at(const film_step *step, const char *file, uint64_t line)
{
    for (size_t i = 0; i < step->stop_count; i++) {
        const film_step_stop *stop = &step->stops[i];
        if (stop->file != NULL && stop->line == line &&
            film_step_is_file(file, stop->file)) {
            return stop;
        }
    }
    return NULL;
}
