/* reader_type.c: Reader, one open recording.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pyreader.h"

#include <string.h>

#include "analysis/query.h"

void
film_pyreader_wait(ReaderObject *self)
{
    while (self->busy) {
        Py_BEGIN_ALLOW_THREADS PyThread_acquire_lock(self->lock, WAIT_LOCK);
        PyThread_release_lock(self->lock);
        Py_END_ALLOW_THREADS
    }
}

film_reader *
film_pyreader_open(ReaderObject *self)
{
    film_pyreader_wait(self);
    if (self->reader == NULL) {
        PyErr_SetString(PyExc_ValueError, "the recording is closed");
    }
    return self->reader;
}

static void
close_reader(ReaderObject *self)
{
    film_pyreader_wait(self);
    while (self->cursors != NULL) {
        film_pyreader_cursor_close(self->cursors);
    }
    film_timeline_close(self->timeline);
    self->timeline = NULL;
    film_reader_close(self->reader);
    self->reader = NULL;
}

static PyObject *
reader_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *path = NULL; /* owned */
    ReaderObject *self;
    film_reader *reader = NULL;
    film_error error = {FILM_OK, 0, ""};
    film_status status;

    if (kwargs != NULL && PyDict_GET_SIZE(kwargs) > 0) {
        PyErr_SetString(PyExc_TypeError, "Reader() takes no keyword arguments");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "O&:Reader", PyUnicode_FSConverter, &path)) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS status =
        film_reader_open(PyBytes_AS_STRING(path), &reader, &error);
    Py_END_ALLOW_THREADS Py_DECREF(path);
    if (status != FILM_OK) {
        return film_pyreader_raise(film_pyreader_state(type), status, &error);
    }
    self = (ReaderObject *)type->tp_alloc(type, 0);
    if (self == NULL) {
        film_reader_close(reader);
        return NULL;
    }
    self->reader = reader;
    self->lock = PyThread_allocate_lock();
    if (self->lock == NULL) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    return (PyObject *)self;
}

static void
reader_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);

    /* Cursors own their reader, so none is open here. */
    close_reader((ReaderObject *)object);
    if (((ReaderObject *)object)->lock != NULL) {
        PyThread_free_lock(((ReaderObject *)object)->lock);
    }
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *
reader_close(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    close_reader((ReaderObject *)object);
    Py_RETURN_NONE;
}

static PyObject *
reader_refresh(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    film_reader *reader = film_pyreader_open((ReaderObject *)object);
    film_error error = {FILM_OK, 0, ""};
    film_status status;

    if (reader == NULL) {
        return NULL;
    }
    status = film_reader_refresh(reader, &error);
    if (status == FILM_OK && ((ReaderObject *)object)->timeline != NULL) {
        status = film_timeline_refresh(((ReaderObject *)object)->timeline, &error);
    }
    if (status != FILM_OK) {
        return film_pyreader_raise(film_pyreader_state(Py_TYPE(object)), status,
                                   &error);
    }
    Py_RETURN_NONE;
}

/* film_query: a request in JSON, its answer in JSON. */
static PyObject *
reader_query(PyObject *object, PyObject *argument)
{
    ReaderObject *self = (ReaderObject *)object;
    film_reader *reader = film_pyreader_open(self);
    film_error error = {FILM_OK, 0, ""};
    film_buffer answer = {0};
    film_status status = FILM_OK;
    const char *request;
    Py_ssize_t length;
    PyObject *result;

    if (reader == NULL) {
        return NULL;
    }
    request = PyUnicode_AsUTF8AndSize(argument, &length);
    if (request == NULL) {
        return NULL;
    }
    /* Nobody else uses the reader, and nobody begins to: see film_pyreader_open. */
    self->busy = true;
    PyThread_acquire_lock(self->lock, WAIT_LOCK);
    Py_BEGIN_ALLOW_THREADS if (self->timeline == NULL)
    {
        status = film_timeline_open(reader, &self->timeline, &error);
    }
    if (status == FILM_OK) {
        status = film_query(self->timeline, request, (size_t)length, &answer);
    }
    Py_END_ALLOW_THREADS self->busy = false;
    PyThread_release_lock(self->lock);
    if (status != FILM_OK) {
        film_buffer_reset(&answer);
        return PyErr_NoMemory();
    }
    result = PyUnicode_DecodeUTF8((const char *)answer.data, (Py_ssize_t)answer.length,
                                  "replace");
    film_buffer_reset(&answer);
    return result;
}

