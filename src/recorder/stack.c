/* stack.c: the slow half of stack.h: what to do when the frame of an event is not
 * where the last events left the stack.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/stack.h"

#include <stdlib.h>
#include <string.h>

#include "recorder/cells.h"
#include "recorder/observe.h"

/* How many open targets that were never seen it takes up on the way. */
#define UNSEEN_FRAMES 16u

/* Frames found open while walking, innermost first. */
typedef struct unseen_frames {
    const film_frame **frames;
    size_t capacity;
    size_t count;
} unseen_frames;

bool
film_stack_may_retry(film_context *context)
{
    return context->thread != NULL && film_the_session.writer != NULL &&
           film_thread_is_foreign(context->thread) && film_session_take_over_child();
}

static bool
greenlets_are_about(void)
{
    PyObject *modules = PyImport_GetModuleDict(); /* borrowed */
    film_saved_error saved;
    bool loaded;

    if (modules == NULL || !film_compat_dict_is_plain(modules)) {
        return false;
    }
    film_compat_save_error(&saved);
    loaded = PyDict_GetItemString(modules, "greenlet") != NULL;
    film_compat_restore_error(&saved);
    return loaded;
}

void
film_stack_suspended_ended(film_context *context)
{
    bool holds_task = context->top->suspends == FILM_SUSPENDS_TASK;

    film_generators_remove(context->top->frame);
    context->top--;
    if (holds_task) {
        film_task_leave(context, true);
    }
}

/* The top frame may be suspended. One that was where it is now has ended without an
 * event. */
static void
put_suspendable(film_context *context)
{
    const film_stack_entry *entry = context->top;
    uint64_t gone = film_generators_put(entry->frame, entry->serial, entry->code_id,
                                        context->thread);

    if (gone != 0) {
        film_thread_frame_gone(context->thread, gone);
    }
}

void
film_stack_suspendable(film_context *context, const film_frame *frame)
{
    put_suspendable(context);
    film_task_enter(context, frame, true);
}

/* That row could not be written: it is suspended as before. */
static bool
step_back(film_context *context)
{
    if (context->top->suspends == FILM_SUSPENDS_TASK) {
        film_task_leave(context, false);
    }
    context->top--;
    return false;
}

/* A suspended frame becomes the top and goes on; its row is still to come. */
static bool
push_again(film_context *context, const film_frame *frame, PyObject *code_object,
           const film_code *code, uint64_t serial)
{
    if (!film_stack_push(context, frame, code_object, code, serial)) {
        return false;
    }
    film_task_enter(context, frame, false);
    return code->plan == NULL || FILM_LIKELY(code->plan->shared_count == 0) ||
           film_cells_tell_again(context, frame) || step_back(context);
}

static film_stack_entry *
find_entry(const film_context *context, const film_frame *frame,
           const PyObject *code_object)
{
    for (film_stack_entry *entry = context->top; entry != context->entries; entry--) {
        if (film_frame_has_key(frame, entry->frame)) {
            /* Another code at this address: the frame we knew is dead. */
            return entry->code == code_object ? entry : NULL;
        }
    }
    return NULL;
}

/* Makes `entry` the top. */
static bool
uncover(film_context *context, film_stack_entry *entry)
{
    size_t distance = (size_t)(context->top - entry);

    if (distance == 0) {
        return true;
    }
    if (entry != context->entries && greenlets_are_about()) {
        film_stack_entry kept = *entry;

        if (!film_append_focus(context->thread, (uint32_t)distance)) {
            return false;
        }
        memmove(entry, entry + 1, distance * sizeof(*entry));
        *context->top = kept;
        context->entangled = true;
        return true;
    }
    for (; distance > 0; distance--) {
        if (!film_append_drop(context->thread, 0)) {
            return false;
        }
        film_stack_end_top(context);
    }
    return true;
}

static bool
adopt(film_context *context, const film_frame *frame, PyObject *code_object,
      const film_code *code)
{
    uint64_t serial = film_thread_next_frame(context->thread);
    uint32_t unit = film_frame_unit(frame, code->first);

    if (!film_append_adopt(context->thread, code->id, unit)) {
        return false;
    }
    if (!film_stack_push(context, frame, code_object, code, serial)) {
        return false;
    }
    if (code->suspends) {
        put_suspendable(context);
    }
    return true;
}

static bool
adopt_all(film_context *context, const unseen_frames *unseen)
{
    for (size_t index = unseen->count; index > 0; index--) {
        const film_frame *frame = unseen->frames[index - 1];
        PyObject *code_object = film_frame_code(frame);

        if (!adopt(context, frame, code_object,
                   film_code_of((PyCodeObject *)code_object, frame))) {
            return false;
        }
    }
    return true;
}

