/* row.c: decoding rows of windows; row.h draws them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/row.h"

#include <string.h>

#include "base/buffer.h"
#include "format/token.h"

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

/* The time bits of a VALUES row are its count; a SET row has none. */
static void
decode_values(film_input *input, film_row *row, uint32_t bits, bool is_set)
{
    row->delta = 0;
    if (is_set) {
        row->kind = FILM_KIND_SET;
        row->head = film_input_varint(input);
        row->token_count = film_set_tokens(row->head & 7);
    }
    else {
        row->kind = FILM_KIND_VALUES;
        row->token_count = bits;
    }
    row->tokens = input->at;
    film_tokens_skip(input, row->token_count);
    row->tokens_length = (uint32_t)(input->at - row->tokens);
}

film_status
film_row_decode(const uint8_t **from, const uint8_t *end, film_row *row)
{
    film_input input = film_input_of(*from, (size_t)(end - *from));
    uint8_t tag = film_input_byte(&input);

    memset(row, 0, sizeof(*row));
    row->delta = tag >> 3;
    if (row->delta == FILM_ROW_DELTA_ESCAPE && (tag & 7) != FILM_ROW_VALUES) {
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
        if (row->delta != 0) {
            return FILM_CORRUPT;
        }
        decode_values(&input, row, 0, true);
        break;
    case FILM_ROW_VALUES:
        if (row->delta == 0 || row->delta > FILM_ROW_VALUES_MAX) {
            return FILM_CORRUPT;
        }
        decode_values(&input, row, (uint32_t)row->delta, false);
        break;
    }
    if (input.failed) {
        return FILM_TRUNCATED;
    }
    *from = input.at;
    return FILM_OK;
}
