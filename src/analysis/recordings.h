/* recordings.h: the recordings a command was given, opened together.
 * Child processes have recordings of their own; on one time line each begins when its
 * process began, so every recording carries how far its zero lies behind the earliest.
 * Threads: one at a time, as the readers inside.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDINGS_H
#define FILMSTRIP_RECORDINGS_H

#include <filmstrip/reader.h>

#include "analysis/progress.h"

typedef struct film_recording {
    film_reader *reader; /* owned */
    const char *path;    /* borrowed from the caller of open */
    uint64_t shift_ns;   /* added to its times gives times of the common line */
} film_recording;

typedef struct film_recordings {
    film_recording *items; /* owned */
    size_t count;
    film_progress *progress; /* borrowed; NULL: nobody watches */
} film_recordings;

/* Opens every path; the message of a failure begins with the path. `set` is empty
 * then. Paths must outlive the set. */
FILM_NODISCARD film_status
film_recordings_open(film_recordings *set, char *const *paths, size_t count,
                     film_error *error);

void
film_recordings_close(film_recordings *set);

/* Readable events of all recordings. */
uint64_t
film_recordings_events(const film_recordings *set);

/* Threads of all recordings. */
size_t
film_recordings_threads(const film_recordings *set);

/* Whether one of them was recorded at level values. */
bool
film_recordings_have_values(const film_recordings *set);

/* When the last of them ended, on the common line. */
uint64_t
film_recordings_end_ns(const film_recordings *set);

#endif
