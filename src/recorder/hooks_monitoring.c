/* hooks_monitoring.c: CPython 3.12 and later: what is done at each event of
 * sys.monitoring (monitoring.c asks for them).
 *
 * Callbacks run no Python code, never return NULL, and return DISABLE only from the
 * local events (start, resume, return, yield, call): from the others it would replace
 * the program's exception (gh-106895). Code that is no target disables its places one
 * by one and then costs nothing.
 *
 * An event counts only if it belongs to the frame that runs: Cython and others fire
 * events with code objects of their own and no frame.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/compat.h"

#if FILM_HAS_MONITORING

#include <stddef.h>
#include <string.h>

#include "recorder/c_functions.h"
#include "recorder/catches.h"
#include "recorder/exceptions.h"
#include "recorder/monitoring.h"
#include "recorder/observe.h"
#include "recorder/observe_quick.h"
#include "recorder/stack.h"
#include "recorder/torch/api_calls.h"
#include "recorder/torch/compiled.h"
#include "recorder/torch/hook.h"

static inline PyObject *
disable(void)
{
    return Py_NewRef(film_the_session.disable);
}

/* The frame an event belongs to; NULL when it is not the one that runs. */
static inline film_frame *
event_frame(PyObject *const *args)
{
    film_frame *frame = film_compat_current_frame();

    if (FILM_UNLIKELY(frame == NULL || film_frame_is_shim(frame) ||
                      film_frame_code(frame) != args[0])) {
        return NULL;
    }
    return frame;
}

#define CALLBACK(name)                                                                 \
    static FILM_HOT PyObject *name(PyObject *self, PyObject *const *args,              \
                                   size_t count, PyObject *names)

/* A point lies ahead: its event must come. */
static void
keep_watched(PyCodeObject *code)
{
    film_code *known = film_compat_get_extra(code, film_the_session.extra_index);

    if (known != NULL &&
        FILM_UNLIKELY(known->watched != film_compat_instrumentation(code))) {
        film_code_watch_again(known);
    }
}

/* The context, frame and code of an event that counts. NULL: nothing to record; *answer
 * is what the callback returns. */
static inline film_context *
context_of_target(PyObject *const *args, film_frame **frame, const film_code **code,
                  PyObject **answer)
{
    *answer = Py_None;
    *frame = event_frame(args);
    if (FILM_UNLIKELY(*frame == NULL)) {
        return NULL;
    }
    *code = film_code_of((PyCodeObject *)args[0], *frame);
    if (FILM_UNLIKELY(!(*code)->target)) {
        if (FILM_LIKELY((*code)->compile_role == FILM_COMPILE_NONE)) {
            *answer = film_the_session.disable;
        }
        return NULL;
    }
    return film_context_ready(*frame);
}

CALLBACK(on_start)
{
    film_frame *frame;
    const film_code *code;
    PyObject *answer;
    film_context *context = context_of_target(args, &frame, &code, &answer);

    if (FILM_UNLIKELY(context == NULL)) {
        if (frame != NULL && code->compile_role != FILM_COMPILE_NONE) {
            film_compiled_begin(frame, code);
        }
        return Py_NewRef(answer);
    }
    if (FILM_UNLIKELY(
            !(code->plan != NULL ? film_observe_call(context, frame, args[0], code)
              : code->calls_only ? film_api_call(context, frame, args[0], code)
                                 : film_stack_call(context, frame, args[0], code))) &&
        film_stack_may_retry(context)) {
        return on_start(self, args, count, names);
    }
    if (FILM_UNLIKELY(code->compile_role != FILM_COMPILE_NONE)) {
        film_compiled_begin(frame, code);
    }
    if (FILM_UNLIKELY(film_observe_wants_opcodes(context))) {
        keep_watched((PyCodeObject *)args[0]);
    }
    Py_RETURN_NONE;
}

