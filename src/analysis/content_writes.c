/* content_writes.c: the recorded writes to one object, in all threads.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "analysis/content.h"
#include "base/alloc.h"
#include "format/summary.h"
#include "reader/reader_state.h"

/* What is looked for, and what is known already. */
typedef struct gathering {
    film_timeline *timeline;
    uint64_t serial;
    bool attributes;
    bool wanted; /* by `ask`: the block has something new */
    film_object_writes *out;
    size_t resolved_from; /* writes of this thread begin here */
} gathering;

static film_object_write *
find_name(const gathering *at, uint32_t name)
{
    for (size_t i = at->resolved_from; i < at->out->count; i++) {
        if (at->out->items[i].name == name) {
            return &at->out->items[i];
        }
    }
    return NULL;
}

/* Called for each thing written in a block. */
static void
ask(void *context, film_touched_kind kind, uint32_t name, bool may_own)
{
    gathering *at = context;

    if (!may_own) {
        return;
    }
    if (at->attributes ? kind == FILM_TOUCHED_ATTRIBUTE && find_name(at, name) == NULL
                       : kind == FILM_TOUCHED_ITEM) {
        at->wanted = true;
    }
}

static film_status
keep(gathering *at, const film_object_write *write, film_error *error)
{
    film_object_writes *out = at->out;
    film_object_write *items;

    if (at->attributes && find_name(at, write->name) != NULL) {
        return FILM_OK;
    }
    if (out->count >= FILM_CONTENT_WRITES) {
        out->more = true;
        return FILM_OK;
    }
    items = film_grow(out->items, &out->capacity, out->count + 1, sizeof(*items));
    if (items == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    out->items = items;
    items[out->count++] = *write;
    return FILM_OK;
}

static film_object_write
write_of_scene(const gathering *at, const film_scene *scene, uint32_t index)
{
    const film_scene_event *event = &scene->events[index];
    film_object_write write = {.moment =
                                   film_moment_of(scene->thread, scene->first + index),
                               .time_ns = event->time_ns,
                               .deleted = event->kind != FILM_KIND_SET};

    if (at->attributes) {
        write.name = event->number;
    }
    else {
        write.key = film_scene_token(scene, index, 1);
        write.effect = (uint8_t)event->number;
    }
    if (!write.deleted) {
        write.value = film_scene_token(scene, index, at->attributes ? 1 : 2);
    }
    return write;
}

static film_object_write
write_of_list(const gathering *at, const film_writes_list *list,
              const film_block_write *told)
{
    film_input input = film_input_of(list->tokens.data + told->tokens, told->length);
    film_object_write write = {
        .moment = film_moment_of(list->thread,
                                 (list->block << FILM_CHUNK_SHIFT) + told->index),
        .time_ns = told->time_ns,
        .name = told->name,
        .effect = told->effect,
        .deleted = told->deleted};

    if (!at->attributes) {
        write.key = film_datum_take(&input);
    }
    if (!write.deleted) {
        write.value = film_datum_take(&input);
    }
    return write;
}

static bool
is_owner(gathering *at, const film_scene *scene, uint32_t index)
{
    film_datum owner = film_scene_token(scene, index, 0);

    return film_timeline_serial(at->timeline, &owner) == at->serial;
}

static bool
is_write(const gathering *at, const film_scene_event *event)
{
    return (event->kind == FILM_KIND_SET || event->kind == FILM_KIND_DELETE) &&
           event->form == (at->attributes ? FILM_SET_ATTRIBUTE : FILM_SET_ITEM);
}

/* The writes of a block from event `end` - 1 back to `begin`, by its scene. */
static film_status
gather_scene(gathering *at, uint32_t thread, uint64_t block, uint64_t begin,
             uint64_t end, film_error *error)
{
    film_scene *scene;

    FILM_TRY(film_timeline_scene(at->timeline, thread, block, &scene, error));
    if (end > scene->first + scene->count) {
        end = scene->first + scene->count;
    }
    for (; end > scene->first && end > begin; end--) {
        uint32_t index = (uint32_t)(end - 1 - scene->first);
        if (is_write(at, &scene->events[index]) && is_owner(at, scene, index)) {
            film_object_write write = write_of_scene(at, scene, index);
            FILM_TRY(keep(at, &write, error));
        }
    }
    return FILM_OK;
}

/* The same by the list of its writes. */
static film_status
gather_list(gathering *at, uint32_t thread, uint64_t block, uint64_t begin,
            uint64_t end, film_error *error)
{
    film_timeline *timeline = at->timeline;
    const film_writes_list *list;

    FILM_TRY(film_writes_of_block(&timeline->writes, timeline->reader, thread, block,
                                  &list, error));
    for (size_t i = list->count; i > 0; i--) {
        const film_block_write *told = &list->items[i - 1];
        uint64_t number = (block << FILM_CHUNK_SHIFT) + told->index;
        if (told->serial == at->serial && (told->name != 0) == at->attributes &&
            number >= begin && number < end) {
            film_object_write write = write_of_list(at, list, told);
            FILM_TRY(keep(at, &write, error));
        }
    }
    return FILM_OK;
}

/* One thread's writes from event `end` - 1 back to `begin`. */
static film_status
gather_thread(gathering *at, uint32_t thread, uint64_t begin, uint64_t end,
              film_error *error)
{
    film_timeline *timeline = at->timeline;

    while (end > begin && !at->out->more) {
        uint64_t block =
            film_timeline_block(timeline, thread, (end - 1) >> FILM_CHUNK_SHIFT, true);
        film_status status;
        if (block == UINT64_MAX) {
            return FILM_OK;
        }
        at->wanted = false;
        if (!film_postings_writes(&timeline->postings, thread, block, at->serial, ask,
                                  at) ||
            at->wanted) {
            status = film_timeline_has_scene(timeline, thread, block)
                         ? gather_scene(at, thread, block, begin, end, error)
                         : gather_list(at, thread, block, begin, end, error);
            if (status == FILM_END) {
                return FILM_OK;
            }
            FILM_TRY(status);
        }
        end = block << FILM_CHUNK_SHIFT;
    }
    return FILM_OK;
}

/* How many value ids were told before a block; false: not known. */
static bool
watermark_of(film_timeline *timeline, uint32_t thread, uint64_t block,
             uint64_t *watermark)
{
    size_t length;
    const uint8_t *bytes =
        film_postings_summary(&timeline->postings, thread, block, &length);
    film_input body;

    if (length == 0 ||
        film_summary_section(bytes, length, FILM_SECTION_MARKS, &body) != FILM_OK) {
        return false;
    }
    *watermark = film_input_varint(&body);
    return !body.failed;
}

/* The first event of the thread that tells a value id not lower than `id`; its
 * end_event if there is none before `end`. */
static film_status
first_telling(film_timeline *timeline, uint32_t thread, uint64_t id, uint64_t end,
              uint64_t *event, film_error *error)
{
    const film_track *track = film_tracks_find(&timeline->reader->tracks, thread);
    uint64_t low = track->info.first_event >> FILM_CHUNK_SHIFT;
    uint64_t high = end == 0 ? low : ((end - 1) >> FILM_CHUNK_SHIFT) + 1, watermark;

    /* The last block before which no such id was told. */
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (watermark_of(timeline, thread, middle, &watermark) && watermark <= id) {
            low = middle;
        }
        else if (watermark_of(timeline, thread, middle, &watermark)) {
            high = middle;
        }
        else { /* behind the chunks */
            uint64_t sealed = track->sealed_end >> FILM_CHUNK_SHIFT;
            if (middle < sealed || sealed <= low) {
                break;
            }
            if (watermark_of(timeline, thread, sealed - 1, &watermark) &&
                watermark > id) {
                high = sealed - 1 > low ? sealed - 1 : low + 1;
            }
            else {
                break;
            }
        }
    }
    for (low = film_timeline_block(timeline, thread, low, false);
         low != UINT64_MAX && low << FILM_CHUNK_SHIFT < end;
         low = film_timeline_block(timeline, thread, low + 1, false)) {
        film_scene *scene;
        film_status status = film_timeline_scene(timeline, thread, low, &scene, error);
        if (status == FILM_END) {
            continue;
        }
        FILM_TRY(status);
        for (uint32_t i = 0; i < scene->count; i++) {
            if (scene->watermark + scene->events[i].mark > id) {
                *event = scene->first + i;
                return FILM_OK;
            }
        }
    }
    *event = track->info.end_event;
    return FILM_OK;
}

