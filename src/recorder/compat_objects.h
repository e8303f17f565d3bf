/* compat_objects.h: how the CPythons we record lay out the objects we read in place:
 * ints, dicts, attributes, sets, deques. The other half of compat.h, with its rules.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_COMPAT_OBJECTS_H
#define FILMSTRIP_RECORDER_COMPAT_OBJECTS_H

#include "recorder/compat.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wundef"
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define object film_asdl_object /* see compat.h */
#include <internal/pycore_long.h>
#include <internal/pycore_object.h>
#undef object
#pragma GCC diagnostic pop

/* --- ints ------------------------------------------------------------------------- */

static inline size_t
film_long_digit_count(PyObject *number)
{
#if PY_VERSION_HEX >= 0x030c0000
    return (size_t)(((PyLongObject *)number)->long_value.lv_tag >> 3);
#else
    Py_ssize_t size = Py_SIZE(number);

    return (size_t)(size < 0 ? -size : size);
#endif
}

static inline bool
film_long_is_negative(PyObject *number)
{
#if PY_VERSION_HEX >= 0x030c0000
    return (((PyLongObject *)number)->long_value.lv_tag & 3) == 2;
#else
    return Py_SIZE(number) < 0;
#endif
}

/* Digits of PyLong_SHIFT bits, the lowest first. */
static inline const digit *
film_long_digits(PyObject *number)
{
#if PY_VERSION_HEX >= 0x030c0000
    return ((PyLongObject *)number)->long_value.ob_digit;
#else
    return ((PyLongObject *)number)->ob_digit;
#endif
}

/* The value of an exact int of one digit at most; false when it has more. */
static inline bool
film_long_small(PyObject *number, int64_t *value)
{
#if PY_VERSION_HEX >= 0x030c0000
    uintptr_t tag = ((PyLongObject *)number)->long_value.lv_tag;

    if (FILM_UNLIKELY(tag >= 2u << 3)) {
        return false;
    }
    /* Sign bits: 0 positive, 1 zero, 2 negative. The digit of a zero is 0. */
    *value = (1 - (int64_t)(tag & 3)) *
             (int64_t)((PyLongObject *)number)->long_value.ob_digit[0];
    return true;
#else
    Py_ssize_t size = Py_SIZE(number);

    if (FILM_UNLIKELY(size < -1 || size > 1)) {
        return false;
    }
    *value =
        size == 0 ? 0 : (int64_t)size * (int64_t)((PyLongObject *)number)->ob_digit[0];
    return true;
#endif
}

/* --- dicts and attributes --------------------------------------------------------- */

/* The pairs of a dict or of an instance's attributes, by position. Positions may be
 * empty. Borrowed until the program goes on. */
typedef struct film_pairs {
    const PyDictUnicodeEntry *texts; /* all keys are exact strings, or NULL */
    const PyDictKeyEntry *any;       /* else */
    PyObject *const *values;         /* values apart from their keys, or NULL */
    Py_ssize_t count;                /* positions */
} film_pairs;

/* The value at a position, NULL when it is empty. */
static inline PyObject *
film_pairs_get(const film_pairs *pairs, Py_ssize_t position, PyObject **key)
{
    if (FILM_LIKELY(pairs->texts != NULL)) {
        *key = pairs->texts[position].me_key;
        return pairs->values != NULL ? pairs->values[position]
                                     : pairs->texts[position].me_value;
    }
    *key = pairs->any[position].me_key; /* NOLINT: one of the two is there */
    return pairs->any[position].me_value;
}

static inline void
film_pairs_of_keys(PyDictKeysObject *keys, PyObject *const *values, film_pairs *pairs)
{
    pairs->count = keys->dk_nentries;
    pairs->values = values;
    pairs->texts = NULL;
    pairs->any = NULL;
    if (DK_IS_UNICODE(keys)) {
        pairs->texts = DK_UNICODE_ENTRIES(keys);
    }
    else {
        pairs->any = DK_ENTRIES(keys);
    }
}

/* `dict` is a dict or of a subclass. */
static inline void
film_pairs_of_dict(PyObject *dict, film_pairs *pairs)
{
    PyDictObject *object = (PyDictObject *)dict;

    film_pairs_of_keys(object->ma_keys,
                       object->ma_values == NULL ? NULL : object->ma_values->values,
                       pairs);
}

