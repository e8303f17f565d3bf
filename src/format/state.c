/* state.c: replaying rows. Every kind's effect on the stack is here and nowhere else.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/state.h"

#include <string.h>

#include "base/alloc.h"
#include "format/token.h"

void
film_state_begin(film_state *state, uint32_t thread, uint32_t tick_ns)
{
    film_state_reset(state);
    state->thread = thread;
    state->tick_ns = tick_ns;
    state->next_frame = ((uint64_t)(thread - 1) << FILM_FRAME_SHIFT) + 1;
    state->last_resumed = state->next_frame - 1;
}

void
film_state_reset(film_state *state)
{
    for (size_t i = 0; state->locals != NULL && i < state->depth; i++) {
        film_locals_release(state->locals, state->frames[i].locals);
    }
    film_free(state->frames);
    film_buffer_reset(&state->values);
    film_buffer_reset(&state->cells);
    film_buffer_reset(&state->restored);
    memset(state, 0, sizeof(*state));
}

void
film_state_forget_values(film_state *state)
{
    film_buffer_clear(&state->values);
    state->value_count = 0;
    state->values_given = false;
}

static void
forget_cells(film_state *state)
{
    film_buffer_clear(&state->cells);
    state->cells_given = false;
}

static void
forget_restored(film_state *state)
{
    film_buffer_clear(&state->restored);
    state->restored_given = false;
}

void
film_state_forget_variables(film_state *state)
{
    forget_cells(state);
    forget_restored(state);
}

film_status
film_state_grow(film_state *state)
{
    film_frame *frames;

    if (state->depth >= FILM_STATE_MAX_DEPTH) {
        return FILM_CORRUPT;
    }
    frames =
        film_grow(state->frames, &state->capacity, state->depth + 1, sizeof(*frames));
    if (frames == NULL) {
        return FILM_NO_MEMORY;
    }
    state->frames = frames;
    return FILM_OK;
}

static inline void
describe_caller(film_state *state, uint32_t site, film_event *event)
{
    const film_frame *caller = film_state_top(state);

    if (caller != NULL) {
        event->caller_code = caller->code;
        event->caller_offset = site == 0 ? FILM_NO_OFFSET : site - 1;
    }
    film_state_note_site(state, site);
}

static inline film_status
leave(film_state *state, film_event *event)
{
    FILM_TRY(film_state_pop(state));
    if (state->locals != NULL) {
        if (event->kind == FILM_KIND_YIELD) {
            film_locals_suspend(state->locals, state->closed.serial,
                                state->closed.locals);
        }
        else {
            film_locals_release(state->locals, state->closed.locals);
        }
    }
    event->frame = state->closed.serial;
    event->code = state->closed.code;
    event->depth = (uint32_t)state->depth;
    return FILM_OK;
}

/* Describes the top frame as the place of an event that leaves the stack alone. */
static void
at_top(film_state *state, film_event *event)
{
    film_frame *top = film_state_top(state);

    event->code = FILM_NO_CODE;
    if (top != NULL) {
        event->frame = top->serial;
        event->code = top->code;
        event->depth = (uint32_t)(state->depth - 1);
        if (event->offset == FILM_NO_OFFSET) {
            event->offset = top->offset;
        }
        else {
            top->offset = event->offset;
            top->home_chunk = 0;
        }
    }
}

static film_status
enter_again(film_state *state, uint64_t frame_delta, uint32_t code, uint32_t offset,
            uint32_t site, film_event *event)
{
    uint64_t serial = state->last_resumed + (uint64_t)film_unzigzag(frame_delta);

    describe_caller(state, site, event);
    event->frame = serial;
    event->code = code;
    event->offset = offset;
    event->depth = (uint32_t)state->depth;
    state->last_resumed = serial;
    FILM_TRY(film_state_push(state, serial, code, offset, site));
    if (state->locals != NULL) {
        state->frames[state->depth - 1].locals =
            film_locals_resume(state->locals, serial);
        if (state->cells.length != 0) {
            film_state_bind_cells(state);
        }
    }
    return FILM_OK;
}

/* The caller of a distance: the frame that many below the top. */
static film_status
take_out(film_state *state, uint64_t distance, film_frame *out)
{
    size_t index;

    if (distance >= state->depth) {
        return FILM_CORRUPT;
    }
    index = state->depth - 1 - (size_t)distance;
    *out = state->frames[index];
    memmove(&state->frames[index], &state->frames[index + 1],
            (size_t)distance * sizeof(*state->frames));
    state->depth--;
    return FILM_OK;
}

