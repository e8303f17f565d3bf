/* event_ops.c: what an op event says besides what all events say.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pyreader.h"

#include <filmstrip/tensor.h>

#include "analysis/kinds.h"

static EventObject *
event_of(PyObject *object)
{
    return (EventObject *)object;
}

/* Values from `first` up to `end` as a list of dicts. */
static PyObject *
values_of(EventObject *self, film_reader *reader, uint32_t first, uint32_t end)
{
    PyObject *values = PyList_New(0);

    for (uint32_t i = first; values != NULL && i < end && i < self->event.token_count;
         i++) {
        PyObject *value = film_event_value_at(self, reader, i);

        if (value == NULL || PyList_Append(values, value) < 0) {
            Py_CLEAR(values);
        }
        Py_XDECREF(value);
    }
    return values;
}

PyObject *
film_event_op_args(EventObject *self, film_reader *reader)
{
    return values_of(self, reader, 0, self->event.slot);
}

PyObject *
film_event_get_kwargs(PyObject *object, void *Py_UNUSED(closure))
{
    EventObject *self = event_of(object);
    film_reader *reader = film_pyreader_open(self->reader);
    PyObject *kwargs;

    if (reader == NULL) {
        return NULL;
    }
    if (self->event.kind != FILM_KIND_OP) {
        Py_RETURN_NONE;
    }
    kwargs = PyDict_New();
    for (uint32_t i = self->event.slot; kwargs != NULL && i < self->event.token_count;
         i++) {
        film_text text = film_reader_op_keyword(reader, &self->event, i);
        PyObject *name =
            text.length > 0 ? film_pyreader_text(text) : PyUnicode_FromFormat("?%u", i);
        PyObject *value = name == NULL ? NULL : film_event_value_at(self, reader, i);

        if (value == NULL || PyDict_SetItem(kwargs, name, value) < 0) {
            Py_CLEAR(kwargs);
        }
        Py_XDECREF(name);
        Py_XDECREF(value);
    }
    return kwargs;
}

PyObject *
film_event_get_op(PyObject *object, void *Py_UNUSED(closure))
{
    const film_event *event = &event_of(object)->event;

    if (!film_kind_is_op(event->kind)) {
        Py_RETURN_NONE;
    }
    return PyLong_FromUnsignedLongLong(event->op);
}

PyObject *
film_event_get_result(PyObject *object, void *Py_UNUSED(closure))
{
    EventObject *self = event_of(object);
    film_reader *reader = film_pyreader_open(self->reader);
    int index = film_event_value_index(&self->event, FILM_ROLE_VALUE);

    if (reader == NULL) {
        return NULL;
    }
    if (self->event.kind != FILM_KIND_OP_END || index < 0) {
        Py_RETURN_NONE;
    }
    return film_event_value_at(self, reader, (uint32_t)index);
}

PyObject *
film_event_get_changed(PyObject *object, void *Py_UNUSED(closure))
{
    EventObject *self = event_of(object);
    film_reader *reader = film_pyreader_open(self->reader);

    if (reader == NULL) {
        return NULL;
    }
    if (self->event.kind != FILM_KIND_OP_END) {
        Py_RETURN_NONE;
    }
    if ((self->event.form & FILM_OPERATION_RAISED) != 0) {
        return PyList_New(0);
    }
    return values_of(self, reader, 1, UINT32_MAX);
}

/* A string of an op event, None where it has none. */
static PyObject *
string_of(EventObject *self, uint32_t id)
{
    film_reader *reader = film_pyreader_open(self->reader);

    if (reader == NULL) {
        return NULL;
    }
    if (self->event.kind != FILM_KIND_OP || id == 0) {
        Py_RETURN_NONE;
    }
    return film_pyreader_text(film_reader_string(reader, id));
}

PyObject *
film_event_get_module(PyObject *object, void *Py_UNUSED(closure))
{
    return string_of(event_of(object), event_of(object)->event.module);
}

PyObject *
film_event_get_api(PyObject *object, void *Py_UNUSED(closure))
{
    return string_of(event_of(object), event_of(object)->event.api);
}

PyObject *
film_event_get_flags(PyObject *object, void *Py_UNUSED(closure))
{
    static const struct {
        uint8_t flag;
        const char *word;
    } words[] = {
        {FILM_OPERATION_GRAD, "grad"},        {FILM_OPERATION_INFERENCE, "inference"},
        {FILM_OPERATION_INNER, "inner"},      {FILM_OPERATION_BACKWARD, "backward"},
        {FILM_OPERATION_SYNC, "sync"},        {FILM_OPERATION_LAUNCH, "launch"},
        {FILM_OPERATION_COMPILED, "compiled"}};
    const film_event *event = &event_of(object)->event;
    PyObject *flags;

    if (event->kind != FILM_KIND_OP) {
        Py_RETURN_NONE;
    }
    flags = PyFrozenSet_New(NULL);
    for (size_t i = 0; flags != NULL && i < sizeof(words) / sizeof(words[0]); i++) {
        PyObject *word;

        if ((event->form & words[i].flag) == 0) {
            continue;
        }
        word = PyUnicode_FromString(words[i].word);
        if (word == NULL || PySet_Add(flags, word) < 0) {
            Py_CLEAR(flags);
        }
        Py_XDECREF(word);
    }
    return flags;
}

PyObject *
film_event_get_sequence(PyObject *object, void *Py_UNUSED(closure))
{
    const film_event *event = &event_of(object)->event;

    if (event->kind != FILM_KIND_OP || event->count == 0) {
        Py_RETURN_NONE;
    }
    return PyLong_FromUnsignedLongLong(event->count - 1);
}

int
film_event_find_op(EventObject *self, film_reader *reader, film_event *out)
{
    film_moment moment = film_moment_of(self->event.thread, self->event.op);
    film_timeline *timeline = film_event_timeline(self, reader);
    film_error error = {FILM_OK, 0, ""};
    const film_event *event;
    film_status status;

    if (timeline == NULL) {
        return -1;
    }
    status = film_timeline_event(timeline, moment, &event, &error);
    if (status == FILM_NO_MEMORY) {
        film_pyreader_raise(film_pyreader_state(Py_TYPE(self)), status, &error);
        return -1;
    }
    if (status != FILM_OK || event->kind != FILM_KIND_OP ||
        event->number != self->event.op) {
        return 0;
    }
    *out = *event;
    return 1;
}

PyObject *
film_event_get_duration_ns(PyObject *object, void *Py_UNUSED(closure))
{
    EventObject *self = event_of(object);
    film_reader *reader = film_pyreader_open(self->reader);
    film_event begun;
    int found;

    if (reader == NULL) {
        return NULL;
    }
    if (self->event.kind != FILM_KIND_OP_END) {
        Py_RETURN_NONE;
    }
    found = film_event_find_op(self, reader, &begun);
    if (found < 0) {
        return NULL;
    }
    if (found == 0 || begun.time_ns > self->event.time_ns) {
        Py_RETURN_NONE;
    }
    return PyLong_FromUnsignedLongLong(self->event.time_ns - begun.time_ns);
}
