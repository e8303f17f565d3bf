/* players.h: programs of calls played at random into a recording, and a model that
 * notes what each event should be.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_TEST_PLAYERS_H
#define FILMSTRIP_TEST_PLAYERS_H

#include "films.h"
#include "files.h"

#include <filmstrip/filmstrip.h>

#include "writer/append.h"
#include "writer/writer.h"

#define CODES 40u
#define TEXTS 8u

/* What an event should look like. */
typedef struct expected {
    uint64_t frame, value;
    uint32_t code, offset, depth, text, caller_code, caller_offset;
    uint8_t kind;
} expected;

typedef struct open_frame {
    uint64_t serial;
    uint32_t code, offset;
} open_frame;

/* One thread of the program being played. */
typedef struct player {
    film_thread *thread;
    expected *events;
    size_t count, capacity;
    open_frame *stack;
    size_t depth, stack_capacity;
    open_frame asleep[8];
    size_t asleep_count;
    uint64_t random;
} player;

typedef struct recording {
    char path[128];
    film_writer *writer;
    uint32_t codes[CODES];
    uint32_t texts[TEXTS];
    uint64_t values[TEXTS];
} recording;

static inline uint64_t
next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static inline void
begin_recording(recording *made, const char *name, uint64_t ring_bytes)
{
    static const uint8_t lines[] = {0x80 | 13 << 3 | 3, 0x02, 0x80 | 11 << 3 | 3, 0, 0,
                                    0x80 | 15 << 3 | 7};
    static const uint8_t bytecode[32] = {0};
    film_writer_options options = {.path = made->path, .ring_bytes = ring_bytes};
    film_meta_pair pair = {"program", "test"};
    film_error error;

    memset(made, 0, sizeof(*made));
    temporary_path(made->path, sizeof(made->path), name);
    CHECK(film_writer_open(&options, &made->writer, &error) == FILM_OK);
    film_writer_meta(made->writer, &pair, 1);
    for (uint32_t i = 0; i < CODES; i++) {
        char qualname[32];
        film_code_record code = {.file = "/src/program.py",
                                 .module = "program",
                                 .qualname = qualname,
                                 .name = qualname,
                                 .first_line = 10 * i + 1,
                                 .bytecode = bytecode,
                                 .bytecode_length = sizeof(bytecode),
                                 .line_table = lines,
                                 .line_table_length = sizeof(lines)};
        snprintf(qualname, sizeof(qualname), "function_%u", i);
        made->codes[i] = film_writer_code(made->writer, &code);
        CHECK_EQUAL(made->codes[i], i);
    }
    for (uint32_t i = 0; i < TEXTS; i++) {
        char text[32];
        int length = snprintf(text, sizeof(text), "Error%u", i);
        made->texts[i] = film_writer_string(made->writer, text, (size_t)length);
        length = snprintf(text, sizeof(text), "message %u", i);
        made->values[i] =
            film_writer_value(made->writer, made->texts[i], text, (size_t)length, 0);
        CHECK(made->values[i] != 0);
    }
    film_writer_source(made->writer, "/src/program.py", NULL, "pass\n", 5);
}

static inline void
end_recording(recording *made)
{
    film_meta_pair pair = {"exit", "0"};
    film_error error;

    CHECK(film_writer_close(made->writer, &pair, 1, &error) == FILM_OK);
}

static inline expected *
expect(player *played, film_kind kind)
{
    expected *event;

    if (played->count == played->capacity) {
        played->capacity = played->capacity == 0 ? 1024 : played->capacity * 2;
        played->events =
            realloc(played->events, played->capacity * sizeof(*played->events));
        CHECK(played->events != NULL);
    }
    event = &played->events[played->count++];
    memset(event, 0, sizeof(*event));
    event->kind = (uint8_t)kind;
    event->code = FILM_NO_CODE;
    event->offset = FILM_NO_OFFSET;
    event->caller_code = FILM_NO_CODE;
    event->caller_offset = FILM_NO_OFFSET;
    return event;
}

static inline void
begin_player(player *played, recording *made, const char *name, uint64_t seed)
{
    memset(played, 0, sizeof(*played));
    played->random = seed * 2654435761u + 1;
    played->thread = film_writer_thread_begin(made->writer, name, 1000 + seed);
    CHECK(played->thread != NULL);
    expect(played, FILM_KIND_THREAD_START)->text =
        film_writer_passing_name(made->writer, name, strlen(name));
}

static inline void
free_player(player *played)
{
    free(played->events);
    free(played->stack);
}

static inline open_frame *
push(player *played)
{
    if (played->depth == played->stack_capacity) {
        played->stack_capacity = played->stack_capacity * 2 + 64;
        played->stack =
            realloc(played->stack, played->stack_capacity * sizeof(*played->stack));
        CHECK(played->stack != NULL);
    }
    return &played->stack[played->depth++];
}

static inline void
expect_entry(player *played, expected *event, uint32_t site)
{
    event->depth = (uint32_t)played->depth;
    if (played->depth > 0) {
        open_frame *caller = &played->stack[played->depth - 1];
        event->caller_code = caller->code;
        if (site != 0) {
            caller->offset = event->caller_offset = site - 1;
        }
    }
}

