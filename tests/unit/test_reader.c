/* test_reader.c: recordings written with the writer, read back and compared with a
 * model that notes what each event should be.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#include <filmstrip/filmstrip.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "format/chunk.h"
#include "format/superblock.h"
#include "test.h"
#include "writer/append.h"
#include "writer/sink.h"
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

static uint64_t
next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void
temporary_path(char *path, size_t length, const char *name)
{
    const char *folder = getenv("TMPDIR");

    snprintf(path, length, "%s/film_test_%d_%s.film", folder == NULL ? "/tmp" : folder,
             (int)getpid(), name);
    unlink(path);
}

static void
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

static void
end_recording(recording *made)
{
    film_meta_pair pair = {"exit", "0"};
    film_error error;

    CHECK(film_writer_close(made->writer, &pair, 1, &error) == FILM_OK);
}

static expected *
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

static void
begin_player(player *played, recording *made, const char *name, uint64_t seed)
{
    memset(played, 0, sizeof(*played));
    played->random = seed * 2654435761u + 1;
    played->thread = film_writer_thread_begin(made->writer, name, 1000 + seed);
    CHECK(played->thread != NULL);
    expect(played, FILM_KIND_THREAD_START)->text =
        film_writer_string(made->writer, name, strlen(name));
}

static void
free_player(player *played)
{
    free(played->events);
    free(played->stack);
}

static open_frame *
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

static void
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

static void
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

static void
expect_exit(player *played, expected *event, uint32_t offset)
{
    open_frame *frame = &played->stack[--played->depth];

    event->frame = frame->serial;
    event->code = frame->code;
    event->offset = offset;
    event->depth = (uint32_t)played->depth;
}

static void
play_return(player *played)
{
    uint32_t offset = (uint32_t)next_random(&played->random) % 300;

    expect_exit(played, expect(played, FILM_KIND_RETURN), offset);
    CHECK(film_append_return(played->thread, offset));
}

static void
play_yield(player *played)
{
    open_frame frame = played->stack[played->depth - 1];
    uint32_t offset = (uint32_t)next_random(&played->random) % 300;

    expect_exit(played, expect(played, FILM_KIND_YIELD), offset);
    frame.offset = offset;
    played->asleep[played->asleep_count++] = frame;
    CHECK(film_append_yield(played->thread, offset));
}

static void
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

static void
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
static void
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

static void
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
static void
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

static void
check_seeks(film_reader *reader, uint32_t thread, const player *played)
{
    uint64_t random = 7;

    for (unsigned i = 0; i < 40; i++) {
        uint64_t first = next_random(&random) % played->count;
        uint64_t end = first + 50 < played->count ? first + 50 : played->count;
        check_thread(reader, thread, played, first, end);
    }
}

static void
check_all_chunks(film_reader *reader)
{
    film_error error;

    for (size_t i = 0; i < film_reader_chunk_count(reader); i++) {
        if (film_reader_verify_chunk(reader, i, &error) != FILM_OK) {
            fprintf(stderr, "%s\n", error.message);
            CHECK(false);
        }
    }
    CHECK_EQUAL(film_reader_damage_count(reader), 0);
}

static film_reader *
open_reader(const char *path)
{
    film_reader *reader;
    film_error error = {0};

    if (film_reader_open(path, &reader, &error) != FILM_OK) {
        fprintf(stderr, "%s\n", error.message);
        CHECK(false);
    }
    return reader;
}

static uint8_t *
read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    struct stat facts;
    uint8_t *bytes;

    CHECK(file != NULL && fstat(fileno(file), &facts) == 0);
    *length = (size_t)facts.st_size;
    bytes = malloc(*length + 1);
    CHECK(bytes != NULL && fread(bytes, 1, *length, file) == *length);
    fclose(file);
    return bytes;
}

static void
write_file(const char *path, const uint8_t *bytes, size_t length)
{
    FILE *file;

    unlink(path);
    file = fopen(path, "wb");
    CHECK(file != NULL && fwrite(bytes, 1, length, file) == length);
    fclose(file);
}

/* A copy of the file as it is now: what a kill would leave. */
static void
copy_file(const char *from, char *to, size_t to_length, const char *name)
{
    size_t length;
    uint8_t *bytes = read_file(from, &length);

    temporary_path(to, to_length, name);
    write_file(to, bytes, length);
    free(bytes);
}

