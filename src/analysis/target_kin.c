/* target_kin.c: variables of several functions that are one: an outer function's, and
 * those of inner ones that have it by nonlocal or only read it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/closures.h"
#include "analysis/questions.h"
#include "analysis/scene_cells.h"
#include "analysis/timeline_state.h"

/* The innermost function around `inner` that makes the cell; NULL: none is known. */
static const film_code *
maker_of(const film_timeline *timeline, const film_code *inner, uint32_t name)
{
    const film_code *best = NULL;

    for (size_t i = 0; i < film_reader_code_count(timeline->reader); i++) {
        const film_code *code = film_reader_code(timeline->reader, (uint32_t)i);
        if (code != NULL && film_code_encloses(code, inner) &&
            film_code_slot_of_kind(code, name, FILM_LOCAL_CELL) != UINT32_MAX &&
            (best == NULL || code->qualname.length > best->qualname.length)) {
            best = code;
        }
    }
    return best;
}

static void
add_kin(film_target *target, uint32_t code, uint32_t slot)
{
    if (target->kin_count < FILM_TARGET_KIN &&
        (code != target->code || slot != target->slot)) {
        target->kin[target->kin_count++] = (film_kin){.code = code, .slot = slot};
    }
}

void
film_target_find_kin(const film_timeline *timeline, film_target *target)
{
    const film_code *own = film_reader_code(timeline->reader, target->code), *maker;
    uint32_t name;

    target->kin_count = 0;
    if (own == NULL || target->slot >= own->local_count ||
        (own->local_kinds[target->slot] & FILM_LOCAL_SHARED) == 0) {
        return;
    }
    name = own->locals[target->slot];
    maker = (own->local_kinds[target->slot] & FILM_LOCAL_FREE) != 0
                ? maker_of(timeline, own, name)
                : own;
    if (maker == NULL) {
        return;
    }
    add_kin(target, maker->id, film_code_slot_of_kind(maker, name, FILM_LOCAL_CELL));
    for (size_t i = 0; i < film_reader_code_count(timeline->reader); i++) {
        const film_code *code = film_reader_code(timeline->reader, (uint32_t)i);
        uint32_t slot = code == NULL || !film_code_encloses(maker, code)
                            ? UINT32_MAX
                            : film_code_slot_of_kind(code, name, FILM_LOCAL_FREE);
        if (slot != UINT32_MAX && maker_of(timeline, code, name) == maker) {
            add_kin(target, code->id, slot);
        }
    }
}

film_status
film_target_find_cell(film_timeline *timeline, film_moment moment, size_t index,
                      film_target *target, film_error *error)
{
    film_scene *scene;
    uint32_t at, node;

    film_target_find_kin(timeline, target);
    if (target->kin_count == 0) {
        return FILM_OK;
    }
    FILM_TRY(film_timeline_locate(timeline, moment, &scene, &at, error));
    FILM_TRY(film_timeline_places(timeline, scene, at, error));
    if (index >= timeline->place_count) {
        return FILM_OK;
    }
    node = timeline->places[index].node;
    FILM_TRY(film_timeline_find_cells(timeline, scene, error));
    target->cell = film_scene_cell(scene, node, target->slot, at);
    if (target->cell == 0) { /* it may be told later: what follows is its, too */
        target->cell = film_scene_cell(scene, node, target->slot, scene->count);
    }
    if (target->cell == 0) {
        target->kin_count = 0;
        return FILM_OK;
    }
    target->least = 0; /* others wrote to it before the frame began */
    return FILM_OK;
}

bool
film_target_is_kin(film_timeline *timeline, const film_target *target,
                   const film_scene *scene, uint32_t index)
{
    const film_scene_event *event = &scene->events[index];
    uint32_t code = scene->nodes[event->node - 1].code, number = 0;
    film_scene *own;

    while (number < target->kin_count && (target->kin[number].code != code ||
                                          target->kin[number].slot != event->number)) {
        number++;
    }
    if (number == target->kin_count &&
        (code != target->code || event->number != target->slot)) {
        return false;
    }
    if (target->frame == 0 || target->cell == 0) {
        return target->frame == 0;
    }
    return film_timeline_scene(timeline, scene->thread, scene->block, &own, NULL) ==
               FILM_OK &&
           film_timeline_find_cells(timeline, own, NULL) == FILM_OK &&
           film_scene_cell(own, event->node - 1, event->number, index) == target->cell;
}
