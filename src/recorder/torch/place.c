/* place.c: see place.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/torch/place.h"

#include "recorder/observe.h"
#include "recorder/stack.h"
#include "recorder/torch/compiled.h"
#include "recorder/torch/modules.h"

/* A walk over the frames between the operation and the recorded one. */
typedef struct place_walk {
    const film_frame *top;    /* the recorded one; NULL: not found */
    const film_frame *last;   /* the one before it, which it has called; NULL: none */
    const film_frame *module; /* the innermost that calls a module; NULL: none */
} place_walk;

static inline bool
is_top(const film_context *context, const film_frame *frame)
{
    return film_frame_has_key(frame, context->top->frame) &&
           context->top->code == film_frame_code(frame);
}

static void
walk(const film_context *context, const film_frame *frame, place_walk *found)
{
    *found = (place_walk){0};
    for (uint32_t walked = 0; frame != NULL && walked < FILM_FAR_FRAMES; walked++) {
        if (film_frame_is_shim(frame) || film_frame_is_incomplete(frame)) {
            frame = frame->previous;
            continue;
        }
        if (is_top(context, frame)) {
            found->top = frame;
            return;
        }
        if (found->module == NULL && film_frame_calls_module(frame)) {
            found->module = frame;
        }
        found->last = frame;
        frame = frame->previous;
    }
}

/* The module that a recorded frame lies within: the same as long as it runs. */
static uint32_t
module_of_top(film_context *context, const film_frame *frame)
{
    film_stack_entry *entry = context->top;
    uint32_t walked = 0, path = 0;

    if (FILM_LIKELY(entry->module != FILM_MODULE_UNKNOWN)) {
        return entry->module;
    }
    for (frame = film_frame_caller(frame); frame != NULL && walked < FILM_FAR_FRAMES;
         frame = film_frame_caller(frame), walked++) {
        if (film_frame_calls_module(frame)) {
            path = film_module_path(context, frame);
            break;
        }
    }
    context->top->module = path;
    return path;
}

/* The stack is mended until the nearest recorded frame is on top. */
static bool
mend(film_context *context, film_frame *frame, place_walk *found)
{
    PyObject *code_object;
    const film_code *code;

    if (context->top->outer && !film_stack_drop_outer(context)) {
        return false;
    }
    if (frame == NULL || film_frame_is_incomplete(frame)) {
        return true;
    }
    code_object = film_frame_code(frame);
    code = film_code_of((PyCodeObject *)code_object, frame);
    if (code->target) {
        if (!film_stack_focus(context, frame, code_object, code)) {
            return false;
        }
    }
    else {
        (void)film_stack_align(context, frame);
    }
    walk(context, frame, found);
    return true;
}

/* The frame that `outer` has called, on the way to `frame`; NULL: it is the innermost. */
static const film_frame *
called_by(const film_frame *outer, const film_frame *frame)
{
    const film_frame *called = NULL;

    for (; frame != NULL && frame != outer; frame = frame->previous) {
        if (!film_frame_is_shim(frame) && !film_frame_is_incomplete(frame)) {
            called = frame;
        }
    }
    return called;
}

/* The name of what the recorded frame has called, or of what that only wraps. */
static uint32_t
api_name(const film_frame *last, const film_frame *frame)
{
    while (FILM_UNLIKELY(film_code_decorates(last))) {
        const film_frame *inner = called_by(last, frame);

        if (inner == NULL) {
            break;
        }
        last = inner;
    }
    return film_code_name(last);
}

bool
film_operation_find_place(film_context *context, film_operation_place *place)
{
    film_frame *frame = film_compat_current_frame();
    place_walk found;

    *place = (film_operation_place){.offset = FILM_NO_OFFSET};
    while (frame != NULL && film_frame_is_shim(frame)) {
        frame = frame->previous;
    }
    walk(context, frame, &found);
    /* An empty stack is right: frames that were open before are found at its beginning. */
    if (FILM_UNLIKELY(found.top == NULL) && context->top != context->entries &&
        !mend(context, frame, &found)) {
        return false;
    }
    if (FILM_UNLIKELY(found.last != NULL) &&
        !film_compiled_is_region(context, found.last)) {
        place->api = api_name(found.last, frame);
    }
    if (found.module != NULL) {
        place->module = film_module_path(context, found.module);
    }
    if (FILM_UNLIKELY(found.top == NULL)) {
        return true;
    }
    place->offset = film_frame_unit(found.top, context->top->first);
    if (found.module == NULL) {
        place->module = module_of_top(context, found.top);
    }
    return film_observe_so_far(context, found.top);
}
