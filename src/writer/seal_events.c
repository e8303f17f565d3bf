/* seal_events.c: rows of full windows to chunks of exactly 16,384 events.
 * Runs on the sealing side only. A window goes back once the chunk of its last row is
 * in the file, so a kill at any instant finds every row in a chunk or in a window.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/hash.h"
#include "format/keyframe.h"
#include "writer/writer_state.h"

static uint64_t
code_hash(film_writer *writer, uint32_t code)
{
    uint64_t *block;

    if (code / FILM_CODE_BLOCK >= FILM_CODE_BLOCKS) {
        return code;
    }
    block = atomic_load_explicit(&writer->code_hashes[code / FILM_CODE_BLOCK],
                                 memory_order_acquire);
    return block == NULL ? code : block[code % FILM_CODE_BLOCK];
}

/* Raw clock to file ticks; both scales only ever go forward. */
static uint64_t
tick_of(const film_writer *writer, uint64_t raw)
{
    uint64_t ns = film_timescale_ns(&writer->block.timescale, raw);

    return writer->block.tick_ns == 16 ? ns >> 4 : ns / writer->block.tick_ns;
}

/* The next row of the stream, its delta in file ticks. Windows follow one another
 * without a gap: the caller asks only for events that are there. */
static film_status
next_row(film_writer *writer, film_stream *stream, film_window **window, film_row *row)
{
    film_window_header *header = (*window)->header;
    uint64_t committed = atomic_load_explicit(&header->committed, memory_order_acquire);
    const uint8_t *rows = film_window_rows(header);
    const uint8_t *from;
    uint64_t tick;

    if ((*window)->position >= committed) {
        *window = (*window)->next;
        if (*window == NULL) {
            return FILM_TRUNCATED;
        }
        return next_row(writer, stream, window, row);
    }
    from = rows + (*window)->position;
    FILM_TRY(film_row_decode(&from, rows + committed, row));
    (*window)->position = (uint64_t)(from - rows);
    stream->raw += row->delta;
    tick = tick_of(writer, stream->raw);
    row->delta = tick > stream->state.tick ? tick - stream->state.tick : 0;
    return FILM_OK;
}

typedef struct gathering {
    uint64_t first_tick, first_value, lost;
    uint32_t events;
} gathering;

static void
note_event(film_writer *writer, film_stream *stream, const film_event *event,
           gathering *chunk)
{
    uint64_t place = (uint64_t)event->offset << 8 | event->kind;

    stream->flow_digest = film_digest_mix(
        stream->flow_digest,
        event->code == FILM_NO_CODE ? place : place ^ code_hash(writer, event->code));
    if (event->value != 0 && event->value - 1 < chunk->first_value) {
        chunk->first_value = event->value - 1;
    }
    if (event->kind == FILM_KIND_LOST) {
        chunk->lost += event->count;
    }
    film_summary_note(&writer->summary, &stream->state, event);
    if (stream->state.has_closed) {
        film_totals_close(&writer->totals, &stream->state);
    }
    chunk->events++;
}

static film_status
gather(film_writer *writer, film_stream *stream, uint32_t wanted, gathering *chunk)
{
    film_window *window = stream->oldest;

    while (chunk->events < wanted) {
        film_state *state = &stream->state;
        film_row row;
        film_event event;
        bool is_event;
        FILM_TRY(next_row(writer, stream, &window, &row));
        if (row.delta > 0 && state->depth > 0) {
            film_summary_elapse(&writer->summary, state->frames[state->depth - 1].code,
                                row.delta);
        }
        FILM_TRY(film_state_apply(state, &row, &event, &is_event));
        film_columns_append(&writer->columns, &row);
        if (is_event) {
            if (chunk->events == 0) {
                chunk->first_tick = state->tick;
            }
            note_event(writer, stream, &event, chunk);
        }
    }
    return FILM_OK;
}

