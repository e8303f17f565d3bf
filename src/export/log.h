/* log.h: the run as a log: text for people, JSON lines, XML.
 * Text has a line an event, indented by depth:
 *
 *     TIME      LINE  WHAT
 *     0.000134    12  run shop.cart.total  shop/cart.py:8
 *     0.000141     9    run shop.cart.price  shop/cart.py:20
 *     0.000150    22    end shop.cart.price  9.1us
 *
 * At level values a call has its arguments, an end its value, and writes are
 *
 *     0.000144    21      upd total 3 -> 8
 *     0.000144    22      apd items (list)(len)2 -> 3  [1, 2, 3]
 *     0.000144    23      del x 5
 *
 * and where ops are shown
 *
 *     0.000145    24      op torch.add(t3, t4, alpha=2) -> t17: f32[64, 128] cpu  12.0us
 *
 * with the value before and now, where both are known.
 *
 * LINE is the caller's line for run and resume, the function's own line otherwise.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_LOG_H
#define FILMSTRIP_LOG_H

#include "analysis/merge.h"
#include "analysis/selection.h"
#include "export/output.h"

typedef struct film_log_text film_log_text;

/* The caller owns *out; it borrows the set. */
FILM_NODISCARD film_status
film_log_text_new(const film_recordings *set, bool colour, film_log_text **out,
                  film_error *error);

void
film_log_text_free(film_log_text *log);

/* Lets it show the values before and the names of objects, as far as `selection` has
 * followed them; borrowed. */
void
film_log_text_use(film_log_text *log, film_selection *selection);

/* From now on ops are shown, and what tensors are is told where they are first named and
 * after a change. */
FILM_NODISCARD film_status
film_log_text_show_ops(film_log_text *log, film_error *error);

/* Writes what waits for the event behind it: at the end, or before a pause. */
void
film_log_text_flush(film_log_text *log, film_output *output);

void
film_log_text_write(film_log_text *log, film_output *output, const film_merged *merged);

typedef struct film_log_json film_log_json;

/* The objects of `dump` in order of time; with several recordings each begins with
 * the process id. */
FILM_NODISCARD film_status
film_log_json_new(const film_recordings *set, film_log_json **out, film_error *error);

void
film_log_json_free(film_log_json *log);

void
film_log_json_write(film_log_json *log, film_output *output, const film_merged *merged);

/* The whole log as one XML document, thread after thread, a call inside its caller. */
FILM_NODISCARD film_status
film_log_xml_write(const film_recordings *set, const film_merge_range *range,
                   film_selection *selection, film_output *output, film_error *error);

#endif
