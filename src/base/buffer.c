/* buffer.c: growing bytes, checked reads.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/buffer.h"

#include "base/alloc.h"

uint8_t *
film_buffer_reserve(film_buffer *buffer, size_t more)
{
    size_t needed;
    uint8_t *data;

    if (buffer->failed) {
        return NULL;
    }
    if (__builtin_add_overflow(buffer->length, more, &needed)) {
        buffer->failed = true;
        return NULL;
    }
    if (needed > buffer->capacity || buffer->data == NULL) {
        data = film_grow(buffer->data, &buffer->capacity, needed < 64 ? 64 : needed, 1);
        if (data == NULL) {
            buffer->failed = true;
            return NULL;
        }
        buffer->data = data;
    }
    return buffer->data + buffer->length;
}

void
film_buffer_append_slow(film_buffer *buffer, const void *bytes, size_t length)
{
    if (length > 0 && film_buffer_reserve(buffer, length) != NULL) {
        memcpy(buffer->data + buffer->length, bytes, length);
        buffer->length += length;
    }
}

void
film_buffer_clear(film_buffer *buffer)
{
    buffer->length = 0;
    buffer->failed = false;
}

void
film_buffer_reset(film_buffer *buffer)
{
    film_free(buffer->data);
    memset(buffer, 0, sizeof(*buffer));
}

void
film_buffer_put_bytes(film_buffer *buffer, const void *bytes, size_t length)
{
    film_buffer_put_varint(buffer, length);
    film_buffer_append(buffer, bytes, length);
}

uint64_t
film_input_varint_slow(film_input *input)
{
    uint64_t number = 0;

    if (film_input_usual_varint(input, &number)) {
        return number;
    }
    if (!film_varint_decode(&input->at, input->end, &number)) {
        input->failed = true;
        input->at = input->end;
        return 0;
    }
    return number;
}

uint32_t
film_input_varint32_slow(film_input *input)
{
    uint64_t number = film_input_varint_slow(input);

    if (number > UINT32_MAX) {
        input->failed = true;
        return 0;
    }
    return (uint32_t)number;
}

const uint8_t *
film_input_take(film_input *input, size_t length)
{
    const uint8_t *taken = input->at;

    if (input->failed || film_input_left(input) < length) {
        input->failed = true;
        return NULL;
    }
    input->at += length;
    return taken;
}

const uint8_t *
film_input_bytes(film_input *input, size_t *length)
{
    uint64_t count = film_input_varint(input);

    *length = 0;
    if (input->failed || count > film_input_left(input)) {
        input->failed = true;
        return NULL;
    }
    *length = (size_t)count;
    return film_input_take(input, (size_t)count);
}
