/* stack.h: events to rows, by way of the shadow stack.
 *
 * Frames decide, never the balance of events: an event names its frame, and the stack
 * is mended until that frame is where it must be. Entries above it are dead (their end
 * was not seen) and dropped, unless greenlets are about: then they belong to another
 * greenlet and only step aside.
 *
 * Both backends call these, for targets only, with a ready context. All return false
 * when the row was not written: film_stack_may_retry says what then.
 * Threads: the context's own, with the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_STACK_H
#define FILMSTRIP_RECORDER_STACK_H

#include "recorder/compat.h"

#include "recorder/code_registry.h"
#include "recorder/generators.h"
#include "recorder/tasks.h"
#include "recorder/thread_context.h"

/* After a false: true when this was a forked child that has its own file now, so that
 * the event must be recorded again from the start; else the event is lost. */
bool
film_stack_may_retry(film_context *context);

/* Brings the nearest recorded ancestor of `frame` to the top; returns the site of the
 * call: that frame's place + 1, or 0. */
uint32_t
film_stack_align(film_context *context, const film_frame *frame);

/* Brings `frame` itself to the top, adopting it if it was never seen. */
bool
film_stack_focus(film_context *context, const film_frame *frame, PyObject *code_object,
                 const film_code *code);

/* As align, however far the chain goes: for a thread's first event and after a pause.
 */
void
film_stack_realign(film_context *context, const film_frame *frame);

/* A suspended frame goes on. */
bool
film_stack_resume(film_context *context, const film_frame *frame, PyObject *code_object,
                  const film_code *code, uint32_t unit);

/* What an event of exceptions tells. */
typedef struct film_raised {
    film_kind kind;    /* raise, handled, unwind or throw */
    uint32_t unit;     /* where */
    uint32_t type;     /* string id */
    uint64_t message;  /* value id + 1; 0: none */
    bool interpreters; /* no doing of the program's (catches.h): not told; if thrown,
                          the frame goes on */
} film_raised;

/* A suspended frame goes on with an exception. */
bool
film_stack_throw(film_context *context, const film_frame *frame, PyObject *code_object,
                 const film_code *code, const film_raised *raised);

/* raise, handled or unwind in `frame`; unwind ends it. */
bool
film_stack_exception(film_context *context, const film_frame *frame,
                     PyObject *code_object, const film_code *code,
                     const film_raised *raised);

static inline bool
film_stack_push(film_context *context, const film_frame *frame,
                const PyObject *code_object, const film_code *code, uint64_t serial)
{
    film_stack_entry *entry;

    if (FILM_UNLIKELY(context->top == context->last) && !film_context_grow(context)) {
        return false;
    }
    entry = ++context->top;
    entry->frame = film_frame_key_of(frame);
    entry->code = code_object;
    entry->first = code->first;
    entry->serial = serial;
    entry->code_id = code->id;
    entry->suspends = code->suspends;
    entry->plan = code->plan;
    entry->region = NULL;
    entry->pending = false;
    entry->opcodes = false;
    entry->outer = false;
    entry->calls_only = code->calls_only;
    entry->module = FILM_MODULE_UNKNOWN;
    entry->initialises = code->initialises;
    return true;
}

/* The end of one that can suspend: pops it, too. */
void
film_stack_suspended_ended(film_context *context);

/* A frame that can suspend begins: it is on top, its row is still to come. */
void
film_stack_suspendable(film_context *context, const film_frame *frame);

/* The frame on top has ended: its serial is not needed again. */
static inline void
film_stack_end_top(film_context *context)
{
    if (FILM_UNLIKELY(context->top->pending)) {
        context->pending_count--;
    }
    if (FILM_UNLIKELY(context->top->suspends)) {
        film_stack_suspended_ended(context);
        return;
    }
    context->top--;
}

/* The caller's place + 1 for a frame that begins or goes on now. */
static inline uint32_t
film_stack_site(film_context *context, const film_frame *frame)
{
    const film_frame *caller = film_frame_caller(frame);

    if (FILM_LIKELY(film_frame_has_key(caller, context->top->frame))) {
        return film_frame_unit(caller, context->top->first) + 1;
    }
    return film_stack_align(context, frame);
}

static inline bool
film_stack_is_top(const film_context *context, const film_frame *frame,
                  const PyObject *code_object)
{
    return FILM_LIKELY(film_frame_has_key(frame, context->top->frame) &&
                       context->top->code == code_object);
}

/* Drops the callers that are no targets from the top: what they called has ended. */
bool
film_stack_drop_outer(film_context *context);

/* True when the frame, which runs, is the top, after such callers are dropped. */
static inline bool
film_stack_comes_to_top(film_context *context, const film_frame *frame,
                        const PyObject *code_object)
{
    if (FILM_UNLIKELY(context->top->outer) && !film_stack_drop_outer(context)) {
        return false;
    }
    return film_stack_is_top(context, frame, code_object);
}

/* A frame begins. */
static inline bool
film_stack_call(film_context *context, const film_frame *frame, PyObject *code_object,
                const film_code *code)
{
    uint32_t site = film_stack_site(context, frame);
    uint64_t serial = film_thread_next_frame(context->thread);

    if (FILM_UNLIKELY(!film_stack_push(context, frame, code_object, code, serial))) {
        /* No memory for the entry: its return will be adopted. */
        return film_append_call(context->thread, code->id, site);
    }
    if (FILM_UNLIKELY(code->suspends)) {
        film_stack_suspendable(context, frame);
    }
    if (FILM_UNLIKELY(!film_append_call(context->thread, code->id, site))) {
        film_stack_end_top(context);
        return false;
    }
    return true;
}

/* The frame on top returns or yields. */
static inline bool
film_stack_return_top(film_context *context, const film_frame *frame)
{
    uint32_t unit = film_frame_unit(frame, context->top->first);

    if (FILM_UNLIKELY(!film_append_return(context->thread, unit))) {
        return false;
    }
    film_stack_end_top(context);
    return true;
}

static inline bool
film_stack_yield_top(film_context *context, const film_frame *frame)
{
    uint32_t unit = film_frame_unit(frame, context->top->first);

    if (FILM_UNLIKELY(!film_append_yield(context->thread, unit))) {
        return false;
    }
    if (FILM_UNLIKELY(context->top->suspends == FILM_SUSPENDS_TASK)) {
        film_task_leave(context, false);
    }
    context->top--;
    return true;
}

#endif
