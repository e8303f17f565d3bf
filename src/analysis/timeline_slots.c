/* timeline_slots.c: what the variables of a frame itself hold at a moment.
 * A frame's own events, walked backwards, tell every variable written in this chunk;
 * the arguments of its call or the chunk's keyframe tell the rest. Where a keyframe has
 * none (an older recording, or events not yet sealed) the chunks before are looked at.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "analysis/timeline_state.h"
#include "base/alloc.h"
#include "format/locals.h"

/* A walk back through the events of one frame. */
typedef struct walk {
    film_timeline *timeline;
    uint32_t only; /* the slot that is asked for; UINT32_MAX: all */
    bool done;     /* it was found */
    bool is_changing;
    uint64_t serial;
} walk;

static film_slot *
slot_of(film_timeline *timeline, bool is_name, uint32_t number)
{
    film_slot *slots;

    /* Locals come first, by their number; names behind them. */
    for (size_t i = is_name ? 0 : number; i < timeline->slot_count; i++) {
        if (timeline->slots[i].is_name == is_name &&
            timeline->slots[i].number == number) {
            return &timeline->slots[i];
        }
        if (!is_name) {
            break;
        }
    }
    if (!is_name) {
        return NULL; /* the code has no such local */
    }
    slots = film_grow(timeline->slots, &timeline->slot_capacity,
                      timeline->slot_count + 1, sizeof(*slots));
    if (slots == NULL) {
        return NULL;
    }
    timeline->slots = slots;
    memset(&slots[timeline->slot_count], 0, sizeof(*slots));
    slots[timeline->slot_count].is_name = true;
    slots[timeline->slot_count].number = number;
    return &slots[timeline->slot_count++];
}

/* A write (length 0: delete) met on the way back; the first one met counts. */
static void
meet(walk *on, bool is_name, uint32_t number, const uint8_t *token, size_t length,
     uint64_t wrote)
{
    film_slot *slot = slot_of(on->timeline, is_name, number);

    if (slot == NULL || slot->known) {
        return;
    }
    slot->known = true;
    slot->wrote = wrote;
    slot->changed = on->is_changing;
    if (length > 0) {
        film_datum_set(&slot->value, token, length);
    }
    if (!is_name && number == on->only) {
        on->done = true;
    }
}

static void
meet_arguments(walk *on, const film_scene *scene, uint32_t index)
{
    const film_scene_event *event = &scene->events[index];
    film_input input =
        film_input_of(scene->tokens.data + event->tokens, event->tokens_length);

    for (uint32_t slot = 0; slot < event->token_count; slot++) {
        const uint8_t *from = input.at;
        film_tokens_skip(&input, 1);
        if (input.failed) {
            return;
        }
        meet(on, false, slot, from, (size_t)(input.at - from), scene->first + index);
    }
}

static void
meet_event(walk *on, const film_scene *scene, uint32_t index)
{
    const film_scene_event *event = &scene->events[index];
    const uint8_t *tokens = scene->tokens.data + event->tokens;

    if ((event->kind == FILM_KIND_SET || event->kind == FILM_KIND_DELETE) &&
        (event->form == FILM_SET_LOCAL || event->form == FILM_SET_CLASS)) {
        meet(on, event->form == FILM_SET_CLASS, event->number, tokens,
             event->kind == FILM_KIND_SET ? event->tokens_length : 0,
             scene->first + index);
    }
}

static void
meet_told(walk *on, film_input told)
{
    film_locals_reader reader;
    const uint8_t *token;
    size_t length;
    uint32_t number;
    bool is_name;

    /* Written before the chunk began: by no line that is near. */
    on->is_changing = false;
    film_locals_reader_begin(&reader, told);
    while (film_locals_reader_next(&reader, &is_name, &number, &token, &length)) {
        meet(on, is_name, number, token, length, UINT64_MAX);
    }
}

/* The frame's last node in a scene; node_count: none. */
static uint32_t
find_node(const film_scene *scene, uint64_t serial)
{
    for (size_t i = scene->node_count; i > 0; i--) {
        if (scene->nodes[i - 1].serial == serial) {
            return (uint32_t)(i - 1);
        }
    }
    return (uint32_t)scene->node_count;
}

/* What comprehensions gave back to the frame between its event `at` (index + 1) and the
 * one that was met before. *left: of the scene's, still to be looked at. */
static void
meet_restored(walk *on, const film_scene *scene, film_place place, uint32_t at,
              size_t *left)
{
    for (; *left > 0 && scene->restored[*left - 1].event >= at; --*left) {
        const film_scene_restored *one = &scene->restored[*left - 1];
        if (scene->nodes[one->node].serial == on->serial && one->event < place.until) {
            meet(on, false, one->slot, scene->tokens.data + one->token,
                 one->token_length, UINT64_MAX);
        }
    }
}

