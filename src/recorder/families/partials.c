/* partials.c: functools.partial, by the members it declares.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/families/family.h"

#include "recorder/attributes.h"
#include "recorder/compat_modules.h"
#include "recorder/capture_types.h"
#include "recorder/compat_objects.h"
#include "recorder/families/note.h"

#define MOST_ARGUMENTS 12 /* of each kind that are shown */

static Py_ssize_t func_offset, args_offset, keywords_offset;

static bool
learn(film_type *known, PyTypeObject *type)
{
    const PyObject *partial = film_family_global("_functools", "partial");

    (void)known;
    return film_family_comes_from(type, partial) &&
           film_family_member(type, "func", &func_offset) &&
           film_family_member(type, "args", &args_offset) &&
           film_family_member(type, "keywords", &keywords_offset);
}

static void
put_name(film_template *made, PyTypeObject *type)
{
    PyObject *module = NULL;

    if (FILM_PARTIAL_IS_QUALIFIED &&
        (type->tp_flags & (Py_TPFLAGS_HEAPTYPE | Py_TPFLAGS_IMMUTABLETYPE)) ==
            Py_TPFLAGS_HEAPTYPE) {
        module = film_dict_find(film_type_dict(type), "__module__");
    }
    if (module == NULL) {
        film_template_put_name(made, type->tp_name);
        return;
    }
    film_template_put_str(made, module);
    film_template_put(made, ".");
    film_template_put_str(made, ((PyHeapTypeObject *)type)->ht_qualname);
}

/* What is shown of an argument: a hole, or the whole text. True: it is a hole. */
static bool
put_argument(film_template *made, PyObject *value)
{
    if (PyType_Check(value)) {
        film_template_put_class(made, (PyTypeObject *)value);
        return false;
    }
    film_template_put(made, HOLE_VALUE);
    return true;
}

/* The text, and what fills its holes. */
typedef struct call {
    film_template text;
    PyObject *held[1 + 2 * MOST_ARGUMENTS];
    PyObject *secret[1 + 2 * MOST_ARGUMENTS]; /* the name, where that is a secret's */
    uint32_t count;
} call;

static void
add_argument(call *of, PyObject *value, PyObject *name)
{
    if (put_argument(&of->text, value)) {
        of->secret[of->count] = name != NULL && film_name_is_secret(name) ? name : NULL;
        of->held[of->count++] = value;
    }
}

static void
add_keywords(call *of, PyObject *keywords)
{
    film_pairs pairs;
    int shown = 0;

    film_pairs_of_dict(keywords, &pairs);
    for (Py_ssize_t index = 0; index < pairs.count && shown < MOST_ARGUMENTS; index++) {
        PyObject *key, *value = film_pairs_get(&pairs, index, &key);

        if (value == NULL || !PyUnicode_CheckExact(key)) {
            continue;
        }
        film_template_put(&of->text, ", ");
        film_template_put_str(&of->text, key);
        film_template_put(&of->text, "=");
        add_argument(of, value, key);
        shown++;
    }
    if (film_dict_length(keywords) > shown) {
        film_template_put(&of->text, ", ...");
    }
}

static bool
note(film_unfinished *making)
{
    PyObject *func = film_family_object_at(making->object, func_offset);
    PyObject *args = film_family_object_at(making->object, args_offset);
    PyObject *keywords = film_family_object_at(making->object, keywords_offset);
    call of = {.count = 0};

    if (func == NULL || args == NULL || !PyTuple_Check(args) || keywords == NULL ||
        !PyDict_Check(keywords)) {
        return false;
    }
    put_name(&of.text, Py_TYPE(making->object));
    film_template_put(&of.text, "(");
    add_argument(&of, func, NULL);
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(args); index++) {
        film_template_put(&of.text, ", ");
        if (index == MOST_ARGUMENTS) {
            film_template_put(&of.text, "...");
            break;
        }
        add_argument(&of, PyTuple_GET_ITEM(args, index), NULL);
    }
    add_keywords(&of, keywords);
    film_template_put(&of.text, ")");
    film_note_begin(film_template_keep(&of.text), 0, 0, of.count);
    for (uint32_t index = 0; index < of.count; index++) {
        if (of.secret[index] != NULL) {
            film_snapshot_put_secret(making, of.held[index], of.secret[index]);
        }
        else {
            film_note_value(making, of.held[index]);
        }
    }
    return true;
}

const film_family film_family_partials = {.learn = learn, .note = note, .whole = true};
