/* search.h: the next event, either way, that a predicate likes; in one thread or in all
 * of them by time. Chunks that cannot hold one, by their summaries, are not decoded.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_SEARCH_H
#define FILMSTRIP_SEARCH_H

#include "analysis/timeline_state.h"

/* Whether this event is one. It may use the timeline: the scene is not let go of as long
 * as few others are asked for. */
typedef bool (*film_match)(void *context, film_timeline *timeline,
                           const film_scene *scene, uint32_t index);

typedef struct film_search {
    film_moment from; /* not looked at itself */
    bool back;
    bool across;            /* all threads, in order of time, thread, event */
    const film_filter *filter; /* NULL: every chunk is looked at */
    film_match match;
    void *context;
    const film_budget *budget; /* NULL: none */
} film_search;

/* *out: ARRIVED; AT_START or AT_END with the first or last moment; UNFINISHED with the
 * moment to search on from. */
FILM_NODISCARD film_status
film_search_run(film_timeline *timeline, const film_search *search, film_stop *out,
                film_error *error);

/* How far into the recording a moment is, 0 to 1. */
double
film_timeline_progress(film_timeline *timeline, film_moment moment);

#endif
