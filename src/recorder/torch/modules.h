/* modules.h: the path of the nn.Module whose call is under way: layers.3.attn.qkv.
 *
 * Read from frames and from the `_modules` dicts in place: a module that is called is the
 * `self` of a frame of Module._call_impl; its path leads from the outermost module whose
 * call it lies within. Worked out at the first call of each module and kept: a module
 * that several others share has the path by which it was met first.
 * Threads: the holder of the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_TORCH_MODULES_H
#define FILMSTRIP_RECORDER_TORCH_MODULES_H

#include "recorder/compat.h"

#include "recorder/thread_context.h"

/* The code of Module._call_impl; NULL: not known. Identity only. */
extern const PyObject *film_the_module_call;

/* True for a frame in which a module is called. */
static inline bool
film_frame_calls_module(const film_frame *frame)
{
    return film_the_module_call != NULL &&
           film_frame_code(frame) == film_the_module_call;
}

/* The path of the module that such a frame calls, as a string id; 0: not known. */
uint32_t
film_module_path(film_context *context, const film_frame *frame);

/* torch.nn has been imported: finds the code. */
void
film_modules_begin(void);

/* A recording begins or ends: no path is known. */
void
film_modules_reset(void);

#endif
