/* hooks_trace.c: CPython 3.11, the trace and profile functions in C.
 *
 * The trace function alone sees exceptions, so it is used with them and the cheaper
 * profile function without. Line events are turned off frame by frame while the program
 * has no tracer of its own. Resuming is told from calling, and yielding from returning,
 * by the instruction the frame stands on. There is no event for a handled exception: it
 * follows from the exception table, as the interpreter itself decides by it next.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/compat.h"

#if !FILM_HAS_MONITORING

#include <opcode.h>
#include <stdlib.h>

#include "recorder/c_functions.h"
#include "recorder/catches.h"
#include "recorder/exception_table.h"
#include "recorder/exceptions.h"
#include "recorder/hooks.h"
#include "recorder/observe.h"
#include "recorder/observe_quick.h"
#include "recorder/stack.h"
#include "recorder/torch/api_calls.h"
#include "recorder/torch/compiled.h"
#include "recorder/torch/hook.h"
#include "recorder/trace_control.h"

/* What the newest exception events of a thread told, for the unwinds that follow: those
 * do not say what passes. Between the two other frames may raise: generators that are
 * closed, finalisers. */
#define RAISES_KEPT 64u

struct film_raises {
    struct {
        uint64_t frame; /* its serial */
        film_raised raised;
    } newest[RAISES_KEPT];
    uint64_t count;
    uint64_t generation;
};

static void
keep_raised(film_context *context, const film_raised *raised)
{
    struct film_raises *raises = context->raises;
    size_t index;

    if (raises == NULL) {
        raises = context->raises = calloc(1, sizeof(*raises));
    }
    if (raises == NULL) {
        return;
    }
    if (raises->generation != film_the_session.generation) {
        raises->generation = film_the_session.generation;
        raises->count = 0;
    }
    index = raises->count++ % RAISES_KEPT;
    raises->newest[index].frame = context->top->serial;
    raises->newest[index].raised = *raised;
}

/* What leaves the top. Where an exception is raised again the frame shows the place of
 * its first raise, which tells it from those that were handled meanwhile. */
static film_raised
raised_by_top(const film_context *context, uint32_t unit)
{
    const struct film_raises *raises = context->raises;
    film_raised found = {0};
    uint64_t kept = 0;

    if (raises != NULL && raises->generation == film_the_session.generation) {
        kept = raises->count < RAISES_KEPT ? raises->count : RAISES_KEPT;
    }
    for (uint64_t back = 1; back <= kept; back++) {
        size_t index = (raises->count - back) % RAISES_KEPT;

        if (raises->newest[index].frame != context->top->serial) {
            continue;
        }
        if (raises->newest[index].raised.unit == unit) {
            found = raises->newest[index].raised;
            break;
        }
        if (found.type == 0) {
            found = raises->newest[index].raised;
        }
    }
    found.kind = FILM_KIND_UNWIND;
    found.unit = unit;
    return found;
}

static inline int
frame_opcode(const film_frame *frame)
{
    return _Py_OPCODE(*frame->prev_instr);
}

/* The suspended frame an exception was just thrown into: told by the exception event
 * that follows at once, because only that names the exception. */
static __thread const film_frame *thrown_into
    __attribute__((tls_model("initial-exec")));

/* True when the frame's lines are wanted. */
static inline bool
on_call(film_frame *frame)
{
    PyObject *code_object = film_frame_code(frame);
    const film_code *code = film_code_of((PyCodeObject *)code_object, frame);
    film_context *context;
    int opcode;
    bool written = true;

    if (!code->target) {
        if (FILM_UNLIKELY(code->compile_role != FILM_COMPILE_NONE)) {
            film_compiled_begin(frame, code);
        }
        return false;
    }
    context = film_context_ready(frame);
    if (FILM_UNLIKELY(context == NULL)) {
        return false;
    }
    opcode = frame_opcode(frame);
    if (FILM_UNLIKELY(opcode != RESUME && opcode != RESUME_QUICK)) {
        if (film_the_control.trace != NULL) {
            thrown_into = frame;
            return true;
        }
        film_raised raised = {.kind = FILM_KIND_THROW,
                              .unit = film_frame_unit(frame, code->first)};

        written = film_stack_throw(context, frame, code_object, code, &raised);
    }
    else if (FILM_LIKELY((_Py_OPARG(*frame->prev_instr) & 3) == 0)) {
        written =
            code->plan != NULL ? film_observe_call(context, frame, code_object, code)
            : code->calls_only ? film_api_call(context, frame, code_object, code)
                               : film_stack_call(context, frame, code_object, code);
    }
    else {
        written = film_stack_resume(context, frame, code_object, code,
                                    film_frame_unit(frame, code->first));
    }
    if (FILM_UNLIKELY(!written) && film_stack_may_retry(context)) {
        return on_call(frame);
    }
    if (FILM_UNLIKELY(code->compile_role != FILM_COMPILE_NONE)) {
        film_compiled_begin(frame, code);
    }
    return !code->calls_only;
}

