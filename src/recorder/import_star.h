/* import_star.h: the names that `from module import *` writes.
 * Threads: the context's own, with the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_IMPORT_STAR_H
#define FILMSTRIP_RECORDER_IMPORT_STAR_H

#include "recorder/compat.h"

#include "recorder/thread_context.h"

/* The frame is about to take every public name of `module` (borrowed): their rows, in
 * the order in which they are written. False when one was not written. */
bool
film_import_star(film_context *context, const film_frame *frame, PyObject *module);

#endif
