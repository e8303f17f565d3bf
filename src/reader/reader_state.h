/* reader_state.h: what the reader's files share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_READER_STATE_H
#define FILMSTRIP_READER_STATE_H

#include <filmstrip/reader.h>

#include "format/keyframe.h"
#include "reader/damage.h"
#include "reader/directory.h"
#include "reader/loader.h"
#include "reader/source.h"
#include "reader/tables.h"
#include "reader/tracks.h"
#include "reader/windows.h"

/* Literal frames of keyframes that others refer to. */
#define FILM_LITERALS 16u
/* Frames kept in all of them together (64 MiB). */
#define FILM_LITERAL_BUDGET ((size_t)1 << 20)

typedef struct film_literals {
    film_frame *frames; /* owned */
    size_t count, capacity;
    uint32_t thread; /* 0: free */
    uint64_t number; /* of the chunk in its thread */
    uint64_t used;   /* when, by film_reader.clock */
} film_literals;

/* Unpacked VALUE chunks. */
#define FILM_VALUE_CHUNKS 4u

typedef struct film_value_chunk {
    film_buffer raw;
    uint32_t *offsets; /* owned; where each record begins */
    size_t count, capacity;
    size_t chunk; /* index in the directory + 1; 0: free */
    uint64_t used;
} film_value_chunk;

struct film_reader {
    film_file file;
    film_loader loader;
    film_directory directory;
    film_tables tables;
    film_windows windows;
    film_tracks tracks;
    film_damages damages;
    film_info info;
    size_t tables_read; /* chunks of the directory already looked at for tables */
    uint32_t *values;   /* owned; VALUE chunks in the directory, by first record */
    size_t value_count;
    uint32_t *sources; /* owned; SOURCE chunks in the directory */
    size_t source_count;
    uint64_t generation; /* counts loads: cursors notice a new one */
    uint64_t clock;      /* counts uses of the caches */
    film_literals literals[FILM_LITERALS];
    film_frame *unknown_frames; /* owned; stand-ins for frames that are lost */
    film_value_chunk value_chunks[FILM_VALUE_CHUNKS];
    film_buffer keyframe, reference; /* scratch: a keyframe, and one it refers to */
    film_buffer scratch;             /* an unpacked payload */
    film_buffer text;                /* what film_reader_value or _source gave last */
};

/* Notes that a chunk, the one with that index in the directory, is damaged. */
void
film_reader_note(film_reader *reader, const film_chunk_info *chunk, size_t number,
                 const char *why);

/* keyframes.c: sets `state` (begun for its thread) to the keyframe of the chunk just
 * loaded. Frames that lie in a damaged chunk become frames without code. */
FILM_NODISCARD film_status
film_reader_keyframe(film_reader *reader, const film_track *track,
                     const film_chunk_info *chunk, film_state *state);

void
film_reader_forget_keyframes(film_reader *reader);

/* values.c */
FILM_NODISCARD film_status
film_reader_list_values(film_reader *reader);

void
film_reader_forget_values(film_reader *reader);

#endif
