/* points.c: breakpoints of every kind, as clients set them and film_query takes them.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "dap/points.h"

/* More than film_query takes are told so, not dropped silently. */
#define MOST_POINTS 1000u

static void
free_point(film_dap_point *point)
{
    film_free(point->spec);
    film_free(point->message);
}

void
film_dap_free_points(film_dap *dap)
{
    for (size_t i = 0; i < dap->points.count; i++) {
        free_point(&dap->points.list[i]);
    }
    film_free(dap->points.list);
    memset(&dap->points, 0, sizeof(dap->points));
}

/* --- what is set --- */

static bool
is_of(const film_dap_point *point, film_dap_group group, size_t source)
{
    return point->group == group && (group != FILM_DAP_LINE || point->source == source);
}

void
film_dap_begin_points(film_dap *dap, film_dap_group group, size_t source)
{
    for (size_t i = 0; i < dap->points.count; i++) {
        film_dap_point *point = &dap->points.list[i];
        point->stale = point->stale || is_of(point, group, source);
    }
}

static void
drop_stale(film_dap_points *points)
{
    size_t kept = 0;

    for (size_t i = 0; i < points->count; i++) {
        if (points->list[i].stale) {
            free_point(&points->list[i]);
        }
        else {
            points->list[kept++] = points->list[i];
        }
    }
    points->count = kept;
}

static char *
text_of(const film_buffer *buffer)
{
    char *text = buffer->failed ? NULL : film_alloc(buffer->length + 1);

    if (text != NULL && buffer->length > 0) {
        memcpy(text, buffer->data, buffer->length);
    }
    return text;
}

bool
film_dap_add_point(film_dap *dap, film_dap_group group, size_t source,
                   const film_json_writer *spec, bool log)
{
    film_dap_points *points = &dap->points;
    film_dap_point *list, *made;

    if (points->count >= 2 * MOST_POINTS) {
        return film_dap_refuse(dap, "there are too many breakpoints");
    }
    list = film_grow(points->list, &points->capacity, points->count + 1, sizeof(*list));
    if (list == NULL) {
        return film_dap_refuse(dap, "memory ran out");
    }
    points->list = list;
    made = &list[points->count];
    memset(made, 0, sizeof(*made));
    made->spec = text_of(&spec->out);
    if (made->spec == NULL) {
        return film_dap_refuse(dap, "memory ran out");
    }
    made->id = ++points->last_id;
    made->group = group;
    made->source = source;
    made->log = log;
    for (size_t i = 0; i < points->count; i++) { /* the same one, set again */
        if (list[i].stale && list[i].group == group &&
            strcmp(list[i].spec, made->spec) == 0) {
            made->id = list[i].id;
            made->told = list[i].told;
        }
    }
    points->count++;
    return true;
}

/* Whether each can be hit, and where it stands. */
static bool
verify(film_dap *dap, size_t from)
{
    film_json_writer *question = film_dap_question(dap, "breakpoints");
    film_dap_answer answer = {0};
    const film_json_node *item;
    bool fine;

    film_json_open(question, "breakpoints", '[');
    for (size_t i = from; i < dap->points.count; i++) {
        film_json_add_raw(question, NULL, dap->points.list[i].spec,
                          strlen(dap->points.list[i].spec));
    }
    film_json_close(question, ']');
    fine = film_dap_ask(dap, &answer);
    item = film_json_first(
        &answer.json,
        fine ? film_json_get(&answer.json, answer.root, "breakpoints") : NULL);
    for (size_t i = from; i < dap->points.count && item != NULL; i++) {
        film_dap_point *point = &dap->points.list[i];
        const char *message = film_dap_text(&answer, item, "message");
        /* What nothing in the whole recording can hit is not verified either: editors
         * show why only then. */
        point->verified = film_dap_is(&answer, item, "verified") &&
                          !film_dap_is(&answer, item, "whole");
        point->line = (uint32_t)film_dap_integer(&answer, item, "line", 0);
        if (message != NULL) {
            point->message = film_alloc(strlen(message) + 1);
            if (point->message != NULL) {
                memcpy(point->message, message, strlen(message));
            }
        }
        item = film_json_next(&answer.json, item);
    }
    film_dap_answer_reset(&answer);
    return fine;
}

static void
put_point(film_dap *dap, const film_dap_point *point)
{
    film_json_writer *out = &dap->response;

    film_json_open(out, NULL, '{');
    film_json_add_integer(out, "id", point->id);
    film_json_add_bool(out, "verified", point->verified);
    if (point->message != NULL) {
        film_json_add_text(out, "message", point->message);
    }
    if (point->group == FILM_DAP_LINE) {
        film_dap_put_source(dap, out, "source", point->source);
        if (point->line != 0) {
            film_json_add_integer(out, "line", film_dap_line(dap, point->line));
        }
    }
    film_json_close(out, '}');
}

bool
film_dap_end_points(film_dap *dap, film_dap_group group, size_t source)
{
    size_t from;

    drop_stale(&dap->points);
    for (from = dap->points.count; from > 0; from--) {
        if (!is_of(&dap->points.list[from - 1], group, source)) {
            break;
        }
    }
    if (dap->points.count > MOST_POINTS) {
        film_dap_begin_points(dap, group, source);
        drop_stale(&dap->points);
        return film_dap_refuse(dap, "%u breakpoints are the most", MOST_POINTS);
    }
    if (from < dap->points.count && !verify(dap, from)) {
        return false;
    }
    film_json_open(&dap->response, "breakpoints", '[');
    for (size_t i = from; i < dap->points.count; i++) {
        put_point(dap, &dap->points.list[i]);
    }
    film_json_close(&dap->response, ']');
    return true;
}

/* --- what a search is given --- */

size_t
film_dap_active_points(const film_dap *dap)
{
    size_t count = 0;

    for (size_t i = 0; i < dap->points.count; i++) {
        count += dap->points.list[i].verified;
    }
    return count;
}

const film_dap_point *
film_dap_active_point(const film_dap *dap, int64_t n)
{
    for (size_t i = 0; n >= 0 && i < dap->points.count; i++) {
        if (dap->points.list[i].verified && n-- == 0) {
            return &dap->points.list[i];
        }
    }
    return NULL;
}

void
film_dap_put_points(const film_dap *dap, film_json_writer *question)
{
    film_json_open(question, "breakpoints", '[');
    for (size_t i = 0; i < dap->points.count; i++) {
        if (dap->points.list[i].verified) {
            film_json_add_raw(question, NULL, dap->points.list[i].spec,
                              strlen(dap->points.list[i].spec));
        }
    }
    film_json_close(question, ']');
}
