/* scene.c: see scene.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/scene.h"

#include <string.h>

#include "analysis/kinds.h"
#include "analysis/scene_build.h"
#include "analysis/scene_cells.h"
#include "base/alloc.h"
#include "format/keyframe.h"
#include "format/summary.h"
#include "reader/reader_state.h"

void
film_scene_reset(film_scene *scene)
{
    film_free(scene->events);
    film_free(scene->nodes);
    film_free(scene->extras);
    film_free(scene->local_offsets);
    film_free(scene->calls);
    film_free(scene->restored);
    film_scene_cells_free(scene->cells);
    film_buffer_reset(&scene->tokens);
    film_buffer_reset(&scene->keyframe);
    memset(scene, 0, sizeof(*scene));
}

static void
read_keyframe(film_reader *reader, film_scene *scene)
{
    const uint8_t *summary;
    size_t length;
    film_input body;

    if (film_reader_raw_keyframe(reader, scene->thread, scene->block,
                                 &scene->keyframe) != FILM_OK) {
        film_buffer_clear(&scene->keyframe);
        return;
    }
    body = film_input_of(scene->keyframe.data, scene->keyframe.length);
    for (unsigned i = 0; i < 4; i++) { /* event, tick, next and last serial */
        film_input_varint(&body);
    }
    scene->task = film_input_varint(&body);
    scene->task_name = film_input_varint32(&body);
    scene->has_locals =
        film_keyframe_section(scene->keyframe.data, scene->keyframe.length,
                              FILM_KEYFRAME_LOCALS, &body) == FILM_OK;
    summary = film_loader_summary(&reader->loader, &length);
    if (film_summary_section(summary, length, FILM_SECTION_MARKS, &body) == FILM_OK) {
        uint64_t watermark = film_input_varint(&body);
        scene->has_watermark = !body.failed;
        scene->watermark = body.failed ? scene->watermark : watermark;
    }
}

film_status
film_scene_read(film_reader *reader, uint32_t thread, uint64_t block, film_scene *scene,
                film_error *error)
{
    const film_track *track = film_tracks_find(&reader->tracks, thread);
    uint64_t end = (block + 1) << FILM_CHUNK_SHIFT;
    film_cursor *cursor;
    film_status status;

    memset(scene, 0, sizeof(*scene));
    scene->thread = thread;
    scene->block = block;
    scene->first = block << FILM_CHUNK_SHIFT;
    if (track == NULL || scene->first >= track->info.end_event) {
        return FILM_END;
    }
    if (scene->first < track->info.first_event) {
        scene->first = track->info.first_event;
    }
    if (scene->first >= end) {
        return FILM_END;
    }
    scene->events =
        film_alloc_array((size_t)(end - scene->first), sizeof(*scene->events));
    /* Room for tokens, though there may be none: places in it are counted from it. */
    if (scene->events == NULL || film_buffer_reserve(&scene->tokens, 1) == NULL) {
        film_scene_reset(scene);
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    read_keyframe(reader, scene);
    status = film_cursor_open(reader, thread, scene->first, &cursor, error);
    if (status == FILM_OK) {
        status = film_scene_build(scene, cursor, end, error);
        film_cursor_close(cursor);
    }
    if (status == FILM_OK) {
        scene->bytes = (size_t)(end - scene->first) * sizeof(*scene->events) +
                       scene->node_capacity * sizeof(*scene->nodes) +
                       scene->extra_capacity * sizeof(*scene->extras) +
                       scene->call_capacity * sizeof(*scene->calls) +
                       scene->restored_capacity * sizeof(*scene->restored) +
                       scene->tokens.capacity + scene->keyframe.capacity;
    }
    else {
        film_scene_reset(scene);
    }
    return status;
}

void
film_scene_event_of(const film_scene *scene, uint32_t index, film_event *event)
{
    const film_scene_event *kept = &scene->events[index];
    const film_scene_extra *extra =
        kept->extra == 0 ? NULL : &scene->extras[kept->extra - 1];

    memset(event, 0, sizeof(*event));
    event->number = scene->first + index;
    event->time_ns = kept->time_ns;
    event->thread = scene->thread;
    event->kind = kept->kind;
    event->form = kept->form;
    event->offset = kept->offset;
    event->code = event->caller_code = FILM_NO_CODE;
    event->caller_offset = FILM_NO_OFFSET;
    event->length_before = -1;
    event->tokens =
        scene->tokens.data == NULL ? NULL : scene->tokens.data + kept->tokens;
    event->tokens_length = kept->tokens_length;
    event->token_count = kept->token_count;
    if (kept->kind == FILM_KIND_SET || kept->kind == FILM_KIND_DELETE) {
        *(film_set_is_named(kept->form) ? &event->name : &event->slot) = kept->number;
    }
    if (extra != NULL) {
        event->count = extra->count;
        event->value = extra->value;
        event->length_before = extra->length_before;
        event->text = extra->text;
        event->op = extra->op;
        if (kept->kind == FILM_KIND_OP) {
            event->name = extra->name;
            event->module = extra->module;
            event->api = extra->api;
            event->slot = extra->positional;
        }
        event->cut = extra->cut;
    }
    if (kept->node != 0 && (extra == NULL || !extra->frameless)) {
        const film_node *node = &scene->nodes[kept->node - 1];
        event->frame = node->serial;
        event->code = node->code;
        event->depth = node->depth;
        if (film_kind_enters(kept->kind) && node->parent != 0) {
            event->caller_code = scene->nodes[node->parent - 1].code;
            event->caller_offset = node->site == 0 ? FILM_NO_OFFSET : node->site - 1;
        }
    }
}
