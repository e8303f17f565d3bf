/* capture_types.c: see capture_types.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/capture_types.h"

#include "recorder/capture.h"

#include <stdlib.h>
#include <string.h>

#include "format/redact.h"
#include "recorder/attributes.h"
#include "recorder/capture_arrays.h"
#include "recorder/torch/shim.h"
#include "recorder/capture_keep.h"
#include "recorder/compat_objects.h"
#include "recorder/deaths.h"
#include "recorder/families/family.h"
#include "recorder/families/made.h"
#include "recorder/session.h"
#include "recorder/text.h"

#define NAME_BYTES 200u
#define MAX_SLOTS 256u

film_name *film_the_names;
film_type *film_the_types;
static film_type passing; /* a type that has no version: worked out each time */
static bool the_contents_are_told;

bool
film_types_begin(bool contents)
{
    the_contents_are_told = contents;
    film_families_begin();
    if (film_the_names == NULL) {
        film_the_names = calloc(FILM_NAMES, sizeof(*film_the_names));
    }
    if (film_the_types == NULL) {
        film_the_types = calloc(FILM_TYPES, sizeof(*film_the_types));
    }
    if (film_the_names == NULL || film_the_types == NULL) {
        film_types_end();
        return false;
    }
    for (size_t index = 0; index < FILM_NAMES; index++) {
        film_the_names[index].hash = -1;
    }
    return true;
}

void
film_types_end(void)
{
    for (size_t index = 0; film_the_types != NULL && index < FILM_TYPES; index++) {
        free(film_the_types[index].slots);
    }
    free(passing.slots);
    passing = (film_type){0};
    free(film_the_types);
    film_the_types = NULL;
    free(film_the_names);
    film_the_names = NULL;
}

/* --- names ------------------------------------------------------------------------ */

static bool
text_is_secret(PyObject *name)
{
    char text[NAME_BYTES + 1];
    size_t length = film_text_copy(name, text, NAME_BYTES, NULL);

    return film_redact_is_secret_name(&film_the_session.options.redaction, text,
                                      length);
}

/* The place of a name in the cache, filled in; NULL: it has no hash yet. */
static film_name *
known_name(PyObject *name)
{
    Py_hash_t hash = ((PyASCIIObject *)name)->hash;
    uint32_t length = (uint32_t)PyUnicode_GET_LENGTH(name);
    film_name *known = &film_the_names[(size_t)hash % FILM_NAMES];

    if (hash == -1) {
        return NULL;
    }
    if (known->hash != hash || known->length != length) {
        *known =
            (film_name){.hash = hash, .length = length, .secret = text_is_secret(name)};
    }
    return known;
}

bool
film_name_is_secret_slow(PyObject *name)
{
    const film_name *known = known_name(name);

    return known == NULL ? text_is_secret(name) : known->secret;
}

static uint32_t
text_id(PyObject *name)
{
    char text[NAME_BYTES + 1];
    size_t length = film_text_copy(name, text, NAME_BYTES, NULL);

    return film_keep_string(text, length);
}

uint32_t
film_name_id(PyObject *name)
{
    film_name *known;

    if (!PyUnicode_CheckExact(name)) {
        return film_keep_string("?", 1);
    }
    known = known_name(name);
    if (known == NULL) {
        return text_id(name);
    }
    if (known->id == 0) {
        known->id = text_id(name);
    }
    return known->id;
}

uint32_t
film_last_name_id(const char *text)
{
    const char *dot = strrchr(text, '.');
    size_t length;

    if (dot != NULL && dot[1] != '\0') {
        text = dot + 1;
    }
    length = strlen(text);
    if (length > NAME_BYTES) {
        length = NAME_BYTES;
        while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80) {
            length--; /* not within a character */
        }
    }
    return film_keep_string(text, length);
}

/* --- types ------------------------------------------------------------------------ */

