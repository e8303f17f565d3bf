/* activity.h: one thread's events as entries and exits that always balance.
 * A frame may have been open before the recording, may vanish unseen, may be open at
 * the end, and a damaged chunk may hide any of this. Whoever adds up times or draws
 * slices needs none of these cases: every entry given here has exactly one exit, the
 * innermost first. Generators enter at a call or resume and leave at a yield.
 * Threads: belongs to its reader's thread.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_ACTIVITY_H
#define FILMSTRIP_ACTIVITY_H

#include <filmstrip/reader.h>

#include "analysis/recordings.h"

/* Set in a step's function when it is a C function or an op: the rest is its string id. */
#define FILM_C_FUNCTION 0x80000000u

typedef enum film_step_kind {
    FILM_STEP_ENTER,
    FILM_STEP_LEAVE,
    FILM_STEP_EVENT /* neither: a raise, a line, a loss */
} film_step_kind;

typedef struct film_step {
    uint64_t time_ns;        /* of the recording, not shifted */
    const film_event *event; /* borrowed until the next step; NULL when the step was
                                supplied to keep the balance */
    film_step_kind kind;
    uint32_t function; /* code id, or FILM_C_FUNCTION | string id */
    uint8_t cause;     /* film_kind that entered or left; FILM_KIND_ADOPT: seen without
                          its call; FILM_KIND_DROP: ended unseen; FILM_KIND_NONE: still
                          open at the end */
} film_step;

/* Whether what it leaves ended by an exception: its type is the event's text. */
static inline bool
film_step_raised(const film_step *step)
{
    return step->event != NULL && (step->cause == FILM_KIND_UNWIND ||
                                   (step->cause == FILM_KIND_OP_END &&
                                    (step->event->form & FILM_OPERATION_RAISED) != 0));
}

typedef struct film_activity film_activity;

/* Walks thread `thread` of a recording of the set from its first readable event. The
 * caller owns *out; it borrows the set. */
FILM_NODISCARD film_status
film_activity_open(const film_recordings *set, size_t recording, uint32_t thread,
                   film_activity **out, film_error *error);

void
film_activity_close(film_activity *activity);

/* FILM_END once every entry has had its exit. */
FILM_NODISCARD film_status
film_activity_next(film_activity *activity, film_step *step, film_error *error);

#endif
