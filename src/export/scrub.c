/* scrub.c: chunk after chunk, each unpacked, cleaned and packed again, in the order of
 * the log; then a new index. What is not understood is left out, never copied.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/scrub.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "export/scrub_content.h"
#include "export/window_chunks.h"
#include "format/codec.h"
#include "format/keyframe.h"

typedef struct log_writer {
    int fd;
    uint64_t head; /* logical: behind the superblock */
    film_packer *packer;
    film_buffer body;
    film_index_entry *entries;
    size_t count, capacity;
} log_writer;

static film_status
write_at(int fd, const void *bytes, size_t length, uint64_t at, film_error *error)
{
    const char *from = bytes;

    while (length > 0) {
        ssize_t done = pwrite(fd, from, length, (off_t)at);

        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0) {
            return film_fail(error, errno == ENOSPC ? FILM_NO_SPACE : FILM_IO,
                             "cannot write the recording: %s", strerror(errno));
        }
        from += done;
        length -= (size_t)done;
        at += (uint64_t)done;
    }
    return FILM_OK;
}

static film_status
pack(log_writer *to, const film_buffer *part, uint32_t *stored, uint32_t *raw)
{
    size_t before = to->body.length;

    *stored = *raw = 0;
    if (part == NULL || part->length == 0) {
        return FILM_OK;
    }
    FILM_TRY(film_pack(to->packer, part->data, part->length, &to->body));
    *stored = (uint32_t)(to->body.length - before);
    *raw = (uint32_t)part->length;
    return FILM_OK;
}

/* The header as it was, but for what the new content changes. */
static film_status
assemble(log_writer *to, film_chunk_header *header, const uint8_t *summary,
         size_t summary_length, const film_buffer *keyframe, const film_buffer *payload)
{
    film_buffer *body = &to->body;
    size_t packed;

    film_buffer_clear(body);
    if (film_buffer_reserve(body, FILM_CHUNK_HEADER) == NULL) {
        return FILM_NO_MEMORY;
    }
    memset(body->data, 0, FILM_CHUNK_HEADER);
    body->length = FILM_CHUNK_HEADER;
    film_buffer_append(body, summary, summary_length);
    header->summary_bytes = (uint32_t)summary_length;
    header->codec = FILM_CODEC_ZSTD;
    packed = body->length;
    FILM_TRY(pack(to, keyframe, &header->keyframe_stored, &header->keyframe_raw));
    FILM_TRY(pack(to, payload, &header->payload_stored, &header->payload_raw));
    if (body->failed || payload->length > FILM_CHUNK_MAX_RAW) {
        return body->failed ? FILM_NO_MEMORY : FILM_LIMIT;
    }
    header->summary_hash = film_hash(body->data + FILM_CHUNK_HEADER, summary_length);
    header->payload_hash = film_hash(body->data + packed, body->length - packed);
    film_chunk_encode(header, body->data);
    packed = (size_t)film_chunk_span(header) - body->length;
    while (packed-- > 0) {
        film_buffer_put_byte(body, 0);
    }
    return body->failed ? FILM_NO_MEMORY : FILM_OK;
}

