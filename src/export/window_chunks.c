/* window_chunks.c: see window_chunks.h. The same as the writer's sealing thread does,
 * without its haste: every row through format/state.h and format/columns.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/window_chunks.h"

#include <string.h>

#include "format/columns.h"
#include "format/keyframe.h"
#include "format/records.h"
#include "format/summary.h"
#include "format/value_columns.h"
#include "format/window.h"

#define CHUNK_EVENTS 16384u
#define LEVEL_VALUES 2u

static void
reset_chunk(film_window_chunk *chunk)
{
    film_buffer_reset(&chunk->summary);
    film_buffer_reset(&chunk->keyframe);
    film_buffer_reset(&chunk->payload);
}

static film_status
give(film_window_chunk *chunk, film_window_chunk_take take, void *context)
{
    if (chunk->summary.failed || chunk->keyframe.failed || chunk->payload.failed) {
        return FILM_NO_MEMORY;
    }
    return take(context, chunk);
}

/* --- names and values --- */

/* The chunk of that type whose records come last; NULL: there is none. */
static const film_chunk_info *
last_chunk(const film_reader *reader, film_chunk_type type)
{
    const film_chunk_info *last = NULL;

    for (size_t i = 0; i < film_reader_chunk_count(reader); i++) {
        const film_chunk_info *chunk = film_reader_chunk(reader, i);

        if (chunk->type == type && (last == NULL || chunk->first >= last->first)) {
            last = chunk;
        }
    }
    return last;
}

/* How many strings and codes the chunks have, as the last one tells. */
static film_status
count_table(film_reader *reader, const film_chunk_info *last, uint64_t *strings,
            uint64_t *codes)
{
    film_buffer raw = {0};
    film_input input;
    film_record record;
    film_status status = film_loader_load(&reader->loader, last);

    if (status == FILM_OK) {
        status = film_loader_payload(&reader->loader, &raw);
    }
    if (status == FILM_OK) {
        input = film_input_of(raw.data, raw.length);
        *strings = film_input_varint(&input);
        *codes = film_input_varint(&input);
        while (!input.failed &&
               film_record_decode(&input.at, input.end, &record) == FILM_OK) {
            *strings += record.kind == FILM_RECORD_STRING;
            *codes += record.kind == FILM_RECORD_CODE;
        }
    }
    film_buffer_reset(&raw);
    return status;
}

/* Appends the window's records from number `from` on to the chunk's payload. */
static void
take_records(const film_window_copy *window, uint64_t from, film_window_chunk *chunk)
{
    const uint8_t *at = window->rows, *end = window->rows + window->length;
    uint64_t number = window->first;
    film_record record;

    while (at < end) {
        const uint8_t *before = at;

        if (film_record_decode(&at, end, &record) != FILM_OK) {
            break;
        }
        if (number++ >= from) {
            film_buffer_append(&chunk->payload, before, (size_t)(at - before));
            chunk->header.count++;
        }
    }
}

/* A chunk of the windows' records behind `sealed`; `payload` may have a head. */
static void
gather_records(film_reader *reader, uint32_t stream, uint64_t sealed,
               film_window_chunk *chunk)
{
    size_t count;
    const film_window_copy *windows = film_windows_of(&reader->windows, stream, &count);

    chunk->header.stream = stream;
    chunk->header.first = sealed;
    chunk->header.first_value = UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        uint64_t from = sealed + chunk->header.count;

        if (windows[i].first <= from) { /* else there is a gap */
            take_records(&windows[i], from, chunk);
        }
    }
}

static film_status
give_table(film_reader *reader, film_window_chunk_take take, void *context)
{
    const film_chunk_info *last = last_chunk(reader, FILM_CHUNK_TABLE);
    film_window_chunk chunk = {.header = {.type = FILM_CHUNK_TABLE}};
    uint64_t sealed = 0, strings = 0, codes = 0;
    film_status status = FILM_OK;

    if (last != NULL) {
        sealed = last->first + last->count;
        chunk.header.number = last->number + 1;
        FILM_TRY(count_table(reader, last, &strings, &codes));
    }
    film_buffer_put_varint(&chunk.payload, strings);
    film_buffer_put_varint(&chunk.payload, codes);
    gather_records(reader, FILM_STREAM_TABLE, sealed, &chunk);
    if (chunk.header.count > 0) {
        status = give(&chunk, take, context);
    }
    reset_chunk(&chunk);
    return status;
}

