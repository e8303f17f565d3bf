/* timeline_variables.c: the variables of a frame at a moment: its own, those it shares
 * with other frames, globals.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "analysis/closures.h"
#include "analysis/questions.h"
#include "analysis/timeline_state.h"
#include "base/alloc.h"

/* Slots whose cells are looked for. */
#define MOST_CELLS 256u

/* The body of a class is none, also where it has no names of its own yet. */
static bool
is_module_body(const film_code *code)
{
    return code->qualname.length == 8 &&
           memcmp(code->qualname.data, "<module>", 8) == 0;
}

static void
describe(const film_timeline *timeline, const film_scene *scene, const film_code *code,
         const film_slot *slot, film_variable *out)
{
    memset(out, 0, sizeof(*out));
    out->value = slot->value;
    out->changed = slot->changed;
    out->slot = UINT32_MAX;
    if (slot->wrote != UINT64_MAX) {
        out->wrote = film_moment_of(slot->writer != 0 ? slot->writer : scene->thread,
                                    slot->wrote);
    }
    if (slot->is_name) {
        out->name = film_reader_string(timeline->reader, slot->number);
        out->scope = FILM_SCOPE_CLASS;
        return;
    }
    out->name = film_reader_string(timeline->reader, code->locals[slot->number]);
    out->slot = slot->number;
    out->scope = (code->local_kinds[slot->number] & FILM_LOCAL_FREE) != 0
                     ? FILM_SCOPE_NONLOCAL
                     : FILM_SCOPE_LOCAL;
    out->shared = (code->local_kinds[slot->number] & FILM_LOCAL_SHARED) != 0;
}

static bool
is_hidden(film_text name)
{
    return name.length == 0 || name.data[0] == '.';
}

/* --- the interface --- */

