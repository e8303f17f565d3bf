/* records.c: tuples with named fields: namedtuple, and structseq such as os.stat_result.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/families/records.h"

#include <string.h>
#include <structmember.h>

#include "format/value_record.h"
#include "recorder/attributes.h"
#include "recorder/compat_objects.h"
#include "recorder/families/family.h"
#include "recorder/families/note.h"

#define MOST_FIELDS 64

PyObject *
film_record_fields(PyTypeObject *type)
{
    PyTypeObject *definer = film_family_definer(type, "_fields");
    PyObject *fields = definer == NULL || (type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0
                           ? NULL
                           : film_dict_find(film_type_dict(definer), "_fields");

    if (fields == NULL || !PyTuple_CheckExact(fields) ||
        PyTuple_GET_SIZE(fields) > MOST_FIELDS) {
        return NULL;
    }
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(fields); index++) {
        if (!PyUnicode_CheckExact(PyTuple_GET_ITEM(fields, index))) {
            return NULL;
        }
    }
    return fields;
}

static void
put_fields(film_name_list *names, PyObject *fields)
{
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(fields); index++) {
        film_names_add_str(names, PyTuple_GET_ITEM(fields, index));
    }
}

/* The names of a structseq's visible items; false: it is none. */
static bool
put_members(film_name_list *names, PyTypeObject *type)
{
    PyObject *dict = film_type_dict(type);
    PyObject *count = dict == NULL ? NULL : film_dict_find(dict, "n_sequence_fields");
    int64_t visible;

    if (count == NULL || !PyLong_CheckExact(count) ||
        !film_long_small(count, &visible) || visible < 0 || visible > MOST_FIELDS ||
        type->tp_members == NULL || film_dict_find(dict, "n_unnamed_fields") == NULL) {
        return false;
    }
    for (int64_t index = 0; index < visible; index++) {
        const char *name = type->tp_members[index].name;

        if (name == NULL) {
            return false;
        }
        film_names_add(names, name, strlen(name));
    }
    return true;
}

static bool
learn(film_type *known, PyTypeObject *type)
{
    film_name_list names = {.length = 0};
    film_template text = {0};
    PyObject *fields;

    if (known->content != FILM_CONTENT_TUPLE || type == &PyTuple_Type) {
        return false;
    }
    fields = film_record_fields(type);
    if (fields != NULL) {
        put_fields(&names, fields);
        film_template_put_short(&text, type);
        known->named = true;
    }
    else if (put_members(&names, type)) {
        film_template_put_name(&text, type->tp_name);
    }
    else {
        return false;
    }
    film_template_put(&text, "(" HOLE_FIELDS ")");
    known->note_text = film_template_keep(&text);
    known->note_names = film_names_keep(&names);
    return true;
}

const film_family film_family_records = {.learn = learn};
