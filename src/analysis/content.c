/* content.c: see content.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/content.h"

#include <string.h>

#include "base/alloc.h"
#include "reader/literal.h"
#include "reader/reader_state.h"
#include "reader/render.h"

/* A minor version from which on summaries and marks are there. */
#define MINOR_WITH_MARKS 2u

typedef struct pair {
    film_datum key; /* mappings */
    film_datum value;
    uint32_t name; /* attributes */
} pair;

/* Items being changed. */
typedef struct pairs {
    pair *items; /* owned */
    size_t count, capacity;
} pairs;

film_status
film_content_bound(film_timeline *timeline, film_moment moment, uint64_t *bound,
                   film_error *error)
{
    *bound = 0;
    if (timeline->bound_known && film_moment_is(timeline->bound_at, moment)) {
        *bound = timeline->bound;
        return FILM_OK;
    }
    for (size_t i = 0; i < film_reader_thread_count(timeline->reader); i++) {
        uint32_t thread = film_reader_thread(timeline->reader, i)->id;
        film_moment other;
        film_scene *scene;
        uint32_t index;
        film_status status =
            film_timeline_other_thread(timeline, moment, thread, &other, error);
        if (status == FILM_END) {
            continue;
        }
        FILM_TRY(status);
        FILM_TRY(film_timeline_locate(timeline, other, &scene, &index, error));
        if (scene->watermark + scene->events[index].mark > *bound) {
            *bound = scene->watermark + scene->events[index].mark;
        }
    }
    timeline->bound_known = true;
    timeline->bound_at = moment;
    timeline->bound = *bound;
    return FILM_OK;
}

static bool
insert(pairs *all, size_t at, const pair *one)
{
    pair *items = film_grow(all->items, &all->capacity, all->count + 1, sizeof(*items));

    if (items == NULL) {
        return false;
    }
    all->items = items;
    memmove(&items[at + 1], &items[at], (all->count - at) * sizeof(*items));
    items[at] = *one;
    all->count++;
    return true;
}

static void
take_out(pairs *all, size_t at)
{
    memmove(&all->items[at], &all->items[at + 1],
            (all->count - at - 1) * sizeof(*all->items));
    all->count--;
}

static bool
take_record(const film_value_record *record, pairs *all)
{
    film_input input = record->rest;

    for (uint64_t i = 0; i < record->count && !input.failed; i++) {
        pair one = {.name = 0};
        if (record->form == FILM_OBJECT_ATTRIBUTES) {
            one.name = film_input_varint32(&input);
        }
        else if (record->form == FILM_OBJECT_MAPPING) {
            one.key = film_datum_take(&input);
        }
        if (record->form == FILM_OBJECT_BYTES) {
            one.value.length =
                (uint8_t)(film_token_put_int(one.value.bytes, film_input_byte(&input)) -
                          one.value.bytes);
        }
        else {
            one.value = film_datum_take(&input);
        }
        if (!input.failed && !insert(all, all->count, &one)) {
            return false;
        }
    }
    return true;
}

/* The tokens of its note lie in `bytes` from now on: applying writes reads other records
 * over this one. */
static bool
keep_note(film_value_record *record, film_buffer *bytes)
{
    size_t length = film_input_left(&record->note.tokens);

    film_buffer_clear(bytes);
    if (length > 0) {
        film_buffer_append(bytes, record->note.tokens.at, length);
        record->note.tokens = film_input_of(bytes->data, length);
    }
    return !bytes->failed;
}

/* Puts them back as a record has them, behind the note. */
static void
put_record(const pairs *all, film_value_record *record, film_buffer *bytes)
{
    size_t noted = film_input_left(&record->note.tokens);

    bytes->length = noted;
    for (size_t i = 0; i < all->count; i++) {
        const pair *one = &all->items[i];
        if (record->form == FILM_OBJECT_ATTRIBUTES) {
            film_buffer_put_varint(bytes, one->name);
        }
        else if (record->form == FILM_OBJECT_MAPPING) {
            film_buffer_append(bytes, one->key.bytes, one->key.length);
        }
        if (record->form == FILM_OBJECT_BYTES) {
            film_token token = film_datum_token(&one->value);
            film_buffer_put_byte(bytes, (uint8_t)token.integer);
        }
        else {
            film_buffer_append(bytes, one->value.bytes, one->value.length);
        }
    }
    record->count = all->count;
    if (bytes->data == NULL) {
        record->rest = film_input_of("", 0);
        return;
    }
    record->note.tokens = film_input_of(bytes->data, noted);
    record->rest = film_input_of(bytes->data + noted, bytes->length - noted);
}