/* The C type made for collections.deque: its name alone can be had by any class. */
static bool
is_deque(const PyTypeObject *type)
{
    PyObject *modules, *module, *found;

    if (strcmp(type->tp_name, "collections.deque") != 0 || type->tp_itemsize != 0 ||
        type->tp_basicsize < (Py_ssize_t)sizeof(film_deque)) {
        return false;
    }
    modules = PyImport_GetModuleDict(); /* borrowed */
    module = film_dict_find(modules, "_collections");
    if (module == NULL || !PyModule_CheckExact(module)) {
        return false;
    }
    found = film_dict_find(PyModule_GetDict(module), "deque");
    return found == (const PyObject *)type;
}

static bool
has_attributes(PyTypeObject *type)
{
    return (type->tp_flags & Py_TPFLAGS_MANAGED_DICT) != 0 || type->tp_dictoffset != 0;
}

static film_content
content_of(PyTypeObject *type)
{
    static const struct {
        PyTypeObject *type;
        film_content content;
    } exact[] = {
        {&PyList_Type, FILM_CONTENT_LIST},
        {&PyTuple_Type, FILM_CONTENT_TUPLE},
        {&PyDict_Type, FILM_CONTENT_DICT},
        {&PySet_Type, FILM_CONTENT_SET},
        {&PyFrozenSet_Type, FILM_CONTENT_FROZENSET},
        {&PyByteArray_Type, FILM_CONTENT_BYTEARRAY},
        {&PyFunction_Type, FILM_CONTENT_FUNCTION},
        {&PyMethod_Type, FILM_CONTENT_METHOD},
        {&PyCFunction_Type, FILM_CONTENT_BUILTIN},
        {&PyModule_Type, FILM_CONTENT_MODULE},
    };

    for (size_t index = 0; index < sizeof(exact) / sizeof(exact[0]); index++) {
        if (exact[index].type == type) {
            return exact[index].content;
        }
    }
    if (PyType_FastSubclass(type, Py_TPFLAGS_TYPE_SUBCLASS)) {
        return FILM_CONTENT_CLASS;
    }
    if (PyType_FastSubclass(type, Py_TPFLAGS_BASE_EXC_SUBCLASS)) {
        return FILM_CONTENT_EXCEPTION;
    }
    /* Of a class made from a container (namedtuple, defaultdict, Counter, one's own)
     * the items are told, as they are kept, whatever its methods say. */
    if (PyType_FastSubclass(type, Py_TPFLAGS_TUPLE_SUBCLASS)) {
        return FILM_CONTENT_TUPLE;
    }
    if (PyType_FastSubclass(type, Py_TPFLAGS_LIST_SUBCLASS)) {
        return FILM_CONTENT_LIST;
    }
    if (PyType_FastSubclass(type, Py_TPFLAGS_DICT_SUBCLASS)) {
        return FILM_CONTENT_DICT;
    }
    for (const PyTypeObject *base = type; base != NULL; base = base->tp_base) {
        if (base == &PySet_Type) {
            return FILM_CONTENT_SET;
        }
        if (base == &PyFrozenSet_Type) {
            return FILM_CONTENT_FROZENSET;
        }
        if (is_deque(base)) {
            return FILM_CONTENT_DEQUE;
        }
    }
    if (film_array_is_array(type)) {
        return FILM_CONTENT_ARRAY;
    }
    if (film_shim_is_tensor(type)) {
        return FILM_CONTENT_TENSOR;
    }
    return FILM_CONTENT_OPAQUE;
}

/* Where the slot `name` goes: over the one of a base, which it hides. What a base says of
 * a hidden one need not be so: classes that mypyc compiled have bases that are laid out
 * in another way, with members to be found under each class's own. */
static unsigned
place_of_slot(const film_type *known, const film_slot *slots, PyObject *name)
{
    unsigned index = 0;

    while (index < known->slot_count &&
           slots[index].name != name) { /* names of members are interned */
        index++;
    }
    return index;
}

/* True for the members that C code declares to have Python find them: where the object
 * keeps its dict and its weak references. They are no attributes of the program. */
static bool
is_of_the_layout(PyObject *name)
{
    return PyUnicode_CompareWithASCIIString(name, "__dict__") == 0 ||
           PyUnicode_CompareWithASCIIString(name, "__weakref__") == 0;
}

