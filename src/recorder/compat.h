/* compat.h: every difference between the CPythons we record, in one place.
 *
 * 3.11 to 3.14 keep interpreter frames in different shapes, and only the internal
 * headers know them. Everything above this file asks the functions below and never
 * looks at PY_VERSION_HEX or at a field of a frame. Include it first: it brings
 * Python.h with the right macros.
 *
 * Threads: all of it needs the GIL. What comes back is borrowed until the next
 * instruction of the traced program.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_COMPAT_H
#define FILMSTRIP_RECORDER_COMPAT_H

#define PY_SSIZE_T_CLEAN
#ifndef Py_BUILD_CORE
#define Py_BUILD_CORE 1
#endif
/* As a module, the internal headers do not reach for symbols the interpreter hides. */
#ifndef Py_BUILD_CORE_MODULE
#define Py_BUILD_CORE_MODULE 1
#endif

/* CPython's internal headers are not written for our warnings. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wundef"
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wswitch-enum"
#pragma GCC diagnostic ignored "-Wpointer-arith"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#pragma GCC diagnostic ignored "-Wold-style-definition"
#include <patchlevel.h>
_Static_assert(PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030f0000,
               "filmstrip records CPython 3.11 to 3.14; this one is not supported yet");
#include <Python.h>
#include <frameobject.h>
#include <structmember.h>

/* pycore_asdl.h (3.12) makes `object` a type: not a name to give away. */
#define object film_asdl_object
#include <internal/pycore_code.h>
#include <internal/pycore_dict.h>
#include <internal/pycore_frame.h>
#include <internal/pycore_gil.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_runtime.h>
#if PY_VERSION_HEX >= 0x030d0000
#include <internal/pycore_tstate.h>
#endif
#if PY_VERSION_HEX >= 0x030e0000
#include <internal/pycore_interpframe.h>
#include <internal/pycore_stackref.h>
#endif
#undef object
#pragma GCC diagnostic pop

#include <stdbool.h>
#include <stdint.h>

/* What runs at nearly every event: the linker puts these side by side, so that they take
 * few lines of the instruction cache. */
#define FILM_HOT __attribute__((hot))
#define FILM_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define FILM_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* Which backend this Python gets. */
#if PY_VERSION_HEX >= 0x030c0000
#define FILM_HAS_MONITORING 1
#else
#define FILM_HAS_MONITORING 0
#endif

/* From 3.13 on, RAISE's offset is one unit low when an inlined callee unwound, and the
 * frame's own place is right; on 3.12 it is the other way round. */
#if PY_VERSION_HEX >= 0x030d0000
#define FILM_RAISE_PLACE_IN_FRAME 1
#else
#define FILM_RAISE_PLACE_IN_FRAME 0
#endif

/* Slots of the module: subinterpreters are refused by CPython itself where it can. */
#if PY_VERSION_HEX >= 0x030c0000
#define FILM_MODULE_SLOTS                                                              \
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#else
#define FILM_MODULE_SLOTS
#endif

typedef _PyInterpreterFrame film_frame;

/* Where the interpreter keeps the thread that has the GIL: whoever asks is that one.
 * (The API asks for thread-local storage by way of two calls.) Found by
 * film_compat_prepare, before any hook is on. */
extern PyThreadState *const volatile *film_the_gil_holder;

static inline void
film_compat_prepare(void)
{
#if PY_VERSION_HEX >= 0x030c0000
    film_the_gil_holder =
        (PyThreadState *const volatile *)(void *)&PyInterpreterState_Get()
            ->ceval.gil->last_holder;
#else
    film_the_gil_holder =
        (PyThreadState *const volatile *)(void *)&_PyRuntime.gilstate.tstate_current;
#endif
}

static inline PyThreadState *
film_compat_thread_state(void)
{
    return *film_the_gil_holder;
}

/* The thread state whose thread holds the GIL, this one: NULL where it holds none. The one
 * above may have let go of it. */
static inline PyThreadState *
film_compat_attached_state(void)
{
#if PY_VERSION_HEX >= 0x030d0000
    return PyThreadState_GetUnchecked();
#else
    return _PyThreadState_UncheckedGet();
#endif
}

/* The frame that runs now, NULL when none does. */
static inline film_frame *
film_compat_current_frame(void)
{
    PyThreadState *state = film_compat_thread_state();
#if PY_VERSION_HEX < 0x030d0000
    return state->cframe->current_frame;
#else
    return state->current_frame;
#endif
}

/* True for the frames the interpreter pushes when C enters Python: no code of its
 * own. */
static inline bool
film_frame_is_shim(const film_frame *frame)
{
#if PY_VERSION_HEX >= 0x030e0000
    return frame->owner >= FRAME_OWNED_BY_INTERPRETER;
#elif PY_VERSION_HEX >= 0x030c0000
    return frame->owner == FRAME_OWNED_BY_CSTACK;
#else
    (void)frame;
    return false;
#endif
}

