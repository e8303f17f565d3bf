/* tables.c: see tables.h; records.h draws the records.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reader/tables.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "format/records.h"
#include "format/window.h"

/* Where the next record of each kind goes. */
typedef struct place {
    uint64_t record, string, code;
} place;

void
film_tables_reset(film_tables *tables)
{
    for (size_t i = 0; i < tables->code_count; i++) {
        film_free(tables->lines[i].lines);
    }
    film_free(tables->strings);
    film_free(tables->codes);
    film_free(tables->lines);
    film_free(tables->threads);
    film_free(tables->metas);
    film_pool_reset(&tables->pool);
    memset(tables, 0, sizeof(*tables));
}

uint32_t
film_tables_find(const film_tables *tables, film_text text)
{
    for (size_t id = 1; id < tables->string_count; id++) {
        const film_text *one = &tables->strings[id];

        if (one->data != NULL && one->length == text.length &&
            memcmp(one->data, text.data, text.length) == 0) {
            return (uint32_t)id;
        }
    }
    return 0;
}

film_text
film_tables_string(const film_tables *tables, uint32_t id)
{
    film_text text = {"", 0};

    if (id >= FILM_STRING_LOST) {
        switch (id - FILM_STRING_LOST) {
        case FILM_LOST_MISSING:
            text.data = "these events were not kept in the file";
            break;
        case FILM_LOST_OVERWRITTEN:
            text.data = "ring mode has overwritten them";
            break;
        default:
            text.data = film_lost_reason_text(id - FILM_STRING_LOST);
            break;
        }
        text.length = strlen(text.data);
    }
    else if (id < tables->string_count && tables->strings[id].data != NULL) {
        text = tables->strings[id];
    }
    return text;
}

/* How many ids a lost part of the table may have held: damage cannot ask for more. */
#define GREATEST_GAP ((uint64_t)4 << 20)

/* Room for id `id`; the ids between become unknown. */
static film_status
reach_string(film_tables *tables, uint64_t id)
{
    film_text *strings;

    if (id < tables->string_count) {
        return FILM_OK;
    }
    if (id - tables->string_count > GREATEST_GAP ||
        id > FILM_POOL_BUDGET / sizeof(*strings)) {
        return FILM_LIMIT;
    }
    strings = film_grow(tables->strings, &tables->string_capacity, (size_t)id + 1,
                        sizeof(*strings));
    if (strings == NULL) {
        return FILM_NO_MEMORY;
    }
    memset(strings + tables->string_count, 0,
           ((size_t)id + 1 - tables->string_count) * sizeof(*strings));
    tables->strings = strings;
    tables->string_count = (size_t)id + 1;
    return FILM_OK;
}

static film_status
reach_code(film_tables *tables, uint64_t id)
{
    size_t room = tables->code_capacity;
    film_code **codes;
    film_lines *lines;

    if (id < tables->code_count) {
        return FILM_OK;
    }
    if (id - tables->code_count > GREATEST_GAP ||
        id > FILM_POOL_BUDGET / sizeof(film_code)) {
        return FILM_LIMIT;
    }
    codes = film_grow(tables->codes, &room, (size_t)id + 1, sizeof(film_code *));
    if (codes == NULL) {
        return FILM_NO_MEMORY;
    }
    tables->codes = codes;
    room = tables->code_capacity;
    lines = film_grow(tables->lines, &room, (size_t)id + 1, sizeof(*lines));
    if (lines == NULL) {
        return FILM_NO_MEMORY; /* codes has more room than it says: harmless */
    }
    tables->lines = lines;
    tables->code_capacity = room;
    for (size_t i = tables->code_count; i <= (size_t)id; i++) {
        codes[i] = NULL;
        lines[i].lines = NULL;
        lines[i].count = 0;
    }
    tables->code_count = (size_t)id + 1;
    return FILM_OK;
}

static film_status
take_string(film_tables *tables, uint64_t id, const film_record *record)
{
    FILM_TRY(reach_string(tables, id));
    if (tables->strings[id].data != NULL) {
        return FILM_OK;
    }
    return film_pool_text(&tables->pool, record->body, record->length,
                          &tables->strings[id]);
}

