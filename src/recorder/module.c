/* module.c: filmstrip._recorder, a thin shell over session.h for the Python layer.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/compat.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "recorder/capture_debug.h"
#include "recorder/death_wait.h"
#include "recorder/hooks.h"
#include "recorder/plan.h"
#include "recorder/plan_show.h"
#include "recorder/session.h"
#include "recorder/text.h"
#include "recorder/torch/modes.h"
#include "recorder/torch/open_frames.h"

/* CPython's parser takes char ** before 3.13 and changes nothing. */
#define KEYWORDS(names) ((char **)(uintptr_t)(names))

/* Copies a str to owned file name bytes; false with an exception. */
static bool
copy_string(PyObject *source, char **to)
{
    char *copy;

    if (!PyUnicode_Check(source)) {
        PyErr_Format(PyExc_TypeError, "expected str, not %.100s",
                     Py_TYPE(source)->tp_name);
        return false;
    }
    if (PyUnicode_FindChar(source, 0, 0, PyUnicode_GET_LENGTH(source), 1) >= 0) {
        PyErr_SetString(PyExc_ValueError, "a name may not hold a null character");
        return false;
    }
    copy = film_text_new(source, true);
    if (copy == NULL) {
        PyErr_NoMemory();
        return false;
    }
    free(*to);
    *to = copy;
    return true;
}

typedef bool (*add_function)(film_string_list *list, const char *text);

/* Adds the strings of an iterable (NULL: none); false with an exception. */
static bool
add_strings(PyObject *iterable, film_string_list *list, add_function add)
{
    PyObject *items;
    bool added = true;

    if (iterable == NULL) {
        return true;
    }
    if (PyUnicode_Check(iterable)) {
        PyErr_SetString(PyExc_TypeError, "expected a list of names, not one str");
        return false;
    }
    items = PySequence_Fast(iterable, "expected a list of names");
    if (items == NULL) {
        return false;
    }
    for (Py_ssize_t index = 0; added && index < PySequence_Fast_GET_SIZE(items);
         index++) {
        char *text = NULL;

        added = copy_string(PySequence_Fast_GET_ITEM(items, index), &text);
        if (added && !add(list, text)) {
            PyErr_NoMemory();
            added = false;
        }
        free(text);
    }
    Py_DECREF(items);
    return added;
}

/* The same for words of secret names. */
static bool
add_secret_words(PyObject *iterable, film_redaction *redaction)
{
    film_string_list words = {0};
    bool added = add_strings(iterable, &words, film_string_list_add);

    for (size_t index = 0; added && index < words.count; index++) {
        added = film_redaction_add(redaction, words.items[index]);
        if (!added) {
            PyErr_NoMemory();
        }
    }
    film_string_list_reset(&words);
    return added;
}

/* Adds the pairs of a dict as text, key, value, key, value; false with an exception. */
static bool
add_meta(PyObject *meta, film_string_list *list)
{
    PyObject *key, *value;
    Py_ssize_t position = 0;

    if (meta == NULL || meta == Py_None) {
        return true;
    }
    if (!PyDict_Check(meta)) {
        PyErr_SetString(PyExc_TypeError, "meta must be a dict");
        return false;
    }
    while (PyDict_Next(meta, &position, &key, &value)) {
        char *key_text = NULL, *value_text = NULL;
        bool added;

        if (!PyUnicode_Check(key) || !PyUnicode_Check(value)) {
            PyErr_SetString(PyExc_TypeError, "meta must map str to str");
            return false;
        }
        key_text = film_text_new(key, false);
        value_text = film_text_new(value, false);
        added = key_text != NULL && value_text != NULL &&
                film_string_list_add(list, key_text) &&
                film_string_list_add(list, value_text);
        free(key_text);
        free(value_text);
        if (!added) {
            PyErr_NoMemory();
            return false;
        }
    }
    return true;
}

