/* records.c: see records.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/records.h"

#include <string.h>

film_status
film_record_decode(const uint8_t **from, const uint8_t *end, film_record *record)
{
    film_input input = film_input_of(*from, (size_t)(end - *from));

    record->kind = film_input_byte(&input);
    record->body = film_input_bytes(&input, &record->length);
    if (input.failed) {
        return FILM_TRUNCATED;
    }
    if (record->kind == 0) {
        return FILM_CORRUPT;
    }
    *from = input.at;
    return FILM_OK;
}

film_status
film_meta_next(film_input *input, const char **key, size_t *key_length,
               const char **value, size_t *value_length)
{
    if (film_input_left(input) == 0) {
        return FILM_END;
    }
    *key = (const char *)film_input_bytes(input, key_length);
    *value = (const char *)film_input_bytes(input, value_length);
    return input->failed ? FILM_CORRUPT : FILM_OK;
}

void
film_meta_put(film_buffer *out, const char *key, const char *value)
{
    film_buffer_put_bytes(out, key, strlen(key));
    film_buffer_put_bytes(out, value, strlen(value));
}
