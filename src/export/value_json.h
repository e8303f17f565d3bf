/* value_json.h: a value as dump writes it:
 *
 *   {"text": ..., "type": ..., "object": serial, "length": n, "items": ...,
 *    "cut": true, "redacted": true}
 *
 * `items` of a sequence is a list of values, of a mapping a list of [key, value], of an
 * instance an object {name: value}. An array has "shape" and "dtype", a tensor more
 * (tensor_json.h). An instance that
 * is only referred to has its content as first seen the first time it is written:
 * "first".
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_VALUE_JSON_H
#define FILMSTRIP_VALUE_JSON_H

#include <filmstrip/reader.h>

#include "base/buffer.h"
#include "export/output.h"

typedef struct film_value_json {
    film_reader *reader; /* borrowed */
    film_buffer text;    /* of the value being written */
    film_buffer items;   /* records whose items are being written, innermost last */
    size_t text_left;    /* bytes of text that may still be written for this value */
    uint64_t left;       /* values that may still be written for it */
    uint64_t bound;      /* ids from here on are not referred to */
    /* Instances that were told before: their first content is given once. A bit for
     * each value id. */
    uint8_t *told; /* owned */
    size_t told_bytes;
} film_value_json;

void
film_value_json_init(film_value_json *json, film_reader *reader);

void
film_value_json_reset(film_value_json *json);

/* Writes the event's value at `index`. */
void
film_value_json_write(film_value_json *json, film_output *output,
                      const film_event *event, uint32_t index);

#endif
