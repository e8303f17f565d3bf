/* op_stories.h: ops and tensors as the recorder writes them, and what they read as.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_TEST_OP_STORIES_H
#define FILMSTRIP_TEST_OP_STORIES_H

#include "value_stories.h"

#include <filmstrip/tensor.h>

typedef struct told_tensor {
    uint64_t serial;
    const char *type, *dtype, *text; /* text: the note's template */
    int dimensions;
    int64_t sizes[3];
    int64_t storage, offset;
    int64_t version;  /* -1: None */
    bool has_summary; /* min 0, max 3.5, mean 1.25, std 0.5, zeros 2, nonfinite 1 */
} told_tensor;

static inline uint8_t *
put_summary(uint8_t *to)
{
    to = film_token_put_float(to, 0.0);
    to = film_token_put_float(to, 3.5);
    to = film_token_put_float(to, 1.25);
    to = film_token_put_float(to, 0.5);
    to = film_token_put_int(to, 2);
    to = film_token_put_int(to, 1);
    return film_token_put_int(to, (int64_t)0xfedcba9876543210u);
}

/* A tensor's record; gives its id. */
static inline uint64_t
put_tensor(film_writer *writer, const told_tensor *tensor)
{
    uint8_t body[256], *to = body;
    uint64_t id;

    to = film_varint_encode(to, tensor->serial);
    *to++ = FILM_OBJECT_ARRAY;
    to = film_varint_encode(to, 0);
    to = film_varint_encode(to, (uint64_t)tensor->dimensions);
    for (int i = 0; i < tensor->dimensions; i++) {
        to = film_varint_encode(to, (uint64_t)tensor->sizes[i]);
    }
    to = film_varint_encode(to, string(writer, tensor->dtype));
    to = film_varint_encode(to, string(writer, tensor->text));
    to = film_varint_encode(
        to, string(writer, tensor->has_summary
                               ? "storage,offset,version,min,max,mean,std,zeros,"
                                 "nonfinite,hash"
                               : "storage,offset,version"));
    *to++ = FILM_BASE_NONE;
    to = film_varint_encode(to, tensor->has_summary ? 10 : 3);
    to = film_token_put_int(to, tensor->storage);
    to = film_token_put_int(to, tensor->offset);
    if (tensor->version < 0) {
        *to++ = FILM_TOKEN_NONE;
    }
    else {
        to = film_token_put_int(to, tensor->version);
    }
    to = tensor->has_summary ? put_summary(to) : to;
    id = film_writer_value_record(writer, string(writer, tensor->type),
                                  FILM_VALUE_OBJECT | FILM_VALUE_NOTED, body,
                                  (size_t)(to - body));
    CHECK(id != 0);
    return id - 1;
}

/* A list of VALUE tokens as a record. */
static inline uint64_t
put_list_of(film_writer *writer, uint64_t serial, const uint64_t *ids, size_t count)
{
    uint8_t body[256], *to = body;
    uint64_t id;

    to = film_varint_encode(to, serial);
    *to++ = FILM_OBJECT_SEQUENCE;
    to = film_varint_encode(to, count + 1);
    to = film_varint_encode(to, count);
    for (size_t i = 0; i < count; i++) {
        to = film_token_put_value(to, FILM_TOKEN_VALUE, ids[i]);
    }
    id = film_writer_value_record(writer, string(writer, "list"), FILM_VALUE_OBJECT,
                                  body, (size_t)(to - body));
    CHECK(id != 0);
    return id - 1;
}

static inline void
put_values_of(film_thread *thread, const uint64_t *ids, uint32_t count)
{
    uint8_t tokens[FILM_APPEND_TOKENS], *to;

    for (uint32_t i = 0; i < count; i++) {
        to = film_token_put_value(tokens, FILM_TOKEN_VALUE, ids[i]);
        CHECK(film_append_values(thread, 1, tokens, (size_t)(to - tokens)));
    }
}

