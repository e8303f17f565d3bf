/* hooks_monitoring.c: CPython 3.12 and later, sys.monitoring.
 *
 * Callbacks are objects with a vectorcall slot of their own: one call layer less than a
 * builtin function (11 % of an event). They run no Python code, never return NULL, and
 * return DISABLE only from the local events (start, resume, return, yield, call): from
 * the others it would replace the program's exception (gh-106895). Code that is no
 * target disables its places one by one and then costs nothing.
 *
 * An event counts only if it belongs to the frame that runs: Cython and others fire
 * events with code objects of their own and no frame.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/compat.h"

#if FILM_HAS_MONITORING

#include <stddef.h>
#include <string.h>

#include "recorder/c_functions.h"
#include "recorder/exceptions.h"
#include "recorder/hooks.h"
#include "recorder/observe.h"
#include "recorder/stack.h"

#define TOOL_NAME "filmstrip"

typedef struct CallbackObject {
    PyObject_HEAD
    vectorcallfunc call;
} CallbackObject;

static struct {
    PyTypeObject *type; /* owned, for the life of the process */
    int tool;           /* -1: none */
    int events;
    int instruction; /* the bit of INSTRUCTION events */
} monitoring = {.tool = -1};

/* 0 to 2 are what debuggers, coverage and profilers ask for. */
static const int tool_ids[] = {4, 3, 5};

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
    static PyObject *name(PyObject *self, PyObject *const *args, size_t count,         \
                          PyObject *names)

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

/* In each callback below: `frame` and `code` of the event, or leave. */
CALLBACK(on_start)
{
    film_frame *frame = event_frame(args);
    film_context *context;
    const film_code *code;

    if (FILM_UNLIKELY(frame == NULL)) {
        Py_RETURN_NONE;
    }
    code = film_code_of((PyCodeObject *)args[0], frame);
    if (FILM_UNLIKELY(!code->target)) {
        return disable();
    }
    context = film_context_ready(frame);
    if (FILM_UNLIKELY(context == NULL)) {
        Py_RETURN_NONE;
    }
    if (FILM_UNLIKELY(!(code->plan != NULL
                            ? film_observe_call(context, frame, args[0], code)
                            : film_stack_call(context, frame, args[0], code))) &&
        film_stack_may_retry(context)) {
        return on_start(self, args, count, names);
    }
    if (FILM_UNLIKELY(film_observe_wants_opcodes(context))) {
        keep_watched((PyCodeObject *)args[0]);
    }
    Py_RETURN_NONE;
}

