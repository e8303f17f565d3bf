/* operation_rows.c: see operation_rows.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/torch/operation_rows.h"

#include <string.h>

#include "base/intern.h"
#include "recorder/capture_keep.h"
#include "recorder/exceptions.h"
#include "recorder/stack.h"
#include "recorder/text.h"
#include "recorder/torch/device.h"
#include "recorder/torch/modes.h"
#include "recorder/torch/place.h"
#include "recorder/torch/tensors.h"
#include "recorder/torch/value_rows.h"

#define NAMES_BYTES 1000u
#define MOST_VALUES 250   /* of one operation; more is not told */
#define MOST_CHANGED 4096 /* by one operation */

static film_intern keyword_lists; /* tuples of names to string ids, by their hash */

void
film_operation_rows_reset(void)
{
    film_intern_reset(&keyword_lists);
}

/* --- the call --------------------------------------------------------------------- */

/* The names of the keyword values, one after the other; NULL: no more. */
typedef struct name_walk {
    const film_operation_call *call;
    Py_ssize_t next;
} name_walk;

static PyObject *
next_name(name_walk *walk)
{
    const film_operation_call *call = walk->call;
    PyObject *name, *value;

    if (call->keywords != NULL) {
        return PyDict_Next(call->keywords, &walk->next, &name, &value) ? name : NULL;
    }
    return call->names != NULL && walk->next < PyTuple_GET_SIZE(call->names)
               ? PyTuple_GET_ITEM(call->names, walk->next++)
               : NULL;
}

/* The hash of the names: those of arguments are interned and have theirs. */
static uint64_t
names_hash(const film_operation_call *call)
{
    uint64_t hash = UINT64_C(0x9e3779b97f4a7c15);
    name_walk walk = {.call = call};
    PyObject *name;

    while ((name = next_name(&walk)) != NULL) {
        Py_hash_t part = PyUnicode_CheckExact(name) ? PyObject_Hash(name) : 0;

        hash = (hash ^ (uint64_t)part) * UINT64_C(0xbf58476d1ce4e5b9);
        hash ^= hash >> 31;
    }
    return hash | (hash == 0);
}

static uint32_t
keep_names(const film_operation_call *call)
{
    name_walk walk = {.call = call};
    char text[NAMES_BYTES];
    size_t length = 0;
    PyObject *name;

    while ((name = next_name(&walk)) != NULL && length + 100 < sizeof(text)) {
        if (length > 0) {
            text[length++] = ',';
        }
        if (PyUnicode_CheckExact(name)) {
            length += film_text_copy(name, text + length, 90, NULL);
        }
    }
    return film_keep_string(text, length);
}

/* The string id of the names of keyword values, with commas between; 0: none. */
static uint32_t
names_id(const film_operation_call *call)
{
    uint64_t hash;
    uint32_t id;

    if (FILM_LIKELY(film_operation_named(call) == 0)) {
        return 0;
    }
    hash = names_hash(call);
    if (FILM_UNLIKELY(!film_intern_find(&keyword_lists, hash, &id))) {
        id = keep_names(call);
        (void)film_intern_add(&keyword_lists, hash, id);
    }
    return id;
}

static uint8_t
flags_of(const film_operation_call *call)
{
    uint8_t flags = film_shim_grad_mode() ? FILM_OPERATION_GRAD : 0;

    flags |= call->operation->flags & (FILM_OPERATION_MODE | FILM_OPERATION_COMPILED);
    if (film_shim_inference_mode()) {
        flags |= FILM_OPERATION_INFERENCE;
    }
    if (FILM_UNLIKELY(call->notes.on_device)) {
        flags |= FILM_OPERATION_LAUNCH | call->operation->flags;
    }
    return flags;
}

