/* timeline_globals.c: what the globals of a module hold at a moment: their last writes,
 * by whichever thread.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "analysis/timeline_state.h"
#include "base/alloc.h"
#include "reader/reader_state.h"

typedef struct global_search {
    film_text module;
    uint32_t name;
} global_search;

static bool
writes_global(const film_timeline *timeline, const film_scene *scene, uint32_t index,
              const global_search *wanted)
{
    const film_scene_event *event = &scene->events[index];
    const film_code *code;

    if ((event->kind != FILM_KIND_SET && event->kind != FILM_KIND_DELETE) ||
        event->form != FILM_SET_GLOBAL || event->number != wanted->name ||
        event->node == 0) {
        return false;
    }
    code = film_reader_code(timeline->reader, scene->nodes[event->node - 1].code);
    return code != NULL && code->module.length == wanted->module.length &&
           memcmp(code->module.data, wanted->module.data, code->module.length) == 0;
}

/* The last write of it in one thread before event `end`. */
static film_status
last_global(film_timeline *timeline, uint32_t thread, uint64_t end,
            const global_search *wanted, film_datum *value, uint64_t *wrote,
            uint64_t *time_ns, film_error *error)
{
    film_wanted item = {.kind = FILM_WANTED_WRITE,
                        .number = wanted->name,
                        .write = FILM_TOUCHED_GLOBAL};
    film_filter filter = {.wanted = &item, .count = 1};

    while (end > 0) {
        uint64_t block =
            film_timeline_block(timeline, thread, (end - 1) >> FILM_CHUNK_SHIFT, true);
        film_scene *scene;
        film_status status;
        if (block == UINT64_MAX) {
            break;
        }
        if (film_postings_may_hold(&timeline->postings, thread, block, &filter)) {
            status = film_timeline_scene(timeline, thread, block, &scene, error);
            if (status == FILM_END) {
                break;
            }
            FILM_TRY(status);
            for (uint64_t i = end < scene->first + scene->count
                                  ? end
                                  : scene->first + scene->count;
                 i > scene->first; i--) {
                uint32_t index = (uint32_t)(i - 1 - scene->first);
                if (writes_global(timeline, scene, index, wanted)) {
                    *value = scene->events[index].kind == FILM_KIND_SET
                                 ? film_scene_token(scene, index, 0)
                                 : (film_datum){.length = 0};
                    *wrote = i - 1;
                    *time_ns = scene->events[index].time_ns;
                    return FILM_OK;
                }
            }
        }
        end = block << FILM_CHUNK_SHIFT;
    }
    return FILM_END;
}

film_status
film_timeline_global(film_timeline *timeline, film_moment moment, uint32_t code,
                     uint32_t name, film_datum *value, film_moment *wrote,
                     film_error *error)
{
    const film_code *of = film_reader_code(timeline->reader, code);
    global_search wanted = {.name = name};
    uint64_t latest = 0;
    bool found = false;

    if (of == NULL) {
        return FILM_END;
    }
    wanted.module = of->module;
    FILM_TRY(film_postings_load(&timeline->postings, timeline->reader, error));
    for (size_t i = 0; i < film_reader_thread_count(timeline->reader); i++) {
        uint32_t thread = film_reader_thread(timeline->reader, i)->id;
        uint64_t end, event = 0, time_ns = 0;
        film_datum held;
        film_status status;
        status = film_timeline_behind(timeline, moment, thread, &end, error);
        if (status == FILM_OK) {
            status = last_global(timeline, thread, end, &wanted, &held, &event,
                                 &time_ns, error);
        }
        if (status == FILM_END) {
            continue;
        }
        FILM_TRY(status);
        if (!found || time_ns > latest ||
            (time_ns == latest && thread > wrote->thread)) {
            found = true;
            latest = time_ns;
            *value = held;
            *wrote = film_moment_of(thread, event);
        }
    }
    return found ? FILM_OK : FILM_END;
}

