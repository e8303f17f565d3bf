/* plan_names.c: see plan_draft.h: the names that instructions speak of, and those that
 * the source does not show.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/plan_draft.h"

PyObject *
film_draft_name(const film_draft *draft, uint32_t index)
{
    return PyTuple_GET_ITEM(draft->bytecode.code->co_names, (Py_ssize_t)index);
}

PyObject *
film_draft_slot_name(const film_draft *draft, uint32_t slot)
{
    return PyTuple_GET_ITEM(draft->bytecode.code->co_localsplusnames, (Py_ssize_t)slot);
}

bool
film_name_is_hidden(PyObject *name)
{
    static const char *const compilers[] = {
        "__classcell__",     "__classdict__",
        "__classdictcell__", "__conditional_annotations__",
        "__firstlineno__",   "__static_attributes__",
        "__module__",        "__qualname__",
        "__type_params__",   "__annotate__",
        "__annotate_func__", "__annotations_cache__",
    };
    Py_UCS4 first;

    if (!PyUnicode_Check(name) || PyUnicode_GET_LENGTH(name) < 2) {
        return false;
    }
    first = PyUnicode_READ_CHAR(name, 0);
    if (first == '.') {
        return true; /* .0, .generic_base, .type_params */
    }
    if (first != '_' || PyUnicode_READ_CHAR(name, 1) != '_') {
        return false;
    }
    for (size_t index = 0; index < sizeof(compilers) / sizeof(*compilers); index++) {
        if (PyUnicode_CompareWithASCIIString(name, compilers[index]) == 0) {
            return true;
        }
    }
    return false;
}

bool
film_name_is_annotations(PyObject *name)
{
    return PyUnicode_CompareWithASCIIString(name, "__annotations__") == 0;
}
