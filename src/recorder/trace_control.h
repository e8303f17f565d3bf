/* trace_control.h: 3.11: keeping the trace and profile slots of every thread.
 *
 * CPython 3.11 has one trace and one profile function per thread, and the program may
 * set both. Ours sits in the function's slot; what the program set stays in the
 * object's slot, so sys.gettrace() and sys.getprofile() answer as without us, and its
 * function is called after ours with the same arguments.
 *
 * Threads: with the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_TRACE_CONTROL_H
#define FILMSTRIP_RECORDER_TRACE_CONTROL_H

#include "recorder/compat.h"

#if !FILM_HAS_MONITORING

#include <internal/pycore_interp.h>

typedef struct film_control {
    Py_tracefunc trace;    /* ours, NULL: the slot is left alone */
    Py_tracefunc profile;  /* ours, NULL: the slot is left alone */
    bool changed;          /* somebody set a slot, or a thread was begun */
    PyObject *setprofile;  /* sys.setprofile while it is watched, borrowed */
    PyThreadState *newest; /* head of the list of threads when last looked at */
} film_control;

extern film_control film_the_control;

/* Puts our functions into the slots of all threads, whatever is there now. */
void
film_control_take_all(void);

/* The same for one thread. */
void
film_control_take(PyThreadState *state);

/* Puts back what the program set, everywhere. */
void
film_control_release_all(void);

/* Calls what the program set after ours, and takes the slot again if that call gave it
 * away. Its result is the event's. */
int
film_control_call_trace(PyObject *self, PyFrameObject *frame, int what, PyObject *arg);

int
film_control_call_profile(PyObject *self, PyFrameObject *frame, int what,
                          PyObject *arg);

/* sys.settrace, sys.setprofile and _thread.start_new_thread tell us at once; an audit
 * hook and a pending call see those who use the C functions. False with an exception.
 */
bool
film_control_watch(void);

void
film_control_unwatch(void);

/* True once if somebody changed a slot or began a thread since the last call. */
static inline bool
film_control_is_stale(const PyThreadState *state)
{
    return film_the_control.changed ||
           state->interp->threads.head != film_the_control.newest;
}

#endif
#endif
