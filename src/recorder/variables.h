/* variables.h: reads what a plan names: variables, attributes of them, and the names
 * themselves.
 * Threads: the holder of the GIL. What comes back is borrowed.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_VARIABLES_H
#define FILMSTRIP_RECORDER_VARIABLES_H

#include "recorder/compat.h"

#include "recorder/capture.h"
#include "recorder/plan.h"
#include "recorder/thread_context.h"

/* The dict that a GLOBAL or NAME write goes to; NULL where it is no plain dict. */
PyObject *
film_namespace_of(const film_frame *frame, uint8_t kind);

/* Whether such a write is one of a global or of a class body. */
film_set_form
film_namespace_form(const film_frame *frame, uint8_t kind);

/* The string id of a name in this recording. */
uint32_t
film_name_describe(film_named *named);

static inline uint32_t
film_named_id(film_named *named)
{
    return FILM_LIKELY(named->name_id != 0) ? named->name_id
                                            : film_name_describe(named);
}

/* The name if it is on the deny list, else NULL. */
PyObject *
film_name_judge(film_named *named);

static inline PyObject *
film_secret_name(film_named *named)
{
    return FILM_LIKELY(named->secrecy == FILM_SECRECY_NONE) ? NULL
                                                            : film_name_judge(named);
}

/* The same for locals: marks which slots of `code` are secret, NULL: none is. Owned. */
uint8_t *
film_secret_slots(PyCodeObject *code);

PyObject *
film_name_of_secret_slot(film_stack_entry *entry, uint32_t slot);

/* What a touch names, with the holder that proves it; NULL: unbound. */
PyObject *
film_touch_resolve(film_stack_entry *entry, const film_frame *frame,
                   const film_touch *touch, film_holder *holder);

static inline PyObject *
film_cell_content(PyObject *cell)
{
    return cell != NULL && Py_IS_TYPE(cell, &PyCell_Type)
               ? ((PyCellObject *)cell)->ob_ref
               : cell;
}

/* True for builtin containers, classes that are nothing else, and scalars: their
 * methods run no code of the program but that of their items. */
static inline bool
film_value_is_builtin(PyObject *value)
{
    const PyTypeObject *type = Py_TYPE(value);

    return type == &PyList_Type || type == &PyDict_Type || type == &PyUnicode_Type ||
           type == &PyLong_Type || type == &PyFloat_Type || type == &PyBytes_Type ||
           film_type_of(Py_TYPE(value))->plain;
}

/* What a bound method in a variable was taken from (`add = items.append`): calling it
 * may change that. NULL: it is no bound method, or one of a module's functions. */
PyObject *
film_method_self(PyObject *value);

/* True for what no line can change in place; methods are not what changes either. */
static inline bool
film_value_is_constant(PyObject *value)
{
    const PyTypeObject *type = Py_TYPE(value);

    return type == &PyLong_Type || type == &PyUnicode_Type || type == &PyFloat_Type ||
           type == &PyFunction_Type || type == &PyModule_Type || type == &PyType_Type ||
           value == Py_None || type == &PyBool_Type || type == &PyBytes_Type ||
           type == &PyCFunction_Type;
}

#endif
