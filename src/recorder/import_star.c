/* import_star.c: see import_star.h.
 *
 * As ceval.c's import_all_from: the names in __all__, or all in the module's dict that
 * do not begin with an underscore. They are told just before they are written, while
 * the module is on the stack: nothing but a name that __all__ has and the module lacks
 * can keep that from happening, and there it ends.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/import_star.h"

#include "recorder/attributes.h"
#include "recorder/capture.h"
#include "recorder/compat_objects.h"
#include "recorder/plan.h"
#include "recorder/variables.h"

static bool
tell_name(film_context *context, const film_frame *frame, PyObject *name,
          PyObject *value)
{
    film_named named = film_named_new(name);
    film_holder holder = {.kind = FILM_HOLDER_NAMESPACE,
                          .owner = film_namespace_of(frame, FILM_WRITE_NAME),
                          .name = name};
    uint8_t tokens[FILM_TOKEN_MAX], *end;

    end = film_capture(context, value, &holder, film_secret_name(&named), tokens);
    return film_append_set(context->thread, film_namespace_form(frame, FILM_WRITE_NAME),
                           film_named_id(&named), tokens, (size_t)(end - tokens));
}

static bool
tell_listed(film_context *context, const film_frame *frame, PyObject *dict,
            PyObject *names)
{
    Py_ssize_t count = PySequence_Fast_GET_SIZE(names);

    for (Py_ssize_t index = 0; index < count; index++) {
        PyObject *name = PySequence_Fast_GET_ITEM(names, index), *value;

        if (!PyUnicode_CheckExact(name)) {
            break; /* it will raise */
        }
        value = film_dict_lookup(dict, name);
        /* A module's __getattr__ may give what we cannot know. */
        if (value == NULL && film_dict_find(dict, "__getattr__") == NULL) {
            break;
        }
        if (!tell_name(context, frame, name, value)) {
            return false;
        }
    }
    return true;
}

static bool
tell_public(film_context *context, const film_frame *frame, PyObject *dict)
{
    film_pairs pairs;

    film_pairs_of_dict(dict, &pairs);
    for (Py_ssize_t index = 0; index < pairs.count; index++) {
        PyObject *name, *value = film_pairs_get(&pairs, index, &name);

        if (value == NULL || !PyUnicode_CheckExact(name) ||
            (PyUnicode_GET_LENGTH(name) > 0 && PyUnicode_READ_CHAR(name, 0) == '_')) {
            continue;
        }
        if (!tell_name(context, frame, name, value)) {
            return false;
        }
    }
    return true;
}

bool
film_import_star(film_context *context, const film_frame *frame, PyObject *module)
{
    PyObject *dict, *names;

    if (module == NULL || !PyModule_Check(module)) {
        return true; /* put there by the program: anything may happen */
    }
    dict = PyModule_GetDict(module);
    if (dict == NULL || !PyDict_CheckExact(dict)) {
        return true;
    }
    names = film_dict_find(dict, "__all__");
    if (names == NULL) {
        return tell_public(context, frame, dict);
    }
    if (!PyList_CheckExact(names) && !PyTuple_CheckExact(names)) {
        return true;
    }
    return tell_listed(context, frame, dict, names);
}
