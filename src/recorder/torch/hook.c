/* hook.c: see hook.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/torch/hook.h"

#include <string.h>

#include "recorder/attributes.h"
#include "recorder/session.h"
#include "recorder/torch/modules.h"
#include "recorder/torch/observer.h"
#include "recorder/torch/operation_rows.h"
#include "recorder/torch/operations.h"
#include "recorder/torch/shim.h"
#include "recorder/torch/tensors.h"
#include "recorder/torch/thunks.h"

const PyCodeObject *film_the_torch_package;

static bool hooked;

/* --- builtin functions ------------------------------------------------------------- */

/* What CPython itself does where a builtin function has no vectorcall: a tuple and a dict
 * for its tp_call. */
static PyObject *
call_builtin(PyObject *function, PyObject *const *values, Py_ssize_t positional,
             PyObject *names)
{
    PyObject *arguments = PyTuple_New(positional), *keywords = NULL, *result = NULL;
    Py_ssize_t named = names == NULL ? 0 : PyTuple_GET_SIZE(names);

    if (arguments == NULL) {
        return NULL;
    }
    for (Py_ssize_t index = 0; index < positional; index++) {
        PyTuple_SET_ITEM(arguments, index, Py_NewRef(values[index]));
    }
    if (named > 0) {
        keywords = PyDict_New();
        for (Py_ssize_t index = 0; keywords != NULL && index < named; index++) {
            if (PyDict_SetItem(keywords, PyTuple_GET_ITEM(names, index),
                               values[positional + index]) < 0) {
                Py_CLEAR(keywords);
            }
        }
        if (keywords == NULL) {
            Py_DECREF(arguments);
            return NULL;
        }
    }
    if (Py_EnterRecursiveCall(" while calling a Python object") == 0) {
        result = PyCFunction_Type.tp_call(function, arguments, keywords);
        Py_LeaveRecursiveCall();
    }
    Py_DECREF(arguments);
    Py_XDECREF(keywords);
    return result;
}

static FILM_HOT PyObject *
builtin_called(PyObject *function, PyObject *const *values, size_t flagged,
               PyObject *names)
{
    Py_ssize_t positional = PyVectorcall_NARGS(flagged);
    film_operation_call call = {
        .operation = film_operation_of(function),
        .values = values,
        .count = positional + (names == NULL ? 0 : PyTuple_GET_SIZE(names)),
        .names = names,
    };
    bool told = call.operation != NULL && film_operation_begin(&call);
    PyObject *result = call_builtin(function, values, positional, names);

    if (told) {
        film_operation_end(&call, result);
    }
    return result;
}

/* --- subscripts -------------------------------------------------------------------- */

static binaryfunc subscript_original;
static objobjargproc store_original;
static film_operation subscript = {.name = "torch.Tensor.__getitem__"};
static film_operation store = {.name = "torch.Tensor.__setitem__"};

static PyObject *
subscript_called(PyObject *tensor, PyObject *key)
{
    PyObject *const values[] = {tensor, key};
    film_operation_call call = {.operation = &subscript, .values = values, .count = 2};
    bool told = hooked && film_operation_begin(&call);
    PyObject *result = subscript_original(tensor, key);

    if (told) {
        film_operation_end(&call, result);
    }
    return result;
}

static int
store_called(PyObject *tensor, PyObject *key, PyObject *value)
{
    PyObject *const values[] = {tensor, key, value};
    film_operation_call call = {
        .operation = &store, .values = values, .count = value == NULL ? 2 : 3};
    bool told = hooked && film_operation_begin(&call);
    int result = store_original(tensor, key, value);

    if (told) {
        film_operation_end(&call, result < 0 ? NULL : Py_None);
    }
    return result;
}

/* Types that have the slots from their base: what a class statement copied too. */
static void
change_subscripts(PyTypeObject *type, bool ours)
{
    PyMappingMethods *slots = type->tp_as_mapping;
    PyObject *subtypes;

    if (slots != NULL &&
        slots->mp_subscript == (ours ? subscript_original : subscript_called)) {
        slots->mp_subscript = ours ? subscript_called : subscript_original;
    }
    if (slots != NULL &&
        slots->mp_ass_subscript == (ours ? store_original : store_called)) {
        slots->mp_ass_subscript = ours ? store_called : store_original;
    }
    subtypes =
        PyObject_CallMethod((PyObject *)&PyType_Type, "__subclasses__", "O", type);
    if (subtypes == NULL || !PyList_CheckExact(subtypes)) {
        PyErr_Clear();
        Py_XDECREF(subtypes);
        return;
    }
    for (Py_ssize_t index = 0; index < PyList_GET_SIZE(subtypes); index++) {
        change_subscripts((PyTypeObject *)PyList_GET_ITEM(subtypes, index), ours);
    }
    Py_DECREF(subtypes);
}

/* Classes made later take the slots from the wrappers of these methods, which people may
 * call by name too. */
static void
change_wrappers(PyTypeObject *base, bool ours)
{
    static const char *const names[] = {"__getitem__", "__setitem__", "__delitem__"};
    PyObject *dict = film_type_dict(base);

    for (size_t index = 0; dict != NULL && index < 3; index++) {
        PyObject *found = film_dict_find(dict, names[index]);
        void *original = index == 0 ? (void *)(uintptr_t)subscript_original
                                    : (void *)(uintptr_t)store_original;
        void *own = index == 0 ? (void *)(uintptr_t)subscript_called
                               : (void *)(uintptr_t)store_called;
        PyWrapperDescrObject *wrapper = (PyWrapperDescrObject *)found;

        if (found != NULL && Py_IS_TYPE(found, &PyWrapperDescr_Type) &&
            wrapper->d_wrapped == (ours ? original : own)) {
            wrapper->d_wrapped = ours ? own : original;
        }
    }
}