static inline void
play_call(player *played, uint32_t code)
{
    uint32_t site = (uint32_t)next_random(&played->random) % 200;
    expected *event = expect(played, FILM_KIND_CALL);
    open_frame *frame;

    event->frame = film_thread_next_frame(played->thread);
    event->code = code;
    event->offset = 0;
    expect_entry(played, event, site);
    frame = push(played);
    frame->serial = event->frame;
    frame->code = code;
    frame->offset = FILM_NO_OFFSET;
    CHECK(film_append_call(played->thread, code, site));
}

static inline void
expect_exit(player *played, expected *event, uint32_t offset)
{
    open_frame *frame = &played->stack[--played->depth];

    event->frame = frame->serial;
    event->code = frame->code;
    event->offset = offset;
    event->depth = (uint32_t)played->depth;
}

static inline void
play_return(player *played)
{
    uint32_t offset = (uint32_t)next_random(&played->random) % 300;

    expect_exit(played, expect(played, FILM_KIND_RETURN), offset);
    CHECK(film_append_return(played->thread, offset));
}

static inline void
play_yield(player *played)
{
    open_frame frame = played->stack[played->depth - 1];
    uint32_t offset = (uint32_t)next_random(&played->random) % 300;

    expect_exit(played, expect(played, FILM_KIND_YIELD), offset);
    frame.offset = offset;
    played->asleep[played->asleep_count++] = frame;
    CHECK(film_append_yield(played->thread, offset));
}

static inline void
play_resume(player *played)
{
    open_frame frame = played->asleep[--played->asleep_count];
    expected *event = expect(played, FILM_KIND_RESUME);

    event->frame = frame.serial;
    event->code = frame.code;
    event->offset = frame.offset;
    expect_entry(played, event, 5);
    *push(played) = frame;
    CHECK(
        film_append_resume(played->thread, frame.serial, frame.code, frame.offset, 5));
}

static inline void
play_exception(player *played, const recording *made)
{
    uint32_t which = (uint32_t)next_random(&played->random) % TEXTS;
    open_frame *top = &played->stack[played->depth - 1];
    expected *event = expect(played, FILM_KIND_RAISE);

    top->offset = 7;
    event->frame = top->serial;
    event->code = top->code;
    event->offset = 7;
    event->depth = (uint32_t)played->depth - 1;
    event->text = made->texts[which];
    event->value = made->values[which];
    CHECK(film_append_exception(played->thread, FILM_KIND_RAISE, 7, event->text,
                                event->value));
    event = expect(played, FILM_KIND_UNWIND);
    expect_exit(played, event, 7);
    event->text = made->texts[which];
    event->value = made->values[which];
    CHECK(film_append_exception(played->thread, FILM_KIND_UNWIND, FILM_NO_OFFSET,
                                event->text, event->value));
}

/* Random calls between `least` and `most` deep, up to `count` events in all. */
static inline void
play(player *played, const recording *made, size_t count, size_t least, size_t most)
{
    while (played->count < count) {
        uint64_t choice = next_random(&played->random) % 100;
        if (played->depth < least || (choice < 48 && played->depth < most)) {
            play_call(played, made->codes[next_random(&played->random) % CODES]);
        }
        else if (choice < 52 && played->asleep_count > 0 && played->depth < most) {
            play_resume(played);
        }
        else if (choice < 55 && played->depth > least + 1) {
            play_exception(played, made);
        }
        else if (choice < 60 && played->asleep_count < 8 && played->depth > least) {
            play_yield(played);
        }
        else if (played->depth > least) {
            play_return(played);
        }
    }
}

static inline void
check_event(const film_event *event, const expected *should, uint64_t number)
{
    CHECK_EQUAL(event->number, number);
    CHECK_EQUAL(event->kind, should->kind);
    CHECK_EQUAL(event->frame, should->frame);
    CHECK_EQUAL(event->code, should->code);
    CHECK_EQUAL(event->offset, should->offset);
    CHECK_EQUAL(event->depth, should->depth);
    CHECK_EQUAL(event->text, should->text);
    CHECK_EQUAL(event->value, should->value);
    CHECK_EQUAL(event->caller_code, should->caller_code);
    CHECK_EQUAL(event->caller_offset, should->caller_offset);
}

/* Reads events [first, end) of a thread and compares; no event may be missing. */
static inline void
check_thread(film_reader *reader, uint32_t thread, const player *played, uint64_t first,
             uint64_t end)
{
    film_cursor *cursor;
    const film_event *event;
    film_error error;
    uint64_t last_ns = 0;

    CHECK(film_cursor_open(reader, thread, first, &cursor, &error) == FILM_OK);
    for (uint64_t i = first; i < end; i++) {
        CHECK(film_cursor_next(cursor, &event, &error) == FILM_OK);
        check_event(event, &played->events[i], i);
        CHECK(event->time_ns >= last_ns);
        last_ns = event->time_ns;
    }
    if (end == played->count) {
        size_t depth;
        const film_frame *stack = film_cursor_stack(cursor, &depth);
        CHECK_EQUAL(depth, played->depth);
        for (size_t i = 0; i < depth; i++) {
            CHECK_EQUAL(stack[i].serial, played->stack[i].serial);
            CHECK_EQUAL(stack[i].code, played->stack[i].code);
            CHECK_EQUAL(stack[i].offset, played->stack[i].offset);
        }
        CHECK(film_cursor_next(cursor, &event, &error) == FILM_END);
        CHECK(film_cursor_next(cursor, &event, &error) == FILM_END);
    }
    film_cursor_close(cursor);
}

#endif