/* Adds the members of __slots__ that `base` itself defines. */
static void
add_slots(film_type *known, PyTypeObject *base, film_slot *slots)
{
    PyObject *dict = film_type_dict(base);
    film_pairs pairs;

    if ((base->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0 || dict == NULL) {
        return;
    }
    film_pairs_of_dict(dict, &pairs);
    for (Py_ssize_t index = 0; index < pairs.count; index++) {
        PyObject *key, *value = film_pairs_get(&pairs, index, &key);
        const PyMemberDef *member;
        unsigned place;

        if (value == NULL || Py_TYPE(value) != &PyMemberDescr_Type ||
            !PyUnicode_CheckExact(key)) {
            continue;
        }
        member = ((PyMemberDescrObject *)value)->d_member;
        if (member->type != T_OBJECT_EX || ((PyDescrObject *)value)->d_type != base ||
            is_of_the_layout(key)) {
            continue;
        }
        place = place_of_slot(known, slots, key);
        if (place < MAX_SLOTS) {
            slots[place] = (film_slot){
                .offset = member->offset,
                .name = key,
                .name_id = film_name_id(key),
                .secret = film_name_is_secret(key),
            };
            if (place == known->slot_count) {
                known->slot_count++;
            }
        }
    }
}

static void
find_slots(film_type *known, PyTypeObject *type)
{
    film_slot slots[MAX_SLOTS];
    PyObject *mro = type->tp_mro;

    known->slot_count = 0;
    if (mro == NULL || !PyTuple_CheckExact(mro)) {
        return;
    }
    for (Py_ssize_t index = PyTuple_GET_SIZE(mro); index > 0; index--) {
        PyObject *base = PyTuple_GET_ITEM(mro, index - 1);

        if (PyType_Check(base)) {
            add_slots(known, (PyTypeObject *)base, slots);
        }
    }
    if (known->slot_count > 0) {
        known->slots = malloc(known->slot_count * sizeof(*slots));
        if (known->slots == NULL) {
            known->slot_count = 0;
            return;
        }
        memcpy(known->slots, slots, known->slot_count * sizeof(*slots));
    }
}

/* True when a class statement has defined one of these itself. */
static bool
has_own_items(PyTypeObject *type)
{
    PyObject *mro = type->tp_mro;

    for (Py_ssize_t index = 0;
         mro != NULL && PyTuple_CheckExact(mro) && index < PyTuple_GET_SIZE(mro);
         index++) {
        PyObject *base = PyTuple_GET_ITEM(mro, index), *dict;

        if (!PyType_Check(base) ||
            (((PyTypeObject *)base)->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0) {
            continue;
        }
        dict = film_type_dict((PyTypeObject *)base);
        for (int name = 0; name < 2; name++) {
            PyObject *found =
                film_dict_find(dict, name == 0 ? "__setitem__" : "__delitem__");

            if (found != NULL && Py_TYPE(found) == &PyFunction_Type) {
                return true;
            }
        }
    }
    return false;
}

/* True for what holds other objects that can be replaced, or bytes. */
static bool
is_container(film_content content)
{
    return (film_content_is_value(content) && content != FILM_CONTENT_ARRAY &&
            content != FILM_CONTENT_TENSOR) ||
           content == FILM_CONTENT_INSTANCE;
}

/* True when `base`, made from the container `builtin`, has a method of its own in the
 * place of one of that. */
static bool
replaces_methods(PyTypeObject *base, PyTypeObject *builtin)
{
    static const char *const harmless[] = {
        "__dict__", "__doc__",  "__init__",  "__module__",
        "__new__",  "__repr__", "__slots__", "__weakref__",
    };
    PyObject *dict = film_type_dict(base);
    film_pairs pairs;

    if (dict == NULL || film_dict_find(dict, "__missing__") != NULL) {
        return true;
    }
    film_pairs_of_dict(dict, &pairs);
    for (Py_ssize_t index = 0; index < pairs.count; index++) {
        PyObject *key, *value = film_pairs_get(&pairs, index, &key);
        bool allowed = value == NULL;

        for (size_t word = 0; word < sizeof(harmless) / sizeof(harmless[0]); word++) {
            allowed =
                allowed || (PyUnicode_CheckExact(key) &&
                            PyUnicode_CompareWithASCIIString(key, harmless[word]) == 0);
        }
        if (!allowed && film_dict_lookup(film_type_dict(builtin), key) != NULL) {
            return true;
        }
    }
    return false;
}

/* True when the methods of its instances are those of a builtin container. */
static bool
is_plain(PyTypeObject *type, film_content content)
{
    PyTypeObject *builtin = type;
    PyObject *mro = type->tp_mro;

    if (content < FILM_CONTENT_LIST || content > FILM_CONTENT_BYTEARRAY) {
        return false;
    }
    while (builtin != NULL && (builtin->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0 &&
           !is_deque(builtin)) {
        builtin = builtin->tp_base;
    }
    if (builtin == type) {
        return true;
    }
    if (builtin == NULL || mro == NULL || !PyTuple_CheckExact(mro)) {
        return false;
    }
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(mro); index++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(mro, index);

        if (base == builtin) {
            return true;
        }
        if (!PyType_Check((PyObject *)base) || replaces_methods(base, builtin)) {
            return false;
        }
    }
    return false;
}

static void
learn_type(film_type *known, PyTypeObject *type)
{
    free(known->slots);
    *known = (film_type){
        .type = type,
        .version = type->tp_version_tag,
        .name_id = film_last_name_id(type->tp_name),
        .heap = (type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0,
        .name = type->tp_name,
        .content = (uint8_t)content_of(type),
    };
    known->plain = is_plain(type, (film_content)known->content);
    known->own_items = known->heap && has_own_items(type);
    known->ordered = known->content == FILM_CONTENT_DICT && film_type_is_ordered(type);
    if (known->content == FILM_CONTENT_OPAQUE && known->heap) {
        find_slots(known, type);
    }
    if (known->content == FILM_CONTENT_OPAQUE &&
        (known->slot_count > 0 || has_attributes(type))) {
        known->content = FILM_CONTENT_INSTANCE;
    }
    film_family_learn(known, type);
    known->dies_in_sight =
        !known->said &&
        (film_type_dies_in_sight(type, is_deque(type)) ||
         (film_type_is_freed_in_sight(type) && film_shim_is_any_tensor(type)));
    if (!the_contents_are_told && is_container((film_content)known->content)) {
        known->content = FILM_CONTENT_OPAQUE;
        known->family = known->note_is_whole ? known->family : 0;
    }
}

/* All namespaces that a look-up goes through have texts for keys: it compares no others,
 * so no code of the program runs. */
static bool
has_plain_names(PyTypeObject *type)
{
    PyObject *mro = type->tp_mro;
    film_pairs pairs;

    for (Py_ssize_t index = 0; mro != NULL && index < PyTuple_GET_SIZE(mro); index++) {
        PyObject *base = PyTuple_GET_ITEM(mro, index);
        PyObject *dict =
            PyType_Check(base) ? film_type_dict((PyTypeObject *)base) : NULL;

        if (dict == NULL || !PyDict_CheckExact(dict)) {
            return false;
        }
        film_pairs_of_dict(dict, &pairs);
        if (pairs.texts == NULL) {
            return false;
        }
    }
    return mro != NULL;
}

const film_type *
film_type_learn(PyTypeObject *type)
{
    film_type *known = film_type_place(type);

    /* Without a version nothing would tell that it changed, if it can. A class has one
     * from the first look-up on; one that is changed again and again is left without. */
    if ((type->tp_flags & (Py_TPFLAGS_HEAPTYPE | Py_TPFLAGS_IMMUTABLETYPE)) ==
            Py_TPFLAGS_HEAPTYPE &&
        type->tp_version_tag == 0 &&
        (known->type == type || !has_plain_names(type) ||
         !film_type_give_version(type, film_the_session.name_key))) {
        known = &passing;
    }
    learn_type(known, type);
    return known;
}
