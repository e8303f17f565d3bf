/* summary.c: see summary.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/summary.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static bool
make_room(film_summary *summary, uint32_t code)
{
    size_t capacity = summary->code_capacity == 0 ? 256 : summary->code_capacity;
    uint32_t *calls, *touched;
    uint64_t *own;

    while (capacity <= code) {
        capacity *= 2;
    }
    calls = film_alloc_array(capacity, sizeof(*calls));
    own = film_alloc_array(capacity, sizeof(*own));
    touched = film_alloc_array(capacity, sizeof(*touched));
    if (calls == NULL || own == NULL || touched == NULL || code > (1u << 26)) {
        film_free(calls);
        film_free(own);
        film_free(touched);
        summary->failed = true;
        return false;
    }
    if (summary->code_capacity > 0) {
        memcpy(calls, summary->calls, summary->code_capacity * sizeof(*calls));
        memcpy(own, summary->own, summary->code_capacity * sizeof(*own));
        memcpy(touched, summary->touched, summary->touched_count * sizeof(*touched));
    }
    film_free(summary->calls);
    film_free(summary->own);
    film_free(summary->touched);
    summary->calls = calls;
    summary->own = own;
    summary->touched = touched;
    summary->code_capacity = capacity;
    return true;
}

static void
add_function(film_summary *summary, uint32_t code, uint32_t calls, uint64_t own)
{
    if (__builtin_expect(code >= summary->code_capacity, 0) &&
        !make_room(summary, code)) {
        return;
    }
    if (summary->calls[code] == 0 && summary->own[code] == 0 && (calls | own) != 0) {
        summary->touched[summary->touched_count++] = code;
    }
    summary->calls[code] += calls;
    summary->own[code] += own;
}

static void
add_cover(film_summary *summary, size_t depth, uint32_t code, uint64_t ticks)
{
    film_rival *rivals, *least;

    if (depth >= FILM_SUMMARY_DEPTHS || ticks == 0) {
        return;
    }
    rivals = least = summary->rivals[depth];
    for (unsigned i = 0; i < FILM_SUMMARY_RIVALS; i++) {
        if (rivals[i].ticks != 0 && rivals[i].code == code) {
            rivals[i].ticks += ticks;
            return;
        }
        if (rivals[i].ticks < least->ticks) {
            least = &rivals[i];
        }
    }
    if (ticks > least->ticks) {
        least->code = code;
        least->ticks = ticks;
    }
}

/* A frame's stay at `depth`, as far as it lies in this chunk. */
static void
add_stay(film_summary *summary, const film_state *state, const film_frame *frame,
         size_t depth)
{
    uint64_t from = frame->enter_tick > summary->begin_tick ? frame->enter_tick
                                                            : summary->begin_tick;

    add_cover(summary, depth, frame->code, state->tick - from);
}

void
film_summary_elapse(film_summary *summary, uint32_t code, uint64_t ticks)
{
    add_function(summary, code, 0, ticks);
}

void
film_summary_begin(film_summary *summary, const film_state *state)
{
    for (size_t i = 0; i < summary->touched_count; i++) {
        summary->calls[summary->touched[i]] = 0;
        summary->own[summary->touched[i]] = 0;
    }
    summary->touched_count = 0;
    memset(summary->kinds, 0, sizeof(summary->kinds));
    memset(summary->rivals, 0, sizeof(summary->rivals));
    summary->unknown_kinds = 0;
    summary->begin_tick = state->tick;
    summary->least_depth = summary->greatest_depth = (uint32_t)state->depth;
}

void
film_summary_note(film_summary *summary, const film_state *state,
                  const film_event *event)
{
    uint32_t depth = (uint32_t)state->depth;

    if (event->kind < FILM_KIND_COUNT) {
        summary->kinds[event->kind]++;
    }
    else {
        summary->unknown_kinds++;
    }
    if (depth > summary->greatest_depth) {
        summary->greatest_depth = depth;
    }
    if (depth < summary->least_depth) {
        summary->least_depth = depth;
    }
    if (event->kind == FILM_KIND_CALL) {
        add_function(summary, event->code, 1, 0);
    }
    if (state->has_closed) {
        add_stay(summary, state, &state->closed, state->depth);
    }
}

static int
by_code(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

    return (left > right) - (left < right);
}

static void
put_section(film_buffer *out, uint32_t section, film_buffer *body)
{
    if (body->failed) {
        out->failed = true;
    }
    film_buffer_put_varint(out, section);
    film_buffer_put_bytes(out, body->data, body->length);
    film_buffer_clear(body);
}

