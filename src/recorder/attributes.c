/* attributes.c: see attributes.h and capture.h.
 *
 * The order of object.__setattr__: a data descriptor of the type comes first (a slot is
 * one, and we know where it keeps its value; a property is one we must not call), then
 * the instance's own attributes. A type is looked through by hand: the interpreter's
 * lookup compares keys, which may be the program's own objects.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/attributes.h"

#include <string.h>

#include "recorder/capture.h"
#include "recorder/capture_scalars.h"
#include "recorder/compat_objects.h"

/* Dicts whose keys are of all kinds are searched one by one, this far. */
#define SEARCHED 1024
#define PLAIN_ITEMS 16 /* of a tuple that is a key */

/* How film_named.value_offset tells where the attribute is. */
enum {
    IN_INSTANCE = -1, /* in line or in the __dict__ */
    IN_CLASS = -2,    /* the owner is a class: in its own dict */
    TAKEN_OVER = -3,  /* a descriptor or __setattr__ has it */
};

static bool
same_text(PyObject *one, PyObject *other)
{
    if (one == other) {
        return true;
    }
    return PyUnicode_CheckExact(one) && PyUnicode_CheckExact(other) &&
           PyUnicode_GET_LENGTH(one) == PyUnicode_GET_LENGTH(other) &&
           PyUnicode_KIND(one) == PyUnicode_KIND(other) &&
           memcmp(PyUnicode_DATA(one), PyUnicode_DATA(other),
                  (size_t)PyUnicode_GET_LENGTH(one) * (size_t)PyUnicode_KIND(one)) == 0;
}

PyObject *
film_dict_lookup(PyObject *dict, PyObject *name)
{
    film_pairs pairs;

    if (dict == NULL || !PyDict_Check(dict)) {
        return NULL;
    }
    film_pairs_of_dict(dict, &pairs);
    if (pairs.texts != NULL && pairs.values == NULL && pairs.count > 8 &&
        PyUnicode_CheckExact(name)) {
        film_saved_error saved;
        PyObject *found;

        /* Exact strings on both sides: compared by CPython itself. */
        film_compat_save_error(&saved);
        found = PyDict_GetItemWithError(dict, name);
        film_compat_restore_error(&saved);
        return found;
    }
    for (Py_ssize_t index = 0; index < pairs.count; index++) {
        PyObject *key, *value = film_pairs_get(&pairs, index, &key);

        if (value != NULL && key == name) {
            return value;
        }
        if (index >= SEARCHED) {
            return NULL;
        }
    }
    for (Py_ssize_t index = 0; index < pairs.count; index++) {
        PyObject *key, *value = film_pairs_get(&pairs, index, &key);

        if (value != NULL && same_text(key, name)) {
            return value;
        }
    }
    return NULL;
}

PyObject *
film_dict_find(PyObject *dict, const char *name)
{
    film_pairs pairs;
    size_t length = strlen(name);

    if (dict == NULL || !PyDict_CheckExact(dict)) {
        return NULL;
    }
    film_pairs_of_dict(dict, &pairs);
    if (pairs.texts == NULL) {
        return NULL;
    }
    for (Py_ssize_t index = 0; index < pairs.count; index++) {
        PyObject *key, *value = film_pairs_get(&pairs, index, &key);

        if (value != NULL && PyUnicode_IS_COMPACT_ASCII(key) &&
            (size_t)PyUnicode_GET_LENGTH(key) == length &&
            memcmp(PyUnicode_DATA(key), name, length) == 0) {
            return value;
        }
    }
    return NULL;
}

static bool
is_plain_set(PyObject *set)
{
    Py_ssize_t last = film_set_positions(set);

    for (Py_ssize_t index = 0; index < last; index++) {
        PyObject *member = film_set_get(set, index);

        if (index == PLAIN_ITEMS || (member != NULL && !film_is_scalar(member))) {
            return false;
        }
    }
    return true;
}

