/* test_state.c: what a stream of rows comes to: stacks, keyframes, locals, summaries.
 * SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "random.h"

#include <filmstrip/filmstrip.h>

#include "base/buffer.h"
#include "format/keyframe.h"
#include "format/locals.h"
#include "format/row.h"
#include "format/state.h"
#include "format/summary.h"
#include "format/token.h"

static film_event
apply(film_state *state, film_row row)
{
    film_event event;
    bool is_event;

    CHECK(film_state_apply(state, &row, &event, &is_event) == FILM_OK);
    return event;
}

static film_row
row_of(uint8_t kind, uint32_t code, uint32_t site, uint32_t offset)
{
    film_row row = {
        .kind = kind, .delta = 1, .code = code, .site = site, .offset = offset};
    return row;
}

TEST(state_follows_calls_and_returns)
{
    film_state state = {0};
    film_event event;

    film_state_begin(&state, 2, 16);
    event = apply(&state, row_of(FILM_KIND_CALL, 7, 0, 0));
    CHECK_EQUAL(event.frame, ((uint64_t)1 << FILM_FRAME_SHIFT) + 1);
    CHECK(event.caller_code == FILM_NO_CODE && event.depth == 0);
    event = apply(&state, row_of(FILM_KIND_CALL, 8, 5, 0));
    CHECK(event.caller_code == 7 && event.caller_offset == 4 && event.depth == 1);
    CHECK_EQUAL(state.depth, 2);
    event = apply(&state, row_of(FILM_KIND_RETURN, 0, 0, 30));
    CHECK(event.code == 8 && event.offset == 30 && event.depth == 1);
    CHECK(state.has_closed && state.frames[0].child_ticks == 1);
    event = apply(&state, row_of(FILM_KIND_YIELD, 0, 0, 31));
    CHECK(event.code == 7 && event.number == 3 && event.time_ns == 4 * 16);
    CHECK_EQUAL(state.depth, 0);
    film_state_reset(&state);
}

TEST(state_refuses_a_return_without_a_frame)
{
    film_state state = {0};
    film_row row = row_of(FILM_KIND_RETURN, 0, 0, 1);
    film_event event;
    bool is_event;

    film_state_begin(&state, 1, 16);
    CHECK(film_state_apply(&state, &row, &event, &is_event) == FILM_CORRUPT);
    film_state_reset(&state);
}

static film_row
adjustment(uint8_t kind, const uint8_t *body, uint32_t length)
{
    film_row row = {.kind = kind, .body = body, .body_length = length};

    return row;
}

TEST(state_mends_the_stack)
{
    static const uint8_t one[] = {1}, adopt[] = {9, 4};
    film_state state = {0};

    film_state_begin(&state, 1, 16);
    apply(&state, adjustment(FILM_KIND_ADOPT, adopt, 2));
    CHECK(state.depth == 1 && state.frames[0].adopted && state.frames[0].code == 9);
    CHECK_EQUAL(state.frames[0].offset, 3);
    apply(&state, row_of(FILM_KIND_CALL, 10, 0, 0));
    apply(&state, adjustment(FILM_KIND_FOCUS, one, 1));
    CHECK(state.frames[0].code == 10 && state.frames[1].code == 9);
    apply(&state, adjustment(FILM_KIND_DROP, one, 1));
    CHECK(state.depth == 1 && state.frames[0].code == 9 && state.event == 1);
    film_state_reset(&state);
}

/* Keyframes of a test, by chunk number. */
static film_buffer stored[64];

static film_status
fetch(void *context, uint64_t number, const film_frame **frames, size_t *count)
{
    static film_frame *literals;
    static size_t capacity;

    (void)context;
    CHECK(number < 64);
    FILM_TRY(film_keyframe_literals(stored[number].data, stored[number].length,
                                    &literals, count, &capacity));
    *frames = literals;
    return FILM_OK;
}

static void
check_same_stack(const film_state *a, const film_state *b)
{
    CHECK(a->depth == b->depth && a->event == b->event && a->tick == b->tick);
    CHECK(a->next_frame == b->next_frame && a->last_resumed == b->last_resumed);
    for (size_t i = 0; i < a->depth; i++) {
        const film_frame *x = &a->frames[i], *y = &b->frames[i];
        CHECK(x->serial == y->serial && x->code == y->code && x->offset == y->offset);
        CHECK(x->call_event == y->call_event && x->call_tick == y->call_tick);
        CHECK(x->enter_tick == y->enter_tick && x->child_ticks == y->child_ticks);
        CHECK(x->site == y->site && x->adopted == y->adopted);
    }
}

TEST(keyframes_of_deep_stacks_refer_to_earlier_ones)
{
    film_state state = {0}, back = {0};
    size_t literal_bytes = 0;

    film_state_begin(&state, 1, 16);
    for (uint64_t chunk = 0; chunk < 64; chunk++) {
        for (int i = 0; i < 300; i++) {
            bool down = state.depth == 0 || random_number() % 100 < 70;
            apply(&state, down ? row_of(FILM_KIND_CALL, (uint32_t)random_number() % 50,
                                        (uint32_t)random_number() % 90, 0)
                               : row_of(FILM_KIND_RETURN, 0, 0, 5));
        }
        film_keyframe_encode(&state, chunk, false, &stored[chunk]);
        film_state_begin(&back, 1, 16);
        CHECK(film_keyframe_decode(&back, chunk, stored[chunk].data,
                                   stored[chunk].length, fetch, NULL) == FILM_OK);
        check_same_stack(&state, &back);
        literal_bytes += stored[chunk].length;
    }
    CHECK(state.depth > 5000);
    /* Telling each stack in full would take more than 9 bytes for each of its frames.
     */
    CHECK(literal_bytes < 64 * state.depth / 2 * 9 / 3);
    film_state_reset(&state);
    film_state_reset(&back);
}

