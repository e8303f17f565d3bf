/* objwatch_state.c: see objwatch_state.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/objwatch_state.h"

#include <string.h>

#include "base/alloc.h"
#include "reader/reader_state.h"

#define NESTING 4u /* how deep attributes of attributes are taken in */

void
film_watch_init(film_watch *state, film_reader *reader)
{
    memset(state, 0, sizeof(*state));
    state->reader = reader;
    state->time = 1;
}

void
film_seen_frame_free(film_seen_frame *frame)
{
    if (frame != NULL) {
        film_free(frame->locals.items);
        film_free(frame);
    }
}

void
film_watch_reset(film_watch *state)
{
    for (size_t i = 0; i < state->object_count; i++) {
        film_free(state->objects[i]->attributes.items);
        film_free(state->objects[i]->items);
        film_free(state->objects[i]);
    }
    for (size_t i = 0; i < state->suspended_count; i++) {
        film_seen_frame_free(state->suspended[i]);
    }
    for (size_t i = 0; i < state->thread_capacity; i++) {
        for (size_t k = 0; k < state->threads[i].depth; k++) {
            film_seen_frame_free(state->threads[i].stack[k]);
        }
        film_free(state->threads[i].stack);
    }
    for (size_t i = 0; i < state->module_count; i++) {
        film_free(state->modules[i].globals.items);
        film_free((void *)(uintptr_t)state->modules[i].name.data);
    }
    film_intern_reset(&state->object_places);
    film_free(state->objects);
    film_free(state->suspended);
    film_free(state->threads);
    film_free(state->modules);
    memset(state, 0, sizeof(*state));
}

/* --- objects --- */

static film_seen_object *
find_object(const film_watch *state, uint64_t serial)
{
    uint32_t place;

    return film_intern_find(&state->object_places, serial + 1, &place)
               ? state->objects[place]
               : NULL;
}

static film_seen_object *
add_object(film_watch *state, uint64_t serial)
{
    film_seen_object **objects =
        film_grow(state->objects, &state->object_capacity, state->object_count + 1,
                  sizeof(film_seen_object *));
    film_seen_object *object = film_alloc(sizeof(*object));

    if (objects != NULL) {
        state->objects = objects;
    }
    if (objects == NULL || object == NULL || state->object_count >= UINT32_MAX ||
        !film_intern_add(&state->object_places, serial + 1,
                         (uint32_t)state->object_count)) {
        state->failed = true;
        film_free(object);
        return NULL;
    }
    object->serial = serial;
    object->length = -1;
    state->objects[state->object_count++] = object;
    return object;
}

film_seen_object *
film_watch_object(const film_watch *state, const film_held *held)
{
    return held->object == 0 ? NULL : find_object(state, held->object - 1);
}

static film_held
take(film_watch *state, film_input *input, unsigned nesting);

/* What the record says the attributes are; those it does not name are gone. */
static void
load_attributes(film_watch *state, film_seen_object *object, film_value_record *record,
                unsigned nesting)
{
    uint8_t *copy = film_alloc(film_input_left(&record->rest));
    film_input input = film_input_of(copy, film_input_left(&record->rest));

    if (copy == NULL) {
        state->failed = true;
        return;
    }
    /* Taking a token may read other records over this one. */
    memcpy(copy, record->rest.at, film_input_left(&record->rest));
    for (size_t i = 0; i < object->attributes.count; i++) {
        object->attributes.items[i].now.length = 0;
    }
    for (uint64_t i = 0; i < record->count && !input.failed; i++) {
        uint32_t name = film_input_varint32(&input);
        film_held value = take(state, &input, nesting + 1);
        film_seen_variable *variable;

        if (input.failed) {
            break;
        }
        variable = film_scope_find(state, &object->attributes, name, true);
        if (variable != NULL) {
            film_seen_object *held = film_watch_object(state, &value);
            variable->now = value;
            if (held != NULL) {
                held->held_by =
                    (film_held_by){'a', name, object->type, object->serial + 1};
            }
        }
    }
    film_free(copy);
}

