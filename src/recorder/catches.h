/* catches.h: the places in a code object where the interpreter itself catches.
 *
 * A for loop ends by a StopIteration, an await by one too, an async for by a
 * StopAsyncIteration; and the compiler adds handlers of its own that only put things
 * in order and raise again. All of it is reported as if the program had raised and
 * handled something. It has not: nothing of it is told.
 * Threads: the holder of the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_CATCHES_H
#define FILMSTRIP_RECORDER_CATCHES_H

#include "recorder/compat.h"

typedef struct film_catches film_catches;

/* NULL: there are none, or memory is out. */
film_catches *
film_catches_new(PyCodeObject *code);

void
film_catches_free(film_catches *catches);

/* An exception is raised at `unit`: true when it only ends a loop or an await there.
 * `exception` is an instance or a class. */
bool
film_catches_raise(const film_catches *catches, PyCodeObject *code, uint32_t unit,
                   PyObject *exception);

/* True when the handler that begins at `unit` is the compiler's own. */
bool
film_catches_handler(const film_catches *catches, uint32_t unit);

/* An exception is thrown into a frame that is suspended at `unit`: true when it is what
 * the awaited coroutine, or the generator it yields from, has returned. */
bool
film_catches_throw(const film_catches *catches, PyCodeObject *code, uint32_t unit,
                   PyObject *exception);

#endif
