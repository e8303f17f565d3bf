/* capture_keep.h: where capture hands strings and value records to the writer: the one
 * place a test can listen to.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_CAPTURE_KEEP_H
#define FILMSTRIP_RECORDER_CAPTURE_KEEP_H

#include <stddef.h>
#include <stdint.h>

#include "recorder/session.h"

/* Tests: hears of every string and every value record. NULL: nobody listens. */
typedef struct film_keep_listener {
    void (*string)(uint32_t id, const char *text, size_t length);
    void (*value)(uint64_t id, uint32_t type, uint32_t flags, const uint8_t *body,
                  size_t length);
} film_keep_listener;

extern const film_keep_listener *film_the_keep_listener;

static inline uint32_t
film_keep_string(const char *text, size_t length)
{
    uint32_t id = film_writer_string(film_the_session.writer, text, length);

    if (FILM_UNLIKELY(film_the_keep_listener != NULL)) {
        film_the_keep_listener->string(id, text, length);
    }
    return id;
}

/* Value id + 1, or 0: film_writer_value_record. */
static inline uint64_t
film_keep_value(uint32_t type, uint32_t flags, const uint8_t *body, size_t length)
{
    uint64_t id =
        film_writer_value_record(film_the_session.writer, type, flags, body, length);

    if (FILM_UNLIKELY(film_the_keep_listener != NULL) && id != 0) {
        film_the_keep_listener->value(id - 1, type, flags, body, length);
    }
    return id;
}

#endif
