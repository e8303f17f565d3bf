/* nan.h: what `filmstrip nan` has found in one recording, for the functions that print it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_NAN_H
#define FILMSTRIP_NAN_H

#include "analysis/ops/nonfinite.h"
#include "analysis/ops/op_graph.h"
#include "analysis/ops/op_item.h"
#include "cli/reading.h"

/* Where the numbers that are not finite come from. */
typedef enum film_nan_verdict {
    FILM_NAN_MADE,    /* all it took was finite */
    FILM_NAN_ASKED,   /* the same, and a number that it was given is not finite */
    FILM_NAN_BROUGHT, /* it took no tensor */
    FILM_NAN_CARRIED, /* it took some */
    FILM_NAN_UNKNOWN  /* of what it took there is no summary */
} film_nan_verdict;

typedef struct film_nan_story {
    film_reading *reading; /* borrowed */
    const film_recording *recording;
    film_reader *reader;
    film_nonfinite found;
    film_op_item op, end;
    film_op_graph graph;
    size_t reached; /* ops that took them afterwards */
    film_nan_verdict verdict;
    uint32_t carried;   /* FILM_NAN_CARRIED: link of the middle */
    uint64_t depth;     /* of the trees */
    uint64_t width;     /* most of what is shown below one op */
    uint8_t *shown;     /* owned; nodes whose makers were told already */
    film_status status; /* of reading while printing */
} film_nan_story;

/* The verdict's name in JSON: made, asked, brought, carried, unknown. */
const char *
film_nan_verdict_name(film_nan_verdict verdict);

/* Whether the op that made what is in `link` had given it finite, so that it was changed
 * by something that is not in the recording. */
bool
film_nan_changed_unseen(const film_nan_story *story, const film_op_link *link);

/* Whether a function is backward(), PyTorch's own. */
bool
film_nan_is_backward(const film_nan_story *story, uint32_t code);

/* The last op that was called for backward() before the one that was found; NULL: none in
 * the stretch. */
const film_op_node *
film_nan_backward(const film_nan_story *story);

/* The event of that number; *cursor is the caller's to close, also when it fails. */
film_status
film_nan_event(film_nan_story *story, uint32_t thread, uint64_t number,
               film_cursor **cursor, const film_event **event);

void
film_nan_print_text(film_nan_story *story);

void
film_nan_print_json(film_nan_story *story);

#endif
