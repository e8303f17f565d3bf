/* recordings.h: the recordings a command was given, opened together.
 * Child processes and ranks have recordings of their own; on one time line each begins
 * when its process began, so every recording carries how far its zero lies behind the
 * earliest. Processes of one host share CLOCK_MONOTONIC; clocks of different hosts are
 * aligned in clocks.c.
 * Threads: one at a time, as the readers inside.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDINGS_H
#define FILMSTRIP_RECORDINGS_H

#include <filmstrip/reader.h>

#include "analysis/progress.h"

#define FILM_LABEL_BYTES 48
#define FILM_HASH_TEXT_BYTES 32

typedef struct film_recording {
    film_reader *reader; /* owned */
    const char *path;    /* borrowed from the caller of open */
    uint64_t shift_ns;   /* added to its times gives times of the common line */
    int64_t rank;        /* -1: its process is no rank of a distributed program */
    uint32_t world_size; /* 0: not known */
    uint32_t host;       /* of film_recordings.hosts */
    bool is_helper;      /* of a rank, but not its first process: a worker of it */
    char label[FILM_LABEL_BYTES]; /* r3; r3/4711 of a helper; 4711 without a rank */
} film_recording;

/* How a host's clock is laid on the common line. */
typedef enum film_clock_way {
    FILM_CLOCK_REFERENCE,   /* it is the common line */
    FILM_CLOCK_WALL,        /* by its wall clock: how well is not known */
    FILM_CLOCK_COLLECTIVES, /* by when its ranks met with those of others */
    FILM_CLOCK_CONTRADICTS  /* likewise, but no one offset fits all: the clocks drift */
} film_clock_way;

typedef struct film_host {
    char hash[FILM_HASH_TEXT_BYTES]; /* empty: a recording that cannot tell */
    size_t first;                    /* its earliest recording */
    film_clock_way way;
    uint64_t error_ns; /* of the last two ways: at most so far off */
    size_t bounds;     /* likewise: collectives that it shared with other hosts */
} film_host;

typedef struct film_recordings {
    film_recording *items; /* owned */
    size_t count;
    film_host *hosts; /* owned */
    size_t host_count;
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
