/* keyframe.c: see keyframe.h for the bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/keyframe.h"

#include <string.h>

#include "base/alloc.h"

/* Varints of a frame that is told. */
#define LITERAL_FIELDS 9u

/* How far a run of frames goes that is stored together, from `from` on. */
static size_t
run_length(const film_state *state, size_t from)
{
    const film_frame *first = &state->frames[from];
    size_t length = 1;

    while (from + length < state->depth) {
        const film_frame *next = &state->frames[from + length];
        if (next->home_chunk != first->home_chunk ||
            (first->home_chunk != 0 &&
             next->home_index != first->home_index + length)) {
            break;
        }
        length++;
    }
    return length;
}

static size_t
count_runs(const film_state *state)
{
    size_t runs = 0;

    for (size_t i = 0; i < state->depth; i += run_length(state, i)) {
        runs++;
    }
    return runs;
}

static void
put_literals(film_state *state, size_t from, size_t count, uint64_t number,
             uint32_t *index, film_buffer *out)
{
    uint64_t last = 0;

    film_buffer_put_varint(out, 0);
    film_buffer_put_varint(out, count);
    for (size_t i = from; i < from + count; i++) {
        film_frame *frame = &state->frames[i];
        film_buffer_put_varint(out, film_zigzag((int64_t)(frame->serial - last)));
        film_buffer_put_varint(out, frame->code);
        film_buffer_put_varint(out, (uint32_t)(frame->offset + 1));
        film_buffer_put_varint(out, frame->site);
        film_buffer_put_varint(out, state->event - frame->call_event);
        film_buffer_put_varint(out, state->tick - frame->call_tick);
        film_buffer_put_varint(out, state->tick - frame->enter_tick);
        film_buffer_put_varint(out, frame->child_ticks);
        film_buffer_put_varint(out, frame->adopted ? 1 : 0);
        last = frame->serial;
        frame->home_chunk = (uint32_t)(number + 1);
        frame->home_index = (*index)++;
    }
}

static void
put_section(uint32_t section, const film_buffer *body, film_buffer *out)
{
    film_buffer_put_varint(out, section);
    film_buffer_put_bytes(out, body->data, body->length);
    out->failed = out->failed || body->failed;
}

/* The variables of the frames that were just told. */
static void
put_locals(film_state *state, uint64_t number, film_buffer *out)
{
    film_buffer *body = &state->locals->scratch;

    film_buffer_clear(body);
    for (size_t i = 0; i < state->depth; i++) {
        if (state->frames[i].home_chunk == (uint32_t)(number + 1)) {
            film_locals_put(state->locals, state->frames[i].locals, body);
        }
    }
    put_section(FILM_KEYFRAME_LOCALS, body, out);
    film_buffer_clear(body);
    for (size_t i = 0; i < state->depth; i++) {
        film_locals_put_cells(state->locals, state->frames[i].locals,
                              state->frames[i].serial, body);
    }
    if (body->length != 0) {
        put_section(FILM_KEYFRAME_CELLS, body, out);
    }
}

/* What frames share may have been written by another frame: they are told anew. */
static void
retell_shared(film_state *state)
{
    for (size_t i = 0; state->locals != NULL && i < state->depth; i++) {
        film_frame *frame = &state->frames[i];
        if (film_locals_is_outdated(state->locals, frame->locals)) {
            frame->home_chunk = 0;
        }
    }
}

void
film_keyframe_put_resumed(const film_locals *locals, film_buffer *out)
{
    uint8_t count[FILM_VARINT_MAX];
    size_t length;

    if (locals->resumed_count == 0) {
        return;
    }
    length = (size_t)(film_varint_encode(count, locals->resumed_count) - count);
    film_buffer_put_varint(out, FILM_KEYFRAME_RESUMED);
    film_buffer_put_varint(out, length + locals->resumed.length);
    film_buffer_append(out, count, length);
    film_buffer_append(out, locals->resumed.data, locals->resumed.length);
    out->failed = out->failed || locals->resumed.failed;
    if (locals->resumed_cells.length != 0) {
        put_section(FILM_KEYFRAME_RESUMED_CELLS, &locals->resumed_cells, out);
    }
}

