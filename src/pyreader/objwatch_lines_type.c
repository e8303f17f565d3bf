/* objwatch_lines_type.c: ObjwatchLines, ObjWatch's lines of a recording that is still
 * being written: each read() gives those that came since the last one. For the records
 * that filmstrip.compat.objwatch hands to Python's logging: a process of its own would
 * be seen by the watched program.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pyreader.h"

#include "export/objwatch.h"

typedef struct ObjwatchLinesObject {
    PyObject_HEAD
    film_recordings set;      /* owned, as all here */
    film_merge *merge;        /* NULL: closed */
    film_objwatch_text *text; /* borrows set and output */
    film_output output;
    film_buffer lines; /* what output was given */
} ObjwatchLinesObject;

static void
close_all(ObjwatchLinesObject *self)
{
    film_merge_close(self->merge);
    film_objwatch_text_free(self->text);
    film_output_reset(&self->output);
    film_buffer_reset(&self->lines);
    film_recordings_close(&self->set);
    self->merge = NULL;
    self->text = NULL;
}

static film_status
open_all(ObjwatchLinesObject *self, char *path, film_objwatch_mode mode,
         film_error *error)
{
    film_merge_range range = film_merge_everything();
    film_status status = film_recordings_open(&self->set, &path, 1, error);

    range.follow = true;
    if (status == FILM_OK) {
        status = film_output_init(&self->output, -1, error);
    }
    self->output.memory = &self->lines;
    if (status == FILM_OK) {
        status =
            film_objwatch_text_new(&self->set, mode, &self->output, &self->text, error);
    }
    if (status == FILM_OK) {
        status = film_merge_open(&self->set, &range, &self->merge, error);
    }
    return status;
}

static PyObject *
lines_new(PyTypeObject *type, PyObject *arguments, PyObject *Py_UNUSED(keywords))
{
    static const char *const forms[] = {"0.5", "strict", "0.3"};
    static const film_objwatch_mode modes[] = {FILM_OBJWATCH_FULL, FILM_OBJWATCH_STRICT,
                                               FILM_OBJWATCH_OLD};
    PyObject *path = NULL;
    const char *form;
    ObjwatchLinesObject *self = NULL;
    film_error error = {FILM_OK, 0, ""};
    film_status status;
    size_t mode = 0;

    if (!PyArg_ParseTuple(arguments, "O&s:ObjwatchLines", PyUnicode_FSConverter, &path,
                          &form)) {
        return NULL;
    }
    while (mode < sizeof(forms) / sizeof(forms[0]) && strcmp(form, forms[mode]) != 0) {
        mode++;
    }
    if (mode == sizeof(forms) / sizeof(forms[0])) {
        PyErr_Format(PyExc_ValueError, "%s is no form of ObjWatch's lines", form);
        goto done;
    }
    self = (ObjwatchLinesObject *)type->tp_alloc(type, 0);
    if (self == NULL) {
        goto done;
    }
    status = open_all(self, PyBytes_AS_STRING(path), modes[mode], &error);
    if (status != FILM_OK) {
        (void)film_pyreader_raise(film_pyreader_state(type), status, &error);
        Py_CLEAR(self);
    }

done:
    Py_DECREF(path);
    return (PyObject *)self;
}

static void
lines_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);

    close_all((ObjwatchLinesObject *)object);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *
lines_read(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    ObjwatchLinesObject *self = (ObjwatchLinesObject *)object;
    film_error error = {FILM_OK, 0, ""};
    film_merged merged;
    film_status status;
    film_text text;
    PyObject *result;

    if (self->merge == NULL) {
        PyErr_SetString(PyExc_ValueError, "the recording is closed");
        return NULL;
    }
    status = film_merge_refresh(self->merge, &error);
    while (status == FILM_OK) {
        status = film_merge_next(self->merge, &merged, &error);
        if (status == FILM_OK) {
            status = film_objwatch_text_write(self->text, &merged, &error);
        }
    }
    if (status == FILM_END) {
        status = film_output_flush(&self->output, &error);
    }
    if (status != FILM_OK) {
        return film_pyreader_raise(film_pyreader_state(Py_TYPE(object)), status,
                                   &error);
    }
    text = (film_text){(const char *)self->lines.data, self->lines.length};
    result = text.length == 0 ? PyUnicode_New(0, 0) : film_pyreader_text(text);
    film_buffer_clear(&self->lines);
    return result;
}

static PyObject *
lines_close(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    close_all((ObjwatchLinesObject *)object);
    Py_RETURN_NONE;
}

static PyMethodDef lines_methods[] = {
    {"read", lines_read, METH_NOARGS, "The lines that came since the last call."},
    {"close", lines_close, METH_NOARGS, "Releases the file."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot lines_slots[] = {
    {Py_tp_doc,
     (void *)(uintptr_t)"ObjwatchLines(path, form): form is '0.5', 'strict' or '0.3'."},
    {Py_tp_new, lines_new},
    {Py_tp_dealloc, lines_dealloc},
    {Py_tp_methods, lines_methods},
    {0, NULL},
};

PyType_Spec film_objwatch_lines_spec = {
    .name = "filmstrip._reader.ObjwatchLines",
    .basicsize = sizeof(ObjwatchLinesObject),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = lines_slots,
};
