/* nonfinite.h: the first op of a recording that gave numbers that are not finite.
 *
 * An op counts when a tensor that it gave, or that it changed in place, holds a NaN or an
 * infinity. Memory that nothing was written to yet (torch.empty) may hold anything, so
 * what comes out of such ops does not count until something is written to it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_NONFINITE_H
#define FILMSTRIP_NONFINITE_H

#include <filmstrip/tensor.h>

#include "analysis/recordings.h"

typedef struct film_nonfinite_options {
    char *const *ignored; /* globs over functions whose results do not count */
    size_t ignored_count;
    uint32_t thread; /* 0: all */
    uint64_t from;   /* ops before this event of their thread do not count */
} film_nonfinite_options;

typedef struct film_nonfinite {
    uint64_t ops;       /* that have ended, looked at so far */
    uint64_t tensors;   /* among what they gave */
    uint64_t summaries; /* of these, with a summary */
    uint64_t left_out;  /* ops whose results were not finite and did not count */
    bool found;
    uint32_t thread;
    uint64_t op, end; /* event numbers */
    uint64_t time_ns; /* when the op began, in its recording */
} film_nonfinite;

/* Looks through one recording of a set. Found or not, the counts are filled. */
FILM_NODISCARD film_status
film_nonfinite_find(const film_recordings *set, size_t recording,
                    const film_nonfinite_options *options, film_nonfinite *out,
                    film_error *error);

/* Whether a function gives memory that nothing was written to: torch.empty. */
bool
film_op_gives_blank(const char *function);

/* A recording of a set, as a set; nothing of it is owned. */
film_recordings
film_recordings_one(const film_recordings *set, size_t recording);

#endif