/* The rows of the op; false: they could not be written. */
static bool
tell_call(film_context *context, film_operation_call *call)
{
    Py_ssize_t named = film_operation_named(call);
    Py_ssize_t count = call->count > MOST_VALUES ? MOST_VALUES : call->count;
    film_value_rows rows = {.context = context, .notes = &call->notes};
    film_operation_place place;
    film_op_row row;
    uint8_t *to;

    call->notes.count = 0;
    call->notes.on_device = false;
    if (!film_operation_find_place(context, &place)) {
        return false;
    }
    for (Py_ssize_t index = 0; index < count; index++) {
        film_value_rows_put(&rows, call->values[index], NULL);
    }
    row = (film_op_row){
        .function = film_operation_id(call->operation),
        .names = names_id(call),
        .module = place.module,
        .api = place.api,
        .offset = place.offset,
        .positional =
            (uint32_t)(call->count - named < count ? call->count - named : count),
        .flags = flags_of(call),
    };
    if (FILM_UNLIKELY(call->notes.on_device)) {
        film_device_seen();
    }
    if (FILM_UNLIKELY((row.flags & FILM_OPERATION_COMPILED) != 0)) {
        row.api = 0; /* torch's own way to what it has compiled */
    }
    to = film_value_rows_finish(&rows);
    if (FILM_UNLIKELY(to == NULL)) {
        return false;
    }
    call->on_gpu =
        FILM_UNLIKELY(call->notes.on_device) && film_device_enter(context->thread);
    film_append_commit(context->thread, film_append_put_op(context->thread, to, &row),
                       1);
    call->token = context->token;
    call->number = context->thread->events - 1;
    return true;
}

FILM_HOT bool
film_operation_begin(film_operation_call *call)
{
    film_context *context = film_context_ready(film_compat_current_frame());

    if (FILM_UNLIKELY(context == NULL || !film_the_session.operations ||
                      film_mode_has_told(call->operation->callable))) {
        return false;
    }
    call->positional = call->count - film_operation_named(call);
    call->silent = call->operation->silent;
    call->leaves_unset = call->operation->leaves_unset;
    if (FILM_UNLIKELY(call->silent)) {
        call->token = context->token;
        return true;
    }
    if (FILM_LIKELY(tell_call(context, call))) {
        return true;
    }
    /* In a forked child: once more, into its own file. */
    return film_stack_may_retry(context) &&
           (context = film_context_ready(film_compat_current_frame())) != NULL &&
           tell_call(context, call);
}

/* A __torch_function__ may have taken a value out of the dict (kwargs.pop), and then nobody
 * need hold it any more: such a one is not followed. */
static bool
is_gone(const film_operation_call *call, const PyObject *value)
{
    Py_ssize_t position = 0;
    PyObject *name, *held;

    if (FILM_LIKELY(call->keywords == NULL)) {
        return false;
    }
    for (Py_ssize_t index = 0; index < call->positional; index++) {
        if (call->values[index] == value) {
            return false;
        }
    }
    while (PyDict_Next(call->keywords, &position, &name, &held)) {
        if (held == value) {
            return false;
        }
    }
    return true;
}

/* A tensor is seen, so that its memory is known for that of the one it was made from. */
static void
note_tensor(film_context *context, PyObject *tensor)
{
    film_holder holder = {.kind = FILM_HOLDER_NONE};
    film_tensor_seen seen;
    uint8_t token[FILM_TOKEN_MAX];

    if (tensor != NULL && film_is_tensor(tensor)) {
        (void)film_tensor_token(context, tensor, &holder, &seen, token);
    }
}

static void
note_tensors(film_context *context, const film_operation_call *call, PyObject *result)
{
    for (Py_ssize_t index = 0; index < call->count; index++) {
        if (!is_gone(call, call->values[index])) {
            note_tensor(context, call->values[index]);
        }
    }
    note_tensor(context, result);
}

/* --- its end ---------------------------------------------------------------------- */

/* Tensors that an operation has changed; of the holder of the GIL. */
static struct {
    PyObject *tensors[MOST_CHANGED];
    uint32_t count;
} changed;

