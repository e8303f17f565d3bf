/* serials.c: which object each record of values is of. Read off its column, a chunk is
 * done several times as quickly as by putting its records together.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/alloc.h"
#include "format/value_columns.h"
#include "format/value_record.h"
#include "reader/reader_state.h"
#include "reader/render.h"

/* Of all chunks' serials; more than that are read again. */
#define SERIALS_BYTES ((size_t)32 << 20)

void
film_reader_forget_serials(film_reader *reader)
{
    for (size_t i = 0; reader->serials != NULL && i < reader->serials_count; i++) {
        film_free(reader->serials[i]);
    }
    film_free(reader->serials);
    reader->serials = NULL;
    reader->serials_count = reader->serials_bytes = 0;
}

/* Room for the list of each chunk. */
static film_status
make_room(film_reader *reader, size_t bytes)
{
    if (reader->serials_bytes + bytes > SERIALS_BYTES) {
        film_reader_forget_serials(reader);
    }
    if (reader->serials == NULL) {
        reader->serials = film_alloc_array(reader->value_count, sizeof(uint64_t *));
        if (reader->serials == NULL) {
            return FILM_NO_MEMORY;
        }
        reader->serials_count = reader->value_count;
    }
    return FILM_OK;
}

/* By the records themselves: from the first whose serial the column does not tell. */
static film_status
read_records(film_reader *reader, const film_chunk_info *chunk, uint64_t *serials,
             bool by_column)
{
    for (uint32_t i = 0; i < chunk->count; i++) {
        film_value_record record;
        film_status status;
        if (by_column && serials[i] != FILM_SERIAL_ELSEWHERE) {
            continue;
        }
        status = film_reader_record(reader, chunk->first + i, &record, NULL);
        if (status == FILM_NO_MEMORY) {
            return status;
        }
        serials[i] = status == FILM_OK && record.form != 0 ? record.serial : 0;
    }
    return FILM_OK;
}

static film_status
read_serials(film_reader *reader, const film_chunk_info *chunk, uint64_t *serials)
{
    bool by_column =
        film_loader_load(&reader->loader, chunk) == FILM_OK &&
        (reader->loader.header.flags & FILM_CHUNK_COLUMNS) != 0 &&
        film_loader_payload(&reader->loader, &reader->scratch) == FILM_OK &&
        film_value_columns_serials(reader->scratch.data, reader->scratch.length,
                                   serials, chunk->count) == FILM_OK;

    return read_records(reader, chunk, serials, by_column);
}

film_status
film_reader_serials(film_reader *reader, size_t place, const uint64_t **out,
                    film_error *error)
{
    const film_chunk_info *chunk = &reader->directory.chunks[reader->values[place]];
    size_t bytes = (size_t)chunk->count * sizeof(uint64_t);
    uint64_t *serials;

    if (reader->serials != NULL && reader->serials[place] != NULL) {
        *out = reader->serials[place];
        return FILM_OK;
    }
    if (make_room(reader, bytes) != FILM_OK ||
        (serials = film_alloc_array(chunk->count, sizeof(*serials))) == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    if (read_serials(reader, chunk, serials) != FILM_OK) {
        film_free(serials);
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    reader->serials[place] = serials;
    reader->serials_bytes += bytes;
    *out = serials;
    return FILM_OK;
}

uint64_t
film_reader_serial(film_reader *reader, uint64_t id)
{
    size_t place = film_reader_value_place(reader, id);
    const film_object_head *known = &reader->object_heads[id % FILM_OBJECT_HEADS];
    film_object_head head;
    const uint64_t *serials;

    if (known->id == id + 1) {
        return known->serial;
    }
    if (place < reader->value_count) {
        const film_chunk_info *chunk = &reader->directory.chunks[reader->values[place]];

        return film_reader_serials(reader, place, &serials, NULL) == FILM_OK
                   ? serials[id - chunk->first]
                   : 0;
    }
    return film_object_head_of(reader, id, &head) ? head.serial : 0;
}
