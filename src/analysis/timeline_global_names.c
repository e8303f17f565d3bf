/* timeline_global_names.c: which globals a module has: those its body names, and those
 * that were written by other means: a function's `global`, `from m import *`.
 * Chunks' summaries tell names without modules: a chunk that has one not met before is
 * decoded, which few are.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "analysis/timeline_state.h"
#include "base/alloc.h"
#include "reader/reader_state.h"

static bool
is_same_module(const film_code *one, const film_code *other)
{
    return one != NULL && other != NULL && one->module.length == other->module.length &&
           memcmp(one->module.data, other->module.data, one->module.length) == 0;
}

static bool
is_met(const film_timeline *timeline, uint32_t name)
{
    for (size_t i = 0; i < timeline->global_name_count; i++) {
        if (timeline->global_names[i].name == name) {
            return true;
        }
    }
    return false;
}

static bool
add_name(film_timeline *timeline, uint32_t code, uint32_t name)
{
    const film_code *own = film_reader_code(timeline->reader, code);
    film_global_name *names;

    for (size_t i = 0; i < timeline->global_name_count; i++) {
        if (timeline->global_names[i].name == name &&
            is_same_module(
                film_reader_code(timeline->reader, timeline->global_names[i].code),
                own)) {
            return true;
        }
    }
    names = film_grow(timeline->global_names, &timeline->global_name_capacity,
                      timeline->global_name_count + 1, sizeof(*names));
    if (names == NULL) {
        return false;
    }
    timeline->global_names = names;
    names[timeline->global_name_count++] =
        (film_global_name){.code = code, .name = name};
    return true;
}

typedef struct unmet {
    const film_timeline *timeline;
    bool any;
} unmet;

static void
look_at_name(void *context, film_touched_kind kind, uint32_t name, bool may_own)
{
    unmet *found = context;

    (void)may_own;
    found->any =
        found->any || (kind == FILM_TOUCHED_GLOBAL && !is_met(found->timeline, name));
}

static film_status
meet_block(film_timeline *timeline, uint32_t thread, uint64_t block, film_error *error)
{
    unmet found = {.timeline = timeline};
    film_scene *scene;
    film_status status;

    if (film_postings_writes(&timeline->postings, thread, block, 0, look_at_name,
                             &found) &&
        !found.any) {
        return FILM_OK;
    }
    status = film_timeline_scene(timeline, thread, block, &scene, error);
    if (status != FILM_OK) {
        return status == FILM_END ? FILM_OK : status;
    }
    for (uint32_t i = 0; i < scene->count; i++) {
        const film_scene_event *event = &scene->events[i];
        if (event->kind == FILM_KIND_SET && event->form == FILM_SET_GLOBAL &&
            event->node != 0 &&
            !add_name(timeline, scene->nodes[event->node - 1].code, event->number)) {
            return film_fail(error, FILM_NO_MEMORY, "memory ran out");
        }
    }
    return FILM_OK;
}

/* Looks at the blocks of a thread up to that of event `end` that were not looked at. */
static film_status
meet_thread(film_timeline *timeline, size_t index, uint64_t end, film_error *error)
{
    const film_thread_info *info = film_reader_thread(timeline->reader, index);

    while (end > 0 && timeline->global_blocks[index] <= (end - 1) >> FILM_CHUNK_SHIFT) {
        uint64_t block = film_timeline_block(timeline, info->id,
                                             timeline->global_blocks[index], false);
        if (block == UINT64_MAX || block > (end - 1) >> FILM_CHUNK_SHIFT) {
            break;
        }
        FILM_TRY(meet_block(timeline, info->id, block, error));
        if ((block + 1) << FILM_CHUNK_SHIFT > info->end_event) {
            break; /* the last one: of a live recording it may become fuller */
        }
        timeline->global_blocks[index] = block + 1;
    }
    return FILM_OK;
}

static film_status
meet_all(film_timeline *timeline, film_moment moment, film_error *error)
{
    size_t threads = film_reader_thread_count(timeline->reader);

    if (timeline->global_block_count != threads) {
        uint64_t *blocks = film_alloc_array(threads + 1, sizeof(*blocks));
        if (blocks == NULL) {
            return film_fail(error, FILM_NO_MEMORY, "memory ran out");
        }
        film_free(timeline->global_blocks);
        timeline->global_blocks = blocks;
        timeline->global_block_count = threads;
    }
    FILM_TRY(film_postings_load(&timeline->postings, timeline->reader, error));
    for (size_t i = 0; i < threads; i++) {
        uint64_t end;
        film_status status = film_timeline_behind(
            timeline, moment, film_reader_thread(timeline->reader, i)->id, &end, error);
        if (status == FILM_OK) {
            status = meet_thread(timeline, i, end, error);
        }
        if (status != FILM_OK && status != FILM_END) {
            return status;
        }
    }
    return FILM_OK;
}

film_status
film_timeline_module_names(film_timeline *timeline, film_moment moment,
                           const film_code *of, film_error *error)
{
    size_t count = of->name_count;
    uint32_t *names;

    if (timeline->reader->file.block.minor >= 2) {
        FILM_TRY(meet_all(timeline, moment, error));
    }
    names = film_grow(timeline->module_names, &timeline->module_name_capacity,
                      count + timeline->global_name_count + 1, sizeof(*names));
    if (names == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    timeline->module_names = names;
    if (count > 0) {
        memcpy(names, of->names, count * sizeof(*names));
    }
    for (size_t i = 0; i < timeline->global_name_count; i++) {
        const film_global_name *one = &timeline->global_names[i];
        size_t at = 0;
        while (at < of->name_count && of->names[at] != one->name) {
            at++;
        }
        if (at == of->name_count &&
            is_same_module(film_reader_code(timeline->reader, one->code), of)) {
            names[count++] = one->name;
        }
    }
    timeline->module_name_count = count;
    return FILM_OK;
}
