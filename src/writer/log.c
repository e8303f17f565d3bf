/* log.c: see log.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "writer/log.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

/* Ring mode keeps this much free, so that a chunk that is still needed can be copied
 * to the front before its old place is given up. */
#define RING_RESERVE (1u << 20)
#define PAGE 4096u
/* New events may refer to values that lie up to this part of the ring back; values may
 * refer to values as far back again, as deep as snapshots are nested. */
#define REUSE_PART 16u
#define VALUE_DEPTH 4u
/* What packing may add to an index, and its padding. */
#define INDEX_SLACK 1024u

film_status
film_log_init(film_log *log, film_sink *sink, film_superblock *block)
{
    log->sink = sink;
    log->block = block;
    log->packer = film_packer_new();
    if (log->packer == NULL || pthread_mutex_init(&log->lock, NULL) != 0) {
        film_packer_free(log->packer);
        log->packer = NULL;
        return FILM_NO_MEMORY;
    }
    return FILM_OK;
}

void
film_log_reset(film_log *log)
{
    if (log->packer != NULL) {
        film_packer_free(log->packer);
        pthread_mutex_destroy(&log->lock);
    }
    film_buffer_reset(&log->body);
    film_free(log->entries);
    memset(log, 0, sizeof(*log));
}

/* Writes at a logical place, in pieces where the mapping to the file breaks. */
static film_status
write_logical(film_log *log, uint64_t logical, const uint8_t *bytes, size_t length)
{
    while (length > 0) {
        uint64_t run;
        uint64_t physical = film_superblock_physical(log->block, logical, &run);
        size_t piece = run < length ? (size_t)run : length;
        FILM_TRY(film_sink_write(log->sink, physical, bytes, piece));
        logical += piece;
        bytes += piece;
        length -= piece;
    }
    return FILM_OK;
}

static film_status
read_logical(film_log *log, uint64_t logical, uint8_t *bytes, size_t length)
{
    while (length > 0) {
        uint64_t run;
        uint64_t physical = film_superblock_physical(log->block, logical, &run);
        size_t piece = run < length ? (size_t)run : length;
        FILM_TRY(film_sink_read(log->sink, physical, bytes, piece));
        logical += piece;
        bytes += piece;
        length -= piece;
    }
    return FILM_OK;
}

/* Moves the floor of what may be referred to up, so that the values behind it take no
 * more than their part of the ring. A program must not stop being recorded because an
 * old object is still in use: it is told again. */
static void
raise_reuse_floor(film_log *log)
{
    uint64_t floor = atomic_load_explicit(&log->reuse_floor, memory_order_relaxed);
    uint64_t room = log->block->ring_bytes / REUSE_PART, used = 0;

    for (size_t i = log->entry_count; i > log->first_entry; i--) {
        const film_log_entry *entry = &log->entries[i - 1];
        if (entry->index.type != FILM_CHUNK_VALUE || entry->index.first < floor) {
            continue;
        }
        used += entry->index.span;
        if (used > room) {
            atomic_store_explicit(&log->reuse_floor,
                                  entry->index.first + entry->index.count,
                                  memory_order_relaxed);
            return;
        }
    }
}

/* A ring has to know what it may drop. Elsewhere the file itself tells where its chunks
 * lie: a service that records for weeks, or has a thread for each request, would have
 * many of them. */
static film_status
remember(film_log *log, const film_chunk_header *header, uint64_t offset)
{
    film_log_entry *entries;

    if (log->block->ring_bytes == 0) {
        return FILM_OK;
    }
    entries = film_grow(log->entries, &log->entry_capacity, log->entry_count + 1,
                        sizeof(*entries));
    if (entries == NULL) {
        return FILM_NO_MEMORY;
    }
    log->entries = entries;
    film_index_entry_of(&entries[log->entry_count].index, header, offset);
    entries[log->entry_count].first_value = header->first_value;
    log->entry_count++;
    if (header->type == FILM_CHUNK_SOURCE) {
        log->source_bytes += film_chunk_span(header);
    }
    if (header->type == FILM_CHUNK_VALUE) {
        log->value_bytes += film_chunk_span(header);
        raise_reuse_floor(log);
    }
    return FILM_OK;
}

