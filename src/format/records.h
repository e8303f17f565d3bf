/* records.h: what the shared streams hold: tables and values.
 *
 * A record is: kind byte, length (varint), body. In a window records lie one after the
 * other; a chunk's payload is the same bytes. Ids are dense, in order of appearance,
 * for each kind by itself. Bodies (varints unless said):
 *   STRING  the bytes (UTF-8)                 ids from 1; 0 is the empty string
 *   CODE    file, module, qualname, name (string ids), first line, flags, arguments,
 *           positional only, keyword only, then with length: bytecode, line table,
 *           exception table; count and string ids of names; count and string ids of
 *           locals, then a kind byte for each local            ids from 0
 *   THREAD  thread, name (string id), native id, raw clock
 *   VALUE   type (string id), flags (FILM_VALUE_...), text to the end    ids from 0
 * Unknown kinds are skipped by their length.
 * A chunk of the table stream notes in `first` how many records came before it, and
 * its payload begins with how many strings (varint) and codes (varint) did, so that a
 * reader that lost an earlier chunk still gives the right ids.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDS_H
#define FILMSTRIP_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include <filmstrip/status.h>

#include "base/buffer.h"

typedef enum film_record_kind {
    FILM_RECORD_STRING = 1,
    FILM_RECORD_CODE = 2,
    FILM_RECORD_THREAD = 3,
    FILM_RECORD_VALUE = 4
} film_record_kind;

typedef struct film_record {
    uint8_t kind;
    const uint8_t *body; /* borrowed from the input */
    size_t length;
} film_record;

/* Decodes one record; moves *from behind it. FILM_TRUNCATED leaves it unchanged. */
FILM_NODISCARD film_status
film_record_decode(const uint8_t **from, const uint8_t *end, film_record *record);

/* META payload: pairs of texts with length. FILM_END behind the last. */
FILM_NODISCARD film_status
film_meta_next(film_input *input, const char **key, size_t *key_length,
               const char **value, size_t *value_length);

void
film_meta_put(film_buffer *out, const char *key, const char *value);

/* SOURCE payload: file name with length, flags (1: cut), text to the end. */
#define FILM_SOURCE_CUT 1u

#endif