static film_status
give_values(film_reader *reader, film_window_chunk_take take, void *context)
{
    const film_chunk_info *last = last_chunk(reader, FILM_CHUNK_VALUE);
    film_window_chunk chunk = {.header = {.type = FILM_CHUNK_VALUE}};
    film_status status = FILM_OK;
    uint64_t sealed = 0;

    if (last != NULL) {
        sealed = last->first + last->count;
        chunk.header.number = last->number + 1;
    }
    gather_records(reader, FILM_STREAM_VALUE, sealed, &chunk);
    if (chunk.header.count > 0 && reader->file.block.level >= LEVEL_VALUES) {
        film_value_columns columns = {0};
        film_buffer records = chunk.payload;

        memset(&chunk.payload, 0, sizeof(chunk.payload));
        chunk.header.flags |= FILM_CHUNK_COLUMNS;
        film_value_columns_split(&columns, records.data, records.length, sealed,
                                 &chunk.payload);
        chunk.payload.failed = chunk.payload.failed || records.failed;
        film_value_columns_reset(&columns);
        film_buffer_reset(&records);
    }
    if (chunk.header.count > 0) {
        status = give(&chunk, take, context);
    }
    reset_chunk(&chunk);
    return status;
}

/* --- events --- */

typedef struct gathering {
    film_reader *reader;
    const film_track *track;
    film_tail tail;
    film_state state;
    film_columns columns;
    film_summary summary;
    bool ended; /* no more rows, or none that make sense */
} gathering;

/* Brings the state behind the thread's last chunk. */
static film_status
reach_tail(gathering *at)
{
    film_reader *reader = at->reader;
    const film_track *track = at->track;
    const film_chunk_info *chunk;
    film_buffer raw = {0};
    film_column_reader columns;
    film_status status;

    film_state_begin(&at->state, track->info.id, reader->file.block.tick_ns);
    if (track->chunk_count == 0) {
        at->state.event = track->sealed_end;
        return FILM_OK;
    }
    chunk = &reader->directory.chunks[track->chunks[track->chunk_count - 1]];
    FILM_TRY(film_loader_load(&reader->loader, chunk));
    status = film_loader_payload(&reader->loader, &raw);
    if (status == FILM_OK) {
        status = film_reader_keyframe(reader, track, chunk, &at->state);
    }
    if (status == FILM_OK) {
        status = film_column_reader_init(&columns, raw.data, raw.length);
    }
    while (status == FILM_OK) {
        film_event event;
        film_row row;
        bool is_event;

        status = film_column_reader_next(&columns, &row);
        if (status == FILM_OK) {
            status = film_state_apply(&at->state, &row, &event, &is_event);
        }
    }
    film_buffer_reset(&raw);
    return status == FILM_END ? FILM_OK : status;
}

/* What the summary says of the time before a row. */
static void
note_time(gathering *at, uint64_t ticks)
{
    film_share *share;

    if (at->state.depth == 0) {
        return;
    }
    share =
        film_summary_share(&at->summary, at->state.frames[at->state.depth - 1].code);
    if (share != NULL) {
        share->own += ticks;
    }
    film_summary_cover(&at->summary, &at->state, ticks);
}

static void
note_event(gathering *at, const film_event *event, film_chunk_header *header)
{
    if (event->kind < FILM_KIND_COUNT) {
        at->summary.kinds[event->kind]++;
    }
    if (event->kind == FILM_KIND_CALL && event->code != FILM_NO_CODE) {
        film_share *share = film_summary_share(&at->summary, event->code);

        if (share != NULL) {
            share->calls++;
        }
    }
    if (event->kind == FILM_KIND_LOST) {
        header->lost += event->count;
    }
    film_summary_note_depth(&at->summary, &at->state);
    film_token_facts_note(&at->columns.facts, event);
    if (event->value != 0 && event->value - 1 < at->columns.facts.lowest) {
        at->columns.facts.lowest = event->value - 1;
    }
    if (header->count++ == 0) {
        header->first_tick = at->state.tick;
    }
}

