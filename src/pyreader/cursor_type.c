/* cursor_type.c: Cursor, an iterator over one thread's events.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pyreader.h"

void
film_pyreader_cursor_close(CursorObject *self)
{
    if (self->cursor == NULL) {
        return;
    }
    film_pyreader_wait(self->reader);
    if (self->previous != NULL) {
        self->previous->next = self->next;
    }
    else {
        self->reader->cursors = self->next;
    }
    if (self->next != NULL) {
        self->next->previous = self->previous;
    }
    self->next = self->previous = NULL;
    film_cursor_close(self->cursor);
    self->cursor = NULL;
}

PyObject *
film_pyreader_cursor_new(ReaderObject *reader, uint32_t thread, uint64_t first)
{
    reader_state *state = film_pyreader_state(Py_TYPE(reader));
    film_error error = {FILM_OK, 0, ""};
    film_cursor *cursor = NULL;
    CursorObject *self;
    film_status status;

    status = film_cursor_open(reader->reader, thread, first, &cursor, &error);
    if (status != FILM_OK) {
        return film_pyreader_raise(state, status, &error);
    }
    self = (CursorObject *)state->cursor_type->tp_alloc(state->cursor_type, 0);
    if (self == NULL) {
        film_cursor_close(cursor);
        return NULL;
    }
    self->reader = (ReaderObject *)Py_NewRef(reader);
    self->cursor = cursor;
    self->next = reader->cursors;
    if (self->next != NULL) {
        self->next->previous = self;
    }
    reader->cursors = self;
    return (PyObject *)self;
}

static void
cursor_dealloc(PyObject *object)
{
    CursorObject *self = (CursorObject *)object;
    PyTypeObject *type = Py_TYPE(object);

    film_pyreader_cursor_close(self);
    Py_XDECREF(self->reader);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *
cursor_next(PyObject *object)
{
    CursorObject *self = (CursorObject *)object;
    reader_state *state = film_pyreader_state(Py_TYPE(object));
    const film_event *event;
    film_error error = {FILM_OK, 0, ""};
    film_status status;

    film_pyreader_wait(self->reader);
    if (self->cursor == NULL) {
        PyErr_SetString(PyExc_ValueError, "the recording is closed");
        return NULL;
    }
    status = film_cursor_next(self->cursor, &event, &error);
    if (status == FILM_END) {
        return NULL;
    }
    if (status != FILM_OK) {
        return film_pyreader_raise(state, status, &error);
    }
    return film_pyreader_event_new(state, self->reader, event);
}

static PyObject *
cursor_close(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    film_pyreader_cursor_close((CursorObject *)object);
    Py_RETURN_NONE;
}

static PyObject *
cursor_stack(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    CursorObject *self = (CursorObject *)object;
    const film_frame *frames;
    size_t depth;
    PyObject *list;

    film_pyreader_wait(self->reader);
    if (self->cursor == NULL) {
        PyErr_SetString(PyExc_ValueError, "the recording is closed");
        return NULL;
    }
    frames = film_cursor_stack(self->cursor, &depth);
    list = PyList_New((Py_ssize_t)depth);
    if (list == NULL) {
        return NULL;
    }
    for (size_t index = 0; index < depth; index++) {
        const film_frame *frame = &frames[index];
        PyObject *item = Py_BuildValue(
            "{sK sI sI sK sK}", "frame", (unsigned long long)frame->serial, "code",
            (unsigned int)frame->code, "line",
            (unsigned int)film_reader_line(self->reader->reader, frame->code,
                                           frame->offset),
            "call_event", (unsigned long long)frame->call_event, "call_ns",
            (unsigned long long)film_reader_ticks_to_ns(self->reader->reader,
                                                        frame->call_tick));
        if (item == NULL) {
            Py_DECREF(list);
            return NULL;
        }
        PyList_SET_ITEM(list, (Py_ssize_t)index, item);
    }
    return list;
}

static PyMethodDef cursor_methods[] = {
    {"close", cursor_close, METH_NOARGS, "Gives its memory back."},
    {"stack", cursor_stack, METH_NOARGS,
     "The open frames after the last event, outermost first, each a dict."},
    {NULL, NULL, 0, NULL},
};

static char cursor_doc[] = "An iterator over one thread's events.";

static PyType_Slot cursor_slots[] = {
    {Py_tp_doc, cursor_doc},         {Py_tp_dealloc, cursor_dealloc},
    {Py_tp_iter, PyObject_SelfIter}, {Py_tp_iternext, cursor_next},
    {Py_tp_methods, cursor_methods}, {0, NULL},
};

PyType_Spec film_cursor_spec = {
    .name = "filmstrip._reader.Cursor",
    .basicsize = sizeof(CursorObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = cursor_slots,
};
