/* methods.c: bound methods, by the function's name and the owner.
 *
 * Each look at `owner.method` makes another object: only what it binds counts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/families/family.h"

#include "recorder/families/note.h"

static film_phrase names = {"__self__", 0, 0};

static bool
learn(film_type *known, PyTypeObject *type)
{
    if (type != &PyMethod_Type && type != &PyCFunction_Type) {
        return false;
    }
    known->said = true;
    return true;
}

static bool
note_method(film_unfinished *making, PyObject *method)
{
    PyObject *function = PyMethod_GET_FUNCTION(method);
    film_template made = {0};

    film_template_put(&made, "<bound method ");
    if (PyFunction_Check(function)) {
        film_template_put_str(&made, ((PyFunctionObject *)function)->func_qualname);
    }
    else {
        film_template_put_short(&made, Py_TYPE(function));
    }
    film_template_put(&made, " of " HOLE_OBJECT ">");
    film_note_begin(film_template_keep(&made), film_phrase_id(&names), 0, 1);
    film_note_owner(making, PyMethod_GET_SELF(method));
    return true;
}

/* Those of modules are functions, and no methods. */
static bool
note_builtin(film_unfinished *making, PyObject *builtin)
{
    PyObject *self = PyCFunction_GET_SELF(builtin);
    film_template made = {0};

    if (self == NULL || PyModule_Check(self)) {
        return false;
    }
    film_template_put(&made, "<built-in method ");
    film_template_put_name(&made, ((PyCFunctionObject *)builtin)->m_ml->ml_name);
    film_template_put(&made, " of " HOLE_OBJECT ">");
    film_note_begin(film_template_keep(&made), film_phrase_id(&names), 0, 1);
    film_note_owner(making, self);
    return true;
}

static bool
note(film_unfinished *making)
{
    return PyMethod_Check(making->object) ? note_method(making, making->object)
                                          : note_builtin(making, making->object);
}

const film_family film_family_methods = {.learn = learn, .note = note, .whole = true};