static film_status
seal_chunk(film_writer *writer, film_stream *stream, uint32_t wanted)
{
    film_chunk_parts parts = {.header = {.type = FILM_CHUNK_EVENT}};
    film_chunk_header *header = &parts.header;
    gathering chunk = {.first_value = UINT64_MAX};

    film_buffer_clear(&writer->keyframe_bytes);
    film_buffer_clear(&writer->summary_bytes);
    film_buffer_clear(&writer->payload_bytes);
    film_columns_clear(&writer->columns);
    film_keyframe_encode(&stream->state, stream->chunks, writer->block.ring_bytes != 0,
                         &writer->keyframe_bytes);
    film_summary_begin(&writer->summary, &stream->state);
    FILM_TRY(gather(writer, stream, wanted, &chunk));
    film_summary_finish(&writer->summary, &stream->state, &writer->summary_bytes);
    film_totals_add(&writer->totals, &writer->summary);
    film_columns_finish(&writer->columns, &writer->payload_bytes);
    header->stream = stream->id;
    header->number = stream->chunks;
    header->first = stream->sealed;
    header->count = chunk.events;
    header->rows = writer->columns.rows;
    header->lost = chunk.lost;
    header->first_tick = chunk.first_tick;
    header->last_tick = stream->state.tick;
    header->flow_digest = stream->flow_digest;
    header->value_digest = stream->value_digest;
    header->op_digest = stream->op_digest;
    header->first_value = chunk.first_value;
    film_clock_pair(&writer->clock, &header->clock_raw, &header->clock_ns);
    parts.summary = &writer->summary_bytes;
    parts.keyframe = &writer->keyframe_bytes;
    parts.payload = &writer->payload_bytes;
    FILM_TRY(film_log_append(&writer->log, &parts));
    stream->sealed += chunk.events;
    stream->chunks++;
    writer->chunks_since_totals++;
    return FILM_OK;
}

/* A segment of the time scale a second, written slot first, then the count. */
static film_status
adjust_timescale(film_writer *writer)
{
    uint64_t raw, ns;
    uint8_t bytes[24];
    int slot;

    film_clock_pair(&writer->clock, &raw, &ns);
    slot = film_timescale_adjust(&writer->block.timescale, raw,
                                 ns - writer->block.start_monotonic_ns);
    if (slot < 0) {
        return FILM_OK;
    }
    film_put_u64(bytes, writer->block.timescale.segments[slot].raw);
    film_put_u64(bytes + 8, writer->block.timescale.segments[slot].ns);
    film_put_u64(bytes + 16, writer->block.timescale.segments[slot].slope);
    FILM_TRY(film_sink_write(&writer->sink,
                             FILM_FIELD_SEGMENTS + 8 + (uint64_t)slot * sizeof(bytes),
                             bytes, sizeof(bytes)));
    return film_sink_write_field(&writer->sink, FILM_FIELD_SEGMENTS,
                                 writer->block.timescale.count);
}

/* How many events of the stream lie in windows that are full (or ended). */
static uint64_t
available(film_writer *writer, film_stream *stream, bool all)
{
    uint64_t end = stream->sealed;

    pthread_mutex_lock(&writer->lock);
    for (film_window *window = stream->oldest; window != NULL; window = window->next) {
        if (window != stream->current || all || stream->ended ||
            stream->current_is_full) {
            end = window->end;
        }
    }
    pthread_mutex_unlock(&writer->lock);
    return end - stream->sealed;
}

film_status
film_seal_events(film_writer *writer, film_stream *stream, bool all)
{
    uint64_t left = available(writer, stream, all);

    FILM_TRY(adjust_timescale(writer));
    while (left >= FILM_CHUNK_EVENTS || ((all || stream->ended) && left > 0)) {
        uint32_t wanted = left < FILM_CHUNK_EVENTS ? (uint32_t)left : FILM_CHUNK_EVENTS;
        /* What the events refer to comes first: every prefix of the log is readable. */
        FILM_TRY(film_seal_records(writer, &writer->table));
        FILM_TRY(film_seal_records(writer, &writer->values));
        FILM_TRY(seal_chunk(writer, stream, wanted));
        if (writer->chunks_since_totals >= 1024) {
            FILM_TRY(film_seal_totals(writer));
        }
        film_stream_release(writer, stream);
        left -= wanted;
    }
    return FILM_OK;
}

film_status
film_seal_totals(film_writer *writer)
{
    film_chunk_parts parts = {.header = {.type = FILM_CHUNK_TOTALS}};

    film_buffer_clear(&writer->payload_bytes);
    film_totals_encode(&writer->totals, &writer->payload_bytes);
    parts.header.number = writer->log.totals_number++;
    parts.payload = &writer->payload_bytes;
    writer->chunks_since_totals = 0;
    return film_log_append(&writer->log, &parts);
}
