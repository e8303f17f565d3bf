/* window_chunks.h: what a recording that was not closed holds in windows, as chunks.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_WINDOW_CHUNKS_H
#define FILMSTRIP_WINDOW_CHUNKS_H

#include "format/chunk.h"
#include "reader/reader_state.h"

/* One chunk: its header (but for lengths, hashes and the codec) and its parts, not
 * packed. */
typedef struct film_window_chunk {
    film_chunk_header header;
    film_buffer summary, keyframe, payload;
} film_window_chunk;

/* Takes one; what it holds is borrowed for the call. */
typedef film_status (*film_window_chunk_take)(void *context,
                                              const film_window_chunk *chunk);

/* Gives first the names, then the values, then each thread's events that no chunk of
 * the log holds. A window that makes no sense ends where it stops making sense.
 * FILM_OK, FILM_NO_MEMORY, FILM_IO or what `take` gave. */
FILM_NODISCARD film_status
film_window_chunks(film_reader *reader, film_window_chunk_take take, void *context);

#endif