static inline void
add_changed(PyObject *tensor)
{
    if (changed.count < MOST_CHANGED) {
        changed.tensors[changed.count++] = tensor;
    }
}

static void
find_change(PyObject *value, PyObject *result)
{
    if (value != result && film_is_tensor(value) && film_tensor_was_changed(value)) {
        add_changed(value);
    }
}

/* Of the tensors that a list or tuple holds. */
static void
find_changes_within(PyObject *values, PyObject *result)
{
    for (Py_ssize_t item = 0; item < Py_SIZE(values); item++) {
        PyObject *held = PyList_CheckExact(values) ? PyList_GET_ITEM(values, item)
                                                   : PyTuple_GET_ITEM(values, item);

        if (held != NULL) {
            find_change(held, result);
        }
    }
}

/* What of the arguments has changed, but for the result: before the result is told, since a
 * list (torch._foreach_add_ gives back its first argument) tells the tensors in it. */
static inline void
find_changes(const film_operation_call *call, PyObject *result)
{
    const film_tensor_notes *notes = &call->notes;
    uint32_t noted =
        notes->count < FILM_NOTED_TENSORS ? notes->count : FILM_NOTED_TENSORS;

    changed.count = 0;
    for (uint32_t index = 0; index < noted; index++) {
        PyObject *tensor = notes->noted[index].tensor;

        if (!is_gone(call, tensor) && tensor != result &&
            FILM_UNLIKELY(film_shim_version(tensor) != notes->noted[index].version)) {
            add_changed(tensor);
        }
    }
    for (Py_ssize_t index = 0; index < call->count; index++) {
        PyObject *value = call->values[index];

        if (is_gone(call, value)) {
            continue;
        }
        if (PyList_CheckExact(value) || PyTuple_CheckExact(value)) {
            find_changes_within(value, result);
        }
        else if (FILM_UNLIKELY(notes->count > FILM_NOTED_TENSORS)) {
            find_change(value, result);
        }
    }
}

static void
tell_exception(film_context *context, uint64_t distance)
{
    film_saved_error saved;
    uint32_t type = 0;
    uint64_t message = 0;

    film_compat_save_error(&saved);
    film_exception_describe(film_saved_exception(&saved), film_saved_value(&saved),
                            &type, &message);
    (void)film_append_op_end(context->thread, distance, FILM_OPERATION_RAISED, type,
                             message);
    film_compat_restore_error(&saved);
}

FILM_HOT void
film_operation_end(const film_operation_call *call, PyObject *result)
{
    film_context *context = &film_this_thread;
    film_value_rows rows = {.context = context};
    uint64_t distance;
    uint8_t *to;

    if (FILM_UNLIKELY(call->on_gpu)) {
        film_gpu_leave();
    }
    if (FILM_UNLIKELY(context->token != call->token ||
                      context->token != film_the_session.token)) {
        return; /* paused, stopped or forked meanwhile */
    }
    if (FILM_UNLIKELY(call->silent)) {
        note_tensors(context, call, result);
        return;
    }
    if (FILM_UNLIKELY(result == NULL)) {
        tell_exception(context, context->thread->events - call->number);
        return;
    }
    find_changes(call, result);
    film_the_values_are_set = !call->leaves_unset;
    film_value_rows_put(&rows, result, NULL);
    film_the_values_are_set = true;
    for (uint32_t index = 0; index < changed.count; index++) {
        film_value_rows_put(&rows, changed.tensors[index], NULL);
    }
    to = film_value_rows_finish(&rows);
    if (FILM_UNLIKELY(to == NULL)) {
        (void)film_stack_may_retry(context);
        return;
    }
    distance = context->thread->events - call->number;
    film_append_commit(context->thread,
                       film_append_put_op_end(context->thread, to, distance, 0, 0, 0),
                       1);
    film_device_written();
}
