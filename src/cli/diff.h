/* diff.h: what `filmstrip diff` prints of one difference.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_CLI_DIFF_H
#define FILMSTRIP_CLI_DIFF_H

#include "analysis/ops/op_compare.h"
#include "analysis/run_diff.h"
#include "cli/reading.h"

typedef struct film_diff_view {
    film_reading *reading; /* borrowed */
    film_run_diff *run;    /* borrowed */
    uint32_t threads[2];
    uint64_t context;              /* equal ones before it that are shown */
    uint64_t shown;                /* differences printed so far */
    bool has_ops;                  /* the recordings have some */
    film_op_item items[2], ops[2]; /* the two; the ops that they are of */
} film_diff_view;

/* One difference, as text or as a JSON object. */
film_status
film_diff_print_text(film_diff_view *view, const film_difference *difference);

film_status
film_diff_print_json(film_diff_view *view, const film_difference *difference);

/* An event of one side; *cursor is the caller's to close, also when it fails. */
film_status
film_diff_event(film_diff_view *view, size_t side, uint64_t number,
                film_cursor **cursor, const film_event **event);

/* Reads the two ops of a difference into the view. */
film_status
film_diff_read_ops(film_diff_view *view, const film_difference *difference);

/* In what the two differ: what film_op_compare says, or the functions, the end of one. */
film_op_comparison
film_diff_compare(const film_diff_view *view, const film_difference *difference);

void
film_diff_view_reset(film_diff_view *view);

#endif
