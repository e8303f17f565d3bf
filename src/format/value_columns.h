/* value_columns.h: the records of a VALUE chunk taken apart into columns, and put
 * together again: snapshots of like objects differ in a few numbers, and packed by
 * columns they take a third to a ninth of the room.
 *
 * Payload of a VALUE chunk with the flag FILM_CHUNK_COLUMNS: for each column its id (a
 * byte), its length (varint) and its bytes. An unknown id is skipped.
 *   FLAGS      a byte a record; ESCAPE: the whole record is in BYTES
 *   TYPE       varint                        FORM     a byte: objects
 *   SERIAL     zigzag of serial - the serial of the object before: objects
 *   LENGTH     varint: objects, as stored    COUNT    varint: objects
 *   NAME       varint: attributes
 *   TOKEN, NUMBER, FLOAT, TEXT               as in token_columns.h
 *   REFERENCE  VALUE, OBJECT: zigzag of the record's own id - the id
 *   CYCLE      zigzag of serial - the record's own serial, type
 *   SIZE       varint: how many bytes of BYTES: what has no items, escapes
 *   BYTES      those bytes
 * A note goes into columns of its own, which are NOTES and the number of the column that
 * they are like: NAME (template, names), FORM (base), COUNT and the columns of tokens.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_VALUE_COLUMNS_H
#define FILMSTRIP_VALUE_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include <filmstrip/status.h>

#include "base/buffer.h"

typedef enum film_value_column {
    FILM_VALUE_FLAGS = 0,
    FILM_VALUE_TYPE = 1,
    FILM_VALUE_SERIAL = 2,
    FILM_VALUE_FORM = 3,
    FILM_VALUE_LENGTH = 4,
    FILM_VALUE_COUNT = 5,
    FILM_VALUE_NAME = 6,
    FILM_VALUE_TOKEN = 7,
    FILM_VALUE_NUMBER = 8,
    FILM_VALUE_FLOAT = 9,
    FILM_VALUE_TEXT = 10,
    FILM_VALUE_REFERENCE = 11,
    FILM_VALUE_CYCLE = 12,
    FILM_VALUE_SIZE = 13,
    FILM_VALUE_BYTES = 14,
    FILM_VALUE_NOTES = 15
} film_value_column;

#define FILM_VALUE_COLUMNS (2u * FILM_VALUE_NOTES)
#define FILM_VALUE_ESCAPE 0xffu

/* Being filled; kept from chunk to chunk for its memory. */
typedef struct film_value_columns {
    film_buffer buffers[FILM_VALUE_COLUMNS];
} film_value_columns;

/* Appends the payload for the records, whose first has the id `first`, to `out`. */
void
film_value_columns_split(film_value_columns *columns, const uint8_t *records,
                         size_t length, uint64_t first, film_buffer *out);

void
film_value_columns_reset(film_value_columns *columns);

/* The serials of the first `count` records; 0: no object. FILM_CORRUPT. */
#define FILM_SERIAL_ELSEWHERE UINT64_MAX /* the column does not tell */
FILM_NODISCARD film_status
film_value_columns_serials(const uint8_t *raw, size_t length, uint64_t *serials,
                           size_t count);

/* Appends the records to `out`; at most `limit` bytes. FILM_CORRUPT, FILM_NO_MEMORY. */
FILM_NODISCARD film_status
film_value_columns_join(const uint8_t *raw, size_t length, uint64_t first, size_t limit,
                        film_buffer *out);

#endif
