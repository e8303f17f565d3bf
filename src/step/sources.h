/* sources.h: source texts of the recording, cut into lines, the last few kept.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_SOURCES_H
#define FILMSTRIP_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <filmstrip/reader.h>

#define FILM_SOURCES_KEPT 8u

typedef struct film_source_lines {
    char *file;    /* owned */
    char *text;    /* owned; NULL: the recording has none of it */
    size_t *begin; /* owned; of each line, and of the end */
    size_t count;  /* lines */
    bool cut;
    uint64_t used;
} film_source_lines;

typedef struct film_sources {
    film_source_lines items[FILM_SOURCES_KEPT];
    uint64_t clock;
} film_sources;

/* The lines of a file as the recording names it; NULL: memory ran out. Borrowed until
 * FILM_SOURCES_KEPT others were asked for. */
const film_source_lines *
film_sources_get(film_sources *sources, film_reader *reader, const char *file);

/* Line `number`, from 1, without its end; empty: there is none. */
film_text
film_source_line(const film_source_lines *of, uint64_t number);

void
film_sources_reset(film_sources *sources);

#endif