/* True for keys that are hashed and compared without the program's own code. */
static bool
is_plain_key(PyObject *key)
{
    if (Py_TYPE(key) == &PyFrozenSet_Type) {
        return is_plain_set(key);
    }
    if (Py_TYPE(key) != &PyTuple_Type) {
        return film_is_scalar(key);
    }
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(key); index++) {
        if (index == PLAIN_ITEMS || !film_is_scalar(PyTuple_GET_ITEM(key, index))) {
            return false;
        }
    }
    return true;
}

/* Walks the hash table as CPython does. 1: found, 0: not there, -1: not known, because
 * a key of the same hash has its own __eq__. by_identity: no key is compared. */
static int
find_key(PyObject *dict, PyObject *key, Py_hash_t hash, bool by_identity,
         film_dict_place *place)
{
    const PyDictKeysObject *keys = ((PyDictObject *)dict)->ma_keys;
    size_t mask = ((size_t)1 << keys->dk_log2_size) - 1;
    size_t perturb = (size_t)hash, index = (size_t)hash & mask;
    film_pairs pairs;

    film_pairs_of_dict(dict, &pairs);
    for (;;) {
        place->position = film_keys_position(keys, index);
        if (place->position == -1) {
            return 0;
        }
        if (place->position >= 0) {
            Py_hash_t other;

            place->value = film_pairs_get(&pairs, place->position, &place->key);
            other = pairs.texts != NULL ? ((PyASCIIObject *)place->key)->hash
                                        : pairs.any[place->position].me_hash;
            if (place->key == key) {
                return place->value != NULL;
            }
            if (other == hash && !by_identity) {
                if (!is_plain_key(place->key)) {
                    return -1;
                }
                if (PyObject_RichCompareBool(place->key, key, Py_EQ) == 1) {
                    return place->value != NULL;
                }
            }
        }
        perturb >>= 5;
        index = (index * 5 + perturb + 1) & mask;
    }
}

bool
film_dict_item(PyObject *dict, PyObject *key, film_dict_place *place)
{
    film_saved_error saved;
    Py_hash_t hash;
    int found = 0;

    if (!is_plain_key(key)) {
        return false;
    }
    film_compat_save_error(&saved);
    hash = PyObject_Hash(key);
    if (DK_IS_UNICODE(((PyDictObject *)dict)->ma_keys) && !PyUnicode_CheckExact(key)) {
        found = 0; /* strings only: nothing else equals one */
    }
    else {
        found = find_key(dict, key, hash, false, place);
    }
    film_compat_restore_error(&saved);
    if (found == 0) {
        *place = (film_dict_place){.key = key, .position = -1};
    }
    return found >= 0;
}

FILM_HOT bool
film_dict_same_key(PyObject *dict, PyObject *key, Py_hash_t hash,
                   film_dict_place *place)
{
    return find_key(dict, key, hash, true, place) == 1;
}

/* --- positions -------------------------------------------------------------------- */

static int32_t
pairs_hint(const film_pairs *pairs, const PyObject *name, const PyObject *value)
{
    Py_ssize_t last = pairs->count < SEARCHED ? pairs->count : SEARCHED;

    for (Py_ssize_t index = 0; index < last; index++) {
        PyObject *key, *kept = film_pairs_get(pairs, index, &key);

        if (kept == value && (name == NULL || key == name)) {
            return (int32_t)index;
        }
    }
    return FILM_HINT_NONE;
}

static bool
pairs_hold(const film_pairs *pairs, int32_t hint, const PyObject *value)
{
    PyObject *key;

    return hint < pairs->count && film_pairs_get(pairs, hint, &key) == value;
}