static film_status
add_variable(film_timeline *timeline, size_t *count, const film_variable *variable,
             film_error *error)
{
    film_variable *to = film_grow(timeline->variables, &timeline->variable_capacity,
                                  *count + 1, sizeof(*to));

    if (to == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    timeline->variables = to;
    to[(*count)++] = *variable;
    return FILM_OK;
}

static film_status
add_globals(film_timeline *timeline, film_moment moment, uint32_t code, uint64_t since,
            size_t *count, film_error *error)
{
    const film_code *of = film_reader_code(timeline->reader, code);

    if (of == NULL) {
        return FILM_OK;
    }
    FILM_TRY(film_timeline_find_globals(timeline, moment, of, error));
    for (size_t i = 0; i < timeline->slot_count; i++) {
        const film_slot *slot = &timeline->slots[i];
        film_variable variable;
        if (slot->value.length == 0) {
            continue;
        }
        memset(&variable, 0, sizeof(variable));
        variable.value = slot->value;
        variable.name = film_reader_string(timeline->reader, slot->number);
        variable.wrote = film_moment_of(slot->writer, slot->wrote);
        variable.scope = FILM_SCOPE_GLOBAL;
        variable.slot = UINT32_MAX;
        variable.changed =
            variable.wrote.thread == moment.thread && variable.wrote.event > since;
        FILM_TRY(add_variable(timeline, count, &variable, error));
    }
    return FILM_OK;
}

/* The scene and place of a frame at a moment. */
static film_status
place_of(film_timeline *timeline, film_moment moment, size_t index, film_scene **scene,
         film_place *place, film_error *error)
{
    uint32_t at;

    FILM_TRY(film_timeline_locate(timeline, moment, scene, &at, error));
    FILM_TRY(film_timeline_places(timeline, *scene, at, error));
    if (index >= timeline->place_count) {
        return film_fail(error, FILM_MISUSE, "there is no frame %zu", index);
    }
    *place = timeline->places[index];
    return FILM_OK;
}

/* Variables of outer functions that this frame has not written itself. */
static film_status
add_cells(film_timeline *timeline, film_moment moment, size_t index,
          const film_code *code, const bool *known, size_t *count, film_error *error)
{
    film_scene *scene;
    uint32_t at;

    for (uint32_t slot = 0; slot < code->local_count && slot < MOST_CELLS; slot++) {
        film_slot held;
        film_variable variable;
        film_status status;
        if (known[slot] || (code->local_kinds[slot] & FILM_LOCAL_FREE) == 0) {
            continue;
        }
        /* Looking for the one before may have let go of the scene. */
        FILM_TRY(film_timeline_locate(timeline, moment, &scene, &at, error));
        FILM_TRY(film_timeline_places(timeline, scene, at, error));
        status = film_timeline_cell(timeline, scene, index, slot, &held, error);
        if (status == FILM_END) {
            continue;
        }
        FILM_TRY(status);
        held.number = slot;
        describe(timeline, scene, code, &held, &variable);
        FILM_TRY(add_variable(timeline, count, &variable, error));
    }
    return FILM_OK;
}

/* The event of the line that the frame has just run: writes behind it are its own. */
static uint64_t
line_before(const film_scene *scene, film_place place)
{
    unsigned lines =
        place.at != 0 && scene->events[place.at - 1].kind == FILM_KIND_LINE ? 0 : 1;

    for (uint32_t at = place.at; at != 0; at = scene->events[at - 1].previous) {
        if (scene->events[at - 1].kind == FILM_KIND_LINE && ++lines > 1) {
            return scene->first + at - 1;
        }
    }
    return scene->first;
}

/* The variables of the frame that others share, into timeline->shared. */
static film_status
find_shared(film_timeline *timeline, film_moment moment, size_t index,
            const film_code *code, uint64_t since, size_t *count, film_error *error)
{
    film_scene *scene;
    film_place place = {0};
    film_status status;

    *count = 0;
    for (uint32_t slot = 0; code != NULL && slot < code->local_count; slot++) {
        film_slot *shared;
        if ((code->local_kinds[slot] & FILM_LOCAL_SHARED) == 0) {
            continue;
        }
        shared = film_grow(timeline->shared, &timeline->shared_capacity, *count + 1,
                           sizeof(*shared));
        if (shared == NULL) {
            return film_fail(error, FILM_NO_MEMORY, "memory ran out");
        }
        timeline->shared = shared;
        FILM_TRY(place_of(timeline, moment, index, &scene, &place, error));
        status = film_timeline_shared(timeline, scene,
                                      (uint32_t)(moment.event - scene->first),
                                      place.node, slot, &shared[*count], error);
        if (status == FILM_END) {
            continue;
        }
        FILM_TRY(status);
        FILM_TRY(film_timeline_shared_elsewhere(timeline, moment, index, slot,
                                                &shared[*count], error));
        shared[*count].changed = shared[*count].writer == 0 &&
                                 shared[*count].wrote != UINT64_MAX &&
                                 shared[*count].wrote > since;
        ++*count;
    }
    return FILM_OK;
}

film_status
film_timeline_variables(film_timeline *timeline, film_moment moment, size_t index,
                        const film_variable **variables, size_t *count,
                        film_error *error)
{
    film_scene *scene;
    film_place place;
    const film_code *code;
    uint64_t since;
    uint32_t code_id;
    bool known[MOST_CELLS] = {false};
    size_t shared_count;

    *count = 0;
    FILM_TRY(place_of(timeline, moment, index, &scene, &place, error));
    code_id = scene->nodes[place.node].code;
    since = line_before(scene, place);
    code = film_reader_code(timeline->reader, code_id);
    FILM_TRY(find_shared(timeline, moment, index, code, since, &shared_count, error));
    FILM_TRY(place_of(timeline, moment, index, &scene, &place, error));
    FILM_TRY(film_timeline_slots(timeline, scene, place, UINT32_MAX, error));
    for (size_t i = 0; i < shared_count; i++) {
        timeline->slots[timeline->shared[i].number] = timeline->shared[i];
    }
    for (size_t i = 0; i < timeline->slot_count; i++) {
        film_variable variable;
        if (i < MOST_CELLS) {
            known[i] = timeline->slots[i].known;
        }
        if (timeline->slots[i].value.length == 0) {
            continue;
        }
        describe(timeline, scene, code, &timeline->slots[i], &variable);
        if (!is_hidden(variable.name)) {
            FILM_TRY(add_variable(timeline, count, &variable, error));
        }
    }
    if (code != NULL && is_module_body(code) &&
        timeline->slot_count == code->local_count) {
        FILM_TRY(add_globals(timeline, moment, code_id, since, count, error));
    }
    else if (code != NULL) {
        FILM_TRY(add_cells(timeline, moment, index, code, known, count, error));
    }
    *variables = timeline->variables;
    return FILM_OK;
}

/* The code of the body of a module; NULL: it was not recorded. */
static const film_code *
body_of(const film_timeline *timeline, film_text module)
{
    for (size_t i = 0; i < film_reader_code_count(timeline->reader); i++) {
        const film_code *code = film_reader_code(timeline->reader, (uint32_t)i);
        if (code != NULL && is_module_body(code) &&
            code->module.length == module.length &&
            memcmp(code->module.data, module.data, module.length) == 0) {
            return code;
        }
    }
    return NULL;
}

film_status
film_timeline_globals(film_timeline *timeline, film_moment moment, size_t index,
                      const film_variable **variables, size_t *count, film_error *error)
{
    film_scene *scene;
    film_place place = {0};
    const film_code *code, *body;

    *count = 0;
    *variables = timeline->variables;
    FILM_TRY(place_of(timeline, moment, index, &scene, &place, error));
    code = film_reader_code(timeline->reader, scene->nodes[place.node].code);
    if (code == NULL) {
        return FILM_OK;
    }
    body = body_of(timeline, code->module);
    FILM_TRY(add_globals(timeline, moment, body == NULL ? code->id : body->id,
                         line_before(scene, place), count, error));
    *variables = timeline->variables;
    return FILM_OK;
}

static uint32_t
find_string(const film_timeline *timeline, const uint32_t *ids, uint32_t count,
            const char *name)
{
    size_t length = strlen(name);

    for (uint32_t i = 0; i < count; i++) {
        film_text text = film_reader_string(timeline->reader, ids[i]);
        if (text.length == length && memcmp(text.data, name, length) == 0) {
            return i;
        }
    }
    return UINT32_MAX;
}

/* The id of a name among all strings; 0: it never was written. */
static uint32_t
string_id(const film_timeline *timeline, const film_code *code, const char *name)
{
    uint32_t at = find_string(timeline, code->names, code->name_count, name);

    return at != UINT32_MAX ? code->names[at]
                            : film_timeline_string_id(timeline, name, strlen(name));
}

film_status
film_timeline_variable(film_timeline *timeline, film_moment moment, size_t index,
                       const char *name, film_variable *out, film_error *error)
{
    film_scene *scene;
    film_place place;
    const film_code *code;
    uint32_t code_id, slot, id;

    FILM_TRY(place_of(timeline, moment, index, &scene, &place, error));
    code_id = scene->nodes[place.node].code;
    code = film_reader_code(timeline->reader, code_id);
    if (code == NULL) {
        return FILM_END;
    }
    slot = find_string(timeline, code->locals, code->local_count, name);
    if (slot != UINT32_MAX && (code->local_kinds[slot] & FILM_LOCAL_SHARED) != 0) {
        film_slot held;
        film_status status = film_timeline_shared(
            timeline, scene, (uint32_t)(moment.event - scene->first), place.node, slot,
            &held, error);
        if (status == FILM_OK) {
            FILM_TRY(film_timeline_shared_elsewhere(timeline, moment, index, slot,
                                                    &held, error));
            FILM_TRY(place_of(timeline, moment, index, &scene, &place, error));
            describe(timeline, scene, code, &held, out);
            return out->value.length > 0 ? FILM_OK : FILM_END;
        }
        if (status != FILM_END) {
            return status;
        }
        FILM_TRY(place_of(timeline, moment, index, &scene, &place, error));
    }
    FILM_TRY(film_timeline_slots(timeline, scene, place, slot, error));
    for (size_t i = 0; i < timeline->slot_count; i++) {
        if (timeline->slots[i].known) {
            describe(timeline, scene, code, &timeline->slots[i], out);
            if (out->name.length == strlen(name) &&
                memcmp(out->name.data, name, out->name.length) == 0) {
                return out->value.length > 0 ? FILM_OK : FILM_END;
            }
        }
    }
    if (slot != UINT32_MAX && (code->local_kinds[slot] & FILM_LOCAL_FREE) != 0) {
        film_slot held;
        FILM_TRY(place_of(timeline, moment, index, &scene, &place, error));
        FILM_TRY(film_timeline_cell(timeline, scene, index, slot, &held, error));
        held.number = slot;
        describe(timeline, scene, code, &held, out);
        return FILM_OK;
    }
    if (slot != UINT32_MAX || (id = string_id(timeline, code, name)) == 0) {
        return FILM_END;
    }
    memset(out, 0, sizeof(*out));
    FILM_TRY(film_timeline_global(timeline, moment, code_id, id, &out->value,
                                  &out->wrote, error));
    out->name = film_reader_string(timeline->reader, id);
    out->scope = FILM_SCOPE_GLOBAL;
    out->slot = UINT32_MAX;
    return out->value.length > 0 ? FILM_OK : FILM_END;
}
