/* verify.c: one chunk, checked to the last row.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "format/columns.h"
#include "format/records.h"
#include "format/summary.h"
#include "format/value_columns.h"
#include "reader/reader_state.h"

static film_status
fail(film_reader *reader, film_status status, const char *why)
{
    reader->loader.why = why;
    return status;
}

static film_status
verify_rows(film_reader *reader, const film_chunk_header *header, film_state *state)
{
    film_column_reader columns;
    film_event event;
    film_row row;
    uint32_t rows = 0, events = 0;
    bool is_event;
    film_status status;

    status =
        film_column_reader_init(&columns, reader->scratch.data, reader->scratch.length);
    while (status == FILM_OK) {
        status = film_column_reader_next(&columns, &row);
        if (status == FILM_OK) {
            status = film_state_apply(state, &row, &event, &is_event);
            rows++;
            events += is_event;
        }
    }
    if (status != FILM_END) {
        return fail(reader, status, "its rows make no sense");
    }
    if (rows != header->rows || events != header->count) {
        return fail(reader, FILM_CORRUPT,
                    "it has more or fewer rows than its header says");
    }
    if (state->tick != header->last_tick) {
        return fail(reader, FILM_CORRUPT, "its times contradict its header");
    }
    return FILM_OK;
}

static film_status
verify_events(film_reader *reader, const film_chunk_info *chunk)
{
    const film_track *track = film_tracks_find(&reader->tracks, chunk->stream);
    film_chunk_header header = reader->loader.header;
    film_state state = {0};
    film_input sections;
    film_status status;

    if (track == NULL || chunk->count > FILM_CHUNK_EVENTS) {
        return fail(reader, FILM_CORRUPT, "its header makes no sense");
    }
    film_state_begin(&state, chunk->stream, reader->file.block.tick_ns);
    status = film_reader_keyframe(reader, track, chunk, &state);
    /* Looking for a section that is not there passes over all of them. */
    if (status == FILM_OK &&
        film_keyframe_section(reader->keyframe.data, reader->keyframe.length,
                              UINT32_MAX, &sections) != FILM_END) {
        status = FILM_CORRUPT;
    }
    if (status != FILM_OK) {
        status = fail(reader, status, "its keyframe makes no sense");
    }
    else {
        status = verify_rows(reader, &header, &state);
    }
    film_state_reset(&state);
    return status;
}

/* A value and what it refers to, which must come before it. */
static bool
is_value(const film_record *record, uint64_t id)
{
    film_value_record value;
    uint64_t lowest, end;

    return film_value_record_decode(record->body, record->length, &value) &&
           film_value_record_range(&value, &lowest, &end) && end <= id;
}

static film_status
verify_records(film_reader *reader, const film_chunk_info *chunk,
               const film_buffer *bytes)
{
    film_input left = film_input_of(bytes->data, bytes->length);
    film_record record;
    uint32_t found = 0;

    while (film_input_left(&left) > 0) {
        if (film_record_decode(&left.at, left.end, &record) != FILM_OK) {
            return fail(reader, FILM_CORRUPT, "its records make no sense");
        }
        if (record.kind == FILM_RECORD_VALUE &&
            !is_value(&record, chunk->first + found)) {
            return fail(reader, FILM_CORRUPT, "its records make no sense");
        }
        found++;
    }
    return found == chunk->count
               ? FILM_OK
               : fail(reader, FILM_CORRUPT,
                      "it has more or fewer records than its header says");
}

static film_status
verify_values(film_reader *reader, const film_chunk_info *chunk)
{
    film_buffer records = {0};
    film_status status;

    if ((reader->loader.header.flags & FILM_CHUNK_COLUMNS) == 0) {
        return verify_records(reader, chunk, &reader->scratch);
    }
    status = film_value_columns_join(reader->scratch.data, reader->scratch.length,
                                     chunk->first, FILM_CHUNK_MAX_RAW, &records);
    status = status == FILM_OK ? verify_records(reader, chunk, &records)
                               : fail(reader, status, "its columns make no sense");
    film_buffer_reset(&records);
    return status;
}

