/* clocks.h: the clocks of all recordings on one line.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_CLOCKS_H
#define FILMSTRIP_CLOCKS_H

#include "analysis/recordings.h"

/* Finds the hosts, and each recording's shift_ns. */
FILM_NODISCARD film_status
film_clocks_align(film_recordings *set, film_error *error);

/* No bound. */
#define FILM_UNBOUNDED INT64_MAX

/* What is added to the time of each clock, so that all bounds hold: bounds[a * count + b]
 * is the most by which the offset of a may exceed that of b. The offset of clock 0 is 0.
 * errors: how far an offset may be off; FILM_UNBOUNDED: nothing ties it to clock 0, and
 * its offset is the one nearest to 0; negative: no offset satisfies all, it is off by
 * about as much. The bounds are changed: they become those that follow from one
 * another. */
void
film_clocks_solve(int64_t *bounds, size_t count, int64_t *offsets, int64_t *errors);

#endif
