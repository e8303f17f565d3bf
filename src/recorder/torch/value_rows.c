/* value_rows.c: see value_rows.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/torch/value_rows.h"

#include "recorder/torch/tensors.h"

#define ROW_TOKENS 30u

static void
end_row(film_value_rows *rows)
{
    if (rows->count != 0) {
        film_append_end_values(rows->context->thread, rows->count, rows->to);
    }
    rows->count = 0;
    rows->to = NULL;
}

static bool
begin_row(film_value_rows *rows)
{
    const film_thread *thread = rows->context->thread;

    if (rows->to != NULL && FILM_LIKELY(rows->count < ROW_TOKENS) &&
        (size_t)(rows->to - thread->cursor) + FILM_TOKEN_MAX <= FILM_APPEND_TOKENS) {
        return true;
    }
    end_row(rows);
    rows->to = film_append_begin_values(rows->context->thread);
    rows->failed = rows->to == NULL;
    return !rows->failed;
}

FILM_HOT void
film_value_rows_put(film_value_rows *rows, PyObject *value, PyObject *name)
{
    film_holder holder = {.kind = FILM_HOLDER_NONE};
    uint8_t *end = NULL;

    if (FILM_UNLIKELY(rows->failed) || !begin_row(rows)) {
        return;
    }
    if (value != NULL && film_is_tensor(value)) {
        end = film_tensor_token(rows->context, value, &holder, rows->to);
    }
    rows->to =
        end != NULL ? end : film_capture(rows->context, value, &holder, name, rows->to);
    rows->count++;
}

bool
film_value_rows_end(film_value_rows *rows)
{
    end_row(rows);
    return !rows->failed;
}
