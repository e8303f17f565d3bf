/* fields.c: dataclasses, by the fields their class declares, and SimpleNamespace, by all
 * it has. Their text is made by readers, of what the attributes hold by then.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/families/family.h"

#include <string.h>

#include "recorder/attributes.h"
#include "recorder/compat_objects.h"
#include "recorder/families/note.h"

/* The fields that a dataclass shows, with commas between; false: it is none. */
static bool
put_shown(film_name_list *names, PyTypeObject *type)
{
    PyTypeObject *definer = film_family_definer(type, "__dataclass_fields__");
    PyObject *fields = definer == NULL ? NULL
                                       : film_dict_find(film_type_dict(definer),
                                                        "__dataclass_fields__");
    const PyObject *ordinary = film_family_global("dataclasses", "_FIELD");
    Py_ssize_t shown, kind;
    film_pairs pairs;

    if (fields == NULL || !PyDict_CheckExact(fields) || ordinary == NULL) {
        return false;
    }
    film_pairs_of_dict(fields, &pairs);
    for (Py_ssize_t index = 0; index < pairs.count; index++) {
        PyObject *name, *field = film_pairs_get(&pairs, index, &name);

        if (field == NULL || !film_family_member(Py_TYPE(field), "repr", &shown) ||
            !film_family_member(Py_TYPE(field), "_field_type", &kind)) {
            continue;
        }
        if (film_family_object_at(field, shown) == Py_True &&
            film_family_object_at(field, kind) == ordinary) {
            film_names_add_str(names, name);
        }
    }
    return true;
}

/* SimpleNamespace, which is there before the module `types` is; NULL: it is none. No
 * class statement makes a type that is not on the heap: the name cannot be had by any
 * other. */
static const PyTypeObject *
namespace_of(const PyTypeObject *type)
{
    while (type != NULL && (type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0) {
        type = type->tp_base;
    }
    return type != NULL && strcmp(type->tp_name, "types.SimpleNamespace") == 0 ? type
                                                                               : NULL;
}

static bool
learn(film_type *known, PyTypeObject *type)
{
    film_template made = {0};
    film_name_list names = {.length = 0};
    const PyTypeObject *namespace = namespace_of(type);

    if (known->content != FILM_CONTENT_INSTANCE) {
        return false;
    }
    if (namespace != NULL) {
        if (type == namespace) {
            film_template_put(&made, "namespace");
        }
        else {
            film_template_put_short(&made, type);
        }
        film_template_put(&made, "(" HOLE_FIELDS ")");
    }
    else if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0 && put_shown(&names, type)) {
        film_template_put_str(&made, ((PyHeapTypeObject *)type)->ht_qualname);
        film_template_put(&made,
                          names.length > 0 || names.cut ? "(" HOLE_FIELDS ")" : "()");
    }
    else {
        return false;
    }
    known->note_text = film_template_keep(&made);
    known->note_names = film_names_keep(&names);
    return true;
}

const film_family film_family_fields = {.learn = learn};