/* --- keys --- */

static bool
key_number(const film_datum *key, double *number)
{
    film_token token = film_datum_token(key);

    switch (token.kind) {
    case FILM_TOKEN_INT:
        *number = (double)token.integer;
        return true;
    case FILM_TOKEN_FLOAT:
        *number = token.number;
        return true;
    case FILM_TOKEN_FALSE:
    case FILM_TOKEN_TRUE:
        *number = token.kind == FILM_TOKEN_TRUE;
        return true;
    case FILM_TOKEN_UNBOUND:
    case FILM_TOKEN_NONE:
    case FILM_TOKEN_VALUE:
    case FILM_TOKEN_REDACTED:
    case FILM_TOKEN_SHORT_TEXT:
    case FILM_TOKEN_OBJECT:
    case FILM_TOKEN_CYCLE:
    default:
        return false;
    }
}

static void
key_text(film_timeline *timeline, const film_datum *key, film_buffer *out)
{
    film_renderer renderer = {.reader = timeline->reader,
                              .out = out,
                              .limit = out->length + 4096,
                              .bound = UINT64_MAX};
    film_token token = film_datum_token(key);

    film_render_token(&renderer, &token);
}

/* Whether two keys of a dict are the same, as far as is recorded. */
static bool
is_same_key(film_timeline *timeline, const film_datum *one, const film_datum *other)
{
    film_buffer *text = &timeline->scratch;
    uint64_t serial;
    double left, right;
    size_t middle;

    if (one->length == other->length &&
        memcmp(one->bytes, other->bytes, one->length) == 0) {
        return true;
    }
    if (key_number(one, &left) || key_number(other, &right)) {
        return key_number(one, &left) && key_number(other, &right) && left >= right &&
               left <= right;
    }
    serial = film_timeline_serial(timeline, one);
    if (serial != 0 && serial == film_timeline_serial(timeline, other)) {
        return true;
    }
    if ((one->bytes[0] != FILM_TOKEN_VALUE && one->bytes[0] != FILM_TOKEN_OBJECT) ||
        (other->bytes[0] != FILM_TOKEN_VALUE && other->bytes[0] != FILM_TOKEN_OBJECT)) {
        return false;
    }
    film_buffer_clear(text);
    key_text(timeline, one, text);
    middle = text->length;
    key_text(timeline, other, text);
    return !text->failed && text->length == 2 * middle &&
           memcmp(text->data, text->data + middle, middle) == 0;
}

/* --- applying writes --- */

static bool
apply_attribute(pairs *all, const film_object_write *write)
{
    size_t at = 0;
    pair one = {.name = write->name, .value = write->value};

    while (at < all->count && all->items[at].name != write->name) {
        at++;
    }
    if (write->deleted) {
        if (at < all->count) {
            take_out(all, at);
        }
        return true;
    }
    if (at == all->count) {
        return insert(all, at, &one);
    }
    all->items[at].value = write->value;
    return true;
}

/* False: it could not be followed. */
static bool
apply_key(film_timeline *timeline, pairs *all, const film_object_write *write,
          film_value_record *record, film_status *status)
{
    bool cut = (record->flags & FILM_VALUE_CUT) != 0;
    size_t at = 0;
    pair one = {.key = write->key, .value = write->value};

    while (at < all->count &&
           !is_same_key(timeline, &all->items[at].key, &write->key)) {
        at++;
    }
    if (at < all->count && write->deleted) {
        take_out(all, at);
        record->length--;
    }
    else if (at < all->count) {
        all->items[at].value = write->value;
    }
    else if (write->deleted || cut) { /* among those that are not told */
        record->length +=
            write->deleted ? -(record->length > 0) : write->effect == FILM_ITEM_ADDED;
        return cut && (write->deleted || write->effect != FILM_ITEM_UNSAID);
    }
    else if (insert(all, at, &one)) {
        record->length++;
    }
    else {
        *status = FILM_NO_MEMORY;
    }
    return true;
}

