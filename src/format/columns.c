/* columns.c: see columns.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/columns.h"

#include <string.h>

static bool
append_tokens(film_columns *columns, const film_row *row)
{
    static const film_column parts[] = {FILM_COLUMN_TOKEN, FILM_COLUMN_NUMBER,
                                        FILM_COLUMN_FLOAT, FILM_COLUMN_TEXT,
                                        FILM_COLUMN_REFERENCE};
    film_input input = film_input_of(row->tokens, row->tokens_length);
    film_token_ends ends;
    uint8_t **end[] = {&ends.tokens, &ends.numbers, &ends.floats, &ends.texts,
                       &ends.references};
    size_t room = (size_t)row->token_count * FILM_TOKEN_COLUMN_MAX;

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        *end[i] = film_buffer_reserve(&columns->buffers[parts[i]], room);
        if (*end[i] == NULL) {
            return false;
        }
    }
    if (!film_tokens_split(&input, row->token_count, &columns->past, &ends,
                           &columns->facts)) {
        return false;
    }
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        film_buffer *buffer = &columns->buffers[parts[i]];
        buffer->length = (size_t)(*end[i] - buffer->data);
    }
    return true;
}

void
film_columns_time_lines(film_columns *columns)
{
    if (!columns->lines_timed) {
        columns->lines_timed = true;
        for (uint32_t i = 0; i < columns->lines; i++) {
            film_buffer_put_byte(&columns->buffers[FILM_COLUMN_LINE_TIME], 0);
        }
    }
}

static void
append_line(film_columns *columns, const film_row *row)
{
    if (row->delta != 0) {
        film_columns_time_lines(columns);
    }
    columns->lines++;
    if (columns->lines_timed) {
        film_buffer_put_varint(&columns->buffers[FILM_COLUMN_LINE_TIME], row->delta);
    }
    film_buffer_put_varint(&columns->buffers[FILM_COLUMN_OFFSET], row->offset);
}

bool
film_columns_append(film_columns *columns, const film_row *row)
{
    film_buffer *to = columns->buffers;
    uint8_t kind = row->kind;

    columns->rows++;
    film_buffer_put_byte(&to[FILM_COLUMN_KIND], kind);
    if (kind != FILM_KIND_LINE && kind != FILM_KIND_SET && kind != FILM_KIND_VALUES) {
        film_buffer_put_varint(&to[FILM_COLUMN_TIME], row->delta);
    }
    switch (kind) {
    case FILM_KIND_CALL:
        film_buffer_put_varint(&to[FILM_COLUMN_CODE], row->code);
        film_buffer_put_varint(&to[FILM_COLUMN_SITE], row->site);
        break;
    case FILM_KIND_RETURN:
    case FILM_KIND_YIELD:
        film_buffer_put_varint(&to[FILM_COLUMN_OFFSET], row->offset);
        break;
    case FILM_KIND_LINE:
        append_line(columns, row);
        break;
    case FILM_KIND_RESUME:
        film_buffer_put_varint(&to[FILM_COLUMN_FRAME], row->frame_delta);
        film_buffer_put_varint(&to[FILM_COLUMN_CODE], row->code);
        film_buffer_put_varint(&to[FILM_COLUMN_OFFSET], row->offset);
        film_buffer_put_varint(&to[FILM_COLUMN_SITE], row->site);
        break;
    case FILM_KIND_SET:
        film_buffer_put_varint(&to[FILM_COLUMN_SET], row->head);
        return append_tokens(columns, row);
    case FILM_KIND_VALUES:
        film_buffer_put_byte(&to[FILM_COLUMN_COUNT], (uint8_t)row->token_count);
        return append_tokens(columns, row);
    default:
        film_buffer_put_bytes(&to[FILM_COLUMN_EXT], row->body, row->body_length);
        break;
    }
    return true;
}

void
film_columns_finish(film_columns *columns, film_buffer *out)
{
    for (unsigned i = 0; i < FILM_COLUMNS; i++) {
        if (columns->buffers[i].failed) {
            out->failed = true;
            return;
        }
        film_buffer_put_byte(out, (uint8_t)i);
        film_buffer_put_bytes(out, columns->buffers[i].data,
                              columns->buffers[i].length);
    }
}

static void
begin(film_columns *columns)
{
    columns->rows = columns->lines = 0;
    columns->lines_timed = false;
    memset(&columns->past, 0, sizeof(columns->past));
}

void
film_columns_clear(film_columns *columns)
{
    for (unsigned i = 0; i < FILM_COLUMNS; i++) {
        film_buffer_clear(&columns->buffers[i]);
    }
    begin(columns);
}

void
film_columns_reset(film_columns *columns)
{
    for (unsigned i = 0; i < FILM_COLUMNS; i++) {
        film_buffer_reset(&columns->buffers[i]);
    }
    begin(columns);
}

film_status
film_column_reader_init(film_column_reader *reader, const uint8_t *raw, size_t length)
{
    film_input input = film_input_of(raw, length);

    memset(reader->inputs, 0, sizeof(reader->inputs));
    memset(&reader->past, 0, sizeof(reader->past));
    reader->lines_have_times = true;
    while (film_input_left(&input) > 0) {
        uint8_t id = film_input_byte(&input);
        size_t bytes;
        const uint8_t *data = film_input_bytes(&input, &bytes);
        if (input.failed) {
            return FILM_CORRUPT;
        }
        if (id < FILM_COLUMNS) {
            reader->inputs[id] = film_input_of(data, bytes);
        }
        if (id == FILM_COLUMN_LINE_TIME) {
            reader->lines_have_times = false;
        }
    }
    reader->lines_timed = film_input_left(&reader->inputs[FILM_COLUMN_LINE_TIME]) > 0;
    return FILM_OK;
}

static uint64_t
join_reference(film_column_reader *reader, uint8_t kind)
{
    uint64_t *last = &reader->past.last[kind == FILM_TOKEN_OBJECT];
    uint64_t told = film_input_varint(&reader->inputs[FILM_COLUMN_REFERENCE]);

    if ((told & 1) == 0) {
        *last = reader->past.next + (told >> 1);
        reader->past.next = *last + 1;
    }
    else {
        *last += (uint64_t)film_unzigzag(told >> 1);
    }
    return *last;
}

/* Writes the rest of a token that began with `first`. */
static uint8_t *
join_rest(film_column_reader *reader, uint8_t first, uint8_t *to)
{
    film_input *in = reader->inputs;
    const uint8_t *bytes;
    size_t length;

    switch (first) {
    case FILM_TOKEN_INT:
        return film_varint_encode(to, film_input_varint(&in[FILM_COLUMN_NUMBER]));
    case FILM_TOKEN_FLOAT:
        length = sizeof(double);
        bytes = film_input_take(&in[FILM_COLUMN_FLOAT], length);
        break;
    case FILM_TOKEN_VALUE:
    case FILM_TOKEN_OBJECT:
        return film_varint_encode(to, join_reference(reader, first));
    case FILM_TOKEN_SHORT_TEXT:
        length = film_input_byte(&in[FILM_COLUMN_TEXT]);
        bytes = length > FILM_TOKEN_TEXT
                    ? NULL
                    : film_input_take(&in[FILM_COLUMN_TEXT], length);
        *to++ = (uint8_t)length;
        break;
    case FILM_TOKEN_CYCLE:
        to = film_varint_encode(to, film_input_varint(&in[FILM_COLUMN_REFERENCE]));
        return film_varint_encode(to, film_input_varint32(&in[FILM_COLUMN_REFERENCE]));
    case FILM_TOKEN_UNBOUND:
    case FILM_TOKEN_NONE:
    case FILM_TOKEN_FALSE:
    case FILM_TOKEN_TRUE:
    case FILM_TOKEN_REDACTED:
        return to;
    default:
        length = 0;
        bytes = NULL;
        break;
    }
    if (bytes == NULL) {
        in[FILM_COLUMN_TOKEN].failed = true;
        return to;
    }
    memcpy(to, bytes, length);
    return to + length;
}

