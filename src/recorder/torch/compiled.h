/* compiled.h: torch.compile, as a recording tells it.
 *
 * What Dynamo has compiled is called by the user's code (as Dynamo has rewritten it) by way
 * of a function of Dynamo's that it finds among its globals: `__compiled_fn_1_...`. That
 * call is one op, `torch.compile: __compiled_fn_1 [0/0]`, with what was given and what came
 * back; where Python code makes operations within it (backend "eager"), they are within the
 * op. In brackets stands torch's compile id, where the compilation was seen.
 *
 * Compiling is an op too, `torch.compile: compiling [0/0]`. What the thread does meanwhile
 * is not recorded: thousands of operations on fake tensors, of functions of the compiler.
 *
 * Both are known by functions of torch's that have a role, which the hooks ask for. What
 * compiles is never a target beside it; what calls compiled code may be (`--all`), and its
 * op lies within its call.
 * Threads: the context's own, with the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_TORCH_COMPILED_H
#define FILMSTRIP_RECORDER_TORCH_COMPILED_H

#include "recorder/compat.h"

#include "recorder/code_registry.h"
#include "recorder/thread_context.h"

/* film_code.compile_role */
typedef enum film_compile_role {
    FILM_COMPILE_NONE,
    FILM_COMPILE_REGION,  /* may call what was compiled */
    FILM_COMPILE_COMPILER /* compiles */
} film_compile_role;

/* The role of code; `wanted`: a target names it, and what compiles is looked into. */
film_compile_role
film_compiled_role(const char *module, const char *qualname, bool wanted);

/* A frame of code with a role begins. */
void
film_compiled_begin(const film_frame *frame, const film_code *code);

/* An exception leaves such a frame (as film_exception_describe); its end follows. */
void
film_compiled_raised(const film_frame *frame, PyObject *exception, PyObject *value);

void
film_compiled_end(const film_frame *frame, PyObject *value);

/* Any frame ends, its row is still to come: `value` NULL by an exception. Harmless where it
 * has no role. */
static inline void
film_compiled_returned(const film_frame *frame, PyObject *value)
{
    if (FILM_UNLIKELY(film_this_thread.compiled != NULL)) {
        film_compiled_end(frame, value);
    }
}

/* True for the innermost open call of what was compiled. */
bool
film_compiled_is_region(const film_context *context, const film_frame *frame);

/* True while the thread compiles (context->compiling is the session's token). */
bool
film_compiled_pauses(film_context *context);

/* A recording begins or ends. */
void
film_compiled_reset(void);

#endif
