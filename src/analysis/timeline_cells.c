/* timeline_cells.c: variables that an inner function takes from an outer one.
 * Calls tell which cells a function was made with (1.2): what the last write to a cell
 * was, by whichever frame, is in the scene, or a frame held it when the scene began.
 * Where that is not told (an older recording, a frame that was adopted) and one frame
 * of the enclosing function is open below, the variable is that frame's; where none is,
 * or several, it is not known.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "analysis/closures.h"
#include "analysis/questions.h"
#include "analysis/scene_cells.h"
#include "analysis/timeline_state.h"

/* What looking for the writes of other threads may take: most take a tenth of it. */
#define ELSEWHERE_MS 20u

/* Blocks that were not sealed, one behind the other: all of them are held at once. */
#define MOST_UNSEALED (FILM_TIMELINE_HELD - 2u)

film_status
film_timeline_cell(film_timeline *timeline, film_scene *scene, size_t index,
                   uint32_t slot, film_slot *out, film_error *error)
{
    uint32_t inner_id = scene->nodes[timeline->places[index].node].code;
    const film_code *inner = film_reader_code(timeline->reader, inner_id);
    film_place owner = {0};
    uint32_t found = UINT32_MAX;

    if (inner == NULL || slot >= inner->local_count) {
        return FILM_END;
    }
    for (size_t i = 0; i < index; i++) {
        uint32_t code = scene->nodes[timeline->places[i].node].code;
        const film_code *outer = film_reader_code(timeline->reader, code);
        uint32_t cell =
            outer == NULL || !film_code_encloses(outer, inner)
                ? UINT32_MAX
                : film_code_slot_of_kind(outer, inner->locals[slot], FILM_LOCAL_CELL);
        if (cell == UINT32_MAX) {
            continue;
        }
        if (found != UINT32_MAX) {
            return FILM_END; /* which of them is not known */
        }
        found = cell;
        owner = timeline->places[i];
    }
    if (found == UINT32_MAX) {
        return FILM_END;
    }
    FILM_TRY(film_timeline_slots(timeline, scene, owner, found, error));
    *out = timeline->slots[found];
    out->changed = false;
    return out->value.length > 0 ? FILM_OK : FILM_END;
}

static film_status
find_cells(film_timeline *timeline, film_scene *scene, unsigned depth,
           film_scene **before)
{
    uint64_t block = scene->block;

    *before = NULL;
    if (scene->keyframe.length == 0 && block > 0 && depth < MOST_UNSEALED &&
        film_timeline_scene(timeline, scene->thread, block - 1, before, NULL) ==
            FILM_OK &&
        (*before)->cells == NULL) {
        film_scene *earlier;
        FILM_TRY(find_cells(timeline, *before, depth + 1, &earlier));
    }
    return film_scene_find_cells(scene, *before);
}

film_status
film_timeline_find_cells(film_timeline *timeline, film_scene *scene, film_error *error)
{
    film_scene *before;

    if (find_cells(timeline, scene, 0, &before) != FILM_OK) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    return FILM_OK;
}

static film_status
held_before(film_timeline *timeline, film_scene *scene, uint64_t cell, unsigned depth,
            film_slot *out, film_error *error);

/* What a variable of a node held at its event `at` by its own account. */
static film_status
held_at(film_timeline *timeline, film_scene *scene, film_place place, uint32_t slot,
        film_slot *out, film_error *error)
{
    FILM_TRY(film_timeline_slots(timeline, scene, place, slot, error));
    if (slot >= timeline->slot_count) {
        return FILM_END;
    }
    *out = timeline->slots[slot];
    return FILM_OK;
}