static film_status
verify_meta(film_reader *reader)
{
    film_input input = film_input_of(reader->scratch.data, reader->scratch.length);
    const char *key, *value;
    size_t key_length, value_length;
    film_status status;

    do {
        status = film_meta_next(&input, &key, &key_length, &value, &value_length);
    } while (status == FILM_OK);
    return status == FILM_END ? FILM_OK
                              : fail(reader, status, "its pairs make no sense");
}

static film_status
verify_source(film_reader *reader)
{
    film_input input = film_input_of(reader->scratch.data, reader->scratch.length);
    size_t length;

    film_input_bytes(&input, &length);
    film_input_varint32(&input);
    return input.failed ? fail(reader, FILM_CORRUPT, "its text makes no sense")
                        : FILM_OK;
}

static film_status
verify_summary(film_reader *reader)
{
    size_t length;
    const uint8_t *bytes = film_loader_summary(&reader->loader, &length);
    film_input body;

    /* Looking for a section that is not there passes over all of them. */
    return length == 0 ||
                   film_summary_section(bytes, length, UINT32_MAX, &body) == FILM_END
               ? FILM_OK
               : fail(reader, FILM_CORRUPT, "its summary makes no sense");
}

static film_status
verify_content(film_reader *reader, const film_chunk_info *chunk)
{
    const film_buffer *raw = &reader->scratch;
    film_status status;

    switch ((film_chunk_type)chunk->type) {
    case FILM_CHUNK_META:
        return verify_meta(reader);
    case FILM_CHUNK_TABLE:
        status = film_tables_check(raw->data, raw->length, chunk->count);
        return status == FILM_OK ? FILM_OK
                                 : fail(reader, status, "its records make no sense");
    case FILM_CHUNK_VALUE:
        return verify_values(reader, chunk);
    case FILM_CHUNK_EVENT:
        return verify_events(reader, chunk);
    case FILM_CHUNK_SOURCE:
        return verify_source(reader);
    case FILM_CHUNK_INDEX:
        return raw->length % FILM_INDEX_ENTRY == 0
                   ? FILM_OK
                   : fail(reader, FILM_CORRUPT, "the index is not readable");
    case FILM_CHUNK_TOTALS:
    case FILM_CHUNK_WINDOWS:
    default:
        return FILM_OK;
    }
}

film_status
film_reader_verify_chunk(film_reader *reader, size_t index, film_error *error)
{
    const film_chunk_info *chunk;
    film_status status;

    if (index >= reader->directory.count) {
        return film_fail(error, FILM_MISUSE, "there is no chunk %zu", index);
    }
    chunk = &reader->directory.chunks[index];
    if (chunk->type == FILM_CHUNK_UNREADABLE) {
        status = fail(reader, FILM_CORRUPT, "its header is not readable");
    }
    else {
        status = film_loader_load(&reader->loader, chunk);
        if (status == FILM_OK) {
            status = verify_summary(reader);
        }
        if (status == FILM_OK && chunk->type != FILM_CHUNK_WINDOWS) {
            status = film_loader_payload(&reader->loader, &reader->scratch);
        }
        if (status == FILM_OK) {
            status = verify_content(reader, chunk);
        }
    }
    if (status == FILM_OK) {
        return FILM_OK;
    }
    if (status == FILM_NO_MEMORY) {
        return film_fail(error, status, "memory ran out");
    }
    if (status == FILM_TRUNCATED) {
        status = FILM_CORRUPT;
    }
    return film_fail_at(error, status, film_file_physical(&reader->file, chunk->offset),
                        "chunk %zu at byte %" PRIu64 " is damaged: %s", index,
                        film_file_physical(&reader->file, chunk->offset),
                        reader->loader.why);
}