/* The frame's code object, for comparing and reading; never NULL for a frame that is
 * no shim. */
static inline PyObject *
film_frame_code(const film_frame *frame)
{
#if PY_VERSION_HEX >= 0x030e0000
    return PyStackRef_AsPyObjectBorrow(frame->f_executable);
#elif PY_VERSION_HEX >= 0x030d0000
    return frame->f_executable;
#else
    return (PyObject *)frame->f_code;
#endif
}

static inline const _Py_CODEUNIT *
film_frame_instruction(const film_frame *frame)
{
#if PY_VERSION_HEX >= 0x030d0000
    return frame->instr_ptr;
#else
    return frame->prev_instr;
#endif
}

static inline const _Py_CODEUNIT *
film_code_first_unit(PyCodeObject *code)
{
    return _PyCode_CODE(code);
}

/* The frame's place in code units from `first`. On 3.11 and 3.12 it may be a cache
 * entry of the instruction, which has the same line. */
static inline uint32_t
film_frame_unit(const film_frame *frame, const _Py_CODEUNIT *first)
{
    return (uint32_t)(film_frame_instruction(frame) - first);
}

/* True for CPython's own frame between the call of a class and its __init__, which runs
 * nothing but the check that it has returned None (3.13 on). */
static inline bool
film_frame_is_cleanup(const film_frame *frame)
{
#if PY_VERSION_HEX >= 0x030d0000
    return (((PyCodeObject *)film_frame_code(frame))->co_flags &
            CO_NO_MONITORING_EVENTS) != 0;
#else
    (void)frame;
    return false;
#endif
}

/* The Python frame that called, NULL at the bottom of a stack. */
static inline film_frame *
film_frame_caller(const film_frame *frame)
{
    film_frame *previous = frame->previous;

    while (previous != NULL &&
           (film_frame_is_shim(previous) || film_frame_is_cleanup(previous))) {
        previous = previous->previous;
    }
    return previous;
}

/* True while a frame still copies its cells and has not begun: a finaliser may run
 * above it then. */
static inline bool
film_frame_is_incomplete(const film_frame *frame)
{
    PyCodeObject *code;

    if (frame->owner == FRAME_OWNED_BY_GENERATOR) {
        return false;
    }
    code = (PyCodeObject *)film_frame_code(frame);
    return film_frame_instruction(frame) <
           film_code_first_unit(code) + code->_co_firsttraceable;
}

/* The function whose call the frame is; NULL: none. Borrowed. */
static inline PyObject *
film_frame_function(const film_frame *frame)
{
#if PY_VERSION_HEX >= 0x030e0000
    return PyStackRef_IsNull(frame->f_funcobj)
               ? NULL
               : PyStackRef_AsPyObjectBorrow(frame->f_funcobj);
#elif PY_VERSION_HEX >= 0x030c0000
    return frame->f_funcobj;
#else
    return (PyObject *)frame->f_func;
#endif
}

static inline PyObject *
film_frame_globals(const film_frame *frame)
{
    return frame->f_globals;
}

/* The mapping that names of a class body or module are kept in; NULL for functions. */
static inline PyObject *
film_frame_names(const film_frame *frame)
{
    return frame->f_locals;
}

/* True when C called into Python for this frame: its caller may stand within any
 * instruction, not only within a call. */
static inline bool
film_frame_is_from_c(const film_frame *frame)
{
#if PY_VERSION_HEX >= 0x030c0000
    return frame->previous != NULL && film_frame_is_shim(frame->previous);
#else
    return frame->is_entry;
#endif
}

/* The frame that called this one itself, not by way of C; else NULL or a shim. */
static inline const film_frame *
film_frame_direct_caller(const film_frame *frame)
{
#if PY_VERSION_HEX >= 0x030c0000
    return frame->previous; /* by way of C, a shim lies between */
#else
    return frame->is_entry ? NULL : frame->previous;
#endif
}

/* The generator or coroutine a frame belongs to, NULL: none. Borrowed. */
static inline PyObject *
film_frame_generator(const film_frame *frame)
{
    if (frame->owner != FRAME_OWNED_BY_GENERATOR) {
        return NULL;
    }
    return (PyObject *)((uintptr_t)frame - offsetof(PyGenObject, gi_iframe));
}

/* What an async generator yields: CPython wraps it, so that it is told from what an
 * await within it hands on. Borrowed. */
