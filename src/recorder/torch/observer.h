/* observer.h: what torch's C++ code calls itself: the operations within operations, the
 * nodes and operations of the backward pass (`--torch all`).
 *
 * at::addGlobalCallback, found by its linker's name: C++ without a promise to stay what it
 * is. So it is tried first, on an operation and on a node of autograd, and left alone where
 * that does not tell what it must.
 * Threads: the callbacks run in any thread, with the GIL or without. They call no Python,
 * and order themselves against the end of the recording by the session's `lifecycle`.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_TORCH_OBSERVER_H
#define FILMSTRIP_RECORDER_TORCH_OBSERVER_H

#include "recorder/compat.h"

/* Tries it; NULL, or one sentence that says why it cannot be had. With the GIL, where Python
 * may be called; calls operations of torch for the trial. */
const char *
film_observer_prove(PyObject *torch_module);

/* What it tells is recorded from now on; nodes_only: of the backward pass, its nodes
 * alone. */
void
film_observer_begin(bool nodes_only);

/* Harmless when nothing is observed. */
void
film_observer_end(void);

/* A recording begins or ends: string ids mean nothing any more. */
void
film_observer_reset(void);

#endif
