/* chunk.h: the header of a chunk, the unit of the log.
 *
 *    0 u32 magic "FCHK"     4 u16 header bytes (160)  6 u8 type   7 u8 codec
 *    8 u32 stream          12 u32 flags (1: critical: refuse if the type is unknown;
 *                             2: the payload of a VALUE chunk is columns)
 *   16 u64 number in its stream        24 u64 first event or record number
 *   32 u32 events or records           36 u32 rows (events and adjustments)
 *   40 u64 events lost in it           48 u64 first tick     56 u64 last tick
 *   64 u32 summary bytes               68 u32 keyframe stored  72 u32 keyframe raw
 *   76 u32 payload stored              80 u32 payload raw      84 u32 zero
 *   88 u64 flow digest  96 u64 value digest  104 u64 op digest
 *  112 u64 lowest value id used in it (UINT64_MAX: none)
 *  120 u64 XXH3 of keyframe and payload as stored
 *  128 u64 XXH3 of the summary
 *  136 u64 raw clock  144 u64 monotonic ns, both when it was sealed
 *  152 u32 zero        156 u32 low half of XXH3 of bytes 0 to 155
 *  160 summary, keyframe, payload; then zeros up to a multiple of 64
 *
 * Keyframe and payload are compressed each by itself with the codec. Digests run on
 * from chunk to chunk of a thread.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_CHUNK_H
#define FILMSTRIP_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <filmstrip/status.h>

#include "base/buffer.h"

#define FILM_CHUNK_MAGIC 0x4b484346u /* "FCHK" */
#define FILM_CHUNK_HEADER 160u
#define FILM_CHUNK_ALIGN 64u
#define FILM_CHUNK_CRITICAL 1u
#define FILM_CHUNK_COLUMNS 2u /* VALUE: value_columns.h */

/* Bounds a reader holds a header to before it allocates anything. */
#define FILM_CHUNK_MAX_RAW (16u << 20)
#define FILM_CHUNK_MAX_SUMMARY (4u << 20)

#define FILM_CODEC_NONE 0
#define FILM_CODEC_ZSTD 1

typedef enum film_chunk_type {
    FILM_CHUNK_META = 1,    /* key, value texts */
    FILM_CHUNK_TABLE = 2,   /* strings, codes, threads (records.h) */
    FILM_CHUNK_VALUE = 3,   /* value texts (records.h) */
    FILM_CHUNK_EVENT = 4,   /* one thread's events (columns.h) */
    FILM_CHUNK_SOURCE = 5,  /* source text of one file */
    FILM_CHUNK_TOTALS = 6,  /* hits and time per function and line (totals.h) */
    FILM_CHUNK_WINDOWS = 7, /* more windows: payload raw bytes of arena */
    FILM_CHUNK_INDEX = 8    /* where all chunks lie (index_entry) */
} film_chunk_type;

typedef struct film_chunk_header {
    uint8_t type, codec;
    uint32_t stream, flags;
    uint64_t number, first;
    uint32_t count, rows;
    uint64_t lost, first_tick, last_tick;
    uint32_t summary_bytes, keyframe_stored, keyframe_raw, payload_stored, payload_raw;
    uint64_t flow_digest, value_digest, op_digest;
    uint64_t first_value;
    uint64_t payload_hash, summary_hash;
    uint64_t clock_raw, clock_ns;
} film_chunk_header;

/* Writes FILM_CHUNK_HEADER bytes with their checksum. */
void
film_chunk_encode(const film_chunk_header *header, uint8_t *to);

/* FILM_END where there is no chunk (zeros: the log's end), FILM_CORRUPT when the
 * checksum or a bound fails. */
FILM_NODISCARD film_status
film_chunk_decode(film_chunk_header *header, const uint8_t *from);

/* Bytes from one chunk's offset to the next one's. */
uint64_t
film_chunk_span(const film_chunk_header *header);

/* One entry of an INDEX chunk: FILM_INDEX_ENTRY bytes.
 * 0 u64 offset, 8 u64 number, 16 u64 first, 24 u64 first tick, 32 u64 last tick,
 * 40 u32 stream, 44 u32 count, 48 u32 span / 64, 52 u8 type, 53 to 55 zero,
 * 56 u64 lost, 64 u64 flow digest, 72 u64 value digest, 80 u64 op digest. */
#define FILM_INDEX_ENTRY 88u

typedef struct film_index_entry {
    uint64_t offset, number, first, first_tick, last_tick, lost;
    uint64_t flow_digest, value_digest, op_digest;
    uint64_t span;
    uint32_t stream, count;
    uint8_t type;
} film_index_entry;

void
film_index_entry_of(film_index_entry *entry, const film_chunk_header *header,
                    uint64_t offset);

void
film_index_entry_encode(const film_index_entry *entry, uint8_t *to);

void
film_index_entry_decode(film_index_entry *entry, const uint8_t *from);

#endif
