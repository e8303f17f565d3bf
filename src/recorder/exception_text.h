/* exception_text.h: what str(exception) says, where that can be told without running
 * code of the program: made of the arguments that are plain values, as CPython's own
 * exceptions make it. A class with a __str__ of its own is shown by its arguments.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_EXCEPTION_TEXT_H
#define FILMSTRIP_RECORDER_EXCEPTION_TEXT_H

#include "recorder/compat.h"

typedef struct film_line {
    char *text; /* UTF-8, borrowed */
    size_t length, capacity;
    bool cut; /* there was no room for all of it */
} film_line;

/* Appends the text; false: there is none. */
bool
film_exception_text(PyObject *exception, film_line *line);

/* The same for what will be the argument of an exception that is not made yet. */
bool
film_argument_text(PyTypeObject *type, PyObject *argument, film_line *line);

#endif
