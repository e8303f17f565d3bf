/* films.h: what tests that write recordings by hand share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_TEST_FILMS_H
#define FILMSTRIP_TEST_FILMS_H

#include "test.h"

#include <filmstrip/filmstrip.h>

#include "writer/writer.h"

static inline uint32_t
string(film_writer *writer, const char *text)
{
    return film_writer_string(writer, text, strlen(text));
}

/* One local variable: its name and its kind in co_localspluskinds. */
typedef struct test_local {
    const char *name;
    uint8_t kind;
} test_local;

#define TEST_LOCALS 8u

/* A function of m.py from line 10 on, two arguments; code units 1 and 2 of three are
 * lines 11 and 12. */
static inline uint32_t
add_function(film_writer *writer, const char *qualname, const test_local *locals,
             uint32_t count)
{
    uint32_t names[TEST_LOCALS];
    uint8_t kinds[TEST_LOCALS];
    static const uint8_t bytecode[200],
        line_table[] = {0x80 | 13 << 3 | 7, 2, 0x80 | 13 << 3 | 7, 2};
    const char *dot = strrchr(qualname, '.');
    film_code_record code = {.file = "m.py",
                             .module = "m",
                             .qualname = qualname,
                             .name = dot == NULL ? qualname : dot + 1,
                             .first_line = 10,
                             .argument_count = 2,
                             .bytecode = bytecode,
                             .bytecode_length = sizeof(bytecode),
                             .line_table = line_table,
                             .line_table_length = sizeof(line_table),
                             .locals = names,
                             .local_count = count,
                             .local_kinds = kinds};

    CHECK(count <= TEST_LOCALS);
    for (uint32_t i = 0; i < count; i++) {
        names[i] = string(writer, locals[i].name);
        kinds[i] = locals[i].kind;
    }
    return film_writer_code(writer, &code);
}

static inline film_reader *
open_reader(const char *path)
{
    film_reader *reader = NULL;
    film_error error = {0};

    if (film_reader_open(path, &reader, &error) != FILM_OK) {
        fprintf(stderr, "%s\n", error.message);
        CHECK(false);
    }
    return reader;
}

#endif
