/* observe.h: the writes of a frame, told at its next event, as its code's plan says.
 *
 * Each function belongs to one kind of event and is called by both backends, for
 * targets that have a plan, with the event's frame on top of the stack and before the
 * event's own row. All return false when a row was not written (film_stack_may_retry).
 * Nothing here runs code of the program or keeps a reference. Threads: the context's
 * own, with the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_OBSERVE_H
#define FILMSTRIP_RECORDER_OBSERVE_H

#include "recorder/compat.h"

#include "recorder/plan.h"
#include "recorder/stack.h"

/* A frame begins: the caller's writes so far, the arguments, the call. */
bool
film_observe_call(film_context *context, const film_frame *frame, PyObject *code_object,
                  const film_code *code);

/* A suspended frame is about to go on, called from `site` (place + 1) of the top. */
void
film_observe_going_on(film_context *context, const film_frame *frame,
                      const film_code *code, uint32_t site);

/* A suspended frame that has just become the top goes on at `unit`. */
void
film_observe_resumed(film_context *context, uint32_t unit);

/* Where a suspended frame has gone on that had no event of its own but one at `unit`:
 * 3.11 when throw() into a generator that delegates has made the inner one return. */
uint32_t
film_observe_continued(const film_plan *plan, uint32_t unit);

/* Before a frame other than the top's begins or goes on: what the top wrote so far. */
bool
film_observe_caller(film_context *context, const film_frame *callee);

/* The same for what is no frame: `frame`, the top, is in the midst of a call. */
bool
film_observe_so_far(film_context *context, const film_frame *frame);

/* The top frame returns `value`: its writes, the value, the return. */
bool
film_observe_return(film_context *context, const film_frame *frame, PyObject *value);

/* The same for a frame with or without a plan. */
static inline bool
film_observe_leaving(film_context *context, const film_frame *frame, PyObject *value)
{
    return context->top->plan == NULL ? film_stack_return_top(context, frame)
                                      : film_observe_return(context, frame, value);
}

/* A frame with or without a plan yields. */
bool
film_observe_yield(film_context *context, const film_frame *frame, PyObject *value);

/* An exception is raised or raised again at `unit`. */
bool
film_observe_raise(film_context *context, const film_frame *frame, uint32_t unit);

/* An exception is about to be handled at `unit`; raised_at: 3.11, else NO_PLACE. */
void
film_observe_handled(film_context *context, uint32_t unit, uint32_t raised_at);

/* 3.11: the frame ends by an exception; a RERAISE told nothing. */
bool
film_observe_unwind(film_context *context, const film_frame *frame);

/* A line begins at `unit`. Its row is written too. */
bool
film_observe_line(film_context *context, const film_frame *frame, uint32_t unit);

/* An instruction is about to run: the writes so far if it is an observation point. */
bool
film_observe_point(film_context *context, const film_frame *frame, uint32_t unit);

/* The event of a line that is told with the call or the return: it need not come. */
static inline bool
film_observe_is_told(const film_context *context, uint32_t unit)
{
    const film_stack_entry *entry = context->top;
    const film_region *region = entry->region;

    return region != NULL && ((region->place == unit && entry->plan->opening == unit) ||
                              (region->quiet_ahead &&
                               (entry->plan->flags[unit] & FILM_PLACE_QUIET) != 0));
}

/* True when a point may come before the next line: 3.11 needs opcode events. */
static inline bool
film_observe_wants_opcodes(const film_context *context)
{
    const film_region *region = context->top->region;

    return region != NULL && region->points_ahead;
}

#endif