static bool
check_numbers(long long ring, long long tick_ns, long level, unsigned int values,
              unsigned int torch)
{
    if (ring < 0) {
        PyErr_SetString(PyExc_ValueError, "ring must be a number of bytes, or 0");
        return false;
    }
    if (tick_ns < 1 || tick_ns > 1000000) {
        PyErr_SetString(PyExc_ValueError, "tick_ns must be from 1 to 1000000");
        return false;
    }
    if (level < FILM_LEVEL_CALLS || level > FILM_LEVEL_VALUES) {
        PyErr_SetString(PyExc_ValueError,
                        "level must be 0 (calls), 1 (lines) or 2 (values)");
        return false;
    }
    if (torch > FILM_TORCH_ALL) {
        PyErr_SetString(PyExc_ValueError, "torch must be 0 (off), 1 (ops) or 2 (all)");
        return false;
    }
    if (values > FILM_VALUES_LOCALS) {
        PyErr_SetString(PyExc_ValueError,
                        "values must be 0 (all), 1 (attributes) or 2 (locals)");
        return false;
    }
    return true;
}

/* What start was given by name; borrowed, NULL: not given. */
typedef struct given_texts {
    PyObject *path, *targets, *excludes, *stdlib_dirs, *site_dirs, *own_dir, *home;
    PyObject *meta, *redact_words;
} given_texts;

/* Copies them; false with an exception. */
static bool
take_texts(const given_texts *given, film_session_options *options)
{
    film_targets *targets = &options->targets;

    return copy_string(given->path, &options->path) &&
           add_strings(given->targets, &targets->targets, film_targets_add_name) &&
           add_strings(given->excludes, &targets->excludes, film_targets_add_name) &&
           add_strings(given->stdlib_dirs, &targets->stdlib_dirs,
                       film_string_list_add) &&
           add_strings(given->site_dirs, &targets->site_dirs, film_string_list_add) &&
           add_secret_words(given->redact_words, &options->redaction) &&
           add_meta(given->meta, &options->meta) &&
           (given->own_dir == NULL || copy_string(given->own_dir, &targets->own_dir)) &&
           (given->home == NULL || copy_string(given->home, &options->home));
}

static PyObject *
recorder_start(PyObject *Py_UNUSED(module), PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {
        "path",        "replace",      "targets",     "excludes",     "all",
        "c_calls",     "exceptions",   "ring",        "tick_ns",      "level",
        "children",    "meta",         "stdlib_dirs", "site_dirs",    "own_dir",
        "home",        "line_times",   "text_bytes",  "items",        "item_depth",
        "outer_calls", "values",       "redact",      "redact_words", "held_too",
        "torch",       "torch_values", "torch_gpu",   NULL,
    };
    film_session_options options = {0};
    given_texts given = {0};
    int replace = 0, all = 0, c_calls = 0, exceptions = 1, children = 1, redact = 1;
    long long ring = 0, tick_ns = 16;
    long level = 0;
    int line_times = 0;
    unsigned int text_bytes = 0, items = 0, item_depth = 0;
    int outer_calls = 0, held_too = 0;
    int torch_values = 0, torch_gpu = 0;
    unsigned int values = 0, torch = FILM_TORCH_OPS;

    if (!PyArg_ParseTupleAndKeywords(
            args, kwargs, "U|$pOOpppLLlpOOOUUpIIIpIpOpIpp:start", KEYWORDS(names),
            &given.path, &replace, &given.targets, &given.excludes, &all, &c_calls,
            &exceptions, &ring, &tick_ns, &level, &children, &given.meta,
            &given.stdlib_dirs, &given.site_dirs, &given.own_dir, &given.home,
            &line_times, &text_bytes, &items, &item_depth, &outer_calls, &values,
            &redact, &given.redact_words, &held_too, &torch, &torch_values,
            &torch_gpu) ||
        !check_numbers(ring, tick_ns, level, values, torch)) {
        return NULL;
    }
    options.replace = replace != 0;
    options.c_calls = c_calls != 0;
    options.exceptions = exceptions != 0;
    options.children = children != 0;
    options.outer_calls = outer_calls != 0;
    options.held_too = held_too != 0;
    options.ring_bytes = (uint64_t)ring;
    options.tick_ns = (uint32_t)tick_ns;
    options.level = (uint32_t)level;
    options.line_times = line_times != 0;
    options.text_bytes = text_bytes;
    options.items = items;
    options.item_depth = item_depth;
    options.values = values;
    options.torch = torch;
    options.torch_values = torch_values != 0;
    options.torch_gpu = torch_gpu != 0;
    options.redaction.without_list = redact == 0;
    options.targets.all = all != 0;
    if (!take_texts(&given, &options)) {
        film_session_options_reset(&options);
        return NULL;
    }
    if (!film_session_start(&options)) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
build_stats(const char *path, const film_writer_stats *stats)
{
    PyObject *name = PyUnicode_DecodeFSDefault(path);

    if (name == NULL) {
        return NULL;
    }
    return Py_BuildValue(
        "{sNsKsKsKsN}", "path", name, "events", (unsigned long long)stats->events,
        "bytes", (unsigned long long)stats->bytes, "lost",
        (unsigned long long)stats->lost, "stopped", PyBool_FromLong(stats->stopped));
}

static PyObject *
recorder_stop(PyObject *Py_UNUSED(module), PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"meta", NULL};
    film_string_list list = {0};
    film_writer_stats stats;
    struct stat status;
    PyObject *meta = NULL, *result;
    char *path;

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:stop", KEYWORDS(names), &meta)) {
        return NULL;
    }
    if (!add_meta(meta, &list)) {
        film_string_list_reset(&list);
        return NULL;
    }
    if (!film_session_stop(&list, &stats, &path)) {
        film_string_list_reset(&list);
        return PyDict_New();
    }
    if (path != NULL && lstat(path, &status) == 0) {
        stats.bytes = (uint64_t)status.st_size;
    }
    result = build_stats(path == NULL ? "" : path, &stats);
    film_string_list_reset(&list);
    free(path);
    return result;
}

