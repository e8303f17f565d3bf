/* value_rows.h: values on their way into rows, before the event they belong to.
 * Threads: the context's own, with the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_TORCH_VALUE_ROWS_H
#define FILMSTRIP_RECORDER_TORCH_VALUE_ROWS_H

#include "recorder/compat.h"

#include "recorder/capture.h"

/* Tensors as they were when they were told, to find out later which of them have changed. */
#define FILM_NOTED_TENSORS 8u

typedef struct film_tensor_notes {
    struct {
        PyObject *tensor; /* borrowed */
        int64_t version;
    } noted[FILM_NOTED_TENSORS];
    uint32_t
        count; /* of all that were told; beyond FILM_NOTED_TENSORS they are not noted */
    bool on_device; /* one of them is not on the CPU */
} film_tensor_notes;

typedef struct film_value_rows {
    film_context *context;
    film_tensor_notes *notes; /* of the tensors that are put themselves; NULL: none */
    uint8_t *to;              /* within the row that is being made; NULL: none is */
    uint32_t count;
    bool failed; /* a row could not be written */
} film_value_rows;

/* `name` (may be NULL): what the value is bound to, for the deny list. */
void
film_value_rows_put(film_value_rows *rows, PyObject *value, PyObject *name);

/* Where the row of the event goes that the values belong to: with film_append_commit, which
 * ends both. NULL: a row could not be written. */
uint8_t *
film_value_rows_finish(film_value_rows *rows);

/* All that was put is in rows; false: not all. */
bool
film_value_rows_end(film_value_rows *rows);

#endif
