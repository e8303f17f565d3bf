/* tell.h: the rows of a frame's own values: arguments, writes, result.
 *
 * Called by observe.c, which knows what the frame has done. All return false when a row
 * was not written. Nothing here runs code of the program or keeps a reference.
 * Threads: the context's own, with the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_TELL_H
#define FILMSTRIP_RECORDER_TELL_H

#include "recorder/compat.h"

#include "recorder/plan.h"
#include "recorder/thread_context.h"

/* The token of a variable's value, whatever it is; `cell`: in the cell there. */
uint8_t *
film_capture_local(film_context *context, film_stack_entry *entry, uint32_t slot,
                   bool cell, bool in_flight, PyObject *value, uint8_t *to);

/* The arguments, in rows before the call's own. */
bool
film_tell_arguments(film_context *context, film_stack_entry *entry,
                    const film_frame *frame);

/* The writes before an exit from the first that was not told on, up to `count`. */
bool
film_tell_writes(film_context *context, film_stack_entry *entry,
                 const film_frame *frame, const film_write *writes, uint32_t count);

/* The value that `write` stores is the result of the call that has just come back to
 * this frame. */
static inline bool
film_tell_in_flight(const film_context *context, const film_stack_entry *entry,
                    const film_write *write)
{
    return write->call_place != FILM_PLAN_NO_PLACE && context->returned != NULL &&
           film_plan_instruction(entry->plan, context->returned_unit) ==
               write->call_place;
}

/* What a frame returns or yields, in a row before the event's own. */
bool
film_tell_result(film_context *context, PyObject *value);

/* The plan cannot tell something: the code's next frame gets a better one. */
void
film_tell_plan_again(const film_frame *frame, bool strayed);

#endif
