/* search.h: the next event, either way, that a predicate likes; in one thread or in all
 * of them by time. Chunks that cannot hold one, by their summaries, are not decoded.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_SEARCH_H
#define FILMSTRIP_SEARCH_H

#include "analysis/timeline_state.h"

/* Whether this event is one. It may use the timeline: the scene is not let go of as
 * long as few others are asked for. */
typedef bool (*film_match)(void *context, film_timeline *timeline,
                           const film_scene *scene, uint32_t index);

typedef struct film_search {
    film_moment from;
    bool inclusive; /* back: it is looked at itself */
    bool back;
    bool across;    /* all threads, in order of time, thread, event */
    bool slow;      /* the predicate is: the budget is looked at often */
    bool nothing;   /* can be found: straight to the end */
    uint64_t least; /* back, in the own thread: events before it do not count */
    uint64_t end;   /* forward, in the own thread: it and what is behind does not
                       count; 0: everything does */
    const film_filter *filter; /* NULL: every chunk is looked at */
    film_match match;
    void *context;
    const film_budget *budget; /* NULL: none */
} film_search;

/* *out: ARRIVED; AT_START or AT_END with the first or last moment (across: of all
 * threads); UNFINISHED with the moment to search on from. */
FILM_NODISCARD film_status
film_search_run(film_timeline *timeline, const film_search *search, film_stop *out,
                film_error *error);

/* What a search for writes to a target looks for; how many of wanted, which has room
 * for FILM_TARGET_WANTED, are set. */
#define FILM_TARGET_WANTED (4u + FILM_TARGET_KIN)

struct film_target;

size_t
film_target_wanted(const struct film_target *target, film_wanted *wanted);

/* Whether the event writes to the target. */
bool
film_target_matches(film_timeline *timeline, const struct film_target *target,
                    const film_scene *scene, uint32_t index);

/* What an item or attribute held at a moment; false: there is none. */
bool
film_target_value(film_timeline *timeline, const struct film_target *target,
                  film_moment moment, film_datum *out);

/* How far into the recording a moment is, 0 to 1. */
double
film_timeline_progress(film_timeline *timeline, film_moment moment);

#endif
