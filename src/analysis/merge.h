/* merge.h: the events of all threads of all recordings, in order of time.
 * A thread's cursor is opened when its time comes and closed at its end, so memory
 * grows with the threads that live at once.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_MERGE_H
#define FILMSTRIP_MERGE_H

#include "analysis/recordings.h"

typedef struct film_merge film_merge;

/* What to walk. Zeroed it means nothing; film_merge_everything means all. Times are
 * of the common line (recordings.h). */
typedef struct film_merge_range {
    uint64_t from_ns, to_ns;         /* times outside are not given */
    uint64_t first_event, end_event; /* numbers outside are not given */
    uint32_t thread;                 /* 0: all */
    bool follow; /* cursors stay open at their end, for film_merge_refresh */
} film_merge_range;

typedef struct film_merged {
    const film_event *event; /* borrowed until the next call */
    const film_cursor *cursor;
    size_t recording;
    uint64_t time_ns; /* of the common line */
} film_merged;

film_merge_range
film_merge_everything(void);

/* Whether the event lies in the range. */
bool
film_merge_range_takes(const film_merge_range *range, const film_merged *merged);

/* A range to walk for one who wants the events of `range` and has to know what was
 * there before them, in all threads: it begins earlier, but not so that more than about
 * `most` events come first. *whole: it begins where the recordings do. */
FILM_NODISCARD film_status
film_merge_run_up(const film_recordings *set, const film_merge_range *range,
                  uint64_t most, film_merge_range *out, bool *whole, film_error *error);

/* The caller owns *out; it borrows the set. */
FILM_NODISCARD film_status
film_merge_open(const film_recordings *set, const film_merge_range *range,
                film_merge **out, film_error *error);

void
film_merge_close(film_merge *merge);

/* Events of one time come in order of recording, then thread. FILM_END after the last;
 * when following, a later call may succeed after film_merge_refresh. */
FILM_NODISCARD film_status
film_merge_next(film_merge *merge, film_merged *merged, film_error *error);

/* Looks again at recordings that are being written, and at threads they gained. */
FILM_NODISCARD film_status
film_merge_refresh(film_merge *merge, film_error *error);

#endif