TEST(damaged_keyframes_are_refused)
{
    film_state state = {0}, back = {0};
    film_buffer bytes = {0};

    film_state_begin(&state, 1, 16);
    for (uint32_t i = 0; i < 20; i++) {
        apply(&state, row_of(FILM_KIND_CALL, i, i, 0));
    }
    film_keyframe_encode(&state, 0, true, &bytes);
    for (size_t cut = 0; cut < bytes.length; cut++) {
        film_state_begin(&back, 1, 16);
        CHECK(film_keyframe_decode(&back, 0, bytes.data, cut, NULL, NULL) != FILM_OK);
    }
    film_state_reset(&state);
    film_state_reset(&back);
    film_buffer_reset(&bytes);
}

TEST(given_up_generators_are_forgotten)
{
    film_locals locals = {0};
    film_buffer out = {0};
    uint8_t token[FILM_TOKEN_MAX];
    uint64_t many = 3 * (uint64_t)FILM_LOCALS_BLOCKS;
    uint32_t block;

    for (uint64_t serial = 1; serial <= many; serial++) {
        size_t length = (size_t)(film_token_put_int(token, (int64_t)serial) - token);
        if (serial % 1000 == 0) {
            film_locals_begin_chunk(&locals, 0);
        }
        block = film_locals_take(&locals);
        CHECK(block != 0); /* a new frame always finds a place */
        film_locals_set(&locals, block, 1, token, length);
        film_locals_suspend(&locals, serial, block);
    }
    CHECK(locals.count <= FILM_LOCALS_BLOCKS);
    /* One that yielded lately is known, the first are not. */
    film_locals_begin_chunk(&locals, 0);
    film_locals_put(&locals, film_locals_resume(&locals, many - 10), &out);
    CHECK(out.length > 3 && out.data[0] == 1);
    CHECK_EQUAL(locals.resumed_count, 1);
    film_buffer_clear(&out);
    film_locals_put(&locals, film_locals_resume(&locals, 5), &out);
    CHECK(out.data[0] == 0);
    film_buffer_reset(&out);
    film_locals_reset(&locals);
}

TEST(summaries_name_what_a_chunk_holds)
{
    film_state state = {0};
    film_summary summary = {0};
    film_buffer bytes = {0};
    film_input section;
    film_event event;

    film_state_begin(&state, 1, 16);
    film_summary_begin(&summary, &state);
    for (int i = 0; i < 10; i++) {
        event = apply(&state, row_of(FILM_KIND_CALL, 3, 0, 0));
        summary.kinds[event.kind]++;
        film_summary_share(&summary, event.code)->calls++;
        film_summary_note_depth(&summary, &state);
        film_summary_share(&summary, event.code)->own++;
        event = apply(&state, row_of(FILM_KIND_RETURN, 0, 0, 0));
        summary.kinds[event.kind]++;
        film_summary_note_depth(&summary, &state);
    }
    film_summary_finish(&summary, &state, NULL, &bytes);
    CHECK(film_summary_section(bytes.data, bytes.length, FILM_SECTION_KINDS,
                               &section) == FILM_OK);
    CHECK_EQUAL(film_input_varint(&section), FILM_KIND_CALL);
    CHECK_EQUAL(film_input_varint(&section), 10);
    CHECK(film_summary_section(bytes.data, bytes.length, FILM_SECTION_FUNCTIONS,
                               &section) == FILM_OK);
    CHECK_EQUAL(film_input_varint(&section), 3);
    CHECK_EQUAL(film_input_varint(&section), 10);
    CHECK(film_summary_section(bytes.data, bytes.length, FILM_SECTION_BUSIEST,
                               &section) == FILM_OK);
    CHECK_EQUAL(film_input_varint(&section), 3);
    CHECK_EQUAL(film_input_varint(&section), 10);
    CHECK(film_summary_section(bytes.data, bytes.length, 99, &section) == FILM_END);
    film_state_reset(&state);
    film_summary_reset(&summary);
    film_buffer_reset(&bytes);
}

int
main(int argc, char **argv)
{
    static const film_test tests[] = {
        TEST_ENTRY(state_follows_calls_and_returns),
        TEST_ENTRY(state_refuses_a_return_without_a_frame),
        TEST_ENTRY(state_mends_the_stack),
        TEST_ENTRY(keyframes_of_deep_stacks_refer_to_earlier_ones),
        TEST_ENTRY(damaged_keyframes_are_refused),
        TEST_ENTRY(given_up_generators_are_forgotten),
        TEST_ENTRY(summaries_name_what_a_chunk_holds),
    };

    return run_tests(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