/* FILM_END: no more rows that make sense. */
static film_status
take_row(gathering *at, film_chunk_header *header)
{
    const film_superblock *block = &at->reader->file.block;
    film_event event;
    film_row row;
    uint64_t missing, tick;
    bool is_event;
    film_status status = film_tail_next(&at->tail, &row, &missing);

    if (status != FILM_OK || missing > 0) {
        return status != FILM_OK ? status : FILM_END;
    }
    tick = film_timescale_ns(&block->timescale, at->tail.raw) / block->tick_ns;
    row.delta = tick > at->state.tick ? tick - at->state.tick : 0;
    note_time(at, row.delta);
    status = film_state_apply(&at->state, &row, &event, &is_event);
    if (status != FILM_OK) {
        return status == FILM_NO_MEMORY ? status : FILM_END;
    }
    if (!film_columns_append(&at->columns, &row)) {
        return FILM_NO_MEMORY;
    }
    if (is_event) {
        note_event(at, &event, header);
    }
    return FILM_OK;
}

static film_status
gather_events(gathering *at, film_window_chunk *chunk)
{
    film_chunk_header *header = &chunk->header;
    film_status status = FILM_OK;

    film_columns_clear(&at->columns);
    at->columns.facts.lowest = UINT64_MAX;
    film_keyframe_encode(&at->state, header->number, true, &chunk->keyframe);
    film_summary_begin(&at->summary, &at->state);
    header->first = at->state.event;
    while (status == FILM_OK && header->count < CHUNK_EVENTS) {
        status = take_row(at, header);
    }
    at->ended = status == FILM_END;
    header->rows = at->columns.rows;
    header->last_tick = at->state.tick;
    header->first_value = at->columns.facts.lowest;
    film_summary_finish(&at->summary, &at->state, NULL, &chunk->summary);
    film_columns_finish(&at->columns, &chunk->payload);
    return status == FILM_END ? FILM_OK : status;
}

static film_status
give_track(gathering *at, film_window_chunk_take take, void *context)
{
    const film_track *track = at->track;
    uint64_t number = 0;
    film_status status = reach_tail(at);

    if (status == FILM_CORRUPT || status == FILM_TRUNCATED) {
        return FILM_OK; /* the chunk before it is damaged: nothing to build on */
    }
    if (track->chunk_count > 0) {
        number =
            at->reader->directory.chunks[track->chunks[track->chunk_count - 1]].number +
            1;
    }
    film_tail_begin(&at->tail, track, track->sealed_end);
    at->ended = false;
    while (status == FILM_OK && !at->ended) {
        film_window_chunk chunk = {.header = {.type = FILM_CHUNK_EVENT,
                                              .stream = track->info.id,
                                              .number = number}};

        number++;
        status = gather_events(at, &chunk);
        if (status == FILM_OK && chunk.header.count > 0) {
            status = give(&chunk, take, context);
        }
        reset_chunk(&chunk);
    }
    return status;
}

film_status
film_window_chunks(film_reader *reader, film_window_chunk_take take, void *context)
{
    gathering at = {.reader = reader};
    film_status status;

    FILM_TRY(give_table(reader, take, context));
    FILM_TRY(give_values(reader, take, context));
    status = FILM_OK;
    for (size_t i = 0; i < reader->tracks.count && status == FILM_OK; i++) {
        at.track = &reader->tracks.items[i];
        if (at.track->window_count > 0) {
            status = give_track(&at, take, context);
            film_state_reset(&at.state);
        }
    }
    film_columns_reset(&at.columns);
    film_summary_reset(&at.summary);
    return status;
}
