/* operation_rows.h: a call of an operation to rows: what it was given, where, what it gave
 * and what it changed.
 * Threads: the holder of the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_TORCH_OPERATION_ROWS_H
#define FILMSTRIP_RECORDER_TORCH_OPERATION_ROWS_H

#include "recorder/compat.h"

#include "recorder/torch/operations.h"
#include "recorder/torch/value_rows.h"

/* One call that is under way. What it was given is the caller's, borrowed until it ends. */
typedef struct film_operation_call {
    film_operation *operation; /* until it is told: then the table may change */
    bool silent, leaves_unset; /* the operation's */
    PyObject *const *values;   /* positional ones, then those with names */
    Py_ssize_t count;          /* of all */
    Py_ssize_t positional;     /* of those before it was called */
    PyObject *names;           /* of the last ones: a tuple of str, or NULL; */
    PyObject *keywords;        /* or the keys of this dict, or NULL */
    uint64_t token;            /* of the session when its op was told */
    uint64_t number;           /* of the op event */
    film_tensor_notes notes;   /* of the tensors among the values */
    bool on_gpu;               /* what it launches is tied to it (device.h) */
} film_operation_call;

/* How many of its values have names. */
static inline Py_ssize_t
film_operation_named(const film_operation_call *call)
{
    return call->keywords != NULL ? PyDict_GET_SIZE(call->keywords)
           : call->names != NULL  ? PyTuple_GET_SIZE(call->names)
                                  : 0;
}

/* Tells that the operation is called. False: it is not recorded, and its end is not to be
 * told. Keeps no reference. */
bool
film_operation_begin(film_operation_call *call);

/* Tells that it has come back; result NULL: with the exception that is set, which stays. */
void
film_operation_end(const film_operation_call *call, PyObject *result);

void
film_operation_rows_reset(void);

#endif
