/* columns.h: the rows of a chunk turned into columns, one kind of number each: what
 * zstd packs best.
 *
 * Payload of an EVENTS chunk: for each column its id (a byte), its length (varint) and
 * its bytes. An unknown id is skipped.
 *   KIND    a byte a row (film_kind, adjustments included)
 *   TIME    varint a row: file ticks since the row before (the first: since the
 *           keyframe's tick)
 *   CODE    varint: CALL, RESUME          SITE    varint: CALL, RESUME
 *   OFFSET  varint: RETURN, YIELD, RESUME, LINE
 *   FRAME   varint (zigzag): RESUME       EXT     length and body: all other kinds
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_COLUMNS_H
#define FILMSTRIP_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include <filmstrip/status.h>

#include "base/buffer.h"
#include "format/row.h"

typedef enum film_column {
    FILM_COLUMN_KIND = 0,
    FILM_COLUMN_TIME = 1,
    FILM_COLUMN_CODE = 2,
    FILM_COLUMN_SITE = 3,
    FILM_COLUMN_OFFSET = 4,
    FILM_COLUMN_FRAME = 5,
    FILM_COLUMN_EXT = 6,
    FILM_COLUMN_COUNT = 7
} film_column;

/* Being filled. */
typedef struct film_columns {
    film_buffer buffers[FILM_COLUMN_COUNT];
    uint32_t rows;
} film_columns;

/* row->delta is in file ticks here. */
void
film_columns_append(film_columns *columns, const film_row *row);

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
    film_input inputs[FILM_COLUMN_COUNT];
} film_column_reader;

FILM_NODISCARD film_status
film_column_reader_init(film_column_reader *reader, const uint8_t *raw, size_t length);

/* FILM_END behind the last row; FILM_CORRUPT when a column ends too early. */
FILM_NODISCARD film_status
film_column_reader_next(film_column_reader *reader, film_row *row);

#endif
