/* row.c: decoding rows of windows; row.h draws them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/row.h"

#include <string.h>

#include "base/buffer.h"

static void
decode_ext(film_input *input, film_row *row)
{
    size_t length;

    row->kind = film_input_byte(input);
    row->body = film_input_bytes(input, &length);
    row->body_length = (uint32_t)length;
    if (row->kind == FILM_KIND_NONE || length > FILM_ROW_MAX) {
        input->failed = true;
    }
}

film_status
film_row_decode(const uint8_t **from, const uint8_t *end, film_row *row)
{
    film_input input = film_input_of(*from, (size_t)(end - *from));
    uint8_t tag = film_input_byte(&input);

    memset(row, 0, sizeof(*row));
    row->delta = tag >> 3;
    if (row->delta == FILM_ROW_DELTA_ESCAPE) {
        row->delta += film_input_varint(&input);
    }
    switch ((film_row_tag)(tag & 7)) {
    case FILM_ROW_CALL:
        row->kind = FILM_KIND_CALL;
        row->code = film_input_varint32(&input);
        row->site = film_input_varint32(&input);
        break;
    case FILM_ROW_RETURN:
        row->kind = FILM_KIND_RETURN;
        row->offset = film_input_varint32(&input);
        break;
    case FILM_ROW_YIELD:
        row->kind = FILM_KIND_YIELD;
        row->offset = film_input_varint32(&input);
        break;
    case FILM_ROW_LINE:
        row->kind = FILM_KIND_LINE;
        row->offset = film_input_varint32(&input);
        break;
    case FILM_ROW_RESUME:
        row->kind = FILM_KIND_RESUME;
        row->frame_delta = film_input_varint(&input);
        row->code = film_input_varint32(&input);
        row->offset = film_input_varint32(&input);
        row->site = film_input_varint32(&input);
        break;
    case FILM_ROW_EXT:
        decode_ext(&input, row);
        break;
    case FILM_ROW_SET:
    case FILM_ROW_VALUES:
        return FILM_CORRUPT;
    }
    if (input.failed) {
        return FILM_TRUNCATED;
    }
    *from = input.at;
    return FILM_OK;
}
