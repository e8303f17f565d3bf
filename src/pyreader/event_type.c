/* event_type.c: Event, one thing that happened.
 * An event is a copy of the library's struct. What has to be looked up (names, lines,
 * values) is looked up when it is asked for, and needs the recording to be open.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pyreader.h"

#include <stddef.h>
#include <structmember.h>

#include "analysis/kinds.h"

PyObject *
film_pyreader_event_new(reader_state *state, ReaderObject *reader,
                        const film_event *event)
{
    EventObject *self =
        (EventObject *)state->event_type->tp_alloc(state->event_type, 0);

    if (self == NULL) {
        return NULL;
    }
    self->reader = (ReaderObject *)Py_NewRef(reader);
    self->event = *event;
    self->event.body = NULL;
    self->event.body_length = 0;
    self->event.tokens = NULL;
    if (event->tokens_length > 0) {
        uint8_t *tokens = PyMem_Malloc(event->tokens_length);
        if (tokens == NULL) {
            Py_DECREF(self);
            return PyErr_NoMemory();
        }
        memcpy(tokens, event->tokens, event->tokens_length);
        self->event.tokens = tokens;
    }
    return (PyObject *)self;
}

static void
event_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);

    Py_XDECREF(((EventObject *)object)->reader);
    PyMem_Free((void *)(uintptr_t)((EventObject *)object)->event.tokens);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *
event_get_kind(PyObject *object, void *Py_UNUSED(closure))
{
    reader_state *state = film_pyreader_state(Py_TYPE(object));
    uint8_t kind = ((EventObject *)object)->event.kind;

    return Py_NewRef(state->kinds[kind < FILM_KIND_COUNT ? kind : 0]);
}

/* An id, or None where the format has none. */
static PyObject *
number_or_none(uint32_t number, uint32_t none)
{
    if (number == none) {
        Py_RETURN_NONE;
    }
    return PyLong_FromUnsignedLong(number);
}

static PyObject *
event_get_code_id(PyObject *object, void *Py_UNUSED(closure))
{
    return number_or_none(((EventObject *)object)->event.code, FILM_NO_CODE);
}

static PyObject *
event_get_offset(PyObject *object, void *Py_UNUSED(closure))
{
    return number_or_none(((EventObject *)object)->event.offset, FILM_NO_OFFSET);
}

/* The event's code, borrowed; NULL without an exception if it has none, with one if
 * the recording is closed. */
static const film_code *
find_code(EventObject *self)
{
    if (self->event.code == FILM_NO_CODE || film_pyreader_open(self->reader) == NULL) {
        return NULL;
    }
    return film_reader_code(self->reader->reader, self->event.code);
}

