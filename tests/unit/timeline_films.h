/* timeline_films.h: films to travel in, and what a variable is at a moment.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_TEST_TIMELINE_FILMS_H
#define FILMSTRIP_TEST_TIMELINE_FILMS_H

#include "value_films.h"

#include <filmstrip/filmstrip.h>

#include "analysis/timeline.h"
#include "format/token.h"
#include "writer/append.h"

/* def NAME(a, b): with locals a, b, x, y; a line every 8 units from first_line + 1 on.
 */
static inline uint32_t
add_code(film_writer *writer, const char *name, uint32_t first_line, uint32_t flags)
{
    uint32_t locals[] = {string(writer, "a"), string(writer, "b"), string(writer, "x"),
                         string(writer, "y")};
    static const uint8_t kinds[] = {0x20, 0x20, 0x20, 0x20};
    static const uint8_t bytecode[160];
    static uint8_t line_table[20];
    film_code_record code = {.file = "/src/m.py",
                             .module = "m",
                             .qualname = name,
                             .name = name,
                             .first_line = first_line,
                             .argument_count = 2,
                             .flags = flags | 3,
                             .bytecode = bytecode,
                             .bytecode_length = sizeof(bytecode),
                             .line_table = line_table,
                             .line_table_length = sizeof(line_table),
                             .locals = locals,
                             .local_count = 4,
                             .local_kinds = kinds};

    for (size_t entry = 0; entry < sizeof(line_table) / 2; entry++) {
        line_table[entry * 2] = 0x80 | 13 << 3 | 7;
        line_table[entry * 2 + 1] = 2;
    }
    return film_writer_code(writer, &code);
}

static inline void
call(film_thread *thread, uint32_t code, int64_t a, int64_t b)
{
    uint8_t tokens[2 * FILM_TOKEN_MAX], *to = film_token_put_int(tokens, a);

    to = film_token_put_int(to, b);
    CHECK(film_append_values(thread, 2, tokens, (size_t)(to - tokens)));
    CHECK(film_append_call(thread, code, 1));
}

typedef struct film {
    film_reader *reader;
    film_timeline *timeline;
} film;

static inline film
open_film(void)
{
    film opened = {.reader = open_reader(path)};

    CHECK(film_timeline_open(opened.reader, &opened.timeline, NULL) == FILM_OK);
    return opened;
}

static inline void
close_film(film *opened)
{
    film_timeline_close(opened->timeline);
    film_reader_close(opened->reader);
    unlink(path);
}

/* The text of a variable; "-" where it has no value. */
static inline const char *
text_at(const film *opened, uint64_t event, size_t index, const char *name)
{
    static char text[128];
    film_moment moment = film_moment_of(1, event);
    film_variable variable;
    film_value value;
    film_status status =
        film_timeline_variable(opened->timeline, moment, index, name, &variable, NULL);

    if (status != FILM_OK) {
        CHECK(status == FILM_END);
        return "-";
    }
    CHECK(film_timeline_text(opened->timeline, moment, &variable.value, 100, &value,
                             NULL) == FILM_OK);
    snprintf(text, sizeof(text), "%s", value.text.data);
    return text;
}

/* Frames that stay open over several chunks keep what they hold; a callee writes on. */
static inline uint64_t
write_long(uint64_t turns)
{
    film_writer *writer = begin(0);
    uint32_t outer = add_code(writer, "outer", 10, 0);
    uint32_t inner = add_code(writer, "inner", 100, 0);
    film_thread *thread = film_writer_thread_begin(writer, "main", 1);
    uint64_t events;

    call(thread, outer, 1, 2);
    CHECK(film_append_line(thread, 8, false));
    set_int(thread, 2, 77);
    for (uint64_t i = 0; i < turns; i++) {
        CHECK(film_append_line(thread, 16, false));
        call(thread, inner, (int64_t)i, 5);
        CHECK(film_append_line(thread, 8, false));
        set_int(thread, 3, (int64_t)i * 10);
        CHECK(film_append_return(thread, 20));
    }
    if (turns > 0) {
        CHECK(film_append_line(thread, 24, false));
        set_int(thread, 3, 5);
    }
    events = thread->events;
    CHECK(film_append_return(thread, 30));
    CHECK(film_writer_close(writer, NULL, 0, NULL) == FILM_OK);
    return events;
}

#endif
