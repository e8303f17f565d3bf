/* scene_keyframe.c: what the keyframe of a scene's chunk tells of variables and tasks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/scene.h"
#include "base/alloc.h"
#include "format/keyframe.h"
#include "format/locals.h"

uint64_t
film_scene_task(const film_scene *scene, uint32_t index, uint32_t *name)
{
    for (uint32_t i = index + 1; i > 0; i--) {
        const film_scene_event *event = &scene->events[i - 1];
        if (event->kind == FILM_KIND_TASK && event->extra != 0) {
            *name = scene->extras[event->extra - 1].text;
            return scene->extras[event->extra - 1].count;
        }
    }
    *name = scene->task_name;
    return scene->task;
}

/* Notes where each frame's variables begin. */
static film_status
index_locals(film_scene *scene)
{
    size_t capacity = 0;
    film_input body;

    FILM_TRY(film_keyframe_section(scene->keyframe.data, scene->keyframe.length,
                                   FILM_KEYFRAME_LOCALS, &body));
    scene->local_offset_count = 0;
    while (film_input_left(&body) > 0) {
        film_locals_reader reader;
        const uint8_t *token;
        size_t length;
        uint32_t number;
        bool is_name;
        uint32_t *offsets = film_grow(scene->local_offsets, &capacity,
                                      scene->local_offset_count + 1, sizeof(*offsets));
        if (offsets == NULL) {
            return FILM_NO_MEMORY;
        }
        scene->local_offsets = offsets;
        offsets[scene->local_offset_count++] =
            (uint32_t)(body.at - scene->keyframe.data);
        film_locals_reader_begin(&reader, body);
        while (film_locals_reader_next(&reader, &is_name, &number, &token, &length)) {
        }
        if (reader.input.failed || reader.input.at == body.at) {
            return FILM_CORRUPT;
        }
        body = reader.input;
    }
    return FILM_OK;
}

film_status
film_scene_told_locals(film_scene *scene, uint32_t index, film_input *out)
{
    if (!scene->has_locals) {
        return FILM_END;
    }
    if (scene->local_offsets == NULL) {
        film_status status = index_locals(scene);
        if (status == FILM_NO_MEMORY) {
            return status;
        }
    }
    if (scene->local_offsets == NULL || index >= scene->local_offset_count) {
        return FILM_END;
    }
    *out = film_input_of(scene->keyframe.data + scene->local_offsets[index],
                         scene->keyframe.length - scene->local_offsets[index]);
    return FILM_OK;
}

film_status
film_scene_resumed_locals(const film_scene *scene, uint64_t serial, film_input *out)
{
    film_input body;
    uint64_t count;

    if (film_keyframe_section(scene->keyframe.data, scene->keyframe.length,
                              FILM_KEYFRAME_RESUMED, &body) != FILM_OK) {
        return FILM_END;
    }
    count = film_input_varint(&body);
    while (count-- > 0 && !body.failed) {
        film_locals_reader reader;
        const uint8_t *token;
        size_t length;
        uint32_t number;
        bool is_name, found = film_input_varint(&body) == serial;
        if (found) {
            *out = body;
            return FILM_OK;
        }
        film_locals_reader_begin(&reader, body);
        while (film_locals_reader_next(&reader, &is_name, &number, &token, &length)) {
        }
        body = reader.input;
    }
    return FILM_END;
}