static PyObject *
reader_info(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    film_reader *reader = film_pyreader_open((ReaderObject *)object);
    const film_info *info;

    if (reader == NULL) {
        return NULL;
    }
    info = film_reader_info(reader);
    return Py_BuildValue(
        "{s(HH) sy# sK sK sK sK sK sK sK sK sK sI sI sI ss sN sN sN sn}", "version",
        (int)info->version_major, (int)info->version_minor, "uuid",
        (const char *)info->uuid, (Py_ssize_t)sizeof(info->uuid), "pid",
        (unsigned long long)info->pid, "start_realtime_ns",
        (unsigned long long)info->start_realtime_ns, "duration_ns",
        (unsigned long long)info->duration_ns, "events",
        (unsigned long long)info->events, "lost", (unsigned long long)info->lost,
        "overwritten", (unsigned long long)info->overwritten, "file_bytes",
        (unsigned long long)info->file_bytes, "disk_bytes",
        (unsigned long long)info->disk_bytes, "ring_bytes",
        (unsigned long long)info->ring_bytes, "python_version",
        (unsigned int)info->python_version, "tick_ns", (unsigned int)info->tick_ns,
        "level", (unsigned int)info->level, "ending", film_ending_name(info->ending),
        "exit_status",
        info->exit_status < 0 ? Py_NewRef(Py_None) : PyLong_FromLong(info->exit_status),
        "stopped_early", PyBool_FromLong(info->stopped_early), "write_fallback",
        PyBool_FromLong(info->write_fallback), "damaged", (Py_ssize_t)info->damaged);
}

static PyObject *
reader_threads(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    film_reader *reader = film_pyreader_open((ReaderObject *)object);
    PyObject *list;

    if (reader == NULL) {
        return NULL;
    }
    list = PyList_New(0);
    if (list == NULL) {
        return NULL;
    }
    for (size_t index = 0; index < film_reader_thread_count(reader); index++) {
        const film_thread_info *thread = film_reader_thread(reader, index);
        PyObject *item =
            Py_BuildValue("{sI sN sK sK sK sK sK sK}", "id", (unsigned int)thread->id,
                          "name", film_pyreader_text(thread->name), "native_id",
                          (unsigned long long)thread->native_id, "first_event",
                          (unsigned long long)thread->first_event, "end_event",
                          (unsigned long long)thread->end_event, "first_ns",
                          (unsigned long long)thread->first_ns, "last_ns",
                          (unsigned long long)thread->last_ns, "lost",
                          (unsigned long long)thread->lost);
        if (item == NULL || PyList_Append(list, item) < 0) {
            Py_XDECREF(item);
            Py_DECREF(list);
            return NULL;
        }
        Py_DECREF(item);
    }
    return list;
}

static PyObject *
reader_code_count(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    film_reader *reader = film_pyreader_open((ReaderObject *)object);

    return reader == NULL ? NULL : PyLong_FromSize_t(film_reader_code_count(reader));
}

static PyObject *
reader_code(PyObject *object, PyObject *args)
{
    film_reader *reader = film_pyreader_open((ReaderObject *)object);
    unsigned int id;

    if (reader == NULL || !PyArg_ParseTuple(args, "I:code", &id)) {
        return NULL;
    }
    return film_pyreader_code(film_pyreader_state(Py_TYPE(object)), reader, id);
}

static PyObject *
reader_line(PyObject *object, PyObject *args)
{
    film_reader *reader = film_pyreader_open((ReaderObject *)object);
    unsigned int code;
    unsigned int offset;

    if (reader == NULL || !PyArg_ParseTuple(args, "II:line", &code, &offset)) {
        return NULL;
    }
    return PyLong_FromUnsignedLong(film_reader_line(reader, code, offset));
}

static PyObject *
reader_string_count(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    film_reader *reader = film_pyreader_open((ReaderObject *)object);

    return reader == NULL ? NULL : PyLong_FromSize_t(film_reader_string_count(reader));
}

static PyObject *
reader_string(PyObject *object, PyObject *args)
{
    film_reader *reader = film_pyreader_open((ReaderObject *)object);
    unsigned int id;

    if (reader == NULL || !PyArg_ParseTuple(args, "I:string", &id)) {
        return NULL;
    }
    return film_pyreader_text(film_reader_string(reader, id));
}

PyObject *
film_pyreader_value(reader_state *state, film_reader *reader, uint64_t id)
{
    film_error error = {FILM_OK, 0, ""};
    film_value value;
    film_status status = film_reader_value(reader, id, &value, &error);

    if (status != FILM_OK) {
        return film_pyreader_raise(state, status, &error);
    }
    return Py_BuildValue("{sN sN sN sN}", "text", film_pyreader_text(value.text),
                         "type", film_pyreader_text(value.type), "cut",
                         PyBool_FromLong(value.cut), "redacted",
                         PyBool_FromLong(value.redacted));
}

static PyObject *
reader_value(PyObject *object, PyObject *args)
{
    film_reader *reader = film_pyreader_open((ReaderObject *)object);
    unsigned long long id;

    if (reader == NULL || !PyArg_ParseTuple(args, "K:value", &id)) {
        return NULL;
    }
    return film_pyreader_value(film_pyreader_state(Py_TYPE(object)), reader, id);
}