film_status
film_log_set_head(film_log *log, uint64_t head)
{
    FILM_TRY(film_sink_write_field(log->sink, FILM_FIELD_HEAD, head));
    log->block->head = head;
    atomic_store_explicit(&log->head, head, memory_order_relaxed);
    return FILM_OK;
}

/* Header and body at the head; `body` already holds header room, body and padding. */
static film_status
commit(film_log *log, const film_chunk_header *header, film_buffer *body)
{
    uint64_t offset = log->block->head;
    film_status status;

    film_chunk_encode(header, body->data);
    FILM_TRY(remember(log, header, offset));
    status =
        write_logical(log, offset + FILM_CHUNK_HEADER, body->data + FILM_CHUNK_HEADER,
                      body->length - FILM_CHUNK_HEADER);
    if (status == FILM_OK) {
        status = write_logical(log, offset, body->data, FILM_CHUNK_HEADER);
    }
    if (status == FILM_OK) {
        status = film_log_set_head(log, offset + body->length);
    }
    if (status != FILM_OK && log->block->ring_bytes != 0) {
        log->entry_count--;
    }
    return status;
}

/* The lowest value id that something in the ring still uses: events, and values that
 * are used, as deep as they are nested. */
static uint64_t
lowest_value(const film_log *log)
{
    uint64_t lowest = atomic_load_explicit(&log->value_floor, memory_order_relaxed);
    uint64_t before = UINT64_MAX;

    for (size_t i = log->first_entry; i < log->entry_count; i++) {
        if (log->entries[i].index.type == FILM_CHUNK_EVENT &&
            log->entries[i].first_value < lowest) {
            lowest = log->entries[i].first_value;
        }
    }
    for (unsigned depth = 0; depth < VALUE_DEPTH && lowest < before; depth++) {
        uint64_t used = lowest;
        before = lowest;
        for (size_t i = log->first_entry; i < log->entry_count; i++) {
            const film_log_entry *entry = &log->entries[i];
            if (entry->index.type == FILM_CHUNK_VALUE &&
                entry->index.first + entry->index.count > used &&
                entry->first_value < lowest) {
                lowest = entry->first_value;
            }
        }
    }
    return lowest;
}

static bool
is_needed(const film_log *log, const film_log_entry *entry)
{
    switch (entry->index.type) {
    case FILM_CHUNK_META:
    case FILM_CHUNK_TABLE:
        return true;
    case FILM_CHUNK_SOURCE:
        return log->source_bytes <= log->block->ring_bytes / 4;
    case FILM_CHUNK_VALUE:
        /* Never nearly all of the ring: rather events without some of their values than
         * none. */
        return log->value_bytes <= log->block->ring_bytes / 8 * 7 &&
               entry->index.first + entry->index.count > lowest_value(log);
    default:
        return false;
    }
}

/* Copies a chunk of the ring's tail to its head, bytes as they are. */
static film_status
copy_forward(film_log *log, const film_log_entry *old)
{
    uint64_t offset = log->block->head;
    size_t span = (size_t)old->index.span;
    film_log_entry *entries;
    uint8_t *bytes = film_alloc(span);
    film_status status = FILM_NO_MEMORY;

    if (bytes == NULL) {
        return status;
    }
    entries = film_grow(log->entries, &log->entry_capacity, log->entry_count + 1,
                        sizeof(*entries));
    if (entries == NULL) {
        goto done;
    }
    log->entries = entries;
    entries[log->entry_count] = entries[log->first_entry];
    status = read_logical(log, entries[log->first_entry].index.offset, bytes, span);
    if (status == FILM_OK) {
        status = write_logical(log, offset, bytes, span);
    }
    if (status == FILM_OK) {
        status = film_log_set_head(log, offset + span);
    }
    if (status == FILM_OK) {
        entries[log->entry_count++].index.offset = offset;
    }

done:
    film_free(bytes);
    return status;
}

static void
forget_dropped_entries(film_log *log)
{
    if (log->first_entry > 4096 && log->first_entry * 2 > log->entry_count) {
        log->entry_count -= log->first_entry;
        memmove(log->entries, log->entries + log->first_entry,
                log->entry_count * sizeof(*log->entries));
        log->first_entry = 0;
    }
}

