/* directory.h: where the chunks lie.
 * Taken from the INDEX chunk of a closed recording, else found by walking from header
 * to header. A place where no header can be read stands in the list as a chunk of type
 * FILM_CHUNK_UNREADABLE, up to the next good header.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_DIRECTORY_H
#define FILMSTRIP_DIRECTORY_H

#include <stddef.h>
#include <stdint.h>

#include <filmstrip/reader.h>
#include <filmstrip/status.h>

#include "reader/damage.h"
#include "reader/loader.h"

#define FILM_CHUNK_UNREADABLE 0

typedef struct film_directory {
    film_chunk_info *chunks; /* owned; in order of offset */
    size_t count, capacity;
    uint64_t end;        /* logical offset where the walk goes on */
    uint64_t last_clock; /* monotonic time at which the last chunk was sealed */
} film_directory;

/* Fills the directory or, if it is filled, goes on where the walk ended.
 * FILM_NO_MEMORY, FILM_IO, FILM_UNSUPPORTED (a critical chunk of a newer version). */
FILM_NODISCARD film_status
film_directory_load(film_directory *directory, film_loader *loader,
                    film_damages *damages, film_error *error);

void
film_directory_reset(film_directory *directory);

#endif
