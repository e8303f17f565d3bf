/* apart.h: work on torch that the program must not notice.
 *
 * Modes (of functions, of dispatch, a default device), inference mode, vmap's levels,
 * whether autograd records and the numbers it gives to its nodes: all of that torch keeps
 * for each thread. So tensors of our own are made in a thread of our own, which begins
 * with none of it: no mode of the program's sees them, or changes what they are.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_TORCH_APART_H
#define FILMSTRIP_RECORDER_TORCH_APART_H

#include "recorder/compat.h"

/* Runs work(torch_module) in a new thread, with the GIL, and waits for it. Where there can
 * be no thread, and while torch is being imported, in this one: torch imports itself here
 * and there, which the new thread would wait for. (Then nothing of it is used yet.) Called
 * with the GIL, which others may have meanwhile. The work may run no Python code: its events
 * would be recorded. It leaves no exception. */
void
film_run_apart(void (*work)(PyObject *torch_module), PyObject *torch_module);

#endif
