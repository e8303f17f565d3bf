/* log.h: the append-only log of chunks behind the arena, and in ring mode the dropping
 * of its oldest part.
 *
 * A chunk's body is written first, then its header, then the superblock's `head`: a
 * reader that walks up to head never meets half a chunk, whenever the process dies.
 * Threads: any; an own lock orders the appends.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_LOG_H
#define FILMSTRIP_LOG_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <filmstrip/status.h>

#include "base/buffer.h"
#include "format/chunk.h"
#include "format/codec.h"
#include "format/superblock.h"
#include "writer/sink.h"

typedef struct film_log_entry {
    film_index_entry index;
    uint64_t first_value; /* lowest value id an EVENTS or VALUE chunk refers to */
} film_log_entry;

typedef struct film_log {
    film_sink *sink;        /* borrowed from the writer */
    film_superblock *block; /* borrowed from the writer */
    pthread_mutex_t lock;
    film_packer *packer; /* owned; under the lock */
    film_buffer body;    /* owned; under the lock */
    /* Ring mode: what it holds. */
    film_log_entry *entries; /* owned; oldest first, from first_entry on */
    size_t first_entry, entry_count, entry_capacity;
    uint64_t source_bytes;  /* of SOURCE chunks that are kept */
    uint64_t value_bytes;   /* of VALUE chunks that are kept */
    uint64_t window_bytes;  /* of WINDOWS chunks */
    _Atomic(uint64_t) head; /* logical end; for statistics readable without lock */
    uint64_t meta_number, source_number, totals_number;
    /* The lowest value id that rows not yet sealed may use; kept by the sealing side
     * (ring mode). */
    _Atomic(uint64_t) value_floor;
    /* The lowest value id that new rows and records may refer to (ring mode): values
     * before it lie further back than a part of the ring. */
    _Atomic(uint64_t) reuse_floor;
} film_log;

/* What a chunk is made of: the caller fills the header's identity, counts, ticks and
 * digests; lengths, hashes and the clock pair are the log's. Buffers may be NULL. */
typedef struct film_chunk_parts {
    film_chunk_header header;
    const film_buffer *summary, *keyframe, *payload;
} film_chunk_parts;

FILM_NODISCARD film_status
film_log_init(film_log *log, film_sink *sink, film_superblock *block);

void
film_log_reset(film_log *log);

/* Packs and appends. FILM_NO_SPACE, FILM_IO, FILM_NO_MEMORY: nothing was appended. */
FILM_NODISCARD film_status
film_log_append(film_log *log, film_chunk_parts *parts);

/* Appends an empty WINDOWS chunk whose blocks are reserved; *offset is the file offset
 * of its first page, *bytes what lies behind it. Not in ring mode. */
FILM_NODISCARD film_status
film_log_append_windows(film_log *log, uint64_t wanted, uint64_t *offset,
                        uint64_t *bytes);

/* The log ends there. */
FILM_NODISCARD film_status
film_log_set_head(film_log *log, uint64_t head);

/* The header of the chunk at a logical offset. */
FILM_NODISCARD film_status
film_log_read_header(film_log *log, uint64_t offset, film_chunk_header *header);

/* Appends the INDEX chunk of all that is there; *offset is where it lies. */
FILM_NODISCARD film_status
film_log_append_index(film_log *log, uint64_t *offset);

#endif
