/* module.c: the extension module filmstrip._reader: its types, its exception, how the
 * library's errors become Python's.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pyreader.h"

static struct PyModuleDef module_definition;

PyMODINIT_FUNC
PyInit__reader(void);

reader_state *
film_pyreader_state(PyTypeObject *type)
{
    return PyType_GetModuleState(type);
}

PyObject *
film_pyreader_text(film_text text)
{
    return PyUnicode_DecodeUTF8(text.data, (Py_ssize_t)text.length, "replace");
}

PyObject *
film_pyreader_raise(reader_state *state, film_status status, const film_error *error)
{
    PyObject *raised = NULL;
    PyObject *code = NULL;
    PyObject *offset = NULL;

    if (status == FILM_NO_MEMORY) {
        return PyErr_NoMemory();
    }
    if (status == FILM_IO) {
        PyErr_SetString(PyExc_OSError, error->message);
        return NULL;
    }
    raised = PyObject_CallFunction(state->error, "s", error->message);
    code = PyLong_FromLong((long)status);
    offset = PyLong_FromUnsignedLongLong(error->offset);
    if (raised == NULL || code == NULL || offset == NULL ||
        PyObject_SetAttrString(raised, "status", code) < 0 ||
        PyObject_SetAttrString(raised, "offset", offset) < 0) {
        goto done;
    }
    PyErr_SetObject(state->error, raised);

done:
    Py_XDECREF(raised);
    Py_XDECREF(code);
    Py_XDECREF(offset);
    return NULL;
}

static int
add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **out)
{
    *out = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
    if (*out == NULL) {
        return -1;
    }
    return PyModule_AddType(module, *out);
}

static int
module_exec(PyObject *module)
{
    reader_state *state = PyModule_GetState(module);

    for (int kind = 0; kind < FILM_KIND_COUNT; kind++) {
        state->kinds[kind] = PyUnicode_InternFromString(film_kind_name((uint8_t)kind));
        if (state->kinds[kind] == NULL) {
            return -1;
        }
    }
    state->error = PyErr_NewExceptionWithDoc(
        "filmstrip.FilmError",
        "A file is no recording, is damaged or is of a newer version. `status` is the\n"
        "library's code, `offset` the byte in the file where the fault lies.",
        PyExc_ValueError, NULL);
    if (state->error == NULL ||
        PyModule_AddObjectRef(module, "FilmError", state->error) < 0) {
        return -1;
    }
    state->code_type = PyStructSequence_NewType(&film_code_description);
    if (state->code_type == NULL || PyModule_AddType(module, state->code_type) < 0) {
        return -1;
    }
    if (add_type(module, &film_reader_spec, &state->reader_type) < 0 ||
        add_type(module, &film_cursor_spec, &state->cursor_type) < 0 ||
        add_type(module, &film_event_spec, &state->event_type) < 0 ||
        add_type(module, &film_objwatch_lines_spec, &state->objwatch_lines_type) < 0) {
        return -1;
    }
    return 0;
}

static int
module_traverse(PyObject *module, visitproc visit, void *arg)
{
    reader_state *state = PyModule_GetState(module);

    Py_VISIT(state->reader_type);
    Py_VISIT(state->cursor_type);
    Py_VISIT(state->event_type);
    Py_VISIT(state->objwatch_lines_type);
    Py_VISIT(state->code_type);
    Py_VISIT(state->error);
    return 0;
}

static int
module_clear(PyObject *module)
{
    reader_state *state = PyModule_GetState(module);

    Py_CLEAR(state->reader_type);
    Py_CLEAR(state->cursor_type);
    Py_CLEAR(state->event_type);
    Py_CLEAR(state->objwatch_lines_type);
    Py_CLEAR(state->code_type);
    Py_CLEAR(state->error);
    for (int kind = 0; kind < FILM_KIND_COUNT; kind++) {
        Py_CLEAR(state->kinds[kind]);
    }
    return 0;
}

static void
module_free(void *module)
{
    (void)module_clear(module);
}

static PyMethodDef module_methods[] = {
    {"export_tlparse", film_pyreader_export_tlparse, METH_VARARGS,
     "Writes what a thread did from one event to another as a log for tlparse."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
    {0, NULL},
};

static struct PyModuleDef module_definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "filmstrip._reader",
    .m_doc = "Reads recordings; filmstrip.open is the interface to use.",
    .m_size = sizeof(reader_state),
    .m_methods = module_methods,
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC
PyInit__reader(void)
{
    return PyModuleDef_Init(&module_definition);
}