static film_status
drop_oldest(film_log *log, uint64_t *freed)
{
    const film_log_entry *oldest = &log->entries[log->first_entry];
    film_index_entry dropped = oldest->index;

    if (is_needed(log, oldest)) {
        FILM_TRY(copy_forward(log, oldest));
    }
    else {
        *freed += dropped.span;
        if (dropped.type == FILM_CHUNK_SOURCE) {
            log->source_bytes -= dropped.span;
        }
        if (dropped.type == FILM_CHUNK_VALUE) {
            log->value_bytes -= dropped.span;
        }
        if (dropped.type == FILM_CHUNK_EVENT) {
            log->block->overwritten += dropped.count;
            FILM_TRY(film_sink_write_field(log->sink, FILM_FIELD_OVERWRITTEN,
                                           log->block->overwritten));
        }
    }
    log->first_entry++;
    log->block->tail = dropped.offset + dropped.span;
    FILM_TRY(film_sink_write_field(log->sink, FILM_FIELD_TAIL, log->block->tail));
    forget_dropped_entries(log);
    return FILM_OK;
}

/* Makes `needed` bytes of the ring free. What is needed is moved, not dropped; when a
 * whole turn freed nothing, the ring is too small for its tables. */
static film_status
make_space(film_log *log, uint64_t needed)
{
    uint64_t ring = log->block->ring_bytes;
    uint64_t freed = 0;
    size_t steps = log->entry_count - log->first_entry;

    if (ring == 0) {
        return FILM_OK;
    }
    while (log->block->head - log->block->tail + needed + RING_RESERVE > ring) {
        if (log->first_entry == log->entry_count || (steps-- == 0 && freed == 0)) {
            return FILM_NO_SPACE;
        }
        FILM_TRY(drop_oldest(log, &freed));
    }
    return FILM_OK;
}

static film_status
pack_part(film_log *log, uint8_t codec, const film_buffer *part, uint32_t *stored,
          uint32_t *raw)
{
    size_t before = log->body.length;

    if (part == NULL || part->length == 0) {
        return FILM_OK;
    }
    if (part->failed || part->length > UINT32_MAX) {
        return FILM_NO_MEMORY;
    }
    if (codec == FILM_CODEC_ZSTD) {
        FILM_TRY(film_pack(log->packer, part->data, part->length, &log->body));
    }
    else {
        film_buffer_append(&log->body, part->data, part->length);
    }
    *stored = (uint32_t)(log->body.length - before);
    *raw = (uint32_t)part->length;
    return FILM_OK;
}

static film_status
assemble(film_log *log, film_chunk_parts *parts)
{
    film_chunk_header *header = &parts->header;
    film_buffer *body = &log->body;
    size_t packed;
    uint8_t *room;

    film_buffer_clear(body);
    if (film_buffer_reserve(body, FILM_CHUNK_HEADER) == NULL) {
        return FILM_NO_MEMORY;
    }
    body->length = FILM_CHUNK_HEADER;
    if (parts->summary != NULL) {
        if (parts->summary->failed) {
            return FILM_NO_MEMORY;
        }
        film_buffer_append(body, parts->summary->data, parts->summary->length);
        header->summary_bytes = (uint32_t)parts->summary->length;
    }
    packed = body->length;
    header->codec = FILM_CODEC_ZSTD;
    FILM_TRY(pack_part(log, header->codec, parts->keyframe, &header->keyframe_stored,
                       &header->keyframe_raw));
    FILM_TRY(pack_part(log, header->codec, parts->payload, &header->payload_stored,
                       &header->payload_raw));
    if (body->failed) {
        return FILM_NO_MEMORY;
    }
    header->summary_hash =
        film_hash(body->data + FILM_CHUNK_HEADER, header->summary_bytes);
    header->payload_hash = film_hash(body->data + packed, body->length - packed);
    packed = (size_t)film_chunk_span(header) - body->length;
    room = film_buffer_reserve(body, packed);
    if (room == NULL) {
        return FILM_NO_MEMORY;
    }
    memset(room, 0, packed);
    body->length += packed;
    return FILM_OK;
}