/* The position of a dict's pair by its place in the hash table: -1 where the table is
 * empty, -2 where a pair was removed. */
static inline Py_ssize_t
film_keys_position(const PyDictKeysObject *keys, size_t place)
{
    const void *positions = keys->dk_indices;

    if (keys->dk_log2_size < 8) {
        return ((const int8_t *)positions)[place];
    }
    if (keys->dk_log2_size < 16) {
        return ((const int16_t *)positions)[place];
    }
    return keys->dk_log2_size < 32 ? (Py_ssize_t)((const int32_t *)positions)[place]
                                   : (Py_ssize_t)((const int64_t *)positions)[place];
}

static inline Py_ssize_t
film_dict_length(PyObject *dict)
{
    return ((PyDictObject *)dict)->ma_used;
}

/* A number that is another one after every change of the dict; 0: this Python or this
 * dict has none. (A dict that shares an instance's values is changed behind it.) */
static inline uint32_t
film_dict_version(PyObject *dict)
{
#if PY_VERSION_HEX >= 0x030e0000
    (void)dict;
    return 0;
#else
    PyDictObject *object = (PyDictObject *)dict;

    if (object->ma_values != NULL) {
        return 0;
    }
#if PY_VERSION_HEX >= 0x030d0000
    return (uint32_t)(object->ma_version_tag >> 12); /* below: bits of watchers */
#elif PY_VERSION_HEX >= 0x030c0000
    return (uint32_t)(object->ma_version_tag >> 8);
#else
    return (uint32_t)object->ma_version_tag;
#endif
#endif
}

/* An instance's __dict__ where it has one already, without making it. Sets
 * *values and *keys instead while its attributes are kept in line. */
static inline PyObject *
film_object_dict(PyObject *object, PyObject *const **values, PyDictKeysObject **keys)
{
    PyTypeObject *type = Py_TYPE(object);

    *values = NULL;
    if (FILM_LIKELY((type->tp_flags & Py_TPFLAGS_MANAGED_DICT) != 0)) {
        PyDictValues *kept = NULL;
        PyObject *dict = NULL;
#if PY_VERSION_HEX >= 0x030d0000
        if ((type->tp_flags & Py_TPFLAGS_INLINE_VALUES) != 0) {
            kept = _PyObject_InlineValues(object);
            if (!kept->valid) {
                kept = NULL;
            }
        }
        if (kept == NULL) {
            dict = (PyObject *)_PyObject_GetManagedDict(object);
        }
#elif PY_VERSION_HEX >= 0x030c0000
        PyDictOrValues both = *_PyObject_DictOrValuesPointer(object);

        if (_PyDictOrValues_IsValues(both)) {
            kept = _PyDictOrValues_GetValues(both);
        }
        else {
            dict = _PyDictOrValues_GetDict(both);
        }
#else
        kept = *_PyObject_ValuesPointer(object);
        if (kept == NULL) {
            dict = *_PyObject_ManagedDictPointer(object);
        }
#endif
        if (kept != NULL) {
            *keys = ((PyHeapTypeObject *)type)->ht_cached_keys;
            *values = *keys == NULL ? NULL : kept->values;
        }
        return dict;
    }
    if (type->tp_dictoffset != 0) {
        /* No managed dict: the address is computed, nothing is made. */
        PyObject **place = _PyObject_GetDictPtr(object);

        return place == NULL ? NULL : *place;
    }
    return NULL;
}

/* The attributes an instance keeps in its __dict__ or in line; false: none. */
static inline bool
film_pairs_of_object(PyObject *object, film_pairs *pairs)
{
    PyObject *const *values;
    PyDictKeysObject *keys;
    PyObject *dict = film_object_dict(object, &values, &keys);

    if (values != NULL) {
        film_pairs_of_keys(keys, values, pairs);
        return pairs->texts != NULL;
    }
    if (dict == NULL || !PyDict_Check(dict)) {
        return false;
    }
    film_pairs_of_dict(dict, pairs);
    return true;
}

