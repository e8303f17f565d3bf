/* output.h: bytes on their way to a file descriptor: 64 KiB at a time, numbers and
 * escaped texts formatted by hand, because a dump writes millions of lines a second.
 * Writing never fails at once: the first failure is kept (`status`) and the rest is
 * ignored, so writers check after each line or at the end. FILM_END means that the
 * reader of a pipe went away: no error, only nothing more to do.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_OUTPUT_H
#define FILMSTRIP_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <filmstrip/reader.h>
#include <filmstrip/status.h>

#include "base/buffer.h"
#include "base/decimal.h"

#define FILM_OUTPUT_BYTES (64u << 10)

typedef struct film_output {
    char *data; /* owned */
    size_t used;
    uint64_t written;    /* bytes handed to the system */
    film_buffer *memory; /* borrowed; takes the bytes instead of `fd` where set */
    int fd;              /* borrowed */
    int error_number;    /* errno of the failure */
    film_status status;
} film_output;

/* Output to `fd`, which stays the caller's. */
FILM_NODISCARD film_status
film_output_init(film_output *output, int fd, film_error *error);

/* Hands everything to the system; says what failed now or before. */
FILM_NODISCARD film_status
film_output_flush(film_output *output, film_error *error);

/* Releases the memory without writing; leaves zero. */
void
film_output_reset(film_output *output);

/* Empties the buffer. Out of line: the slow path of film_output_room. */
void
film_output_drain(film_output *output);

/* Any number of bytes. */
void
film_output_write(film_output *output, const void *bytes, size_t length);

void
film_output_format(film_output *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Room for `bytes` (at most FILM_OUTPUT_BYTES); write there, then move `used`. */
static inline char *
film_output_room(film_output *output, size_t bytes)
{
    if (__builtin_expect(output->used + bytes > FILM_OUTPUT_BYTES, 0)) {
        film_output_drain(output);
    }
    return output->data + output->used;
}

static inline void
film_output_byte(film_output *output, char byte)
{
    *film_output_room(output, 1) = byte;
    output->used++;
}

static inline void
film_output_text(film_output *output, const char *text)
{
    film_output_write(output, text, strlen(text));
}

/* A string literal; its length is known when compiling. */
#define FILM_OUTPUT_LITERAL(output, literal)                                           \
    do {                                                                               \
        memcpy(film_output_room((output), sizeof(literal) - 1), (literal),             \
               sizeof(literal) - 1);                                                   \
        (output)->used += sizeof(literal) - 1;                                         \
    } while (0)

static inline void
film_output_u64(film_output *output, uint64_t number)
{
    char *to = film_output_room(output, FILM_DECIMAL_MAX);

    output->used += (size_t)(film_format_u64(to, number) - to);
}

/* `value` in a field of `width`, blanks before it. */
void
film_output_padded_u64(film_output *output, uint64_t value, unsigned width);

/* With a comma every three digits. */
void
film_output_grouped_u64(film_output *output, uint64_t value);

/* "1 event", "1,234 events". */
void
film_output_count(film_output *output, uint64_t count, const char *noun);

/* "9.1us", "12.0ms", "3.25s": three figures and a unit. */
void
film_output_duration(film_output *output, uint64_t duration_ns);

/* A JSON string with its quotes. Control characters and those that reorder a line on
 * a terminal are written as \uXXXX, so the text is also safe to look at. */
void
film_output_json(film_output *output, film_text text);

/* The same without the quotes, for strings put together from parts. */
void
film_output_json_part(film_output *output, film_text text);

/* For people: what could steer a terminal or hide text is shown as an escape
 * (\x1b, \u202e), a line break as \n. */
void
film_output_display(film_output *output, film_text text);

/* An XML attribute value without its quotes. */
void
film_output_xml(film_output *output, film_text text);

static inline film_text
film_text_of(const char *text)
{
    film_text result = {text, text == NULL ? 0 : strlen(text)};

    return result;
}

#endif