static void
put_kinds(const film_summary *summary, film_buffer *body)
{
    for (unsigned i = 1; i < FILM_KIND_COUNT; i++) {
        if (summary->kinds[i] > 0) {
            film_buffer_put_varint(body, i);
            film_buffer_put_varint(body, summary->kinds[i]);
        }
    }
    film_buffer_put_varint(body, 0);
    film_buffer_put_varint(body, summary->least_depth);
    film_buffer_put_varint(body, summary->greatest_depth);
}

static void
put_functions(film_summary *summary, film_buffer *body)
{
    uint32_t last = 0;

    if (summary->touched_count > 1) {
        qsort(summary->touched, summary->touched_count, sizeof(*summary->touched),
              by_code);
    }
    for (size_t i = 0; i < summary->touched_count; i++) {
        uint32_t code = summary->touched[i];
        film_buffer_put_varint(body, code - last);
        film_buffer_put_varint(body, summary->calls[code]);
        last = code;
    }
}

static void
put_cover(const film_summary *summary, uint64_t ticks, film_buffer *body)
{
    for (unsigned depth = 0; depth < FILM_SUMMARY_DEPTHS; depth++) {
        const film_rival *best = &summary->rivals[depth][0];
        for (unsigned i = 1; i < FILM_SUMMARY_RIVALS; i++) {
            if (summary->rivals[depth][i].ticks > best->ticks) {
                best = &summary->rivals[depth][i];
            }
        }
        if (best->ticks == 0) {
            break;
        }
        film_buffer_put_varint(body, (uint64_t)best->code + 1);
        film_buffer_put_byte(body, ticks == 0 || best->ticks >= ticks
                                       ? 255
                                       : (uint8_t)((best->ticks * 255 / ticks) & 0xff));
    }
}

static void
put_busiest(const film_summary *summary, film_buffer *body)
{
    uint32_t best[FILM_SUMMARY_BUSIEST];
    size_t count = 0;

    for (size_t i = 0; i < summary->touched_count; i++) {
        uint32_t code = summary->touched[i];
        uint64_t own = summary->own[code];
        size_t at = count;
        if (own == 0) {
            continue;
        }
        if (count < FILM_SUMMARY_BUSIEST) {
            count++;
        }
        else if (own <= summary->own[best[count - 1]]) {
            continue;
        }
        else {
            at = count - 1;
        }
        while (at > 0 && summary->own[best[at - 1]] < own) {
            best[at] = best[at - 1];
            at--;
        }
        best[at] = code;
    }
    for (size_t i = 0; i < count; i++) {
        film_buffer_put_varint(body, best[i]);
        film_buffer_put_varint(body, summary->own[best[i]]);
    }
}

void
film_summary_finish(film_summary *summary, const film_state *state, film_buffer *out)
{
    film_buffer body = {0};
    size_t shown =
        state->depth < FILM_SUMMARY_DEPTHS ? state->depth : FILM_SUMMARY_DEPTHS;

    for (size_t depth = 0; depth < shown; depth++) {
        add_stay(summary, state, &state->frames[depth], depth);
    }
    put_kinds(summary, &body);
    put_section(out, FILM_SECTION_KINDS, &body);
    put_functions(summary, &body);
    put_section(out, FILM_SECTION_FUNCTIONS, &body);
    put_cover(summary, state->tick - summary->begin_tick, &body);
    put_section(out, FILM_SECTION_COVER, &body);
    put_busiest(summary, &body);
    put_section(out, FILM_SECTION_BUSIEST, &body);
    film_buffer_reset(&body);
}

void
film_summary_reset(film_summary *summary)
{
    film_free(summary->calls);
    film_free(summary->own);
    film_free(summary->touched);
    memset(summary, 0, sizeof(*summary));
}

film_status
film_summary_section(const uint8_t *bytes, size_t length, uint32_t section,
                     film_input *out)
{
    film_input input = film_input_of(bytes, length);

    while (film_input_left(&input) > 0) {
        uint64_t id = film_input_varint(&input);
        size_t body_length;
        const uint8_t *body = film_input_bytes(&input, &body_length);
        if (input.failed) {
            return FILM_CORRUPT;
        }
        if (id == section) {
            *out = film_input_of(body, body_length);
            return FILM_OK;
        }
    }
    return FILM_END;
}
