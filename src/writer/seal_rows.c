/* seal_rows.c: the sealing thread's inner loop: rows of windows to columns.
 * Calls, returns, lines and writes are nearly all there is, so they have paths of their
 * own that make no event; everything they do to the stack is format/state.h's. It must
 * keep up with the program: some 15 ns an event where a program makes one in 50.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/hash.h"
#include "writer/writer_state.h"

/* The cover of each depth is told every so many rows, and at once for a stretch of so
 * many ticks, which belongs to one stack. */
#define COVER_ROWS 64u
#define COVER_TICKS 1024u

/* Rows that room is made for at once, and what one of them may add to a column. */
#define ROOM_ROWS 512u
#define NUMBER_BYTES 5u
#define TIME_BYTES 10u

/* Where rows come from and how their clock is read; locals of the loop. */
typedef struct row_source {
    film_window *window;
    const uint8_t *at, *end;
    film_segment segment;
    uint64_t segment_end;
    uint32_t tick_ns;
    uint32_t rows_left; /* that the columns have room for */
    /* Time not yet told to the summary's cover, and the rows it was gathered over. */
    uint64_t uncovered;
    uint32_t uncovered_rows;
    /* Ends of the columns that common rows go to, written without a look at their
     * capacity. */
    uint8_t *kinds, *times, *codes, *sites, *offsets, *heads, *counts, *line_times;
    film_token_ends tokens;
} row_source;

/* The function's share of the chunk, its stable hash at hand. */
static inline film_share *
share_of(film_writer *writer, uint32_t code)
{
    film_share *share = film_summary_share(&writer->summary, code);

    if (__builtin_expect(share != NULL && !share->hashed, 0)) {
        share->hash = film_writer_code_hash(writer, code);
        share->hashed = true;
    }
    return share;
}

/* One column's part in open_columns and leave_columns. */
typedef struct column_end {
    film_column column;
    uint32_t bytes; /* of a row at most */
    uint8_t **end;
} column_end;

#define TOKEN_BYTES (FILM_ROW_VALUES_MAX * FILM_TOKEN_COLUMN_MAX)

#define COLUMN_ENDS(source)                                                            \
    {                                                                                  \
        {FILM_COLUMN_KIND, 1, &(source)->kinds},                                       \
        {FILM_COLUMN_TIME, TIME_BYTES, &(source)->times},                              \
        {FILM_COLUMN_CODE, NUMBER_BYTES, &(source)->codes},                            \
        {FILM_COLUMN_SITE, NUMBER_BYTES, &(source)->sites},                            \
        {FILM_COLUMN_OFFSET, NUMBER_BYTES, &(source)->offsets},                        \
        {FILM_COLUMN_SET, TIME_BYTES, &(source)->heads},                               \
        {FILM_COLUMN_COUNT, 1, &(source)->counts},                                     \
        {FILM_COLUMN_LINE_TIME, TIME_BYTES, &(source)->line_times},                    \
        {FILM_COLUMN_TOKEN, FILM_ROW_VALUES_MAX, &(source)->tokens.tokens},            \
        {FILM_COLUMN_NUMBER, TOKEN_BYTES, &(source)->tokens.numbers},                  \
        {FILM_COLUMN_FLOAT, TOKEN_BYTES, &(source)->tokens.floats},                    \
        {FILM_COLUMN_TEXT, TOKEN_BYTES, &(source)->tokens.texts},                      \
        {FILM_COLUMN_REFERENCE, TOKEN_BYTES, &(source)->tokens.references},            \
    }

/* Makes room for ROOM_ROWS rows at their widest. */
static bool
open_columns(film_writer *writer, row_source *source)
{
    column_end ends[] = COLUMN_ENDS(source);

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        *ends[i].end = film_buffer_reserve(&writer->columns.buffers[ends[i].column],
                                           (size_t)ROOM_ROWS * ends[i].bytes);
        if (*ends[i].end == NULL) {
            return false;
        }
    }
    source->rows_left = ROOM_ROWS;
    return true;
}

static void
leave_columns(film_writer *writer, row_source *source)
{
    column_end ends[] = COLUMN_ENDS(source);

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        film_buffer *buffer = &writer->columns.buffers[ends[i].column];
        buffer->length = (size_t)(*ends[i].end - buffer->data);
    }
}

