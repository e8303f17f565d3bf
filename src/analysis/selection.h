/* selection.h: which events a person asked for, by function, variable and depth.
 * (Thread, time and event numbers bound the walk itself: merge.h.)
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_SELECTION_H
#define FILMSTRIP_SELECTION_H

#include "analysis/open_ops.h"
#include "analysis/recordings.h"
#include "analysis/variables.h"

typedef struct film_selection {
    const film_recordings *set; /* borrowed */
    char *const *patterns;      /* borrowed: globs over module.qualname */
    size_t pattern_count;       /* 0: every function */
    char *const *variables;     /* borrowed: globs over names that are written */
    size_t variable_count;      /* 0: every event; else only writes of these */
    bool without_lines;         /* line events are left out */
    bool without_ops;           /* ops are left out */
    uint32_t depth;             /* frames deeper than this are left out; 0: none */
    struct film_selection_codes *codes; /* owned: per recording, what each code got */
    film_variables **known; /* owned: per recording; NULL: values are not followed */
    film_buffer name;       /* of the variable being looked at */
    film_open_ops ops;      /* marked: those that were taken by their name */
    uint64_t taken;         /* events that were asked for, so far */
    bool met_variable;      /* a write of one that is asked for, in any function */
} film_selection;

FILM_NODISCARD film_status
film_selection_init(film_selection *selection, const film_recordings *set,
                    film_error *error);

/* From now on film_selection_note keeps what variables hold; it is needed to choose by
 * variable. `whole`: the walk begins where the recordings do. */
FILM_NODISCARD film_status
film_selection_follow_values(film_selection *selection, bool whole, film_error *error);

/* For every event, taken or not, after it was shown. */
static inline void
film_selection_note(film_selection *selection, size_t recording,
                    const film_event *event)
{
    if (selection->known != NULL) {
        film_variables_note(selection->known[recording], event);
    }
}

/* The same for events before those that are shown. */
static inline void
film_selection_pass(film_selection *selection, size_t recording,
                    const film_event *event)
{
    if (selection->known != NULL) {
        film_variables_pass(selection->known[recording], event);
    }
}

void
film_selection_reset(film_selection *selection);

/* Whether a function of a recording is asked for; C functions match by their name. */
bool
film_selection_takes_code(film_selection *selection, size_t recording, uint32_t code);

/* Whether the function of an op is asked for by its own name; of an op's end, whether that
 * of its op was. For every op and end of one, in order, and once. */
bool
film_selection_takes_op(film_selection *selection, size_t recording,
                        const film_event *event);

/* Whether a glob is the name of a function of a recording; of one with ops, any text that
 * it has. */
bool
film_selection_knows(film_reader *reader, const char *pattern);

/* Whether an event is asked for by its kind and variable alone. */
bool
film_selection_takes_kind(film_selection *selection, size_t recording,
                          const film_event *event);

/* Whether an event is asked for. Events without a frame (a thread's start, a loss) are
 * taken unless functions were named. */
bool
film_selection_takes(film_selection *selection, size_t recording,
                     const film_event *event);

#endif
