/* modes.h: FunctionMode and DispatchMode, torch's own way of seeing operations, as types
 * in C: for those who want exactly what a torch mode sees. While one is entered, each
 * call that torch hands to it is an op of the recording with FILM_OPERATION_MODE.
 *
 * A function mode sees what the program calls, also functions of torch's written in
 * Python and getters; a dispatch mode the ATen ops below autograd. Both see the thread
 * that entered them alone, and cost some 820 and 2,900 ns an op by torch's own doing.
 * Threads: the holder of the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_TORCH_MODES_H
#define FILMSTRIP_RECORDER_TORCH_MODES_H

#include "recorder/compat.h"

/* The operation that a mode of this thread hands on now and has told already: the hook
 * does not tell it again. NULL: none. */
extern __thread const PyObject *film_this_threads_handed_on
    __attribute__((tls_model("initial-exec")));

/* True once for the callable that a mode has told and hands on. */
static inline bool
film_mode_has_told(const PyObject *callable)
{
    if (FILM_LIKELY(film_this_threads_handed_on == NULL) ||
        film_this_threads_handed_on != callable) {
        return false;
    }
    film_this_threads_handed_on = NULL;
    return true;
}

/* Adds the types to the extension. False with an exception. */
bool
film_modes_prepare(PyObject *module);

#endif