/* The context with `frame` on top, or NULL. */
static film_context *
bring_to_top(film_frame *frame)
{
    PyObject *code_object = film_frame_code(frame);
    const film_code *code = film_code_of((PyCodeObject *)code_object, frame);
    film_context *context;

    if (!code->target) {
        return NULL;
    }
    context = film_context_ready(frame);
    if (context == NULL) {
        return NULL;
    }
    if (!film_stack_focus(context, frame, code_object, code)) {
        return film_stack_may_retry(context) ? bring_to_top(frame) : NULL;
    }
    return context;
}

static bool
record_unwind(film_context *context, film_frame *frame)
{
    film_raised raised =
        raised_by_top(context, film_frame_unit(frame, context->top->first));

    if (!film_observe_unwind(context, frame) ||
        !film_append_exception(context->thread, FILM_KIND_UNWIND, raised.unit,
                               raised.type, raised.message)) {
        return false;
    }
    film_stack_end_top(context);
    return true;
}

static inline void
on_return(film_frame *frame, PyObject *value)
{
    film_context *context = &film_this_thread;
    bool written;

    film_compiled_returned(frame, value);
    if (FILM_UNLIKELY(context->token != film_the_session.token) ||
        FILM_UNLIKELY(!film_stack_is_top(context, frame, film_frame_code(frame)))) {
        context = bring_to_top(frame);
        if (context == NULL) {
            return;
        }
    }
    if (FILM_UNLIKELY(value == NULL)) {
        written = record_unwind(context, frame);
    }
    else if (FILM_UNLIKELY(frame_opcode(frame) == YIELD_VALUE)) {
        written = film_observe_yield(context, frame, value);
    }
    else {
        written = context->top->calls_only
                      ? film_api_return(context, frame, value)
                      : film_observe_leaving(context, frame, value);
    }
    if (FILM_UNLIKELY(!written) && film_stack_may_retry(context)) {
        on_return(frame, value);
    }
}

/* Before the exception event of a frame that did not run when it was raised. */
static void
record_throw(film_frame *frame, const film_raised *raised)
{
    PyObject *code_object = film_frame_code(frame);
    const film_code *code = film_code_of((PyCodeObject *)code_object, frame);
    film_context *context = code->target ? film_context_ready(frame) : NULL;

    thrown_into = NULL;
    if (context != NULL && !film_stack_is_top(context, frame, code_object) &&
        !film_stack_throw(context, frame, code_object, code, raised) &&
        film_stack_may_retry(context)) {
        record_throw(frame, raised);
    }
}

/* Where the exception that was just raised is handled in its frame, if it is. */
static void
record_handled(film_context *context, const film_code *code, const film_raised *raised)
{
    uint32_t handler;

    if (!film_exception_table_find(code->code, raised->unit, &handler)) {
        context->top->dead = true;
        return;
    }
    if (film_the_session.options.exceptions &&
        !film_catches_handler(code->catches, handler)) {
        (void)film_append_exception(context->thread, FILM_KIND_HANDLED, handler,
                                    raised->type, raised->message);
    }
    film_observe_handled(context, handler, raised->unit);
}