static PyObject *
recorder_stats(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    film_writer_stats stats;
    PyObject *result, *seconds;

    if (!film_session_is_active()) {
        Py_RETURN_NONE;
    }
    film_writer_get_stats(film_the_session.writer, &stats);
    result = build_stats(film_session_path(), &stats);
    seconds = result == NULL
                  ? NULL
                  : PyFloat_FromDouble((double)(film_clock_monotonic_ns() -
                                                film_the_session.started_ns) /
                                       1e9);
    if (seconds == NULL || PyDict_SetItemString(result, "seconds", seconds) < 0) {
        Py_CLEAR(result);
    }
    Py_XDECREF(seconds);
    return result;
}

static PyObject *
recorder_path(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    if (!film_session_is_active()) {
        Py_RETURN_NONE;
    }
    return PyUnicode_DecodeFSDefault(film_session_path());
}

static PyObject *
recorder_active(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    return PyBool_FromLong(film_the_session.writer != NULL);
}

static PyObject *
recorder_is_secret(PyObject *Py_UNUSED(module), PyObject *args)
{
    film_redaction redaction = {0};
    PyObject *name, *words;
    char *text = NULL;
    int redact;
    bool secret;

    if (!PyArg_ParseTuple(args, "UpO:is_secret", &name, &redact, &words)) {
        return NULL;
    }
    redaction.without_list = redact == 0;
    if (!add_secret_words(words, &redaction) || !copy_string(name, &text)) {
        film_redaction_reset(&redaction);
        return NULL;
    }
    secret = film_redact_is_secret_name(&redaction, text, strlen(text));
    film_redaction_reset(&redaction);
    free(text);
    return PyBool_FromLong(secret);
}

static PyObject *
recorder_add_source(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *name, *text;
    char *name_bytes = NULL, *text_bytes = NULL, short_name[4096];

    if (!PyArg_ParseTuple(args, "UU:add_source", &name, &text)) {
        return NULL;
    }
    if (film_session_is_active()) {
        name_bytes = film_text_new(name, true);
        text_bytes = film_text_new(text, false);
        if (name_bytes != NULL && text_bytes != NULL) {
            film_writer_source(
                film_the_session.writer,
                film_session_short_name(name_bytes, short_name, sizeof(short_name)),
                NULL, text_bytes, strlen(text_bytes));
        }
        free(name_bytes);
        free(text_bytes);
    }
    Py_RETURN_NONE;
}

static PyObject *
recorder_pause(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    return PyBool_FromLong(film_session_pause());
}

static PyObject *
recorder_resume(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    film_session_resume();
    Py_RETURN_NONE;
}

