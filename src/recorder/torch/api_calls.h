/* api_calls.h: torch's functions that are written in Python (torch.nn.functional, methods
 * of Tensor, einsum): calls of them are recorded, with their arguments and what they
 * return, though they are no targets; their lines are not.
 *
 * They are known by what makes them so: they ask handle_torch_function.
 * Threads: the context's own, with the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_TORCH_API_CALLS_H
#define FILMSTRIP_RECORDER_TORCH_API_CALLS_H

#include "recorder/compat.h"

#include "recorder/code_registry.h"
#include "recorder/thread_context.h"

/* True for such a function's code; `module`: the name of the module it is in. */
bool
film_api_is_call(const PyCodeObject *code, const char *module);

/* It begins. False as film_stack_call. */
bool
film_api_call(film_context *context, const film_frame *frame, PyObject *code_object,
              const film_code *code);

/* The frame on top, such a function's, returns. False as film_stack_return_top. */
bool
film_api_return(film_context *context, const film_frame *frame, PyObject *value);

#endif
