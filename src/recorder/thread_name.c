/* thread_name.c: the name threading gives a thread, read from its objects.
 * threading.current_thread() would run Python code, so the thread's object is found in
 * threading._active, or, before it is entered there, as `self` of the thread's
 * outermost frame. Its `_name` is read only where no descriptor of a subclass could
 * answer.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "recorder/thread_context.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/text.h"

static bool
is_main_thread(void)
{
    return syscall(SYS_gettid) == (long)getpid();
}

/* Borrowed; NULL without an exception. */
static PyObject *
plain_item(PyObject *dict, const char *key)
{
    PyObject *item;

    if (dict == NULL || !film_compat_dict_is_plain(dict)) {
        return NULL;
    }
    item = PyDict_GetItemString(dict, key);
    PyErr_Clear();
    return item;
}

/* The running thread's entry in threading._active; borrowed, or NULL. */
static PyObject *
active_thread(PyObject *threading_dict)
{
    PyObject *active = plain_item(threading_dict, "_active");
    PyObject *ident, *found = NULL;

    if (active == NULL || !PyDict_CheckExact(active)) {
        return NULL;
    }
    ident = PyLong_FromUnsignedLong(PyThread_get_thread_ident());
    if (ident != NULL) {
        /* Keys are ints that threading put there: comparing runs no user code. */
        found = PyDict_GetItemWithError(active, ident);
        Py_DECREF(ident);
    }
    PyErr_Clear();
    return found;
}

/* `self` of the outermost frame, if that is a method of threading; borrowed. */
static PyObject *
bootstrapping_thread(const film_frame *frame)
{
    const film_frame *outermost = frame;
    PyCodeObject *code;
    char file[512];
    size_t length;

    while (frame != NULL) {
        outermost = frame;
        frame = film_frame_caller(frame);
    }
    if (outermost == NULL || film_frame_is_incomplete(outermost)) {
        return NULL;
    }
    code = (PyCodeObject *)film_frame_code(outermost);
    length = film_text_copy(code->co_filename, file, sizeof(file) - 1, NULL);
    if (code->co_argcount < 1 || length < 12 ||
        strcmp(file + length - 12, "threading.py") != 0) {
        return NULL;
    }
    return film_frame_local(outermost, 0);
}

static bool
copy_name_of(PyObject *thread, PyObject *thread_type, char *name, size_t capacity)
{
    PyObject *key, *value = NULL;
    bool copied = false;

    if (thread == NULL || thread_type == NULL || !PyType_Check(thread_type) ||
        !PyType_IsSubtype(Py_TYPE(thread), (PyTypeObject *)thread_type)) {
        return false;
    }
    key = PyUnicode_InternFromString("_name");
    if (key == NULL) {
        PyErr_Clear();
        return false;
    }
    if (_PyType_Lookup(Py_TYPE(thread), key) == NULL) {
        value = PyObject_GenericGetAttr(thread, key);
    }
    PyErr_Clear();
    if (value != NULL && PyUnicode_CheckExact(value)) {
        (void)film_text_copy(value, name, capacity - 1, NULL);
        copied = name[0] != '\0';
    }
    Py_XDECREF(value); /* the thread holds it too: never the last reference */
    Py_DECREF(key);
    return copied;
}

void
film_thread_name(const film_frame *frame, char *name, size_t capacity)
{
    static unsigned unnamed; /* with the GIL */
    PyObject *threading, *dict, *type;

    if (is_main_thread()) {
        (void)snprintf(name, capacity, "MainThread");
        return;
    }
    threading = plain_item(PyImport_GetModuleDict(), "threading");
    if (threading != NULL && PyModule_CheckExact(threading)) {
        dict = PyModule_GetDict(threading);
        type = plain_item(dict, "Thread");
        if (copy_name_of(active_thread(dict), type, name, capacity) ||
            copy_name_of(bootstrapping_thread(frame), type, name, capacity)) {
            return;
        }
    }
    (void)snprintf(name, capacity, "native-%u", ++unnamed);
}