/* A count, then that many string ids. */
static film_status
take_ids(film_tables *tables, film_input *input, const uint32_t **ids, uint32_t *count)
{
    uint32_t wanted = film_input_varint32(input);
    uint32_t *to;
    void *room;

    if (input->failed || wanted > film_input_left(input)) {
        input->failed = true;
        return FILM_OK;
    }
    FILM_TRY(film_pool_take(&tables->pool, wanted * sizeof(*to), &room));
    to = room;
    for (uint32_t i = 0; i < wanted; i++) {
        to[i] = film_input_varint32(input);
    }
    *ids = to;
    *count = wanted;
    return FILM_OK;
}

static film_status
take_bytes(film_tables *tables, film_input *input, const uint8_t **bytes,
           uint32_t *length)
{
    size_t taken;
    const uint8_t *from = film_input_bytes(input, &taken);

    if (input->failed) {
        return FILM_OK;
    }
    *length = (uint32_t)taken;
    return film_pool_bytes(&tables->pool, from, taken, bytes);
}

/* module.qualname, and the hash that two runs of one program share. */
static film_status
name_code(film_tables *tables, film_code *code)
{
    size_t module = code->module.length, qualname = code->qualname.length;
    char line[16];
    size_t digits = (size_t)snprintf(line, sizeof(line), "%u", code->first_line);
    film_buffer key = {0};
    film_status status;
    void *room;
    char *to;

    FILM_TRY(film_pool_take(&tables->pool, module + qualname + 2, &room));
    to = room;
    memcpy(to, code->module.data, module);
    to += module;
    if (module > 0) {
        *to++ = '.';
    }
    memcpy(to, code->qualname.data, qualname + 1);
    code->function.data = room;
    code->function.length = (size_t)(to - (char *)room) + qualname;

    film_buffer_append(&key, code->file.data, code->file.length + 1);
    film_buffer_append(&key, code->qualname.data, qualname + 1);
    film_buffer_append(&key, line, digits);
    status = key.failed ? FILM_NO_MEMORY : FILM_OK;
    code->stable_hash = film_hash(key.data, key.failed ? 0 : key.length);
    film_buffer_reset(&key);
    return status;
}

static film_status
take_code(film_tables *tables, uint64_t id, const film_record *record)
{
    film_input input = film_input_of(record->body, record->length);
    const uint8_t *kinds;
    film_code *code;
    void *room;

    FILM_TRY(reach_code(tables, id));
    if (tables->codes[id] != NULL) {
        return FILM_OK;
    }
    FILM_TRY(film_pool_take(&tables->pool, sizeof(*code), &room));
    code = room;
    memset(code, 0, sizeof(*code));
    code->id = (uint32_t)id;
    code->file = film_tables_string(tables, film_input_varint32(&input));
    code->module = film_tables_string(tables, film_input_varint32(&input));
    code->qualname = film_tables_string(tables, film_input_varint32(&input));
    code->name = film_tables_string(tables, film_input_varint32(&input));
    code->first_line = film_input_varint32(&input);
    code->flags = film_input_varint32(&input);
    code->argument_count = film_input_varint32(&input);
    code->positional_only_count = film_input_varint32(&input);
    code->keyword_only_count = film_input_varint32(&input);
    FILM_TRY(take_bytes(tables, &input, &code->bytecode, &code->bytecode_length));
    FILM_TRY(take_bytes(tables, &input, &code->line_table, &code->line_table_length));
    FILM_TRY(take_bytes(tables, &input, &code->exception_table,
                        &code->exception_table_length));
    FILM_TRY(take_ids(tables, &input, &code->names, &code->name_count));
    FILM_TRY(take_ids(tables, &input, &code->locals, &code->local_count));
    kinds = film_input_take(&input, code->local_count);
    if (input.failed) {
        return FILM_OK; /* stays unknown */
    }
    FILM_TRY(
        film_pool_bytes(&tables->pool, kinds, code->local_count, &code->local_kinds));
    FILM_TRY(name_code(tables, code));
    tables->codes[id] = code;
    return FILM_OK;
}

