/* kind_counts.c: how many events of each kind, from the summaries of the chunks.
 * Of a chunk only its header and summary are read: a recording of any size is counted
 * quickly. Events that are still in windows are walked.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/hash.h"
#include "format/summary.h"
#include "reader/reader_state.h"

/* Of a summary that is read with its header. */
#define SUMMARY_GUESS 864u

film_status
film_reader_summary(film_reader *reader, const film_chunk_info *chunk, film_buffer *to,
                    size_t *length)
{
    uint8_t bytes[FILM_CHUNK_HEADER + SUMMARY_GUESS], *summary;
    size_t wanted =
        chunk->stored_bytes < sizeof(bytes) ? chunk->stored_bytes : sizeof(bytes);
    film_chunk_header header;
    bool whole;

    *length = 0;
    /* Most summaries are short: one read is enough for header and summary. */
    whole = wanted > FILM_CHUNK_HEADER &&
            film_file_read(&reader->file, chunk->offset, bytes, wanted) == FILM_OK;
    if (!whole && film_file_read(&reader->file, chunk->offset, bytes,
                                 FILM_CHUNK_HEADER) != FILM_OK) {
        return FILM_OK;
    }
    if (film_chunk_decode(&header, bytes) != FILM_OK || header.first != chunk->first ||
        header.stream != chunk->stream || header.summary_bytes > reader->file.bytes) {
        return FILM_OK;
    }
    summary = film_buffer_reserve(to, (size_t)header.summary_bytes + 1);
    if (summary == NULL) {
        return FILM_NO_MEMORY;
    }
    if (whole && FILM_CHUNK_HEADER + (size_t)header.summary_bytes <= wanted) {
        memcpy(summary, bytes + FILM_CHUNK_HEADER, header.summary_bytes);
    }
    else if (film_file_read(&reader->file, chunk->offset + FILM_CHUNK_HEADER, summary,
                            header.summary_bytes) != FILM_OK) {
        return FILM_OK;
    }
    if (film_hash(summary, header.summary_bytes) == header.summary_hash) {
        *length = header.summary_bytes;
        to->length += *length;
    }
    return FILM_OK;
}

/* KINDS: pairs (kind, count), ended by 0. */
static uint64_t
add_summary(const uint8_t *bytes, size_t length, uint64_t counts[FILM_KIND_COUNT])
{
    film_input body;
    uint64_t added = 0;

    if (length == 0 ||
        film_summary_section(bytes, length, FILM_SECTION_KINDS, &body) != FILM_OK) {
        return 0;
    }
    for (;;) {
        uint64_t kind = film_input_varint(&body);
        uint64_t count = kind == 0 ? 0 : film_input_varint32(&body);
        if (kind == 0 || body.failed) {
            return added;
        }
        if (kind < FILM_KIND_COUNT) {
            counts[kind] += count;
        }
        added += count;
    }
}

static void
walk(film_reader *reader, uint32_t thread, uint64_t first, uint64_t end,
     uint64_t counts[FILM_KIND_COUNT])
{
    const film_event *event;
    film_cursor *cursor;

    if (film_cursor_open(reader, thread, first, &cursor, NULL) != FILM_OK) {
        return;
    }
    while (film_cursor_next(cursor, &event, NULL) == FILM_OK && event->number < end) {
        counts[event->kind < FILM_KIND_COUNT ? event->kind : 0]++;
    }
    film_cursor_close(cursor);
}

film_status
film_reader_kind_counts(film_reader *reader, uint64_t counts[FILM_KIND_COUNT],
                        film_error *error)
{
    memset(counts, 0, FILM_KIND_COUNT * sizeof(counts[0]));
    for (size_t i = 0; i < reader->tracks.count; i++) {
        const film_track *track = &reader->tracks.items[i];
        for (size_t k = 0; k < track->chunk_count; k++) {
            const film_chunk_info *chunk = &reader->directory.chunks[track->chunks[k]];
            size_t length;
            film_buffer_clear(&reader->scratch);
            if (film_reader_summary(reader, chunk, &reader->scratch, &length) !=
                FILM_OK) {
                return film_fail(error, FILM_NO_MEMORY, "memory ran out");
            }
            if (add_summary(reader->scratch.data, length, counts) == 0) {
                walk(reader, chunk->stream, chunk->first, chunk->first + chunk->count,
                     counts);
            }
        }
        if (track->rows_end > track->sealed_end || track->tail_lost > 0) {
            walk(reader, track->info.id, track->sealed_end, UINT64_MAX, counts);
        }
    }
    return FILM_OK;
}
