/* fuzz_expression.c: any text as an expression, evaluated over a small recording, and
 * as a request of film_query. No crash, no hang, no unbounded memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <filmstrip/filmstrip.h>

#include "analysis/expression.h"
#include "analysis/query.h"
#include "writer/append.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A call f(a=5, l=[1, 2, 300], d={'k': 1.5}, s='text', n=None). */
static void
write_film(const char *path)
{
    film_writer_options options = {
        .path = path, .replace = true, .level = 2, .python_version = 0x030c0000};
    film_writer *writer;
    film_thread *thread;
    uint8_t body[64], tokens[100], *to = body;
    uint64_t list, dict;
    uint32_t locals[5];
    static const char *const names[] = {"a", "l", "d", "s", "n"};
    static const uint8_t kinds[5] = {0x20, 0x20, 0x20, 0x20, 0x20};
    film_code_record code = {.file = "m.py",
                             .module = "m",
                             .qualname = "f",
                             .name = "f",
                             .first_line = 1,
                             .argument_count = 5,
                             .flags = 3,
                             .locals = locals,
                             .local_count = 5,
                             .local_kinds = kinds};

    if (film_writer_open(&options, &writer, NULL) != FILM_OK) {
        abort();
    }
    for (size_t i = 0; i < 5; i++) {
        locals[i] = film_writer_string(writer, names[i], 1);
    }
    thread = film_writer_thread_begin(writer, "main", 1);
    *to++ = 1;
    *to++ = FILM_OBJECT_SEQUENCE;
    *to++ = 4;
    *to++ = 3;
    to = film_token_put_int(to, 1);
    to = film_token_put_int(to, 2);
    to = film_token_put_int(to, 300);
    list = film_writer_value_record(writer, film_writer_string(writer, "list", 4),
                                    FILM_VALUE_OBJECT, body, (size_t)(to - body)) -
           1;
    to = body;
    *to++ = 2;
    *to++ = FILM_OBJECT_MAPPING;
    *to++ = 2;
    *to++ = 1;
    to = film_token_put_text(to, "k", 1);
    to = film_token_put_float(to, 1.5);
    dict = film_writer_value_record(writer, film_writer_string(writer, "dict", 4),
                                    FILM_VALUE_OBJECT, body, (size_t)(to - body)) -
           1;
    to = film_token_put_int(tokens, 5);
    to = film_token_put_value(to, FILM_TOKEN_VALUE, list);
    to = film_token_put_value(to, FILM_TOKEN_VALUE, dict);
    to = film_token_put_text(to, "text", 4);
    *to++ = FILM_TOKEN_NONE;
    film_append_values(thread, 5, tokens, (size_t)(to - tokens));
    film_append_call(thread, film_writer_code(writer, &code), 0);
    if (film_writer_close(writer, NULL, 0, NULL) != FILM_OK) {
        abort();
    }
}

static film_timeline *
the_timeline(void)
{
    static film_timeline *timeline;
    film_reader *reader;
    char path[64];

    if (timeline == NULL) {
        snprintf(path, sizeof(path), "/tmp/filmstrip-fuzz-%d.film", (int)getpid());
        write_film(path);
        if (film_reader_open(path, &reader, NULL) != FILM_OK ||
            film_timeline_open(reader, &timeline, NULL) != FILM_OK) {
            abort();
        }
        unlink(path);
    }
    return timeline;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    film_timeline *timeline = the_timeline();
    film_expression *tree;
    film_evaluated value;
    film_buffer answer = {0};

    if (film_expression_parse((const char *)data, size, &tree, NULL) == FILM_OK) {
        if (film_expression_evaluate(tree, timeline, film_moment_of(1, 1), 0, &value,
                                     NULL) == FILM_OK &&
            value.outcome == FILM_EVAL_VALUE &&
            strlen(value.value.text.data) > value.value.text.length) {
            abort();
        }
        film_expression_free(tree);
    }
    (void)!film_query(timeline, (const char *)data, size, &answer);
    film_buffer_reset(&answer);
    return 0;
}
