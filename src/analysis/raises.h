/* raises.h: where exceptions were raised, where they merely pass by, and what became of
 * them. An exception is told in every frame it passes through; its first sighting is
 * where it was raised, as far as the recording knows.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RAISES_H
#define FILMSTRIP_RAISES_H

#include "analysis/timeline_state.h"

/* Whether a raise only reports what a callee was left by, or what was raised elsewhere
 * and is thrown in here (a task that was awaited, the body of a with). False for what
 * is no raise. */
bool
film_raise_passes(film_timeline *timeline, const film_scene *scene, uint32_t index);

/* Exceptions that left the outermost frame of their thread: where each was raised. */
typedef struct film_uncaught {
    film_moment raised, unwound;
} film_uncaught;

typedef struct film_uncaught_list {
    film_uncaught *items; /* owned: film_free */
    size_t count, capacity;
} film_uncaught_list;

FILM_NODISCARD film_status
film_find_uncaught(film_timeline *timeline, film_uncaught_list *out, film_error *error);

typedef enum film_fate {
    FILM_FATE_NONE,     /* no exception is told at this moment */
    FILM_FATE_CAUGHT,   /* recorded code went on */
    FILM_FATE_LEFT,     /* it left the recorded code; what is not recorded caught it */
    FILM_FATE_UNCAUGHT, /* it ended the program or a thread */
} film_fate;

/* What became of the exception that is told at a moment, and where it was raised
 * (thread 0: not recorded). What goes on for longer than the budget is taken as
 * caught. */
FILM_NODISCARD film_status
film_exception_fate(film_timeline *timeline, film_moment moment,
                    const film_budget *budget, film_fate *fate, film_moment *raised,
                    film_error *error);

#endif
