/* timeline_stack.c: the open frames at a moment.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "analysis/timeline_state.h"
#include "base/alloc.h"

film_status
film_timeline_places(film_timeline *timeline, const film_scene *scene, uint32_t index,
                     film_error *error)
{
    uint32_t node = scene->events[index].node, at = index + 1;
    size_t depth = node == 0 ? 0 : scene->nodes[node - 1].depth + (size_t)1;
    film_place *places;

    timeline->place_count = 0;
    places = film_grow(timeline->places, &timeline->place_capacity, depth + 1,
                       sizeof(*places));
    if (places == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    timeline->places = places;
    timeline->place_count = depth;
    while (node != 0 && depth > 0) {
        places[--depth] = (film_place){.node = node - 1, .at = at, .until = index + 1};
        at = scene->nodes[node - 1].parent_last;
        node = scene->nodes[node - 1].parent;
    }
    return FILM_OK;
}

uint32_t
film_place_offset(const film_scene *scene, const film_place *place)
{
    const film_node *node = &scene->nodes[place->node];

    for (uint32_t at = place->at; at != 0; at = scene->events[at - 1].previous) {
        if (scene->events[at - 1].offset != FILM_NO_OFFSET) {
            return scene->events[at - 1].offset;
        }
    }
    return node->offset;
}

/* Where the frame stands: the innermost by its own events, the others by the place they
 * called from. */
static uint32_t
offset_of(const film_timeline *timeline, const film_scene *scene, size_t index)
{
    if (index + 1 < timeline->place_count) {
        const film_node *callee = &scene->nodes[timeline->places[index + 1].node];
        if (callee->site != 0) {
            return callee->site - 1;
        }
    }
    return film_place_offset(scene, &timeline->places[index]);
}

static uint32_t
line_of(const film_timeline *timeline, const film_scene *scene, uint32_t index,
        const film_stack_frame *frame, bool innermost)
{
    const film_code *code;
    film_event event;

    if (frame->offset == FILM_NO_OFFSET) {
        code = film_reader_code(timeline->reader, frame->code);
        return code == NULL ? 0 : code->first_line; /* it has just been called */
    }
    if (innermost && scene->events[index].kind == FILM_KIND_HANDLED) {
        film_scene_event_of(scene, index, &event);
        return film_reader_event_line(timeline->reader, &event);
    }
    return film_reader_line(timeline->reader, frame->code, frame->offset);
}

film_status
film_timeline_stack(film_timeline *timeline, film_moment moment,
                    const film_stack_frame **frames, size_t *depth, film_error *error)
{
    film_scene *scene;
    uint32_t index;
    film_stack_frame *to;

    FILM_TRY(film_timeline_locate(timeline, moment, &scene, &index, error));
    FILM_TRY(film_timeline_places(timeline, scene, index, error));
    to = film_grow(timeline->frames, &timeline->frame_capacity,
                   timeline->place_count + 1, sizeof(*to));
    if (to == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    timeline->frames = to;
    for (size_t i = 0; i < timeline->place_count; i++) {
        const film_node *node = &scene->nodes[timeline->places[i].node];
        memset(&to[i], 0, sizeof(to[i]));
        to[i].serial = node->serial;
        to[i].code = node->code;
        to[i].offset = offset_of(timeline, scene, i);
        to[i].entered = node->call_event;
        to[i].adopted = node->adopted;
        to[i].line =
            line_of(timeline, scene, index, &to[i], i + 1 == timeline->place_count);
    }
    *frames = to;
    *depth = timeline->place_count;
    return FILM_OK;
}
