/* value_films.h: what tests that write recordings of level values share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_TEST_VALUE_FILMS_H
#define FILMSTRIP_TEST_VALUE_FILMS_H

#include "films.h"

#include "format/token.h"
#include "writer/append.h"

static char path[64];

/* Names the film of this process; a child of it may write it. */
static inline void
name_film(void)
{
    snprintf(path, sizeof(path), "/tmp/filmstrip-test-%d.film", (int)getpid());
}

static inline film_writer *
begin(uint64_t ring_bytes)
{
    film_writer_options options = {.path = path,
                                   .replace = true,
                                   .level = 2,
                                   .ring_bytes = ring_bytes,
                                   .python_version = 0x030c0000};
    film_writer *writer;

    if (path[0] == '\0') {
        name_film();
    }
    CHECK(film_writer_open(&options, &writer, NULL) == FILM_OK);
    return writer;
}

static inline void
set_int(film_thread *thread, uint32_t slot, int64_t number)
{
    uint8_t token[FILM_TOKEN_MAX];
    size_t length = (size_t)(film_token_put_int(token, number) - token);

    CHECK(film_append_set(thread, FILM_SET_LOCAL, slot, token, length));
}

/* A list of small ints as a record; gives its id. */
static inline uint64_t
put_list(film_writer *writer, uint64_t serial, const uint8_t *items, size_t count)
{
    uint8_t body[256], *to = body;
    uint64_t id;

    to = film_varint_encode(to, serial);
    *to++ = FILM_OBJECT_SEQUENCE;
    to = film_varint_encode(to, count + 1);
    to = film_varint_encode(to, count);
    for (size_t i = 0; i < count; i++) {
        to = film_token_put_int(to, items[i]);
    }
    id = film_writer_value_record(writer, string(writer, "list"), FILM_VALUE_OBJECT,
                                  body, (size_t)(to - body));
    CHECK(id != 0);
    return id - 1;
}

#endif
