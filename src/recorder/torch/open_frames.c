/* open_frames.c: see open_frames.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/torch/open_frames.h"

#include "recorder/cells.h"
#include "recorder/stack.h"
#include "recorder/tell.h"
#include "recorder/torch/place.h"
#include "recorder/variables.h"

/* Frames from the outermost that counts inwards. */
#define MOST_FRAMES 64u

/* How many recorded frames lie outside of the one `above` frames up from `frame`. */
static size_t
count_outer(const film_context *context, const film_frame *frame, long above)
{
    const film_stack_entry *entry = context->top;

    for (; frame != NULL && above >= 0; frame = film_frame_caller(frame)) {
        if (film_frame_is_incomplete(frame)) {
            continue;
        }
        if (entry != context->entries && film_frame_has_key(frame, entry->frame)) {
            entry--;
        }
        above--;
    }
    return (size_t)(entry - context->entries);
}

static bool
tell_variable(film_context *context, film_stack_entry *entry, const film_frame *frame,
              uint32_t slot)
{
    PyObject *value = film_frame_local(frame, (int)slot);
    bool cell = value != NULL && PyCell_Check(value) &&
                film_slot_is_cell((const PyCodeObject *)entry->code, slot);
    uint8_t *to;

    value = cell ? film_cell_content(value) : value;
    if (value == NULL) {
        return true;
    }
    to = film_append_begin_set(context->thread, FILM_SET_LOCAL, slot);
    if (to == NULL) {
        return false;
    }
    to = film_capture_local(context, entry, slot, cell, false, value, to);
    film_append_commit(context->thread, to, 1);
    return true;
}

/* The frame on top. */
static bool
tell_variables(film_context *context, const film_frame *frame)
{
    film_stack_entry *entry = context->top;
    const PyCodeObject *code = (const PyCodeObject *)entry->code;

    if (entry->plan == NULL || (code->co_flags & CO_NEWLOCALS) == 0) {
        return true; /* no values are recorded, or it is a module's body */
    }
    for (int slot = 0; slot < code->co_nlocalsplus; slot++) {
        if (!tell_variable(context, entry, frame, (uint32_t)slot)) {
            return false;
        }
    }
    return true;
}

/* Brings the recorded ones of the frames to the stack, the outermost first, each with
 * what it holds. */
static void
tell_frames(film_context *context, const film_frame *frame, long above)
{
    const film_frame *frames[MOST_FRAMES];
    size_t count = 0;

    for (; frame != NULL && above >= 0 && count < MOST_FRAMES;
         frame = film_frame_caller(frame)) {
        if (!film_frame_is_incomplete(frame)) {
            frames[count++] = frame;
            above--;
        }
    }
    while (count-- > 0) {
        PyObject *code_object = film_frame_code(frames[count]);
        const film_code *code =
            film_code_of((PyCodeObject *)code_object, frames[count]);

        if (code->target &&
            (!film_stack_focus(context, frames[count], code_object, code) ||
             !tell_variables(context, frames[count]))) {
            return;
        }
    }
}

PyObject *
film_open_frames_position(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    film_frame *frame = film_compat_current_frame();
    film_operation_place place;
    film_context *context;
    long skip;
    int tell;

    if (!PyArg_ParseTuple(arguments, "lp:position", &skip, &tell)) {
        return NULL;
    }
    skip = skip < 0 ? 0 : skip;
    context = film_context_ready(frame);
    if (context != NULL && tell) {
        tell_frames(context, frame, skip + 1);
    }
    if (context == NULL || !film_operation_find_place(context, &place)) {
        Py_RETURN_NONE;
    }
    return Py_BuildValue(
        "KKn",
        (unsigned long long)(film_thread_next_frame(context->thread) >>
                             FILM_FRAME_SHIFT) +
            1,
        (unsigned long long)context->thread->events,
        (Py_ssize_t)(context->entangled ? 0 : count_outer(context, frame, skip + 1)));
}