/* A token names a value record: what it tells of an object. Gives serial + 1, or 0. */
static uint64_t
take_record(film_watch *state, const film_token *token, unsigned nesting)
{
    film_value_record record;
    film_seen_object *object;
    film_status status = film_reader_record(state->reader, token->value, &record, NULL);

    state->failed = state->failed || status == FILM_NO_MEMORY;
    if (status != FILM_OK || record.form == 0 || record.serial == UINT64_MAX) {
        return 0;
    }
    object = find_object(state, record.serial);
    if (object == NULL) {
        object = add_object(state, record.serial);
        if (object == NULL) {
            return 0;
        }
    }
    else if (object->record == token->value + 1 &&
             (token->kind == FILM_TOKEN_OBJECT || !object->loaded)) {
        return record.serial + 1; /* told before; its attributes are written since */
    }
    else if (object->record > token->value + 1 && token->kind == FILM_TOKEN_OBJECT) {
        return record.serial + 1; /* its store was read before it happened, and what
                                     happened has told more */
    }
    object->record = token->value + 1;
    object->type = record.type;
    object->form = record.form;
    object->flags = record.flags;
    object->length = record.length;
    object->loaded = false;
    object->count = 0;
    state->time++;
    if (record.form == FILM_OBJECT_ATTRIBUTES && nesting < NESTING) {
        load_attributes(state, object, &record, nesting);
    }
    return object->serial + 1;
}

static film_held
take(film_watch *state, film_input *input, unsigned nesting)
{
    film_held held = {0};
    const uint8_t *begin = input->at;
    film_token token = film_token_decode(input);
    size_t length = (size_t)(input->at - begin);

    if (input->failed || token.kind == FILM_TOKEN_UNBOUND ||
        length > sizeof(held.bytes)) {
        return held;
    }
    memcpy(held.bytes, begin, length);
    held.length = (uint8_t)length;
    if (token.kind == FILM_TOKEN_VALUE || token.kind == FILM_TOKEN_OBJECT) {
        held.object = take_record(state, &token, nesting);
    }
    else if (token.kind == FILM_TOKEN_CYCLE && token.value != UINT64_MAX) {
        held.object = token.value + 1;
    }
    return held;
}

film_held
film_watch_take(film_watch *state, film_input *input)
{
    return take(state, input, 0);
}

film_held
film_watch_peek(film_watch *state, film_input input)
{
    film_held held = {0};
    const uint8_t *begin = input.at;
    film_token token = film_token_decode(&input);
    size_t length = (size_t)(input.at - begin);
    film_value_record record;

    if (input.failed || length > sizeof(held.bytes)) {
        return held;
    }
    memcpy(held.bytes, begin, length);
    held.length = (uint8_t)length;
    if ((token.kind == FILM_TOKEN_VALUE || token.kind == FILM_TOKEN_OBJECT) &&
        film_reader_record(state->reader, token.value, &record, NULL) == FILM_OK &&
        record.form != 0 && record.serial != UINT64_MAX) {
        held.object = record.serial + 1;
    }
    return held;
}

/* --- containers --- */

static bool
add_item(film_watch *state, film_seen_object *object, const film_held *key,
         const film_held *value)
{
    film_seen_item *items =
        film_grow(object->items, &object->capacity, object->count + 1, sizeof(*items));

    if (items == NULL) {
        state->failed = true;
        return false;
    }
    object->items = items;
    items[object->count].key = *key;
    items[object->count++].value = *value;
    return true;
}

void
film_watch_load(film_watch *state, film_seen_object *object)
{
    film_value_record record;
    film_held none = {0};
    film_input input;
    uint8_t *copy;

    if (object->loaded || object->record == 0) {
        return;
    }
    object->loaded = true;
    object->count = 0;
    if (film_reader_record(state->reader, object->record - 1, &record, NULL) !=
            FILM_OK ||
        (record.form != FILM_OBJECT_SEQUENCE && record.form != FILM_OBJECT_MAPPING)) {
        return;
    }
    copy = film_alloc(film_input_left(&record.rest));
    if (copy == NULL) {
        state->failed = true;
        return;
    }
    memcpy(copy, record.rest.at, film_input_left(&record.rest));
    input = film_input_of(copy, film_input_left(&record.rest));
    for (uint64_t i = 0; i < record.count && !input.failed; i++) {
        film_held key = record.form == FILM_OBJECT_MAPPING
                            ? take(state, &input, NESTING - 1)
                            : none;
        film_held value = take(state, &input, NESTING - 1);
        if (input.failed || !add_item(state, object, &key, &value)) {
            break;
        }
    }
    film_free(copy);
}

/* The place of a list's index; SIZE_MAX: outside of what is known. */
static size_t
index_of(const film_seen_object *object, const film_held *key)
{
    film_token token = film_held_token(key);
    int64_t index = token.integer;

    if (token.kind != FILM_TOKEN_INT) {
        return SIZE_MAX;
    }
    if (index < 0) {
        index += object->length;
    }
    return index < 0 || (uint64_t)index >= object->count ? SIZE_MAX : (size_t)index;
}

