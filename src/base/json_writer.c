/* json_writer.c: see json_writer.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/json_writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void
film_json_writer_clear(film_json_writer *writer)
{
    film_buffer_clear(&writer->out);
    writer->comma = false;
}

void
film_json_writer_reset(film_json_writer *writer)
{
    film_buffer_reset(&writer->out);
    writer->comma = false;
}

void
film_json_put_text(film_buffer *out, const char *text, size_t length)
{
    static const char hex[] = "0123456789abcdef";

    film_buffer_put_byte(out, '"');
    for (size_t i = 0; i < length; i++) {
        uint8_t byte = (uint8_t)text[i];
        if (byte == '"' || byte == '\\') {
            film_buffer_put_byte(out, '\\');
            film_buffer_put_byte(out, byte);
        }
        else if (byte == '\n') {
            film_buffer_append(out, "\\n", 2);
        }
        else if (byte < 0x20 || byte == 0x7f) {
            film_buffer_append(out, "\\u00", 4);
            film_buffer_put_byte(out, (uint8_t)hex[byte >> 4]);
            film_buffer_put_byte(out, (uint8_t)hex[byte & 15]);
        }
        else {
            film_buffer_put_byte(out, byte);
        }
    }
    film_buffer_put_byte(out, '"');
}

void
film_json_add_key(film_json_writer *writer, const char *key)
{
    if (writer->comma) {
        film_buffer_append(&writer->out, ", ", 2);
    }
    if (key != NULL) {
        film_json_put_text(&writer->out, key, strlen(key));
        film_buffer_append(&writer->out, ": ", 2);
    }
    writer->comma = true;
}

void
film_json_open(film_json_writer *writer, const char *key, char bracket)
{
    film_json_add_key(writer, key);
    film_buffer_put_byte(&writer->out, (uint8_t)bracket);
    writer->comma = false;
}

void
film_json_close(film_json_writer *writer, char bracket)
{
    film_buffer_put_byte(&writer->out, (uint8_t)bracket);
    writer->comma = true;
}

void
film_json_add_bytes(film_json_writer *writer, const char *key, const char *text,
                    size_t length)
{
    film_json_add_key(writer, key);
    film_json_put_text(&writer->out, text, length);
}

void
film_json_add_text(film_json_writer *writer, const char *key, const char *text)
{
    film_json_add_bytes(writer, key, text, strlen(text));
}

void
film_json_add_integer(film_json_writer *writer, const char *key, int64_t number)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRId64, number);
    film_json_add_key(writer, key);
    film_buffer_append_text(&writer->out, text);
}

void
film_json_add_real(film_json_writer *writer, const char *key, double number)
{
    char text[40];

    snprintf(text, sizeof(text), "%.6g", number);
    film_json_add_key(writer, key);
    film_buffer_append_text(&writer->out, text);
}

void
film_json_add_bool(film_json_writer *writer, const char *key, bool is)
{
    film_json_add_key(writer, key);
    film_buffer_append_text(&writer->out, is ? "true" : "false");
}

void
film_json_add_raw(film_json_writer *writer, const char *key, const void *json,
                  size_t length)
{
    film_json_add_key(writer, key);
    film_buffer_append(&writer->out, json, length);
}
