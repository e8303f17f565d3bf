/* scalars.c: classes made of int, float, str or bytes, by what they are made of. What
 * their own methods say of it does not count.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/families/family.h"

#include "recorder/families/note.h"

static const PyTypeObject *
made_of(const PyTypeObject *type)
{
    return (type->tp_flags & Py_TPFLAGS_LONG_SUBCLASS) != 0      ? &PyLong_Type
           : (type->tp_flags & Py_TPFLAGS_UNICODE_SUBCLASS) != 0 ? &PyUnicode_Type
           : (type->tp_flags & Py_TPFLAGS_BYTES_SUBCLASS) != 0   ? &PyBytes_Type
           : PyType_IsSubtype((PyTypeObject *)(uintptr_t)type, &PyFloat_Type)
               ? &PyFloat_Type
           : PyType_IsSubtype((PyTypeObject *)(uintptr_t)type, &PyComplex_Type)
               ? &PyComplex_Type
               : NULL;
}

static bool
learn(film_type *known, PyTypeObject *type)
{
    const PyTypeObject *builtin = made_of(type);
    film_template made = {0};

    if (builtin == NULL || builtin == type || type == &PyBool_Type) {
        return false;
    }
    if (type->tp_repr == builtin->tp_repr) {
        film_template_put(&made, HOLE_VALUE);
    }
    else {
        film_template_put_short(&made, type);
        film_template_put(&made, "(" HOLE_VALUE ")");
    }
    known->note_text = film_template_keep(&made);
    return true;
}

static bool
note(film_unfinished *making)
{
    uint32_t text = film_type_of(Py_TYPE(making->object))->note_text;

    film_note_begin(text, 0, 0, 1);
    film_note_scalar(making, making->object);
    return true;
}

const film_family film_family_scalars = {.learn = learn, .note = note, .whole = true};