bool
film_stack_drop_outer(film_context *context)
{
    while (context->top->outer) {
        if (!film_append_drop(context->thread, 0)) {
            return false;
        }
        context->top--;
    }
    return true;
}

/* Tells where code that is no target stands as it calls one. Its place + 1, or 0. Its
 * entry is dropped when the target has ended: its own end is not seen, so no later
 * event may take it for what lies at its address. */
static uint32_t
adopt_outer(film_context *context, const film_frame *frame)
{
    PyObject *code_object;
    film_code *code;
    uint64_t serial;
    uint32_t unit;

    while (frame != NULL && film_frame_is_incomplete(frame)) {
        frame = film_frame_caller(frame); /* CPython's own, between a class and
                                             its __init__ */
    }
    if (frame == NULL) {
        return 0;
    }
    code_object = film_frame_code(frame);
    code = film_code_of((PyCodeObject *)code_object, frame);
    if (code->target ||
        !film_code_describe_caller(code, (PyCodeObject *)code_object, frame)) {
        return 0;
    }
    unit = film_frame_unit(frame, code->first);
    serial = film_thread_next_frame(context->thread);
    if (!film_append_adopt(context->thread, code->id, unit) ||
        !film_stack_push(context, frame, code_object, code, serial)) {
        return 0;
    }
    context->top->outer = true;
    context->top->frame = film_frame_key_of_none();
    context->top->suspends = FILM_SUSPENDS_NOT;
    return unit + 1;
}

/* True for a generator that we know and that is not on the stack: it yielded. throw()
 * into one that delegates (yield from) puts it into the chain of callers before its own
 * event comes. */
static bool
is_suspended(const film_frame *frame, const film_code *code)
{
    uint64_t serial;

    return code->suspends &&
           film_generators_get(film_frame_key_of(frame), code->id, NULL, &serial);
}

/* The whole chain of callers holds no frame we know: what we know has ended, or belongs
 * to another greenlet. */
static bool
begin_chain(film_context *context)
{
    if (context->top == context->entries) {
        return true;
    }
    if (greenlets_are_about()) {
        context->entangled = true;
        return true;
    }
    return uncover(context, context->entries);
}

/* Walks from `frame`'s caller outwards until a frame that is on the stack, brings that
 * one to the top and adopts the targets passed on the way. False: rows could not be
 * written. *site is the nearest target's place + 1, or 0. */
static bool
align_within(film_context *context, const film_frame *frame, size_t most,
             unseen_frames *unseen, uint32_t *site)
{
    const film_frame *caller = film_frame_caller(frame);
    film_stack_entry *entry = NULL;

    *site = 0;
    for (size_t walked = 0;
         caller != NULL && walked < most && unseen->count < unseen->capacity;
         caller = film_frame_caller(caller), walked++) {
        PyObject *code_object = film_frame_code(caller);
        const film_code *code;

        if (film_frame_is_incomplete(caller)) {
            continue;
        }
        code = film_code_of((PyCodeObject *)code_object, caller);
        if (!code->target) {
            continue;
        }
        entry = find_entry(context, caller, code_object);
        if (entry == NULL && is_suspended(caller, code)) {
            continue;
        }
        if (*site == 0) {
            *site = film_frame_unit(caller, code->first) + 1;
        }
        if (entry != NULL) {
            break;
        }
        unseen->frames[unseen->count++] = caller;
    }
    if (entry != NULL) {
        if (!uncover(context, entry)) {
            return false;
        }
    }
    else if (caller != NULL) {
        context->entangled = true; /* it comes from too far to see */
    }
    else if (!begin_chain(context)) {
        return false;
    }
    return adopt_all(context, unseen);
}

uint32_t
film_stack_align(film_context *context, const film_frame *frame)
{
    const film_frame *frames[UNSEEN_FRAMES];
    unseen_frames unseen = {.frames = frames, .capacity = UNSEEN_FRAMES};
    bool outer_calls = film_the_session.options.outer_calls;
    uint32_t site = 0, outer;

    if ((FILM_UNLIKELY(outer_calls) && !film_stack_drop_outer(context)) ||
        !align_within(context, frame, FILM_FAR_FRAMES, &unseen, &site)) {
        context->entangled = true; /* what is on top need not be a caller */
        return 0;
    }
    /* What the target below has done is told before another one comes to lie on it. */
    if (FILM_LIKELY(!outer_calls) || !film_observe_caller(context, frame)) {
        return site;
    }
    outer = adopt_outer(context, film_frame_caller(frame));
    return outer != 0 ? outer : site;
}

