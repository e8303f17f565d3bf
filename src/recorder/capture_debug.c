/* capture_debug.c: see capture_debug.h. A recording must be active (at any level), and
 * the calling function a target of it, so that its frame is on the shadow stack.
 *
 *   _capture("begin", text_bytes, items, depth)
 *   _capture("end") -> (objects, evicted, cut)
 *   _capture("value", value, name, holder)   -> token
 *   _capture("owner", value, holder)         -> token
 *   _capture("changed", value, holder)       -> None or (token, length_before, cut)
 *   _capture("told", owner)
 *   _capture("returned", value)
 *   _capture("store", owner, name, key, value, function): expect, call function, stored
 *   _capture("read", owner, name)            -> (value or None, via)
 *   _capture("lookup", dict, name)           -> value or None
 *   _capture("overridden", owner)            -> bool
 *   _capture("kept") -> ({string id: text}, {value id: (type, flags, body)}), since last
 *   _capture("time", what, value, holder, times) -> ns each
 *
 * Without a recording:
 *
 *   _told_anew(bits): containers written in pieces are told anew at the earliest after
 *       2 ** bits changes, in recordings that begin afterwards; -1: as always
 *
 * A holder is None or (kind, slot or owner, name, in_flight).
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/capture_debug.h"

#include <string.h>

#include "base/clock.h"
#include "recorder/capture.h"
#include "recorder/capture_keep.h"
#include "recorder/objects.h"

const film_keep_listener *film_the_keep_listener;

static PyObject *kept_strings, *kept_values; /* owned; NULL: nobody listens */

static void
hear_string(uint32_t id, const char *text, size_t length)
{
    PyObject *key = PyLong_FromUnsignedLong(id);
    PyObject *value = PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, "replace");

    if (key == NULL || value == NULL || PyDict_SetItem(kept_strings, key, value) < 0) {
        PyErr_Clear();
    }
    Py_XDECREF(key);
    Py_XDECREF(value);
}

static void
hear_value(uint64_t id, uint32_t type, uint32_t flags, const uint8_t *body,
           size_t length)
{
    PyObject *key = PyLong_FromUnsignedLongLong(id);
    PyObject *value =
        Py_BuildValue("(IIy#)", type, flags, (const char *)body, (Py_ssize_t)length);

    if (key == NULL || value == NULL || PyDict_SetItem(kept_values, key, value) < 0) {
        PyErr_Clear();
    }
    Py_XDECREF(key);
    Py_XDECREF(value);
}

static const film_keep_listener listener = {hear_string, hear_value};

static PyObject *
debug_begin(film_context *Py_UNUSED(context), PyObject *args)
{
    film_capture_limits limits = {.contents = true};
    PyObject *what;

    if (!PyArg_ParseTuple(args, "OIII", &what, &limits.text_bytes, &limits.items,
                          &limits.depth)) {
        return NULL;
    }
    Py_XSETREF(kept_strings, PyDict_New());
    Py_XSETREF(kept_values, PyDict_New());
    if (kept_strings == NULL || kept_values == NULL) {
        return NULL;
    }
    film_the_keep_listener = &listener;
    if (!film_capture_begin(&limits)) {
        return PyErr_NoMemory();
    }
    Py_RETURN_NONE;
}

static PyObject *
debug_end(film_context *Py_UNUSED(context), PyObject *Py_UNUSED(args))
{
    film_capture_counts counts;

    film_capture_end(&counts);
    film_the_keep_listener = NULL;
    Py_CLEAR(kept_strings);
    Py_CLEAR(kept_values);
    return Py_BuildValue("(KKK)", (unsigned long long)counts.objects,
                         (unsigned long long)counts.evicted,
                         (unsigned long long)counts.cut);
}

static PyObject *
debug_kept(film_context *Py_UNUSED(context), PyObject *Py_UNUSED(args))
{
    PyObject *result = PyTuple_Pack(2, kept_strings, kept_values);
    PyObject *values = PyDict_New();

    if (values != NULL) {
        Py_SETREF(kept_values, values);
    }
    return result;
}

static bool
is_helper(PyCodeObject *code)
{
    PyObject *name = PyUnicode_FromString("capturing.py");
    bool helper = name != NULL && PyUnicode_Tailmatch(code->co_filename, name, 0,
                                                      PY_SSIZE_T_MAX, 1) == 1;

    Py_XDECREF(name);
    return helper;
}

/* The slot of a variable: of the innermost function on the shadow stack that has one of
 * this name and is not of the test's helper. */
