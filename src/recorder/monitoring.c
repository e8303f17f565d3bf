/* monitoring.c: our tool in sys.monitoring (3.12 and later): its id, its callbacks, the
 * events it asks for.
 *
 * Callbacks are objects with a vectorcall slot of their own: one call layer less than a
 * builtin function (11 % of an event).
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/compat.h"

#if FILM_HAS_MONITORING

#include <stddef.h>

#include "recorder/code_registry.h"
#include "recorder/hooks.h"
#include "recorder/monitoring.h"
#include "recorder/session.h"

#define TOOL_NAME "filmstrip"

typedef struct CallbackObject {
    PyObject_HEAD
    vectorcallfunc call;
} CallbackObject;

static struct {
    PyTypeObject *type; /* owned, for the life of the process */
    int tool;           /* -1: none */
    int events;
    int instruction; /* the bit of INSTRUCTION events */
} monitoring = {.tool = -1};

/* 0 to 2 are what debuggers, coverage and profilers ask for. */
static const int tool_ids[] = {4, 3, 5};

static void
callback_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    type->tp_free(self);
    Py_DECREF(type);
}

static PyMemberDef callback_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(CallbackObject, call), READONLY,
     NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot callback_slots[] = {
    {Py_tp_dealloc, (void *)callback_dealloc},
    {Py_tp_call, (void *)PyVectorcall_Call},
    {Py_tp_members, callback_members},
    {0, NULL},
};

static PyType_Spec callback_spec = {
    .name = "filmstrip._recorder.Callback",
    .basicsize = sizeof(CallbackObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL |
             Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = callback_slots,
};

int
film_hooks_prepare(PyObject *module)
{
    if (monitoring.type == NULL) {
        monitoring.type =
            (PyTypeObject *)PyType_FromModuleAndSpec(module, &callback_spec, NULL);
    }
    return monitoring.type == NULL ? -1 : 0;
}

/* Borrowed; NULL with an exception. */
static PyObject *
monitoring_module(void)
{
    PyObject *module = PySys_GetObject("monitoring");

    if (module == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "this Python has no sys.monitoring");
    }
    return module;
}

/* The bit of an event, 0 when this Python lacks it. */
static int
event_bit(PyObject *module, const char *name)
{
    PyObject *events = PyObject_GetAttrString(module, "events");
    PyObject *number = events == NULL ? NULL : PyObject_GetAttrString(events, name);
    long bit = number == NULL ? 0 : PyLong_AsLong(number);

    Py_XDECREF(number);
    Py_XDECREF(events);
    PyErr_Clear();
    return bit > 0 ? (int)bit : 0;
}

/* True when the tool id is in our name; never with an exception set. */
static bool
tool_is_ours(PyObject *module)
{
    PyObject *name = PyObject_CallMethod(module, "get_tool", "i", monitoring.tool);
    bool ours = name != NULL && PyUnicode_Check(name) &&
                PyUnicode_CompareWithASCIIString(name, TOOL_NAME) == 0;

    Py_XDECREF(name);
    PyErr_Clear();
    return ours;
}

bool
film_hooks_reserve(void)
{
    PyObject *module = monitoring_module();

    if (module == NULL) {
        return false;
    }
    film_hooks_remove();
    /* Kept for good: if the id is stolen, our callbacks may outlive the recording. */
    if (film_the_session.disable == NULL) {
        film_the_session.disable = PyObject_GetAttrString(module, "DISABLE");
    }
    if (film_the_session.disable == NULL) {
        return false;
    }
    for (size_t index = 0; index < sizeof(tool_ids) / sizeof(tool_ids[0]); index++) {
        PyObject *result = PyObject_CallMethod(module, "use_tool_id", "is",
                                               tool_ids[index], TOOL_NAME);

        if (result != NULL) {
            Py_DECREF(result);
            monitoring.tool = tool_ids[index];
            return true;
        }
        if (!PyErr_ExceptionMatches(PyExc_ValueError)) {
            return false;
        }
        PyErr_Clear();
    }
    PyErr_SetString(
        PyExc_RuntimeError,
        "cannot record: other tools hold the sys.monitoring ids 3, 4 and 5");
    return false;
}

/* Registers `call`, or None where it is NULL, for one event. */
static bool
register_callback(PyObject *module, int bit, vectorcallfunc call)
{
    PyObject *callback = Py_NewRef(Py_None), *previous;

    if (call != NULL) {
        CallbackObject *made = PyObject_New(CallbackObject, monitoring.type);

        Py_DECREF(callback);
        if (made == NULL) {
            return false;
        }
        made->call = call;
        callback = (PyObject *)made;
    }
    previous = PyObject_CallMethod(module, "register_callback", "iiO", monitoring.tool,
                                   bit, callback);
    Py_DECREF(callback);
    Py_XDECREF(previous);
    return previous != NULL;
}