/* Gives the recording another process for its writer. */
static void
set_pid(const char *path, uint64_t pid)
{
    uint8_t bytes[112];
    FILE *file = fopen(path, "r+b");

    CHECK(file != NULL && fread(bytes, 1, sizeof(bytes), file) == sizeof(bytes));
    film_put_u64(bytes + 32, pid);
    film_put_u64(bytes + 104, film_hash(bytes, 104));
    rewind(file);
    CHECK(fwrite(bytes, 1, sizeof(bytes), file) == sizeof(bytes));
    fclose(file);
}

static void
check_tables(film_reader *reader, const recording *made)
{
    film_error error;
    film_value value;
    film_source source;
    const film_code *code = film_reader_code(reader, 3);

    CHECK_EQUAL(film_reader_code_count(reader), CODES);
    CHECK(code != NULL && film_reader_code(reader, CODES) == NULL);
    CHECK(strcmp(code->function.data, "program.function_3") == 0);
    CHECK(strcmp(code->file.data, "/src/program.py") == 0);
    CHECK_EQUAL(code->function.length, strlen(code->function.data));
    CHECK(code->stable_hash != film_reader_code(reader, 4)->stable_hash);
    CHECK_EQUAL(film_reader_line(reader, 3, 0), 32);
    CHECK_EQUAL(film_reader_line(reader, 3, 3), 32);
    CHECK_EQUAL(film_reader_line(reader, 3, 4), 33);
    CHECK_EQUAL(film_reader_line(reader, 3, 8), 0);
    CHECK_EQUAL(film_reader_line(reader, 3, 100000), 0);
    CHECK_EQUAL(film_reader_line(reader, FILM_NO_CODE, 0), 0);
    CHECK(strcmp(film_reader_string(reader, made->texts[2]).data, "Error2") == 0);
    CHECK_EQUAL(film_reader_string(reader, 0).length, 0);
    CHECK_EQUAL(film_reader_string(reader, 12345678).length, 0);
    CHECK(film_reader_value(reader, made->values[5] - 1, &value, &error) == FILM_OK);
    CHECK(strcmp(value.text.data, "message 5") == 0);
    CHECK(strcmp(value.type.data, "Error5") == 0);
    CHECK(film_reader_value(reader, 999999, &value, &error) == FILM_CORRUPT);
    CHECK(strcmp(film_reader_meta(reader, "program"), "test") == 0);
    CHECK(film_reader_meta(reader, "nothing") == NULL);
    if (film_reader_info(reader)->ending == FILM_ENDING_CLOSED) {
        CHECK(film_reader_source(reader, 0, &source, &error) == FILM_OK);
        CHECK(strcmp(source.file.data, "/src/program.py") == 0);
        CHECK(strcmp(source.text.data, "pass\n") == 0 && !source.cut);
        CHECK(film_reader_source(reader, 1, &source, &error) == FILM_END);
        CHECK(strcmp(film_reader_meta(reader, "exit"), "0") == 0);
    }
}

TEST(closed_recordings_read_back)
{
    recording made;
    player played[3];
    film_reader *reader;
    static const char *const names[] = {"MainThread", "worker", "idle"};

    begin_recording(&made, "closed", 0);
    for (unsigned i = 0; i < 3; i++) {
        begin_player(&played[i], &made, names[i], i + 1);
    }
    play(&played[0], &made, 50000, 0, 30);
    play(&played[1], &made, 16384, 0, 5);
    end_recording(&made);
    reader = open_reader(made.path);
    CHECK_EQUAL(film_reader_thread_count(reader), 3);
    CHECK(film_reader_thread(reader, 3) == NULL);
    for (unsigned i = 0; i < 3; i++) {
        const film_thread_info *thread = film_reader_thread(reader, i);
        CHECK_EQUAL(thread->id, i + 1);
        CHECK_EQUAL(thread->end_event, played[i].count);
        CHECK_EQUAL(thread->native_id, 1001 + i);
        CHECK_EQUAL(thread->lost, 0);
        CHECK(strcmp(thread->name.data, names[i]) == 0);
        check_thread(reader, i + 1, &played[i], 0, played[i].count);
        check_seeks(reader, i + 1, &played[i]);
    }
    CHECK_EQUAL(film_reader_info(reader)->events,
                played[0].count + played[1].count + played[2].count);
    CHECK(film_reader_info(reader)->ending == FILM_ENDING_CLOSED);
    CHECK(film_reader_info(reader)->duration_ns >=
          film_reader_thread(reader, 0)->last_ns);
    check_tables(reader, &made);
    check_all_chunks(reader);
    film_reader_close(reader);
    for (unsigned i = 0; i < 3; i++) {
        free_player(&played[i]);
    }
    unlink(made.path);
}