static bool
apply_index(pairs *all, const film_object_write *write, film_value_record *record)
{
    film_token key = film_datum_token(&write->key);
    int64_t index = key.integer, length = record->length;

    if (key.kind == FILM_TOKEN_TRUE || key.kind == FILM_TOKEN_FALSE) {
        index = key.kind == FILM_TOKEN_TRUE;
    }
    else if (key.kind != FILM_TOKEN_INT) {
        return false; /* a slice */
    }
    if (index < 0) {
        index += length;
    }
    if (index < 0 || index >= length) {
        return false; /* the line changed it before in a way that is told later */
    }
    if (write->deleted) {
        record->length--;
        if ((uint64_t)index >= all->count) {
            return true;
        }
        take_out(all, (size_t)index);
        return (record->flags & FILM_VALUE_CUT) == 0;
    }
    if ((uint64_t)index < all->count) {
        all->items[index].value = write->value;
    }
    return true;
}

static film_status
apply(film_timeline *timeline, film_value_record *record,
      const film_object_writes *writes, film_buffer *bytes, bool *doubtful)
{
    pairs all = {0};
    film_status status = take_record(record, &all) && keep_note(record, bytes)
                             ? FILM_OK
                             : FILM_NO_MEMORY;

    for (size_t i = 0; i < writes->count && status == FILM_OK; i++) {
        const film_object_write *write = &writes->items[i];
        bool followed = true;
        if (record->form == FILM_OBJECT_ATTRIBUTES) {
            status = apply_attribute(&all, write) ? FILM_OK : FILM_NO_MEMORY;
        }
        else if (record->form == FILM_OBJECT_MAPPING) {
            followed = apply_key(timeline, &all, write, record, &status);
        }
        else {
            followed = apply_index(&all, write, record);
        }
        *doubtful = *doubtful || !followed;
    }
    if (status == FILM_OK) {
        put_record(&all, record, bytes);
        status = bytes->failed ? FILM_NO_MEMORY : FILM_OK;
    }
    film_free(all.items);
    return status;
}

bool
film_content_can_change(uint8_t form)
{
    return form == FILM_OBJECT_ATTRIBUTES || form == FILM_OBJECT_MAPPING ||
           form == FILM_OBJECT_SEQUENCE || form == FILM_OBJECT_BYTES;
}

film_status
film_content_at(film_timeline *timeline, film_moment moment, uint64_t id,
                film_value_record *record, film_buffer *bytes, bool *doubtful,
                film_error *error)
{
    film_object_writes writes = {0};
    uint64_t bound, newest = id, serial = record->serial;
    film_status status;

    if (!film_content_can_change(record->form)) {
        return FILM_OK;
    }
    if (timeline->reader->file.block.minor < MINOR_WITH_MARKS) {
        *doubtful = true;
        return FILM_OK;
    }
    FILM_TRY(film_content_bound(timeline, moment, &bound, error));
    status = film_content_newest(timeline, serial, id < bound ? id + 1 : 0, bound,
                                 &newest, error);
    if (status != FILM_OK && status != FILM_END) {
        return status;
    }
    status =
        film_content_writes(timeline, moment, serial, newest,
                            record->form == FILM_OBJECT_ATTRIBUTES, &writes, error);
    if (status == FILM_OK) {
        status = film_reader_record(timeline->reader, newest, record, error);
    }
    if (status == FILM_OK && writes.count > 0) {
        *doubtful = *doubtful || writes.more;
        status = apply(timeline, record, &writes, bytes, doubtful);
        if (status == FILM_NO_MEMORY) {
            status = film_fail(error, status, "memory ran out");
        }
    }
    film_free(writes.items);
    return status;
}

film_status
film_content_give(film_timeline *timeline, const film_value_record *record,
                  film_content *out, film_error *error)
{
    pairs all = {0};
    film_item *items;

    if (!take_record(record, &all)) {
        film_free(all.items);
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    items = film_grow(timeline->items, &timeline->item_capacity, all.count + 1,
                      sizeof(*items));
    if (items == NULL) {
        film_free(all.items);
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    timeline->items = items;
    for (size_t i = 0; i < all.count; i++) {
        items[i].key = all.items[i].key;
        items[i].value = all.items[i].value;
        items[i].name = film_reader_string(timeline->reader, all.items[i].name);
    }
    out->items = items;
    out->count = all.count;
    film_free(all.items);
    return FILM_OK;
}
