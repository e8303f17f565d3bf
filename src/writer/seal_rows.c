/* seal_rows.c: the sealing thread's inner loop: rows of windows to columns.
 * Calls and returns are nearly all there is, so they have a path of their own that
 * makes no event; everything they do to the stack is format/state.h's. It must keep up
 * with the program: some 15 ns an event where a program makes one in 50.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/hash.h"
#include "writer/writer_state.h"

/* Where rows come from and how their clock is read; locals of the loop. */
typedef struct row_source {
    film_window *window;
    const uint8_t *at, *end;
    film_segment segment;
    uint64_t segment_end;
    uint32_t tick_ns;
} row_source;

static uint64_t
code_hash(film_writer *writer, uint32_t code)
{
    uint64_t *block;

    if (__builtin_expect(code / FILM_CODE_BLOCK >= FILM_CODE_BLOCKS, 0)) {
        return code;
    }
    block = atomic_load_explicit(&writer->code_hashes[code / FILM_CODE_BLOCK],
                                 memory_order_acquire);
    return block == NULL ? code : block[code % FILM_CODE_BLOCK];
}

static void
open_window(row_source *source, film_window *window)
{
    const uint8_t *rows = film_window_rows(window->header);

    source->window = window;
    source->at = rows + window->position;
    source->end =
        rows + atomic_load_explicit(&window->header->committed, memory_order_acquire);
}

static void
leave_window(row_source *source)
{
    source->window->position =
        (uint64_t)(source->at - film_window_rows(source->window->header));
}

/* Windows follow one another without a gap: the caller asks only for events that are
 * there. */
static film_status
next_window(row_source *source)
{
    film_window *next = source->window->next;

    leave_window(source);
    if (next == NULL) {
        return FILM_TRUNCATED;
    }
    open_window(source, next);
    return FILM_OK;
}

/* File ticks that pass up to `raw`. Both scales only ever go forward. */
static inline uint64_t
elapsed(film_writer *writer, row_source *source, const film_state *state, uint64_t raw)
{
    uint64_t ns, tick;

    if (__builtin_expect(raw < source->segment.raw || raw >= source->segment_end, 0)) {
        source->segment = film_timescale_segment(&writer->block.timescale, raw,
                                                 &source->segment_end);
    }
    ns = __builtin_expect(raw < source->segment.raw, 0)
             ? film_timescale_ns(&writer->block.timescale, raw)
             : film_segment_ns(&source->segment, raw);
    tick = source->tick_ns == 16 ? ns >> 4 : ns / source->tick_ns;
    return tick > state->tick ? tick - state->tick : 0;
}

static inline void
mix(film_writer *writer, film_stream *stream, uint8_t kind, uint32_t offset,
    uint32_t code)
{
    uint64_t place = (uint64_t)offset << 8 | kind;

    stream->flow_digest = film_digest_mix(
        stream->flow_digest,
        code == FILM_NO_CODE ? place : place ^ code_hash(writer, code));
}

/* Everything but calls and returns, and rows at a window's end. */
static film_status
take_any(film_writer *writer, film_stream *stream, row_source *source,
         film_gathering *chunk)
{
    film_state *state = &stream->state;
    film_row row;
    film_event event;
    bool is_event;

    FILM_TRY(film_row_decode(&source->at, source->end, &row));
    stream->raw += row.delta;
    row.delta = elapsed(writer, source, state, stream->raw);
    film_summary_elapse(&writer->summary, state, row.delta);
    FILM_TRY(film_state_apply(state, &row, &event, &is_event));
    film_columns_append(&writer->columns, &row);
    if (!is_event) {
        return FILM_OK;
    }
    mix(writer, stream, event.kind, event.offset, event.code);
    if (event.value != 0 && event.value - 1 < chunk->first_value) {
        chunk->first_value = event.value - 1;
    }
    if (event.kind == FILM_KIND_LOST) {
        chunk->lost += event.count;
    }
    film_summary_note(&writer->summary, state, event.kind, event.code);
    if (state->has_closed) {
        film_totals_close(&writer->totals, state);
    }
    chunk->events++;
    return FILM_OK;
}