/* Keeps the tokens of a VALUES row for the event that follows. */
static film_status
keep_values(film_state *state, const film_row *row)
{
    if (state->values_given) {
        film_state_forget_values(state);
    }
    if (state->values.length + row->tokens_length > FILM_STATE_MAX_VALUES) {
        return FILM_CORRUPT;
    }
    film_buffer_append(&state->values, row->tokens, row->tokens_length);
    if (state->values.failed) {
        film_buffer_reset(&state->values);
        return FILM_NO_MEMORY;
    }
    state->value_count += row->token_count;
    return FILM_OK;
}

/* Keeps the body of a CELLS row for the call that follows. */
static film_status
keep_cells(film_state *state, const film_row *row)
{
    if (state->cells_given) {
        forget_cells(state);
    }
    if (state->cells.length + row->body_length > FILM_STATE_MAX_VALUES) {
        return FILM_CORRUPT;
    }
    film_buffer_append(&state->cells, row->body, row->body_length);
    if (state->cells.failed) {
        film_buffer_reset(&state->cells);
        return FILM_NO_MEMORY;
    }
    return FILM_OK;
}

/* A variable of the top frame holds again what it held before. */
static film_status
keep_restored(film_state *state, const film_row *row)
{
    film_input body = film_input_of(row->body, row->body_length);
    uint64_t slot = film_input_varint(&body), cell = 0;
    const uint8_t *token = body.at;
    size_t length;
    bool names_cell; /* the first recordings of 1.2 do not */

    film_tokens_skip(&body, 1);
    length = (size_t)(body.at - token);
    names_cell = film_input_left(&body) > 0;
    if (names_cell) {
        cell = film_input_varint(&body);
    }
    if (body.failed || slot > UINT32_MAX) {
        return FILM_CORRUPT;
    }
    if (state->depth == 0) {
        return FILM_OK;
    }
    if (state->locals != NULL) {
        film_locals_rebind_cell(state->locals, state->thread,
                                state->frames[state->depth - 1].locals, (uint32_t)slot,
                                cell);
    }
    film_state_keep_write(state, slot << FILM_SET_SHIFT | FILM_SET_LOCAL, token,
                          token[0] == FILM_TOKEN_UNBOUND ? 0 : length);
    if (state->locals != NULL) {
        return FILM_OK; /* the sealing thread needs no more */
    }
    if (state->restored_given ||
        state->restored_frame != state->frames[state->depth - 1].serial) {
        forget_restored(state);
        state->restored_frame = state->frames[state->depth - 1].serial;
    }
    if (state->restored.length + row->body_length > FILM_STATE_MAX_VALUES) {
        return FILM_CORRUPT;
    }
    film_buffer_append(&state->restored, row->body, row->body_length);
    if (!names_cell) {
        film_buffer_put_byte(&state->restored, 0);
    }
    if (state->restored.failed) {
        film_buffer_reset(&state->restored);
        return FILM_NO_MEMORY;
    }
    return FILM_OK;
}

static void
give_restored(film_state *state, film_event *event)
{
    if (state->restored_given) {
        forget_restored(state); /* they were the last event's */
        return;
    }
    event->restored = state->restored.data;
    event->restored_length = (uint32_t)state->restored.length;
    event->restored_frame = state->restored_frame;
    state->restored_given = true;
}

/* Gives a call, or a frame that goes on, the cells that were kept for it. */
static void
give_cells(film_state *state, film_event *event)
{
    if (state->cells_given) {
        forget_cells(state); /* they were the last call's */
    }
    else if (event->kind == FILM_KIND_CALL || event->kind == FILM_KIND_RESUME ||
             event->kind == FILM_KIND_THROW) {
        event->cells = state->cells.data;
        event->cells_length = (uint32_t)state->cells.length;
        state->cells_given = true;
    }
}

void
film_state_bind_cells(film_state *state)
{
    film_input body = film_input_of(state->cells.data, state->cells.length);
    uint32_t block = state->frames[state->depth - 1].locals;
    film_cell_told told;

    while (film_cells_next(&body, &told)) {
        uint32_t holder = 0;
        if (told.distance + (uint64_t)2 <= state->depth) {
            holder = state->frames[state->depth - 2 - told.distance].locals;
        }
        film_locals_bind_cell(state->locals, state->thread, block, holder, &told);
    }
    forget_cells(state);
}

/* Gives the event the values that were kept for it. */
static inline void
give_values(film_state *state, film_event *event)
{
    if (__builtin_expect(state->value_count == 0, 1)) {
        return;
    }
    if (state->values_given) {
        film_state_forget_values(state); /* they were the last event's */
        return;
    }
    event->tokens = state->values.data;
    event->tokens_length = (uint32_t)state->values.length;
    event->token_count = state->value_count;
    state->values_given = true;
}

