/* values.c: value texts and source texts, read when asked for.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "format/records.h"
#include "format/window.h"
#include "reader/reader_state.h"
#include "reader/text.h"

/* Flags of a VALUE record. */
#define VALUE_CUT 1u
#define VALUE_REDACTED 2u

void
film_reader_forget_values(film_reader *reader)
{
    for (size_t i = 0; i < FILM_VALUE_CHUNKS; i++) {
        film_buffer_reset(&reader->value_chunks[i].raw);
        film_free(reader->value_chunks[i].offsets);
    }
    memset(reader->value_chunks, 0, sizeof(reader->value_chunks));
    film_free(reader->values);
    film_free(reader->sources);
    reader->values = reader->sources = NULL;
    reader->value_count = reader->source_count = 0;
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
    FILM_TRY(list_chunks(&reader->directory, FILM_CHUNK_VALUE, &reader->values,
                         &reader->value_count));
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

/* Notes where each record of the chunk begins. */
static film_status
find_records(film_value_chunk *chunk)
{
    film_input left = film_input_of(chunk->raw.data, chunk->raw.length);
    film_record record;

    chunk->count = 0;
    while (film_input_left(&left) > 0) {
        uint32_t *offsets = film_grow(chunk->offsets, &chunk->capacity,
                                      chunk->count + 1, sizeof(*offsets));
        if (offsets == NULL) {
            return FILM_NO_MEMORY;
        }
        chunk->offsets = offsets;
        offsets[chunk->count] = (uint32_t)(left.at - chunk->raw.data);
        if (film_record_decode(&left.at, left.end, &record) != FILM_OK) {
            break;
        }
        chunk->count++;
    }
    return FILM_OK;
}

/* The unpacked chunk, from the cache or into it. */
static film_status
value_chunk(film_reader *reader, size_t index, film_value_chunk **out,
            film_error *error)
{
    film_value_chunk *place = &reader->value_chunks[0];
    film_status status;

    for (size_t i = 0; i < FILM_VALUE_CHUNKS; i++) {
        film_value_chunk *other = &reader->value_chunks[i];
        if (other->chunk == index + 1) {
            other->used = ++reader->clock;
            *out = other;
            return FILM_OK;
        }
        if (other->used < place->used) {
            place = other;
        }
    }
    place->chunk = 0;
    FILM_TRY(unpack(reader, index, &place->raw, error));
    status = find_records(place);
    if (status != FILM_OK) {
        return film_fail(error, status, "memory ran out");
    }
    place->chunk = index + 1;
    place->used = ++reader->clock;
    *out = place;
    return FILM_OK;
}

/* FILM_END: no chunk has that record. */
static film_status
find_in_chunks(film_reader *reader, uint64_t id, film_record *record, film_error *error)
{
    size_t low = 0, high = reader->value_count;
    const film_chunk_info *info;
    film_value_chunk *chunk = NULL;
    const uint8_t *at;

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
        return FILM_END;
    }
    info = &reader->directory.chunks[reader->values[low - 1]];
    if (id - info->first >= info->count) {
        return FILM_END;
    }
    FILM_TRY(value_chunk(reader, reader->values[low - 1], &chunk, error));
    if (id - info->first >= chunk->count) {
        return FILM_END;
    }
    at = chunk->raw.data + chunk->offsets[id - info->first];
    return film_record_decode(&at, chunk->raw.data + chunk->raw.length, record);
}

static film_status
find_in_windows(const film_reader *reader, uint64_t id, film_record *record)
{
    size_t count;
    const film_window_copy *windows =
        film_windows_of(&reader->windows, FILM_STREAM_VALUE, &count);

    for (size_t i = count; i > 0; i--) {
        const film_window_copy *window = &windows[i - 1];
        const uint8_t *at = window->rows, *end = at + window->length;
        uint64_t number = window->first;
        if (number > id) {
            continue;
        }
        while (at < end && film_record_decode(&at, end, record) == FILM_OK) {
            if (number++ == id) {
                return FILM_OK;
            }
        }
    }
    return FILM_END;
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
    film_record record = {0};
    film_status status = find_in_chunks(reader, id, &record, error);
    film_input input;
    uint32_t type, flags;
    size_t at, length;

    memset(out, 0, sizeof(*out));
    if (status == FILM_END) {
        status = find_in_windows(reader, id, &record);
    }
    if (status == FILM_END) {
        return film_fail(error, FILM_CORRUPT,
                         "value %" PRIu64 " is not in the recording", id);
    }
    FILM_TRY(status);
    input = film_input_of(record.body, record.length);
    type = film_input_varint32(&input);
    flags = film_input_varint32(&input);
    if (record.kind != FILM_RECORD_VALUE || input.failed) {
        return film_fail(error, FILM_CORRUPT, "value %" PRIu64 " makes no sense", id);
    }
    film_buffer_clear(&reader->text);
    if (keep_text(reader, input.at, film_input_left(&input), &at, &length) != FILM_OK) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    out->text = kept_text(reader, at, length);
    out->type = film_tables_string(&reader->tables, type);
    out->cut = (flags & VALUE_CUT) != 0;
    out->redacted = (flags & VALUE_REDACTED) != 0;
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
