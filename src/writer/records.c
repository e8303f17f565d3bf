/* records.c: the recorder's side of the shared streams: strings, codes, values,
 * sources, meta. All by the holder of the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/records.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "format/redact.h"
#include "writer/writer_state.h"

/* A record must fit a window; its head takes at most 11 bytes. */
#define RECORD_LIMIT (FILM_WINDOW_BYTES - FILM_WINDOW_HEADER - 16u)
#define STRING_LIMIT (64u << 10)

/* Where a record of `length` bytes goes: behind its kind and length. NULL: it cannot be
 * kept. No lock is taken but when the window is full. */
static uint8_t *
begin_record(film_writer *writer, film_record_stream *records, uint8_t kind,
             size_t length)
{
    film_stream *stream = &records->stream;
    film_window_header *header = stream->current->header;
    uint64_t committed = atomic_load_explicit(&header->committed, memory_order_relaxed);
    uint8_t *to;

    if (length > RECORD_LIMIT || film_writer_stopped(writer)) {
        return NULL;
    }
    if (__builtin_expect(
            committed + length + 16 > FILM_WINDOW_BYTES - FILM_WINDOW_HEADER, 0)) {
        film_window_start start = {.first = records->records};
        film_window *window = film_stream_next_window(writer, stream, &start);
        if (window == NULL) {
            return NULL;
        }
        header = window->header;
        committed = 0;
    }
    to = film_window_rows(header) + committed;
    *to++ = kind;
    return film_varint_encode(to, length);
}

static void
commit_record(film_record_stream *records, const uint8_t *end)
{
    film_window_header *header = records->stream.current->header;

    records->records++;
    /* Release: who sees the length sees the record. */
    atomic_store_explicit(&header->committed,
                          (uint64_t)(end - film_window_rows(header)),
                          memory_order_release);
}

bool
film_table_append(film_writer *writer, uint8_t kind, const film_buffer *body)
{
    bool appended;

    pthread_mutex_lock(&writer->table_lock);
    appended = film_record_append(writer, &writer->table, kind, body);
    pthread_mutex_unlock(&writer->table_lock);
    return appended;
}

bool
film_record_append(film_writer *writer, film_record_stream *records, uint8_t kind,
                   const film_buffer *body)
{
    uint8_t *to =
        body->failed ? NULL : begin_record(writer, records, kind, body->length);

    if (to == NULL) {
        return false;
    }
    if (body->length > 0) {
        memcpy(to, body->data, body->length);
    }
    commit_record(records, to + body->length);
    return true;
}

/* A new string; 0 when it could not be kept. */
static uint32_t
put_string(film_writer *writer, const char *text, size_t length)
{
    uint8_t *to = begin_record(writer, &writer->table, FILM_RECORD_STRING, length);

    if (to == NULL) {
        return 0;
    }
    memcpy(to, text, length);
    commit_record(&writer->table, to + length);
    return ++writer->string_count;
}

static uint32_t
find_string(film_writer *writer, const char *text, size_t length)
{
    uint64_t hash;
    uint32_t id;

    if (length == 0) {
        return 0;
    }
    if (length > STRING_LIMIT) {
        length = STRING_LIMIT;
    }
    hash = film_hash(text, length);
    if (film_intern_find(&writer->strings, hash, &id)) {
        return id;
    }
    id = put_string(writer, text, length);
    if (id != 0) {
        /* Not interned for want of memory: it is written again the next time. */
        film_intern_add(&writer->strings, hash, id);
    }
    return id;
}

uint32_t
film_writer_string(film_writer *writer, const char *text, size_t length)
{
    uint32_t id;

    pthread_mutex_lock(&writer->table_lock);
    id = find_string(writer, text, length);
    pthread_mutex_unlock(&writer->table_lock);
    return id;
}

static uint32_t
find_passing_name(film_writer *writer, const char *text, size_t length)
{
    film_recent *recent;
    uint64_t hash;
    uint32_t id;

    if (length == 0) {
        return 0;
    }
    if (length > STRING_LIMIT) {
        length = STRING_LIMIT;
    }
    hash = film_hash(text, length);
    if (film_intern_find(&writer->strings, hash, &id)) {
        return id; /* one kept for good has no copies behind it */
    }
    recent = &writer->recent_names[hash % FILM_RECENT_NAMES];
    if (recent->id == 0 || recent->hash != hash) {
        id = put_string(writer, text, length);
        *recent = (film_recent){.hash = hash, .id = id == 0 ? 0 : (uint64_t)id + 1};
    }
    return recent->id == 0 ? 0 : (uint32_t)(recent->id - 1);
}