static PyTypeObject *
tensor_base(void)
{
    PyObject *module = film_dict_find(PyImport_GetModuleDict(), "torch._C");
    PyObject *type = module == NULL || !PyModule_Check(module)
                         ? NULL
                         : film_dict_find(PyModule_GetDict(module), "TensorBase");

    return type != NULL && PyType_Check(type) ? (PyTypeObject *)type : NULL;
}

static void
hook_subscripts(void)
{
    PyTypeObject *base = tensor_base();
    const PyMappingMethods *slots = base == NULL ? NULL : base->tp_as_mapping;

    if (slots == NULL || slots->mp_subscript == NULL ||
        slots->mp_ass_subscript == NULL) {
        return;
    }
    if (subscript_original == NULL) {
        subscript_original = slots->mp_subscript;
        store_original = slots->mp_ass_subscript;
    }
    change_subscripts(base, true);
    change_wrappers(base, true);
}

/* --- on and off -------------------------------------------------------------------- */

static void
hook_it(film_operation *operation)
{
    PyCFunctionObject *function = (PyCFunctionObject *)operation->callable;

    if (!PyCFunction_CheckExact(operation->callable)) {
        film_thunk_put(operation);
    }
    else if (function->vectorcall == NULL) {
        function->vectorcall = builtin_called;
    }
}

static void
unhook_it(const film_operation *operation)
{
    PyCFunctionObject *function = (PyCFunctionObject *)operation->callable;

    if (PyCFunction_CheckExact(operation->callable) &&
        function->vectorcall == builtin_called) {
        function->vectorcall = NULL;
    }
}

/* torch, once its body has run; NULL: not imported, or not yet. Borrowed. */
static PyObject *
imported_torch(void)
{
    PyObject *module = film_dict_find(PyImport_GetModuleDict(), "torch");

    return module != NULL && PyModule_Check(module) &&
                   film_dict_find(PyModule_GetDict(module), "Tensor") != NULL &&
                   film_dict_find(PyImport_GetModuleDict(), "torch.nn.functional") !=
                       NULL
               ? module
               : NULL;
}

/* Finds out how tensors and what C++ calls itself are read, in a thread apart: others may
 * run meanwhile. False: the recording has ended. *observes: what C++ calls is told; where
 * that is wanted and cannot be had, the recording says so. */
static bool
prove(PyObject *torch_module, bool *observes)
{
    uint64_t generation = film_the_session.generation;
    bool wanted = film_the_session.options.torch == FILM_TORCH_ALL ||
                  film_the_session.options.torch_gpu;
    const char *trouble = NULL;

    film_shim_prove(torch_module);
    if (wanted) {
        trouble = film_observer_prove(torch_module);
    }
    if (film_the_session.writer == NULL || film_the_session.forked ||
        film_the_session.generation != generation) {
        return false;
    }
    if (trouble != NULL) {
        film_session_lost_control(trouble, 0);
    }
    *observes = wanted && trouble == NULL;
    return true;
}

static void
hook_all(bool observes)
{
    film_modules_begin();
    film_tensors_begin(film_the_session.options.torch_values);
    if (!film_operations_find()) {
        return;
    }
    hooked = film_the_session.operations = true;
    for (size_t index = 0; index < film_operations_count(); index++) {
        hook_it(film_operation_at(index));
    }
    hook_subscripts();
    if (observes) {
        /* With the GPU traced, the nodes of the backward pass at least: they launch most
         * of what runs there. */
        film_observer_begin(film_the_session.options.torch != FILM_TORCH_ALL);
    }
}

void
film_torch_hook(void)
{
    static bool hooking;
    film_saved_error saved;
    PyObject *torch_module = imported_torch();
    bool observes = false;

    if (hooked || hooking || film_the_session.options.torch == FILM_TORCH_OFF ||
        torch_module == NULL || !film_session_begin_values()) {
        return;
    }
    film_the_torch_package = NULL;
    hooking = true;
    Py_INCREF(torch_module);
    film_compat_save_error(&saved);
    if (prove(torch_module, &observes)) {
        hook_all(observes);
    }
    PyErr_Clear();
    film_compat_restore_error(&saved);
    Py_DECREF(torch_module);
    hooking = false;
}

void
film_torch_unhook(void)
{
    film_saved_error saved;
    PyTypeObject *base;

    if (!hooked) {
        return;
    }
    film_compat_save_error(&saved);
    film_observer_end();
    hooked = film_the_session.operations = false;
    film_thunks_remove();
    for (size_t index = 0; index < film_operations_count(); index++) {
        unhook_it(film_operation_at(index));
    }
    base = tensor_base();
    if (base != NULL) {
        change_subscripts(base, false);
        change_wrappers(base, false);
    }
    film_operations_forget();
    PyErr_Clear();
    film_compat_restore_error(&saved);
}

void
film_torch_await(const PyCodeObject *code, const film_frame *frame)
{
    PyObject *globals = frame == NULL ? NULL : film_frame_globals(frame);
    PyObject *name;

    if ((code->co_flags & CO_OPTIMIZED) != 0 || globals == NULL || hooked ||
        film_the_session.options.torch == FILM_TORCH_OFF ||
        !film_compat_dict_is_plain(globals)) {
        return;
    }
    name = PyDict_GetItemWithError(globals, film_the_session.name_key);
    if (name != NULL && PyUnicode_CheckExact(name) &&
        PyUnicode_CompareWithASCIIString(name, "torch") == 0) {
        film_the_torch_package = code;
    }
}
