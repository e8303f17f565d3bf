/* columns.h: the rows of a chunk turned into columns, one kind of number each: what
 * zstd packs best.
 *
 * Payload of an EVENTS chunk: for each column its id (a byte), its length (varint) and
 * its bytes. An unknown id is skipped.
 *   KIND    a byte a row (film_kind, adjustments included)
 *   TIME    varint a row: file ticks since the row before (the first: since the
 *           keyframe's tick). LINE, SET and VALUES rows have none
 *   CODE    varint: CALL, RESUME          SITE    varint: CALL, RESUME
 *   OFFSET  varint: RETURN, YIELD, RESUME, LINE
 *   FRAME   varint (zigzag): RESUME       EXT     length and body: all other kinds
 *   SET     varint: SET: number << 3 | form
 *   COUNT   a byte: VALUES: how many tokens
 *   TOKEN, NUMBER, FLOAT, TEXT, REFERENCE: the tokens of SET and VALUES rows, taken
 *           apart (token_columns.h)
 *   LINE_TIME  varint: LINE, as TIME; empty when no line of the chunk has a time
 * Chunks of format 1.0 have no LINE_TIME: their lines' times are in TIME.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_COLUMNS_H
#define FILMSTRIP_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include <filmstrip/status.h>

#include "base/buffer.h"
#include "format/row.h"
#include "format/token_columns.h"

typedef enum film_column {
    FILM_COLUMN_KIND = 0,
    FILM_COLUMN_TIME = 1,
    FILM_COLUMN_CODE = 2,
    FILM_COLUMN_SITE = 3,
    FILM_COLUMN_OFFSET = 4,
    FILM_COLUMN_FRAME = 5,
    FILM_COLUMN_EXT = 6,
    FILM_COLUMN_SET = 7,
    FILM_COLUMN_TOKEN = 8,
    FILM_COLUMN_NUMBER = 9,
    FILM_COLUMN_FLOAT = 10,
    FILM_COLUMN_TEXT = 11,
    FILM_COLUMN_REFERENCE = 12,
    FILM_COLUMN_COUNT = 13,
    FILM_COLUMN_LINE_TIME = 14
} film_column;

#define FILM_COLUMNS 15u

/* Being filled. */
typedef struct film_columns {
    film_buffer buffers[FILM_COLUMNS];
    uint32_t rows;
    uint32_t lines;   /* LINE rows */
    bool lines_timed; /* LINE_TIME has one for each */
    film_token_past past;
    film_token_facts facts; /* the user's to begin and to read */
} film_columns;

/* row->delta is in file ticks here. False: its tokens make no sense, or memory ran
 * out. */
bool
film_columns_append(film_columns *columns, const film_row *row);

/* A line with a time comes: those before it, which had none, get 0. */
void
film_columns_time_lines(film_columns *columns);

/* The payload's raw bytes, appended to `out`. out->failed tells if memory ran out in
 * any column. */
void
film_columns_finish(film_columns *columns, film_buffer *out);

void
film_columns_clear(film_columns *columns);

void
film_columns_reset(film_columns *columns);

/* Being read. Borrows the raw payload. */
typedef struct film_column_reader {
    film_input inputs[FILM_COLUMNS];
    film_token_past past;
    bool lines_have_times; /* format 1.0: in TIME */
    bool lines_timed;      /* in LINE_TIME */
    uint8_t tokens[FILM_ROW_VALUES_MAX * FILM_TOKEN_MAX]; /* of the row given last */
} film_column_reader;

FILM_NODISCARD film_status
film_column_reader_init(film_column_reader *reader, const uint8_t *raw, size_t length);

/* FILM_END behind the last row; FILM_CORRUPT when a column ends too early. The row's
 * tokens are borrowed until the next call. */
FILM_NODISCARD film_status
film_column_reader_next(film_column_reader *reader, film_row *row);

#endif
