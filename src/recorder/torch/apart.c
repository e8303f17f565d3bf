/* apart.c: see apart.h.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "recorder/torch/apart.h"

#include <pthread.h>
#include <signal.h>

typedef struct apart_work {
    void (*work)(PyObject *torch_module);
    PyObject *torch_module;
} apart_work;

static void *
thread_main(void *pointer)
{
    const apart_work *given = pointer;
    PyGILState_STATE state = PyGILState_Ensure();

    given->work(given->torch_module);
    PyErr_Clear();
    PyGILState_Release(state);
    return NULL;
}

static bool
is_being_imported(PyObject *module)
{
    PyObject *spec = PyObject_GetAttrString(module, "__spec__");
    PyObject *answer =
        spec == NULL ? NULL : PyObject_GetAttrString(spec, "_initializing");
    bool being =
        answer == NULL ? spec != NULL && spec != Py_None : PyObject_IsTrue(answer) == 1;

    PyErr_Clear();
    Py_XDECREF(spec);
    Py_XDECREF(answer);
    return being;
}

void
film_run_apart(void (*work)(PyObject *torch_module), PyObject *torch_module)
{
    apart_work given = {work, torch_module};
    sigset_t all, before;
    pthread_t thread;
    bool began = false;

    if (is_being_imported(torch_module)) {
        work(torch_module);
        PyErr_Clear();
        return;
    }
    /* The program's signals are for the program's threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    began = pthread_create(&thread, NULL, thread_main, &given) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!began) {
        work(torch_module);
        return;
    }
    Py_BEGIN_ALLOW_THREADS;
    pthread_join(thread, NULL);
    Py_END_ALLOW_THREADS;
}
