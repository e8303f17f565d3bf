/* seal_events.c: rows of full windows to chunks of exactly 16,384 events.
 * Runs on the sealing side only. A window goes back once the chunk of its last row is
 * in the file, so a kill at any instant finds every row in a chunk or in a window.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "format/keyframe.h"
#include "writer/writer_state.h"

static film_status
seal_chunk(film_writer *writer, film_stream *stream, uint32_t wanted)
{
    film_chunk_parts parts = {.header = {.type = FILM_CHUNK_EVENT}};
    film_chunk_header *header = &parts.header;
    film_gathering chunk = {.first_value = UINT64_MAX};

    film_buffer_clear(&writer->keyframe_bytes);
    film_buffer_clear(&writer->summary_bytes);
    film_buffer_clear(&writer->payload_bytes);
    film_columns_clear(&writer->columns);
    film_locals_begin_chunk(
        &writer->locals,
        writer->block.ring_bytes == 0
            ? 0
            : atomic_load_explicit(&writer->log.value_floor, memory_order_relaxed));
    film_touched_begin(&writer->touched, stream->watermark);
    film_keyframe_encode(&stream->state, stream->chunks, writer->block.ring_bytes != 0,
                         &writer->keyframe_bytes);
    film_summary_begin(&writer->summary, &stream->state);
    FILM_TRY(film_seal_rows(writer, stream, wanted, &chunk));
    film_keyframe_put_resumed(&writer->locals, &writer->keyframe_bytes);
    film_summary_finish(&writer->summary, &stream->state,
                        writer->block.level >= FILM_LEVEL_LINES ? &writer->touched
                                                                : NULL,
                        &writer->summary_bytes);
    if (writer->locals.lowest < chunk.first_value) {
        chunk.first_value = writer->locals.lowest;
    }
    if (chunk.next_value > stream->watermark) {
        stream->watermark = chunk.next_value;
    }
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
    film_gone_forget(writer, stream);
    writer->chunks_since_totals++;
    return FILM_OK;
}

/* A segment of the time scale a second, written slot first, then the count. The slope it
 * began with was measured in a few milliseconds and may be wrong by some 20 us a second;
 * before the first events are sealed it is set right, so that recordings of processes
 * that meet one another agree. */
static film_status
adjust_timescale(film_writer *writer)
{
    uint64_t raw, ns;
    uint8_t bytes[24];
    int slot;

    film_clock_pair(&writer->clock, &raw, &ns);
    ns -= writer->block.start_monotonic_ns;
    slot = -1;
    if (!writer->scale_is_used) {
        slot = film_timescale_measure(&writer->block.timescale, raw, ns) ? 0 : -1;
    }
    if (slot < 0) {
        slot = film_timescale_adjust(&writer->block.timescale, raw, ns);
    }
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
    writer->scale_is_used |= left > 0;
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