/* When a record was made: behind which moment writes count. FILM_END: at no event. */
static film_status
made_at(film_timeline *timeline, film_moment moment, uint64_t id, film_moment *out,
        film_error *error)
{
    uint64_t best = UINT64_MAX;

    out->thread = 0;
    for (size_t i = 0; i < film_reader_thread_count(timeline->reader); i++) {
        const film_thread_info *info = film_reader_thread(timeline->reader, i);
        film_scene *scene;
        uint64_t end, event;
        uint32_t index;
        FILM_TRY(film_timeline_behind(timeline, moment, info->id, &end, error));
        FILM_TRY(first_telling(timeline, info->id, id, end, &event, error));
        if (event >= end) {
            continue;
        }
        FILM_TRY(film_timeline_locate(timeline, film_moment_of(info->id, event), &scene,
                                      &index, error));
        if (scene->events[index].time_ns < best) {
            best = scene->events[index].time_ns;
            *out = film_moment_of(info->id, event);
        }
    }
    return out->thread == 0 ? FILM_END : FILM_OK;
}

static int
by_time(const void *a, const void *b)
{
    const film_object_write *left = a, *right = b;

    if (left->time_ns != right->time_ns) {
        return left->time_ns < right->time_ns ? -1 : 1;
    }
    if (left->moment.thread != right->moment.thread) {
        return left->moment.thread < right->moment.thread ? -1 : 1;
    }
    return left->moment.event < right->moment.event
               ? -1
               : left->moment.event > right->moment.event;
}

