/* observe_calls.c: frames that begin or go on: what their caller did before, and which
 * of the changes that its line may make the callee's own lines will tell. See
 * observe.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/cells.h"
#include "recorder/observe.h"
#include "recorder/observe_quick.h"
#include "recorder/places.h"
#include "recorder/tell.h"

/* So many take FILM_APPEND_ROOM at most, with the rows of the call and of a line. */
#define FEW_ARGUMENTS 8u

/* True when the function that is called there is the class of `self`: its __init__ is
 * called by way of C, and nothing else is. */
static bool
calls_the_class(const film_frame *caller, const film_change *change,
                const film_frame *callee)
{
    PyObject *self = film_frame_local(callee, 0), *type;

    if (self == NULL || change->callee == FILM_PLAN_NO_PLACE) {
        return false;
    }
    type = (PyObject *)Py_TYPE(self);
    return film_frame_local(caller, (int)change->callee) == type ||
           film_frame_local(caller, (int)change->callee + 1) == type;
}

/* True when the coroutine or generator whose frame goes on is the one that is awaited
 * there: nothing else runs in between. */
static bool
sends_to(const film_frame *caller, const film_change *change, const film_frame *callee)
{
    return change->callee != FILM_PLAN_NO_PLACE &&
           film_frame_local(caller, (int)change->callee) ==
               film_frame_generator(callee);
}

/* A recorded function begins or goes on: what it changes, its own lines will tell. */
static inline void
cover(film_stack_entry *caller, const film_frame *callee, const film_code *code,
      uint32_t site)
{
    const film_region *region = caller->region;
    const film_frame *frame;
    uint32_t place;
    bool from_c;

    if (region == NULL || region->change_count == 0 ||
        region->change_count > FILM_REGION_CHANGES || site == 0) {
        return;
    }
    frame = film_frame_caller(callee);
    if (!film_frame_has_key(frame, caller->frame)) {
        return;
    }
    from_c = film_frame_is_from_c(callee);
    if (from_c && !code->initialises && !code->suspends) {
        return;
    }
    place = film_plan_instruction(caller->plan, site - 1);
    for (uint32_t index = 0; index < region->change_count; index++) {
        const film_change *change = &film_region_changes(region)[index];

        if (change->place == place) {
            if (!from_c || (code->suspends ? sends_to(frame, change, callee)
                                           : calls_the_class(frame, change, callee))) {
                caller->covered |= (uint8_t)(1u << index);
            }
            return;
        }
    }
}

void
film_observe_going_on(film_context *context, const film_frame *frame,
                      const film_code *code, uint32_t site)
{
    cover(context->top, frame, code, site);
}

/* What a few codes need before the row of a call: generators and coroutines, bodies of
 * modules, functions with variables of outer ones. */
static bool
begin_special(film_context *context, const film_frame *frame, const film_code *code)
{
    if (code->suspends) {
        film_stack_suspendable(context, frame);
    }
    if (code->has_namespace && film_frame_names(frame) == film_frame_globals(frame)) {
        film_place_renew(film_frame_globals(frame));
    }
    return context->top->plan->free_count + context->top->plan->shared_count == 0 ||
           film_cells_tell(context, frame);
}

/* As cover, for a function that the top's frame has called itself at `unit`. True: no
 * object that an instruction before this one may have changed is to be told. */
static inline bool
cover_called(film_stack_entry *caller, const film_region *region, uint32_t unit)
{
    uint32_t place = film_plan_instruction(caller->plan, unit);

    if (region->change_count > FILM_REGION_CHANGES) {
        return false;
    }
    for (uint32_t index = 0; index < region->change_count; index++) {
        if (film_region_changes(region)[index].place == place) {
            uint32_t bit = 1u << index;

            caller->covered |= (uint8_t)bit;
            return (caller->covered & (bit - 1)) == bit - 1;
        }
    }
    return false;
}

/* What the top has done before it calls, or is made to call, `frame`. *site: its place
 * + 1, or 0. */
static inline bool
leave_caller(film_context *context, const film_frame *frame, const film_code *code,
             uint32_t *site)
{
    film_stack_entry *caller = context->top;
    const film_region *region = caller->region;
    const film_frame *caller_frame = film_frame_direct_caller(frame);
    bool told = true;

    if (FILM_UNLIKELY(!film_frame_has_key(caller_frame, caller->frame))) {
        *site = film_stack_site(context, frame);
        cover(context->top, frame, code, *site);
        return film_observe_caller(context, frame);
    }
    *site = film_frame_unit(caller_frame, caller->first) + 1;
    if (region == NULL) {
        return true;
    }
    if (region->change_count != 0) {
        told = cover_called(caller, region, *site - 1);
    }
    if (FILM_LIKELY(!region->early && !caller->pending &&
                    (told || !region->early_change))) {
        return true;
    }
    return film_observe_caller(context, frame);
}

/* The line that the frame opens with, after the call. */
static inline bool
open_calmly(film_context *context, film_stack_entry *entry, uint8_t **to)
{
    const film_plan *plan = entry->plan;

    if (FILM_UNLIKELY(!plan->opens_calmly)) {
        return false;
    }
    *to = film_append_put_line(*to, plan->opening);
    film_enter_region(entry, film_region_next(plan->entry));
    context->returned = NULL;
    return true;
}

/* Arguments and call of the frame on top. Few arguments are told in one go. */
static inline bool
tell_call(film_context *context, film_stack_entry *entry, const film_frame *frame,
          const film_code *code)
{
    const film_plan *plan = entry->plan;
    film_thread *thread = context->thread;
    uint32_t index = 0;
    uint8_t *to;
    bool opened;

    if (FILM_UNLIKELY(plan->argument_count > FEW_ARGUMENTS ||
                      !film_append_is_ready(thread))) {
        if (!film_tell_arguments(context, entry, frame) || !film_append_ready(thread)) {
            return false;
        }
        index = plan->argument_count;
    }
    to = thread->cursor;
    while (index < plan->argument_count) {
        to = film_put_arguments(context, entry, frame, &index, to);
    }
    to = film_append_put_call(thread, to, code->id, entry->site);
    film_enter_region(entry, plan->entry);
    entry->raised = 0;
    opened = open_calmly(context, entry, &to);
    film_append_commit(thread, to, 1u + opened);
    if (FILM_UNLIKELY(!opened && plan->opening != FILM_PLAN_NO_PLACE)) {
        /* The call is told: where this fails, the next event finds out why. */
        (void)film_observe_line(context, frame, plan->opening);
    }
    return true;
}

FILM_HOT bool
film_observe_call(film_context *context, const film_frame *frame, PyObject *code_object,
                  const film_code *code)
{
    uint32_t site;

    if (FILM_UNLIKELY(!leave_caller(context, frame, code, &site) ||
                      !film_stack_push(context, frame, code_object, code,
                                       film_thread_next_frame(context->thread)))) {
        return false;
    }
    context->top->site = site;
    if ((FILM_UNLIKELY(code->is_special) && !begin_special(context, frame, code)) ||
        FILM_UNLIKELY(!tell_call(context, context->top, frame, code))) {
        film_stack_end_top(context);
        return false;
    }
    return true;
}