static film_status
take_thread(film_tables *tables, const film_record *record)
{
    film_input input = film_input_of(record->body, record->length);
    film_thread_record thread = {0}, *threads;

    thread.thread = film_input_varint32(&input);
    thread.name = film_input_varint32(&input);
    thread.native_id = film_input_varint(&input);
    if (input.failed || thread.thread == 0 || thread.thread >= FILM_STREAM_TABLE) {
        return FILM_OK;
    }
    if (tables->thread_count > FILM_POOL_BUDGET / 8 / sizeof(thread)) {
        return FILM_LIMIT;
    }
    threads = film_grow(tables->threads, &tables->thread_capacity,
                        tables->thread_count + 1, sizeof(*threads));
    if (threads == NULL) {
        return FILM_NO_MEMORY;
    }
    tables->threads = threads;
    threads[tables->thread_count++] = thread;
    return FILM_OK;
}

static film_status
take_records(film_tables *tables, place *at, const uint8_t *from, const uint8_t *end)
{
    film_record record;

    while (from < end) {
        film_status status = film_record_decode(&from, end, &record);
        if (status != FILM_OK) {
            return FILM_CORRUPT;
        }
        at->record++;
        switch (record.kind) {
        case FILM_RECORD_STRING:
            status = take_string(tables, ++at->string, &record); /* ids from 1 */
            break;
        case FILM_RECORD_CODE:
            status = take_code(tables, at->code++, &record);
            break;
        case FILM_RECORD_THREAD:
            status = take_thread(tables, &record);
            break;
        default:
            break;
        }
        FILM_TRY(status);
    }
    return FILM_OK;
}

film_status
film_tables_add_chunk(film_tables *tables, uint64_t first, const uint8_t *raw,
                      size_t length)
{
    film_input input = film_input_of(raw, length);
    place at = {.record = first};
    film_status status;

    at.string = film_input_varint(&input);
    at.code = film_input_varint(&input);
    /* Every record before took three bytes at least: ids beyond are damage. */
    if (input.failed || at.string > first || at.code > first) {
        return FILM_CORRUPT;
    }
    status = take_records(tables, &at, input.at, input.end);
    if (at.record > tables->records) {
        tables->records = at.record;
        tables->strings_before = at.string;
        tables->codes_before = at.code;
    }
    return status;
}

film_status
film_tables_add_window(film_tables *tables, uint64_t first, const uint8_t *rows,
                       size_t length)
{
    place at = {.record = tables->records,
                .string = tables->strings_before,
                .code = tables->codes_before};
    film_status status;
    const uint8_t *end = rows + length;
    film_record record;

    if (first > tables->records) {
        return FILM_CORRUPT;
    }
    for (; first < tables->records && rows < end; first++) {
        if (film_record_decode(&rows, end, &record) != FILM_OK) {
            return FILM_CORRUPT;
        }
    }
    status = take_records(tables, &at, rows, end);
    tables->records = at.record;
    tables->strings_before = at.string;
    tables->codes_before = at.code;
    return status;
}

film_status
film_tables_add_meta(film_tables *tables, uint64_t number, const uint8_t *raw,
                     size_t length)
{
    film_input input = film_input_of(raw, length);
    const char *key, *value;
    size_t key_length, value_length;
    film_status status;

    while ((status = film_meta_next(&input, &key, &key_length, &value,
                                    &value_length)) == FILM_OK) {
        film_meta_record *metas = film_grow(tables->metas, &tables->meta_capacity,
                                            tables->meta_count + 1, sizeof(*metas));
        if (metas == NULL) {
            return FILM_NO_MEMORY;
        }
        tables->metas = metas;
        metas += tables->meta_count;
        metas->number = number;
        FILM_TRY(film_pool_text(&tables->pool, (const uint8_t *)key, key_length,
                                &metas->key));
        FILM_TRY(film_pool_text(&tables->pool, (const uint8_t *)value, value_length,
                                &metas->value));
        tables->meta_count++;
    }
    return status == FILM_END ? FILM_OK : FILM_CORRUPT;
}

film_status
film_tables_check(const uint8_t *raw, size_t length, uint32_t count)
{
    film_tables scratch = {0};
    film_input input = film_input_of(raw, length);
    place at = {0};
    film_status status;

    film_input_varint(&input);
    film_input_varint(&input);
    if (input.failed) {
        return FILM_CORRUPT;
    }
    status = take_records(&scratch, &at, input.at, input.end);
    if (status == FILM_OK && at.record != count) {
        status = FILM_CORRUPT;
    }
    film_tables_reset(&scratch);
    return status;
}