/* The file as a kill would leave it, at several moments. */
TEST(killed_recordings_lose_nothing)
{
    static const size_t moments[] = {1, 2, 500, 16384, 40000, 120000, 250000};
    recording made;
    player main_player, other;
    char path[128];

    begin_recording(&made, "killed", 0);
    begin_player(&main_player, &made, "MainThread", 1);
    begin_player(&other, &made, "other", 2);
    for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
        film_reader *reader;
        play(&main_player, &made, moments[i], 0, 100);
        play(&other, &made, moments[i] / 3, 0, 10);
        /* A copy takes time: nothing may move from windows to the log meanwhile. */
        film_writer_before_fork(made.writer);
        copy_file(made.path, path, sizeof(path), "killed_copy");
        set_pid(path, 1); /* not ours any more */
        reader = open_reader(path);
        CHECK(film_reader_info(reader)->ending == FILM_ENDING_DIED);
        CHECK_EQUAL(film_reader_info(reader)->events, main_player.count + other.count);
        CHECK_EQUAL(film_reader_info(reader)->lost, 0);
        check_thread(reader, 1, &main_player, 0, main_player.count);
        check_thread(reader, 2, &other, 0, other.count);
        check_seeks(reader, 1, &main_player);
        check_tables(reader, &made);
        check_all_chunks(reader);
        film_reader_close(reader);
        unlink(path);
    }
    end_recording(&made);
    free_player(&main_player);
    free_player(&other);
    unlink(made.path);
}

TEST(deep_stacks_come_back_from_references)
{
    recording made;
    player played;
    film_reader *reader;

    begin_recording(&made, "deep", 0);
    begin_player(&played, &made, "MainThread", 9);
    play(&played, &made, 60000, 3000, 3010);
    play(&played, &made, 120000, 2950, 3100);
    play(&played, &made, 200000, 100, 3100);
    end_recording(&made);
    reader = open_reader(made.path);
    check_thread(reader, 1, &played, 0, played.count);
    check_seeks(reader, 1, &played);
    for (uint64_t n = 1; n < played.count; n += 16384) {
        check_thread(reader, 1, &played, n, n + 2);
    }
    check_thread(reader, 1, &played, played.count - 10, played.count);
    check_all_chunks(reader);
    film_reader_close(reader);
    free_player(&played);
    unlink(made.path);
}

/* Every event given is as it should be, or a `lost` one. Returns how many are lost. */
static uint64_t
check_what_is_there(film_reader *reader, const player *played)
{
    film_cursor *cursor;
    const film_event *event;
    film_error error;
    uint64_t number = film_reader_thread(reader, 0)->first_event, lost = 0;

    CHECK(film_cursor_open(reader, 1, 0, &cursor, &error) == FILM_OK);
    while (film_cursor_next(cursor, &event, &error) == FILM_OK) {
        CHECK_EQUAL(event->number, number);
        CHECK(number < played->count);
        if (event->kind == FILM_KIND_LOST) {
            lost += event->count;
            number += event->count;
        }
        else {
            CHECK_EQUAL(event->kind, played->events[number].kind);
            number++;
        }
    }
    CHECK_EQUAL(number, film_reader_thread(reader, 0)->end_event);
    film_cursor_close(cursor);
    return lost + played->count - number;
}