static void
on_exception(film_frame *frame, PyObject *arg)
{
    PyCodeObject *code_object = (PyCodeObject *)film_frame_code(frame);
    const film_code *code = film_code_of(code_object, frame);
    PyObject *type = PyTuple_GET_ITEM(arg, 0), *value = PyTuple_GET_ITEM(arg, 1);
    film_context *context;
    film_raised raised = {.kind = FILM_KIND_RAISE};

    if (FILM_UNLIKELY(code->compile_role != FILM_COMPILE_NONE)) {
        film_compiled_raised(frame, PyExceptionInstance_Check(value) ? value : type,
                             value);
    }
    if (!code->target || film_context_ready(frame) == NULL) {
        return;
    }
    raised.unit = film_frame_unit(frame, code->first);
    raised.interpreters =
        film_catches_raise(code->catches, code_object, raised.unit, type);
    film_exception_describe(PyExceptionInstance_Check(value) ? value : type, value,
                            &raised.type, &raised.message);
    if (FILM_UNLIKELY(thrown_into == frame)) {
        record_throw(frame, &raised);
    }
    context = bring_to_top(frame);
    if (context == NULL) {
        return;
    }
    keep_raised(context, &raised);
    if (!film_stack_exception(context, frame, (PyObject *)code_object, code, &raised)) {
        if (film_stack_may_retry(context)) {
            on_exception(frame, arg);
        }
        return;
    }
    /* FOR_ITER and SEND swallow what they report, and go on. */
    if (!raised.interpreters ||
        PyType_IsSubtype((PyTypeObject *)type,
                         (PyTypeObject *)PyExc_StopAsyncIteration)) {
        record_handled(context, code, &raised);
    }
}

static FILM_HOT void
on_line(film_frame *frame)
{
    PyObject *code_object = film_frame_code(frame);
    film_context *context = &film_this_thread;
    uint32_t unit;

    if (FILM_UNLIKELY(context->token != film_the_session.token) ||
        FILM_UNLIKELY(!film_stack_is_top(context, frame, code_object))) {
        context = bring_to_top(frame);
        if (context == NULL) {
            return;
        }
    }
    if (FILM_UNLIKELY(context->top->calls_only)) {
        return;
    }
    unit = film_frame_unit(frame, context->top->first);
    if (!film_observe_line_quickly(context, frame, unit) &&
        FILM_UNLIKELY(!film_observe_line(context, frame, unit)) &&
        film_stack_may_retry(context)) {
        on_line(frame);
    }
}

/* True when it was we who asked for this opcode event. */
static bool
on_opcode(film_frame *frame)
{
    film_context *context = &film_this_thread;
    uint32_t unit;

    if (context->token != film_the_session.token ||
        !film_stack_comes_to_top(context, frame, film_frame_code(frame)) ||
        context->top->plan == NULL) {
        return false;
    }
    unit = film_frame_unit(frame, context->top->first);
    if ((film_plan_flags(context->top->plan, unit) & FILM_PLACE_POINT) != 0 &&
        FILM_UNLIKELY(!film_observe_point(context, frame, unit)) &&
        film_stack_may_retry(context)) {
        return on_opcode(frame);
    }
    return context->top->opcodes;
}

/* Opcode events only while a point lies ahead: each of them costs as much as a line. */
static void
choose_opcodes(PyFrameObject *frame)
{
    film_context *context = &film_this_thread;
    film_stack_entry *top = context->top;
    bool wanted;

    if (context->token != film_the_session.token || top->plan == NULL ||
        !film_frame_has_key(frame->f_frame, top->frame) ||
        top->plan->point_count == 0) {
        return;
    }
    wanted = film_observe_wants_opcodes(context);
    if (wanted && !frame->f_trace_opcodes) {
        frame->f_trace_opcodes = 1;
        top->opcodes = true;
    }
    else if (!wanted && top->opcodes) {
        frame->f_trace_opcodes = 0;
        top->opcodes = false;
    }
}

static void
on_c_function(film_frame *frame, film_kind kind, PyObject *callable)
{
    film_context *context = bring_to_top(frame);
    uint32_t function;

    if (context == NULL || callable == NULL ||
        !film_c_function_id(callable, &function)) {
        return;
    }
    if (!film_append_c(context->thread, kind, function,
                       film_frame_unit(frame, context->top->first)) &&
        film_stack_may_retry(context)) {
        on_c_function(frame, kind, callable);
    }
}

/* The frame may live on: a generator's, or one in a traceback. */
static void
give_back_frame(PyObject *self, PyFrameObject *frame)
{
    film_stack_entry *top = film_this_thread.top;

    if (FILM_LIKELY(self == NULL)) {
        frame->f_trace_lines = 1;
    }
    if (top != NULL && film_frame_has_key(frame->f_frame, top->frame) && top->opcodes) {
        frame->f_trace_opcodes = 0;
        top->opcodes = false;
    }
}

static void
on_line_event(PyObject *self, PyFrameObject *frame)
{
    const film_code *code =
        film_code_of((PyCodeObject *)film_frame_code(frame->f_frame), frame->f_frame);

    if (film_the_session.options.level == 0 || !code->target) {
        if (self == NULL) {
            frame->f_trace_lines = 0; /* was open when the recording began */
        }
        return;
    }
    on_line(frame->f_frame);
    choose_opcodes(frame);
}

