/* log_ops.h: ops in the log for people.
 *
 *     0.000144    21      op torch.add(t3, t4: f32[64, 128] cpu, alpha=2) -> t17: ...  12.0us
 *
 * An op is one line when nothing is shown between it and its end, so it waits for what
 * comes next; else it has an opening line and a closing one, and what lies between is
 * indented deeper. What a tensor is, is told where it is first named and after a change.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_LOG_OPS_H
#define FILMSTRIP_LOG_OPS_H

#include "analysis/merge.h"
#include "export/log.h"

typedef struct film_log_ops film_log_ops;

/* The caller owns *out; it borrows the set, whose texts of tensors it makes brief until it
 * is freed. */
FILM_NODISCARD film_status
film_log_ops_new(const film_recordings *set, film_log_ops **out, film_error *error);

void
film_log_ops_free(film_log_ops *ops);

/* How much deeper an event is indented than its depth says. */
uint32_t
film_log_ops_indent(const film_log_ops *ops, const film_merged *merged);

/* Writes the op that waits, if there is one: something else comes next. */
void
film_log_ops_flush(film_log_text *log, film_output *output);

/* An event that is no op comes next. */
void
film_log_ops_pass(film_log_text *log, film_output *output, const film_merged *merged);

void
film_log_ops_begin(film_log_text *log, film_output *output, const film_merged *merged);

void
film_log_ops_end(film_log_text *log, film_output *output, const film_merged *merged);

#endif