static bool
find_slot(film_context *context, PyObject *name, film_holder *holder)
{
    for (film_stack_entry *entry = context->top; entry > context->entries; entry--) {
        const film_frame *frame = film_entry_frame(context, entry);
        PyCodeObject *code;
        PyObject *names;

        if (frame == NULL) {
            continue;
        }
        code = (PyCodeObject *)film_frame_code(frame);
        names = code->co_localsplusnames;

        for (Py_ssize_t index = 0; !is_helper(code) && index < PyTuple_GET_SIZE(names);
             index++) {
            if (PyUnicode_Compare(PyTuple_GET_ITEM(names, index), name) == 0) {
                holder->entry = entry;
                holder->slot = (uint32_t)index;
                return true;
            }
        }
    }
    PyErr_SetObject(PyExc_NameError, name);
    return false;
}

static bool
read_holder(film_context *context, PyObject *spec, film_holder *holder)
{
    static const char *const kinds[] = {"none",      "slot", "cell",
                                        "attribute", "item", "namespace"};
    PyObject *owner, *name;
    const char *kind;
    int in_flight;

    *holder = (film_holder){0};
    if (spec == Py_None) {
        return true;
    }
    if (!PyArg_ParseTuple(spec, "sOOp", &kind, &owner, &name, &in_flight)) {
        return false;
    }
    for (int index = 0; index < 6; index++) {
        if (strcmp(kinds[index], kind) == 0) {
            holder->kind = (film_holder_kind)index;
        }
    }
    holder->in_flight = in_flight != 0;
    if (holder->kind == FILM_HOLDER_SLOT || holder->kind == FILM_HOLDER_CELL) {
        return find_slot(context, owner, holder);
    }
    holder->owner = owner == Py_None ? NULL : owner;
    holder->name = name == Py_None ? NULL : name;
    return true;
}

static PyObject *
debug_value(film_context *context, PyObject *args)
{
    PyObject *what, *value, *name, *spec;
    uint8_t token[FILM_TOKEN_MAX];
    film_holder holder;

    if (!PyArg_ParseTuple(args, "OOOO", &what, &value, &name, &spec) ||
        !read_holder(context, spec, &holder)) {
        return NULL;
    }
    return PyBytes_FromStringAndSize(
        (const char *)token,
        film_capture(context, value, &holder, name == Py_None ? NULL : name, token) -
            token);
}

static PyObject *
debug_owner(film_context *context, PyObject *args)
{
    PyObject *what, *value, *spec;
    uint8_t token[FILM_TOKEN_MAX];
    film_holder holder;

    if (!PyArg_ParseTuple(args, "OOO", &what, &value, &spec) ||
        !read_holder(context, spec, &holder)) {
        return NULL;
    }
    return PyBytes_FromStringAndSize(
        (const char *)token,
        film_capture_owner(context, value, &holder, token) - token);
}

static PyObject *
debug_changed(film_context *context, PyObject *args)
{
    PyObject *what, *value, *spec;
    uint8_t token[FILM_TOKEN_MAX], *to = token;
    film_holder holder;
    film_changed changed[FILM_CHANGES];

    if (!PyArg_ParseTuple(args, "OOO", &what, &value, &spec) ||
        !read_holder(context, spec, &holder)) {
        return NULL;
    }
    if (!film_capture_changed(context, value, &holder, FILM_EFFECT_ANY, changed)) {
        Py_RETURN_NONE;
    }
    to = film_token_put_value(to, FILM_TOKEN_VALUE, changed[0].record);
    return Py_BuildValue("(y#Li)", (const char *)token, (Py_ssize_t)(to - token),
                         (long long)changed[0].length_before, (int)changed[0].cut);
}

static PyObject *
debug_told(film_context *Py_UNUSED(context), PyObject *args)
{
    film_capture_told(PyTuple_GET_ITEM(args, 1), NULL);
    Py_RETURN_NONE;
}

static PyObject *
debug_returned(film_context *context, PyObject *args)
{
    film_capture_returned(context, PyTuple_GET_ITEM(args, 1));
    Py_RETURN_NONE;
}

static PyObject *
debug_store(film_context *Py_UNUSED(context), PyObject *args)
{
    PyObject *what, *owner, *name, *key, *value, *function, *result;
    film_named named = film_named_new(NULL);
    film_stored stored;

    if (!PyArg_ParseTuple(args, "OOOOOO", &what, &owner, &name, &key, &value,
                          &function)) {
        return NULL;
    }
    named.name = name;
    film_capture_expect(owner, name == Py_None ? NULL : &named,
                        name == Py_None ? key : NULL,
                        value == Py_Ellipsis ? NULL : value, &stored);
    result = PyObject_CallNoArgs(function);
    if (result == NULL) {
        return NULL;
    }
    Py_DECREF(result);
    film_capture_stored(&stored, true);
    return PyBool_FromLong(stored.address != NULL && stored.known);
}

