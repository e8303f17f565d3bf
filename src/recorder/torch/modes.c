/* modes.c: see modes.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/torch/modes.h"

#include <filmstrip/event.h>

#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "recorder/session.h"
#include "recorder/text.h"
#include "recorder/torch/operation_rows.h"
#include "recorder/torch/operations.h"

/* Arguments of a call for which no memory is asked for. */
#define FEW 16
/* Callables whose names are kept; torch has some 2,000 that it hands to modes. */
#define MOST_NAMES 8192

__thread const PyObject *film_this_threads_handed_on
    __attribute__((tls_model("initial-exec")));

typedef struct mode_object {
    PyObject_HEAD
    PyObject *dict;
} mode_object;

/* --- names ------------------------------------------------------------------------ */

static PyObject *known;   /* owned: callable to the address of its film_operation */
static PyObject *resolve; /* owned: torch.overrides.resolve_name */

/* The name as torch.overrides.resolve_name has it, else str() of the callable; for ops
 * of a dispatch mode aten.add.Tensor. NULL with an exception. Owned. */
static PyObject *
name_of(PyObject *callable)
{
    PyObject *name =
        resolve == NULL ? Py_NewRef(Py_None) : PyObject_CallOneArg(resolve, callable);

    if (name == NULL) {
        PyErr_Clear();
    }
    else if (PyUnicode_Check(name)) {
        return name;
    }
    Py_XDECREF(name);
    return PyObject_Str(callable);
}

static film_operation *
make_operation(PyObject *callable)
{
    film_operation *operation = film_alloc(sizeof(*operation));
    PyObject *name = name_of(callable), *address = NULL;

    if (operation == NULL || name == NULL) {
        PyErr_Clear();
        Py_XDECREF(name);
        film_free(operation);
        return NULL;
    }
    (void)film_text_copy(name, operation->name, sizeof(operation->name) - 1, NULL);
    operation->flags = FILM_OPERATION_MODE;
    Py_DECREF(name);
    address = PyLong_FromVoidPtr(operation);
    if (known == NULL) {
        known = PyDict_New();
    }
    if (address == NULL || known == NULL || PyDict_GET_SIZE(known) >= MOST_NAMES ||
        PyDict_SetItem(known, callable, address) < 0) {
        PyErr_Clear(); /* it is one that cannot be kept: not told */
        film_free(operation);
        operation = NULL;
    }
    Py_XDECREF(address);
    return operation;
}

/* NULL without an exception: it has no name, and is not told. */
static film_operation *
operation_of(PyObject *callable)
{
    PyObject *address = known == NULL ? NULL : PyDict_GetItemWithError(known, callable);

    if (address != NULL) {
        return PyLong_AsVoidPtr(address);
    }
    PyErr_Clear();
    return make_operation(callable);
}

/* --- a call ----------------------------------------------------------------------- */

/* What torch hands to a mode, as an operation is told. `room` may be used for values. */
static bool
lay_out(film_operation_call *call, PyObject *arguments, PyObject *keywords,
        PyObject **room, PyObject ***owned)
{
    Py_ssize_t positional = PyTuple_GET_SIZE(arguments), position = 0;
    Py_ssize_t named = keywords == NULL ? 0 : PyDict_GET_SIZE(keywords);
    PyObject *key, *value, **values = room;

    call->count = positional + named;
    if (call->count > FEW) {
        values = *owned = film_alloc_array((size_t)call->count, sizeof(*values));
    }
    call->names = named == 0 ? NULL : PyTuple_New(named);
    if (values == NULL || (named > 0 && call->names == NULL)) {
        PyErr_Clear();
        return false;
    }
    for (Py_ssize_t index = 0; index < positional; index++) {
        values[index] = PyTuple_GET_ITEM(arguments, index);
    }
    for (Py_ssize_t index = 0;
         index < named && PyDict_Next(keywords, &position, &key, &value); index++) {
        PyTuple_SET_ITEM(call->names, index, Py_NewRef(key));
        values[positional + index] = value;
    }
    call->values = values;
    return true;
}

