/* scene_cells.h: variables that frames of a scene share with others: the cells of
 * closures. Worked out when they are first asked for.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_SCENE_CELLS_H
#define FILMSTRIP_SCENE_CELLS_H

#include "analysis/scene.h"

typedef enum film_cell_source {
    FILM_CELL_WRITTEN, /* a set or delete of a variable that is this cell */
    FILM_CELL_TOLD,    /* told with a call: `token` */
    FILM_CELL_FOUND    /* what the variable `slot` of `node` held at its event `at` */
} film_cell_source;

/* An event of a scene that says what a cell holds. */
typedef struct film_cell_event {
    uint64_t cell;
    uint32_t event; /* index */
    film_cell_source source;
    uint32_t node, at, slot;      /* FOUND: node, event + 1 of it; 0: none */
    uint32_t token, token_length; /* TOLD: in film_scene.tokens */
} film_cell_event;

/* From event `since` (index + 1; 0: the scene's start) on, the variable `slot` of the
 * frame is the cell. */
typedef struct film_cell_binding {
    uint64_t serial, cell;
    uint32_t slot, since;
    uint32_t next; /* + 1: an earlier one of the same node */
} film_cell_binding;

typedef struct film_scene_cells {
    film_cell_binding *bindings; /* owned; those of the start first */
    size_t binding_count, binding_capacity, start_count;
    film_cell_event *events; /* owned; in order */
    size_t event_count, event_capacity;
    uint32_t *heads; /* owned; by node: its latest binding + 1 */
} film_scene_cells;

/* Works them out, if that was not done. `before`: the scene of the block before, for
 * one whose chunk has no keyframe; may be NULL. FILM_NO_MEMORY. */
FILM_NODISCARD film_status
film_scene_find_cells(film_scene *scene, film_scene *before);

/* The cell that a variable is at an event (index); 0: none that is known. */
uint64_t
film_scene_cell(const film_scene *scene, uint32_t node, uint32_t slot, uint32_t index);

/* The latest event not behind `index` that says what the cell holds, or NULL. */
const film_cell_event *
film_scene_cell_event(const film_scene *scene, uint64_t cell, uint32_t index);

/* A variable that was the cell when the scene began, or NULL. */
const film_cell_binding *
film_scene_cell_before(const film_scene *scene, uint64_t cell);

void
film_scene_cells_free(film_scene_cells *cells);

#endif