static inline film_status
take_call(film_writer *writer, film_stream *stream, uint64_t delta, uint32_t code,
          uint32_t site)
{
    film_state *state = &stream->state;
    film_buffer *columns = writer->columns.buffers;

    state->has_closed = false;
    film_state_note_site(state, site);
    FILM_TRY(film_state_push(state, state->next_frame++, code, FILM_NO_OFFSET, site));
    film_buffer_put_byte(&columns[FILM_COLUMN_KIND], FILM_KIND_CALL);
    film_buffer_put_varint(&columns[FILM_COLUMN_TIME], delta);
    film_buffer_put_varint(&columns[FILM_COLUMN_CODE], code);
    film_buffer_put_varint(&columns[FILM_COLUMN_SITE], site);
    mix(writer, stream, FILM_KIND_CALL, 0, code);
    film_summary_note(&writer->summary, state, FILM_KIND_CALL, code);
    return FILM_OK;
}

static inline film_status
take_return(film_writer *writer, film_stream *stream, uint64_t delta, uint32_t offset)
{
    film_state *state = &stream->state;
    film_buffer *columns = writer->columns.buffers;

    FILM_TRY(film_state_pop(state));
    film_buffer_put_byte(&columns[FILM_COLUMN_KIND], FILM_KIND_RETURN);
    film_buffer_put_varint(&columns[FILM_COLUMN_TIME], delta);
    film_buffer_put_varint(&columns[FILM_COLUMN_OFFSET], offset);
    mix(writer, stream, FILM_KIND_RETURN, offset, state->closed.code);
    film_summary_note(&writer->summary, state, FILM_KIND_RETURN, state->closed.code);
    film_totals_close(&writer->totals, state);
    return FILM_OK;
}

/* A call or a return; the input has room for the longest row, so only the numbers'
 * width can be wrong. */
static inline film_status
take_common(film_writer *writer, film_stream *stream, row_source *source, uint8_t tag)
{
    film_input input = {.at = source->at + 1, .end = source->end};
    film_state *state = &stream->state;
    uint64_t delta = tag >> 3;
    uint32_t first, second = 0;

    if (delta == FILM_ROW_DELTA_ESCAPE) {
        delta += film_input_varint(&input);
    }
    first = film_input_varint32(&input);
    if ((tag & 7) == FILM_ROW_CALL) {
        second = film_input_varint32(&input);
    }
    if (__builtin_expect(input.failed, 0)) {
        return FILM_CORRUPT;
    }
    source->at = input.at;
    stream->raw += delta;
    delta = elapsed(writer, source, state, stream->raw);
    film_summary_elapse(&writer->summary, state, delta);
    state->tick += delta;
    FILM_TRY((tag & 7) == FILM_ROW_CALL
                 ? take_call(writer, stream, delta, first, second)
                 : take_return(writer, stream, delta, first));
    state->event++;
    writer->columns.rows++;
    return FILM_OK;
}

static film_status
take_rows(film_writer *writer, film_stream *stream, row_source *source, uint32_t wanted,
          film_gathering *chunk)
{
    while (chunk->events < wanted) {
        uint32_t before = chunk->events;
        if (source->at >= source->end) {
            FILM_TRY(next_window(source));
            continue;
        }
        if ((*source->at & 7) <= FILM_ROW_RETURN) {
            FILM_TRY(take_common(writer, stream, source, *source->at));
            chunk->events++;
        }
        else {
            FILM_TRY(take_any(writer, stream, source, chunk));
        }
        if (before == 0 && chunk->events == 1) {
            chunk->first_tick = stream->state.tick;
        }
    }
    return FILM_OK;
}

film_status
film_seal_rows(film_writer *writer, film_stream *stream, uint32_t wanted,
               film_gathering *chunk)
{
    row_source source = {.tick_ns = writer->block.tick_ns};
    film_status status;

    open_window(&source, stream->oldest);
    source.segment = film_timescale_segment(&writer->block.timescale, stream->raw,
                                            &source.segment_end);
    status = take_rows(writer, stream, &source, wanted, chunk);
    leave_window(&source);
    return status;
}