static PyObject *
hand_on(PyObject *callable, PyObject *arguments, PyObject *keywords, bool told)
{
    const PyObject *before = film_this_threads_handed_on;
    PyObject *result;

    film_this_threads_handed_on =
        told && film_operation_of(callable) != NULL ? callable : NULL;
    result = PyObject_Call(callable, arguments, keywords);
    film_this_threads_handed_on = before;
    return result;
}

/* func, types, args[, kwargs] */
static PyObject *
mode_call(PyObject *Py_UNUSED(mode), PyObject *const *given, Py_ssize_t count)
{
    PyObject *room[FEW], **owned = NULL, *arguments, *keywords, *result;
    film_operation_call call = {0};
    bool told = false;

    if (count < 2 || (count > 2 && !PyTuple_Check(given[2])) ||
        (count > 3 && given[3] != Py_None && !PyDict_Check(given[3]))) {
        PyErr_SetString(PyExc_TypeError,
                        "expected a function, types, a tuple and a dict");
        return NULL;
    }
    arguments = count > 2 ? Py_NewRef(given[2]) : PyTuple_New(0);
    keywords = count > 3 && given[3] != Py_None ? given[3] : NULL;
    if (arguments == NULL) {
        return NULL;
    }
    if (film_the_session.operations && film_the_session.token != FILM_TOKEN_OFF) {
        call.operation = operation_of(given[0]);
        told = call.operation != NULL &&
               lay_out(&call, arguments, keywords, room, &owned) &&
               film_operation_begin(&call);
    }
    result = hand_on(given[0], arguments, keywords, told);
    if (told) {
        film_operation_end(&call, result);
    }
    Py_XDECREF(call.names);
    film_free(owned);
    Py_DECREF(arguments);
    return result;
}

/* --- entering --------------------------------------------------------------------- */

/* A function of torch._C; NULL with an exception. Owned. */
static PyObject *
torch_function(const char *name)
{
    PyObject *module = PyImport_ImportModule("torch._C");
    PyObject *function = module == NULL ? NULL : PyObject_GetAttrString(module, name);

    Py_XDECREF(module);
    return function;
}

static PyObject *
push(PyObject *self, const char *name)
{
    PyObject *function = torch_function(name), *done;

    done = function == NULL ? NULL : PyObject_CallOneArg(function, self);
    Py_XDECREF(function);
    if (done == NULL) {
        return NULL;
    }
    Py_DECREF(done);
    return Py_NewRef(self);
}

static PyObject *
function_enter(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    return push(self, "_push_on_torch_function_stack");
}

static PyObject *
function_exit(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(exception))
{
    PyObject *function = torch_function("_pop_torch_function_stack"), *done;

    done = function == NULL ? NULL : PyObject_CallNoArgs(function);
    Py_XDECREF(function);
    Py_XDECREF(done);
    return done == NULL ? NULL : Py_NewRef(Py_None);
}

static PyObject *
dispatch_enter(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    return push(self, "_push_on_torch_dispatch_stack");
}

static PyObject *
dispatch_exit(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(exception))
{
    PyObject *function = torch_function("_pop_torch_dispatch_stack"), *done;

    done = function == NULL ? NULL : PyObject_CallOneArg(function, Py_None);
    Py_XDECREF(function);
    Py_XDECREF(done);
    return done == NULL ? NULL : Py_NewRef(Py_None);
}

static PyObject *
say_true(PyObject *Py_UNUSED(type), PyObject *Py_UNUSED(ignored))
{
    Py_RETURN_TRUE;
}

static PyObject *
say_false(PyObject *Py_UNUSED(type), PyObject *Py_UNUSED(ignored))
{
    Py_RETURN_FALSE;
}

/* --- the types -------------------------------------------------------------------- */

