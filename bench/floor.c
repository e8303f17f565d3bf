/* floor.c: hooks that do nothing: what any recorder of calls pays at least.
 *
 * start("monitoring"): the events the recorder asks for, each answered by an object
 * with a vectorcall slot that returns None (3.12 and later).
 * start("monitoring_lines"): with LINE events too.
 * start("profile"), start("trace"): the hooks of 3.11; trace with its lines off, which
 * takes one store at each call. start("trace_lines"): with them.
 * SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stddef.h>
#include <string.h>

#include <frameobject.h>
#include <structmember.h>

#if PY_VERSION_HEX < 0x030c0000
#define Py_BUILD_CORE 1
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE
#endif

static int
empty_hook(PyObject *self, PyFrameObject *frame, int what, PyObject *argument)
{
    (void)self, (void)frame, (void)what, (void)argument;
    return 0;
}

#if PY_VERSION_HEX < 0x030c0000
static int
lines_off_hook(PyObject *self, PyFrameObject *frame, int what, PyObject *argument)
{
    (void)self, (void)argument;
    if (what == PyTrace_CALL) {
        frame->f_trace_lines = 0;
    }
    return 0;
}
#endif

typedef struct CallbackObject {
    PyObject_HEAD
    vectorcallfunc call;
} CallbackObject;

static PyObject *
empty_callback(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    (void)self, (void)args, (void)count, (void)names;
    Py_RETURN_NONE;
}

static PyMemberDef callback_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(CallbackObject, call), READONLY,
     NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot callback_slots[] = {
    {Py_tp_call, (void *)PyVectorcall_Call},
    {Py_tp_members, callback_members},
    {0, NULL},
};

static PyType_Spec callback_spec = {
    .name = "filmstrip_floor.Callback",
    .basicsize = sizeof(CallbackObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .slots = callback_slots,
};

static const char *const event_names[] = {
    "PY_START",  "PY_RESUME", "PY_RETURN",         "PY_YIELD", "PY_THROW",
    "PY_UNWIND", "RAISE",     "EXCEPTION_HANDLED", "LINE", /* the last: only where lines
                                                              are asked for */
};

#define TOOL 3

/* Calls a method of sys.monitoring; false with an exception. */
static int
call(PyObject *result)
{
    Py_XDECREF(result);
    return result != NULL;
}

static int
start_monitoring(int lines)
{
    size_t count = sizeof(event_names) / sizeof(event_names[0]) - (lines ? 0 : 1);
    PyObject *module = PySys_GetObject("monitoring");
    PyObject *type = NULL, *events = NULL;
    long wanted = 0;
    int done = 0;

    if (module == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "this Python has no sys.monitoring");
        return 0;
    }
    type = PyType_FromSpec(&callback_spec);
    events = PyObject_GetAttrString(module, "events");
    if (type == NULL || events == NULL ||
        !call(PyObject_CallMethod(module, "use_tool_id", "is", TOOL, "floor"))) {
        goto out;
    }
    for (size_t index = 0; index < count; index++) {
        PyObject *number = PyObject_GetAttrString(events, event_names[index]);
        CallbackObject *callback = PyObject_New(CallbackObject, (PyTypeObject *)type);
        long bit = number == NULL ? -1 : PyLong_AsLong(number);

        Py_XDECREF(number);
        if (callback == NULL || bit <= 0) {
            goto out;
        }
        callback->call = empty_callback;
        if (!call(PyObject_CallMethod(module, "register_callback", "ilN", TOOL, bit,
                                      (PyObject *)callback))) {
            goto out;
        }
        wanted |= bit;
    }
    done = call(PyObject_CallMethod(module, "set_events", "il", TOOL, wanted));
out:
    Py_XDECREF(events);
    Py_XDECREF(type);
    return done;
}

static PyObject *
start(PyObject *module, PyObject *argument)
{
    const char *mode = PyUnicode_AsUTF8(argument);

    (void)module;
    if (mode == NULL) {
        return NULL;
    }
    if (strcmp(mode, "monitoring") == 0 || strcmp(mode, "monitoring_lines") == 0) {
        if (!start_monitoring(strcmp(mode, "monitoring_lines") == 0)) {
            return NULL;
        }
    }
    else if (strcmp(mode, "trace_lines") == 0) {
        PyEval_SetTrace(empty_hook, NULL);
    }
    else if (strcmp(mode, "profile") == 0) {
        PyEval_SetProfile(empty_hook, NULL);
    }
#if PY_VERSION_HEX < 0x030c0000
    else if (strcmp(mode, "trace") == 0) {
        PyEval_SetTrace(lines_off_hook, NULL);
    }
#endif
    else {
        PyErr_SetString(PyExc_ValueError, mode);
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
stop(PyObject *module, PyObject *unused)
{
    PyObject *monitoring = PySys_GetObject("monitoring");

    (void)module, (void)unused;
    PyEval_SetProfile(NULL, NULL);
    PyEval_SetTrace(NULL, NULL);
    if (monitoring != NULL) {
        if (!call(PyObject_CallMethod(monitoring, "set_events", "ii", TOOL, 0)) ||
            !call(PyObject_CallMethod(monitoring, "free_tool_id", "i", TOOL))) {
            PyErr_Clear(); /* was not started */
        }
    }
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"start", start, METH_O, NULL},
    {"stop", stop, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "filmstrip_floor",
    .m_size = 0,
    .m_methods = methods,
};

PyMODINIT_FUNC
PyInit_filmstrip_floor(void)
{
    return PyModule_Create(&definition);
}
