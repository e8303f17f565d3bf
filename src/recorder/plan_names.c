/* plan_names.c: see plan_draft.h: the names that instructions speak of, and those that
 * the source does not show.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/plan_draft.h"
#include "recorder/plan_harmless.h"

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

uint8_t
film_draft_name_traits(const film_draft *draft, uint32_t index)
{
    uint8_t *traits = &draft->name_traits[index];

    if (*traits == 0) {
        *traits = film_name_traits_of(film_draft_name(draft, index)) | FILM_NAME_ASKED;
    }
    return *traits;
}

film_effect
film_draft_method_effect(const film_draft *draft, uint32_t index)
{
    uint8_t traits = film_draft_name_traits(draft, index);

    if ((traits & FILM_NAME_APPENDS) != 0) {
        return FILM_EFFECT_APPENDS;
    }
    return (traits & FILM_NAME_REMOVES) != 0 ? FILM_EFFECT_REMOVES : FILM_EFFECT_ANY;
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
