/* json_writer.h: writes JSON into a buffer, member by member.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_JSON_WRITER_H
#define FILMSTRIP_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* Commas are the writer's to set, brackets the caller's to close. Zeroed: empty. */
typedef struct film_json_writer {
    film_buffer out; /* owned */
    bool comma;      /* the next member needs one before it */
} film_json_writer;

void
film_json_writer_clear(film_json_writer *writer);

void
film_json_writer_reset(film_json_writer *writer);

/* A string with its quotes; `text` is UTF-8. */
void
film_json_put_text(film_buffer *out, const char *text, size_t length);

/* In all of these a key of NULL is for an item of an array. */
void
film_json_add_key(film_json_writer *writer, const char *key);

void
film_json_open(film_json_writer *writer, const char *key, char bracket);

void
film_json_close(film_json_writer *writer, char bracket);

void
film_json_add_text(film_json_writer *writer, const char *key, const char *text);

void
film_json_add_bytes(film_json_writer *writer, const char *key, const char *text,
                    size_t length);

void
film_json_add_integer(film_json_writer *writer, const char *key, int64_t number);

void
film_json_add_real(film_json_writer *writer, const char *key, double number);

void
film_json_add_bool(film_json_writer *writer, const char *key, bool is);

/* JSON that is written already. */
void
film_json_add_raw(film_json_writer *writer, const char *key, const void *json,
                  size_t length);

#endif