uint32_t
film_writer_passing_name(film_writer *writer, const char *text, size_t length)
{
    uint32_t id;

    pthread_mutex_lock(&writer->table_lock);
    id = find_passing_name(writer, text, length);
    pthread_mutex_unlock(&writer->table_lock);
    return id;
}

/* What tells the same function in two runs: its file, name and line. */
static uint64_t
stable_hash(film_writer *writer, const film_code_record *code)
{
    film_buffer *text = &writer->scratch;
    char line[16];

    film_buffer_clear(text);
    film_buffer_append(text, code->file, strlen(code->file) + 1);
    film_buffer_append(text, code->qualname, strlen(code->qualname) + 1);
    snprintf(line, sizeof(line), "%u", code->first_line);
    film_buffer_append_text(text, line);
    return film_hash(text->data, text->length);
}

static void
keep_hash(film_writer *writer, uint32_t id, uint64_t hash)
{
    uint64_t *block;
    size_t index = id / FILM_CODE_BLOCK;

    if (index >= FILM_CODE_BLOCKS) {
        return;
    }
    block = atomic_load_explicit(&writer->code_hashes[index], memory_order_relaxed);
    if (block == NULL) {
        block = film_alloc_array(FILM_CODE_BLOCK, sizeof(*block));
        if (block == NULL) {
            return;
        }
        atomic_store_explicit(&writer->code_hashes[index], block, memory_order_release);
    }
    block[id % FILM_CODE_BLOCK] = hash;
}

uint64_t
film_writer_code_hash(film_writer *writer, uint32_t code)
{
    uint64_t *block;

    if (__builtin_expect(code / FILM_CODE_BLOCK >= FILM_CODE_BLOCKS, 0)) {
        return code;
    }
    block = atomic_load_explicit(&writer->code_hashes[code / FILM_CODE_BLOCK],
                                 memory_order_acquire);
    return block == NULL ? code : block[code % FILM_CODE_BLOCK];
}

static void
put_ids(film_buffer *body, const uint32_t *ids, uint32_t count)
{
    film_buffer_put_varint(body, count);
    for (uint32_t i = 0; i < count; i++) {
        film_buffer_put_varint(body, ids[i]);
    }
}

static void
put_code(film_writer *writer, film_buffer *body, const film_code_record *code,
         bool with_bytes)
{
    film_buffer_put_varint(body,
                           film_writer_string(writer, code->file, strlen(code->file)));
    film_buffer_put_varint(
        body, film_writer_string(writer, code->module, strlen(code->module)));
    film_buffer_put_varint(
        body, film_writer_string(writer, code->qualname, strlen(code->qualname)));
    film_buffer_put_varint(body,
                           film_writer_string(writer, code->name, strlen(code->name)));
    film_buffer_put_varint(body, code->first_line);
    film_buffer_put_varint(body, code->flags);
    film_buffer_put_varint(body, code->argument_count);
    film_buffer_put_varint(body, code->positional_only_count);
    film_buffer_put_varint(body, code->keyword_only_count);
    film_buffer_put_bytes(body, code->bytecode, with_bytes ? code->bytecode_length : 0);
    film_buffer_put_bytes(body, code->line_table,
                          with_bytes ? code->line_table_length : 0);
    film_buffer_put_bytes(body, code->exception_table,
                          with_bytes ? code->exception_table_length : 0);
    put_ids(body, code->names, with_bytes ? code->name_count : 0);
    put_ids(body, code->locals, with_bytes ? code->local_count : 0);
    film_buffer_append(body, code->local_kinds, with_bytes ? code->local_count : 0);
}

uint32_t
film_writer_code(film_writer *writer, const film_code_record *code)
{
    film_buffer body = {0};
    uint32_t id = UINT32_MAX;
    film_recent *recent;
    uint64_t hash;

    put_code(writer, &body, code, true);
    if (body.length > RECORD_LIMIT) {
        /* A function of some 100,000 instructions: kept by name, without lines. */
        film_buffer_clear(&body);
        put_code(writer, &body, code, false);
    }
    /* What `exec` compiles again and again, or a module that is loaded anew. */
    hash = film_hash(body.data, body.length);
    recent = &writer->recent_codes[hash % FILM_RECENT_CODES];
    if (recent->id != 0 && recent->hash == hash && !body.failed &&
        !film_writer_stopped(writer)) {
        film_buffer_reset(&body);
        return (uint32_t)(recent->id - 1);
    }
    keep_hash(writer, writer->code_count, stable_hash(writer, code));
    if (film_table_append(writer, FILM_RECORD_CODE, &body)) {
        id = writer->code_count++;
        *recent = (film_recent){.hash = hash, .id = (uint64_t)id + 1};
    }
    film_buffer_reset(&body);
    return id;
}