/* What a getter gives after find_code found nothing. */
static PyObject *
none_unless_error(void)
{
    if (PyErr_Occurred()) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
event_get_code(PyObject *object, void *Py_UNUSED(closure))
{
    EventObject *self = (EventObject *)object;

    if (find_code(self) == NULL) {
        return none_unless_error();
    }
    return film_pyreader_code(film_pyreader_state(Py_TYPE(object)),
                              self->reader->reader, self->event.code);
}

/* What the op called; None where its beginning is not in the recording. */
static PyObject *
op_function(EventObject *self)
{
    film_reader *reader = film_pyreader_open(self->reader);
    film_event begun = self->event;
    int found = 1;

    if (reader == NULL) {
        return NULL;
    }
    if (self->event.kind == FILM_KIND_OP_END) {
        found = film_event_find_op(self, reader, &begun);
    }
    if (found <= 0) {
        return none_unless_error();
    }
    return film_pyreader_text(film_reader_string(reader, begun.text));
}

static PyObject *
event_get_function(PyObject *object, void *Py_UNUSED(closure))
{
    EventObject *self = (EventObject *)object;
    const film_code *code;

    if (self->event.kind == FILM_KIND_C_CALL ||
        self->event.kind == FILM_KIND_C_RETURN ||
        self->event.kind == FILM_KIND_C_RAISE) {
        film_reader *reader = film_pyreader_open(self->reader);
        return reader == NULL
                   ? NULL
                   : film_pyreader_text(film_reader_string(reader, self->event.text));
    }
    if (film_kind_is_op(self->event.kind)) {
        return op_function(self);
    }
    code = find_code(self);
    return code == NULL ? none_unless_error() : film_pyreader_text(code->function);
}

static PyObject *
event_get_file(PyObject *object, void *Py_UNUSED(closure))
{
    const film_code *code = find_code((EventObject *)object);

    return code == NULL ? none_unless_error() : film_pyreader_text(code->file);
}

static PyObject *
event_get_line(PyObject *object, void *Py_UNUSED(closure))
{
    EventObject *self = (EventObject *)object;
    const film_code *code = find_code(self);

    if (code == NULL) {
        return none_unless_error();
    }
    if (self->event.kind == FILM_KIND_CALL) {
        return number_or_none(code->first_line, 0);
    }
    return number_or_none(film_reader_event_line(self->reader->reader, &self->event),
                          0);
}

static PyObject *
event_get_caller_line(PyObject *object, void *Py_UNUSED(closure))
{
    EventObject *self = (EventObject *)object;
    const film_event *event = &self->event;

    if ((event->kind != FILM_KIND_CALL && event->kind != FILM_KIND_RESUME &&
         event->kind != FILM_KIND_THROW) ||
        event->caller_code == FILM_NO_CODE || event->caller_offset == FILM_NO_OFFSET) {
        Py_RETURN_NONE;
    }
    if (film_pyreader_open(self->reader) == NULL) {
        return NULL;
    }
    return number_or_none(film_reader_line(self->reader->reader, event->caller_code,
                                           event->caller_offset),
                          0);
}

static PyObject *
event_get_text(PyObject *object, void *Py_UNUSED(closure))
{
    EventObject *self = (EventObject *)object;
    film_reader *reader = film_pyreader_open(self->reader);

    if (reader == NULL) {
        return NULL;
    }
    return film_pyreader_text(film_reader_string(reader, self->event.text));
}

static PyObject *
event_repr(PyObject *object)
{
    EventObject *self = (EventObject *)object;
    const char *kind = film_kind_name(self->event.kind);
    unsigned long long number = self->event.number;
    unsigned int thread = self->event.thread;
    PyObject *function;
    PyObject *text;

    function = self->reader->reader == NULL ? Py_NewRef(Py_None)
                                            : event_get_function(object, NULL);
    if (function == NULL) {
        return NULL;
    }
    if (function == Py_None) {
        text =
            PyUnicode_FromFormat("<Event %llu of thread %u: %s>", number, thread, kind);
    }
    else {
        text = PyUnicode_FromFormat("<Event %llu of thread %u: %s %U>", number, thread,
                                    kind, function);
    }
    Py_DECREF(function);
    return text;
}

static PyMemberDef event_members[] = {
    {"number", T_ULONGLONG, offsetof(EventObject, event.number), READONLY,
     "Its place in its thread, from 0."},
    {"thread", T_UINT, offsetof(EventObject, event.thread), READONLY,
     "1 is the main thread."},
    {"time_ns", T_ULONGLONG, offsetof(EventObject, event.time_ns), READONLY,
     "Since the start of the recording."},
    {"frame", T_ULONGLONG, offsetof(EventObject, event.frame), READONLY,
     "The serial of the frame it happened in; 0: none."},
    {"depth", T_UINT, offsetof(EventObject, event.depth), READONLY,
     "Open recorded frames below this event's frame."},
    {"count", T_ULONGLONG, offsetof(EventObject, event.count), READONLY,
     "lost, lost_control: how many; thread_start: the system's thread id."},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef event_getset[] = {
    {"kind", event_get_kind, NULL, "call, return, yield, ... as in `dump`.", NULL},
    {"code_id", event_get_code_id, NULL, "The id of its frame's code, or None.", NULL},
    {"code", event_get_code, NULL, "Its frame's code, or None.", NULL},
    {"offset", event_get_offset, NULL, "Its place in the code, or None.", NULL},
    {"function", event_get_function, NULL,
     "module.qualname; of a C function or an op its name; or None.", NULL},
    {"file", event_get_file, NULL, "The file of its code, or None.", NULL},
    {"line", event_get_line, NULL,
     "Where it happened; of a call, the function's first line. None: no line.", NULL},
    {"caller_line", event_get_caller_line, NULL,
     "Where a call came from, if its caller is recorded.", NULL},
    {"text", event_get_text, NULL,
     "The exception's type, the thread's name, the reason of a loss; or empty.", NULL},
    {"value", film_event_get_value, NULL,
     "What was written, returned or yielded, or an exception's message: a dict as in "
     "`dump`, or None.",
     NULL},
    {"args", film_event_get_args, NULL,
     "Of a call: {name: value}; of an op: a list of values; or None.", NULL},
    {"kwargs", film_event_get_kwargs, NULL, "Of an op: {name: value}.", NULL},
    {"op", film_event_get_op, NULL, "Of op and op_end: the number of the op event.",
     NULL},
    {"result", film_event_get_result, NULL, "Of an op_end: what it gave, a value.",
     NULL},
    {"changed", film_event_get_changed, NULL,
     "Of an op_end: the tensors that it has changed in place, a list.", NULL},
    {"module", film_event_get_module, NULL,
     "Of an op: the path of the nn.Module whose forward runs, or None.", NULL},
    {"api", film_event_get_api, NULL,
     "Of an op: the Python function of torch's that led to it, or None.", NULL},
    {"flags", film_event_get_flags, NULL,
     "Of an op: grad, inference, inner, backward, sync, launch, compiled.", NULL},
    {"sequence", film_event_get_sequence, NULL,
     "Of an op: autograd's number of the node, or None.", NULL},
    {"duration_ns", film_event_get_duration_ns, NULL,
     "Of an op_end: the time since its op, or None.", NULL},
    {"name", film_event_get_name, NULL,
     "What a set or delete wrote to; None for items and other events.", NULL},
    {"scope", film_event_get_scope, NULL,
     "local, nonlocal, global, class, attribute or item; None for other events.", NULL},
    {"owner", film_event_get_owner, NULL,
     "The object whose attribute or item was written: a value, or None.", NULL},
    {"key", film_event_get_key, NULL, "The key of an item: a value, or None.", NULL},
    {"via", film_event_get_via, NULL,
     "A property, __setattr__ or __setitem__ took the write.", NULL},
    {"length_before", film_event_get_length_before, NULL,
     "Of a change: the length before, or None.", NULL},
    {"cut", film_event_get_cut, NULL, "Of a change: it could not be compared in full.",
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static char event_doc[] = "One thing that happened.";

static PyType_Slot event_slots[] = {
    {Py_tp_doc, event_doc},       {Py_tp_dealloc, event_dealloc},
    {Py_tp_repr, event_repr},     {Py_tp_members, event_members},
    {Py_tp_getset, event_getset}, {0, NULL},
};

PyType_Spec film_event_spec = {
    .name = "filmstrip._reader.Event",
    .basicsize = sizeof(EventObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = event_slots,
};
