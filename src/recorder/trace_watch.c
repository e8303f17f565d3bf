/* trace_watch.c: 3.11: learning that the program set a slot or began a thread.
 *
 * While a recording is on, the builtins sys.settrace, sys.setprofile and
 * _thread.start_new_thread call ours, which call the originals and look at the slots
 * afterwards; only the function objects' inner pointers change, and they are put back.
 * Code in C that sets a slot itself passes CPython's audit event: from there a pending
 * call looks again, in the main thread, right after the current instruction.
 *
 * The audit hook cannot be removed. It stays for the life of the process and returns
 * at once while nothing is recorded.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/trace_control.h"

#if !FILM_HAS_MONITORING

#include <string.h>

typedef struct watched_builtin {
    const char *module, *name;
    PyCFunction replacement;
    PyCFunctionObject *function; /* owned while replaced */
    PyMethodDef *original;       /* borrowed from the interpreter */
    PyMethodDef replaced;
} watched_builtin;

static int inside_watched; /* > 0: the audit hook need not act */
static bool pending;       /* a pending call is on its way */

/* Who last set a slot: compared with what lives, never followed. */
static struct {
    const PyThreadState *state;
    const film_frame *frame;
} last_setter;

static PyObject *
call_original(PyCFunction replacement, PyObject *module, PyObject *arg);

static PyObject *
watched_settrace(PyObject *module, PyObject *arg)
{
    return call_original(watched_settrace, module, arg);
}

static PyObject *
watched_setprofile(PyObject *module, PyObject *arg)
{
    return call_original(watched_setprofile, module, arg);
}

static PyObject *
watched_start_new_thread(PyObject *module, PyObject *arg)
{
    return call_original(watched_start_new_thread, module, arg);
}

static PyObject *
watched_start_new(PyObject *module, PyObject *arg)
{
    return call_original(watched_start_new, module, arg);
}

static watched_builtin builtins[] = {
    {.module = "sys", .name = "settrace", .replacement = watched_settrace},
    {.module = "sys", .name = "setprofile", .replacement = watched_setprofile},
    {.module = "_thread",
     .name = "start_new_thread",
     .replacement = watched_start_new_thread},
    {.module = "_thread", .name = "start_new", .replacement = watched_start_new},
};

#define BUILTIN_COUNT (sizeof(builtins) / sizeof(builtins[0]))

static PyObject *
call_original(PyCFunction replacement, PyObject *module, PyObject *arg)
{
    size_t index = 0;
    PyObject *result;

    while (builtins[index].replacement != replacement) {
        index++;
    }
    inside_watched++;
    result = builtins[index].original->ml_meth(module, arg);
    inside_watched--;
    film_control_take_all();
    return result;
}

/* An audit event comes before its deed, and audit hooks written in Python may run
 * between the two: then the thread has frames above the one that sets the slot. */
static bool
setter_is_still_at_it(void)
{
    PyThreadState *state = PyInterpreterState_ThreadHead(PyInterpreterState_Main());
    const film_frame *frame;

    while (state != NULL && state != last_setter.state) {
        state = PyThreadState_Next(state);
    }
    if (state == NULL || last_setter.frame == NULL ||
        state->cframe->current_frame == last_setter.frame) {
        return false;
    }
    frame = state->cframe->current_frame;
    while (frame != NULL && frame != last_setter.frame) {
        frame = frame->previous;
    }
    return frame != NULL;
}

/* How often a pending call comes back while the setter is at it: enough for a short
 * audit hook in Python; a long one must not keep the interpreter busy with us. */
#define MOST_TRIES 1000u

static int
take_later(void *Py_UNUSED(unused))
{
    static unsigned tries;

    pending = tries < MOST_TRIES && setter_is_still_at_it() &&
              Py_AddPendingCall(take_later, NULL) == 0;
    tries = pending ? tries + 1 : 0;
    if (!pending) {
        film_control_take_all();
    }
    return 0;
}

static int
on_audit(const char *event, PyObject *Py_UNUSED(args), void *Py_UNUSED(data))
{
    const film_control *control = &film_the_control;

    if ((control->trace == NULL && control->profile == NULL) || inside_watched > 0) {
        return 0;
    }
    if (strcmp(event, "sys.settrace") != 0 && strcmp(event, "sys.setprofile") != 0 &&
        strcmp(event, "_thread.start_new_thread") != 0) {
        return 0;
    }
    film_the_control.changed = true;
    last_setter.state = film_compat_thread_state();
    last_setter.frame = film_compat_current_frame();
    if (!pending) {
        pending = Py_AddPendingCall(take_later, NULL) == 0;
    }
    return 0;
}

/* The module's function of that name, if it is still the builtin; borrowed. */
static PyCFunctionObject *
find_builtin(const watched_builtin *watched)
{
    PyObject *module = PyImport_ImportModule(watched->module);
    PyObject *function = NULL;

    if (module != NULL) {
        function = PyDict_GetItemString(PyModule_GetDict(module), watched->name);
        Py_DECREF(module); /* sys.modules holds it */
    }
    PyErr_Clear();
    if (function == NULL || !PyCFunction_CheckExact(function) ||
        strcmp(((PyCFunctionObject *)function)->m_ml->ml_name, watched->name) != 0) {
        return NULL;
    }
    return (PyCFunctionObject *)function;
}

bool
film_control_watch(void)
{
    static bool hooked;

    if (!hooked) {
        if (PySys_AddAuditHook(on_audit, NULL) < 0) {
            return false;
        }
        hooked = true;
    }
    for (size_t index = 0; index < BUILTIN_COUNT; index++) {
        watched_builtin *watched = &builtins[index];

        if (watched->function != NULL) {
            continue;
        }
        watched->function = find_builtin(watched);
        if (watched->function == NULL) {
            continue;
        }
        Py_INCREF(watched->function);
        watched->original = watched->function->m_ml;
        watched->replaced = *watched->original;
        watched->replaced.ml_meth = watched->replacement;
        watched->function->m_ml = &watched->replaced;
        if (watched->replacement == watched_setprofile) {
            film_the_control.setprofile = (PyObject *)watched->function;
        }
    }
    return true;
}

void
film_control_unwatch(void)
{
    film_the_control.setprofile = NULL;
    for (size_t index = 0; index < BUILTIN_COUNT; index++) {
        watched_builtin *watched = &builtins[index];

        if (watched->function != NULL) {
            if (watched->function->m_ml == &watched->replaced) {
                watched->function->m_ml = watched->original;
            }
            Py_CLEAR(watched->function);
        }
    }
}

#endif