static film_status
held_by_event(film_timeline *timeline, film_scene *scene, const film_cell_event *event,
              film_slot *out, film_error *error)
{
    const film_scene_event *write = &scene->events[event->event];
    film_place place = {
        .node = event->node, .at = event->at, .until = event->event + 1};

    memset(out, 0, sizeof(*out));
    out->known = true;
    switch (event->source) {
    case FILM_CELL_WRITTEN:
        out->wrote = scene->first + event->event;
        if (write->kind == FILM_KIND_SET) {
            film_datum_set(&out->value, scene->tokens.data + write->tokens,
                           write->tokens_length);
        }
        return FILM_OK;
    case FILM_CELL_TOLD:
        out->wrote = UINT64_MAX;
        out->told_ns = write->time_ns;
        if (event->token_length != 0 &&
            scene->tokens.data[event->token] != FILM_TOKEN_UNBOUND) {
            film_datum_set(&out->value, scene->tokens.data + event->token,
                           event->token_length);
        }
        return FILM_OK;
    case FILM_CELL_FOUND:
    default:
        return held_at(timeline, scene, place, event->slot, out, error);
    }
}

/* What the cell held at an event of the scene. */
static film_status
held_by_cell(film_timeline *timeline, film_scene *scene, uint64_t cell, uint32_t index,
             unsigned depth, film_slot *out, film_error *error)
{
    const film_cell_event *event = film_scene_cell_event(scene, cell, index);

    if (event != NULL) {
        return held_by_event(timeline, scene, event, out, error);
    }
    return held_before(timeline, scene, cell, depth, out, error);
}

/* What it held when the scene began. */
static film_status
held_before(film_timeline *timeline, film_scene *scene, uint64_t cell, unsigned depth,
            film_slot *out, film_error *error)
{
    const film_cell_binding *binding = film_scene_cell_before(scene, cell);
    film_place place = {0};
    film_scene *before;

    if (binding == NULL) {
        return FILM_END;
    }
    if (scene->keyframe.length == 0) {
        FILM_TRY(find_cells(timeline, scene, depth, &before));
        return before == NULL || depth > MOST_UNSEALED
                   ? FILM_END
                   : held_by_cell(timeline, before, cell, before->count - 1, depth + 1,
                                  out, error);
    }
    while (place.node < scene->node_count &&
           scene->nodes[place.node].serial != binding->serial) {
        place.node++;
    }
    if (place.node == scene->node_count) {
        return FILM_END;
    }
    FILM_TRY(held_at(timeline, scene, place, binding->slot, out, error));
    out->known = true;
    return FILM_OK;
}

film_status
film_timeline_shared(film_timeline *timeline, film_scene *scene, uint32_t index,
                     uint32_t node, uint32_t slot, film_slot *out, film_error *error)
{
    uint64_t cell;
    film_status status;

    FILM_TRY(film_timeline_find_cells(timeline, scene, error));
    cell = film_scene_cell(scene, node, slot, index);
    if (cell == 0) {
        return FILM_END;
    }
    status = held_by_cell(timeline, scene, cell, index, 0, out, error);
    if (status == FILM_OK) {
        out->number = slot;
        out->is_name = false;
    }
    return status;
}

film_status
film_timeline_shared_elsewhere(film_timeline *timeline, film_moment moment,
                               size_t index, uint32_t slot, film_slot *out,
                               film_error *error)
{
    film_target target = {.kind = FILM_TARGET_LOCAL, .slot = slot};
    film_budget budget = film_budget_of(ELSEWHERE_MS);
    const film_event *event;
    film_written written;
    film_scene *scene;
    film_stop stop;
    uint32_t at;

    if (film_reader_thread_count(timeline->reader) < 2) {
        return FILM_OK;
    }
    FILM_TRY(film_timeline_locate(timeline, moment, &scene, &at, error));
    FILM_TRY(film_timeline_places(timeline, scene, at, error));
    target.code = scene->nodes[timeline->places[index].node].code;
    target.frame = scene->nodes[timeline->places[index].node].serial;
    FILM_TRY(film_target_find_cell(timeline, moment, index, &target, error));
    if (target.kin_count == 0) {
        return FILM_OK;
    }
    FILM_TRY(film_find_write(timeline, &target, moment, true, &budget, &written, &stop,
                             error));
    if (stop.reason != FILM_STOP_ARRIVED || written.moment.thread == moment.thread) {
        return FILM_OK;
    }
    FILM_TRY(film_timeline_event(timeline, written.moment, &event, error));
    if (event->time_ns < out->told_ns) {
        return FILM_OK;
    }
    out->value = written.value;
    out->wrote = written.moment.event;
    out->writer = written.moment.thread;
    return FILM_OK;
}
