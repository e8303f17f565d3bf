/* varint.h: LEB128 numbers, the only variable-width integers of the format.
 * Encoders never fail: the caller has room for FILM_VARINT_MAX bytes. Decoders check
 * every byte against the end of the input.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_VARINT_H
#define FILMSTRIP_VARINT_H

#include <stdbool.h>
#include <stdint.h>

#define FILM_VARINT_MAX 10

/* Returns the byte after the number. */
static inline uint8_t *
film_varint_encode(uint8_t *to, uint64_t number)
{
    while (number >= 0x80) {
        *to++ = (uint8_t)(number | 0x80);
        number >>= 7;
    }
    *to++ = (uint8_t)number;
    return to;
}

/* Moves *from behind the number. False, with *from unchanged, when the input ends
 * first or the number does not fit 64 bits. */
static inline bool
film_varint_decode(const uint8_t **from, const uint8_t *end, uint64_t *number)
{
    const uint8_t *at = *from;
    uint64_t result = 0;

    for (unsigned shift = 0; shift < 64 && at < end; shift += 7) {
        uint8_t byte = *at++;
        if (shift == 63 && byte > 1) {
            return false;
        }
        result |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *number = result;
            *from = at;
            return true;
        }
    }
    return false;
}

static inline uint64_t
film_zigzag(int64_t number)
{
    return ((uint64_t)number << 1) ^ (number < 0 ? UINT64_MAX : 0);
}

static inline int64_t
film_unzigzag(uint64_t number)
{
    return (int64_t)(number >> 1) ^ -(int64_t)(number & 1);
}

#endif
