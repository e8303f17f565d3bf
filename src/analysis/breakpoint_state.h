/* breakpoint_state.h: what the files of breakpoints share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_BREAKPOINT_STATE_H
#define FILMSTRIP_BREAKPOINT_STATE_H

#include "analysis/breakpoints.h"
#include "analysis/questions.h"
#include "analysis/raises.h"
#include "analysis/search.h"

typedef struct film_point {
    film_break_kind kind;
    char *file, *function, *log, *condition_text; /* owned */
    film_expression *condition;                   /* owned */
    film_target target;
    uint64_t hit;         /* 0: all */
    uint32_t line, asked; /* where it stands, and which was asked for */
    film_tally tally;
    char hit_sign; /* = < > % l (<=) g (>=) */
    bool verified;
} film_point;

struct film_breakpoints {
    film_timeline *timeline; /* borrowed */
    film_point *points;      /* owned */
    size_t count;
    film_wanted *wanted; /* owned; what chunks must hold one of */
    size_t wanted_count, wanted_capacity;
    film_uncaught_list uncaught; /* owned */
    film_buffer text;            /* of a log point */
    uint64_t until; /* a continue looks at nothing from this event on, where bounded */
    bool bounded;
    bool trial; /* log points stop, too */
};

char *
film_copy_text(const char *text);

bool
film_is_file(film_text file, const char *wanted);

/* Whether the event is where the point stands; its condition is not looked at. */
bool
film_point_is_at(film_breakpoints *set, const film_point *point,
                 const film_scene *scene, uint32_t index);

/* hits.c: whether a condition holds there. `tally`: it is counted; NULL: it is not. */
FILM_NODISCARD film_status
film_point_holds(film_breakpoints *set, film_point *point, film_moment moment,
                 size_t index, film_tally *tally, bool *holds, film_error *error);

/* How many hits point `which` has in the moment's thread up to and with it. FILM_LIMIT:
 * the budget is spent; what was counted is kept for the next call. */
FILM_NODISCARD film_status
film_point_count(film_breakpoints *set, size_t which, film_moment moment,
                 const film_budget *budget, uint64_t *count, film_error *error);

#endif
