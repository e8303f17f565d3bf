/* op_films.h: films of ops with tensors whose numbers are told, for `nan` and `diff`.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_TEST_OP_FILMS_H
#define FILMSTRIP_TEST_OP_FILMS_H

#include "value_films.h"

#include <filmstrip/tensor.h>

#include "format/value_record.h"

/* f32[2, size] on the cpu, in memory of its own unless told; has nonfinite numbers. */
typedef struct op_tensor {
    uint64_t serial;
    int64_t size, storage; /* 0: the serial */
    int64_t nonfinite;     /* -1: no summary */
    int64_t hash;
} op_tensor;

typedef struct op_film {
    film_writer *writer;
    film_thread *thread;
    uint32_t code;
} op_film;

/* `name` tells the films of one test apart. */
static inline op_film
begin_ops(const char *name)
{
    static const test_local locals[] = {
        {"a", 0x20}, {"b", 0x20}, {"x", 0x20}, {"n", 0x80}};
    uint8_t tokens[FILM_APPEND_TOKENS], *end;
    op_film film;

    snprintf(path, sizeof(path), "/tmp/filmstrip-test-%d-%s.film", (int)getpid(), name);
    film.writer = begin(0);
    film.code = add_function(film.writer, "f", locals, 4);
    film.thread = film_writer_thread_begin(film.writer, "MainThread", 1);
    CHECK(film.thread != NULL);
    end = film_token_put_int(film_token_put_int(tokens, 1), 2);
    CHECK(film_append_values(film.thread, 2, tokens, (size_t)(end - tokens)));
    CHECK(film_append_call(film.thread, film.code, 0));
    CHECK(film_append_line(film.thread, 1, false));
    return film;
}

static inline void
end_ops(op_film *film)
{
    uint8_t token = FILM_TOKEN_NONE;

    CHECK(film_append_values(film->thread, 1, &token, 1));
    CHECK(film_append_return(film->thread, 2));
    CHECK(film_writer_close(film->writer, NULL, 0, NULL) == FILM_OK);
}

/* The tensor's record. */
static inline uint64_t
tensor(op_film *film, op_tensor told)
{
    uint8_t body[256], *to = body;
    char text[64];
    uint64_t id;

    snprintf(text, sizeof(text), "f32[2, %d] cpu", (int)told.size);
    to = film_varint_encode(to, told.serial);
    *to++ = FILM_OBJECT_ARRAY;
    to = film_varint_encode(to, 0);
    to = film_varint_encode(to, 2);
    to = film_varint_encode(to, 2);
    to = film_varint_encode(to, (uint64_t)told.size);
    to = film_varint_encode(to, string(film->writer, "float32"));
    to = film_varint_encode(to, string(film->writer, text));
    to = film_varint_encode(
        to,
        string(film->writer,
               told.nonfinite < 0
                   ? "storage,offset,version"
                   : "storage,offset,version,min,max,mean,std,zeros,nonfinite,hash"));
    *to++ = FILM_BASE_NONE;
    to = film_varint_encode(to, told.nonfinite < 0 ? 3 : 10);
    to =
        film_token_put_int(to, told.storage == 0 ? (int64_t)told.serial : told.storage);
    to = film_token_put_int(to, 0);
    to = film_token_put_int(to, 0);
    if (told.nonfinite >= 0) {
        to = film_token_put_float(to, -1.5);
        to = film_token_put_float(to, 2.5);
        to = film_token_put_float(to, 0.5);
        to = film_token_put_float(to, 1.0);
        to = film_token_put_int(to, 0);
        to = film_token_put_int(to, told.nonfinite);
        to = film_token_put_int(to, told.hash);
    }
    id = film_writer_value_record(film->writer, string(film->writer, "Tensor"),
                                  FILM_VALUE_OBJECT | FILM_VALUE_NOTED, body,
                                  (size_t)(to - body));
    CHECK(id != 0);
    return id - 1;
}

/* `count` of `records` as values of what comes next. */
static inline void
values(op_film *film, const uint64_t *records, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint8_t tokens[FILM_TOKEN_MAX];
        uint8_t *end = film_token_put_value(tokens, FILM_TOKEN_VALUE, records[i]);

        CHECK(film_append_values(film->thread, 1, tokens, (size_t)(end - tokens)));
    }
}

/* function(*took, number) gives `gave`, changes `changed` (0: nothing). Returns the number of
 * the op event. */
typedef struct op_call {
    const char *function, *module;
    double number; /* 0: none */
    uint64_t gave, changed;
    bool raises;
} op_call;

static inline uint64_t
op(op_film *film, op_call call, const uint64_t *took, uint32_t count)
{
    uint64_t number;
    film_op_row row = {.function = string(film->writer, call.function),
                       .module =
                           call.module == NULL ? 0 : string(film->writer, call.module),
                       .offset = 1,
                       .positional = count + (call.number != 0)};

    values(film, took, count);
    if (call.number != 0) {
        uint8_t tokens[FILM_TOKEN_MAX];
        uint8_t *end = film_token_put_float(tokens, call.number);

        CHECK(film_append_values(film->thread, 1, tokens, (size_t)(end - tokens)));
    }
    number = film->thread->events;
    CHECK(film_append_op(film->thread, &row));
    if (call.raises) {
        CHECK(film_append_op_end(film->thread, 1, FILM_OPERATION_RAISED,
                                 string(film->writer, "RuntimeError"), 0));
        return number;
    }
    values(film, &call.gave, 1);
    values(film, &call.changed, call.changed != 0);
    CHECK(film_append_op_end(film->thread, 1, 0, 0, 0));
    return number;
}

/* Variable `slot` of f gets a tensor. */
static inline void
set_tensor(op_film *film, uint32_t slot, uint64_t record)
{
    uint8_t tokens[FILM_TOKEN_MAX];
    uint8_t *end = film_token_put_value(tokens, FILM_TOKEN_VALUE, record);

    CHECK(film_append_set(film->thread, FILM_SET_LOCAL, slot, tokens,
                          (size_t)(end - tokens)));
}

#endif