TEST(rings_keep_the_newest_events)
{
    recording made;
    player played;
    film_reader *reader;
    const film_thread_info *thread;
    char path[128];

    begin_recording(&made, "ring", 4u << 20);
    begin_player(&played, &made, "MainThread", 5);
    for (unsigned i = 1; i <= 6; i++) {
        play(&played, &made, 400000 * i, 0, 20);
        film_writer_before_fork(made.writer); /* a copy is no snapshot: hold still */
        film_writer_before_fork(made.writer);
        copy_file(made.path, path, sizeof(path), "ring_copy");
        reader = open_reader(path);
        thread = film_reader_thread(reader, 0);
        CHECK(thread->first_event < played.count);
        /* A small ring has few windows; rows in others do not survive a kill. */
        CHECK(check_what_is_there(reader, &played) < 16 * 100000);
        check_tables(reader, &made);
        check_all_chunks(reader);
        film_reader_close(reader);
        unlink(path);
    }
    end_recording(&made);
    reader = open_reader(made.path);
    thread = film_reader_thread(reader, 0);
    CHECK_EQUAL(thread->end_event, played.count);
    CHECK(thread->first_event > 0);
    CHECK_EQUAL(film_reader_info(reader)->overwritten, thread->first_event);
    CHECK(film_reader_info(reader)->file_bytes <= 4u << 20);
    check_thread(reader, 1, &played, thread->first_event, played.count);
    check_tables(reader, &made);
    check_all_chunks(reader);
    film_reader_close(reader);
    free_player(&played);
    unlink(made.path);
}

/* Walks a thread of which events [from, to) are not readable. */
static void
check_with_hole(film_reader *reader, const player *played, uint64_t from, uint64_t to)
{
    film_cursor *cursor;
    const film_event *event;
    film_error error;

    CHECK(film_cursor_open(reader, 1, 0, &cursor, &error) == FILM_OK);
    for (uint64_t i = 0; i < from; i++) {
        CHECK(film_cursor_next(cursor, &event, &error) == FILM_OK);
        check_event(event, &played->events[i], i);
    }
    CHECK(film_cursor_next(cursor, &event, &error) == FILM_OK);
    CHECK_EQUAL(event->kind, FILM_KIND_LOST);
    CHECK_EQUAL(event->number, from);
    CHECK_EQUAL(event->count, to - from);
    CHECK(film_reader_string(reader, event->text).length > 0);
    for (uint64_t i = to; i < played->count; i++) {
        CHECK(film_cursor_next(cursor, &event, &error) == FILM_OK);
        check_event(event, &played->events[i], i);
    }
    CHECK(film_cursor_next(cursor, &event, &error) == FILM_END);
    film_cursor_close(cursor);
    /* Beginning in the hole: what is left of it, then the rest. */
    CHECK(film_cursor_open(reader, 1, from + 5, &cursor, &error) == FILM_OK);
    CHECK(film_cursor_next(cursor, &event, &error) == FILM_OK);
    CHECK_EQUAL(event->kind, FILM_KIND_LOST);
    CHECK_EQUAL(event->count, to - from - 5);
    if (to < played->count) {
        CHECK(film_cursor_next(cursor, &event, &error) == FILM_OK);
        check_event(event, &played->events[to], to);
    }
    film_cursor_close(cursor);
}

/* File offset of the n-th event chunk of a closed recording. */
static size_t
find_event_chunk(const char *path, size_t n, film_chunk_info *info)
{
    film_reader *reader = open_reader(path);
    uint64_t offset = 0;

    for (size_t i = 0; i < film_reader_chunk_count(reader); i++) {
        const film_chunk_info *chunk = film_reader_chunk(reader, i);
        if (chunk->type == FILM_CHUNK_EVENT && n-- == 0) {
            *info = *chunk;
            offset = FILM_SUPERBLOCK_BYTES + chunk->offset;
            break;
        }
    }
    film_reader_close(reader);
    CHECK(offset != 0);
    return (size_t)offset;
}