static film_status
reopen_columns(film_writer *writer, row_source *source)
{
    leave_columns(writer, source);
    return open_columns(writer, source) ? FILM_OK : FILM_NO_MEMORY;
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

/* What film_columns_append does, for the kinds that take_any gets. */
static film_status
put_row(film_writer *writer, row_source *source, const film_row *row)
{
    film_columns *columns = &writer->columns;

    if (row->kind == FILM_KIND_LINE) { /* outside any frame, or with a time */
        leave_columns(writer, source);
        (void)film_columns_append(columns, row);
        return open_columns(writer, source) ? FILM_OK : FILM_NO_MEMORY;
    }
    columns->rows++;
    *source->kinds++ = row->kind;
    source->times = film_varint_encode(source->times, row->delta);
    if (row->kind == FILM_KIND_YIELD) {
        source->offsets = film_varint_encode(source->offsets, row->offset);
    }
    else if (row->kind == FILM_KIND_RESUME) {
        film_buffer_put_varint(&columns->buffers[FILM_COLUMN_FRAME], row->frame_delta);
        source->codes = film_varint_encode(source->codes, row->code);
        source->offsets = film_varint_encode(source->offsets, row->offset);
        source->sites = film_varint_encode(source->sites, row->site);
    }
    else {
        film_buffer_put_bytes(&columns->buffers[FILM_COLUMN_EXT], row->body,
                              row->body_length);
    }
    return FILM_OK;
}

/* Everything but the common rows. */
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
    FILM_TRY(put_row(writer, source, &row));
    if (!is_event) {
        if (row.kind == FILM_KIND_CELLS) {
            film_seal_note_cells(&row, chunk);
        }
        else if (row.kind == FILM_KIND_RESTORED) {
            film_seal_note_restored(&row, chunk);
        }
        else if (row.kind != FILM_KIND_PAUSE) {
            writer->touched.adjusted = true;
        }
        return FILM_OK;
    }
    film_token_facts_note(&writer->columns.facts, &event);
    film_seal_note_greatest(&event, chunk);
    film_seal_note_touched(writer, &event);
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
    film_state_begin_locals(state, state->values.data, state->values.length,
                            state->values_given ? 0 : state->value_count);
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
    if (stream->state.locals != NULL) {
        film_locals_release(stream->state.locals, stream->state.closed.locals);
    }
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
    film_state_forget_values(state);
    state->event++;
    writer->columns.rows++;
    return FILM_OK;
}

/* A line; most have no time of their own. */
static inline film_status
take_line(film_writer *writer, film_stream *stream, row_source *source,
          film_gathering *chunk)
{
    film_input input = {.at = source->at + 1, .end = source->end};
    film_state *state = &stream->state;
    film_columns *columns = &writer->columns;
    uint64_t delta = *source->at >> 3;
    uint32_t offset;
    film_frame *top;
    film_share *share;

    if (__builtin_expect(state->depth == 0 || (delta != 0 && !columns->lines_timed),
                         0)) {
        return take_any(writer, stream, source, chunk);
    }
    if (delta == FILM_ROW_DELTA_ESCAPE) {
        delta += film_input_varint(&input);
    }
    offset = film_input_varint32(&input);
    top = &state->frames[state->depth - 1];
    share = share_of(writer, top->code);
    if (__builtin_expect(input.failed || share == NULL, 0)) {
        return input.failed ? FILM_CORRUPT : FILM_NO_MEMORY;
    }
    source->at = input.at;
    if (columns->lines_timed) {
        stream->raw += delta;
        delta = elapsed(writer, source, state, stream->raw);
        share->own += delta;
        note_cover(writer, source, state, delta);
        state->tick += delta;
        source->line_times = film_varint_encode(source->line_times, delta);
    }
    top->offset = offset;
    top->home_chunk = 0;
    *source->kinds++ = FILM_KIND_LINE;
    source->offsets = film_varint_encode(source->offsets, offset);
    writer->summary.kinds[FILM_KIND_LINE]++;
    mix(stream, FILM_KIND_LINE, offset, share->hash);
    film_touched_line(&writer->touched, top->code, offset);
    state->event++;
    state->has_closed = false;
    columns->lines++;
    columns->rows++;
    chunk->events++;
    return FILM_OK;
}

