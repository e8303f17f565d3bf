/* tables.h: strings, codes, threads and meta of a recording, kept in memory.
 * What is already known is not read again: the same record met in a window and later
 * in a chunk, or copied forward in a ring, counts once.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_TABLES_H
#define FILMSTRIP_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include <filmstrip/reader.h>
#include <filmstrip/status.h>

#include "base/buffer.h"
#include "reader/pool.h"

/* Ids from here on are no strings of the file: they name why events are missing, as
 * FILM_STRING_LOST + film_lost_reason. */
#define FILM_STRING_LOST 0xffffff00u

/* Reasons only a reader gives, above those of window.h. */
#define FILM_LOST_MISSING 0x80u     /* neither in a chunk nor in a window */
#define FILM_LOST_OVERWRITTEN 0x81u /* by ring mode, while it was read */

typedef struct film_lines {
    uint32_t *lines; /* owned; NULL until asked for */
    size_t count;
} film_lines;

typedef struct film_thread_record {
    uint32_t thread, name;
    uint64_t native_id;
} film_thread_record;

typedef struct film_meta_record {
    film_text key, value;
    uint64_t number; /* of its chunk: the greatest counts */
} film_meta_record;

typedef struct film_tables {
    film_pool pool;
    film_text *strings; /* owned; by id; data NULL: not known */
    size_t string_count, string_capacity;
    film_code **codes; /* owned array, entries in the pool; NULL: not known */
    film_lines *lines; /* owned; as many as codes have room */
    size_t code_count, code_capacity;
    film_thread_record *threads; /* owned; in order of appearance */
    size_t thread_count, thread_capacity;
    film_meta_record *metas; /* owned */
    size_t meta_count, meta_capacity;
    /* how far the chunks go, for the windows behind them */
    uint64_t records, strings_before, codes_before;
} film_tables;

/* Takes the records of a TABLE chunk; `first` is its first record's number. Records
 * that make no sense are left out. FILM_CORRUPT: it ends within a record, all before
 * that are taken. FILM_NO_MEMORY, FILM_LIMIT. */
FILM_NODISCARD film_status
film_tables_add_chunk(film_tables *tables, uint64_t first, const uint8_t *raw,
                      size_t length);

/* The same for a window. Only records the chunks do not have are taken; where some lie
 * between the two, the ids are not known and nothing is (FILM_CORRUPT). */
FILM_NODISCARD film_status
film_tables_add_window(film_tables *tables, uint64_t first, const uint8_t *rows,
                       size_t length);

FILM_NODISCARD film_status
film_tables_add_meta(film_tables *tables, uint64_t number, const uint8_t *raw,
                     size_t length);

film_text
film_tables_string(const film_tables *tables, uint32_t id);

/* The id of a string, by looking through all of them; 0: there is none. */
uint32_t
film_tables_find(const film_tables *tables, film_text text);

/* Decodes one record as the loader of tables would, keeping nothing (for check). */
FILM_NODISCARD film_status
film_tables_check(const uint8_t *raw, size_t length, uint32_t count);

void
film_tables_reset(film_tables *tables);

#endif