static film_status
adjust(film_state *state, const film_row *row)
{
    film_input input = film_input_of(row->body, row->body_length);
    film_frame frame;
    film_status status = FILM_OK;

    if (row->kind == FILM_KIND_VALUES) {
        return keep_values(state, row);
    }
    if (row->kind == FILM_KIND_CELLS) {
        return keep_cells(state, row);
    }
    if (row->kind == FILM_KIND_RESTORED) {
        return keep_restored(state, row);
    }
    if (row->kind == FILM_KIND_ADOPT) {
        uint32_t code = film_input_varint32(&input);
        uint32_t offset = film_input_varint32(&input) - 1; /* 0 - 1 = FILM_NO_OFFSET */
        if (input.failed) {
            return FILM_CORRUPT;
        }
        status = film_state_push(state, state->next_frame++, code, offset, 0);
        if (status == FILM_OK) {
            film_state_top(state)->adopted = true;
            film_state_begin_locals(state, NULL, 0, 0);
        }
    }
    else if (row->kind == FILM_KIND_FOCUS || row->kind == FILM_KIND_DROP) {
        uint64_t distance = film_input_varint(&input);
        if (input.failed) {
            return FILM_CORRUPT;
        }
        status = take_out(state, distance, &frame);
        if (status == FILM_OK && row->kind == FILM_KIND_FOCUS) {
            frame.home_chunk = 0;
            state->frames[state->depth++] = frame;
        }
        else if (status == FILM_OK && state->locals != NULL) {
            film_locals_release(state->locals, frame.locals);
        }
    }
    /* Unknown adjustments of newer minors change nothing older readers show. */
    return status;
}

static film_status
apply_exception(film_state *state, const film_row *row, film_input *body,
                film_event *event)
{
    film_status status = FILM_OK;
    uint32_t offset = film_input_varint32(body) - 1;

    event->offset = offset;
    event->text = film_input_varint32(body);
    event->value = film_input_varint(body);
    if (row->kind == FILM_KIND_UNWIND) {
        status = leave(state, event);
        if (status == FILM_OK && event->offset == FILM_NO_OFFSET) {
            event->offset = state->closed.offset;
        }
    }
    else {
        at_top(state, event);
    }
    if (row->kind == FILM_KIND_RAISE) {
        state->exception_type = event->text;
        state->exception_value = event->value;
    }
    else if (row->kind == FILM_KIND_HANDLED) {
        state->exception_type = 0;
        state->exception_value = 0;
    }
    return status;
}

/* What a set or delete wrote to. */
static film_status
describe_write(film_state *state, uint64_t head, film_event *event)
{
    uint64_t number = head >> FILM_SET_SHIFT;

    event->form = head & ((1u << FILM_SET_SHIFT) - 1);
    if (event->form >= FILM_SET_FORMS || number > UINT32_MAX) {
        return FILM_CORRUPT;
    }
    *(film_set_is_named(event->form) ? &event->name : &event->slot) = (uint32_t)number;
    at_top(state, event);
    return FILM_OK;
}

static film_status
apply_set(film_state *state, const film_row *row, film_event *event)
{
    event->tokens = row->tokens;
    event->tokens_length = row->tokens_length;
    event->token_count = row->token_count;
    FILM_TRY(describe_write(state, row->head, event));
    film_state_keep_write(state, row->head, row->tokens, row->tokens_length);
    return FILM_OK;
}

/* `count` tokens that end the body. */
static void
take_tokens(film_input *body, uint32_t count, film_event *event)
{
    const uint8_t *from = body->at;

    film_tokens_skip(body, count);
    event->tokens = from;
    event->tokens_length = (uint32_t)(body->at - from);
    event->token_count = count;
}

static film_status
apply_delete(film_state *state, film_input *body, film_event *event)
{
    uint64_t head = film_input_varint(body);

    take_tokens(body, film_set_tokens(head & 7) - 1, event);
    FILM_TRY(describe_write(state, head, event));
    film_state_keep_write(state, head, NULL, 0);
    return FILM_OK;
}

static void
apply_change(film_state *state, film_input *body, film_event *event)
{
    event->length_before = (int64_t)(film_input_varint(body) - 1);
    event->cut = (film_input_varint(body) & 1) != 0;
    take_tokens(body, 1, event);
    at_top(state, event);
}

static void
apply_op(film_state *state, film_input *body, film_event *event)
{
    event->text = film_input_varint32(body);
    event->offset = film_input_varint32(body) - 1;
    event->form = film_input_byte(body);
    event->slot = film_input_varint32(body);
    event->name = film_input_varint32(body);
    event->module = film_input_varint32(body);
    event->api = film_input_varint32(body);
    event->count = film_input_varint(body);
    event->op = event->number;
    at_top(state, event);
}

