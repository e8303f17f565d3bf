/* trace_control.c: see trace_control.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/trace_control.h"

#if !FILM_HAS_MONITORING

#include <stdlib.h>
#include <string.h>

#include <internal/pycore_pystate.h>

#include "recorder/session.h"

film_control film_the_control;

/* A thread whose slots we took, and what the program has there. */
typedef struct taken_thread {
    PyThreadState *state; /* identity, with id: addresses are reused */
    uint64_t id;
    Py_tracefunc trace, profile;   /* the program's, NULL: none */
    bool trace_none, profile_none; /* its object was NULL and is None now */
    bool new_profile;              /* nothing was told to `profile` yet */
} taken_thread;

static struct {
    taken_thread *items; /* owned */
    size_t count, room;
} taken;

static taken_thread *
find_taken(const PyThreadState *state)
{
    for (size_t index = 0; index < taken.count; index++) {
        if (taken.items[index].state == state) {
            if (taken.items[index].id != state->id) {
                taken.items[index] = (taken_thread){.id = state->id};
                return NULL; /* the slot of a dead thread: see add_taken */
            }
            return &taken.items[index];
        }
    }
    return NULL;
}

static taken_thread *
add_taken(PyThreadState *state)
{
    taken_thread *found = NULL;

    for (size_t index = 0; found == NULL && index < taken.count; index++) {
        if (taken.items[index].state == NULL) {
            found = &taken.items[index];
        }
    }
    if (found == NULL) {
        if (taken.count == taken.room) {
            size_t room = taken.room == 0 ? 16 : taken.room * 2;
            taken_thread *items = realloc(taken.items, room * sizeof(*items));

            if (items == NULL) {
                return NULL;
            }
            taken.items = items;
            taken.room = room;
        }
        found = &taken.items[taken.count++];
    }
    *found = (taken_thread){.state = state, .id = state->id};
    return found;
}

/* Line events of open frames were turned off by us: on again for the program's own
 * tracing. */
static void
restore_lines(PyThreadState *state)
{
    film_frame *frame = state->cframe->current_frame;

    for (; frame != NULL; frame = frame->previous) {
        if (frame->frame_obj != NULL) {
            frame->frame_obj->f_trace_lines = 1;
        }
    }
}

/* A tracer in C may have no object; None stands for it, as sys.gettrace() says. */
static void
take_slot(Py_tracefunc ours, Py_tracefunc *function, PyObject **object_slot,
          Py_tracefunc *theirs, bool *was_null)
{
    *theirs = *function;
    *was_null = *function != NULL && *object_slot == NULL;
    if (*was_null) {
        *object_slot = Py_NewRef(Py_None);
    }
    *function = ours;
}

void
film_control_take(PyThreadState *state)
{
    film_control *control = &film_the_control;
    bool trace = control->trace != NULL && state->c_tracefunc != control->trace;
    bool profile = control->profile != NULL && state->c_profilefunc != control->profile;
    taken_thread *thread;

    if (!trace && !profile) {
        return;
    }
    thread = find_taken(state);
    if (thread != NULL && state != film_compat_thread_state()) {
        film_session_lost_control("another thread's trace function was replaced", 1);
    }
    if (thread == NULL) {
        thread = add_taken(state);
    }
    if (thread == NULL) {
        return;
    }
    if (trace) {
        take_slot(control->trace, &state->c_tracefunc, &state->c_traceobj,
                  &thread->trace, &thread->trace_none);
        if (thread->trace != NULL) {
            restore_lines(state);
        }
    }
    if (profile) {
        take_slot(control->profile, &state->c_profilefunc, &state->c_profileobj,
                  &thread->profile, &thread->profile_none);
        thread->new_profile = thread->profile != NULL;
    }
    _PyThreadState_UpdateTracingState(state);
}

void
film_control_take_all(void)
{
    film_control *control = &film_the_control;
    PyInterpreterState *interpreter = PyInterpreterState_Main();
    PyThreadState *state = PyInterpreterState_ThreadHead(interpreter);

    control->changed = false;
    control->newest = interpreter->threads.head;
    if (control->trace == NULL && control->profile == NULL) {
        return;
    }
    for (; state != NULL; state = PyThreadState_Next(state)) {
        film_control_take(state);
    }
}

static void
release_slot(Py_tracefunc ours, Py_tracefunc *function, PyObject **object_slot,
             Py_tracefunc theirs, bool was_null)
{
    if (ours == NULL || *function != ours) {
        return;
    }
    *function = theirs;
    if (was_null) {
        Py_CLEAR(*object_slot);
    }
}

void
film_control_release_all(void)
{
    film_control *control = &film_the_control;
    PyInterpreterState *interpreter = PyInterpreterState_Main();
    PyThreadState *state = PyInterpreterState_ThreadHead(interpreter);

    for (; state != NULL; state = PyThreadState_Next(state)) {
        const taken_thread *thread = find_taken(state);
        taken_thread nobody = {0};

        if (thread == NULL) {
            thread = &nobody;
        }
        if (control->trace != NULL && state->c_tracefunc == control->trace) {
            restore_lines(state);
        }
        release_slot(control->trace, &state->c_tracefunc, &state->c_traceobj,
                     thread->trace, thread->trace_none);
        release_slot(control->profile, &state->c_profilefunc, &state->c_profileobj,
                     thread->profile, thread->profile_none);
        _PyThreadState_UpdateTracingState(state);
    }
    control->trace = NULL;
    control->profile = NULL;
    free(taken.items);
    memset(&taken, 0, sizeof(taken));
}

int
film_control_call_trace(PyObject *self, PyFrameObject *frame, int what, PyObject *arg)
{
    PyThreadState *state = film_compat_thread_state();
    const taken_thread *thread = find_taken(state);
    Py_tracefunc theirs = thread == NULL ? NULL : thread->trace;
    PyObject *object_given;
    int result;

    if (theirs == NULL) {
        return 0;
    }
    object_given = thread->trace_none ? NULL : self;
    result = theirs(object_given, frame, what, arg);
    if (film_the_control.trace != NULL) {
        film_control_take(state);
    }
    return result;
}

int
film_control_call_profile(PyObject *self, PyFrameObject *frame, int what, PyObject *arg)
{
    PyThreadState *state = film_compat_thread_state();
    taken_thread *thread = find_taken(state);
    Py_tracefunc theirs = thread == NULL ? NULL : thread->profile;
    PyObject *object_given;
    bool is_new;
    int result;

    if (theirs == NULL) {
        return 0;
    }
    /* Without us the return of sys.setprofile itself would not be told: nothing
     * watched the call when it began. */
    is_new = thread->new_profile;
    thread->new_profile = false;
    if (is_new && what == PyTrace_C_RETURN && arg == film_the_control.setprofile) {
        return 0;
    }
    object_given = thread->profile_none ? NULL : self;
    result = theirs(object_given, frame, what, arg);
    if (film_the_control.profile != NULL) {
        film_control_take(state);
    }
    return result;
}

#endif