CALLBACK(on_resume)
{
    film_frame *frame;
    const film_code *code;
    PyObject *answer;
    film_context *context = context_of_target(args, &frame, &code, &answer);

    if (FILM_UNLIKELY(context == NULL)) {
        return Py_NewRef(answer);
    }
    if (FILM_UNLIKELY(!film_stack_resume(context, frame, args[0], code,
                                         film_frame_unit(frame, code->first))) &&
        film_stack_may_retry(context)) {
        return on_resume(self, args, count, names);
    }
    Py_RETURN_NONE;
}

/* A return or yield whose frame is not the top of the stack: no target, or mended.
 * NULL: nothing to record; *answer is what the callback returns. */
static film_context *
bring_to_top(PyObject *const *args, PyObject **answer)
{
    film_frame *frame;
    const film_code *code;
    film_context *context = context_of_target(args, &frame, &code, answer);

    if (context == NULL) {
        return NULL;
    }
    if (!film_stack_focus(context, frame, args[0], code)) {
        return film_stack_may_retry(context) ? bring_to_top(args, answer) : NULL;
    }
    return context;
}

/* The context with `frame`, the one that runs, on top of its stack: nearly always it is
 * there. NULL: nothing to record; *answer is what the callback returns. */
static inline film_context *
context_of(PyObject *const *args, const film_frame *frame, PyObject **answer)
{
    film_context *context = &film_this_thread;

    if (FILM_LIKELY(context->token == film_the_session.token) &&
        FILM_LIKELY(film_stack_is_top(context, frame, args[0]))) {
        return context;
    }
    return bring_to_top(args, answer);
}

CALLBACK(on_return)
{
    film_frame *frame = film_compat_current_frame();
    PyObject *answer = NULL;
    film_context *context;

    (void)self, (void)count, (void)names;
    film_compiled_returned(frame, args[2]);
    context = context_of(args, frame, &answer);
    film_torch_returned(args[0]);
    if (FILM_UNLIKELY(context == NULL)) {
        return Py_NewRef(answer);
    }
    if (FILM_UNLIKELY(!(context->top->calls_only
                            ? film_api_return(context, frame, args[2])
                            : film_observe_leaving(context, frame, args[2]))) &&
        film_stack_may_retry(context)) {
        return on_return(self, args, count, names);
    }
    Py_RETURN_NONE;
}

CALLBACK(on_yield)
{
    film_frame *frame = film_compat_current_frame();
    PyObject *answer = NULL;
    film_context *context = context_of(args, frame, &answer);

    (void)self, (void)count, (void)names;
    if (FILM_UNLIKELY(context == NULL)) {
        return Py_NewRef(answer);
    }
    if (FILM_UNLIKELY(!film_observe_yield(context, frame, args[2])) &&
        film_stack_may_retry(context)) {
        return on_yield(self, args, count, names);
    }
    Py_RETURN_NONE;
}

/* Any line. */
static FILM_HOT __attribute__((noinline)) PyObject *
look_at_line(PyObject *const *args)
{
    film_frame *frame = film_compat_current_frame();
    PyObject *answer = NULL;
    film_context *context = context_of(args, frame, &answer);
    uint32_t unit;

    if (FILM_UNLIKELY(context == NULL)) {
        return Py_NewRef(answer);
    }
    unit = film_frame_unit(frame, context->top->first);
    if (FILM_UNLIKELY(context->top->calls_only ||
                      film_observe_is_told(context, unit))) {
        return disable();
    }
    if (FILM_UNLIKELY(!film_observe_line(context, frame, unit)) &&
        film_stack_may_retry(context)) {
        return look_at_line(args);
    }
    if (FILM_UNLIKELY(film_observe_wants_opcodes(context))) {
        keep_watched((PyCodeObject *)args[0]);
    }
    Py_RETURN_NONE;
}

