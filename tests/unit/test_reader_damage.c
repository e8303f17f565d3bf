/* test_reader_damage.c: what the reader gives of damaged and cut recordings, and when
 * memory runs out.
 * SPDX-License-Identifier: Apache-2.0 */
#include "players.h"

#include <filmstrip/filmstrip.h>

#include "base/alloc.h"
#include "format/chunk.h"
#include "format/superblock.h"

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
        TEST_ENTRY(damaged_chunks_are_told_and_passed),
        TEST_ENTRY(a_damaged_chunk_that_holds_frames_of_others),
        TEST_ENTRY(random_damage_is_survived),
        TEST_ENTRY(random_damage_of_killed_recordings_is_survived),
        TEST_ENTRY(every_cut_is_survived),
        TEST_ENTRY(failing_memory_is_survived),
    };

    return run_tests(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