TEST(damaged_chunks_are_told_and_passed)
{
    recording made;
    player played;
    film_reader *reader;
    film_chunk_info chunk;
    film_error error;
    size_t length, at;
    uint8_t *bytes;

    begin_recording(&made, "damaged", 0);
    begin_player(&played, &made, "MainThread", 3);
    play(&played, &made, 80000, 0, 40);
    end_recording(&made);
    bytes = read_file(made.path, &length);
    at = find_event_chunk(made.path, 2, &chunk);

    bytes[at + chunk.stored_bytes / 2] ^= 0x55; /* payload */
    write_file(made.path, bytes, length);
    reader = open_reader(made.path);
    check_with_hole(reader, &played, 2 * 16384, 3 * 16384);
    CHECK_EQUAL(film_reader_damage_count(reader), 1);
    CHECK_EQUAL(film_reader_damage(reader, 0)->offset, at);
    CHECK(strstr(film_reader_damage(reader, 0)->message, "is damaged") != NULL);
    CHECK(film_reader_verify_chunk(reader,
                                   (size_t)film_reader_damage(reader, 0)->number,
                                   &error) == FILM_CORRUPT);
    CHECK_EQUAL(error.offset, at);
    film_reader_close(reader);

    bytes[at + chunk.stored_bytes / 2] ^= 0x55; /* header, the index still knows */
    bytes[at + 30] ^= 1;
    write_file(made.path, bytes, length);
    reader = open_reader(made.path);
    check_with_hole(reader, &played, 2 * 16384, 3 * 16384);
    film_reader_close(reader);

    memset(bytes + FILM_FIELD_INDEX_OFFSET, 0, 8); /* header, and no index */
    write_file(made.path, bytes, length);
    reader = open_reader(made.path);
    CHECK_EQUAL(film_reader_info(reader)->damaged, 1);
    check_with_hole(reader, &played, 2 * 16384, 3 * 16384);
    film_reader_close(reader);

    memset(bytes + at, 0, chunk.stored_bytes); /* all of it */
    write_file(made.path, bytes, length);
    reader = open_reader(made.path);
    check_with_hole(reader, &played, 2 * 16384, 3 * 16384);
    film_reader_close(reader);

    write_file(made.path, bytes, at + 1000); /* cut in that chunk */
    reader = open_reader(made.path);
    CHECK_EQUAL(film_reader_thread(reader, 0)->end_event, 2 * 16384);
    CHECK(film_reader_damage_count(reader) > 0);
    film_reader_close(reader);
    free(bytes);
    free_player(&played);
    unlink(made.path);
}

TEST(a_damaged_chunk_that_holds_frames_of_others)
{
    recording made;
    player played;
    film_reader *reader;
    film_chunk_info chunk;
    film_cursor *cursor;
    const film_event *event;
    film_error error;
    size_t length, at;
    uint8_t *bytes;
    uint64_t given = 0;

    begin_recording(&made, "homeless", 0);
    begin_player(&played, &made, "MainThread", 4);
    play(&played, &made, 70000, 400, 450);
    end_recording(&made);
    bytes = read_file(made.path, &length);
    at = find_event_chunk(made.path, 1, &chunk);
    bytes[at + chunk.stored_bytes - 100] ^= 0x10;
    write_file(made.path, bytes, length);
    reader = open_reader(made.path);
    CHECK(film_cursor_open(reader, 1, 0, &cursor, &error) == FILM_OK);
    while (film_cursor_next(cursor, &event, &error) == FILM_OK) {
        given++;
        CHECK(event->kind == played.events[event->number].kind ||
              event->kind == FILM_KIND_LOST);
    }
    CHECK_EQUAL(given, played.count - 16384 + 1);
    film_cursor_close(cursor);
    film_reader_close(reader);
    free(bytes);
    free_player(&played);
    unlink(made.path);
}

