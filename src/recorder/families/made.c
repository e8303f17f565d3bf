/* made.c: classes made of containers, and the containers of collections: what they add
 * to the items.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/families/made.h"

#include "format/value_record.h"
#include "recorder/capture_keep.h"
#include "recorder/compat_modules.h"
#include "recorder/compat_objects.h"
#include "recorder/families/family.h"
#include "recorder/families/note.h"

static Py_ssize_t factory_offset; /* of defaultdict.default_factory */

/* --- OrderedDict -------------------------------------------------------------------- */

/* Two keys of an OrderedDict of our own are where we look for them. */
static bool
chains_keys(PyObject *ordered, PyObject *first, PyObject *second)
{
    const film_ordered_dict *dict = (const film_ordered_dict *)ordered;

    if (PyODict_SetItem(ordered, first, Py_None) != 0 ||
        PyODict_SetItem(ordered, second, Py_None) != 0) {
        return false;
    }
    return dict->resize_sentinel == dict->dict.ma_keys && dict->fast_nodes != NULL &&
           dict->fast_nodes_size >= 2 && dict->fast_nodes[0] == dict->first &&
           dict->fast_nodes[1] == dict->last && dict->first->key == first &&
           dict->first->next == dict->last && dict->last->key == second &&
           dict->last->before == dict->first && dict->last->next == NULL &&
           dict->first->before == NULL;
}

/* The collector, which would run finalizers of the program, is held meanwhile. */
static bool
prove_order(void)
{
    bool collects = PyGC_Disable() != 0, right = false;
    PyObject *type, *value, *trace;
    PyObject *ordered, *first, *second;

    PyErr_Fetch(&type, &value, &trace);
    ordered = PyODict_New();
    first = PyUnicode_FromString("filmstrip 1");
    second = PyUnicode_FromString("filmstrip 2");
    if (ordered != NULL && first != NULL && second != NULL) {
        right = chains_keys(ordered, first, second);
    }
    Py_XDECREF(ordered);
    Py_XDECREF(first);
    Py_XDECREF(second);
    PyErr_Restore(type, value, trace);
    if (collects) {
        PyGC_Enable();
    }
    return right;
}

bool
film_type_is_ordered(PyTypeObject *type)
{
    static uint32_t era;
    static bool proven;

    if (!PyType_IsSubtype(type, &PyODict_Type) ||
        PyODict_Type.tp_basicsize < (Py_ssize_t)sizeof(film_ordered_dict)) {
        return false;
    }
    if (era != film_the_family_era) {
        era = film_the_family_era;
        proven = prove_order();
    }
    return proven;
}

/* --- texts -------------------------------------------------------------------------- */

/* Name(<items>), without items Name(). */
static void
say_with_name(film_type *known, const PyTypeObject *type, film_note_base base)
{
    film_template made = {0};

    film_template_put_short(&made, type);
    film_template_put(&made, "(" HOLE_ITEMS ")");
    known->note_text = film_template_keep(&made);
    known->note_base = (uint8_t)base | FILM_BASE_OR_NOTHING;
}

static void
say_bare(film_type *known, film_note_base base)
{
    known->note_text = film_keep_string(HOLE_ITEMS, 1);
    known->note_base = (uint8_t)base;
}

/* Of a class made of `builtin`: bare where it is written by that. */
static void
say(film_type *known, const PyTypeObject *type, const PyTypeObject *builtin,
    film_note_base base)
{
    if (type->tp_repr == builtin->tp_repr) {
        say_bare(known, base);
    }
    else {
        say_with_name(known, type, base);
    }
}

static bool
learn_dict(film_type *known, PyTypeObject *type)
{
    if (film_family_comes_from(type,
                               film_family_global("_collections", "defaultdict")) &&
        film_family_member(type, "default_factory", &factory_offset)) {
        known->note_base = FILM_BASE_DICT;
        known->has_factory = true;
    }
    else if (film_family_comes_from(type,
                                    film_family_global("collections", "Counter"))) {
        say_with_name(known, type, FILM_BASE_COUNTS);
    }
    else if (known->ordered) {
        say_with_name(known, type,
                      FILM_ORDERED_DICT_IS_A_DICT ? FILM_BASE_DICT : FILM_BASE_PAIRS);
    }
    else {
        say(known, type, &PyDict_Type, FILM_BASE_DICT);
    }
    return true;
}

static bool
learn(film_type *known, PyTypeObject *type)
{
    switch ((int)known->content) {
    case FILM_CONTENT_LIST:
        if (type != &PyList_Type) {
            say(known, type, &PyList_Type, FILM_BASE_LIST);
        }
        return type != &PyList_Type;
    case FILM_CONTENT_TUPLE:
        if (type == &PyTuple_Type) {
            return false;
        }
        if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0 &&
            type->tp_repr != PyTuple_Type.tp_repr) { /* torch.Size([1, 2]) */
            film_template made = {0};

            film_template_put_name(&made, type->tp_name);
            film_template_put(&made, "(" HOLE_ITEMS ")");
            known->note_text = film_template_keep(&made);
            known->note_base = FILM_BASE_LIST;
            return true;
        }
        say(known, type, &PyTuple_Type, FILM_BASE_TUPLE);
        return true;
    case FILM_CONTENT_DICT:
        return type != &PyDict_Type && learn_dict(known, type);
    case FILM_CONTENT_SET:
    case FILM_CONTENT_FROZENSET:
        if (type == &PySet_Type || type == &PyFrozenSet_Type) {
            return false;
        }
        say_with_name(known, type,
                      (film_content)known->content == FILM_CONTENT_SET
                          ? FILM_BASE_SET
                          : FILM_BASE_FROZEN);
        return true;
    default:
        return false;
    }
}

/* defaultdict(<class 'int'>, {1: 2}) */
static bool
note_default(film_unfinished *making, uint8_t base)
{
    PyObject *factory = film_family_object_at(making->object, factory_offset);
    bool is_class = factory != NULL && PyType_Check(factory);
    static film_phrase names = {"default_factory", 0, 0};
    film_template made = {0};

    film_template_put_short(&made, Py_TYPE(making->object));
    film_template_put(&made, "(");
    if (is_class) {
        film_template_put_class(&made, (PyTypeObject *)factory);
    }
    else {
        film_template_put(&made, HOLE_VALUE);
    }
    film_template_put(&made, ", " HOLE_ITEMS ")");
    film_note_begin(film_template_keep(&made), film_phrase_id(&names), base, 1);
    film_note_value(making, factory == NULL ? Py_None : factory);
    return true;
}

static bool
note(film_unfinished *making)
{
    const film_type *type = film_type_of(Py_TYPE(making->object));

    if (type->has_factory) {
        return note_default(making, type->note_base);
    }
    film_note_begin(type->note_text, 0, type->note_base, 0);
    return true;
}

const film_family film_family_made = {.learn = learn, .note = note};