static inline PyObject *
film_async_yielded(PyObject *value)
{
    struct film_wrapped {
        PyObject_HEAD
        PyObject *value;
    };

    if ((Py_TYPE(value)->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0 ||
        strcmp(Py_TYPE(value)->tp_name, "async_generator_wrapped_value") != 0) {
        return value;
    }
    return ((struct film_wrapped *)value)->value;
}

/* Changes whenever CPython instruments the code anew. */
static inline uint64_t
film_compat_instrumentation(const PyCodeObject *code)
{
#if PY_VERSION_HEX >= 0x030c0000
    return code->_co_instrumentation_version;
#else
    (void)code;
    return 0;
#endif
}

/* A local by its slot, NULL when it is unbound. Borrowed. */
static inline PyObject *
film_frame_local(const film_frame *frame, int slot)
{
#if PY_VERSION_HEX >= 0x030e0000
    _PyStackRef reference = frame->localsplus[slot];

    if (PyStackRef_IsNull(reference) || PyStackRef_IsTaggedInt(reference)) {
        return NULL;
    }
    return PyStackRef_AsPyObjectBorrow(reference);
#else
    return frame->localsplus[slot];
#endif
}

/* A code object's unspecialised bytecode; owned, NULL with an exception. The interpreter
 * keeps what it made for whoever asks next, two bytes a code unit as long as the code
 * lives: it is made to forget that where nobody had asked before. */
static inline PyObject *
film_code_bytes(PyCodeObject *code)
{
#if PY_VERSION_HEX >= 0x030c0000
    bool was_kept = code->_co_cached != NULL && code->_co_cached->_co_code != NULL;
    PyObject *bytes = PyCode_GetCode(code);

    if (!was_kept && code->_co_cached != NULL) {
        Py_CLEAR(code->_co_cached->_co_code);
    }
#else
    bool was_kept = code->_co_code != NULL;
    PyObject *bytes = PyCode_GetCode(code);

    if (!was_kept) {
        Py_CLEAR(code->_co_code);
    }
#endif
    return bytes;
}

/* co_extra: read straight from the structure (private to codeobject.c, the same in all
 * four versions), because the API's checks cost more than the rest of an event. */
typedef struct film_compat_code_extra {
    Py_ssize_t size;
    void *extras[1];
} film_compat_code_extra;

static inline void *
film_compat_get_extra(PyCodeObject *code, Py_ssize_t index)
{
    const film_compat_code_extra *extra = code->co_extra;

    if (FILM_LIKELY(extra != NULL && extra->size > index)) {
        return extra->extras[index];
    }
    return NULL;
}

static inline int
film_compat_set_extra(PyCodeObject *code, Py_ssize_t index, void *value)
{
#if PY_VERSION_HEX >= 0x030c0000
    return PyUnstable_Code_SetExtra((PyObject *)code, index, value);
#else
    return _PyCode_SetExtra((PyObject *)code, index, value);
#endif
}

static inline Py_ssize_t
film_compat_request_extra_index(freefunc release)
{
#if PY_VERSION_HEX >= 0x030c0000
    return PyUnstable_Eval_RequestCodeExtraIndex(release);
#else
    return _PyEval_RequestCodeExtraIndex(release);
#endif
}

/* True when a dict's keys are all exact strings, so that a lookup by a string runs no
 * code of the program. */
static inline bool
film_compat_dict_is_plain(PyObject *dict)
{
    return PyDict_CheckExact(dict) && DK_IS_UNICODE(((PyDictObject *)dict)->ma_keys);
}

/* The program's pending exception, put aside while we work. */
typedef struct film_saved_error {
#if PY_VERSION_HEX >= 0x030c0000
    PyObject *exception;
#else
    PyObject *type, *value, *traceback;
#endif
} film_saved_error;

static inline void
film_compat_save_error(film_saved_error *saved)
{
#if PY_VERSION_HEX >= 0x030c0000
    saved->exception = PyErr_GetRaisedException();
#else
    PyErr_Fetch(&saved->type, &saved->value, &saved->traceback);
#endif
}

static inline void
film_compat_restore_error(film_saved_error *saved)
{
#if PY_VERSION_HEX >= 0x030c0000
    PyErr_SetRaisedException(saved->exception);
#else
    PyErr_Restore(saved->type, saved->value, saved->traceback);
#endif
}

/* What was put aside: the exception, or its type where 3.11 has not made the instance yet,
 * and then what belongs to it. Borrowed; NULL: nothing was. */
static inline PyObject *
film_saved_exception(const film_saved_error *saved)
{
#if PY_VERSION_HEX >= 0x030c0000
    return saved->exception;
#else
    return saved->value != NULL && PyExceptionInstance_Check(saved->value)
               ? saved->value
               : saved->type;
#endif
}

static inline PyObject *
film_saved_value(const film_saved_error *saved)
{
#if PY_VERSION_HEX >= 0x030c0000
    (void)saved;
    return NULL;
#else
    return saved->value;
#endif
}

/* A small non-negative int, as monitoring passes offsets. */
static inline uint32_t
film_compat_small_int(PyObject *number)
{
    return (uint32_t)PyLong_AsLong(number);
}

#endif