film_seen_item *
film_watch_item(film_watch *state, film_seen_object *object, const film_held *key)
{
    film_watch_load(state, object);
    if (object->form == FILM_OBJECT_SEQUENCE) {
        size_t index = index_of(object, key);
        return index == SIZE_MAX ? NULL : &object->items[index];
    }
    for (size_t i = 0; object->form == FILM_OBJECT_MAPPING && i < object->count; i++) {
        if (film_held_is(state, &object->items[i].key, key)) {
            return &object->items[i];
        }
    }
    return NULL;
}

void
film_watch_set_item(film_watch *state, film_seen_object *object, const film_held *key,
                    const film_held *value)
{
    film_seen_item *item = film_watch_item(state, object, key);
    bool is_mapping = object->form == FILM_OBJECT_MAPPING;

    state->time++;
    if (value != NULL && item != NULL) {
        item->value = *value;
    }
    else if (value != NULL && is_mapping) {
        /* A key beyond those the record told may have been there already; one that is
         * seen for the first time is taken for new. */
        if (add_item(state, object, key, value) && object->length >= 0) {
            object->length++;
        }
    }
    else if (value == NULL && (item != NULL || is_mapping ||
                               film_held_token(key).kind == FILM_TOKEN_INT)) {
        if (item != NULL) {
            size_t place = (size_t)(item - object->items);
            memmove(item, item + 1, (--object->count - place) * sizeof(*item));
        }
        if (object->length > 0) {
            object->length--;
        }
    }
}

/* Two records of plain values (long str, bytes, big int) say the same. */
static bool
records_are_equal(film_watch *state, uint64_t one, uint64_t other)
{
    film_value_record record;
    film_buffer kept = {0};
    uint32_t type;
    bool equal;

    if (film_reader_record(state->reader, one, &record, NULL) != FILM_OK) {
        return false;
    }
    type = record.type;
    film_buffer_append(&kept, record.rest.at, film_input_left(&record.rest));
    equal = film_reader_record(state->reader, other, &record, NULL) == FILM_OK &&
            record.type == type && !kept.failed && record.form == 0 &&
            film_input_left(&record.rest) == kept.length &&
            (kept.length == 0 || memcmp(record.rest.at, kept.data, kept.length) == 0);
    film_buffer_reset(&kept);
    return equal;
}

bool
film_held_is(film_watch *state, const film_held *one, const film_held *other)
{
    if (one->object != 0 || other->object != 0) {
        return one->object == other->object;
    }
    if (one->length == other->length &&
        memcmp(one->bytes, other->bytes, one->length) == 0) {
        return true;
    }
    return one->length > 0 && other->length > 0 && one->bytes[0] == FILM_TOKEN_VALUE &&
           other->bytes[0] == FILM_TOKEN_VALUE &&
           records_are_equal(state, film_held_token(one).value,
                             film_held_token(other).value);
}

/* --- variables --- */

film_seen_variable *
film_scope_find(film_watch *state, film_seen_scope *scope, uint32_t name, bool add)
{
    film_seen_variable *items;

    for (size_t i = 0; i < scope->count; i++) {
        if (scope->items[i].name == name) {
            return &scope->items[i];
        }
    }
    if (!add) {
        return NULL;
    }
    items = film_grow(scope->items, &scope->capacity, scope->count + 1, sizeof(*items));
    if (items == NULL) {
        state->failed = true;
        return NULL;
    }
    scope->items = items;
    items += scope->count++;
    *items = (film_seen_variable){.name = name, .old_length = -1};
    return items;
}

film_seen_scope *
film_watch_globals(film_watch *state, film_text module)
{
    film_seen_module *modules;
    char *copy;

    for (size_t i = 0; i < state->module_count; i++) {
        film_text name = state->modules[i].name;
        if (name.length == module.length &&
            (name.length == 0 || memcmp(name.data, module.data, name.length) == 0)) {
            return &state->modules[i].globals;
        }
    }
    modules = film_grow(state->modules, &state->module_capacity,
                        state->module_count + 1, sizeof(*modules));
    if (modules != NULL) {
        state->modules = modules;
    }
    copy = film_alloc(module.length + 1);
    if (modules == NULL || copy == NULL) {
        film_free(copy);
        state->failed = true;
        return NULL;
    }
    memcpy(copy, module.data, module.length);
    modules += state->module_count++;
    *modules = (film_seen_module){.name = {copy, module.length}};
    return &modules->globals;
}
