/* op_json.h: the keys of ops as dump prints them: what was called and with what, and what
 * it gave.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_OP_JSON_H
#define FILMSTRIP_OP_JSON_H

#include "analysis/open_ops.h"
#include "export/event_json.h"

/* The keys of an `op` event behind frame and line, each with a comma before it. */
void
film_op_json_begin(film_event_json *json, film_output *output, const film_event *event);

/* The keys of an `op_end` but for its exception. */
void
film_op_json_end(film_event_json *json, film_output *output, const film_event *event);

#endif
