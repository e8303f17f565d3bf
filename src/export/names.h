/* names.h: what is written about a function, rendered once per code object.
 * A dump names a function millions of times; this keeps the finished bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_NAMES_H
#define FILMSTRIP_NAMES_H

#include <filmstrip/reader.h>

#include "export/output.h"

/* Writes what shall be kept about `code`, which is NULL where the tables lack it. */
typedef void (*film_names_render)(film_output *output, const film_reader *reader,
                                  const film_code *code);

typedef struct film_names {
    film_reader *reader; /* borrowed */
    film_names_render render;
    film_text *items; /* owned, by code id; data is NULL until asked for */
    size_t capacity;
    film_text unknown; /* owned: for code the tables lack */
    film_output scratch;
    film_buffer bytes;
} film_names;

FILM_NODISCARD film_status
film_names_init(film_names *names, film_reader *reader, film_names_render render,
                film_error *error);

void
film_names_reset(film_names *names);

/* Renders and keeps; the empty text when memory is out. */
film_text
film_names_make(film_names *names, uint32_t code);

/* The kept bytes, owned by `names` until reset. */
static inline film_text
film_names_get(film_names *names, uint32_t code)
{
    if (__builtin_expect(code < names->capacity && names->items[code].data != NULL,
                         1)) {
        return names->items[code];
    }
    return film_names_make(names, code);
}

/* A file as people want to see it: below the program's working directory relative to
 * it, of an installed package from the package on. Borrowed from `file`. */
film_text
film_short_file(const film_reader *reader, film_text file);

#endif