static void
apply_op_end(film_state *state, film_input *body, film_event *event)
{
    uint64_t distance = film_input_varint(body);

    event->form = film_input_byte(body);
    event->text = film_input_varint32(body);
    event->value = film_input_varint(body);
    event->op = distance > event->number ? 0 : event->number - distance;
    at_top(state, event);
}

static film_status
apply_ext(film_state *state, const film_row *row, film_event *event)
{
    film_input body = film_input_of(row->body, row->body_length);
    film_status status = FILM_OK;

    event->code = FILM_NO_CODE;
    switch (row->kind) {
    case FILM_KIND_THROW: {
        uint64_t frame = film_input_varint(&body);
        uint32_t code = film_input_varint32(&body);
        uint32_t offset = film_input_varint32(&body);
        uint32_t site = film_input_varint32(&body);
        event->text = film_input_varint32(&body);
        event->value = film_input_varint(&body);
        status = enter_again(state, frame, code, offset, site, event);
        state->exception_type = event->text;
        state->exception_value = event->value;
        break;
    }
    case FILM_KIND_RAISE:
    case FILM_KIND_UNWIND:
    case FILM_KIND_HANDLED:
        status = apply_exception(state, row, &body, event);
        break;
    case FILM_KIND_DELETE:
        status = apply_delete(state, &body, event);
        break;
    case FILM_KIND_CHANGE:
        apply_change(state, &body, event);
        break;
    case FILM_KIND_C_CALL:
    case FILM_KIND_C_RETURN:
    case FILM_KIND_C_RAISE:
        event->text = film_input_varint32(&body);
        event->offset = film_input_varint32(&body) - 1;
        at_top(state, event);
        break;
    case FILM_KIND_OP:
        apply_op(state, &body, event);
        break;
    case FILM_KIND_OP_END:
        apply_op_end(state, &body, event);
        break;
    case FILM_KIND_THREAD_START:
        event->text = film_input_varint32(&body);
        event->count = film_input_varint(&body);
        break;
    case FILM_KIND_TASK:
        state->task = event->count = film_input_varint(&body);
        state->task_name = event->text = film_input_varint32(&body);
        break;
    case FILM_KIND_LOST:
    case FILM_KIND_LOST_CONTROL:
        event->count = film_input_varint(&body);
        event->text = film_input_varint32(&body);
        break;
    default:
        event->body = row->body;
        event->body_length = row->body_length;
        break;
    }
    return body.failed ? FILM_CORRUPT : status;
}

film_status
film_state_apply(film_state *state, const film_row *row, film_event *event,
                 bool *is_event)
{
    film_status status;

    state->tick += row->delta;
    state->has_closed = false;
    *is_event = !film_kind_is_adjustment(row->kind);
    if (!*is_event) {
        return adjust(state, row);
    }
    memset(event, 0, sizeof(*event));
    event->kind = row->kind;
    event->thread = state->thread;
    event->number = state->event;
    event->time_ns = state->tick * state->tick_ns;
    event->offset = FILM_NO_OFFSET;
    event->caller_code = FILM_NO_CODE;
    event->caller_offset = FILM_NO_OFFSET;
    event->length_before = -1;
    give_values(state, event);
    if (__builtin_expect(state->cells.length != 0, 0)) {
        give_cells(state, event);
    }
    if (__builtin_expect(state->restored.length != 0, 0)) {
        give_restored(state, event);
    }
    switch (row->kind) {
    case FILM_KIND_CALL:
        describe_caller(state, row->site, event);
        event->frame = state->next_frame++;
        event->code = row->code;
        event->offset = 0;
        event->depth = (uint32_t)state->depth;
        status =
            film_state_push(state, event->frame, row->code, FILM_NO_OFFSET, row->site);
        if (status == FILM_OK) {
            film_state_begin_locals(state, event->tokens, event->tokens_length,
                                    event->token_count);
        }
        break;
    case FILM_KIND_RETURN:
    case FILM_KIND_YIELD:
        event->offset = row->offset;
        status = leave(state, event);
        break;
    case FILM_KIND_RESUME:
        status = enter_again(state, row->frame_delta, row->code, row->offset, row->site,
                             event);
        break;
    case FILM_KIND_LINE:
        event->offset = row->offset;
        at_top(state, event);
        status = FILM_OK;
        break;
    case FILM_KIND_SET:
        status = apply_set(state, row, event);
        break;
    default:
        status = apply_ext(state, row, event);
        break;
    }
    state->event++;
    return status;
}
