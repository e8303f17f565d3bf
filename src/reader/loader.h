/* loader.h: one chunk from the file into memory, checked.
 * The loaded chunk stays until the next one is loaded; what is unpacked from it goes
 * to buffers of the caller.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_LOADER_H
#define FILMSTRIP_LOADER_H

#include <stdbool.h>

#include <filmstrip/reader.h>
#include <filmstrip/status.h>

#include "base/buffer.h"
#include "format/chunk.h"
#include "format/codec.h"
#include "reader/source.h"

typedef struct film_loader {
    film_file *file;          /* borrowed */
    film_unpacker *unpacker;  /* owned */
    film_buffer stored;       /* the chunk as it lies in the file */
    film_chunk_header header; /* of that chunk */
    film_superblock listed;   /* as it was when the directory was read */
    const char *why;          /* ends a sentence about the last failure; never NULL */
    bool overwritten;         /* the last failure was ring mode going on, no damage */
} film_loader;

FILM_NODISCARD film_status
film_loader_init(film_loader *loader, film_file *file);

void
film_loader_reset(film_loader *loader);

/* Reads the chunk that `info` describes; checks header, summary and payload against
 * their checksums and the header against `info`. FILM_CORRUPT, FILM_TRUNCATED (`why`
 * says more), FILM_IO, FILM_NO_MEMORY. The file is looked at again first when its
 * layout changed under us. */
FILM_NODISCARD film_status
film_loader_load(film_loader *loader, const film_chunk_info *info);

/* Unpack parts of the loaded chunk into `out`. */
FILM_NODISCARD film_status
film_loader_keyframe(film_loader *loader, film_buffer *out);

FILM_NODISCARD film_status
film_loader_payload(film_loader *loader, film_buffer *out);

/* The loaded chunk's summary, borrowed until the next load. */
const uint8_t *
film_loader_summary(const film_loader *loader, size_t *length);

#endif