/* Events of the nodes the frame had in this scene. *whole: its call was among them.
 * Gives the earliest of the nodes. */
static uint32_t
walk_scene(walk *on, const film_scene *scene, film_place place, bool *whole)
{
    unsigned lines =
        place.at != 0 && scene->events[place.at - 1].kind == FILM_KIND_LINE ? 0 : 1;

    size_t restored = scene->restored_count;

    *whole = false;
    for (;;) {
        const film_node *node = &scene->nodes[place.node];
        for (uint32_t at = place.at; at != 0 && !on->done;
             at = scene->events[at - 1].previous) {
            uint8_t kind = scene->events[at - 1].kind;
            meet_restored(on, scene, place, at, &restored);
            if (kind == FILM_KIND_LINE && ++lines > 1) {
                on->is_changing = false;
            }
            if (kind == FILM_KIND_CALL) {
                meet_arguments(on, scene, at - 1);
                *whole = true;
                return place.node;
            }
            meet_event(on, scene, at - 1);
        }
        meet_restored(on, scene, place,
                      node->before == 0 ? 0 : scene->nodes[node->before - 1].last,
                      &restored);
        if (node->before == 0 || on->done) {
            return place.node;
        }
        place.node = node->before - 1;
        place.at = scene->nodes[place.node].last;
    }
}

/* What the frame held when the scene began, from its keyframe or that of the chunk
 * which tells the frame. FILM_END: not told. */
static film_status
told_before(walk *on, film_scene *scene, const film_node *node, film_error *error)
{
    film_input told;
    film_scene *home = scene;
    uint64_t serial = node->serial;
    uint32_t index = node->home_index, home_chunk = node->home_chunk;
    film_status status;

    if (!node->opened) {
        FILM_TRY(film_scene_resumed_locals(scene, serial, &told));
        meet_told(on, told);
        return FILM_OK;
    }
    if (!scene->has_locals || home_chunk == 0) {
        return FILM_END;
    }
    if (home_chunk - 1 != scene->block) {
        status = film_timeline_scene(on->timeline, scene->thread, home_chunk - 1, &home,
                                     error);
        if (status != FILM_OK) {
            return status == FILM_NO_MEMORY ? status : FILM_END;
        }
    }
    FILM_TRY(film_scene_told_locals(home, index, &told));
    meet_told(on, told);
    return FILM_OK;
}

static film_status
walk_back(walk *on, film_scene *scene, film_place place, film_error *error)
{
    uint32_t thread = scene->thread;

    for (unsigned patience = FILM_TIMELINE_PATIENCE; patience > 0; patience--) {
        uint64_t block = scene->block;
        bool whole;
        uint32_t earliest = walk_scene(on, scene, place, &whole);
        film_status status;
        if (whole || on->done) {
            return FILM_OK;
        }
        status = told_before(on, scene, &scene->nodes[earliest], error);
        if (status != FILM_END) {
            return status;
        }
        do { /* the chunk before that knows the frame */
            block = block == 0
                        ? UINT64_MAX
                        : film_timeline_block(on->timeline, thread, block - 1, true);
            if (block == UINT64_MAX || film_timeline_scene(on->timeline, thread, block,
                                                           &scene, NULL) != FILM_OK) {
                return FILM_OK;
            }
            place.node = find_node(scene, on->serial);
        } while (place.node == scene->node_count && --patience > 1);
        if (place.node == scene->node_count) {
            return FILM_OK;
        }
        place.at = scene->nodes[place.node].last;
        place.until = scene->count;
        on->is_changing = false;
    }
    return FILM_OK;
}

film_status
film_timeline_slots(film_timeline *timeline, film_scene *scene, film_place place,
                    uint32_t only, film_error *error)
{
    const film_node *node = &scene->nodes[place.node];
    const film_code *code = film_reader_code(timeline->reader, node->code);
    size_t count = code == NULL ? 0 : code->local_count;
    walk on = {.timeline = timeline,
               .only = only,
               .is_changing = true,
               .serial = node->serial};
    film_slot *slots =
        film_grow(timeline->slots, &timeline->slot_capacity, count + 1, sizeof(*slots));

    if (slots == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    timeline->slots = slots;
    timeline->slot_count = count;
    memset(slots, 0, count * sizeof(*slots));
    for (uint32_t i = 0; i < count; i++) {
        slots[i].number = i;
    }
    return walk_back(&on, scene, place, error);
}