/* Puts the row's tokens together; false when a column ends too early. */
static bool
join_tokens(film_column_reader *reader, film_row *row)
{
    film_input *in = reader->inputs;
    uint8_t *to = reader->tokens;

    for (uint32_t i = 0; i < row->token_count; i++) {
        uint8_t first = film_input_byte(&in[FILM_COLUMN_TOKEN]);
        *to++ = first;
        if (first < FILM_TOKEN_FIRST_INT) {
            to = join_rest(reader, first, to);
        }
    }
    row->tokens = reader->tokens;
    row->tokens_length = (uint32_t)(to - reader->tokens);
    return !(in[FILM_COLUMN_TOKEN].failed || in[FILM_COLUMN_NUMBER].failed ||
             in[FILM_COLUMN_FLOAT].failed || in[FILM_COLUMN_TEXT].failed ||
             in[FILM_COLUMN_REFERENCE].failed);
}

static bool
next_set(film_column_reader *reader, film_row *row)
{
    film_input *heads = &reader->inputs[FILM_COLUMN_SET];

    row->head = film_input_varint(heads);
    row->token_count = film_set_tokens(row->head & 7);
    return !heads->failed && join_tokens(reader, row);
}

static bool
next_values(film_column_reader *reader, film_row *row)
{
    film_input *counts = &reader->inputs[FILM_COLUMN_COUNT];

    row->token_count = film_input_byte(counts);
    return row->token_count != 0 && row->token_count <= FILM_ROW_VALUES_MAX &&
           join_tokens(reader, row);
}

