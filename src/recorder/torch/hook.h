/* hook.h: sees every call of torch's operations from Python.
 *
 * torch hands its operations to Python as objects of three kinds, each with a slot that
 * says what a call does: builtin functions (vectorcall, empty as they come: CPython then
 * goes by tp_call), methods of tensors (ml_meth: thunks.h) and subscripts (mp_subscript of
 * the tensors' types). While a recording that wants operations lasts, those slots are ours
 * and call the originals; the objects stay the same for ==, hash(), pickle and torch's own
 * tables. ml_meth of builtin functions is left alone: their hash is made from it. The
 * vectorcall of method descriptors is too: on 3.11 a traced call goes around it.
 *
 * Not seen: torch.ops.* called directly, getters of properties, what C++ calls itself
 * (observer.h).
 * Threads: the holder of the GIL; calls of all threads are seen.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_TORCH_HOOK_H
#define FILMSTRIP_RECORDER_TORCH_HOOK_H

#include "recorder/compat.h"

/* Puts the hook on where torch has been imported; harmless when it is on. Where Python may
 * be called. */
void
film_torch_hook(void);

/* Takes it off; harmless when it is not on. */
void
film_torch_unhook(void);

/* The body of the torch package, while it runs; NULL: it does not. Identity only. When it
 * has returned, film_torch_hook. */
extern const PyCodeObject *film_the_torch_package;

/* Code that is seen for the first time: notes when it is that body. */
void
film_torch_await(const PyCodeObject *code, const film_frame *frame);

static inline void
film_torch_returned(const void *code)
{
    if (FILM_UNLIKELY(film_the_torch_package != NULL) &&
        code == film_the_torch_package) {
        film_torch_hook();
    }
}

#endif