/* One sentence where torch is missing; why, as its cause. */
static bool
need_torch(void)
{
    PyObject *module = PyImport_ImportModule("torch.overrides");
    PyObject *type, *value, *traceback, *cause;

    if (module != NULL) {
        if (resolve == NULL) {
            resolve = PyObject_GetAttrString(module, "resolve_name");
        }
        Py_DECREF(module);
        PyErr_Clear();
        return true;
    }
    if (!PyErr_ExceptionMatches(PyExc_ImportError)) {
        return false;
    }
    PyErr_Fetch(&type, &cause, &traceback);
    PyErr_NormalizeException(&type, &cause, &traceback);
    PyErr_SetString(PyExc_ImportError, "a mode of filmstrip.torch needs PyTorch, which "
                                       "cannot be imported here");
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyException_SetCause(value, cause);
    PyErr_Restore(type, value, traceback);
    return false;
}

static PyObject *
mode_new(PyTypeObject *type, PyObject *Py_UNUSED(arguments),
         PyObject *Py_UNUSED(keywords))
{
    return need_torch() ? type->tp_alloc(type, 0) : NULL;
}

static int
mode_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((mode_object *)self)->dict);
    return 0;
}

static int
mode_clear(PyObject *self)
{
    Py_CLEAR(((mode_object *)self)->dict);
    return 0;
}

static void
mode_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    PyObject_GC_UnTrack(self);
    (void)mode_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

#define METHOD(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef function_methods[] = {
    {"__enter__", function_enter, METH_NOARGS, NULL},
    {"__exit__", function_exit, METH_VARARGS, NULL},
    {"__torch_function__", METHOD(mode_call), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

/* torch.compile goes on compiling under a dispatch mode that says so. */
static PyMethodDef dispatch_methods[] = {
    {"__enter__", dispatch_enter, METH_NOARGS, NULL},
    {"__exit__", dispatch_exit, METH_VARARGS, NULL},
    {"__torch_dispatch__", METHOD(mode_call), METH_FASTCALL, NULL},
    {"is_infra_mode", say_false, METH_NOARGS | METH_CLASS, NULL},
    {"ignore_compile_internals", say_true, METH_NOARGS | METH_CLASS, NULL},
    {"_should_skip_dynamo", say_true, METH_NOARGS | METH_CLASS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef mode_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(mode_object, dict), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef mode_getters[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

#define SLOTS(methods, text)                                                           \
    {Py_tp_new, (void *)mode_new}, {Py_tp_dealloc, (void *)mode_dealloc},              \
        {Py_tp_traverse, (void *)mode_traverse}, {Py_tp_clear, (void *)mode_clear},    \
        {Py_tp_methods, (methods)}, {Py_tp_members, mode_members},                     \
        {Py_tp_getset, mode_getters}, {Py_tp_doc, (void *)(uintptr_t)(text)},          \
    {                                                                                  \
        0, NULL                                                                        \
    }

static PyType_Slot function_slots[] = {SLOTS(
    function_methods,
    "Within `with`, each call that torch hands to its function modes is recorded:\n"
    "what the program calls, functions of torch's in Python and getters too.")};

static PyType_Slot dispatch_slots[] = {
    SLOTS(dispatch_methods,
          "Within `with`, each ATen op that torch hands to its dispatch modes is "
          "recorded:\n"
          "what runs below autograd, in the forward and the backward pass.")};

#define FLAGS (Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC)

static PyType_Spec function_spec = {.name = "filmstrip.torch.FunctionMode",
                                    .basicsize = sizeof(mode_object),
                                    .flags = FLAGS,
                                    .slots = function_slots};
static PyType_Spec dispatch_spec = {.name = "filmstrip.torch.DispatchMode",
                                    .basicsize = sizeof(mode_object),
                                    .flags = FLAGS,
                                    .slots = dispatch_slots};

static bool
add_type(PyObject *module, PyType_Spec *spec)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    bool added = type != NULL && PyModule_AddType(module, (PyTypeObject *)type) == 0;

    Py_XDECREF(type);
    return added;
}

bool
film_modes_prepare(PyObject *module)
{
    return add_type(module, &function_spec) && add_type(module, &dispatch_spec);
}
