/* columns.c: see columns.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/columns.h"

#include <string.h>

void
film_columns_append(film_columns *columns, const film_row *row)
{
    film_buffer *to = columns->buffers;

    columns->rows++;
    film_buffer_put_byte(&to[FILM_COLUMN_KIND], row->kind);
    film_buffer_put_varint(&to[FILM_COLUMN_TIME], row->delta);
    switch (row->kind) {
    case FILM_KIND_CALL:
        film_buffer_put_varint(&to[FILM_COLUMN_CODE], row->code);
        film_buffer_put_varint(&to[FILM_COLUMN_SITE], row->site);
        break;
    case FILM_KIND_RETURN:
    case FILM_KIND_YIELD:
    case FILM_KIND_LINE:
        film_buffer_put_varint(&to[FILM_COLUMN_OFFSET], row->offset);
        break;
    case FILM_KIND_RESUME:
        film_buffer_put_varint(&to[FILM_COLUMN_FRAME], row->frame_delta);
        film_buffer_put_varint(&to[FILM_COLUMN_CODE], row->code);
        film_buffer_put_varint(&to[FILM_COLUMN_OFFSET], row->offset);
        film_buffer_put_varint(&to[FILM_COLUMN_SITE], row->site);
        break;
    default:
        film_buffer_put_bytes(&to[FILM_COLUMN_EXT], row->body, row->body_length);
        break;
    }
}

void
film_columns_finish(film_columns *columns, film_buffer *out)
{
    for (unsigned i = 0; i < FILM_COLUMN_COUNT; i++) {
        if (columns->buffers[i].failed) {
            out->failed = true;
            return;
        }
        film_buffer_put_byte(out, (uint8_t)i);
        film_buffer_put_bytes(out, columns->buffers[i].data,
                              columns->buffers[i].length);
    }
}

void
film_columns_clear(film_columns *columns)
{
    for (unsigned i = 0; i < FILM_COLUMN_COUNT; i++) {
        film_buffer_clear(&columns->buffers[i]);
    }
    columns->rows = 0;
}

void
film_columns_reset(film_columns *columns)
{
    for (unsigned i = 0; i < FILM_COLUMN_COUNT; i++) {
        film_buffer_reset(&columns->buffers[i]);
    }
    columns->rows = 0;
}

film_status
film_column_reader_init(film_column_reader *reader, const uint8_t *raw, size_t length)
{
    film_input input = film_input_of(raw, length);

    memset(reader, 0, sizeof(*reader));
    while (film_input_left(&input) > 0) {
        uint8_t id = film_input_byte(&input);
        size_t bytes;
        const uint8_t *data = film_input_bytes(&input, &bytes);
        if (input.failed) {
            return FILM_CORRUPT;
        }
        if (id < FILM_COLUMN_COUNT) {
            reader->inputs[id] = film_input_of(data, bytes);
        }
    }
    return FILM_OK;
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
    row->delta = film_input_varint(&in[FILM_COLUMN_TIME]);
    switch (row->kind) {
    case FILM_KIND_CALL:
        row->code = film_input_varint32(&in[FILM_COLUMN_CODE]);
        row->site = film_input_varint32(&in[FILM_COLUMN_SITE]);
        break;
    case FILM_KIND_RETURN:
    case FILM_KIND_YIELD:
    case FILM_KIND_LINE:
        row->offset = film_input_varint32(&in[FILM_COLUMN_OFFSET]);
        break;
    case FILM_KIND_RESUME:
        row->frame_delta = film_input_varint(&in[FILM_COLUMN_FRAME]);
        row->code = film_input_varint32(&in[FILM_COLUMN_CODE]);
        row->offset = film_input_varint32(&in[FILM_COLUMN_OFFSET]);
        row->site = film_input_varint32(&in[FILM_COLUMN_SITE]);
        break;
    case FILM_KIND_NONE:
        return FILM_CORRUPT;
    default:
        row->body = film_input_bytes(&in[FILM_COLUMN_EXT], &length);
        row->body_length = (uint32_t)length;
        break;
    }
    /* A failed input stays failed, so one look at each suffices. */
    if (in[FILM_COLUMN_TIME].failed || in[FILM_COLUMN_CODE].failed ||
        in[FILM_COLUMN_SITE].failed || in[FILM_COLUMN_OFFSET].failed ||
        in[FILM_COLUMN_FRAME].failed || in[FILM_COLUMN_EXT].failed) {
        return FILM_CORRUPT;
    }
    return FILM_OK;
}
