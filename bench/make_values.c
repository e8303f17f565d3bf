/* make_values.c: writes a recording of level values quickly, through the writer's own
 * interface, shaped like a real program's: for each call two arguments and a return
 * value, lines, writes of locals, attributes and items, a list that grows, objects that
 * are named again and again.
 *
 *   make_values FILE EVENTS [RING_BYTES]
 *
 * Prints JSON: events, seconds appending, seconds closing, bytes an event.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer/append.h"

#define FUNCTIONS 96u
#define UNITS 160u
#define OBJECTS 512u

static uint64_t random_state = 0x9e3779b97f4a7c15u;
static uint32_t list_type, point_type, attribute;
static uint64_t objects[OBJECTS];
static uint64_t serials = OBJECTS;

static uint32_t
random_below(uint32_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(((random_state >> 32) * limit) >> 32);
}

static uint64_t
put_list(film_writer *writer, uint64_t serial, uint32_t length)
{
    uint8_t body[256], *to = body;
    uint32_t count = length < 32 ? length : 32;

    to = film_varint_encode(to, serial);
    *to++ = FILM_OBJECT_SEQUENCE;
    to = film_varint_encode(to, length + 1);
    to = film_varint_encode(to, count);
    for (uint32_t i = 0; i < count; i++) {
        to = film_token_put_int(to, (int64_t)i * 3);
    }
    return film_writer_value_record(writer, list_type,
                                    FILM_VALUE_OBJECT |
                                        (length > count ? FILM_VALUE_CUT : 0),
                                    body, (size_t)(to - body)) -
           1;
}

static uint64_t
put_point(film_writer *writer, uint64_t serial)
{
    uint8_t body[64], *to = body;

    to = film_varint_encode(to, serial);
    *to++ = FILM_OBJECT_ATTRIBUTES;
    to = film_varint_encode(to, 0);
    to = film_varint_encode(to, 2);
    to = film_varint_encode(to, attribute);
    to = film_token_put_int(to, (int64_t)serial);
    to = film_varint_encode(to, attribute);
    to = film_token_put_float(to, (double)serial / 3);
    return film_writer_value_record(writer, point_type, FILM_VALUE_OBJECT, body,
                                    (size_t)(to - body)) -
           1;
}

static bool
describe(film_writer *writer)
{
    static uint8_t bytecode[UNITS * 2], line_table[UNITS / 8 * 2];
    static const uint8_t kinds[] = {0x20, 0x20, 0x20, 0x20};
    uint32_t locals[] = {film_writer_string(writer, "self", 4),
                         film_writer_string(writer, "count", 5),
                         film_writer_string(writer, "index", 5),
                         film_writer_string(writer, "result", 6)};

    for (size_t entry = 0; entry < UNITS / 8; entry++) {
        line_table[entry * 2] = 0x80 | 13 << 3 | 7;
        line_table[entry * 2 + 1] = 2;
    }
    for (uint32_t index = 0; index < FUNCTIONS; index++) {
        char file[64], name[64];
        film_code_record record = {.file = file,
                                   .module = "package.module",
                                   .qualname = name,
                                   .name = name,
                                   .first_line = 10 + index * 25,
                                   .argument_count = 2,
                                   .bytecode = bytecode,
                                   .bytecode_length = sizeof(bytecode),
                                   .line_table = line_table,
                                   .line_table_length = sizeof(line_table),
                                   .locals = locals,
                                   .local_count = 4,
                                   .local_kinds = kinds};
        snprintf(file, sizeof(file), "/srv/app/package/module_%u.py", index / 20);
        snprintf(name, sizeof(name), "method_%u", index);
        if (film_writer_code(writer, &record) == UINT32_MAX) {
            return false;
        }
    }
    return true;
}

/* One call of a function with a small loop; gives how many events it made. */
static uint64_t
play(film_writer *writer, film_thread *thread, uint32_t depth)
{
    static uint32_t list_length = 1;
    uint8_t tokens[FILM_APPEND_TOKENS], *to;
    uint32_t code = (depth * 7 + random_below(4)) % FUNCTIONS, turns = random_below(6);
    uint32_t object = random_below(8) == 0 ? random_below(OBJECTS) : code;
    uint64_t events = 2, list = 0, list_serial = ++serials;

    to = film_token_put_value(tokens, FILM_TOKEN_OBJECT, objects[object]);
    to = film_token_put_int(to, (int64_t)random_below(1000));
    film_append_values(thread, 2, tokens, (size_t)(to - tokens));
    film_append_call(thread, code, 20);
    for (uint32_t i = 0; i < turns; i++) {
        film_append_line(thread, 8 + 8 * (i % 12), false);
        to = film_token_put_int(tokens, i);
        film_append_set(thread, FILM_SET_LOCAL, 2, tokens, (size_t)(to - tokens));
        film_append_line(thread, 16 + 8 * (i % 12), false);
        events += 4;
        if (i % 3 == 0) {
            to = film_token_put_value(tokens, FILM_TOKEN_OBJECT, objects[object]);
            to = film_token_put_float(to, (double)random_below(1000) / 8);
            film_append_set(thread, FILM_SET_ATTRIBUTE, attribute, tokens,
                            (size_t)(to - tokens));
        }
        else if (i % 3 == 1) {
            list = put_list(writer, list_serial, list_length);
            to = film_token_put_value(tokens, FILM_TOKEN_VALUE, list);
            film_append_set(thread, FILM_SET_LOCAL, 3, tokens, (size_t)(to - tokens));
            list_length = list_length % 40 + 1;
        }
        else {
            list = put_list(writer, list_serial, ++list_length);
            to = film_token_put_value(tokens, FILM_TOKEN_VALUE, list);
            film_append_change(thread, tokens, (size_t)(to - tokens),
                               (int64_t)list_length - 1, false);
        }
        if (depth < 8 && i % 2 == 0) {
            events += play(writer, thread, depth + 1);
        }
    }
    to = film_token_put_int(tokens, (int64_t)random_below(100000));
    film_append_values(thread, 1, tokens, (size_t)(to - tokens));
    film_append_return(thread, 150);
    return events;
}