TEST(live_recordings_are_followed)
{
    recording made;
    player played;
    film_reader *reader;
    film_cursor *cursor;
    const film_event *event;
    film_error error;
    uint64_t number = 0;

    begin_recording(&made, "live", 0);
    begin_player(&played, &made, "MainThread", 6);
    reader = open_reader(made.path);
    CHECK(film_reader_info(reader)->ending == FILM_ENDING_LIVE);
    film_reader_close(reader); /* takes the process's lock away */
    reader = open_reader(made.path);
    CHECK(film_reader_info(reader)->ending == FILM_ENDING_LIVE);
    CHECK(film_cursor_open(reader, 1, 0, &cursor, &error) == FILM_OK);
    for (unsigned i = 0; i < 60; i++) {
        while (film_cursor_next(cursor, &event, &error) == FILM_OK) {
            check_event(event, &played.events[number], number);
            number++;
        }
        CHECK_EQUAL(number, played.count);
        play(&played, &made, played.count + 1 + i * 300, 0, 80);
        if (i == 59) {
            end_recording(&made);
        }
        CHECK(film_reader_refresh(reader, &error) == FILM_OK);
    }
    while (film_cursor_next(cursor, &event, &error) == FILM_OK) {
        check_event(event, &played.events[number], number);
        number++;
    }
    CHECK_EQUAL(number, played.count);
    CHECK(film_reader_info(reader)->ending == FILM_ENDING_CLOSED);
    CHECK_EQUAL(film_reader_damage_count(reader), 0);
    film_cursor_close(cursor);
    film_reader_close(reader);
    free_player(&played);
    unlink(made.path);
}

typedef struct busy {
    player played;
    const recording *made;
    _Atomic(bool) stop;
} busy;

static void *
be_busy(void *context)
{
    busy *work = context;

    while (!work->stop) {
        play(&work->played, work->made, work->played.count + 1000, 0, 30);
    }
    return NULL;
}

/* Opened again and again while two threads write as fast as they can. */
TEST(open_while_being_written)
{
    recording made;
    busy work[2] = {0};
    pthread_t threads[2];
    unsigned opened = 0;

    begin_recording(&made, "busy", 0);
    for (unsigned i = 0; i < 2; i++) {
        begin_player(&work[i].played, &made, "busy", i + 1);
        work[i].made = &made;
    }
    for (unsigned i = 0; i < 2; i++) {
        CHECK(pthread_create(&threads[i], NULL, be_busy, &work[i]) == 0);
    }
    for (; opened < 25; opened++) {
        film_reader *reader = open_reader(made.path);
        CHECK_EQUAL(film_reader_damage_count(reader), 0);
        CHECK_EQUAL(film_reader_info(reader)->lost, 0);
        for (uint32_t thread = 1; thread <= 2; thread++) {
            uint64_t end = film_reader_thread(reader, thread - 1)->end_event,
                     number = 0;
            film_cursor *cursor;
            const film_event *event;
            film_error error;
            number = end > 60000 ? end - 60000 : 0;
            CHECK(film_cursor_open(reader, thread, number, &cursor, &error) == FILM_OK);
            while (film_cursor_next(cursor, &event, &error) == FILM_OK) {
                CHECK_EQUAL(event->number, number);
                CHECK(event->kind != FILM_KIND_LOST);
                number++;
            }
            CHECK_EQUAL(number, end);
            film_cursor_close(cursor);
        }
        film_reader_close(reader);
    }
    for (unsigned i = 0; i < 2; i++) {
        work[i].stop = true;
        pthread_join(threads[i], NULL);
    }
    end_recording(&made);
    {
        film_reader *reader = open_reader(made.path);
        check_thread(reader, 1, &work[0].played, 0, work[0].played.count);
        check_thread(reader, 2, &work[1].played, 0, work[1].played.count);
        film_reader_close(reader);
    }
    free_player(&work[0].played);
    free_player(&work[1].played);
    unlink(made.path);
}

TEST(a_full_disk_is_told)
{
    recording made;
    player played;
    film_reader *reader;
    film_cursor *cursor;
    const film_event *event = NULL, *last = NULL;
    film_event kept = {0};
    film_error error;
    uint64_t refused = 0;

    begin_recording(&made, "full", 0);
    begin_player(&played, &made, "MainThread", 8);
    play(&played, &made, 100000, 0, 10);
    film_sink_fail_at(1, ENOSPC);
    for (unsigned i = 0; i < 2000000 && refused < 1000; i++) {
        refused += !film_append_call(played.thread, 1, 0);
    }
    CHECK_EQUAL(refused, 1000);
    film_sink_fail_at(0, 0);
    CHECK(film_writer_close(made.writer, NULL, 0, &error) == FILM_NO_SPACE);
    reader = open_reader(made.path);
    CHECK(film_reader_info(reader)->stopped_early ||
          film_reader_info(reader)->lost >= refused);
    CHECK_EQUAL(film_reader_thread(reader, 0)->lost, refused);
    check_thread(reader, 1, &played, 0, played.count - 1);
    CHECK(film_cursor_open(reader, 1, played.count, &cursor, &error) == FILM_OK);
    while (film_cursor_next(cursor, &event, &error) == FILM_OK) {
        kept = *event;
        last = &kept;
    }
    CHECK(last != NULL && last->kind == FILM_KIND_LOST);
    CHECK_EQUAL(last->count, refused);
    CHECK_EQUAL(last->number + 1, film_reader_thread(reader, 0)->end_event);
    CHECK(film_reader_string(reader, last->text).length > 0);
    film_cursor_close(cursor);
    film_reader_close(reader);
    free_player(&played);
    unlink(made.path);
}