int32_t
film_attribute_hint(PyObject *owner, const PyObject *name, const PyObject *value)
{
    const film_type *type = film_type_of(Py_TYPE(owner));
    film_pairs pairs;

    for (unsigned index = 0; index < type->slot_count; index++) {
        Py_ssize_t offset = type->slots[index].offset;

        if ((name == NULL || type->slots[index].name == name) &&
            offset < FILM_HINT_SLOT &&
            *(PyObject **)((char *)owner + offset) == value) {
            return FILM_HINT_SLOT + (int32_t)offset;
        }
    }
    if (type->content == FILM_CONTENT_CLASS) {
        PyObject *dict = film_type_dict((PyTypeObject *)owner);

        return dict == NULL ? FILM_HINT_NONE : film_dict_hint(dict, name, value);
    }
    return film_pairs_of_object(owner, &pairs) ? pairs_hint(&pairs, name, value)
                                               : FILM_HINT_NONE;
}

bool
film_attribute_holds(PyObject *owner, int32_t hint, const PyObject *value)
{
    film_pairs pairs;

    if (hint < 0) {
        return false;
    }
    if (hint >= FILM_HINT_SLOT) {
        /* The type's layout does not change; that it is the same type is known. */
        return *(PyObject **)((char *)owner + (hint - FILM_HINT_SLOT)) == value;
    }
    if (PyType_Check(owner)) {
        PyObject *dict = film_type_dict((PyTypeObject *)owner);

        return dict != NULL && film_dict_holds(dict, hint, value);
    }
    return film_pairs_of_object(owner, &pairs) && pairs_hold(&pairs, hint, value);
}

int32_t
film_dict_hint(PyObject *dict, const PyObject *name, const PyObject *value)
{
    film_pairs pairs;

    film_pairs_of_dict(dict, &pairs);
    return pairs_hint(&pairs, name, value);
}

bool
film_dict_holds(PyObject *dict, int32_t hint, const PyObject *value)
{
    film_pairs pairs;

    film_pairs_of_dict(dict, &pairs);
    return hint >= 0 && pairs_hold(&pairs, hint, value);
}

bool
film_dict_has_key(PyObject *dict, int32_t position, const PyObject *key)
{
    film_pairs pairs;
    PyObject *kept;

    film_pairs_of_dict(dict, &pairs);
    if (position < pairs.count && film_pairs_get(&pairs, position, &kept) != NULL &&
        kept == key) {
        return true;
    }
    /* Positions move down when the dict is made anew. */
    for (Py_ssize_t index = 0; index < pairs.count && index < position; index++) {
        if (film_pairs_get(&pairs, index, &kept) != NULL && kept == key) {
            return true;
        }
    }
    return false;
}

/* --- film_attribute_read -----------------------------------------------------------
 */

/* What the type and its bases hold under `name`. */
static PyObject *
lookup_in_type(PyTypeObject *type, PyObject *name)
{
    PyObject *mro = type->tp_mro;

    if (mro == NULL || !PyTuple_CheckExact(mro)) {
        return NULL;
    }
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(mro); index++) {
        PyObject *base = PyTuple_GET_ITEM(mro, index);
        PyObject *found;

        if (!PyType_Check(base)) {
            continue;
        }
        found = film_dict_lookup(film_type_dict((PyTypeObject *)base), name);
        if (found != NULL) {
            return found;
        }
    }
    return NULL;
}

#define METHODS 256u
static struct {
    const PyTypeObject *type; /* identity only */
    const PyObject *name;     /* identity only */
    uint32_t version;
    PyObject *found; /* borrowed from the type while its version holds */
} methods[METHODS];

/* What the type and its bases hold under `name`, remembered. */
static PyObject *
find_in_type(PyTypeObject *type, PyObject *name)
{
    size_t at = (((uint64_t)(uintptr_t)type >> 4) * UINT64_C(0x9e3779b97f4a7c15) +
                 ((uint64_t)(uintptr_t)name >> 4) * UINT64_C(0xc2b2ae3d27d4eb4f)) >>
                56;

    if (methods[at].type != type || methods[at].name != name ||
        methods[at].version == 0 || methods[at].version != type->tp_version_tag) {
        methods[at].type = type;
        methods[at].name = name;
        methods[at].found = lookup_in_type(type, name);
        methods[at].version = type->tp_version_tag;
    }
    return methods[at].found;
}

