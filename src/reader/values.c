/* values.c: value texts and source texts, read when asked for.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "format/records.h"
#include "format/value_columns.h"
#include "format/value_record.h"
#include "format/window.h"
#include "reader/reader_state.h"
#include "reader/text.h"

static void
forget_index(film_value_index *index)
{
    film_free(index->offsets);
    memset(index, 0, sizeof(*index));
}

static void
forget_chunk(film_reader *reader, film_value_chunk *chunk)
{
    if (chunk->place != 0) {
        reader->value_places[chunk->place - 1] = 0;
        reader->value_bytes -= chunk->bytes;
    }
    film_buffer_reset(&chunk->raw);
    forget_index(&chunk->index);
    memset(chunk, 0, sizeof(*chunk));
}

static void
forget_windows(film_reader *reader)
{
    for (size_t i = 0; i < reader->value_window_count; i++) {
        forget_index(&reader->value_windows[i]);
    }
    film_free(reader->value_windows);
    reader->value_windows = NULL;
    reader->value_window_count = 0;
}

void
film_reader_forget_values(film_reader *reader)
{
    for (size_t i = 0; i < FILM_VALUE_CHUNKS; i++) {
        forget_chunk(reader, &reader->value_chunks[i]);
    }
    forget_windows(reader);
    film_reader_forget_serials(reader);
    film_free(reader->values);
    film_free(reader->value_places);
    film_free(reader->sources);
    reader->values = reader->sources = NULL;
    reader->value_places = NULL;
    reader->value_chunk = NULL;
    reader->value_count = reader->source_count = 0;
    memset(reader->object_heads, 0, sizeof(reader->object_heads));
}

typedef struct listed {
    uint64_t first;
    uint32_t chunk;
} listed;

static int
by_first(const void *a, const void *b)
{
    const listed *one = a, *other = b;

    if (one->first != other->first) {
        return one->first < other->first ? -1 : 1;
    }
    return one->chunk < other->chunk ? -1 : one->chunk > other->chunk;
}

/* The chunks of one type by their first record (or number); one copied forward in a
 * ring counts once. The caller owns *out. */
static film_status
list_chunks(const film_directory *directory, uint8_t type, uint32_t **out,
            size_t *count)
{
    listed *found = NULL;
    size_t total = 0, capacity = 0;
    uint32_t *chunks;

    for (size_t i = 0; i < directory->count; i++) {
        const film_chunk_info *chunk = &directory->chunks[i];
        listed *grown;
        if (chunk->type != type) {
            continue;
        }
        grown = film_grow(found, &capacity, total + 1, sizeof(*found));
        if (grown == NULL) {
            film_free(found);
            return FILM_NO_MEMORY;
        }
        found = grown;
        found[total].first = type == FILM_CHUNK_VALUE ? chunk->first : chunk->number;
        found[total++].chunk = (uint32_t)i;
    }
    chunks = film_alloc_array(total, sizeof(*chunks));
    if (chunks == NULL) {
        film_free(found);
        return FILM_NO_MEMORY;
    }
    if (total > 0) {
        qsort(found, total, sizeof(*found), by_first);
    }
    *count = 0;
    for (size_t i = 0; i < total; i++) {
        if (i + 1 == total || found[i + 1].first != found[i].first) {
            chunks[(*count)++] = found[i].chunk;
        }
    }
    film_free(found);
    film_free(*out);
    *out = chunks;
    return FILM_OK;
}

film_status
film_reader_list_values(film_reader *reader)
{
    uint8_t *places;

    /* Places in the list change with it: what is unpacked is found by them. */
    for (size_t i = 0; i < FILM_VALUE_CHUNKS; i++) {
        forget_chunk(reader, &reader->value_chunks[i]);
    }
    forget_windows(reader);
    film_reader_forget_serials(reader);
    reader->value_chunk = NULL;
    FILM_TRY(list_chunks(&reader->directory, FILM_CHUNK_VALUE, &reader->values,
                         &reader->value_count));
    places = film_alloc_array(reader->value_count, sizeof(*places));
    if (places == NULL) {
        reader->value_count = 0;
        return FILM_NO_MEMORY;
    }
    film_free(reader->value_places);
    reader->value_places = places;
    return list_chunks(&reader->directory, FILM_CHUNK_SOURCE, &reader->sources,
                       &reader->source_count);
}