void
film_keyframe_encode(film_state *state, uint64_t number, bool alone, film_buffer *out)
{
    size_t runs;
    uint32_t index = 0;

    retell_shared(state);
    runs = count_runs(state);
    if (alone || state->depth <= FILM_KEYFRAME_SHALLOW || runs > FILM_KEYFRAME_RUNS ||
        number >= UINT32_MAX) {
        for (size_t i = 0; i < state->depth; i++) {
            state->frames[i].home_chunk = 0;
        }
        runs = state->depth > 0 ? 1 : 0;
    }
    film_buffer_put_varint(out, state->event);
    film_buffer_put_varint(out, state->tick);
    film_buffer_put_varint(out, state->next_frame);
    film_buffer_put_varint(out, state->last_resumed);
    film_buffer_put_varint(out, state->task);
    film_buffer_put_varint(out, state->task_name);
    film_buffer_put_varint(out, state->exception_type);
    film_buffer_put_varint(out, state->exception_value);
    film_buffer_put_varint(out, state->depth);
    film_buffer_put_varint(out, runs);
    for (size_t i = 0, length; i < state->depth; i += length) {
        length = run_length(state, i);
        if (state->frames[i].home_chunk == 0) {
            put_literals(state, i, length, number, &index, out);
        }
        else {
            film_buffer_put_varint(out, state->frames[i].home_chunk);
            film_buffer_put_varint(out, state->frames[i].home_index);
            film_buffer_put_varint(out, length);
        }
    }
    if (state->locals != NULL) {
        put_locals(state, number, out);
    }
}

static void
take_literal(film_input *input, const film_state *state, uint64_t *last,
             film_frame *frame)
{
    memset(frame, 0, sizeof(*frame));
    *last += (uint64_t)film_unzigzag(film_input_varint(input));
    frame->serial = *last;
    frame->code = film_input_varint32(input);
    frame->offset = film_input_varint32(input) - 1;
    frame->site = film_input_varint32(input);
    frame->call_event = state->event - film_input_varint(input);
    frame->call_tick = state->tick - film_input_varint(input);
    frame->enter_tick = state->tick - film_input_varint(input);
    frame->child_ticks = film_input_varint(input);
    frame->adopted = (film_input_varint(input) & 1) != 0;
}

static film_status
take_literal_run(film_input *input, film_state *state, uint64_t number, uint64_t count,
                 uint32_t *index)
{
    uint64_t last = 0;

    /* A literal takes 9 bytes at least: a bound before anything is allocated. */
    if (count > film_input_left(input) / LITERAL_FIELDS) {
        return FILM_CORRUPT;
    }
    for (uint64_t i = 0; i < count; i++) {
        film_frame *frames = film_grow(state->frames, &state->capacity,
                                       state->depth + 1, sizeof(*frames));
        if (frames == NULL) {
            return FILM_NO_MEMORY;
        }
        state->frames = frames;
        take_literal(input, state, &last, &frames[state->depth]);
        frames[state->depth].home_chunk = (uint32_t)(number + 1);
        frames[state->depth].home_index = (*index)++;
        state->depth++;
    }
    return input->failed ? FILM_CORRUPT : FILM_OK;
}

static film_status
take_reference_run(film_input *input, film_state *state, uint64_t chunk, uint64_t depth,
                   film_keyframe_fetch fetch, void *context)
{
    uint64_t index = film_input_varint(input);
    uint64_t count = film_input_varint(input);
    const film_frame *stored;
    film_frame *frames;
    size_t stored_count;

    if (input->failed || fetch == NULL) {
        return FILM_CORRUPT;
    }
    FILM_TRY(fetch(context, chunk, &stored, &stored_count));
    if (index > stored_count || count > stored_count - index ||
        count > depth - state->depth) {
        return FILM_CORRUPT;
    }
    frames = film_grow(state->frames, &state->capacity, state->depth + (size_t)count,
                       sizeof(*frames));
    if (frames == NULL) {
        return FILM_NO_MEMORY;
    }
    state->frames = frames;
    for (size_t i = 0; i < (size_t)count; i++) {
        film_frame *frame = &frames[state->depth++];
        *frame = stored[index + i];
        frame->home_chunk = (uint32_t)(chunk + 1);
        frame->home_index = (uint32_t)(index + i);
    }
    return FILM_OK;
}