/* Calls what the program set. It finds f_trace_opcodes as it left it, and what it sets
 * there is its own wish, whether or not we need these events too. */
static int
call_program(PyObject *self, PyFrameObject *frame, int what, PyObject *arg)
{
    film_stack_entry *top = film_this_thread.top;
    int result;

    if (top != NULL && film_frame_has_key(frame->f_frame, top->frame) && top->opcodes) {
        frame->f_trace_opcodes = 0;
        top->opcodes = false;
    }
    result = film_control_call_trace(self, frame, what, arg);
    choose_opcodes(frame);
    return result;
}

static int
trace_event(PyObject *self, PyFrameObject *frame, int what, PyObject *arg)
{
    if (FILM_UNLIKELY(film_control_is_stale(film_compat_thread_state()))) {
        film_control_take_all();
    }
    switch (what) {
    case PyTrace_CALL: {
        bool wanted = on_call(frame->f_frame) && film_the_session.options.level != 0;

        if (FILM_LIKELY(self == NULL)) {
            frame->f_trace_lines = wanted;
        }
        choose_opcodes(frame);
        break;
    }
    case PyTrace_RETURN:
        give_back_frame(self, frame);
        on_return(frame->f_frame, arg);
        film_torch_returned(film_frame_code(frame->f_frame));
        break;
    case PyTrace_EXCEPTION:
        on_exception(frame->f_frame, arg);
        choose_opcodes(frame);
        break;
    case PyTrace_LINE:
        on_line_event(self, frame);
        break;
    case PyTrace_OPCODE:
        if (on_opcode(frame->f_frame)) {
            choose_opcodes(frame);
            return 0; /* the program's function did not ask for it */
        }
        break;
    default:
        break;
    }
    if (FILM_UNLIKELY(self != NULL)) {
        return call_program(self, frame, what, arg);
    }
    return 0;
}

static int
profile_event(PyObject *self, PyFrameObject *frame, int what, PyObject *arg)
{
    bool calls_too = film_the_control.trace == NULL;

    if (FILM_UNLIKELY(film_control_is_stale(film_compat_thread_state()))) {
        film_control_take_all();
    }
    switch (what) {
    case PyTrace_CALL:
        if (calls_too) {
            on_call(frame->f_frame);
        }
        break;
    case PyTrace_RETURN:
        if (calls_too) {
            on_return(frame->f_frame, arg);
            film_torch_returned(film_frame_code(frame->f_frame));
        }
        break;
    case PyTrace_C_CALL:
    case PyTrace_C_RETURN:
    case PyTrace_C_EXCEPTION:
        if (film_the_session.options.c_calls) {
            on_c_function(frame->f_frame,
                          what == PyTrace_C_CALL     ? FILM_KIND_C_CALL
                          : what == PyTrace_C_RETURN ? FILM_KIND_C_RETURN
                                                     : FILM_KIND_C_RAISE,
                          arg);
        }
        break;
    default:
        break;
    }
    if (FILM_UNLIKELY(self != NULL)) {
        return film_control_call_profile(self, frame, what, arg);
    }
    return 0;
}

int
film_hooks_prepare(PyObject *Py_UNUSED(module))
{
    return 0;
}

bool
film_hooks_reserve(void)
{
    return true;
}

bool
film_hooks_install(void)
{
    const film_session_options *options = &film_the_session.options;

    if (!film_control_watch()) {
        return false;
    }
    film_the_control.trace =
        options->exceptions || options->level != 0 ? trace_event : NULL;
    film_the_control.profile =
        film_the_control.trace == NULL || options->c_calls ? profile_event : NULL;
    film_control_take_all();
    return true;
}

void
film_hooks_watch(PyCodeObject *Py_UNUSED(code))
{
    /* choose_opcodes decides frame by frame. */
}

void
film_hooks_check_control(void)
{
    const film_control *control = &film_the_control;
    const PyThreadState *state =
        PyInterpreterState_ThreadHead(PyInterpreterState_Main());

    for (; state != NULL;
         state = PyThreadState_Next((PyThreadState *)(uintptr_t)state)) {
        if ((control->trace != NULL && state->c_tracefunc != control->trace) ||
            (control->profile != NULL && state->c_profilefunc != control->profile)) {
            film_session_lost_control("a thread's trace function was replaced", 1);
        }
    }
}

void
film_hooks_remove(void)
{
    film_control_release_all();
    film_control_unwatch();
}

#endif