/* Loads and unpacks a chunk, noting damage. */
static film_status
unpack(film_reader *reader, size_t index, film_buffer *out, film_error *error)
{
    const film_chunk_info *chunk = &reader->directory.chunks[index];
    film_status status = film_loader_load(&reader->loader, chunk);

    if (status == FILM_OK) {
        status = film_loader_payload(&reader->loader, out);
    }
    if (status == FILM_OK || status == FILM_NO_MEMORY) {
        return status == FILM_OK ? status : film_fail(error, status, "memory ran out");
    }
    if (!reader->loader.overwritten) {
        film_reader_note(reader, chunk, index, reader->loader.why);
    }
    return film_fail_at(error, status, film_file_physical(&reader->file, chunk->offset),
                        "chunk %zu at byte %" PRIu64 " is damaged: %s", index,
                        film_file_physical(&reader->file, chunk->offset),
                        reader->loader.why);
}

/* Puts the records of an unpacked chunk together, where they are in columns. */
static film_status
join_columns(film_reader *reader, size_t index, film_buffer *raw, film_error *error)
{
    const film_chunk_info *chunk = &reader->directory.chunks[index];
    film_buffer *columns = &reader->scratch;
    film_status status;

    if ((reader->loader.header.flags & FILM_CHUNK_COLUMNS) == 0) {
        return FILM_OK;
    }
    film_buffer_clear(columns);
    film_buffer_append(columns, raw->data, raw->length);
    film_buffer_clear(raw);
    status = columns->failed
                 ? FILM_NO_MEMORY
                 : film_value_columns_join(columns->data, columns->length, chunk->first,
                                           FILM_CHUNK_MAX_RAW, raw);
    if (status == FILM_NO_MEMORY) {
        return film_fail(error, status, "memory ran out");
    }
    if (status != FILM_OK) {
        film_reader_note(reader, chunk, index, "its columns make no sense");
        return film_fail(error, status, "chunk %zu is damaged", index);
    }
    return FILM_OK;
}

/* Notes where each record begins. */
static film_status
index_records(film_value_index *index, const uint8_t *bytes, size_t length)
{
    film_input left = film_input_of(bytes, length);
    film_record record;

    index->count = 0;
    while (film_input_left(&left) > 0) {
        uint32_t *offsets = film_grow(index->offsets, &index->capacity,
                                      index->count + 1, sizeof(*offsets));
        if (offsets == NULL) {
            return FILM_NO_MEMORY;
        }
        index->offsets = offsets;
        offsets[index->count] = (uint32_t)(left.at - bytes);
        if (film_record_decode(&left.at, left.end, &record) != FILM_OK) {
            break;
        }
        index->count++;
    }
    return FILM_OK;
}

/* The unpacked chunk that was not used for longest; NULL: there is none. */
static film_value_chunk *
least_recent(film_reader *reader)
{
    film_value_chunk *oldest = NULL;

    for (size_t i = 0; i < FILM_VALUE_CHUNKS; i++) {
        film_value_chunk *other = &reader->value_chunks[i];
        if (other->place != 0 && (oldest == NULL || other->used < oldest->used)) {
            oldest = other;
        }
    }
    return oldest;
}

/* A place for another unpacked chunk; those not used for longest make room. */
static film_value_chunk *
free_place(film_reader *reader)
{
    film_value_chunk *place = NULL, *oldest;

    while (reader->value_bytes > FILM_VALUE_CACHE_BYTES &&
           (oldest = least_recent(reader)) != NULL) {
        forget_chunk(reader, oldest);
    }
    for (size_t i = 0; place == NULL && i < FILM_VALUE_CHUNKS; i++) {
        if (reader->value_chunks[i].place == 0) {
            place = &reader->value_chunks[i];
        }
    }
    if (place == NULL) {
        place = least_recent(reader);
    }
    forget_chunk(reader, place);
    return place;
}

/* Of film_reader.value_places: the chunk is damaged, and is not unpacked again for each
 * of its records. */
#define DAMAGED_PLACE UINT8_MAX
_Static_assert(FILM_VALUE_CHUNKS < DAMAGED_PLACE, "a place is taken for a damaged one");