TEST(wrong_files_are_refused_with_a_sentence)
{
    film_reader *reader;
    film_error error;
    char path[128];

    CHECK(film_reader_open("/nonexistent/x.film", &reader, &error) == FILM_IO);
    CHECK(reader == NULL && strstr(error.message, "no such file") != NULL);
    CHECK(film_reader_open("/tmp", &reader, &error) == FILM_NOT_A_FILM);
    CHECK(film_reader_open("/dev/null", &reader, &error) == FILM_NOT_A_FILM);
    temporary_path(path, sizeof(path), "wrong");
    write_file(path, (const uint8_t *)"hello, world", 12);
    CHECK(film_reader_open(path, &reader, &error) == FILM_NOT_A_FILM);
    CHECK(strstr(error.message, "is not a .film recording") != NULL);
    write_file(path,
               (const uint8_t *)"\x89"
                                "FILM\r\n\x1a",
               8);
    CHECK(film_reader_open(path, &reader, &error) == FILM_TRUNCATED);
    unlink(path);
}

/* Opens whatever it is and reads all of it. */
static void
walk_anything(const char *path)
{
    film_reader *reader;
    film_error error;

    if (film_reader_open(path, &reader, &error) != FILM_OK) {
        CHECK(reader == NULL);
        return;
    }
    for (size_t i = 0; i < film_reader_thread_count(reader); i++) {
        const film_thread_info *thread = film_reader_thread(reader, i);
        film_cursor *cursor;
        const film_event *event;
        if (film_cursor_open(reader, thread->id, 0, &cursor, &error) == FILM_OK) {
            while (film_cursor_next(cursor, &event, &error) == FILM_OK) {
                CHECK(film_reader_string(reader, event->text).data != NULL);
            }
            film_cursor_close(cursor);
        }
    }
    for (size_t i = 0; i < film_reader_chunk_count(reader); i++) {
        FILM_IGNORE(film_reader_verify_chunk(reader, i, &error));
    }
    film_reader_close(reader);
}

static void
damage(uint8_t *bytes, size_t *length, uint64_t *random)
{
    static const uint64_t numbers[] = {0, UINT64_MAX, INT32_MAX, 1, 64, 1u << 14};
    unsigned times = 1 + (unsigned)(next_random(random) % 8);

    while (times-- > 0 && *length > 16) {
        size_t at = next_random(random) % (*length - 8);
        switch (next_random(random) % 6) {
        case 0:
            *length = at + 8; /* cut */
            break;
        case 1:
            memset(bytes + (at & ~(size_t)4095), 0,
                   *length - (at & ~(size_t)4095) < 4096
                       ? *length - (at & ~(size_t)4095)
                       : 4096);
            break;
        case 2:
            film_put_u64(bytes + at, numbers[next_random(random) % 6]);
            break;
        case 3:
            at = 128 + next_random(random) % 80; /* the superblock's fields */
            film_put_u64(bytes + at, next_random(random) >> (next_random(random) % 64));
            break;
        default:
            bytes[at] ^= (uint8_t)(1u << (next_random(random) % 8));
            break;
        }
    }
}

