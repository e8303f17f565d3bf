/* breakpoints.h: what continue and reverse-continue stop at. The set is compiled once
 * for a timeline; searching reads summaries and decodes only chunks that can hold a
 * hit.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_BREAKPOINTS_H
#define FILMSTRIP_BREAKPOINTS_H

#include "analysis/expression.h"
#include "analysis/timeline.h"

typedef enum film_break_kind {
    FILM_BREAK_LINE,      /* file, line: before the line runs */
    FILM_BREAK_FUNCTION,  /* function: at its call */
    FILM_BREAK_RAISED,    /* any exception, where it is raised */
    FILM_BREAK_UNCAUGHT,  /* one that leaves its thread's outermost frame: at its raise
                           */
    FILM_BREAK_VARIABLE,  /* a write or delete of `name` in `function`; a global where
                             `function` is NULL and `module` given */
    FILM_BREAK_ATTRIBUTE, /* of `name` of the object with `serial` (0: any object) */
    FILM_BREAK_OBJECT,    /* any recorded write to or change of the object `serial` */
    FILM_BREAK_OP         /* function: at an op of PyTorch's, before it runs */
} film_break_kind;

/* All texts borrowed until the set is made. */
typedef struct film_breakpoint {
    film_break_kind kind;
    const char *file; /* LINE: as the recording names it, or its last parts (a/b.py) */
    const char *function; /* module.qualname, qualname or name; VARIABLE: also this;
                             OP: as it is told, torch.mm, or its last parts, mm */
    const char *module;   /* VARIABLE of a module */
    const char *name;
    uint64_t serial;
    uint64_t frame; /* VARIABLE: only this frame; 0: every one */
    uint32_t line;
    const char *condition; /* an expression; NULL: always */
    const char *hit;       /* "5", "==5", ">5", ">=5", "<5", "<=5", "%5"; NULL: all */
    const char *log;       /* a text with {expressions}: does not stop, is told */
} film_breakpoint;

typedef struct film_breakpoints film_breakpoints;

/* The caller owns *out, which borrows the timeline. FILM_MISUSE: `bad` is the one that
 * makes no sense, error says why. */
FILM_NODISCARD film_status
film_breakpoints_make(film_timeline *timeline, const film_breakpoint *list,
                      size_t count, film_breakpoints **out, size_t *bad,
                      film_error *error);

void
film_breakpoints_free(film_breakpoints *breakpoints);

/* Whether a breakpoint can ever be hit: a line that some code has, a function that was
 * recorded. *line: the line it stands on (the next one that has code), 0: none. */
bool
film_breakpoints_verified(const film_breakpoints *breakpoints, size_t index,
                          uint32_t *line);

/* How often a place was come to, and what its condition was there. */
typedef struct film_tally {
    uint64_t ran, held, unknown; /* held: it was true; unknown: it could not be told */
    char why[160];               /* the last time that it could not; empty: never */
} film_tally;

/* Counts one; NULL: there is no condition. */
void
film_tally_add(film_tally *tally, const film_evaluated *value);

/* What continues with this set have come to so far; `index` below its count. Hits at
 * log points are counted twice where a continue goes across threads. */
film_tally *
film_breakpoints_tally(film_breakpoints *breakpoints, size_t index);

/* Looks from the recording's start for the first hit, log points included, within the
 * budget: film_breakpoints_tally then says what was met. AT_END: all was looked at. */
FILM_NODISCARD film_status
film_breakpoints_try(film_breakpoints *set, const film_budget *budget, film_stop *out,
                     film_error *error);

/* Takes what a log point says. The text is borrowed. */
typedef void (*film_log_point)(void *context, size_t breakpoint, film_moment moment,
                               const char *text, size_t length);

/* A continue in one thread looks at no event from this one on, either way: AT_END or
 * AT_START is then said of the event before it. For steps that breakpoints on the way
 * stop. */
void
film_breakpoints_until(film_breakpoints *breakpoints, uint64_t event);

/* To the next hit behind `from` (back: before it), in its thread or across all threads
 * by time. Without any hit this goes to the end (start) of the thread, or of
 * the recording. Log points are told in order, none behind the stop. A hit count counts
 * hits from the start of the thread; it is counted from summaries where it can be. */
FILM_NODISCARD film_status
film_breakpoints_continue(film_breakpoints *breakpoints, film_moment from, bool back,
                          bool across, const film_budget *budget, film_log_point log,
                          void *context, film_stop *out, film_error *error);

#endif
