/* thunks.h: methods of C whose calls are seen: one static function of ours for each,
 * because none is told which method it is.
 *
 * The method's ml_meth is swapped: the interpreter, method descriptors and bound methods
 * all come to it in the end. (The hash of a method descriptor is its identity.)
 * Threads: the holder of the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_TORCH_THUNKS_H
#define FILMSTRIP_RECORDER_TORCH_THUNKS_H

#include "recorder/compat.h"

#include "recorder/torch/operations.h"

/* Calls of the operation's method, a descriptor's, are seen; where there are more methods
 * than thunks, they are not. */
void
film_thunk_put(film_operation *operation);

/* All methods are what they were. */
void
film_thunks_remove(void);

#endif