/* What the instance itself holds under `name`, slots aside. */
static PyObject *
find_in_instance(PyObject *object, PyObject *name)
{
    film_pairs pairs;

    if (!film_pairs_of_object(object, &pairs)) {
        return NULL;
    }
    for (Py_ssize_t index = 0; index < pairs.count; index++) {
        PyObject *key, *value = film_pairs_get(&pairs, index, &key);

        if (value != NULL && same_text(key, name)) {
            return value;
        }
    }
    return NULL;
}

PyObject *
film_method_find(PyObject *object, PyObject *name)
{
    if (Py_TYPE(object)->tp_getattro != PyObject_GenericGetAttr ||
        find_in_instance(object, name) != NULL) {
        return NULL;
    }
    return find_in_type(Py_TYPE(object), name);
}

PyObject *
film_attribute_of_class(PyObject *object, PyObject *name)
{
    if (PyType_Check(object)) {
        return lookup_in_type((PyTypeObject *)object, name);
    }
    return film_method_find(object, name);
}

/* The offset of the slot that the descriptor stands for; -1: it is none of the type's.
 */
static int32_t
slot_offset(PyTypeObject *type, PyObject *found)
{
    const PyMemberDef *member = ((PyMemberDescrObject *)found)->d_member;

    return member->type == T_OBJECT_EX && member->offset >= 0 &&
                   member->offset < FILM_HINT_SLOT &&
                   PyType_IsSubtype(type, ((PyDescrObject *)found)->d_type)
               ? (int32_t)member->offset
               : -1;
}

PyObject *
film_attribute_kept(PyObject *object, PyObject *name)
{
    PyObject *found = find_in_type(Py_TYPE(object), name);

    if (found != NULL && Py_TYPE(found) == &PyMemberDescr_Type) {
        int32_t offset = slot_offset(Py_TYPE(object), found);

        return offset < 0 ? NULL : *(PyObject **)((char *)object + offset);
    }
    if (found != NULL && Py_TYPE(found)->tp_descr_set != NULL) {
        return NULL; /* a property: code of the program */
    }
    return find_in_instance(object, name);
}

/* Where attribute `name` of instances of `type` is kept. */
static int32_t
locate(PyTypeObject *type, PyObject *name)
{
    PyObject *found;

    if (type->tp_setattro != PyObject_GenericSetAttr &&
        type->tp_setattro != PyType_Type.tp_setattro &&
        type->tp_setattro != PyModule_Type.tp_setattro) {
        return TAKEN_OVER;
    }
    found = lookup_in_type(type, name);
    if (found != NULL && Py_TYPE(found) == &PyMemberDescr_Type) {
        int32_t offset = slot_offset(type, found);

        return offset < 0 ? TAKEN_OVER : offset;
    }
    if (found != NULL && Py_TYPE(found)->tp_descr_set != NULL) {
        return TAKEN_OVER;
    }
    return PyType_FastSubclass(type, Py_TPFLAGS_TYPE_SUBCLASS) ? IN_CLASS : IN_INSTANCE;
}

/* Where attributes of types were found. One place in the code often sees several types
 * by turns. */
#define LOCATIONS 1024u
static struct {
    const PyTypeObject *type; /* identity only */
    const PyObject *name;     /* identity only */
    uint32_t version;
    int32_t value_index, value_offset;
    uint16_t word_place;
} locations[LOCATIONS];

static size_t
location_of(const PyTypeObject *type, const PyObject *name)
{
    uint64_t word = ((uint64_t)(uintptr_t)type >> 4) * UINT64_C(0x9e3779b97f4a7c15) +
                    ((uint64_t)(uintptr_t)name >> 4) * UINT64_C(0xc2b2ae3d27d4eb4f);

    return word >> 54;
}

/* The place of the member of __slots__ at this offset among an instance's words; of
 * any other attribute the number of members. */
static uint16_t
word_place_of(PyTypeObject *type, int32_t offset)
{
    const film_type *known = film_type_of(type);
    uint16_t place = 0;

    while (place < known->slot_count &&
           (offset < 0 || known->slots[place].offset != offset)) {
        place++;
    }
    return place;
}

