/* value_rows.c: see value_rows.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/torch/value_rows.h"

#include "recorder/torch/tensors.h"

#define ROW_TOKENS 30u

static void
end_row(film_value_rows *rows)
{
    if (rows->count != 0 && rows->to != NULL) {
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

static inline void
note(film_tensor_notes *notes, PyObject *tensor, const film_tensor_seen *seen)
{
    if (notes == NULL) {
        return;
    }
    if (FILM_LIKELY(notes->count < FILM_NOTED_TENSORS)) {
        notes->noted[notes->count].tensor = tensor;
        notes->noted[notes->count].version = seen->version;
    }
    notes->count++;
    notes->on_device |= seen->on_device;
}

/* A list or tuple of tensors has a record that tells them as they were then; operations
 * change them without changing it. */
static void
tell_anew(PyObject *values)
{
    film_object *object;

    for (Py_ssize_t index = 0; index < Py_SIZE(values); index++) {
        PyObject *item = PyList_CheckExact(values) ? PyList_GET_ITEM(values, index)
                                                   : PyTuple_GET_ITEM(values, index);

        if (item != NULL && film_is_tensor(item)) {
            object = film_objects_find_sure(values);
            if (object != NULL) {
                object->stale = true;
            }
            return;
        }
    }
}

FILM_HOT void
film_value_rows_put(film_value_rows *rows, PyObject *value, PyObject *name)
{
    film_holder holder = {.kind = FILM_HOLDER_NONE};
    film_tensor_seen seen;
    uint8_t *end;

    if (FILM_UNLIKELY(rows->failed) || !begin_row(rows)) {
        return;
    }
    rows->count++;
    if (value != NULL && film_is_tensor(value)) {
        end = film_tensor_token(rows->context, value, &holder, &seen, rows->to);
        if (FILM_LIKELY(end != NULL)) {
            note(rows->notes, value, &seen);
            rows->to = end;
            return;
        }
    }
    if (value != NULL && (PyList_CheckExact(value) || PyTuple_CheckExact(value))) {
        tell_anew(value);
    }
    else if (value != NULL && film_shim_peek(value, &seen.version, &seen.on_device)) {
        note(rows->notes, value, &seen);
    }
    rows->to = film_capture(rows->context, value, &holder, name, rows->to);
}

FILM_HOT uint8_t *
film_value_rows_finish(film_value_rows *rows)
{
    film_thread *thread = rows->context->thread;

    if (FILM_UNLIKELY(rows->failed)) {
        return NULL;
    }
    if (rows->count == 0) {
        return film_append_ready(thread) ? thread->cursor : NULL;
    }
    film_append_put_values(thread->cursor, rows->count);
    return rows->to;
}

bool
film_value_rows_end(film_value_rows *rows)
{
    end_row(rows);
    return !rows->failed;
}