film_status
film_log_append(film_log *log, film_chunk_parts *parts)
{
    film_status status;

    pthread_mutex_lock(&log->lock);
    if (parts->header.type != FILM_CHUNK_EVENT &&
        parts->header.type != FILM_CHUNK_VALUE) {
        parts->header.first_value = UINT64_MAX;
    }
    status = assemble(log, parts);
    if (status == FILM_OK) {
        status = make_space(log, log->body.length);
    }
    if (status == FILM_OK) {
        status = commit(log, &parts->header, &log->body);
    }
    pthread_mutex_unlock(&log->lock);
    return status;
}

film_status
film_log_append_windows(film_log *log, uint64_t wanted, uint64_t *offset,
                        uint64_t *bytes)
{
    film_chunk_header header = {.type = FILM_CHUNK_WINDOWS, .first_value = UINT64_MAX};
    uint8_t encoded[FILM_CHUNK_HEADER];
    uint64_t at, physical, run, first_page;
    film_status status;

    pthread_mutex_lock(&log->lock);
    at = log->block->head;
    header.payload_stored = header.payload_raw = (uint32_t)(wanted + PAGE);
    physical = film_superblock_physical(log->block, at, &run);
    first_page = (physical + FILM_CHUNK_HEADER + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    film_chunk_encode(&header, encoded);
    status = log->block->ring_bytes != 0 ? FILM_LIMIT : FILM_OK;
    if (status == FILM_OK) {
        status = film_sink_reserve(log->sink, physical, film_chunk_span(&header));
    }
    if (status == FILM_OK) {
        status = write_logical(log, at, encoded, sizeof(encoded));
    }
    if (status == FILM_OK) {
        status = film_log_set_head(log, at + film_chunk_span(&header));
    }
    if (status == FILM_OK) {
        log->window_bytes += film_chunk_span(&header);
    }
    pthread_mutex_unlock(&log->lock);
    *offset = first_page;
    *bytes = wanted;
    return status;
}

/* What the index takes at most. */
static uint64_t
index_room(const film_log *log)
{
    uint64_t raw = (uint64_t)(log->entry_count - log->first_entry) * FILM_INDEX_ENTRY;

    return FILM_CHUNK_HEADER + raw + raw / 128 + INDEX_SLACK;
}

film_status
film_log_read_header(film_log *log, uint64_t offset, film_chunk_header *header)
{
    uint8_t bytes[FILM_CHUNK_HEADER];

    FILM_TRY(read_logical(log, offset, bytes, sizeof(bytes)));
    /* It was written by us: nothing else is to be found there. */
    return film_chunk_decode(header, bytes) == FILM_OK ? FILM_OK : FILM_IO;
}

/* An entry for each chunk from the log's beginning to its head. */
static film_status
put_entries(film_log *log, film_buffer *payload, uint32_t *count)
{
    uint64_t end = log->block->head;

    for (uint64_t offset = log->block->tail; offset < end; (*count)++) {
        film_chunk_header header;
        film_index_entry entry;
        uint8_t *to = film_buffer_reserve(payload, FILM_INDEX_ENTRY);

        if (to == NULL) {
            return FILM_NO_MEMORY;
        }
        FILM_TRY(film_log_read_header(log, offset, &header));
        film_index_entry_of(&entry, &header, offset);
        film_index_entry_encode(&entry, to);
        payload->length += FILM_INDEX_ENTRY;
        offset += entry.span;
    }
    return FILM_OK;
}

film_status
film_log_append_index(film_log *log, uint64_t *offset)
{
    film_chunk_parts parts = {.header = {.type = FILM_CHUNK_INDEX}};
    film_buffer payload = {0};
    film_status status;

    /* Making space in a ring moves chunks: not once the index says where they are. */
    pthread_mutex_lock(&log->lock);
    status = make_space(log, index_room(log));
    pthread_mutex_unlock(&log->lock);
    if (status == FILM_OK) {
        status = put_entries(log, &payload, &parts.header.count);
    }
    if (status == FILM_OK) {
        parts.payload = &payload;
        status = film_log_append(log, &parts);
        *offset = log->block->head - film_chunk_span(&parts.header);
    }
    film_buffer_reset(&payload);
    return status;
}