/* Whether a block can hold writes to the object. */
static bool
may_hold(gathering *at, uint32_t thread, uint64_t block)
{
    at->wanted = false;
    return !film_postings_writes(&at->timeline->postings, thread, block, at->serial,
                                 ask, at) ||
           at->wanted;
}

/* The last block before `block` that can hold writes to the object, + 1; 0: none. */
static uint64_t
block_before(gathering *at, uint32_t thread, uint64_t block)
{
    film_write_memo *memo =
        &at->timeline
             ->write_memos[(at->serial * 2 + at->attributes) % FILM_TIMELINE_MEMOS];
    bool known = memo->serial == at->serial && memo->thread == thread &&
                 memo->attributes == at->attributes && memo->block <= block;
    uint64_t found = block;

    while (found > 0 && !(known && found <= memo->block)) {
        uint64_t near = film_timeline_block(at->timeline, thread, found - 1, true);
        found = near == UINT64_MAX ? 0 : near + 1;
        if (found == 0 || (known && found <= memo->block) ||
            may_hold(at, thread, found - 1)) {
            break;
        }
        found--;
    }
    if (known && found <= memo->block) {
        found = memo->last;
    }
    *memo = (film_write_memo){.serial = at->serial,
                              .block = block,
                              .last = found,
                              .thread = thread,
                              .attributes = at->attributes};
    return found;
}

/* Whether anything was written to it in a thread at all, as far as summaries say. */
static bool
may_be_written(gathering *at, uint32_t thread, uint64_t end)
{
    uint64_t block = end == 0 ? 0 : (end - 1) >> FILM_CHUNK_SHIFT;

    return end > 0 &&
           (may_hold(at, thread, block) || block_before(at, thread, block) > 0);
}

film_status
film_content_writes(film_timeline *timeline, film_moment moment, uint64_t serial,
                    uint64_t id, bool attributes, film_object_writes *out,
                    film_error *error)
{
    gathering at = {
        .timeline = timeline, .serial = serial, .attributes = attributes, .out = out};
    film_moment made;
    bool has_made = false;
    film_status status;

    out->count = 0;
    out->more = false;
    FILM_TRY(film_postings_load(&timeline->postings, timeline->reader, error));
    for (size_t i = 0; i < film_reader_thread_count(timeline->reader); i++) {
        uint32_t thread = film_reader_thread(timeline->reader, i)->id;
        uint64_t begin, end;
        FILM_TRY(film_timeline_behind(timeline, moment, thread, &end, error));
        at.resolved_from = out->count;
        if (!may_be_written(&at, thread, end)) {
            continue;
        }
        if (!has_made) {
            status = made_at(timeline, moment, id, &made, error);
            if (status == FILM_END) {
                return FILM_OK;
            }
            FILM_TRY(status);
            has_made = true;
        }
        FILM_TRY(film_timeline_behind(timeline, made, thread, &begin, error));
        FILM_TRY(gather_thread(&at, thread, begin, end, error));
    }
    if (out->count > 1) {
        qsort(out->items, out->count, sizeof(*out->items), by_time);
    }
    return FILM_OK;
}