CALLBACK(on_line)
{
    film_frame *frame = film_compat_current_frame();
    film_context *context = &film_this_thread;

    (void)self, (void)count, (void)names;
    if (FILM_LIKELY(context->token == film_the_session.token &&
                    film_stack_is_top(context, frame, args[0])) &&
        film_observe_line_quickly(context, frame,
                                  film_frame_unit(frame, context->top->first))) {
        Py_RETURN_NONE;
    }
    return look_at_line(args);
}

/* Comes for each instruction of code that has observation points, until it is told that
 * this one is none. */
CALLBACK(on_instruction)
{
    film_frame *frame = film_compat_current_frame();
    film_context *context = &film_this_thread;
    uint32_t unit = film_compat_small_int(args[1]) / (uint32_t)sizeof(_Py_CODEUNIT);
    const film_plan *plan;

    (void)self, (void)count, (void)names;
    if (FILM_UNLIKELY(context->token != film_the_session.token) ||
        FILM_UNLIKELY(!film_stack_comes_to_top(context, frame, args[0]))) {
        Py_RETURN_NONE; /* paused, or a frame whose first line is still to come */
    }
    plan = context->top->plan;
    if (plan == NULL || unit >= plan->unit_count ||
        (film_plan_flags(plan, unit) & FILM_PLACE_POINT) == 0) {
        const film_code *known = film_compat_get_extra((PyCodeObject *)args[0],
                                                       film_the_session.extra_index);

        /* The frame may follow an older plan than the next ones will. */
        if (known != NULL && known->plan != plan && known->plan != NULL &&
            unit < known->plan->unit_count &&
            (film_plan_flags(known->plan, unit) & FILM_PLACE_POINT) != 0) {
            Py_RETURN_NONE;
        }
        return disable();
    }
    if (FILM_UNLIKELY(!film_observe_point(context, frame, unit)) &&
        film_stack_may_retry(context)) {
        return on_instruction(self, args, count, names);
    }
    Py_RETURN_NONE;
}

/* An exception is raised again, which is no event of the recording: only what the frame
 * wrote before. */
CALLBACK(on_reraise)
{
    film_frame *frame = film_compat_current_frame();
    film_context *context = &film_this_thread;
    uint32_t unit = film_compat_small_int(args[1]) / (uint32_t)sizeof(_Py_CODEUNIT);

    (void)self, (void)count, (void)names;
    if (context->token == film_the_session.token &&
        film_stack_comes_to_top(context, frame, args[0]) &&
        FILM_UNLIKELY(!film_observe_raise(context, frame, unit))) {
        (void)film_stack_may_retry(context);
    }
    Py_RETURN_NONE;
}

/* True when the interpreter raises or handles here, not the program. */
static bool
is_interpreters(const film_code *code, film_kind kind, uint32_t unit,
                PyObject *exception)
{
    switch ((int)kind) {
    case FILM_KIND_RAISE:
        return film_catches_raise(code->catches, code->code, unit, exception);
    case FILM_KIND_HANDLED:
        return film_catches_handler(code->catches, unit);
    case FILM_KIND_THROW:
        return film_catches_throw(code->catches, code->code, unit, exception);
    default:
        return false;
    }
}

/* The four events of exceptions are global: every raise in the process comes here, so
 * code that is no target leaves after two loads. */
static void
record_exception(PyObject *const *args, film_kind kind, bool place_in_frame)
{
    film_frame *frame;
    const film_code *code;
    PyObject *answer;
    film_context *context = context_of_target(args, &frame, &code, &answer);
    film_raised raised = {.kind = kind};
    bool written;

    if (FILM_UNLIKELY(kind == FILM_KIND_UNWIND && frame != NULL &&
                      code->compile_role != FILM_COMPILE_NONE)) {
        film_compiled_raised(frame, args[2], NULL);
        film_compiled_returned(frame, NULL);
    }
    if (context == NULL) {
        return;
    }
    raised.unit = place_in_frame
                      ? film_frame_unit(frame, code->first)
                      : film_compat_small_int(args[1]) / (uint32_t)sizeof(_Py_CODEUNIT);
    raised.interpreters = is_interpreters(code, kind, raised.unit, args[2]);
    if (!raised.interpreters) {
        film_exception_describe(args[2], NULL, &raised.type, &raised.message);
    }
    written = kind == FILM_KIND_THROW
                  ? film_stack_throw(context, frame, args[0], code, &raised)
                  : film_stack_exception(context, frame, args[0], code, &raised);
    if (FILM_UNLIKELY(!written) && film_stack_may_retry(context)) {
        record_exception(args, kind, place_in_frame);
    }
}

