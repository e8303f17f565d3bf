/* tracks.h: one thread as it can be read: its chunks, then its windows.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_TRACKS_H
#define FILMSTRIP_TRACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <filmstrip/reader.h>
#include <filmstrip/status.h>

#include "format/row.h"
#include "reader/directory.h"
#include "reader/tables.h"
#include "reader/windows.h"

typedef struct film_track {
    film_thread_info info;
    uint32_t *chunks; /* owned by film_tracks; indexes into the directory, by event */
    size_t chunk_count;
    const film_window_copy *windows; /* borrowed from film_windows */
    size_t window_count;
    uint64_t sealed_end; /* one past the last event in chunks */
    uint64_t rows_end;   /* one past the last event in windows too */
    uint64_t tail_lost;  /* counted, not kept, behind that: one `lost` event */
    uint64_t tail_lost_reason;
    uint64_t readable; /* events a cursor gives */
    uint64_t missing;  /* in neither chunks nor windows */
    bool has_gap;      /* in the windows: perhaps copied while they changed */
} film_track;

typedef struct film_tracks {
    film_track *items; /* owned; by thread id */
    size_t count;
    uint32_t *chunks; /* owned */
} film_tracks;

FILM_NODISCARD film_status
film_tracks_build(film_tracks *tracks, const film_file *file,
                  const film_directory *directory, const film_windows *windows,
                  const film_tables *tables);

/* NULL if there is no such thread. */
const film_track *
film_tracks_find(const film_tracks *tracks, uint32_t thread);

void
film_tracks_reset(film_tracks *tracks);

/* A position in the rows of a track's windows. */
typedef struct film_tail {
    const film_track *track; /* borrowed */
    size_t window;
    const uint8_t *at, *end; /* in that window; NULL: not entered */
    uint64_t number;         /* of the next event there */
    uint64_t event;          /* events before it are known already */
    uint64_t raw;            /* clock of the last row */
    /* before the row last given: what a thread without a known past begins with */
    uint64_t next_frame, last_resumed;
    uint64_t frame_behind, resumed_behind; /* the same behind that row */
} film_tail;

/* Stands before event `event`. */
void
film_tail_begin(film_tail *tail, const film_track *track, uint64_t event);

/* The next row (its clock is tail->raw), or *missing events that no window has. A
 * window that cannot be decoded ends there. FILM_END. */
FILM_NODISCARD film_status
film_tail_next(film_tail *tail, film_row *row, uint64_t *missing);

#endif