static inline film_status
take_set(film_writer *writer, film_stream *stream, row_source *source,
         film_gathering *chunk)
{
    film_input input = {.at = source->at + 1, .end = source->end};
    film_state *state = &stream->state;
    film_columns *columns = &writer->columns;
    uint64_t head = film_input_varint(&input), hash = 0;
    uint32_t offset = FILM_NO_OFFSET;
    film_input tokens = input;

    if (__builtin_expect(input.failed || *source->at >> 3 != 0 ||
                             (head & 7) >= FILM_SET_FORMS ||
                             head >> FILM_SET_SHIFT > UINT32_MAX,
                         0)) {
        return FILM_CORRUPT;
    }
    *source->kinds++ = FILM_KIND_SET;
    source->heads = film_varint_encode(source->heads, head);
    columns->facts.digest = film_digest_mix(columns->facts.digest, head);
    if (!film_tokens_split(&input, film_set_tokens(head & 7), &columns->past,
                           &source->tokens, &columns->facts)) {
        return FILM_CORRUPT;
    }
    source->at = input.at;
    if (state->depth > 0) {
        const film_frame *top = &state->frames[state->depth - 1];
        const film_share *share = share_of(writer, top->code);
        hash = share == NULL ? 0 : share->hash;
        offset = top->offset;
        tokens.end = input.at;
        film_seal_note_write(writer, top->code, head, tokens);
        film_state_keep_write(state, head, tokens.at, film_input_left(&tokens));
    }
    writer->summary.kinds[FILM_KIND_SET]++;
    mix(stream, FILM_KIND_SET, offset, hash);
    state->event++;
    state->has_closed = false;
    columns->rows++;
    chunk->events++;
    return FILM_OK;
}

/* Values of the next event: those of a call are its frame's first variables. */
static inline film_status
take_values(film_writer *writer, film_stream *stream, row_source *source)
{
    film_input input = {.at = source->at + 1, .end = source->end};
    film_columns *columns = &writer->columns;
    film_state *state = &stream->state;
    const uint8_t *tokens = input.at;
    uint32_t count = *source->at >> 3;

    if (__builtin_expect(count == 0 || count > FILM_ROW_VALUES_MAX, 0)) {
        return FILM_CORRUPT;
    }
    *source->kinds++ = FILM_KIND_VALUES;
    *source->counts++ = (uint8_t)count;
    if (!film_tokens_split(&input, count, &columns->past, &source->tokens,
                           &columns->facts)) {
        return FILM_CORRUPT;
    }
    source->at = input.at;
    columns->rows++;
    if (state->locals != NULL && state->values.length < FILM_STATE_MAX_VALUES) {
        if (state->values_given) {
            film_state_forget_values(state);
        }
        film_buffer_append(&state->values, tokens, (size_t)(input.at - tokens));
        state->value_count += count;
    }
    return FILM_OK;
}

static film_status
take_row(film_writer *writer, film_stream *stream, row_source *source,
         film_gathering *chunk)
{
    switch (*source->at & 7) {
    case FILM_ROW_CALL:
    case FILM_ROW_RETURN:
        FILM_TRY(take_common(writer, stream, source, *source->at));
        chunk->events++;
        return FILM_OK;
    case FILM_ROW_LINE:
        return take_line(writer, stream, source, chunk);
    case FILM_ROW_SET:
        return take_set(writer, stream, source, chunk);
    case FILM_ROW_VALUES:
        return take_values(writer, stream, source);
    default:
        return take_any(writer, stream, source, chunk);
    }
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
        if (__builtin_expect(source->rows_left == 0, 0)) {
            FILM_TRY(reopen_columns(writer, source));
        }
        source->rows_left--;
        FILM_TRY(take_row(writer, stream, source, chunk));
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
    writer->columns.facts.digest = stream->value_digest;
    writer->columns.facts.lowest = UINT64_MAX;
    open_window(&source, stream->oldest);
    source.segment = film_timescale_segment(&writer->block.timescale, stream->raw,
                                            &source.segment_end);
    status = take_rows(writer, stream, &source, wanted, chunk);
    film_summary_cover(&writer->summary, &stream->state, source.uncovered);
    leave_window(&source);
    leave_columns(writer, &source);
    stream->value_digest = writer->columns.facts.digest;
    if (writer->columns.facts.lowest < chunk->first_value) {
        chunk->first_value = writer->columns.facts.lowest;
    }
    if (writer->columns.past.next > chunk->next_value) {
        chunk->next_value = writer->columns.past.next;
    }
    return status;
}