static uint64_t
take_head(film_input *input, film_state *state, uint64_t *runs)
{
    uint64_t depth;

    state->event = film_input_varint(input);
    state->tick = film_input_varint(input);
    state->next_frame = film_input_varint(input);
    state->last_resumed = film_input_varint(input);
    state->task = film_input_varint(input);
    state->task_name = film_input_varint32(input);
    state->exception_type = film_input_varint32(input);
    state->exception_value = film_input_varint(input);
    depth = film_input_varint(input);
    *runs = film_input_varint(input);
    return depth;
}

film_status
film_keyframe_decode(film_state *state, uint64_t number, const uint8_t *bytes,
                     size_t length, film_keyframe_fetch fetch, void *context)
{
    film_input input = film_input_of(bytes, length);
    uint64_t runs, depth = take_head(&input, state, &runs);
    uint32_t index = 0;

    state->depth = 0;
    film_state_forget_values(state);
    film_state_forget_variables(state);
    if (input.failed || depth > FILM_STATE_MAX_DEPTH || runs > depth ||
        runs > FILM_KEYFRAME_RUNS) {
        return FILM_CORRUPT;
    }
    while (runs-- > 0) {
        uint64_t home = film_input_varint(&input);
        if (home == 0) {
            uint64_t count = film_input_varint(&input);
            if (count > depth - state->depth) {
                return FILM_CORRUPT;
            }
            FILM_TRY(take_literal_run(&input, state, number, count, &index));
        }
        else if (home > number) {
            return FILM_CORRUPT; /* only earlier chunks may be referred to */
        }
        else {
            FILM_TRY(
                take_reference_run(&input, state, home - 1, depth, fetch, context));
        }
    }
    return input.failed || state->depth != depth ? FILM_CORRUPT : FILM_OK;
}

film_status
film_keyframe_literals(const uint8_t *bytes, size_t length, film_frame **frames,
                       size_t *count, size_t *capacity)
{
    film_input input = film_input_of(bytes, length);
    film_state state = {0};
    uint64_t runs;
    uint32_t index = 0;
    film_status status = FILM_OK;

    take_head(&input, &state, &runs);
    state.frames = *frames;
    state.capacity = *capacity;
    while (runs-- > 0 && status == FILM_OK && !input.failed) {
        uint64_t home = film_input_varint(&input);
        uint64_t more = film_input_varint(&input);
        if (home == 0) {
            status = take_literal_run(&input, &state, 0, more, &index);
        }
        else {
            film_input_varint(&input);
        }
    }
    *frames = state.frames;
    *capacity = state.capacity;
    *count = state.depth;
    return input.failed ? FILM_CORRUPT : status;
}

/* Moves over head and runs. */
static void
skip_base(film_input *input)
{
    film_state state = {0};
    uint64_t runs;

    take_head(input, &state, &runs);
    while (runs-- > 0 && !input->failed) {
        uint64_t home = film_input_varint(input);
        uint64_t more = film_input_varint(input);
        if (home != 0) {
            film_input_varint(input);
            continue;
        }
        while (more-- > 0 && !input->failed) {
            for (unsigned i = 0; i < LITERAL_FIELDS; i++) {
                film_input_varint(input);
            }
        }
    }
}

size_t
film_keyframe_base(const uint8_t *bytes, size_t length)
{
    film_input input = film_input_of(bytes, length);

    skip_base(&input);
    return input.failed ? 0 : (size_t)(input.at - bytes);
}

film_status
film_keyframe_section(const uint8_t *bytes, size_t length, uint32_t section,
                      film_input *out)
{
    film_input input = film_input_of(bytes, length);

    skip_base(&input);
    while (!input.failed && film_input_left(&input) > 0) {
        uint64_t id = film_input_varint(&input);
        size_t body_length;
        const uint8_t *body = film_input_bytes(&input, &body_length);
        if (!input.failed && id == section) {
            *out = film_input_of(body, body_length);
            return FILM_OK;
        }
    }
    return input.failed ? FILM_CORRUPT : FILM_END;
}