/* The events our tool gets now; -1 with an exception set. */
static int
current_events(PyObject *module)
{
    PyObject *events = PyObject_CallMethod(module, "get_events", "i", monitoring.tool);
    long bits;

    if (events == NULL) {
        return -1;
    }
    bits = PyLong_AsLong(events);
    Py_DECREF(events);
    return (int)bits;
}

static bool
set_events(PyObject *module, int events)
{
    PyObject *result =
        PyObject_CallMethod(module, "set_events", "ii", monitoring.tool, events);

    Py_XDECREF(result);
    return result != NULL;
}

static bool
is_wanted(const film_event_hook *hook)
{
    const film_session_options *options = &film_the_session.options;

    /* Level values must know where a frame leaves its line, told or not. */
    return (!hook->exceptions || options->exceptions ||
            options->level >= FILM_LEVEL_VALUES) &&
           (!hook->c_calls || options->c_calls) && hook->level <= options->level;
}

bool
film_hooks_install(void)
{
    PyObject *module = monitoring_module();

    if (module == NULL) {
        return false;
    }
    monitoring.events = 0;
    for (size_t index = 0; index < film_event_hook_count; index++) {
        int bit = is_wanted(&film_event_hooks[index])
                      ? event_bit(module, film_event_hooks[index].name)
                      : 0;

        if (bit != 0 && !register_callback(module, bit, film_event_hooks[index].call)) {
            return false;
        }
        if (film_event_hooks[index].local) {
            monitoring.instruction = bit;
        }
        else {
            monitoring.events |= bit;
        }
    }
    if (film_the_session.had_recording) {
        /* Places that an earlier recording with other targets disabled; this wakes
         * those of other tools too, so it is not done the first time. */
        PyObject *result = PyObject_CallMethod(module, "restart_events", NULL);

        if (result == NULL) {
            return false;
        }
        Py_DECREF(result);
    }
    /* C_RETURN and C_RAISE come with CALL: they may not be asked for alone and are not
     * told by get_events, so what it says now is what to expect later. */
    if (!set_events(module, monitoring.events)) {
        return false;
    }
    monitoring.events = current_events(module);
    return monitoring.events >= 0;
}

static void
set_local_events(PyObject *module, PyCodeObject *code, int events)
{
    PyObject *result = PyObject_CallMethod(module, "set_local_events", "iOi",
                                           monitoring.tool, (PyObject *)code, events);

    Py_XDECREF(result);
    PyErr_Clear();
}

void
film_hooks_watch(PyCodeObject *code)
{
    PyObject *module = monitoring.tool < 0 ? NULL : monitoring_module();

    if (module != NULL) {
        /* None first: places that were disabled come back only so. */
        set_local_events(module, code, 0);
        set_local_events(module, code, monitoring.instruction);
    }
    PyErr_Clear();
}

void
film_hooks_check_control(void)
{
    PyObject *module = monitoring.tool < 0 ? NULL : monitoring_module();

    if (module == NULL) {
        PyErr_Clear();
        return;
    }
    if (!tool_is_ours(module)) {
        film_session_lost_control("another tool took filmstrip's sys.monitoring id", 1);
        return;
    }
    if (current_events(module) != monitoring.events) {
        film_session_lost_control("the program changed filmstrip's events", 1);
    }
    PyErr_Clear();
}

void
film_hooks_remove(void)
{
    PyObject *module;
    film_saved_error saved;

    if (monitoring.tool < 0) {
        return;
    }
    film_compat_save_error(&saved);
    module = monitoring_module();
    /* free_tool_id alone leaves events and callbacks alive before 3.14. */
    if (module != NULL && tool_is_ours(module)) {
        PyObject *result;

        (void)set_events(module, 0);
        PyErr_Clear();
        for (film_code *code = film_codes_watched; code != NULL;
             code = code->next_watched) {
            set_local_events(module, code->code, 0);
        }
        for (size_t index = 0; index < film_event_hook_count; index++) {
            int bit = event_bit(module, film_event_hooks[index].name);

            if (bit != 0) {
                (void)register_callback(module, bit, NULL);
            }
            PyErr_Clear();
        }
        result = PyObject_CallMethod(module, "free_tool_id", "i", monitoring.tool);
        Py_XDECREF(result);
    }
    PyErr_Clear();
    monitoring.tool = -1;
    monitoring.events = 0;
    film_compat_restore_error(&saved);
}

#endif
