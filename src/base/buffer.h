/* buffer.h: bytes that grow, and a checked cursor over bytes that came from a file.
 * Appends never fail at once: a buffer that ran out of memory remembers it (`failed`)
 * and ignores the rest, so encoders check once at the end.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_BUFFER_H
#define FILMSTRIP_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/varint.h"

typedef struct film_buffer {
    uint8_t *data; /* owned */
    size_t length;
    size_t capacity;
    bool failed; /* memory ran out; the content is not to be used */
} film_buffer;

/* Room for `more` bytes behind the content, or NULL (and failed). */
uint8_t *
film_buffer_reserve(film_buffer *buffer, size_t more);

/* Where there may be no room, or no bytes. */
void
film_buffer_append_slow(film_buffer *buffer, const void *bytes, size_t length);

static inline void
film_buffer_append(film_buffer *buffer, const void *bytes, size_t length)
{
    if (__builtin_expect(
            length - 1 < buffer->capacity - buffer->length && !buffer->failed, 1)) {
        memcpy(buffer->data + buffer->length, bytes, length);
        buffer->length += length;
        return;
    }
    film_buffer_append_slow(buffer, bytes, length);
}

static inline void
film_buffer_append_text(film_buffer *buffer, const char *text)
{
    film_buffer_append(buffer, text, strlen(text));
}

/* Forgets the content, keeps the memory. */
void
film_buffer_clear(film_buffer *buffer);

/* Releases the memory; leaves zero. */
void
film_buffer_reset(film_buffer *buffer);

static inline void
film_buffer_put_byte(film_buffer *buffer, uint8_t byte)
{
    if (__builtin_expect(buffer->length < buffer->capacity, 1) ||
        film_buffer_reserve(buffer, 1) != NULL) {
        buffer->data[buffer->length++] = byte;
    }
}

static inline void
film_buffer_put_varint(film_buffer *buffer, uint64_t number)
{
    if (__builtin_expect(buffer->capacity - buffer->length >= FILM_VARINT_MAX, 1) ||
        film_buffer_reserve(buffer, FILM_VARINT_MAX) != NULL) {
        uint8_t *end = film_varint_encode(buffer->data + buffer->length, number);
        buffer->length = (size_t)(end - buffer->data);
    }
}

/* A varint length, then the bytes. */
void
film_buffer_put_bytes(film_buffer *buffer, const void *bytes, size_t length);

/* A read position that never leaves its input. After the first failed read `failed`
 * stays true and every later read gives 0: decoders check once at the end. */
typedef struct film_input {
    const uint8_t *at;
    const uint8_t *end;
    bool failed;
} film_input;

static inline film_input
film_input_of(const void *bytes, size_t length)
{
    film_input input;

    input.at = bytes;
    input.end = input.at == NULL ? NULL : input.at + length;
    input.failed = false;
    return input;
}

static inline size_t
film_input_left(const film_input *input)
{
    return (size_t)(input->end - input->at);
}

/* A varint of two to four bytes, which most ids and serials have; false: another one,
 * or the input may end before it does. */
static inline bool
film_input_usual_varint(film_input *input, uint64_t *number)
{
    const uint8_t *at = input->at;
    uint32_t result;

    if (film_input_left(input) < 4 || at[0] < 0x80) {
        return false;
    }
    result = (at[0] & 0x7fu) | (at[1] & 0x7fu) << 7;
    if (at[1] < 0x80) {
        input->at = at + 2;
    }
    else if (at[2] < 0x80) {
        result |= (uint32_t)at[2] << 14;
        input->at = at + 3;
    }
    else if (at[3] < 0x80) {
        result |= (at[2] & 0x7fu) << 14 | (uint32_t)at[3] << 21;
        input->at = at + 4;
    }
    else {
        return false;
    }
    *number = result;
    return true;
}

uint64_t
film_input_varint_slow(film_input *input);

static inline uint64_t
film_input_varint(film_input *input)
{
    if (__builtin_expect(input->at < input->end && *input->at < 0x80, 1)) {
        return *input->at++;
    }
    return film_input_varint_slow(input);
}

/* A varint that must fit 32 bits; mostly one byte, so that is in line. */
uint32_t
film_input_varint32_slow(film_input *input);

static inline uint32_t
film_input_varint32(film_input *input)
{
    if (__builtin_expect(input->at < input->end && *input->at < 0x80, 1)) {
        return *input->at++;
    }
    return film_input_varint32_slow(input);
}

static inline uint8_t
film_input_byte(film_input *input)
{
    if (__builtin_expect(input->at < input->end, 1)) {
        return *input->at++;
    }
    input->failed = true;
    return 0;
}

/* `length` bytes, borrowed from the input; NULL (and failed) if they are not there. */
const uint8_t *
film_input_take(film_input *input, size_t length);

/* A varint length, then that many bytes, borrowed. */
const uint8_t *
film_input_bytes(film_input *input, size_t *length);

/* Fixed-width little-endian fields of headers. */
static inline void
film_put_u16(uint8_t *to, uint16_t number)
{
    to[0] = (uint8_t)number;
    to[1] = (uint8_t)(number >> 8);
}

static inline void
film_put_u32(uint8_t *to, uint32_t number)
{
    for (unsigned i = 0; i < 4; i++) {
        to[i] = (uint8_t)(number >> (8 * i));
    }
}

static inline void
film_put_u64(uint8_t *to, uint64_t number)
{
    for (unsigned i = 0; i < 8; i++) {
        to[i] = (uint8_t)(number >> (8 * i));
    }
}

static inline uint16_t
film_get_u16(const uint8_t *from)
{
    return (uint16_t)(from[0] | from[1] << 8);
}

static inline uint32_t
film_get_u32(const uint8_t *from)
{
    uint32_t number = 0;

    for (unsigned i = 0; i < 4; i++) {
        number |= (uint32_t)from[i] << (8 * i);
    }
    return number;
}

static inline uint64_t
film_get_u64(const uint8_t *from)
{
    uint64_t number = 0;

    for (unsigned i = 0; i < 8; i++) {
        number |= (uint64_t)from[i] << (8 * i);
    }
    return number;
}

#endif
