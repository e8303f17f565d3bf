/* origin.c: where a value came from: what the line that wrote it had read.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "analysis/line_reads.h"
#include "analysis/questions.h"
#include "analysis/search.h"
#include "reader/reader_state.h"

/* Searches for the writes of what was read take so long at most, each. */
#define READ_MS 15u

/* Where the line began that wrote it: the frame's last line event; the frame's own
 * index in the stack there. FILM_END: not known. */
static film_status
line_of(film_timeline *timeline, film_moment moment, bool caller, film_moment *line,
        size_t *index, film_error *error)
{
    film_scene *scene;
    film_place place;
    uint32_t at;

    FILM_TRY(film_timeline_locate(timeline, moment, &scene, &at, error));
    FILM_TRY(film_timeline_places(timeline, scene, at, error));
    if (timeline->place_count <= (caller ? 1u : 0u)) {
        return FILM_END;
    }
    *index = timeline->place_count - 1 - caller;
    place = timeline->places[*index];
    for (uint32_t event = place.at; event != 0;
         event = scene->events[event - 1].previous) {
        if (scene->events[event - 1].kind == FILM_KIND_LINE) {
            *line = film_moment_of(moment.thread, scene->first + event - 1);
            return FILM_OK;
        }
    }
    if (scene->first + at == 0) {
        return FILM_END;
    }
    /* Before this chunk: what was there when it began is near enough. */
    *line = film_moment_of(moment.thread, scene->first);
    return FILM_OK;
}

static film_read *
add_read(film_origin *out, film_read_kind kind)
{
    film_read *read;

    if (out->read_count == FILM_ORIGIN_READS) {
        return NULL;
    }
    read = &out->reads[out->read_count++];
    memset(read, 0, sizeof(*read));
    read->kind = kind;
    return read;
}

/* The value of a path when the line began, and the write that made it. */
static film_status
add_path(film_timeline *timeline, film_moment line, size_t index,
         const film_line_read *path, film_origin *out, film_error *error)
{
    film_budget budget = film_budget_of(READ_MS);
    film_expression *tree;
    film_evaluated value;
    film_target target;
    film_written written;
    film_stop stop;
    film_read *read;
    film_status status;

    if (film_expression_parse(path->text, strlen(path->text), &tree, NULL) != FILM_OK) {
        return FILM_OK; /* a name of the compiler's own */
    }
    status = film_expression_evaluate(tree, timeline, line, index, &value, error);
    film_expression_free(tree);
    FILM_TRY(status);
    if (value.outcome != FILM_EVAL_VALUE || value.datum.length == 0) {
        return FILM_OK; /* a function of Python's, say */
    }
    read = add_read(out, path->kind == FILM_LINE_LOCAL    ? FILM_READ_LOCAL
                         : path->kind == FILM_LINE_GLOBAL ? FILM_READ_GLOBAL
                                                          : FILM_READ_ATTRIBUTE);
    if (read == NULL) {
        return FILM_OK;
    }
    read->value = value.datum;
    snprintf(read->name, sizeof(read->name), "%s", path->text);
    if (film_target_parse(timeline, line, index, path->text, &target, NULL) ==
            FILM_OK &&
        film_find_write(timeline, &target, line, true, &budget, &written, &stop,
                        NULL) == FILM_OK &&
        stop.reason == FILM_STOP_ARRIVED) {
        read->wrote = stop.moment;
    }
    return FILM_OK;
}

/* What calls of the line returned, between its begin and the write. */
static film_status
add_returns(film_timeline *timeline, film_moment line, film_moment until,
            film_origin *out, film_error *error)
{
    film_scene *scene;
    uint32_t begin, index, own;

    if (until.event <= line.event) {
        return FILM_OK;
    }
    FILM_TRY(film_timeline_locate(timeline, until, &scene, &index, error));
    if (line.event < scene->first) {
        line.event = scene->first;
    }
    begin = (uint32_t)(line.event - scene->first);
    own = scene->events[index].node;
    for (uint32_t i = begin; i < index; i++) {
        const film_scene_event *event = &scene->events[i];
        const film_node *node =
            event->node == 0 ? NULL : &scene->nodes[event->node - 1];
        const film_code *code;
        film_read *read;
        if (event->kind != FILM_KIND_RETURN || node == NULL || node->parent == 0 ||
            own == 0 ||
            scene->nodes[node->parent - 1].serial != scene->nodes[own - 1].serial) {
            continue;
        }
        read = add_read(out, FILM_READ_RETURN);
        if (read == NULL) {
            break;
        }
        code = film_reader_code(timeline->reader, node->code);
        snprintf(
            read->name, sizeof(read->name), "%.*s()",
            code == NULL ? 0 : (int)(code->name.length < 100 ? code->name.length : 100),
            code == NULL ? "" : code->name.data);
        read->value = film_scene_token(scene, i, 0);
        read->wrote = film_moment_of(scene->thread, scene->first + i);
    }
    return FILM_OK;
}

film_status
film_find_origin(film_timeline *timeline, const film_written *written,
                 const film_budget *budget, film_origin *out, film_error *error)
{
    film_line_read reads[FILM_ORIGIN_READS];
    const film_stack_frame *frames;
    const film_code *code;
    film_moment line;
    size_t count, index, depth;
    uint32_t at_line;
    film_status status;

    memset(out, 0, sizeof(*out));
    out->written = *written;
    status =
        line_of(timeline, written->moment, written->argument, &line, &index, error);
    if (status == FILM_END) {
        out->stopped = "its caller was not recorded";
        return FILM_OK;
    }
    FILM_TRY(status);
    FILM_TRY(film_timeline_stack(timeline, line, &frames, &depth, error));
    if (index >= depth) {
        out->stopped = "the frame is not known";
        return FILM_OK;
    }
    code = film_reader_code(timeline->reader, frames[index].code);
    at_line = frames[index].line;
    if (code == NULL) {
        out->stopped = "the code was not recorded";
        return FILM_OK;
    }
    count = film_line_reads(timeline->reader, code, at_line, reads, FILM_ORIGIN_READS);
    for (size_t i = 0; i < count; i++) {
        if (film_budget_spent(budget)) {
            out->stopped = "there was no time to look further";
            return FILM_OK;
        }
        FILM_TRY(add_path(timeline, line, index, &reads[i], out, error));
    }
    FILM_TRY(add_returns(timeline, line, written->moment, out, error));
    if (out->read_count == 0) {
        out->stopped = "the line reads nothing that was recorded";
    }
    return FILM_OK;
}