static const told_tensor told_weight = {.serial = 3,
                                        .type = "Parameter",
                                        .dtype = "float32",
                                        .text = "f32[64, 128] cpu grad",
                                        .dimensions = 2,
                                        .sizes = {64, 128},
                                        .storage = 5},
                         told_input = {.serial = 4,
                                       .type = "Tensor",
                                       .dtype = "bfloat16",
                                       .text = "bf16[8, 64] cuda:0 strides[1, 64]",
                                       .dimensions = 2,
                                       .sizes = {8, 64},
                                       .storage = 6,
                                       .offset = 100000,
                                       .version = 2},
                         told_result = {.serial = 17,
                                        .type = "Tensor",
                                        .dtype = "int64",
                                        .text = "i64[] cuda:1",
                                        .storage = 7,
                                        .version = -1,
                                        .has_summary = true},
                         told_changed = {.serial = 4,
                                         .type = "Tensor",
                                         .dtype = "bfloat16",
                                         .text = "bf16[8, 64] cuda:0 strides[1, 64]",
                                         .dimensions = 2,
                                         .sizes = {8, 64},
                                         .storage = 6,
                                         .offset = 100000,
                                         .version = 3};

/* In f(1, 2) at line 11: torch.add(weight, [input], alpha=2) -> result, by way of an api
 * function and with an op within, then an op that raises, and one within C++. */
static inline void
write_ops(film_writer *writer, film_thread *thread, uint32_t code)
{
    uint64_t weight = put_tensor(writer, &told_weight),
             input = put_tensor(writer, &told_input),
             result = put_tensor(writer, &told_result),
             changed = put_tensor(writer, &told_changed),
             list = put_list_of(writer, 9, &input, 1);
    film_op_row add = {.function = string(writer, "torch.add"),
                       .names = string(writer, "alpha,out"),
                       .module = string(writer, "layers.3.attn"),
                       .api = string(writer, "torch.nn.functional.linear"),
                       .offset = 1,
                       .positional = 2,
                       .sequence = 8,
                       .flags = FILM_OPERATION_GRAD | FILM_OPERATION_LAUNCH},
                inner = {.function = string(writer, "aten::add"),
                         .offset = FILM_NO_OFFSET,
                         .flags = FILM_OPERATION_INNER},
                fails = {.function = string(writer, "torch.mm"),
                         .offset = 1,
                         .positional = 1};
    uint8_t tokens[FILM_APPEND_TOKENS], *to;

    to = film_token_put_int(tokens, 1);
    to = film_token_put_int(to, 2);
    CHECK(film_append_values(thread, 2, tokens, (size_t)(to - tokens)));
    CHECK(film_append_call(thread, code, 0));
    CHECK(film_append_line(thread, 1, false));
    put_values_of(thread, (const uint64_t[]){weight, list}, 2);
    to = film_token_put_int(tokens, 2);
    *to++ = FILM_TOKEN_NONE;
    CHECK(film_append_values(thread, 2, tokens, (size_t)(to - tokens)));
    CHECK(film_append_op(thread, &add));
    CHECK(film_append_op(thread, &inner));
    CHECK(film_append_op_end(thread, 1, 0, 0, 0));
    put_values_of(thread, (const uint64_t[]){result, changed}, 2);
    CHECK(film_append_op_end(thread, 3, 0, 0, 0));
    put_values_of(thread, &weight, 1);
    CHECK(film_append_op(thread, &fails));
    CHECK(film_append_op_end(thread, 1, FILM_OPERATION_RAISED,
                             string(writer, "RuntimeError"), 0));
    to = film_token_put_value(tokens, FILM_TOKEN_OBJECT, result);
    CHECK(film_append_values(thread, 1, tokens, (size_t)(to - tokens)));
    CHECK(film_append_return(thread, 2));
}

#define OP_STORY_EVENTS 9u

static inline void
write_op_stories(uint32_t stories, bool close)
{
    film_writer *writer = begin(0);
    uint32_t code = add_code(writer);
    film_thread *thread = film_writer_thread_begin(writer, "MainThread", 1);

    CHECK(thread != NULL);
    for (uint32_t i = 0; i < stories; i++) {
        write_ops(writer, thread, code);
    }
    if (close) {
        CHECK(film_writer_close(writer, NULL, 0, NULL) == FILM_OK);
    }
}

/* Without `close` by a process that is killed. */
static inline void
record_op_stories(uint32_t stories, bool close)
{
    int status = 0;
    pid_t child;

    if (close) {
        write_op_stories(stories, true);
        return;
    }
    name_film();
    child = fork();
    if (child == 0) {
        write_op_stories(stories, false);
        kill(getpid(), SIGKILL);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status));
}

#endif