static void
damage_often(const char *path, unsigned times, uint64_t seed)
{
    size_t length, kept;
    uint8_t *bytes = read_file(path, &length);
    uint8_t *copy = malloc(length);
    char damaged[128];
    uint64_t random = seed;

    CHECK(copy != NULL);
    temporary_path(damaged, sizeof(damaged), "random");
    for (unsigned i = 0; i < times; i++) {
        memcpy(copy, bytes, length);
        kept = length;
        damage(copy, &kept, &random);
        write_file(damaged, copy, kept);
        walk_anything(damaged);
    }
    unlink(damaged);
    free(bytes);
    free(copy);
}

TEST(random_damage_is_survived)
{
    const char *times = getenv("FILM_DAMAGED_FILES");
    unsigned count = times == NULL ? 400 : (unsigned)atoi(times);
    recording made;
    player played;

    alarm(0); /* a soak run takes its time */
    begin_recording(&made, "fodder", 0);
    begin_player(&played, &made, "MainThread", 2);
    play(&played, &made, 40000, 100, 150);
    end_recording(&made);
    damage_often(made.path, count, 12345);
    free_player(&played);
    unlink(made.path);
}

/* The same for recordings with windows; these are 8 MiB, so fewer. */
TEST(random_damage_of_killed_recordings_is_survived)
{
    const char *times = getenv("FILM_DAMAGED_FILES");
    unsigned count = times == NULL ? 60 : (unsigned)atoi(times) / 8;
    recording made;
    player played;
    char path[128];

    alarm(0);
    begin_recording(&made, "fodder2", 0);
    begin_player(&played, &made, "MainThread", 2);
    play(&played, &made, 120000, 0, 150);
    copy_file(made.path, path, sizeof(path), "fodder2_copy");
    end_recording(&made);
    damage_often(path, count, 777);
    free_player(&played);
    unlink(path);
    unlink(made.path);
}

/* Every prefix of a recording opens or is refused; none hurts. */
TEST(every_cut_is_survived)
{
    recording made;
    player played;
    size_t length;
    uint8_t *bytes;
    char path[128];

    begin_recording(&made, "cuts", 0);
    begin_player(&played, &made, "MainThread", 2);
    play(&played, &made, 20000, 0, 20);
    end_recording(&made);
    bytes = read_file(made.path, &length);
    temporary_path(path, sizeof(path), "cut");
    for (size_t i = 0; i < length; i += i < 4200 ? 97 : 509) {
        write_file(path, bytes, i);
        walk_anything(path);
    }
    free(bytes);
    free_player(&played);
    unlink(path);
    unlink(made.path);
}

/* The n-th allocation fails, for every n until a run meets no failure. */
TEST(failing_memory_is_survived)
{
    recording made;
    player played;
    char path[128];

    begin_recording(&made, "memory", 0);
    begin_player(&played, &made, "MainThread", 2);
    play(&played, &made, 90000, 100, 150);
    copy_file(made.path, path, sizeof(path), "memory_copy");
    end_recording(&made);
    for (unsigned files = 0; files < 2; files++) {
        for (uint64_t n = 1;; n++) {
            uint64_t asked;
            film_alloc_fail_at(n);
            walk_anything(files == 0 ? made.path : path);
            asked = film_alloc_fail_never();
            if (asked < n) {
                break;
            }
        }
    }
    free_player(&played);
    unlink(path);
    unlink(made.path);
}

int
main(int argc, char **argv)
{
    static const film_test tests[] = {
        TEST_ENTRY(closed_recordings_read_back),
        TEST_ENTRY(killed_recordings_lose_nothing),
        TEST_ENTRY(deep_stacks_come_back_from_references),
        TEST_ENTRY(rings_keep_the_newest_events),
        TEST_ENTRY(damaged_chunks_are_told_and_passed),
        TEST_ENTRY(a_damaged_chunk_that_holds_frames_of_others),
        TEST_ENTRY(live_recordings_are_followed),
        TEST_ENTRY(open_while_being_written),
        TEST_ENTRY(a_full_disk_is_told),
        TEST_ENTRY(wrong_files_are_refused_with_a_sentence),
        TEST_ENTRY(random_damage_is_survived),
        TEST_ENTRY(random_damage_of_killed_recordings_is_survived),
        TEST_ENTRY(every_cut_is_survived),
        TEST_ENTRY(failing_memory_is_survived),
    };

    return run_tests(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