/* The dict of a type. Borrowed. */
/* The version that a class gets with the first look-up in it; `name`: an interned str that
 * is looked up where there is no other way. False: it has none. */
static inline bool
film_type_give_version(PyTypeObject *type, PyObject *name)
{
#if PY_VERSION_HEX >= 0x030c0000
    (void)name;
    return PyUnstable_Type_AssignVersionTag(type) != 0 && type->tp_version_tag != 0;
#else
    (void)_PyType_Lookup(type, name);
    return (type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG) != 0 &&
           type->tp_version_tag != 0;
#endif
}

static inline PyObject *
film_type_dict(PyTypeObject *type)
{
#if PY_VERSION_HEX >= 0x030c0000
    if ((type->tp_flags & _Py_TPFLAGS_STATIC_BUILTIN) != 0) {
        PyObject *dict = PyType_GetDict(type);

        Py_XDECREF(dict); /* the interpreter's own, which keeps it */
        return dict;
    }
#endif
    return type->tp_dict;
}

/* --- sets ------------------------------------------------------------------------- */

/* The member at a position of the table (mask + 1 of them), NULL when it is empty. */
static inline PyObject *
film_set_get(PyObject *set, Py_ssize_t position)
{
    const setentry *entry = &((PySetObject *)set)->table[position];

    /* Only removed members have this hash. */
    return entry->hash == -1 ? NULL : entry->key;
}

static inline Py_ssize_t
film_set_positions(PyObject *set)
{
    return ((PySetObject *)set)->mask + 1;
}

/* --- deques ----------------------------------------------------------------------- */

/* Private to _collectionsmodule.c; the beginning is the same in all four versions. */
#define FILM_DEQUE_BLOCK 64
typedef struct film_deque_block {
    struct film_deque_block *left;
    PyObject *items[FILM_DEQUE_BLOCK];
    struct film_deque_block *right;
} film_deque_block;

typedef struct film_deque {
    PyObject_VAR_HEAD film_deque_block *left_block, *right_block;
    Py_ssize_t left_index, right_index;
    size_t state; /* another number after every change of length */
    Py_ssize_t max_length;
} film_deque;

typedef struct film_deque_cursor {
    const film_deque_block *block;
    Py_ssize_t index, left;
} film_deque_cursor;

static inline film_deque_cursor
film_deque_begin(PyObject *deque)
{
    const film_deque *object = (const film_deque *)deque;

    return (film_deque_cursor){object->left_block, object->left_index, Py_SIZE(deque)};
}

/* The last `count` items, as far as they lie in its last block: fewer otherwise. */
static inline film_deque_cursor
film_deque_end(PyObject *deque, Py_ssize_t count)
{
    const film_deque *object = (const film_deque *)deque;
    Py_ssize_t first = object->right_index + 1 - count;

    return (film_deque_cursor){object->right_block, first < 0 ? 0 : first,
                               first < 0 ? object->right_index + 1 : count};
}

/* The next item, NULL at the end. */
static inline PyObject *
film_deque_next(film_deque_cursor *cursor)
{
    PyObject *item;

    if (cursor->left == 0) {
        return NULL;
    }
    item = cursor->block->items[cursor->index++];
    if (--cursor->left > 0 && cursor->index == FILM_DEQUE_BLOCK) {
        cursor->block = cursor->block->right;
        cursor->index = 0;
    }
    return item;
}

/* --- memory ----------------------------------------------------------------------- */

typedef void
film_free_function(void *allocator, void *block);

/* What the object allocator frees with now. */
static inline film_free_function *
film_object_allocator_free(void)
{
#if PY_VERSION_HEX >= 0x030c0000
    return _PyRuntime.allocators.standard.obj.free;
#else
    PyMemAllocatorEx allocator;

    PyMem_GetAllocator(PYMEM_DOMAIN_OBJ, &allocator);
    return allocator.free;
#endif
}

/* Bytes of an object's block that lie before it: for the collector, for what a managed
 * __dict__ and weak references need. */
#define FILM_HEADER_STEP 16
#define FILM_HEADER_MOST 32

static inline size_t
film_object_header_bytes(PyTypeObject *type)
{
    return _PyType_PreHeaderSize(type);
}

