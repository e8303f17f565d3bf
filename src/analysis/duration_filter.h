/* duration_filter.h: leaves out calls shorter than asked for, while streaming.
 * Whether a call is long enough is known when it ends, or as soon as it has lasted
 * that long: until then its events are held back. Held are only events inside calls
 * that have not lasted long enough yet.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_DURATION_FILTER_H
#define FILMSTRIP_DURATION_FILTER_H

#include "analysis/merge.h"

typedef struct film_duration_filter film_duration_filter;

/* Receives what passes. `merged->cursor` is NULL for events that were held. */
typedef void (*film_duration_taker)(void *context, const film_merged *merged);

/* The caller owns *out; it borrows the set. */
FILM_NODISCARD film_status
film_duration_filter_new(const film_recordings *set, uint64_t at_least_ns,
                         film_duration_filter **out, film_error *error);

void
film_duration_filter_free(film_duration_filter *filter);

/* Takes one event and gives what is certain now. */
FILM_NODISCARD film_status
film_duration_filter_add(film_duration_filter *filter, const film_merged *merged,
                         film_duration_taker take, void *context, film_error *error);

/* The recordings end here: gives calls that are long enough and still open. */
void
film_duration_filter_finish(film_duration_filter *filter, uint64_t end_ns,
                            film_duration_taker take, void *context);

#endif