static film_status
append_chunk(log_writer *to, const film_chunk_header *header, film_error *error)
{
    film_index_entry *entries =
        film_grow(to->entries, &to->capacity, to->count + 1, sizeof(*entries));

    if (entries == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    to->entries = entries;
    film_index_entry_of(&entries[to->count++], header, to->head);
    FILM_TRY(write_at(to->fd, to->body.data, to->body.length,
                      FILM_SUPERBLOCK_BYTES + to->head, error));
    to->head += to->body.length;
    return FILM_OK;
}

static film_status
clean_events(film_scrubber *scrubber, const film_chunk_info *chunk,
             const film_buffer *raw, film_buffer *out)
{
    film_reader *reader = scrubber->reader;
    const film_track *track = film_tracks_find(&reader->tracks, chunk->stream);
    film_state state = {0};
    film_status status;

    if (track == NULL) {
        return FILM_CORRUPT;
    }
    film_state_begin(&state, chunk->stream, reader->file.block.tick_ns);
    status = film_reader_keyframe(reader, track, chunk, &state);
    if (status == FILM_OK) {
        status = film_scrub_events(scrubber, raw, &state, out);
    }
    film_state_reset(&state);
    return status;
}

/* FILM_END: this chunk is not copied. */
static film_status
clean_payload(film_scrubber *scrubber, const film_chunk_info *chunk, uint32_t flags,
              const film_buffer *raw, film_buffer *out)
{
    switch ((film_chunk_type)chunk->type) {
    case FILM_CHUNK_META:
        return film_scrub_meta(scrubber, raw, out);
    case FILM_CHUNK_TABLE:
        return film_scrub_table(scrubber, raw, out);
    case FILM_CHUNK_VALUE:
        return film_scrub_values(scrubber, raw, chunk->first,
                                 (flags & FILM_CHUNK_COLUMNS) != 0, out);
    case FILM_CHUNK_SOURCE:
        return film_scrub_source(scrubber, raw, out);
    case FILM_CHUNK_EVENT:
        return clean_events(scrubber, chunk, raw, out);
    case FILM_CHUNK_TOTALS: /* numbers of calls and times */
        film_buffer_append(out, raw->data, raw->length);
        return FILM_OK;
    case FILM_CHUNK_WINDOWS:
    case FILM_CHUNK_INDEX:
    default:
        return FILM_END;
    }
}

static film_status
copy_chunk(film_scrubber *scrubber, log_writer *to, size_t index, film_error *error)
{
    film_reader *reader = scrubber->reader;
    film_chunk_info chunk = *film_reader_chunk(reader, index);
    film_buffer raw = {0}, keyframe = {0}, payload = {0};
    film_chunk_header header;
    const uint8_t *summary;
    size_t summary_length = 0;
    film_buffer kept = {0};
    film_status status = film_loader_load(&reader->loader, &chunk);

    if (status == FILM_OK && chunk.type != FILM_CHUNK_WINDOWS) {
        header = reader->loader.header;
        summary = film_loader_summary(&reader->loader, &summary_length);
        film_buffer_append(&kept, summary, summary_length);
        status = film_loader_payload(&reader->loader, &raw);
        if (status == FILM_OK && header.keyframe_raw > 0) {
            status = film_loader_keyframe(&reader->loader, &keyframe);
            /* Its sections repeat values; a reader finds them in the chunks before. */
            keyframe.length = film_keyframe_base(keyframe.data, keyframe.length);
        }
        if (status == FILM_OK) {
            status = clean_payload(scrubber, &chunk, header.flags, &raw, &payload);
        }
        if (status == FILM_OK) {
            /* Digests run over values that are no longer there. */
            header.value_digest = 0;
            status = kept.failed ? FILM_NO_MEMORY
                                 : assemble(to, &header, kept.data, kept.length,
                                            &keyframe, &payload);
        }
        if (status == FILM_OK) {
            status = append_chunk(to, &header, error);
        }
    }
    film_buffer_reset(&raw);
    film_buffer_reset(&keyframe);
    film_buffer_reset(&payload);
    film_buffer_reset(&kept);
    if (status != FILM_OK && status != FILM_END && error->status != status) {
        return film_fail(error, status, "chunk %zu of the recording is damaged", index);
    }
    return status == FILM_END ? FILM_OK : status;
}

typedef struct window_copy {
    film_scrubber *scrubber;
    log_writer *to;
    film_error *error;
} window_copy;

/* A chunk made of windows, cleaned like the others. */
static film_status
copy_window_chunk(void *context, const film_window_chunk *chunk)
{
    window_copy *copy = context;
    film_scrubber *scrubber = copy->scrubber;
    film_chunk_header header = chunk->header;
    film_buffer payload = {0};
    film_state state = {0};
    film_status status;

    if (header.type == FILM_CHUNK_EVENT) {
        film_state_begin(&state, header.stream, scrubber->reader->file.block.tick_ns);
        status = film_keyframe_decode(&state, header.number, chunk->keyframe.data,
                                      chunk->keyframe.length, NULL, NULL);
        if (status == FILM_OK) {
            status = film_scrub_events(scrubber, &chunk->payload, &state, &payload);
        }
        film_state_reset(&state);
    }
    else if (header.type == FILM_CHUNK_TABLE) {
        status = film_scrub_table(scrubber, &chunk->payload, &payload);
    }
    else {
        status = film_scrub_values(scrubber, &chunk->payload, header.first,
                                   (header.flags & FILM_CHUNK_COLUMNS) != 0, &payload);
    }
    if (status == FILM_OK) {
        status = assemble(copy->to, &header, chunk->summary.data, chunk->summary.length,
                          &chunk->keyframe, &payload);
    }
    if (status == FILM_OK) {
        status = append_chunk(copy->to, &header, copy->error);
    }
    film_buffer_reset(&payload);
    return status;
}

static film_status
copy_windows(film_scrubber *scrubber, log_writer *to, film_error *error)
{
    window_copy copy = {scrubber, to, error};
    film_status status = film_window_chunks(scrubber->reader, copy_window_chunk, &copy);

    if (status != FILM_OK && error->status != status) {
        return film_fail(error, status, "what was not in chunks yet cannot be read");
    }
    return status;
}

static film_status
write_ending(const film_reader *reader, log_writer *to, film_error *error)
{
    film_superblock block = reader->file.block;
    film_chunk_header header = {.type = FILM_CHUNK_INDEX,
                                .count = (uint32_t)to->count,
                                .first_value = UINT64_MAX};
    film_buffer payload = {0};
    uint8_t bytes[FILM_SUPERBLOCK_BYTES];
    uint8_t *at = film_buffer_reserve(&payload, to->count * FILM_INDEX_ENTRY + 1);
    film_status status = FILM_NO_MEMORY;

    if (at != NULL) {
        for (size_t i = 0; i < to->count; i++) {
            film_index_entry_encode(&to->entries[i], at + i * FILM_INDEX_ENTRY);
        }
        payload.length = to->count * FILM_INDEX_ENTRY;
        status = assemble(to, &header, NULL, 0, NULL, &payload);
    }
    film_buffer_reset(&payload);
    if (status != FILM_OK) {
        return film_fail(error, status, "not enough memory");
    }
    block.index_offset = to->head + 1;
    FILM_TRY(append_chunk(to, &header, error));
    /* A plain recording without arena and ring; how it ended stays. */
    block.arena_bytes = block.ring_bytes = block.tail = 0;
    block.head = block.moved_until = to->head;
    block.layout_generation++;
    film_superblock_encode(&block, bytes);
    return write_at(to->fd, bytes, sizeof(bytes), 0, error);
}

static film_status
copy_all(film_scrubber *scrubber, int fd, film_error *error)
{
    log_writer to = {.fd = fd, .packer = film_packer_new()};
    size_t chunks = film_reader_chunk_count(scrubber->reader);
    film_status status = FILM_OK;

    if (to.packer == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    for (size_t i = 0; i < chunks && status == FILM_OK; i++) {
        status = copy_chunk(scrubber, &to, i, error);
    }
    if (status == FILM_OK) {
        status = copy_windows(scrubber, &to, error);
    }
    if (status == FILM_OK) {
        status = write_ending(scrubber->reader, &to, error);
    }
    film_packer_free(to.packer);
    film_buffer_reset(&to.body);
    film_free(to.entries);
    return status;
}

film_status
film_scrub(film_reader *reader, const film_scrub_options *options, int fd,
           film_scrub_counts *counts, film_error *error)
{
    film_scrubber scrubber = {.reader = reader};
    film_status status;

    error->status = FILM_OK;
    if (film_reader_info(reader)->ending == FILM_ENDING_LIVE) {
        return film_fail(error, FILM_MISUSE,
                         "the recording is still being written: wait for its program, "
                         "or end it");
    }
    FILM_TRY(film_secrets_init(&scrubber.secrets, options, error));
    status = film_scrub_find(&scrubber, error);
    if (status == FILM_OK) {
        status = copy_all(&scrubber, fd, error);
    }
    *counts = scrubber.counts;
    film_secrets_reset(&scrubber.secrets);
    film_columns_reset(&scrubber.columns);
    film_value_columns_reset(&scrubber.value_columns);
    film_buffer_reset(&scrubber.tokens);
    return status;
}