/* Builtin types of whose instances some are kept for the next one:
 * each(name, type, whether its destructor uses the trashcan). */
/* A staircase otherwise. */
/* clang-format off */
#define FILM_OLD_FREE_LISTS(each)                                                      \
    each(list, PyList_Type, true)                                                      \
    each(dict, PyDict_Type, true)                                                      \
    each(tuple, PyTuple_Type, true)                                                    \
    each(context, PyContext_Type, false)
/* Those that get a free list in 3.14. */
#define FILM_NEW_FREE_LISTS(each)                                                      \
    each(method, PyMethod_Type, false)                                                 \
    each(function, PyCFunction_Type, false)                                            \
    each(list_iterator, PyListIter_Type, false)                                        \
    each(tuple_iterator, PyTupleIter_Type, false)                                      \
    each(range, PyRange_Type, false)                                                   \
    each(range_iterator, PyRangeIter_Type, false)
/* clang-format on */
#if PY_VERSION_HEX >= 0x030e0000
#define FILM_TYPES_WITH_FREE_LISTS(each)                                               \
    FILM_OLD_FREE_LISTS(each) FILM_NEW_FREE_LISTS(each)
#define FILM_NEW_WITHOUT
#else
#define FILM_TYPES_WITH_FREE_LISTS(each) FILM_OLD_FREE_LISTS(each)
#define FILM_NEW_WITHOUT                                                               \
    &PyMethod_Type, &PyCFunction_Type, &PyListIter_Type, &PyTupleIter_Type,            \
        &PyRange_Type, &PyRangeIter_Type,
#endif
/* Others that programs see often. */
#define FILM_TYPES_WITHOUT_FREE_LIST                                                   \
    FILM_NEW_WITHOUT &PySet_Type, &PyFrozenSet_Type, &PyByteArray_Type,                \
        &PyFunction_Type, &PyGen_Type, &PyCoro_Type, &PyAsyncGen_Type, &PyModule_Type, \
        &_PyWeakref_RefType, &PyClassMethod_Type, &PyStaticMethod_Type,                \
        &PyProperty_Type, &PyEnum_Type, &PyZip_Type, &PyMap_Type, &PyFilter_Type,      \
        &PyReversed_Type, &PySetIter_Type, &PyDictIterKey_Type, &PyDictIterItem_Type,  \
        &PyDictIterValue_Type, &PyDictProxy_Type, &PyCode_Type, &PyType_Type,          \
        &PyCell_Type

/* Calls `original`, a destructor that uses the trashcan, from the one that has taken
 * its place. It finds that it is not the type's own and leaves out its part of
 * the trashcan, which keeps deep nestings from using up the C stack: that is done here,
 * at the same depth. exact: the object is of the type itself. */
static inline void
film_dealloc_through(PyObject *object, destructor original, bool exact)
{
#if PY_VERSION_HEX >= 0x030e0000
    (void)exact; /* _Py_Dealloc itself sees to it */
    original(object);
#elif PY_VERSION_HEX >= 0x030d0000
    PyThreadState *state;

    if (exact && (state = PyThreadState_GetUnchecked())->c_recursion_remaining <=
                     Py_TRASHCAN_HEADROOM) {
        PyObject_GC_UnTrack(object);
        _PyTrash_thread_deposit_object(state, object);
        return;
    }
    original(object); /* which counts the depth */
#else
    PyThreadState *state;

    if (!exact) { /* the subclass has done it */
        original(object);
        return;
    }
    state = _PyThreadState_UncheckedGet();
    PyObject_GC_UnTrack(object);
    if (!_PyTrash_begin(state, object)) {
        original(object);
        _PyTrash_end(state);
    }
#endif
}

/* --- frames ----------------------------------------------------------------------- */

/* The mapping a class body or module writes its names to; NULL in a function. */
static inline PyObject *
film_frame_namespace(const film_frame *frame)
{
    return frame->f_locals;
}

/* The frame a thread runs, NULL when none. `state` is alive. */
static inline film_frame *
film_thread_frame(const PyThreadState *state)
{
#if PY_VERSION_HEX < 0x030d0000
    return state->cframe->current_frame;
#else
    return state->current_frame;
#endif
}

#endif