CALLBACK(on_resume)
{
    film_frame *frame = event_frame(args);
    film_context *context;
    const film_code *code;

    if (FILM_UNLIKELY(frame == NULL)) {
        Py_RETURN_NONE;
    }
    code = film_code_of((PyCodeObject *)args[0], frame);
    if (FILM_UNLIKELY(!code->target)) {
        return disable();
    }
    context = film_context_ready(frame);
    if (FILM_UNLIKELY(context == NULL)) {
        Py_RETURN_NONE;
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
bring_to_top(PyObject *const *args, film_frame *frame, PyObject **answer)
{
    film_context *context;
    const film_code *code;

    *answer = Py_None;
    if (frame == NULL) {
        return NULL;
    }
    code = film_code_of((PyCodeObject *)args[0], frame);
    if (!code->target) {
        *answer = film_the_session.disable;
        return NULL;
    }
    context = film_context_ready(frame);
    if (context == NULL) {
        return NULL;
    }
    if (!film_stack_focus(context, frame, args[0], code)) {
        if (!film_stack_may_retry(context)) {
            return NULL;
        }
        return bring_to_top(args, frame, answer);
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
    return bring_to_top(args, event_frame(args), answer);
}

CALLBACK(on_return)
{
    film_frame *frame = film_compat_current_frame();
    PyObject *answer = NULL;
    film_context *context = context_of(args, frame, &answer);

    (void)self, (void)count, (void)names;
    if (FILM_UNLIKELY(context == NULL)) {
        return Py_NewRef(answer);
    }
    if (FILM_UNLIKELY(!(film_observe_leaving(context, frame, args[2], true) &&
                        film_stack_return_top(context, frame))) &&
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
    if (FILM_UNLIKELY(!(film_observe_leaving(context, frame, args[2], false) &&
                        film_stack_yield_top(context, frame))) &&
        film_stack_may_retry(context)) {
        return on_yield(self, args, count, names);
    }
    Py_RETURN_NONE;
}

CALLBACK(on_line)
{
    film_frame *frame = film_compat_current_frame();
    PyObject *answer = NULL;
    film_context *context = context_of(args, frame, &answer);
    uint32_t unit;

    (void)self, (void)count, (void)names;
    if (FILM_UNLIKELY(context == NULL)) {
        return Py_NewRef(answer);
    }
    unit = film_frame_unit(frame, context->top->first);
    if (FILM_UNLIKELY(film_observe_is_told(context, unit))) {
        return disable();
    }
    if (FILM_UNLIKELY(!film_observe_line(context, frame, unit)) &&
        film_stack_may_retry(context)) {
        return on_line(self, args, count, names);
    }
    if (FILM_UNLIKELY(film_observe_wants_opcodes(context))) {
        keep_watched((PyCodeObject *)args[0]);
    }
    Py_RETURN_NONE;
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
        FILM_UNLIKELY(!film_stack_is_top(context, frame, args[0]))) {
        Py_RETURN_NONE; /* paused, or a frame whose first line is still to come */
    }
    plan = context->top->plan;
    if (plan == NULL || unit >= plan->unit_count ||
        (plan->flags[unit] & FILM_PLACE_POINT) == 0) {
        const film_code *known = film_compat_get_extra((PyCodeObject *)args[0],
                                                       film_the_session.extra_index);

        /* The frame may follow an older plan than the next ones will. */
        if (known != NULL && known->plan != plan && known->plan != NULL &&
            unit < known->plan->unit_count &&
            (known->plan->flags[unit] & FILM_PLACE_POINT) != 0) {
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
        film_stack_is_top(context, frame, args[0]) &&
        FILM_UNLIKELY(!film_observe_raise(context, frame, unit))) {
        (void)film_stack_may_retry(context);
    }
    Py_RETURN_NONE;
}

/* The four events of exceptions are global: every raise in the process comes here, so
 * code that is no target leaves after two loads. */
static void
record_exception(PyObject *const *args, film_kind kind, bool place_in_frame)
{
    film_frame *frame = event_frame(args);
    film_context *context;
    const film_code *code;
    uint32_t type, unit;
    uint64_t message;
    bool written;

    if (FILM_UNLIKELY(frame == NULL)) {
        return;
    }
    code = film_code_of((PyCodeObject *)args[0], frame);
    if (!code->target) {
        return;
    }
    context = film_context_ready(frame);
    if (FILM_UNLIKELY(context == NULL)) {
        return;
    }
    unit = place_in_frame
               ? film_frame_unit(frame, code->first)
               : film_compat_small_int(args[1]) / (uint32_t)sizeof(_Py_CODEUNIT);
    film_exception_describe(args[2], NULL, &type, &message);
    if (kind == FILM_KIND_THROW) {
        written = film_stack_throw(context, frame, args[0], code, unit, type, message);
    }
    else {
        written = film_stack_exception(context, frame, args[0], code, kind, unit, type,
                                       message);
    }
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
    film_frame *frame = event_frame(args);
    film_context *context;
    const film_code *code;
    uint32_t function;

    if (FILM_UNLIKELY(frame == NULL)) {
        return false;
    }
    code = film_code_of((PyCodeObject *)args[0], frame);
    if (!code->target) {
        return true;
    }
    context = film_context_ready(frame);
    if (context == NULL || !film_c_function_id(args[2], &function)) {
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

static void
callback_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    type->tp_free(self);
    Py_DECREF(type);
}

static PyMemberDef callback_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(CallbackObject, call), READONLY,
     NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot callback_slots[] = {
    {Py_tp_dealloc, (void *)callback_dealloc},
    {Py_tp_call, (void *)PyVectorcall_Call},
    {Py_tp_members, callback_members},
    {0, NULL},
};

static PyType_Spec callback_spec = {
    .name = "filmstrip._recorder.Callback",
    .basicsize = sizeof(CallbackObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL |
             Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = callback_slots,
};

int
film_hooks_prepare(PyObject *module)
{
    if (monitoring.type == NULL) {
        monitoring.type =
            (PyTypeObject *)PyType_FromModuleAndSpec(module, &callback_spec, NULL);
    }
    return monitoring.type == NULL ? -1 : 0;
}

typedef struct event_hook {
    const char *name; /* in sys.monitoring.events */
    vectorcallfunc call;
    bool exceptions; /* left out with exceptions=False */
    bool c_calls;    /* only with c_calls=True */
    uint32_t level;  /* only from this level on */
    bool local;      /* asked for code by code: film_hooks_watch */
} event_hook;

static const event_hook hooks[] = {
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

#define HOOK_COUNT (sizeof(hooks) / sizeof(hooks[0]))

/* Borrowed; NULL with an exception. */
static PyObject *
monitoring_module(void)
{
    PyObject *module = PySys_GetObject("monitoring");

    if (module == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "this Python has no sys.monitoring");
    }
    return module;
}

/* The bit of an event, 0 when this Python lacks it. */
static int
event_bit(PyObject *module, const char *name)
{
    PyObject *events = PyObject_GetAttrString(module, "events");
    PyObject *number = events == NULL ? NULL : PyObject_GetAttrString(events, name);
    long bit = number == NULL ? 0 : PyLong_AsLong(number);

    Py_XDECREF(number);
    Py_XDECREF(events);
    PyErr_Clear();
    return bit > 0 ? (int)bit : 0;
}

/* True when the tool id is in our name; never with an exception set. */
static bool
tool_is_ours(PyObject *module)
{
    PyObject *name = PyObject_CallMethod(module, "get_tool", "i", monitoring.tool);
    bool ours = name != NULL && PyUnicode_Check(name) &&
                PyUnicode_CompareWithASCIIString(name, TOOL_NAME) == 0;

    Py_XDECREF(name);
    PyErr_Clear();
    return ours;
}

bool
film_hooks_reserve(void)
{
    PyObject *module = monitoring_module();

    if (module == NULL) {
        return false;
    }
    film_hooks_remove();
    /* Kept for good: if the id is stolen, our callbacks may outlive the recording. */
    if (film_the_session.disable == NULL) {
        film_the_session.disable = PyObject_GetAttrString(module, "DISABLE");
    }
    if (film_the_session.disable == NULL) {
        return false;
    }
    for (size_t index = 0; index < sizeof(tool_ids) / sizeof(tool_ids[0]); index++) {
        PyObject *result = PyObject_CallMethod(module, "use_tool_id", "is",
                                               tool_ids[index], TOOL_NAME);

        if (result != NULL) {
            Py_DECREF(result);
            monitoring.tool = tool_ids[index];
            return true;
        }
        if (!PyErr_ExceptionMatches(PyExc_ValueError)) {
            return false;
        }
        PyErr_Clear();
    }
    PyErr_SetString(
        PyExc_RuntimeError,
        "cannot record: other tools hold the sys.monitoring ids 3, 4 and 5");
    return false;
}

/* Registers `call`, or None where it is NULL, for one event. */
static bool
register_callback(PyObject *module, int bit, vectorcallfunc call)
{
    PyObject *callback = Py_NewRef(Py_None), *previous;

    if (call != NULL) {
        CallbackObject *made = PyObject_New(CallbackObject, monitoring.type);

        Py_DECREF(callback);
        if (made == NULL) {
            return false;
        }
        made->call = call;
        callback = (PyObject *)made;
    }
    previous = PyObject_CallMethod(module, "register_callback", "iiO", monitoring.tool,
                                   bit, callback);
    Py_DECREF(callback);
    Py_XDECREF(previous);
    return previous != NULL;
}

/* The events our tool gets now; -1 with an exception set. */
static int
current_events(PyObject *module)
{
    PyObject *events = PyObject_CallMethod(module, "get_events", "i", monitoring.tool);
    long bits;

    if (events == NULL) {
        return -1;
    }
    bits = PyLong_AsLong(events);
    Py_DECREF(events);
    return (int)bits;
}

static bool
set_events(PyObject *module, int events)
{
    PyObject *result =
        PyObject_CallMethod(module, "set_events", "ii", monitoring.tool, events);

    Py_XDECREF(result);
    return result != NULL;
}

static bool
is_wanted(const event_hook *hook)
{
    const film_session_options *options = &film_the_session.options;

    /* Level values must know where a frame leaves its line, told or not. */
    return (!hook->exceptions || options->exceptions ||
            options->level >= FILM_LEVEL_VALUES) &&
           (!hook->c_calls || options->c_calls) && hook->level <= options->level;
}

bool
film_hooks_install(void)
{
    PyObject *module = monitoring_module();

    if (module == NULL) {
        return false;
    }
    monitoring.events = 0;
    for (size_t index = 0; index < HOOK_COUNT; index++) {
        int bit = is_wanted(&hooks[index]) ? event_bit(module, hooks[index].name) : 0;

        if (bit != 0 && !register_callback(module, bit, hooks[index].call)) {
            return false;
        }
        if (hooks[index].local) {
            monitoring.instruction = bit;
        }
        else {
            monitoring.events |= bit;
        }
    }
    if (film_the_session.had_recording) {
        /* Places that an earlier recording with other targets disabled; this wakes
         * those of other tools too, so it is not done the first time. */
        PyObject *result = PyObject_CallMethod(module, "restart_events", NULL);

        if (result == NULL) {
            return false;
        }
        Py_DECREF(result);
    }
    /* C_RETURN and C_RAISE come with CALL: they may not be asked for alone and are not
     * told by get_events, so what it says now is what to expect later. */
    if (!set_events(module, monitoring.events)) {
        return false;
    }
    monitoring.events = current_events(module);
    return monitoring.events >= 0;
}

static void
set_local_events(PyObject *module, PyCodeObject *code, int events)
{
    PyObject *result = PyObject_CallMethod(module, "set_local_events", "iOi",
                                           monitoring.tool, (PyObject *)code, events);

    Py_XDECREF(result);
    PyErr_Clear();
}

void
film_hooks_watch(PyCodeObject *code)
{
    PyObject *module = monitoring.tool < 0 ? NULL : monitoring_module();

    if (module != NULL) {
        /* None first: places that were disabled come back only so. */
        set_local_events(module, code, 0);
        set_local_events(module, code, monitoring.instruction);
    }
    PyErr_Clear();
}

void
film_hooks_check_control(void)
{
    PyObject *module = monitoring.tool < 0 ? NULL : monitoring_module();

    if (module == NULL) {
        PyErr_Clear();
        return;
    }
    if (!tool_is_ours(module)) {
        film_session_lost_control("another tool took filmstrip's sys.monitoring id", 1);
        return;
    }
    if (current_events(module) != monitoring.events) {
        film_session_lost_control("the program changed filmstrip's events", 1);
    }
    PyErr_Clear();
}

void
film_hooks_remove(void)
{
    PyObject *module;
    film_saved_error saved;

    if (monitoring.tool < 0) {
        return;
    }
    film_compat_save_error(&saved);
    module = monitoring_module();
    /* free_tool_id alone leaves events and callbacks alive before 3.14. */
    if (module != NULL && tool_is_ours(module)) {
        PyObject *result;

        (void)set_events(module, 0);
        PyErr_Clear();
        for (film_code *code = film_codes_watched; code != NULL;
             code = code->next_watched) {
            set_local_events(module, code->code, 0);
        }
        for (size_t index = 0; index < HOOK_COUNT; index++) {
            int bit = event_bit(module, hooks[index].name);

            if (bit != 0) {
                (void)register_callback(module, bit, NULL);
            }
            PyErr_Clear();
        }
        result = PyObject_CallMethod(module, "free_tool_id", "i", monitoring.tool);
        Py_XDECREF(result);
    }
    PyErr_Clear();
    monitoring.tool = -1;
    monitoring.events = 0;
    film_compat_restore_error(&saved);
}

#endif