uint64_t
film_writer_value(film_writer *writer, uint32_t type_string, const char *text,
                  size_t length, uint32_t flags)
{
    film_buffer *body = &writer->scratch;

    if (length > RECORD_LIMIT / 4) {
        length = RECORD_LIMIT / 4;
        flags |= FILM_VALUE_CUT;
    }
    film_buffer_clear(&writer->redacted);
    if (film_redact_text(writer->redaction, text, length, &writer->redacted)) {
        flags |= FILM_VALUE_REDACTED;
    }
    if (writer->redacted.failed) {
        return 0;
    }
    film_buffer_clear(body);
    film_buffer_put_varint(body, type_string);
    film_buffer_put_varint(body, flags);
    film_buffer_append(body, writer->redacted.data, writer->redacted.length);
    if (!film_record_append(writer, &writer->values, FILM_RECORD_VALUE, body)) {
        return 0;
    }
    return writer->values.records;
}

uint64_t
film_writer_value_record(film_writer *writer, uint32_t type_string, uint32_t flags,
                         const uint8_t *body, size_t length)
{
    uint8_t head[2 * FILM_VARINT_MAX];
    size_t head_length =
        (size_t)(film_varint_encode(film_varint_encode(head, type_string), flags) -
                 head);
    uint8_t *to =
        begin_record(writer, &writer->values, FILM_RECORD_VALUE, head_length + length);

    if (to == NULL) {
        return 0;
    }
    memcpy(to, head, head_length);
    to += head_length;
    if (length > 0) {
        memcpy(to, body, length);
    }
    commit_record(&writer->values, to + length);
    return writer->values.records;
}

uint64_t
film_writer_value_floor(const film_writer *writer)
{
    return atomic_load_explicit(&writer->log.reuse_floor, memory_order_relaxed);
}

const _Atomic(uint64_t) *
film_writer_value_floor_place(const film_writer *writer)
{
    return &writer->log.reuse_floor;
}

static char *
copy_text(const char *text, size_t length)
{
    char *copy = film_alloc(length + 1);

    if (copy != NULL && length > 0) {
        memcpy(copy, text, length);
    }
    return copy;
}

static void
queue_source(film_writer *writer, film_source_request *request)
{
    pthread_mutex_lock(&writer->lock);
    if (writer->sources_end != NULL) {
        writer->sources_end->next = request;
    }
    else {
        writer->sources = request;
    }
    writer->sources_end = request;
    pthread_mutex_unlock(&writer->lock);
}

void
film_writer_source(film_writer *writer, const char *file, const char *path,
                   const char *text, size_t length)
{
    uint64_t hash = film_hash(file, strlen(file));
    film_source_request *request;
    uint32_t seen;

    if (film_intern_find(&writer->source_files, hash, &seen)) {
        return;
    }
    request = film_alloc(sizeof(*request));
    if (request == NULL || !film_intern_add(&writer->source_files, hash, 1)) {
        film_free(request);
        return;
    }
    request->file = copy_text(file, strlen(file));
    request->path = path == NULL ? NULL : copy_text(path, strlen(path));
    request->text = text == NULL ? NULL : copy_text(text, length);
    request->length = length;
    if (request->file == NULL || (request->path == NULL && request->text == NULL)) {
        film_free(request->file);
        film_free(request->path);
        film_free(request->text);
        film_free(request);
        return;
    }
    queue_source(writer, request);
}

/* The text with what the deny list takes out; borrowed until the next value. */
static const char *
without_secrets(film_writer *writer, const char *text)
{
    film_buffer_clear(&writer->redacted);
    film_redact_text(writer->redaction, text, strlen(text), &writer->redacted);
    film_buffer_put_byte(&writer->redacted, 0);
    return writer->redacted.failed ? FILM_REDACTED
                                   : (const char *)writer->redacted.data;
}

void
film_writer_meta(film_writer *writer, const film_meta_pair *pairs, size_t count)
{
    film_chunk_parts parts = {.header = {.type = FILM_CHUNK_META}};
    film_buffer payload = {0};
    film_status status;

    for (size_t i = 0; i < count; i++) {
        if (strcmp(pairs[i].key, "ended") == 0) {
            writer->ends_with_process = strcmp(pairs[i].value, "exit") == 0;
        }
    }
    if (count == 0 || film_writer_stopped(writer)) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const char *value = pairs[i].value;
        if (strcmp(pairs[i].key, "argv") == 0) {
            value = without_secrets(writer, value);
        }
        film_meta_put(&payload, pairs[i].key, value);
    }
    parts.header.number = writer->log.meta_number++;
    parts.payload = &payload;
    status = film_log_append(&writer->log, &parts);
    film_buffer_reset(&payload);
    if (status != FILM_OK) {
        film_writer_stop(writer, status);
    }
}
