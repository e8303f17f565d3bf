/* event_values.c: the values of an event as Python objects.
 * They are what `dump` writes, read back: one description of a value, not two.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pyreader.h"

#include "analysis/timeline.h"
#include "export/output.h"
#include "export/value_json.h"

static PyObject *
parse_json(const film_buffer *bytes)
{
    PyObject *json = PyImport_ImportModule("json");
    PyObject *result;

    if (json == NULL) {
        return NULL;
    }
    result = PyObject_CallMethod(json, "loads", "y#", (const char *)bytes->data,
                                 (Py_ssize_t)bytes->length);
    Py_DECREF(json);
    return result;
}

film_timeline *
film_event_timeline(EventObject *self, film_reader *reader)
{
    film_error error = {FILM_OK, 0, ""};

    if (self->reader->timeline == NULL &&
        film_timeline_open(reader, &self->reader->timeline, &error) != FILM_OK) {
        film_pyreader_raise(film_pyreader_state(Py_TYPE(self)), error.status, &error);
        return NULL;
    }
    return self->reader->timeline;
}

PyObject *
film_event_value_at(EventObject *self, film_reader *reader, uint32_t index)
{
    film_timeline_at at = {.moment =
                               film_moment_of(self->event.thread, self->event.number)};
    film_value_json json;
    film_buffer bytes = {0};
    film_output output;
    PyObject *result;

    at.timeline = film_event_timeline(self, reader);
    if (at.timeline == NULL) {
        return NULL;
    }
    if (film_output_init(&output, -1, NULL) != FILM_OK) {
        return PyErr_NoMemory();
    }
    output.memory = &bytes;
    film_value_json_init(&json, reader);
    film_timeline_lend(at.timeline, &at); /* what attributes held at this event */
    film_value_json_write(&json, &output, &self->event, index);
    film_timeline_lend(at.timeline, NULL);
    film_output_drain(&output);
    film_value_json_reset(&json);
    result = bytes.failed || output.status != FILM_OK ? PyErr_NoMemory()
                                                      : parse_json(&bytes);
    film_output_reset(&output);
    film_buffer_reset(&bytes);
    return result;
}

static PyObject *
value_with_role(PyObject *object, film_value_role role)
{
    EventObject *self = (EventObject *)object;
    film_reader *reader = film_pyreader_open(self->reader);
    int index = film_event_value_index(&self->event, role);

    if (reader == NULL) {
        return NULL;
    }
    if (index < 0) {
        Py_RETURN_NONE;
    }
    return film_event_value_at(self, reader, (uint32_t)index);
}

PyObject *
film_event_get_value(PyObject *object, void *Py_UNUSED(closure))
{
    EventObject *self = (EventObject *)object;
    film_reader *reader = film_pyreader_open(self->reader);

    if (reader == NULL) {
        return NULL;
    }
    if (self->event.value != 0) {
        return film_pyreader_value(film_pyreader_state(Py_TYPE(object)), reader,
                                   self->event.value - 1);
    }
    return value_with_role(object, FILM_ROLE_VALUE);
}

PyObject *
film_event_get_owner(PyObject *object, void *Py_UNUSED(closure))
{
    return value_with_role(object, FILM_ROLE_OWNER);
}

PyObject *
film_event_get_key(PyObject *object, void *Py_UNUSED(closure))
{
    return value_with_role(object, FILM_ROLE_KEY);
}

PyObject *
film_event_get_args(PyObject *object, void *Py_UNUSED(closure))
{
    EventObject *self = (EventObject *)object;
    film_reader *reader = film_pyreader_open(self->reader);
    PyObject *args;

    if (reader == NULL) {
        return NULL;
    }
    if (self->event.kind == FILM_KIND_OP) {
        return film_event_op_args(self, reader);
    }
    if (self->event.kind != FILM_KIND_CALL || self->event.token_count == 0) {
        Py_RETURN_NONE;
    }
    args = PyDict_New();
    for (uint32_t i = 0; args != NULL && i < self->event.token_count; i++) {
        PyObject *name =
            film_pyreader_text(film_reader_argument_name(reader, &self->event, i));
        PyObject *value = name == NULL ? NULL : film_event_value_at(self, reader, i);
        if (value == NULL || PyDict_SetItem(args, name, value) < 0) {
            Py_CLEAR(args);
        }
        Py_XDECREF(name);
        Py_XDECREF(value);
    }
    return args;
}

static bool
is_write(const film_event *event)
{
    return event->kind == FILM_KIND_SET || event->kind == FILM_KIND_DELETE;
}

PyObject *
film_event_get_name(PyObject *object, void *Py_UNUSED(closure))
{
    EventObject *self = (EventObject *)object;
    film_reader *reader = film_pyreader_open(self->reader);
    film_text name;

    if (reader == NULL) {
        return NULL;
    }
    if (!is_write(&self->event)) {
        Py_RETURN_NONE;
    }
    name = film_reader_event_name(reader, &self->event);
    if (name.length == 0) {
        Py_RETURN_NONE;
    }
    return film_pyreader_text(name);
}

PyObject *
film_event_get_scope(PyObject *object, void *Py_UNUSED(closure))
{
    EventObject *self = (EventObject *)object;
    film_reader *reader = film_pyreader_open(self->reader);

    if (reader == NULL) {
        return NULL;
    }
    if (!is_write(&self->event)) {
        Py_RETURN_NONE;
    }
    return PyUnicode_FromString(film_reader_event_scope(reader, &self->event));
}

PyObject *
film_event_get_via(PyObject *object, void *Py_UNUSED(closure))
{
    const film_event *event = &((EventObject *)object)->event;

    return PyBool_FromLong(is_write(event) && (event->form == FILM_SET_ATTRIBUTE_VIA ||
                                               event->form == FILM_SET_ITEM_VIA));
}

PyObject *
film_event_get_length_before(PyObject *object, void *Py_UNUSED(closure))
{
    int64_t length = ((EventObject *)object)->event.length_before;

    if (length < 0) {
        Py_RETURN_NONE;
    }
    return PyLong_FromLongLong(length);
}

PyObject *
film_event_get_cut(PyObject *object, void *Py_UNUSED(closure))
{
    return PyBool_FromLong(((EventObject *)object)->event.cut);
}
