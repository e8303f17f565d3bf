/* stacks.h: the shadow stacks of other threads, for objects.c: is a variable's frame
 * still alive over there?
 *
 * A thread may die at any moment without the GIL and give its stack back (see
 * on_thread_death), so entries are read under a lock that its death takes too. A frame
 * is taken as alive only if the thread's own chain of frames has it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_STACKS_H
#define FILMSTRIP_RECORDER_STACKS_H

#include "recorder/compat.h"

#include "recorder/objects.h"

/* The running thread's stack has a new id. */
void
film_stacks_add(film_context *context);

/* A copy of the entry of a place's frame on another thread's stack, borrowed until the
 * next call; NULL: the thread is gone, or not in that frame. *frame is that one. */
const film_stack_entry *
film_stacks_find(const film_slot_place *place, const film_frame **frame);

/* A thread dies; without the GIL. */
void
film_stacks_forget(const film_context *context);

void
film_stacks_begin(void);

#endif
