/* run_diff.h: the ops of one thread of two recordings side by side, or, where there are no
 * ops, the way that control took through functions and lines.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RUN_DIFF_H
#define FILMSTRIP_RUN_DIFF_H

#include <filmstrip/reader.h>

#include "analysis/diff.h"
#include "analysis/open_ops.h"
#include "analysis/progress.h"
#include "base/buffer.h"

typedef struct film_run_side {
    film_reader *reader;     /* borrowed */
    film_progress *progress; /* borrowed; NULL: nobody watches */
    film_cursor *cursor;     /* owned */
    film_buffer scratch;
    film_open_ops open; /* note: what it gives is not compared */
    uint64_t seen;      /* events, since progress was shown */
    bool lines;         /* line events count */
} film_run_side;

typedef struct film_run_diff {
    film_run_side sides[2];
    film_diff diff;
    uint64_t skipped; /* events that are known to be equal without a look */
    bool of_ops;
} film_run_diff;

/* Opens both at the beginning of a thread. `of_ops`: ops are compared, else control.
 * The caller resets it, also when it fails. */
FILM_NODISCARD film_status
film_run_diff_open(film_run_diff *run, film_reader *const readers[2],
                   const uint32_t threads[2], bool of_ops, film_progress *progress,
                   film_error *error);

void
film_run_diff_reset(film_run_diff *run);

#endif