/* The unpacked chunk at a place of the list, from the cache or into it. */
static film_status
value_chunk(film_reader *reader, size_t place, film_value_chunk **out,
            film_error *error)
{
    uint8_t known = reader->value_places[place];
    const film_chunk_info *info = &reader->directory.chunks[reader->values[place]];
    film_value_chunk *chunk;
    film_status status;

    if (known == DAMAGED_PLACE) {
        return film_fail(error, FILM_CORRUPT,
                         "chunk %" PRIu32 ", of values, is damaged",
                         reader->values[place]);
    }
    if (known != 0) {
        *out = &reader->value_chunks[known - 1];
        (*out)->used = ++reader->clock;
        return FILM_OK;
    }
    chunk = free_place(reader);
    reader->values_unpacked++;
    status = unpack(reader, reader->values[place], &chunk->raw, error);
    if (status == FILM_OK) {
        status = join_columns(reader, reader->values[place], &chunk->raw, error);
    }
    if (status == FILM_CORRUPT || status == FILM_TRUNCATED) {
        reader->value_places[place] = DAMAGED_PLACE;
    }
    FILM_TRY(status);
    status = index_records(&chunk->index, chunk->raw.data, chunk->raw.length);
    if (status != FILM_OK) {
        forget_chunk(reader, chunk);
        return film_fail(error, status, "memory ran out");
    }
    chunk->bytes = chunk->raw.capacity + chunk->index.capacity * sizeof(uint32_t);
    reader->value_bytes += chunk->bytes;
    chunk->first = info->first;
    chunk->place = place + 1;
    chunk->used = ++reader->clock;
    reader->value_places[place] = (uint8_t)(chunk - reader->value_chunks + 1);
    *out = chunk;
    return FILM_OK;
}

static film_status
record_at(const film_value_index *index, const uint8_t *bytes, size_t length,
          uint64_t number, film_record *record)
{
    const uint8_t *at;

    if (index->offsets == NULL || number >= index->count) {
        return FILM_END;
    }
    at = bytes + index->offsets[number];
    return film_record_decode(&at, bytes + length, record);
}

size_t
film_reader_value_place(const film_reader *reader, uint64_t id)
{
    size_t low = 0, high = reader->value_count;
    const film_chunk_info *info;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (reader->directory.chunks[reader->values[middle]].first <= id) {
            low = middle + 1;
        }
        else {
            high = middle;
        }
    }
    if (low == 0) {
        return reader->value_count;
    }
    info = &reader->directory.chunks[reader->values[low - 1]];
    return id - info->first < info->count ? low - 1 : reader->value_count;
}

/* FILM_END: no chunk has that record. */
static film_status
find_in_chunks(film_reader *reader, uint64_t id, film_record *record, film_error *error)
{
    film_value_chunk *chunk = reader->value_chunk;

    if (chunk == NULL || id - chunk->first >= chunk->index.count) {
        size_t place = film_reader_value_place(reader, id);
        if (place == reader->value_count) {
            return FILM_END;
        }
        reader->value_chunk = NULL;
        FILM_TRY(value_chunk(reader, place, &chunk, error));
        reader->value_chunk = chunk;
    }
    return record_at(&chunk->index, chunk->raw.data, chunk->raw.length,
                     id - chunk->first, record);
}

static film_status
find_in_windows(film_reader *reader, uint64_t id, film_record *record)
{
    size_t count;
    const film_window_copy *windows =
        film_windows_of(&reader->windows, FILM_STREAM_VALUE, &count);

    if (count > 0 && reader->value_windows == NULL) {
        reader->value_windows = film_alloc_array(count, sizeof(film_value_index));
        if (reader->value_windows == NULL) {
            return FILM_NO_MEMORY;
        }
        reader->value_window_count = count;
    }
    for (size_t i = count; i > 0; i--) {
        const film_window_copy *window = &windows[i - 1];
        film_value_index *index = &reader->value_windows[i - 1];
        film_status status;
        if (window->first > id) {
            continue;
        }
        if (index->offsets == NULL && window->length > 0) {
            FILM_TRY(index_records(index, window->rows, window->length));
        }
        status =
            record_at(index, window->rows, window->length, id - window->first, record);
        if (status == FILM_OK) {
            return FILM_OK;
        }
    }
    return FILM_END;
}