static PyObject *
recorder_lost_control(PyObject *Py_UNUSED(module), PyObject *reason)
{
    char *text = NULL;

    if (!PyUnicode_Check(reason)) {
        PyErr_SetString(PyExc_TypeError, "reason must be a str");
        return NULL;
    }
    text = film_text_new(reason, false);
    if (text != NULL) {
        film_session_lost_control(text, 1);
    }
    free(text);
    Py_RETURN_NONE;
}

static PyObject *
recorder_wait_when_killed(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *path = NULL;
    int descriptor, faulthandler;
    bool waits;

    if (!PyArg_ParseTuple(args, "O&ip:wait_when_killed", PyUnicode_FSConverter, &path,
                          &descriptor, &faulthandler)) {
        return NULL;
    }
    if (descriptor < 0) {
        film_death_wait_end();
        waits = false;
    }
    else {
        waits = film_death_wait_begin(PyBytes_AS_STRING(path), descriptor,
                                      faulthandler != 0);
    }
    Py_DECREF(path);
    return PyBool_FromLong(waits);
}

static PyMethodDef recorder_methods[] = {
    {"start", (PyCFunction)(void (*)(void))recorder_start, METH_VARARGS | METH_KEYWORDS,
     "Begins the recording of this process."},
    {"stop", (PyCFunction)(void (*)(void))recorder_stop, METH_VARARGS | METH_KEYWORDS,
     "Ends it and closes the file; {} when there is none."},
    {"stats", recorder_stats, METH_NOARGS, "What was recorded so far, or None."},
    {"path", recorder_path, METH_NOARGS, "The file being written, or None."},
    {"active", recorder_active, METH_NOARGS, "True while there is a recording."},
    {"is_secret", recorder_is_secret, METH_VARARGS,
     "True when a recording with this redact and redact_words takes out the name."},
    {"add_source", recorder_add_source, METH_VARARGS,
     "Keeps source text that is in no file."},
    {"pause", recorder_pause, METH_NOARGS,
     "Events are not recorded until resume(); False where they were not before."},
    {"resume", recorder_resume, METH_NOARGS, "Ends a pause."},
    {"lost_control", recorder_lost_control, METH_O,
     "Notes in the recording that events may be missing."},
    {"wait_when_killed", recorder_wait_when_killed, METH_VARARGS,
     "Signals wait for the reader of a recording: its path, a pipe (-1: no more), "
     "whether faulthandler is enabled."},
    {"position", film_open_frames_position, METH_VARARGS,
     "Where this thread stands in the recording: torch/open_frames.h."},
    {"_plan", film_plan_show, METH_O, "The plan of a code object, for tests."},
    {"_opcodes", film_plan_show_opcodes, METH_O,
     "The opcodes that plans know, for tests."},
    {"_plan_bytes", film_plan_weigh, METH_O,
     "The bytes that the plan of a code object takes, for tests."},
    {"_capture", film_capture_debug, METH_VARARGS, "For tests: capture_debug.c."},
    {"_told_anew", film_capture_debug_period, METH_O, "For tests: capture_debug.c."},
    {NULL, NULL, 0, NULL},
};

static int
recorder_exec(PyObject *module)
{
    film_compat_prepare();
    if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
        PyErr_SetString(PyExc_ImportError,
                        "filmstrip records the main interpreter only, not "
                        "subinterpreters");
        return -1;
    }
#if defined(Py_GIL_DISABLED)
    PyErr_SetString(PyExc_ImportError,
                    "filmstrip does not record free-threaded builds of Python");
    return -1;
#else
    return film_modes_prepare(module) ? film_hooks_prepare(module) : -1;
#endif
}

static PyModuleDef_Slot recorder_slots[] = {
    {Py_mod_exec, (void *)recorder_exec},
    FILM_MODULE_SLOTS{0, NULL},
};

static struct PyModuleDef recorder_module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "filmstrip._recorder",
    .m_doc = "Records the calls of this process; see filmstrip.record().",
    .m_methods = recorder_methods,
    .m_slots = recorder_slots,
};

PyMODINIT_FUNC
PyInit__recorder(void);

PyMODINIT_FUNC
PyInit__recorder(void)
{
    return PyModuleDef_Init(&recorder_module);
}
