/* pending.h: stores read off the evaluation stack before they happen, and changes of
 * containers that are found nowhere else.
 *
 * A store whose owner is an expression (`f().x = 1`, `a[i] = b`) can only be read while
 * owner, key and value lie on the stack, which is before it happens. What it would
 * write is kept here, as tokens, until the frame's next event shows that it did
 * (settle) or raised (drop). Code may run in between: the __setitem__ of the program.
 * Threads: the context's own, with the GIL. Addresses kept are never followed.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_PENDING_H
#define FILMSTRIP_RECORDER_PENDING_H

#include "recorder/compat.h"

#include "recorder/capture.h"
#include "recorder/plan.h"
#include "recorder/thread_context.h"

/* The frame stands at the store `write`; nothing is written yet. */
bool
film_pending_begin(film_context *context, film_stack_entry *entry,
                   const film_frame *frame, const film_write *write, bool in_flight);

/* It happened: its row. */
bool
film_pending_settle(film_context *context, film_stack_entry *entry);

/* The instruction itself has raised. */
bool
film_pending_raised(film_context *context, film_stack_entry *entry);

/* Its frame is gone. Harmless when there is none. */
void
film_pending_drop(film_context *context, film_stack_entry *entry);

#endif