/* The module's globals behind a moment, each looked for by itself. */
static film_status
look_for_globals(film_timeline *timeline, film_moment moment, const film_code *of,
                 film_slot *slots, film_error *error)
{
    for (size_t i = 0; i < timeline->module_name_count; i++) {
        uint32_t name = timeline->module_names[i];
        film_moment wrote;
        film_status status = film_timeline_global(timeline, moment, of->id, name,
                                                  &slots[i].value, &wrote, error);
        slots[i].number = name;
        if (status == FILM_OK) {
            slots[i].known = true;
            slots[i].wrote = wrote.event;
            slots[i].writer = wrote.thread;
        }
        else if (status != FILM_END) {
            return status;
        }
    }
    return FILM_OK;
}

/* The same when a block began; kept, for every moment of the block needs them. */
static film_status
globals_before(film_timeline *timeline, const film_scene *scene, const film_code *of,
               film_globals **out, film_error *error)
{
    uint32_t thread = scene->thread;
    uint64_t block = scene->block, first = scene->first;
    film_globals *kept = &timeline->globals[0];
    film_status status = FILM_OK;

    for (size_t i = 0; i < sizeof(timeline->globals) / sizeof(timeline->globals[0]);
         i++) {
        film_globals *known = &timeline->globals[i];
        if (known->thread == thread && known->block == block && known->code == of->id &&
            known->count == timeline->module_name_count) {
            known->used = ++timeline->clock;
            *out = known;
            return FILM_OK;
        }
        kept = known->used < kept->used ? known : kept;
    }
    film_free(kept->slots);
    memset(kept, 0, sizeof(*kept));
    kept->slots =
        film_alloc_array(timeline->module_name_count + 1, sizeof(*kept->slots));
    if (kept->slots == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    if (first > 0) {
        status = look_for_globals(timeline, film_moment_of(thread, first - 1), of,
                                  kept->slots, error);
        status = status == FILM_END ? FILM_OK : status; /* a ring begins here */
    }
    if (status == FILM_OK) {
        kept->thread = thread;
        kept->block = block;
        kept->code = of->id;
        kept->count = timeline->module_name_count;
        kept->used = ++timeline->clock;
        *out = kept;
    }
    return status;
}

/* Writes of the block up to the moment come over what was before. */
static void
write_over(const film_timeline *timeline, const film_scene *scene, uint32_t index,
           const film_code *of, film_slot *slots)
{
    for (uint32_t i = 0; i <= index; i++) {
        const film_scene_event *event = &scene->events[i];
        if ((event->kind != FILM_KIND_SET && event->kind != FILM_KIND_DELETE) ||
            event->form != FILM_SET_GLOBAL) {
            continue;
        }
        for (size_t k = 0; k < timeline->module_name_count; k++) {
            global_search wanted = {.module = of->module,
                                    .name = timeline->module_names[k]};
            if (event->number == wanted.name &&
                writes_global(timeline, scene, i, &wanted)) {
                slots[k].known = true;
                slots[k].number = wanted.name;
                slots[k].wrote = scene->first + i;
                slots[k].writer = scene->thread;
                slots[k].value = event->kind == FILM_KIND_SET
                                     ? film_scene_token(scene, i, 0)
                                     : (film_datum){.length = 0};
                break;
            }
        }
    }
}

film_status
film_timeline_find_globals(film_timeline *timeline, film_moment moment,
                           const film_code *of, film_error *error)
{
    film_globals *before = NULL;
    film_slot *slots;
    film_scene *scene;
    uint32_t index;

    FILM_TRY(film_timeline_module_names(timeline, moment, of, error));
    slots = film_grow(timeline->slots, &timeline->slot_capacity,
                      timeline->module_name_count + 1, sizeof(*slots));
    if (slots == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    timeline->slots = slots;
    timeline->slot_count = timeline->module_name_count;
    memset(slots, 0, timeline->slot_count * sizeof(*slots));
    if (film_reader_thread_count(timeline->reader) > 1) {
        return look_for_globals(timeline, moment, of, slots, error);
    }
    FILM_TRY(film_timeline_locate(timeline, moment, &scene, &index, error));
    FILM_TRY(globals_before(timeline, scene, of, &before, error));
    memcpy(slots, before->slots, timeline->slot_count * sizeof(*slots));
    FILM_TRY(film_timeline_locate(timeline, moment, &scene, &index, error));
    write_over(timeline, scene, index, of, slots);
    return FILM_OK;
}