CALLBACK(on_raise)
{
    (void)self, (void)count, (void)names;
    record_exception(args, FILM_KIND_RAISE, FILM_RAISE_PLACE_IN_FRAME);
    Py_RETURN_NONE;
}

CALLBACK(on_handled)
{
    (void)self, (void)count, (void)names;
    record_exception(args, FILM_KIND_HANDLED, false);
    Py_RETURN_NONE;
}

CALLBACK(on_unwind)
{
    (void)self, (void)count, (void)names;
    /* The place a traceback shows; the event's own may be a RERAISE without a line. */
    record_exception(args, FILM_KIND_UNWIND, true);
    Py_RETURN_NONE;
}

CALLBACK(on_throw)
{
    (void)self, (void)count, (void)names;
    record_exception(args, FILM_KIND_THROW, true);
    Py_RETURN_NONE;
}

/* True when the place is of no interest: only call may then be disabled. */
static bool
record_c_function(PyObject *const *args, film_kind kind)
{
    film_frame *frame;
    const film_code *code;
    PyObject *answer;
    film_context *context = context_of_target(args, &frame, &code, &answer);
    uint32_t function;

    if (context == NULL) {
        return answer == film_the_session.disable;
    }
    if (!film_c_function_id(args[2], &function)) {
        return false;
    }
    if ((!film_stack_focus(context, frame, args[0], code) ||
         !film_append_c(context->thread, kind, function,
                        film_frame_unit(frame, code->first))) &&
        film_stack_may_retry(context)) {
        return record_c_function(args, kind);
    }
    return false;
}

CALLBACK(on_c_call)
{
    (void)self, (void)count, (void)names;
    if (record_c_function(args, FILM_KIND_C_CALL)) {
        return disable();
    }
    Py_RETURN_NONE;
}

CALLBACK(on_c_return)
{
    (void)self, (void)count, (void)names;
    (void)record_c_function(args, FILM_KIND_C_RETURN);
    Py_RETURN_NONE;
}

CALLBACK(on_c_raise)
{
    (void)self, (void)count, (void)names;
    (void)record_c_function(args, FILM_KIND_C_RAISE);
    Py_RETURN_NONE;
}

const film_event_hook film_event_hooks[] = {
    {"PY_START", on_start, false, false, 0, false},
    {"PY_RESUME", on_resume, false, false, 0, false},
    {"PY_RETURN", on_return, false, false, 0, false},
    {"PY_YIELD", on_yield, false, false, 0, false},
    {"PY_THROW", on_throw, false, false, 0, false},
    {"PY_UNWIND", on_unwind, false, false, 0, false},
    {"RAISE", on_raise, true, false, 0, false},
    {"EXCEPTION_HANDLED", on_handled, true, false, 0, false},
    {"CALL", on_c_call, false, true, 0, false},
    {"C_RETURN", on_c_return, false, true, 0, false},
    {"C_RAISE", on_c_raise, false, true, 0, false},
    {"LINE", on_line, false, false, FILM_LEVEL_LINES, false},
    {"RERAISE", on_reraise, false, false, FILM_LEVEL_VALUES, false},
    {"INSTRUCTION", on_instruction, false, false, FILM_LEVEL_VALUES, true},
};

const size_t film_event_hook_count =
    sizeof(film_event_hooks) / sizeof(film_event_hooks[0]);

#endif