static PyObject *
debug_read(film_context *Py_UNUSED(context), PyObject *args)
{
    static film_named named; /* kept: its cache is tried too */
    PyObject *owner = PyTuple_GET_ITEM(args, 1), *value;
    film_kept kept;

    if (named.name != PyTuple_GET_ITEM(args, 2)) {
        named = film_named_new(PyTuple_GET_ITEM(args, 2));
    }
    value = film_attribute_read(&named, owner, &kept);
    return Py_BuildValue("(Oi)", value == NULL ? Py_None : value,
                         (int)(kept == FILM_KEPT_VIA));
}

static PyObject *
debug_lookup(film_context *Py_UNUSED(context), PyObject *args)
{
    PyObject *value =
        film_dict_lookup(PyTuple_GET_ITEM(args, 1), PyTuple_GET_ITEM(args, 2));

    return Py_NewRef(value == NULL ? Py_None : value);
}

static PyObject *
debug_overridden(film_context *Py_UNUSED(context), PyObject *args)
{
    return PyBool_FromLong(film_items_are_overridden(PyTuple_GET_ITEM(args, 1)));
}

static PyObject *
debug_time(film_context *context, PyObject *args)
{
    PyObject *what, *value, *spec;
    uint8_t token[FILM_TOKEN_MAX], *to;
    const char *kind;
    film_holder holder;
    uint64_t begin;
    film_changed changed[FILM_CHANGES];
    long times;

    if (!PyArg_ParseTuple(args, "OsOOl", &what, &kind, &value, &spec, &times) ||
        !read_holder(context, spec, &holder)) {
        return NULL;
    }
    begin = film_clock_monotonic_ns();
    for (long index = 0; index < times; index++) {
        to = token;
        if (strcmp(kind, "value") == 0) {
            (void)film_capture(context, value, &holder, holder.name, to);
        }
        else if (strcmp(kind, "changed") == 0) {
            (void)film_capture_changed(context, value, &holder, FILM_EFFECT_ANY,
                                       changed);
        }
        else if (strcmp(kind, "owner") == 0) {
            (void)film_capture_owner(context, value, &holder, to);
        }
        else {
            film_capture_told(value, NULL);
        }
        __asm__ volatile("" ::"r"(token) : "memory");
    }
    return PyFloat_FromDouble((double)(film_clock_monotonic_ns() - begin) /
                              (double)times);
}

PyObject *
film_capture_debug_period(PyObject *Py_UNUSED(module), PyObject *bits)
{
    long given = PyLong_AsLong(bits);

    if (given == -1 && PyErr_Occurred()) {
        return NULL;
    }
    film_the_period_shift =
        given >= 0 && given < 64 ? (uint32_t)given : FILM_PERIOD_SHIFT;
    Py_RETURN_NONE;
}

PyObject *
film_capture_debug(PyObject *Py_UNUSED(module), PyObject *args)
{
    static const struct {
        const char *name;
        Py_ssize_t arguments;
        PyObject *(*function)(film_context *context, PyObject *args);
    } functions[] = {
        {"begin", 4, debug_begin},   {"end", 1, debug_end},
        {"kept", 1, debug_kept},     {"value", 4, debug_value},
        {"owner", 3, debug_owner},   {"changed", 3, debug_changed},
        {"told", 2, debug_told},     {"returned", 2, debug_returned},
        {"store", 6, debug_store},   {"read", 3, debug_read},
        {"lookup", 3, debug_lookup}, {"overridden", 2, debug_overridden},
        {"time", 5, debug_time},
    };
    film_context *context = film_context_ready(film_compat_current_frame());

    if (context == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "there is no recording");
        return NULL;
    }
    for (size_t index = 0; index < sizeof(functions) / sizeof(functions[0]); index++) {
        if (PyTuple_GET_SIZE(args) == functions[index].arguments &&
            PyUnicode_Check(PyTuple_GET_ITEM(args, 0)) &&
            PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(args, 0),
                                             functions[index].name) == 0) {
            return functions[index].function(context, args);
        }
    }
    PyErr_SetString(PyExc_ValueError, "no such debug function, or other arguments");
    return NULL;
}
