/* lines.c: decoding location tables.
 * An entry (CPython, Objects/locations.md):
 *   1 kkkk lll          k: form, l: code units - 1
 *   form  0 to  9       one more byte; same line       (columns)
 *        10 to 12       two more bytes; line + form - 10
 *        13             signed varint: line            no columns
 *        14             signed varint: line; three varints
 *        15             no line
 * Varints have six bits a byte, lowest first, 0x40 = more follow; the sign is bit 0.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reader/lines.h"

#include <stdbool.h>

#include "base/alloc.h"
#include "base/buffer.h"

static uint64_t
take_varint(film_input *input)
{
    uint64_t number = 0;

    for (unsigned shift = 0; shift < 36; shift += 6) {
        uint8_t byte = film_input_byte(input);
        number |= (uint64_t)(byte & 0x3f) << shift;
        if ((byte & 0x40) == 0) {
            return number;
        }
    }
    input->failed = true;
    return 0;
}

static int64_t
take_signed(film_input *input)
{
    uint64_t number = take_varint(input);

    return (number & 1) != 0 ? -(int64_t)(number >> 1) : (int64_t)(number >> 1);
}

/* One entry: its units and its line (0: none). False at the end. */
static bool
next_entry(film_input *input, int64_t *line, size_t *units, uint32_t *shown)
{
    uint8_t head;
    unsigned form;

    if (film_input_left(input) == 0) {
        return false;
    }
    head = film_input_byte(input);
    form = (head >> 3) & 15u;
    *units = (size_t)(head & 7u) + 1;
    if ((head & 0x80) == 0) {
        return false;
    }
    if (form < 10) {
        film_input_byte(input);
    }
    else if (form < 13) {
        *line += (int64_t)form - 10;
        film_input_take(input, 2);
    }
    else if (form < 15) {
        *line += take_signed(input);
        if (form == 14) {
            take_varint(input);
            take_varint(input);
            take_varint(input);
        }
    }
    *shown = form == 15 || *line <= 0 || *line > UINT32_MAX ? 0 : (uint32_t)*line;
    return !input->failed;
}

film_status
film_lines_decode(const uint8_t *table, size_t length, uint32_t first_line,
                  uint32_t **lines, size_t *count)
{
    film_input input = film_input_of(table, length);
    int64_t line = first_line;
    size_t units, total = 0, at = 0;
    uint32_t shown;

    *lines = NULL;
    *count = 0;
    while (next_entry(&input, &line, &units, &shown)) {
        total += units; /* at most 8 for each byte of the table */
    }
    *lines = film_alloc_array(total, sizeof(**lines));
    if (*lines == NULL) {
        return FILM_NO_MEMORY;
    }
    input = film_input_of(table, length);
    line = first_line;
    while (at < total && next_entry(&input, &line, &units, &shown)) {
        for (size_t i = 0; i < units; i++) {
            (*lines)[at++] = shown;
        }
    }
    *count = total;
    return FILM_OK;
}
