/* family.c: see family.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/families/family.h"

#include <string.h>
#include <structmember.h>

#include "recorder/attributes.h"
#include "recorder/capture.h"
#include "recorder/compat_objects.h"
#include "recorder/families/note.h"

uint32_t film_the_family_era;

/* The first that knows a type has it: number 0 is none. */
static const film_family *const families[] = {
    NULL,
    &film_family_methods,
    &film_family_ranges,
    &film_family_decimals,
    &film_family_dates,
    &film_family_zones,
    &film_family_patterns,
    &film_family_partials,
    &film_family_numpy,
    &film_family_torch,
    &film_family_arrays,
    &film_family_classes,
    &film_family_fields,
    &film_family_records,
    &film_family_made,
    &film_family_scalars,
};
#define FAMILIES (sizeof(families) / sizeof(families[0]))

void
film_families_begin(void)
{
    film_the_family_era++;
}

void
film_family_learn(film_type *known, PyTypeObject *type)
{
    for (size_t index = 1; index < FAMILIES; index++) {
        if (families[index]->learn(known, type)) {
            known->family = (uint8_t)index;
            known->note_is_whole = families[index]->whole;
            return;
        }
    }
}

bool
film_family_note(film_unfinished *making)
{
    const film_type *type = film_type_of(Py_TYPE(making->object));
    const film_family *family = families[type->family];

    if (family == NULL) {
        return false;
    }
    if (family->note != NULL) {
        return family->note(making);
    }
    film_note_begin(type->note_text, type->note_names, type->note_base, 0);
    return true;
}

uint64_t
film_family_word(const film_type *type, PyObject *value)
{
    const film_family *family = families[type->family];

    return family == NULL || family->word == NULL ? 0 : family->word(value);
}

/* --- help ------------------------------------------------------------------------- */

bool
film_family_member(PyTypeObject *type, const char *name, Py_ssize_t *offset)
{
    PyObject *found = NULL;
    const PyMemberDef *member;

    for (; type != NULL && found == NULL; type = type->tp_base) {
        PyObject *dict = film_type_dict(type);

        found = dict == NULL ? NULL : film_dict_find(dict, name);
    }
    if (found == NULL || Py_TYPE(found) != &PyMemberDescr_Type) {
        return false;
    }
    member = ((PyMemberDescrObject *)found)->d_member;
    *offset = member->offset;
    return member->type == T_OBJECT || member->type == T_OBJECT_EX;
}

PyObject *
film_family_global(const char *module, const char *name)
{
    PyObject *found = film_dict_find(PyImport_GetModuleDict(), module);

    if (found == NULL || !PyModule_CheckExact(found)) {
        return NULL;
    }
    return film_dict_find(PyModule_GetDict(found), name);
}

bool
film_family_comes_from(PyTypeObject *type, const PyObject *base)
{
    PyObject *mro = type->tp_mro;

    if (base == NULL || mro == NULL || !PyTuple_CheckExact(mro)) {
        return false;
    }
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(mro); index++) {
        if (PyTuple_GET_ITEM(mro, index) == base) {
            return true;
        }
    }
    return false;
}

PyTypeObject *
film_family_definer(PyTypeObject *type, const char *name)
{
    PyObject *mro = type->tp_mro;

    if (mro == NULL || !PyTuple_CheckExact(mro)) {
        return NULL;
    }
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(mro); index++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(mro, index);
        PyObject *dict = PyType_Check((PyObject *)base) ? film_type_dict(base) : NULL;

        if (dict != NULL && film_dict_find(dict, name) != NULL) {
            return base;
        }
    }
    return NULL;
}
