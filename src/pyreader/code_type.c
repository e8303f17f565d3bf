/* code_type.c: Code, what the recorder knew of a code object.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pyreader.h"

static PyStructSequence_Field code_fields[] = {
    {"id", "Its number in the recording."},
    {"file", "The file it was compiled from."},
    {"module", "The module it ran in."},
    {"qualname", "Its qualified name."},
    {"name", "Its name."},
    {"function", "module.qualname."},
    {"first_line", "Its first line."},
    {"flags", "co_flags."},
    {"argument_count", "co_argcount."},
    {"positional_only_count", "co_posonlyargcount."},
    {"keyword_only_count", "co_kwonlyargcount."},
    {"bytecode", "The unspecialised bytecode."},
    {"line_table", "co_linetable."},
    {"exception_table", "co_exceptiontable."},
    {"names", "co_names."},
    {"locals", "The names of its variables: local, cell and free."},
    {NULL, NULL},
};

PyStructSequence_Desc film_code_description = {
    .name = "filmstrip._reader.Code",
    .doc = "What a code object was.",
    .fields = code_fields,
    .n_in_sequence = 16,
};

static PyObject *
make_bytes(const uint8_t *data, uint32_t length)
{
    return PyBytes_FromStringAndSize((const char *)data, (Py_ssize_t)length);
}

static PyObject *
make_names(const film_reader *reader, const uint32_t *ids, uint32_t count)
{
    PyObject *tuple = PyTuple_New((Py_ssize_t)count);

    if (tuple == NULL) {
        return NULL;
    }
    for (uint32_t index = 0; index < count; index++) {
        PyObject *name = film_pyreader_text(film_reader_string(reader, ids[index]));
        if (name == NULL) {
            Py_DECREF(tuple);
            return NULL;
        }
        PyTuple_SET_ITEM(tuple, (Py_ssize_t)index, name);
    }
    return tuple;
}

PyObject *
film_pyreader_code(reader_state *state, const film_reader *reader, uint32_t id)
{
    const film_code *code = film_reader_code(reader, id);
    PyObject *result;

    if (code == NULL) {
        Py_RETURN_NONE;
    }
    result = PyStructSequence_New(state->code_type);
    if (result == NULL) {
        return NULL;
    }
    PyObject *items[] = {
        PyLong_FromUnsignedLong(code->id),
        film_pyreader_text(code->file),
        film_pyreader_text(code->module),
        film_pyreader_text(code->qualname),
        film_pyreader_text(code->name),
        film_pyreader_text(code->function),
        PyLong_FromUnsignedLong(code->first_line),
        PyLong_FromUnsignedLong(code->flags),
        PyLong_FromUnsignedLong(code->argument_count),
        PyLong_FromUnsignedLong(code->positional_only_count),
        PyLong_FromUnsignedLong(code->keyword_only_count),
        make_bytes(code->bytecode, code->bytecode_length),
        make_bytes(code->line_table, code->line_table_length),
        make_bytes(code->exception_table, code->exception_table_length),
        make_names(reader, code->names, code->name_count),
        make_names(reader, code->locals, code->local_count),
    };
    for (size_t index = 0; index < sizeof(items) / sizeof(items[0]); index++) {
        /* Takes the reference; a NULL is found below. */
        PyStructSequence_SetItem(result, (Py_ssize_t)index, items[index]);
    }
    if (PyErr_Occurred()) {
        Py_DECREF(result);
        return NULL;
    }
    return result;
}
