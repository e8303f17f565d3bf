/* value_rows.h: values on their way into rows, before the event they belong to.
 * Threads: the context's own, with the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_TORCH_VALUE_ROWS_H
#define FILMSTRIP_RECORDER_TORCH_VALUE_ROWS_H

#include "recorder/compat.h"

#include "recorder/capture.h"

typedef struct film_value_rows {
    film_context *context;
    uint8_t *to; /* within the row that is being made; NULL: none is */
    uint32_t count;
    bool failed; /* a row could not be written */
} film_value_rows;

/* `name` (may be NULL): what the value is bound to, for the deny list. */
void
film_value_rows_put(film_value_rows *rows, PyObject *value, PyObject *name);

/* All that was put is in rows; false: not all. */
bool
film_value_rows_end(film_value_rows *rows);

#endif
