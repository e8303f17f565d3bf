/* compat_asyncio.h: where the CPythons keep the event loop and the task that run in a
 * thread. A part of compat.h that only tasks.c needs.
 * Threads: with the GIL. What comes back is borrowed.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_COMPAT_ASYNCIO_H
#define FILMSTRIP_RECORDER_COMPAT_ASYNCIO_H

#include "recorder/compat.h"

/* From 3.14 on, the task that runs is a field of the thread's state; before, _asyncio
 * has a dict of them. */
#if PY_VERSION_HEX >= 0x030e0000
#define FILM_TASK_IN_THREAD_STATE 1
#else
#define FILM_TASK_IN_THREAD_STATE 0
#endif

static inline PyObject *
film_compat_running_task(void)
{
#if FILM_TASK_IN_THREAD_STATE
    return ((const _PyThreadStateImpl *)film_compat_thread_state())
        ->asyncio_running_task;
#else
    return NULL;
#endif
}

/* The loop that runs in this thread, NULL: none does. The caller has put a pending
 * exception aside. */
static inline PyObject *
film_compat_running_loop(void)
{
#if PY_VERSION_HEX >= 0x030d0000
    return ((const _PyThreadStateImpl *)film_compat_thread_state())
        ->asyncio_running_loop;
#else
    static PyObject *key; /* owned, for the life of the process */
    PyObject *dict = film_compat_thread_state()->dict, *holder;

    if (dict == NULL || !film_compat_dict_is_plain(dict)) {
        return NULL;
    }
    if (key == NULL) {
        key = PyUnicode_InternFromString("__asyncio_running_event_loop__");
    }
    holder = key == NULL ? NULL : PyDict_GetItemWithError(dict, key);
#if PY_VERSION_HEX >= 0x030c0000
    return holder;
#else
    /* _RunningLoopHolder of _asyncio: the loop is its first field. */
    return holder == NULL ? NULL : *(PyObject **)(holder + 1);
#endif
#endif
}

#endif