static PyObject *
reader_meta(PyObject *object, PyObject *args)
{
    film_reader *reader = film_pyreader_open((ReaderObject *)object);
    const char *key;
    const char *value;

    if (reader == NULL || !PyArg_ParseTuple(args, "s:meta", &key)) {
        return NULL;
    }
    value = film_reader_meta(reader, key);
    if (value == NULL) {
        Py_RETURN_NONE;
    }
    return PyUnicode_DecodeUTF8(value, (Py_ssize_t)strlen(value), "replace");
}

static PyObject *
reader_damage(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    film_reader *reader = film_pyreader_open((ReaderObject *)object);
    PyObject *list;

    if (reader == NULL) {
        return NULL;
    }
    list = PyList_New(0);
    if (list == NULL) {
        return NULL;
    }
    for (size_t index = 0; index < film_reader_damage_count(reader); index++) {
        const film_damage *damage = film_reader_damage(reader, index);
        PyObject *item = Py_BuildValue(
            "{sK sK ss}", "offset", (unsigned long long)damage->offset, "number",
            (unsigned long long)damage->number, "message", damage->message);
        if (item == NULL || PyList_Append(list, item) < 0) {
            Py_XDECREF(item);
            Py_DECREF(list);
            return NULL;
        }
        Py_DECREF(item);
    }
    return list;
}

static PyObject *
reader_source(PyObject *object, PyObject *args)
{
    film_reader *reader = film_pyreader_open((ReaderObject *)object);
    film_error error = {FILM_OK, 0, ""};
    film_source source;
    film_status status;
    Py_ssize_t index;

    if (reader == NULL || !PyArg_ParseTuple(args, "n:source", &index)) {
        return NULL;
    }
    if (index < 0) {
        Py_RETURN_NONE;
    }
    status = film_reader_source(reader, (size_t)index, &source, &error);
    if (status == FILM_END) {
        Py_RETURN_NONE;
    }
    if (status != FILM_OK) {
        return film_pyreader_raise(film_pyreader_state(Py_TYPE(object)), status,
                                   &error);
    }
    return Py_BuildValue("{sN sN sN}", "file", film_pyreader_text(source.file), "text",
                         film_pyreader_text(source.text), "cut",
                         PyBool_FromLong(source.cut));
}

static PyObject *
reader_cursor(PyObject *object, PyObject *args)
{
    unsigned int thread;
    unsigned long long first = 0;

    if (film_pyreader_open((ReaderObject *)object) == NULL ||
        !PyArg_ParseTuple(args, "I|K:cursor", &thread, &first)) {
        return NULL;
    }
    return film_pyreader_cursor_new((ReaderObject *)object, thread, first);
}

static PyMethodDef reader_methods[] = {
    {"close", reader_close, METH_NOARGS, "Closes the recording and its cursors."},
    {"query", reader_query, METH_O,
     PyDoc_STR("query(request)\n--\n\nAnswers a question in JSON; see query.h.")},
    {"refresh", reader_refresh, METH_NOARGS, "Looks again at a live recording."},
    {"info", reader_info, METH_NOARGS, "What the recording is, as a dict."},
    {"threads", reader_threads, METH_NOARGS, "A dict for each thread."},
    {"code_count", reader_code_count, METH_NOARGS, "How many code objects it knows."},
    {"code", reader_code, METH_VARARGS, "code(id) -> Code, or None."},
    {"line", reader_line, METH_VARARGS, "line(code, offset) -> int; 0: no line."},
    {"string_count", reader_string_count, METH_NOARGS, "How many strings it keeps."},
    {"string", reader_string, METH_VARARGS, "string(id) -> str."},
    {"value", reader_value, METH_VARARGS, "value(id) -> dict."},
    {"meta", reader_meta, METH_VARARGS, "meta(key) -> str, or None."},
    {"damage", reader_damage, METH_NOARGS, "A dict for each damage met so far."},
    {"source", reader_source, METH_VARARGS, "source(index) -> dict, or None."},
    {"cursor", reader_cursor, METH_VARARGS,
     "cursor(thread, first=0) -> an iterator over the thread's events."},
    {NULL, NULL, 0, NULL},
};

static PyObject *
reader_get_closed(PyObject *object, void *Py_UNUSED(closure))
{
    return PyBool_FromLong(((ReaderObject *)object)->reader == NULL);
}

static PyGetSetDef reader_getset[] = {
    {"closed", reader_get_closed, NULL, "Whether close() was called.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static char reader_doc[] = "Reader(path): an open recording.";

static PyType_Slot reader_slots[] = {
    {Py_tp_doc, reader_doc},         {Py_tp_new, reader_new},
    {Py_tp_dealloc, reader_dealloc}, {Py_tp_methods, reader_methods},
    {Py_tp_getset, reader_getset},   {0, NULL},
};

PyType_Spec film_reader_spec = {
    .name = "filmstrip._reader.Reader",
    .basicsize = sizeof(ReaderObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = reader_slots,
};
