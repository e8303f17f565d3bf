/* seal_rows.c: the sealing thread's inner loop: rows of windows to columns.
 * Calls and returns are nearly all there is, so they have a path of their own that
 * makes no event; everything they do to the stack is format/state.h's. It must keep up
 * with the program: some 15 ns an event where a program makes one in 50.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/hash.h"
#include "writer/writer_state.h"

/* The cover of each depth is told every so many rows, and at once for a stretch of so
 * many ticks, which belongs to one stack. */
#define COVER_ROWS 64u
#define COVER_TICKS 1024u

/* Where rows come from and how their clock is read; locals of the loop. */
typedef struct row_source {
    film_window *window;
    const uint8_t *at, *end;
    film_segment segment;
    uint64_t segment_end;
    uint32_t tick_ns;
    /* Time not yet told to the summary's cover, and the rows it was gathered over. */
    uint64_t uncovered;
    uint32_t uncovered_rows;
    /* Ends of the columns that calls and returns go to. Room for a whole chunk of them
     * is reserved, so they are written without a look at their capacity. */
    uint8_t *kinds, *times, *codes, *sites, *offsets;
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

/* The function's share of the chunk, its stable hash at hand. */
static inline film_share *
share_of(film_writer *writer, uint32_t code)
{
    film_share *share = film_summary_share(&writer->summary, code);

    if (__builtin_expect(share != NULL && !share->hashed, 0)) {
        share->hash = code_hash(writer, code);
        share->hashed = true;
    }
    return share;
}

/* A chunk's calls and returns at their widest: 5 bytes a number, 10 a time. */
static bool
open_columns(film_writer *writer, row_source *source)
{
    film_buffer *columns = writer->columns.buffers;

    source->kinds = film_buffer_reserve(&columns[FILM_COLUMN_KIND], FILM_CHUNK_EVENTS);
    source->times =
        film_buffer_reserve(&columns[FILM_COLUMN_TIME], FILM_CHUNK_EVENTS * 10);
    source->codes =
        film_buffer_reserve(&columns[FILM_COLUMN_CODE], FILM_CHUNK_EVENTS * 5);
    source->sites =
        film_buffer_reserve(&columns[FILM_COLUMN_SITE], FILM_CHUNK_EVENTS * 5);
    source->offsets =
        film_buffer_reserve(&columns[FILM_COLUMN_OFFSET], FILM_CHUNK_EVENTS * 5);
    return source->kinds != NULL && source->times != NULL && source->codes != NULL &&
           source->sites != NULL && source->offsets != NULL;
}

static void
leave_columns(film_writer *writer, const row_source *source)
{
    film_buffer *columns = writer->columns.buffers;

#define LEAVE(column, end)                                                             \
    columns[column].length = (size_t)((end) - columns[column].data)
    LEAVE(FILM_COLUMN_KIND, source->kinds);
    LEAVE(FILM_COLUMN_TIME, source->times);
    LEAVE(FILM_COLUMN_CODE, source->codes);
    LEAVE(FILM_COLUMN_SITE, source->sites);
    LEAVE(FILM_COLUMN_OFFSET, source->offsets);
#undef LEAVE
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
        source->segment =
            film_timescale_segment(&writer->block.timescale, raw, &source->segment_end);
    }
    ns = __builtin_expect(raw < source->segment.raw, 0)
             ? film_timescale_ns(&writer->block.timescale, raw)
             : film_segment_ns(&source->segment, raw);
    tick = source->tick_ns == 16 ? ns >> 4 : ns / source->tick_ns;
    return tick > state->tick ? tick - state->tick : 0;
}

static inline void
note_cover(film_writer *writer, row_source *source, const film_state *state,
           uint64_t ticks)
{
    source->uncovered += ticks;
    if (++source->uncovered_rows >= COVER_ROWS || ticks >= COVER_TICKS) {
        film_summary_cover(&writer->summary, state, source->uncovered);
        source->uncovered = 0;
        source->uncovered_rows = 0;
    }
}

static inline void
mix(film_stream *stream, uint8_t kind, uint32_t offset, uint64_t hash)
{
    stream->flow_digest =
        film_digest_mix(stream->flow_digest, ((uint64_t)offset << 8 | kind) ^ hash);
}