/* A failed input stays failed, so one look at each suffices. */
static bool
any_failed(const film_input *in)
{
    return in[FILM_COLUMN_TIME].failed || in[FILM_COLUMN_CODE].failed ||
           in[FILM_COLUMN_SITE].failed || in[FILM_COLUMN_OFFSET].failed ||
           in[FILM_COLUMN_FRAME].failed || in[FILM_COLUMN_EXT].failed ||
           in[FILM_COLUMN_LINE_TIME].failed;
}

film_status
film_column_reader_next(film_column_reader *reader, film_row *row)
{
    film_input *in = reader->inputs;
    size_t length = 0;

    if (in[FILM_COLUMN_KIND].at == in[FILM_COLUMN_KIND].end) {
        return FILM_END;
    }
    memset(row, 0, sizeof(*row));
    row->kind = *in[FILM_COLUMN_KIND].at++;
    switch (row->kind) {
    case FILM_KIND_SET:
        return next_set(reader, row) ? FILM_OK : FILM_CORRUPT;
    case FILM_KIND_VALUES:
        return next_values(reader, row) ? FILM_OK : FILM_CORRUPT;
    case FILM_KIND_LINE:
        if (reader->lines_have_times || reader->lines_timed) {
            row->delta = film_input_varint(&in[reader->lines_timed
                                                   ? FILM_COLUMN_LINE_TIME
                                                   : FILM_COLUMN_TIME]);
        }
        row->offset = film_input_varint32(&in[FILM_COLUMN_OFFSET]);
        break;
    case FILM_KIND_CALL:
        row->delta = film_input_varint(&in[FILM_COLUMN_TIME]);
        row->code = film_input_varint32(&in[FILM_COLUMN_CODE]);
        row->site = film_input_varint32(&in[FILM_COLUMN_SITE]);
        break;
    case FILM_KIND_RETURN:
    case FILM_KIND_YIELD:
        row->delta = film_input_varint(&in[FILM_COLUMN_TIME]);
        row->offset = film_input_varint32(&in[FILM_COLUMN_OFFSET]);
        break;
    case FILM_KIND_RESUME:
        row->delta = film_input_varint(&in[FILM_COLUMN_TIME]);
        row->frame_delta = film_input_varint(&in[FILM_COLUMN_FRAME]);
        row->code = film_input_varint32(&in[FILM_COLUMN_CODE]);
        row->offset = film_input_varint32(&in[FILM_COLUMN_OFFSET]);
        row->site = film_input_varint32(&in[FILM_COLUMN_SITE]);
        break;
    case FILM_KIND_NONE:
        return FILM_CORRUPT;
    default:
        row->delta = film_input_varint(&in[FILM_COLUMN_TIME]);
        row->body = film_input_bytes(&in[FILM_COLUMN_EXT], &length);
        row->body_length = (uint32_t)length;
        break;
    }
    return any_failed(in) ? FILM_CORRUPT : FILM_OK;
}
