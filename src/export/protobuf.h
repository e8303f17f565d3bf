/* protobuf.h: the three ways protobuf writes a field, into a buffer.
 *
 *   key = field << 3 | wire type
 *   varint (0)   key, number        numbers and enums
 *   bytes  (2)   key, length, data  texts and messages, which are built first
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_PROTOBUF_H
#define FILMSTRIP_PROTOBUF_H

#include "base/buffer.h"

static inline void
film_protobuf_number(film_buffer *to, uint32_t field, uint64_t number)
{
    film_buffer_put_varint(to, (uint64_t)field << 3);
    film_buffer_put_varint(to, number);
}

static inline void
film_protobuf_bytes(film_buffer *to, uint32_t field, const void *bytes, size_t length)
{
    film_buffer_put_varint(to, (uint64_t)field << 3 | 2);
    film_buffer_put_bytes(to, bytes, length);
}

/* A message that was built in a buffer of its own. */
static inline void
film_protobuf_message(film_buffer *to, uint32_t field, const film_buffer *message)
{
    film_protobuf_bytes(to, field, message->data, message->length);
}

#endif