/* Fills in the name's cache for this type; keeps what it knew of the last one. */
static void
turn_to_type(film_named *named, PyTypeObject *type)
{
    size_t at;

    if (named->type != NULL && named->type_version != 0) {
        at = location_of(named->type, named->name);
        locations[at].type = named->type;
        locations[at].name = named->name;
        locations[at].version = named->type_version;
        locations[at].value_index = named->value_index;
        locations[at].value_offset = named->value_offset;
        locations[at].word_place = named->word_place;
    }
    at = location_of(type, named->name);
    named->type = type;
    named->type_version = type->tp_version_tag;
    if (locations[at].type == type && locations[at].name == named->name &&
        locations[at].version == type->tp_version_tag && type->tp_version_tag != 0) {
        named->value_index = locations[at].value_index;
        named->value_offset = locations[at].value_offset;
        named->word_place = locations[at].word_place;
        return;
    }
    named->value_index = -1;
    named->value_offset = locate(type, named->name);
    named->word_place = word_place_of(type, named->value_offset);
}

/* By the position of last time, else by a search that finds the position. */
static FILM_HOT PyObject *
read_pairs(film_named *named, const film_pairs *pairs)
{
    int32_t index = named->value_index;

    if (FILM_UNLIKELY(pairs->texts == NULL)) {
        return NULL;
    }
    if (FILM_UNLIKELY(index < 0 || index >= pairs->count ||
                      pairs->texts[index].me_key != named->name)) {
        for (index = 0; index < pairs->count; index++) {
            PyObject *key = pairs->texts[index].me_key;

            if (key == named->name || (key != NULL && same_text(key, named->name))) {
                break;
            }
        }
        if (index == pairs->count) {
            return NULL;
        }
        named->value_index = index;
    }
    return pairs->values != NULL ? pairs->values[index] : pairs->texts[index].me_value;
}

static PyObject *
read_in_line(film_named *named, PyDictKeysObject *keys, PyObject *const *values,
             film_kept *kept)
{
    film_pairs pairs;
    PyObject *value;

    film_pairs_of_keys(keys, values, &pairs);
    value = read_pairs(named, &pairs);
    if (FILM_LIKELY(named->value_index >= 0 && named->value_index < pairs.count &&
                    pairs.texts != NULL &&
                    pairs.texts[named->value_index].me_key == named->name)) {
        *kept = FILM_KEPT_IN_LINE;
    }
    return value;
}

FILM_HOT PyObject *
film_attribute_read(film_named *named, PyObject *owner, film_kept *kept)
{
    PyTypeObject *type = Py_TYPE(owner);
    PyObject *const *values;
    PyDictKeysObject *keys;
    PyObject *dict;
    film_pairs pairs;

    *kept = FILM_KEPT_ELSEWHERE;
    if (FILM_UNLIKELY(named->type != type || named->type_version == 0 ||
                      named->type_version != type->tp_version_tag)) {
        turn_to_type(named, type);
    }
    if (named->value_offset >= 0) {
        *kept = FILM_KEPT_IN_SLOT;
        return *(PyObject **)((char *)owner + named->value_offset);
    }
    if (FILM_UNLIKELY(named->value_offset == TAKEN_OVER)) {
        *kept = FILM_KEPT_VIA;
        return NULL;
    }
    if (FILM_UNLIKELY(named->value_offset == IN_CLASS)) {
        return film_dict_lookup(film_type_dict((PyTypeObject *)owner), named->name);
    }
    dict = film_object_dict(owner, &values, &keys);
    if (FILM_LIKELY(values != NULL)) {
        return read_in_line(named, keys, values, kept);
    }
    if (dict == NULL || !PyDict_Check(dict)) {
        return NULL;
    }
    film_pairs_of_dict(dict, &pairs);
    if (pairs.texts == NULL || pairs.count > 32) {
        return film_dict_lookup(dict, named->name);
    }
    return read_pairs(named, &pairs);
}
