/* api_calls.c: see api_calls.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/torch/api_calls.h"

#include <string.h>

#include "recorder/observe.h"
#include "recorder/stack.h"
#include "recorder/torch/value_rows.h"

/* What modes and subclasses of tensors are told of asks for them by has_torch_function,
 * has_torch_function_unary or has_torch_function_variadic. */
static bool
asks_for_overrides(PyObject *name)
{
    static const char asked[] = "has_torch_function";
    const Py_ssize_t length = (Py_ssize_t)sizeof(asked) - 1;

    if (!PyUnicode_IS_COMPACT_ASCII(name) || PyUnicode_GET_LENGTH(name) < length) {
        return false;
    }
    return memcmp(PyUnicode_DATA(name), asked, (size_t)length) == 0;
}

bool
film_api_is_call(const PyCodeObject *code, const char *module)
{
    PyObject *names = code->co_names;

    if (film_the_session.options.torch == FILM_TORCH_OFF ||
        strncmp(module, "torch", 5) != 0 || (module[5] != '\0' && module[5] != '.') ||
        (code->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)) != 0 ||
        (code->co_flags & CO_OPTIMIZED) == 0) {
        return false;
    }
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(names); index++) {
        if (asks_for_overrides(PyTuple_GET_ITEM(names, index))) {
            /* torch.overrides has the functions themselves, and talks of them. */
            return strcmp(module, "torch.overrides") != 0;
        }
    }
    return false;
}

/* The argument in a slot, also where inner functions use it. Borrowed. */
static PyObject *
argument(const film_frame *frame, const PyCodeObject *code, int slot)
{
    PyObject *value = film_frame_local(frame, slot);
    const char *kinds = PyBytes_AS_STRING(code->co_localspluskinds);

    if (value != NULL && (kinds[slot] & CO_FAST_CELL) != 0 && PyCell_Check(value)) {
        return PyCell_GET(value);
    }
    return value;
}

static bool
tell_arguments(film_context *context, const film_frame *frame, const PyCodeObject *code)
{
    int count = code->co_argcount + code->co_kwonlyargcount +
                ((code->co_flags & CO_VARARGS) != 0) +
                ((code->co_flags & CO_VARKEYWORDS) != 0);
    film_value_rows rows = {.context = context};

    for (int slot = 0; slot < count; slot++) {
        film_value_rows_put(&rows, argument(frame, code, slot),
                            PyTuple_GET_ITEM(code->co_localsplusnames, slot));
    }
    return film_value_rows_end(&rows);
}

bool
film_api_call(film_context *context, const film_frame *frame, PyObject *code_object,
              const film_code *code)
{
    uint32_t site = film_stack_site(context, frame);
    uint64_t serial;

    if (!film_observe_caller(context, frame)) {
        return false;
    }
    if ((film_the_session.operations || film_the_session.captures) &&
        !tell_arguments(context, frame, (PyCodeObject *)code_object)) {
        return false;
    }
    serial = film_thread_next_frame(context->thread);
    if (!film_stack_push(context, frame, code_object, code, serial)) {
        return film_append_call(context->thread, code->id, site);
    }
    context->top->site = site;
    if (!film_append_call(context->thread, code->id, site)) {
        film_stack_end_top(context);
        return false;
    }
    return true;
}

bool
film_api_return(film_context *context, const film_frame *frame, PyObject *value)
{
    film_value_rows rows = {.context = context};

    if (film_the_session.operations || film_the_session.captures) {
        film_value_rows_put(&rows, value, NULL);
        if (!film_value_rows_end(&rows)) {
            return false;
        }
    }
    return film_stack_return_top(context, frame);
}