/* Everything but calls and returns. */
static film_status
take_any(film_writer *writer, film_stream *stream, row_source *source,
         film_gathering *chunk)
{
    film_state *state = &stream->state;
    film_share *share;
    film_row row;
    film_event event;
    bool is_event;

    FILM_TRY(film_row_decode(&source->at, source->end, &row));
    stream->raw += row.delta;
    row.delta = elapsed(writer, source, state, stream->raw);
    if (state->depth > 0) {
        share = share_of(writer, state->frames[state->depth - 1].code);
        if (share != NULL) {
            share->own += row.delta;
        }
        note_cover(writer, source, state, row.delta);
    }
    FILM_TRY(film_state_apply(state, &row, &event, &is_event));
    leave_columns(writer, source);
    film_columns_append(&writer->columns, &row);
    if (!open_columns(writer, source)) {
        return FILM_NO_MEMORY;
    }
    if (!is_event) {
        return FILM_OK;
    }
    share = event.code == FILM_NO_CODE ? NULL : share_of(writer, event.code);
    mix(stream, event.kind, event.offset, share == NULL ? 0 : share->hash);
    if (event.value != 0 && event.value - 1 < chunk->first_value) {
        chunk->first_value = event.value - 1;
    }
    if (event.kind == FILM_KIND_LOST) {
        chunk->lost += event.count;
    }
    if (event.kind < FILM_KIND_COUNT) {
        writer->summary.kinds[event.kind]++;
    }
    film_summary_note_depth(&writer->summary, state);
    if (state->has_closed) {
        film_totals_close(&writer->totals, state);
    }
    chunk->events++;
    return FILM_OK;
}

static inline film_status
take_call(film_writer *writer, film_stream *stream, row_source *source, uint32_t code,
          uint32_t site)
{
    film_state *state = &stream->state;
    film_share *share = share_of(writer, code);

    if (__builtin_expect(share == NULL, 0)) {
        return FILM_NO_MEMORY;
    }
    state->has_closed = false;
    film_state_note_site(state, site);
    FILM_TRY(film_state_push(state, state->next_frame++, code, FILM_NO_OFFSET, site));
    *source->kinds++ = FILM_KIND_CALL;
    source->codes = film_varint_encode(source->codes, code);
    source->sites = film_varint_encode(source->sites, site);
    share->calls++;
    writer->summary.kinds[FILM_KIND_CALL]++;
    mix(stream, FILM_KIND_CALL, 0, share->hash);
    return FILM_OK;
}

static inline film_status
take_return(film_writer *writer, film_stream *stream, row_source *source, uint64_t hash,
            uint32_t offset)
{
    FILM_TRY(film_state_pop(&stream->state));
    *source->kinds++ = FILM_KIND_RETURN;
    source->offsets = film_varint_encode(source->offsets, offset);
    writer->summary.kinds[FILM_KIND_RETURN]++;
    mix(stream, FILM_KIND_RETURN, offset, hash);
    film_totals_close(&writer->totals, &stream->state);
    return FILM_OK;
}

/* A call or a return. */
static inline film_status
take_common(film_writer *writer, film_stream *stream, row_source *source, uint8_t tag)
{
    film_input input = {.at = source->at + 1, .end = source->end};
    film_state *state = &stream->state;
    uint64_t delta = tag >> 3, hash = 0;
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
    if (state->depth > 0) {
        film_share *share = share_of(writer, state->frames[state->depth - 1].code);
        if (__builtin_expect(share == NULL, 0)) {
            return FILM_NO_MEMORY;
        }
        share->own += delta;
        hash = share->hash;
        note_cover(writer, source, state, delta);
    }
    state->tick += delta;
    source->times = film_varint_encode(source->times, delta);
    FILM_TRY((tag & 7) == FILM_ROW_CALL
                 ? take_call(writer, stream, source, first, second)
                 : take_return(writer, stream, source, hash, first));
    film_summary_note_depth(&writer->summary, state);
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

    if (!open_columns(writer, &source)) {
        return FILM_NO_MEMORY;
    }
    open_window(&source, stream->oldest);
    source.segment = film_timescale_segment(&writer->block.timescale, stream->raw,
                                            &source.segment_end);
    status = take_rows(writer, stream, &source, wanted, chunk);
    film_summary_cover(&writer->summary, &stream->state, source.uncovered);
    leave_window(&source);
    leave_columns(writer, &source);
    return status;
}
