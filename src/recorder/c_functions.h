/* c_functions.h: the name of a C function, read from its structures.
 * Threads: the holder of the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_C_FUNCTIONS_H
#define FILMSTRIP_RECORDER_C_FUNCTIONS_H

#include "recorder/compat.h"

/* The string id of a C function ("builtins.len", "list.append"). False when `callable`
 * (borrowed) is no C function: Python functions and classes tell of themselves. */
bool
film_c_function_id(PyObject *callable, uint32_t *id);

#endif