void
film_stack_realign(film_context *context, const film_frame *frame)
{
    unseen_frames unseen = {0};
    const film_frame *caller;
    film_stack_entry *entry;
    uint32_t site;
    bool aligned;

    if (frame == NULL) {
        context->entangled = true;
        return;
    }
    entry = find_entry(context, frame, film_frame_code(frame));
    if (entry != NULL) {
        aligned = uncover(context, entry);
    }
    else {
        for (caller = frame; caller != NULL; caller = film_frame_caller(caller)) {
            unseen.capacity++;
        }
        unseen.frames = malloc(unseen.capacity * sizeof(*unseen.frames));
        aligned = unseen.frames != NULL &&
                  align_within(context, frame, unseen.capacity, &unseen, &site);
        free(unseen.frames);
    }
    context->entangled |= !aligned;
}

/* A frame that is not on the stack has an event: it was never seen, or it is a
 * generator that we know and that goes on without an event of its own. */
static bool
take_up(film_context *context, const film_frame *frame, PyObject *code_object,
        const film_code *code)
{
    uint32_t site = film_stack_align(context, frame);
    uint32_t unit;
    uint64_t serial;

    if (!code->suspends || !film_generators_get(film_frame_key_of(frame), code->id,
                                                context->thread, &serial)) {
        return adopt(context, frame, code_object, code);
    }
    unit = film_observe_continued(code->plan, film_frame_unit(frame, code->first));
    if (!push_again(context, frame, code_object, code, serial)) {
        return false;
    }
    if (!film_append_resume(context->thread, serial, code->id, unit, site)) {
        return step_back(context);
    }
    film_observe_resumed(context, unit);
    return true;
}

bool
film_stack_focus(film_context *context, const film_frame *frame, PyObject *code_object,
                 const film_code *code)
{
    film_stack_entry *entry;

    if (film_stack_is_top(context, frame, code_object)) {
        return true;
    }
    entry = find_entry(context, frame, code_object);
    return entry != NULL ? uncover(context, entry)
                         : take_up(context, frame, code_object, code);
}

FILM_HOT bool
film_stack_resume(film_context *context, const film_frame *frame, PyObject *code_object,
                  const film_code *code, uint32_t unit)
{
    uint32_t site = film_stack_site(context, frame);
    uint64_t serial;

    film_observe_going_on(context, frame, code, site);
    if (!film_observe_caller(context, frame)) {
        return false;
    }
    if (!film_generators_get(film_frame_key_of(frame), code->id, context->thread,
                             &serial)) {
        return adopt(context, frame, code_object, code);
    }
    if (!push_again(context, frame, code_object, code, serial)) {
        return false;
    }
    if (!film_append_resume(context->thread, serial, code->id, unit, site)) {
        return step_back(context);
    }
    film_observe_resumed(context, unit);
    return true;
}

bool
film_stack_throw(film_context *context, const film_frame *frame, PyObject *code_object,
                 const film_code *code, const film_raised *raised)
{
    uint32_t site = film_stack_site(context, frame);
    film_thread *thread = context->thread;
    uint64_t serial;
    bool written;

    if (!film_observe_caller(context, frame)) {
        return false;
    }
    if (!film_generators_get(film_frame_key_of(frame), code->id, context->thread,
                             &serial)) {
        return adopt(context, frame, code_object, code);
    }
    if (!push_again(context, frame, code_object, code, serial)) {
        return false;
    }
    written = raised->interpreters
                  ? film_append_resume(thread, serial, code->id, raised->unit, site)
                  : film_append_throw(thread, serial, code->id, raised->unit, site,
                                      raised->type, raised->message);
    return written || step_back(context);
}

bool
film_stack_exception(film_context *context, const film_frame *frame,
                     PyObject *code_object, const film_code *code,
                     const film_raised *raised)
{
    film_kind kind = raised->kind;
    bool told = kind == FILM_KIND_UNWIND ||
                (film_the_session.options.exceptions && !raised->interpreters);

    if (!film_stack_focus(context, frame, code_object, code)) {
        return false;
    }
    if (kind == FILM_KIND_RAISE && !film_observe_raise(context, frame, raised->unit)) {
        return false;
    }
    if (told && !film_append_exception(context->thread, kind, raised->unit,
                                       raised->type, raised->message)) {
        return false;
    }
    if (kind == FILM_KIND_UNWIND) {
        film_stack_end_top(context);
    }
    else if (kind == FILM_KIND_HANDLED) {
        film_observe_handled(context, raised->unit, FILM_PLAN_NO_PLACE);
    }
    return true;
}