int
main(int argc, char **argv)
{
    film_writer_options options = {
        .replace = true, .python_version = 0x030d0000, .level = 2};
    film_writer *writer;
    film_thread *thread;
    film_error error;
    uint64_t wanted, written = 0, started, appended, closed;

    if (argc < 3) {
        fputs("make_values FILE EVENTS [RING_BYTES]\n", stderr);
        return 2;
    }
    options.path = argv[1];
    wanted = strtoull(argv[2], NULL, 10);
    options.ring_bytes = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    if (film_writer_open(&options, &writer, &error) != FILM_OK) {
        fprintf(stderr, "make_values: %s\n", error.message);
        return 1;
    }
    list_type = film_writer_string(writer, "list", 4);
    point_type = film_writer_string(writer, "package.Point", 13);
    attribute = film_writer_string(writer, "weight", 6);
    thread = describe(writer) ? film_writer_thread_begin(writer, "MainThread", 1) : NULL;
    if (thread == NULL) {
        fputs("make_values: it could not begin\n", stderr);
        return 1;
    }
    for (uint32_t i = 0; i < OBJECTS; i++) {
        objects[i] = put_point(writer, i);
    }
    started = film_clock_monotonic_ns();
    while (written < wanted) {
        written += play(writer, thread, 0);
        if (objects[0] < film_writer_value_floor(writer)) {
            for (uint32_t i = 0; i < OBJECTS; i++) {
                objects[i] = put_point(writer, i);
            }
        }
    }
    appended = film_clock_monotonic_ns();
    if (film_writer_close(writer, NULL, 0, &error) != FILM_OK) {
        fprintf(stderr, "make_values: %s\n", error.message);
        return 1;
    }
    closed = film_clock_monotonic_ns();
    printf("{\"events\": %" PRIu64 ", \"append_seconds\": %.3f, "
           "\"close_seconds\": %.3f}\n",
           written, (double)(appended - started) * 1e-9,
           (double)(closed - appended) * 1e-9);
    return 0;
}
