/* test_value_ring.c: which values a ring keeps.
 * SPDX-License-Identifier: Apache-2.0 */
#include "value_stories.h"

#include <filmstrip/filmstrip.h>

#include "format/token.h"
#include "writer/append.h"

/* Ring mode drops old values, but never one that a kept event needs. */
TEST(rings_keep_the_values_of_their_events)
{
    enum { OBJECTS = 50, RING = 4 << 20 };
    film_writer *writer = begin(RING);
    uint32_t code = add_code(writer);
    film_thread *thread = film_writer_thread_begin(writer, "MainThread", 1);
    uint64_t ids[OBJECTS], rewritten = 0, seen = 0, turn;
    film_reader *reader;
    film_cursor *cursor;
    const film_event *event;
    uint32_t state = 1;

    memset(ids, 0, sizeof(ids));
    CHECK(film_append_call(thread, code, 0));
    for (turn = 0; turn < 300000; turn++) {
        uint8_t tokens[FILM_APPEND_TOKENS], *to, items[20];
        uint32_t which = (uint32_t)(turn % OBJECTS);
        uint64_t list;
        for (size_t i = 0; i < sizeof(items); i++) {
            state = state * 1664525u + 1013904223u;
            items[i] = (uint8_t)(state >> 24);
        }
        if (turn < OBJECTS || ids[which] < film_writer_value_floor(writer)) {
            ids[which] = put_list(writer, which + 1, items, 3);
            rewritten++;
        }
        list = put_list(writer, 1000 + turn, items, sizeof(items));
        to = film_token_put_value(tokens, FILM_TOKEN_OBJECT, ids[which]);
        to = film_token_put_value(to, FILM_TOKEN_VALUE, list);
        CHECK(film_append_set(thread, FILM_SET_ATTRIBUTE, 1, tokens,
                              (size_t)(to - tokens)));
        for (int i = 0; i < 3; i++) {
            state = state * 1664525u + 1013904223u;
            set_int(thread, 2, (int64_t)state);
        }
    }
    CHECK(film_writer_close(writer, NULL, 0, NULL) == FILM_OK);
    CHECK(rewritten > OBJECTS && rewritten < turn / 4);
    reader = open_reader(path);
    CHECK(film_reader_info(reader)->overwritten > 0 &&
          film_reader_info(reader)->lost == 0);
    CHECK(film_cursor_open(reader, 1, 0, &cursor, NULL) == FILM_OK);
    while (film_cursor_next(cursor, &event, NULL) == FILM_OK) {
        film_value value;
        for (uint32_t i = 0; i < event->token_count && event->token_count > 1; i++) {
            CHECK(film_reader_event_value(reader, event, i, 200, &value, NULL) ==
                  FILM_OK);
            CHECK(value.is_object && value.text.data[0] == (i == 0 ? '<' : '['));
            CHECK(strcmp(value.type.data, "list") == 0);
            seen++;
        }
    }
    CHECK(seen > 20000);
    film_cursor_close(cursor);
    film_reader_close(reader);
    unlink(path);
}

/* Objects that are never told again: the ring must go on all the same. */
TEST(a_ring_does_not_stop_for_old_values)
{
    film_writer *writer = begin(4 << 20);
    uint32_t code = add_code(writer);
    film_thread *thread = film_writer_thread_begin(writer, "MainThread", 1);
    film_writer_stats stats;
    uint64_t old = put_list(writer, 1, (const uint8_t[]){1}, 1);

    CHECK(film_append_call(thread, code, 0));
    for (uint64_t turn = 0; turn < 400000; turn++) {
        uint8_t tokens[FILM_APPEND_TOKENS], *to, items[8];
        uint64_t list;
        for (size_t i = 0; i < sizeof(items); i++) {
            items[i] = (uint8_t)(turn * 2654435761u >> (3 * i));
        }
        list = put_list(writer, 1000 + turn, items, sizeof(items));
        to = film_token_put_value(tokens, FILM_TOKEN_OBJECT, old);
        to = film_token_put_value(to, FILM_TOKEN_VALUE, list);
        CHECK(film_append_set(thread, FILM_SET_ATTRIBUTE, 1, tokens,
                              (size_t)(to - tokens)));
    }
    film_writer_get_stats(writer, &stats);
    CHECK(!stats.stopped && stats.lost == 0);
    CHECK(film_writer_close(writer, NULL, 0, NULL) == FILM_OK);
    unlink(path);
}

int
main(int argc, char **argv)
{
    static const film_test tests[] = {
        TEST_ENTRY(rings_keep_the_values_of_their_events),
        TEST_ENTRY(a_ring_does_not_stop_for_old_values),
    };

    return run_tests(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
