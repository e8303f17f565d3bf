/* chunk.c: see chunk.h for the bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/chunk.h"

#include <string.h>

#include "base/hash.h"

#define HASHED_BYTES 156u

void
film_chunk_encode(const film_chunk_header *header, uint8_t *to)
{
    memset(to, 0, FILM_CHUNK_HEADER);
    film_put_u32(to, FILM_CHUNK_MAGIC);
    film_put_u16(to + 4, FILM_CHUNK_HEADER);
    to[6] = header->type;
    to[7] = header->codec;
    film_put_u32(to + 8, header->stream);
    film_put_u32(to + 12, header->flags);
    film_put_u64(to + 16, header->number);
    film_put_u64(to + 24, header->first);
    film_put_u32(to + 32, header->count);
    film_put_u32(to + 36, header->rows);
    film_put_u64(to + 40, header->lost);
    film_put_u64(to + 48, header->first_tick);
    film_put_u64(to + 56, header->last_tick);
    film_put_u32(to + 64, header->summary_bytes);
    film_put_u32(to + 68, header->keyframe_stored);
    film_put_u32(to + 72, header->keyframe_raw);
    film_put_u32(to + 76, header->payload_stored);
    film_put_u32(to + 80, header->payload_raw);
    film_put_u64(to + 88, header->flow_digest);
    film_put_u64(to + 96, header->value_digest);
    film_put_u64(to + 104, header->op_digest);
    film_put_u64(to + 112, header->first_value);
    film_put_u64(to + 120, header->payload_hash);
    film_put_u64(to + 128, header->summary_hash);
    film_put_u64(to + 136, header->clock_raw);
    film_put_u64(to + 144, header->clock_ns);
    film_put_u32(to + HASHED_BYTES, (uint32_t)film_hash(to, HASHED_BYTES));
}

static bool
within_bounds(const film_chunk_header *header)
{
    return header->summary_bytes <= FILM_CHUNK_MAX_SUMMARY &&
           header->keyframe_stored <= FILM_CHUNK_MAX_RAW &&
           header->keyframe_raw <= FILM_CHUNK_MAX_RAW &&
           (header->payload_stored <= FILM_CHUNK_MAX_RAW ||
            header->type == FILM_CHUNK_WINDOWS) &&
           (header->payload_raw <= FILM_CHUNK_MAX_RAW ||
            header->type == FILM_CHUNK_INDEX || header->type == FILM_CHUNK_WINDOWS);
}

film_status
film_chunk_decode(film_chunk_header *header, const uint8_t *from)
{
    memset(header, 0, sizeof(*header));
    if (film_get_u32(from) != FILM_CHUNK_MAGIC) {
        return film_get_u32(from) == 0 ? FILM_END : FILM_CORRUPT;
    }
    if (film_get_u16(from + 4) != FILM_CHUNK_HEADER ||
        film_get_u32(from + HASHED_BYTES) != (uint32_t)film_hash(from, HASHED_BYTES)) {
        return FILM_CORRUPT;
    }
    header->type = from[6];
    header->codec = from[7];
    header->stream = film_get_u32(from + 8);
    header->flags = film_get_u32(from + 12);
    header->number = film_get_u64(from + 16);
    header->first = film_get_u64(from + 24);
    header->count = film_get_u32(from + 32);
    header->rows = film_get_u32(from + 36);
    header->lost = film_get_u64(from + 40);
    header->first_tick = film_get_u64(from + 48);
    header->last_tick = film_get_u64(from + 56);
    header->summary_bytes = film_get_u32(from + 64);
    header->keyframe_stored = film_get_u32(from + 68);
    header->keyframe_raw = film_get_u32(from + 72);
    header->payload_stored = film_get_u32(from + 76);
    header->payload_raw = film_get_u32(from + 80);
    header->flow_digest = film_get_u64(from + 88);
    header->value_digest = film_get_u64(from + 96);
    header->op_digest = film_get_u64(from + 104);
    header->first_value = film_get_u64(from + 112);
    header->payload_hash = film_get_u64(from + 120);
    header->summary_hash = film_get_u64(from + 128);
    header->clock_raw = film_get_u64(from + 136);
    header->clock_ns = film_get_u64(from + 144);
    return within_bounds(header) ? FILM_OK : FILM_CORRUPT;
}

uint64_t
film_chunk_span(const film_chunk_header *header)
{
    uint64_t bytes = (uint64_t)FILM_CHUNK_HEADER + header->summary_bytes +
                     header->keyframe_stored + header->payload_stored;

    return (bytes + FILM_CHUNK_ALIGN - 1) & ~(uint64_t)(FILM_CHUNK_ALIGN - 1);
}

void
film_index_entry_of(film_index_entry *entry, const film_chunk_header *header,
                    uint64_t offset)
{
    entry->offset = offset;
    entry->number = header->number;
    entry->first = header->first;
    entry->first_tick = header->first_tick;
    entry->last_tick = header->last_tick;
    entry->lost = header->lost;
    entry->flow_digest = header->flow_digest;
    entry->value_digest = header->value_digest;
    entry->op_digest = header->op_digest;
    entry->span = film_chunk_span(header);
    entry->stream = header->stream;
    entry->count = header->count;
    entry->type = header->type;
}

void
film_index_entry_encode(const film_index_entry *entry, uint8_t *to)
{
    memset(to, 0, FILM_INDEX_ENTRY);
    film_put_u64(to, entry->offset);
    film_put_u64(to + 8, entry->number);
    film_put_u64(to + 16, entry->first);
    film_put_u64(to + 24, entry->first_tick);
    film_put_u64(to + 32, entry->last_tick);
    film_put_u32(to + 40, entry->stream);
    film_put_u32(to + 44, entry->count);
    film_put_u32(to + 48, (uint32_t)(entry->span / FILM_CHUNK_ALIGN));
    to[52] = entry->type;
    film_put_u64(to + 56, entry->lost);
    film_put_u64(to + 64, entry->flow_digest);
    film_put_u64(to + 72, entry->value_digest);
    film_put_u64(to + 80, entry->op_digest);
}

void
film_index_entry_decode(film_index_entry *entry, const uint8_t *from)
{
    entry->offset = film_get_u64(from);
    entry->number = film_get_u64(from + 8);
    entry->first = film_get_u64(from + 16);
    entry->first_tick = film_get_u64(from + 24);
    entry->last_tick = film_get_u64(from + 32);
    entry->stream = film_get_u32(from + 40);
    entry->count = film_get_u32(from + 44);
    entry->span = (uint64_t)film_get_u32(from + 48) * FILM_CHUNK_ALIGN;
    entry->type = from[52];
    entry->lost = film_get_u64(from + 56);
    entry->flow_digest = film_get_u64(from + 64);
    entry->value_digest = film_get_u64(from + 72);
    entry->op_digest = film_get_u64(from + 80);
}
