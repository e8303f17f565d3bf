/* c_functions.c: see c_functions.h. As cProfile does, builtin functions and methods and
 * method descriptors count as C functions; a class that is called does not.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/c_functions.h"

#include <stdio.h>
#include <string.h>

#include "recorder/session.h"
#include "recorder/text.h"

#define OWNER_BYTES 200
#define NAME_BYTES 480

static const char *
last_part(const char *dotted)
{
    const char *dot = strrchr(dotted, '.');

    return dot == NULL ? dotted : dot + 1;
}

bool
film_c_function_id(PyObject *callable, uint32_t *id)
{
    char owner[OWNER_BYTES + 1] = "", name[NAME_BYTES];
    const char *function;
    int length;

    if (PyCFunction_Check(callable)) {
        PyCFunctionObject *builtin = (PyCFunctionObject *)callable;
        PyObject *self = builtin->m_self;

        function = builtin->m_ml->ml_name;
        if (self != NULL && PyType_Check(self)) {
            (void)snprintf(owner, sizeof(owner), "%s",
                           last_part(((PyTypeObject *)self)->tp_name));
        }
        else if (self != NULL && !PyModule_Check(self)) {
            (void)snprintf(owner, sizeof(owner), "%s",
                           last_part(Py_TYPE(self)->tp_name));
        }
        else if (builtin->m_module != NULL && PyUnicode_CheckExact(builtin->m_module)) {
            (void)film_text_copy(builtin->m_module, owner, OWNER_BYTES, NULL);
        }
    }
    else if (Py_IS_TYPE(callable, &PyMethodDescr_Type) ||
             Py_IS_TYPE(callable, &PyClassMethodDescr_Type)) {
        PyMethodDescrObject *builtin = (PyMethodDescrObject *)callable;

        function = builtin->d_method->ml_name;
        (void)snprintf(owner, sizeof(owner), "%s",
                       last_part(builtin->d_common.d_type->tp_name));
    }
    else {
        return false;
    }
    length = snprintf(name, sizeof(name), "%s%s%s", owner, owner[0] == '\0' ? "" : ".",
                      function);
    if (length < 0) {
        return false;
    }
    if ((size_t)length >= sizeof(name)) {
        length = (int)sizeof(name) - 1;
    }
    *id = film_writer_string(film_the_session.writer, name, (size_t)length);
    return true;
}
