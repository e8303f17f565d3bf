/* scene_cells.c: see scene_cells.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/scene_cells.h"

#include "base/alloc.h"
#include "format/cells.h"
#include "format/keyframe.h"

void
film_scene_cells_free(film_scene_cells *cells)
{
    if (cells != NULL) {
        film_free(cells->bindings);
        film_free(cells->events);
        film_free(cells->heads);
        film_free(cells);
    }
}

/* `node` + 1 may be 0: it is not known yet. */
static bool
add_binding(film_scene *scene, uint32_t node, film_cell_binding binding)
{
    film_scene_cells *cells = scene->cells;
    film_cell_binding *to = film_grow(cells->bindings, &cells->binding_capacity,
                                      cells->binding_count + 1, sizeof(*to));

    if (to == NULL) {
        return false;
    }
    cells->bindings = to;
    to += cells->binding_count++;
    *to = binding;
    if (node != 0) {
        to->next = cells->heads[node - 1];
        cells->heads[node - 1] = (uint32_t)cells->binding_count;
    }
    return true;
}

static bool
add_event(film_scene_cells *cells, film_cell_event event)
{
    film_cell_event *to = film_grow(cells->events, &cells->event_capacity,
                                    cells->event_count + 1, sizeof(*to));

    if (to == NULL) {
        return false;
    }
    cells->events = to;
    to[cells->event_count++] = event;
    return true;
}

/* The node of a frame that is open at the scene's start + 1; 0: none. */
static uint32_t
opened_node(const film_scene *scene, uint64_t serial)
{
    for (uint32_t at = scene->start_top; at != 0; at = scene->nodes[at - 1].parent) {
        if (scene->nodes[at - 1].serial == serial) {
            return at;
        }
    }
    return 0;
}

/* A section of the keyframe: serial, count, (slot, cell) each. */
static bool
read_section(film_scene *scene, uint32_t section)
{
    film_input body;

    if (film_keyframe_section(scene->keyframe.data, scene->keyframe.length, section,
                              &body) != FILM_OK) {
        return true;
    }
    while (!body.failed && film_input_left(&body) > 0) {
        uint64_t serial = film_input_varint(&body), count = film_input_varint(&body);
        uint32_t node = section == FILM_KEYFRAME_CELLS ? opened_node(scene, serial) : 0;
        while (count-- > 0 && !body.failed) {
            film_cell_binding binding = {.serial = serial};
            binding.slot = film_input_varint32(&body);
            binding.cell = film_input_varint(&body);
            if (!body.failed && !add_binding(scene, node, binding)) {
                return false;
            }
        }
    }
    return true;
}

/* Those of the frames that were open or suspended when the block before ended. */
static bool
take_over(film_scene *scene, const film_scene *before)
{
    for (size_t i = 0; i < before->cells->binding_count; i++) {
        film_cell_binding binding = before->cells->bindings[i];
        binding.since = 0;
        binding.next = 0;
        if (!add_binding(scene, opened_node(scene, binding.serial), binding)) {
            return false;
        }
    }
    return true;
}

/* The frame of a node that is resumed for the first time in the scene. */
static void
bind_resumed(film_scene *scene, uint32_t node)
{
    film_scene_cells *cells = scene->cells;
    uint64_t serial = scene->nodes[node].serial;

    for (size_t i = 0; i < cells->start_count; i++) {
        film_cell_binding *binding = &cells->bindings[i];
        if (binding->serial == serial && cells->heads[node] != i + 1) {
            binding->next = cells->heads[node];
            cells->heads[node] = (uint32_t)(i + 1);
        }
    }
}

static bool
is_known(const film_scene_cells *cells, uint64_t cell)
{
    for (size_t i = cells->binding_count; i > 0; i--) {
        if (cells->bindings[i - 1].cell == cell) {
            return true;
        }
    }
    return false;
}

/* An open frame has the same cell: what it holds is what that frame held by then. */
static bool
bind_holder(film_scene *scene, uint32_t index, const film_cell_told *told)
{
    uint32_t node = scene->events[index].node, at = 0;
    film_cell_binding binding = {
        .cell = told->cell, .slot = told->holder_slot, .since = index + 1};

    for (uint32_t i = 0; i <= told->distance && node != 0; i++) {
        at = scene->nodes[node - 1].parent_last;
        node = scene->nodes[node - 1].parent;
    }
    if (node == 0) {
        return true;
    }
    binding.serial = scene->nodes[node - 1].serial;
    if ((told->flags & FILM_CELL_VALUE) != 0) { /* it has it no more */
        binding.cell = 0;
        return film_scene_cell(scene, node - 1, told->holder_slot, index) !=
                   told->cell ||
               add_binding(scene, node, binding);
    }
    if (!is_known(scene->cells, told->cell) &&
        !add_event(scene->cells, (film_cell_event){.cell = told->cell,
                                                   .event = index,
                                                   .source = FILM_CELL_FOUND,
                                                   .node = node - 1,
                                                   .at = at,
                                                   .slot = told->holder_slot})) {
        return false;
    }
    return film_scene_cell(scene, node - 1, told->holder_slot, index) == told->cell ||
           add_binding(scene, node, binding);
}

/* A cell that was never told of is the frame's own: it holds what the frame is called
 * with. */
static bool
note_made(film_scene *scene, uint32_t index, const film_cell_told *told)
{
    film_cell_event made = {.cell = told->cell,
                            .event = index,
                            .source = FILM_CELL_FOUND,
                            .node = scene->events[index].node - 1,
                            .at = index + 1,
                            .slot = told->slot};

    return is_known(scene->cells, told->cell) || add_event(scene->cells, made);
}