/* The record as it was written. */
static film_status
read_record(film_reader *reader, uint64_t id, film_value_record *out, film_error *error)
{
    film_record record = {0};
    film_status status = find_in_chunks(reader, id, &record, error);

    if (status == FILM_END) {
        status = find_in_windows(reader, id, &record);
    }
    if (status == FILM_END) {
        return film_fail(error, FILM_CORRUPT,
                         "value %" PRIu64 " is not in the recording", id);
    }
    if (status == FILM_NO_MEMORY) {
        return film_fail(error, status, "memory ran out");
    }
    FILM_TRY(status);
    if (record.kind != FILM_RECORD_VALUE ||
        !film_value_record_decode(record.body, record.length, out)) {
        return film_fail(error, FILM_CORRUPT, "value %" PRIu64 " makes no sense", id);
    }
    return FILM_OK;
}

film_status
film_reader_record(film_reader *reader, uint64_t id, film_value_record *out,
                   film_error *error)
{
    film_value_record base;
    uint64_t base_id;

    FILM_TRY(read_record(reader, id, out, error));
    if (out->form != FILM_OBJECT_AGAIN) {
        return FILM_OK;
    }
    if (!film_value_record_again(out, &base_id) || base_id >= id) {
        return film_fail(error, FILM_CORRUPT, "value %" PRIu64 " makes no sense", id);
    }
    FILM_TRY(read_record(reader, base_id, &base, error));
    if (base.form == FILM_OBJECT_AGAIN || base.serial != out->serial) {
        return film_fail(error, FILM_CORRUPT, "value %" PRIu64 " makes no sense", id);
    }
    out->form = base.form;
    out->count = base.count;
    out->rest = base.rest;
    out->note = base.note;
    out->flags = (out->flags & ~FILM_VALUE_NOTED) | (base.flags & FILM_VALUE_NOTED);
    return FILM_OK;
}

/* A text as UTF-8 in reader->text; two may be kept there at once. */
static film_status
keep_text(film_reader *reader, const uint8_t *bytes, size_t length, size_t *at,
          size_t *repaired)
{
    uint8_t *to;

    *repaired = film_text_repaired_length(bytes, length);
    *at = reader->text.length;
    to = film_buffer_reserve(&reader->text, *repaired + 1);
    if (to == NULL) {
        return FILM_NO_MEMORY;
    }
    film_text_repair((char *)to, bytes, length);
    reader->text.length += *repaired + 1;
    return FILM_OK;
}

static film_text
kept_text(const film_reader *reader, size_t at, size_t length)
{
    film_text text = {(const char *)reader->text.data + at, length};

    return text;
}

film_status
film_reader_value(film_reader *reader, uint64_t id, film_value *out, film_error *error)
{
    film_value_record record;
    size_t at, length;

    memset(out, 0, sizeof(*out));
    FILM_TRY(film_reader_record(reader, id, &record, error));
    film_buffer_clear(&reader->text);
    if (keep_text(reader, record.rest.at, film_input_left(&record.rest), &at,
                  &length) != FILM_OK) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    out->text = kept_text(reader, at, length);
    out->type = film_tables_string(&reader->tables, record.type);
    out->length = record.length;
    out->object = record.serial;
    out->is_object = record.form != 0 && record.serial != 0;
    out->cut = (record.flags & FILM_VALUE_CUT) != 0;
    out->redacted = (record.flags & FILM_VALUE_REDACTED) != 0;
    return FILM_OK;
}

film_status
film_reader_source(film_reader *reader, size_t index, film_source *out,
                   film_error *error)
{
    film_input input;
    const uint8_t *name;
    size_t length, name_at, name_length, text_at, text_length;
    uint32_t flags;

    memset(out, 0, sizeof(*out));
    if (index >= reader->source_count) {
        return FILM_END;
    }
    FILM_TRY(unpack(reader, reader->sources[index], &reader->scratch, error));
    input = film_input_of(reader->scratch.data, reader->scratch.length);
    name = film_input_bytes(&input, &length);
    flags = film_input_varint32(&input);
    if (input.failed) {
        return film_fail(error, FILM_CORRUPT, "source text %zu makes no sense", index);
    }
    film_buffer_clear(&reader->text);
    if (keep_text(reader, name, length, &name_at, &name_length) != FILM_OK ||
        keep_text(reader, input.at, film_input_left(&input), &text_at, &text_length) !=
            FILM_OK) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    out->file = kept_text(reader, name_at, name_length);
    out->text = kept_text(reader, text_at, text_length);
    out->cut = (flags & FILM_SOURCE_CUT) != 0;
    return FILM_OK;
}
