/* seal_records.c: the shared streams (tables, values) and source texts to chunks.
 * SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "format/records.h"
#include "writer/writer_state.h"

/* The most of one source file that is kept. */
#define SOURCE_LIMIT (4u << 20)

static void
count_records(const uint8_t *from, const uint8_t *end, uint32_t *records,
              uint64_t *strings, uint64_t *codes)
{
    film_record record;

    while (film_record_decode(&from, end, &record) == FILM_OK) {
        (*records)++;
        *strings += record.kind == FILM_RECORD_STRING;
        *codes += record.kind == FILM_RECORD_CODE;
    }
}

/* Whose record it is, where it is an object's: only its head is looked at. */
static void
note_serial(film_writer *writer, uint64_t id, const film_record *record)
{
    film_input body = film_input_of(record->body, record->length);
    uint64_t flags, serial;

    film_input_varint32(&body); /* its type */
    flags = film_input_varint(&body);
    if ((flags & FILM_VALUE_OBJECT) != 0) {
        serial = film_input_varint(&body);
        if (!body.failed) {
            film_serials_note(&writer->serials, id, serial);
        }
    }
}

/* Values: how many, what they are (the digest), in ring mode also what they need. */
static void
look_at_values(film_writer *writer, film_stream *stream, const uint8_t *from,
               const uint8_t *end, film_chunk_header *header)
{
    film_value_record value;
    film_record record;

    if (writer->block.level >= FILM_LEVEL_VALUES && writer->serials.recent == NULL) {
        (void)film_serials_begin(&writer->serials); /* without: owners are not known */
    }
    film_serials_begin_chunk(&writer->serials);
    while (film_record_decode(&from, end, &record) == FILM_OK) {
        header->count++;
        stream->value_digest = film_digest_mix(stream->value_digest,
                                               film_hash(record.body, record.length));
        if (writer->block.level < FILM_LEVEL_VALUES) {
            continue;
        }
        note_serial(writer, stream->sealed + header->count - 1, &record);
        if (writer->block.ring_bytes != 0 &&
            film_value_record_decode(record.body, record.length, &value)) {
            uint64_t lowest, behind;
            film_value_record_range(&value, &lowest, &behind);
            header->first_value =
                lowest < header->first_value ? lowest : header->first_value;
        }
    }
    header->value_digest = stream->value_digest;
}

static film_status
seal_window(film_writer *writer, film_record_stream *records, film_window *window)
{
    film_chunk_parts parts = {.header = {.type = records->chunk_type}};
    film_stream *stream = &records->stream;
    uint64_t committed =
        atomic_load_explicit(&window->header->committed, memory_order_acquire);
    const uint8_t *from = film_window_rows(window->header) + window->position;
    size_t length = (size_t)(committed - window->position);
    uint64_t strings = 0, codes = 0;

    if (length == 0) {
        return FILM_OK;
    }
    parts.header.first_value = UINT64_MAX;
    if (records->chunk_type == FILM_CHUNK_VALUE) {
        look_at_values(writer, stream, from, from + length, &parts.header);
    }
    else {
        count_records(from, from + length, &parts.header.count, &strings, &codes);
    }
    film_buffer_clear(&writer->payload_bytes);
    film_buffer_clear(&writer->summary_bytes);
    if (records->chunk_type == FILM_CHUNK_TABLE) {
        film_buffer_put_varint(&writer->payload_bytes, records->sealed_strings);
        film_buffer_put_varint(&writer->payload_bytes, records->sealed_codes);
    }
    /* From level values on they are snapshots, many and alike; below a few texts, which
     * readers of format 1.0 understand. */
    if (records->chunk_type == FILM_CHUNK_VALUE &&
        writer->block.level >= FILM_LEVEL_VALUES) {
        parts.header.flags |= FILM_CHUNK_COLUMNS;
        film_value_columns_split(&writer->value_columns, from, length, stream->sealed,
                                 &writer->payload_bytes);
    }
    else {
        film_buffer_append(&writer->payload_bytes, from, length);
    }
    parts.header.stream = stream->id;
    parts.header.number = stream->chunks;
    parts.header.first = stream->sealed;
    if (parts.header.flags != 0) {
        film_serials_put(&writer->serials, &writer->summary_bytes);
        parts.summary = &writer->summary_bytes;
    }
    parts.payload = &writer->payload_bytes;
    FILM_TRY(film_log_append(&writer->log, &parts));
    stream->chunks++;
    stream->sealed += parts.header.count;
    records->sealed_strings += strings;
    records->sealed_codes += codes;
    window->position = committed;
    return FILM_OK;
}

film_status
film_seal_records(film_writer *writer, film_record_stream *records)
{
    film_stream *stream = &records->stream;

    for (;;) {
        film_window *window, *current;
        pthread_mutex_lock(&writer->lock);
        window = stream->oldest;
        current = stream->current;
        pthread_mutex_unlock(&writer->lock);
        if (window == NULL) {
            return FILM_OK;
        }
        FILM_TRY(seal_window(writer, records, window));
        if (window == current) {
            return FILM_OK;
        }
        film_stream_release(writer, stream);
    }
}

/* The text of a file, at most SOURCE_LIMIT bytes; false if it cannot be read. */
static bool
read_source(const char *path, film_buffer *out, bool *cut)
{
    struct stat found;
    ssize_t got = -1;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (file < 0) {
        return false;
    }
    if (fstat(file, &found) == 0 && S_ISREG(found.st_mode)) {
        size_t wanted =
            found.st_size > (off_t)SOURCE_LIMIT ? SOURCE_LIMIT : (size_t)found.st_size;
        uint8_t *to = film_buffer_reserve(out, wanted + 1);
        *cut = found.st_size > (off_t)SOURCE_LIMIT;
        if (to != NULL) {
            got = read(file, to, wanted);
        }
    }
    close(file);
    if (got < 0) {
        return false;
    }
    out->length += (size_t)got;
    return true;
}

static film_status
seal_source(film_writer *writer, const film_source_request *request)
{
    film_chunk_parts parts = {.header = {.type = FILM_CHUNK_SOURCE}};
    film_buffer *payload = &writer->payload_bytes;
    bool cut = false;
    size_t flags_at;

    film_buffer_clear(payload);
    film_buffer_put_bytes(payload, request->file, strlen(request->file));
    flags_at = payload->length;
    film_buffer_put_byte(payload, 0);
    if (request->text != NULL) {
        film_buffer_append(payload, request->text, request->length);
    }
    else if (!read_source(request->path, payload, &cut)) {
        return FILM_OK; /* generated or vanished: a recording without that text */
    }
    if (payload->failed) {
        return FILM_OK;
    }
    payload->data[flags_at] = cut ? FILM_SOURCE_CUT : 0;
    parts.header.number = writer->log.source_number++;
    parts.payload = payload;
    return film_log_append(&writer->log, &parts);
}

film_status
film_seal_sources(film_writer *writer)
{
    for (;;) {
        film_source_request *request;
        film_status status;
        pthread_mutex_lock(&writer->lock);
        request = writer->sources;
        if (request != NULL) {
            writer->sources = request->next;
            if (writer->sources == NULL) {
                writer->sources_end = NULL;
            }
        }
        pthread_mutex_unlock(&writer->lock);
        if (request == NULL) {
            return FILM_OK;
        }
        status = seal_source(writer, request);
        film_free(request->file);
        film_free(request->path);
        film_free(request->text);
        film_free(request);
        FILM_TRY(status);
    }
}