static bool
note_told(film_scene *scene, uint32_t index, const film_cell_told *told)
{
    film_cell_event event = {.cell = told->cell,
                             .event = index,
                             .source = FILM_CELL_TOLD,
                             .token = (uint32_t)(told->token - scene->tokens.data),
                             .token_length = (uint32_t)told->token_length};

    return add_event(scene->cells, event);
}

static bool
note_call(film_scene *scene, const film_scene_call *call)
{
    film_input body = film_input_of(scene->tokens.data + call->cells, call->length);
    uint32_t node = scene->events[call->event].node;
    film_cell_told told;

    while (node != 0 && film_cells_next(&body, &told)) {
        film_cell_binding binding = {.serial = scene->nodes[node - 1].serial,
                                     .cell = told.cell,
                                     .slot = told.slot,
                                     .since = call->event + 1};
        if ((told.flags & FILM_CELL_HELD) != 0 &&
            !bind_holder(scene, call->event, &told)) {
            return false;
        }
        if (told.flags == 0 ? !note_made(scene, call->event, &told)
                            : (told.flags & FILM_CELL_VALUE) != 0 &&
                                  !note_told(scene, call->event, &told)) {
            return false;
        }
        if (!add_binding(scene, node, binding)) {
            return false;
        }
    }
    return true;
}

static bool
note_event(film_scene *scene, uint32_t index)
{
    const film_scene_event *event = &scene->events[index];
    const film_node *node;
    uint64_t cell;

    if (event->node == 0) {
        return true;
    }
    node = &scene->nodes[event->node - 1];
    if ((event->kind == FILM_KIND_RESUME || event->kind == FILM_KIND_THROW) &&
        node->before == 0) {
        bind_resumed(scene, event->node - 1);
    }
    if ((event->kind != FILM_KIND_SET && event->kind != FILM_KIND_DELETE) ||
        event->form != FILM_SET_LOCAL) {
        return true;
    }
    cell = film_scene_cell(scene, event->node - 1, event->number, index);
    return cell == 0 ||
           add_event(scene->cells, (film_cell_event){.cell = cell,
                                                     .event = index,
                                                     .source = FILM_CELL_WRITTEN});
}

static bool
note_restored(film_scene *scene, const film_scene_restored *one)
{
    uint64_t cell = film_scene_cell(scene, one->node, one->slot, one->event);
    film_cell_binding binding = {.serial = scene->nodes[one->node].serial,
                                 .cell = one->cell,
                                 .slot = one->slot,
                                 .since = one->event + 1};

    if (cell != one->cell && !add_binding(scene, one->node + 1, binding)) {
        return false;
    }
    return one->cell == 0 ||
           add_event(scene->cells,
                     (film_cell_event){.cell = one->cell,
                                       .event = one->event,
                                       .source = FILM_CELL_TOLD,
                                       .token = one->token,
                                       .token_length = one->token_length});
}

static bool
find_cells(film_scene *scene, const film_scene *before)
{
    size_t call = 0, restored = 0;

    scene->cells->heads =
        film_alloc_array(scene->node_count + 1, sizeof(*scene->cells->heads));
    if (scene->cells->heads == NULL || !read_section(scene, FILM_KEYFRAME_CELLS) ||
        !read_section(scene, FILM_KEYFRAME_RESUMED_CELLS) ||
        (before != NULL && before->cells != NULL && !take_over(scene, before))) {
        return false;
    }
    scene->cells->start_count = scene->cells->binding_count;
    if (scene->cells->start_count == 0 && scene->call_count == 0 &&
        scene->restored_count == 0) {
        return true;
    }
    for (uint32_t i = 0; i < scene->count; i++) {
        for (; restored < scene->restored_count && scene->restored[restored].event == i;
             restored++) {
            if (!note_restored(scene, &scene->restored[restored])) {
                return false;
            }
        }
        if (!note_event(scene, i)) {
            return false;
        }
        if (call < scene->call_count && scene->calls[call].event == i &&
            !note_call(scene, &scene->calls[call++])) {
            return false;
        }
    }
    return true;
}

film_status
film_scene_find_cells(film_scene *scene, film_scene *before)
{
    if (scene->cells != NULL) {
        return FILM_OK;
    }
    scene->cells = film_alloc(sizeof(*scene->cells));
    if (scene->cells == NULL) {
        return FILM_NO_MEMORY;
    }
    if (!find_cells(scene, before)) {
        film_scene_cells_free(scene->cells);
        scene->cells = NULL;
        return FILM_NO_MEMORY;
    }
    return FILM_OK;
}

uint64_t
film_scene_cell(const film_scene *scene, uint32_t node, uint32_t slot, uint32_t index)
{
    const film_scene_cells *cells = scene->cells;

    for (;;) {
        for (uint32_t at = cells->heads[node]; at != 0;
             at = cells->bindings[at - 1].next) {
            const film_cell_binding *binding = &cells->bindings[at - 1];
            if (binding->slot == slot && binding->since <= index + 1) {
                return binding->cell;
            }
        }
        if (scene->nodes[node].before == 0) {
            return 0;
        }
        node = scene->nodes[node].before - 1;
    }
}

const film_cell_event *
film_scene_cell_event(const film_scene *scene, uint64_t cell, uint32_t index)
{
    const film_scene_cells *cells = scene->cells;

    for (size_t i = cells->event_count; i > 0; i--) {
        if (cells->events[i - 1].event <= index && cells->events[i - 1].cell == cell) {
            return &cells->events[i - 1];
        }
    }
    return NULL;
}

const film_cell_binding *
film_scene_cell_before(const film_scene *scene, uint64_t cell)
{
    for (size_t i = 0; i < scene->cells->start_count; i++) {
        if (scene->cells->bindings[i].cell == cell) {
            return &scene->cells->bindings[i];
        }
    }
    return NULL;
}
