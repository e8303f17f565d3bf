/* snapshot_forms.c: see snapshot_forms.h; the bytes are described in writer/writer.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/snapshot_forms.h"

#include <string.h>

#include "recorder/attributes.h"
#include "recorder/capture_arrays.h"
#include "recorder/capture_keep.h"
#include "recorder/capture_quick.h"
#include "recorder/capture_scalars.h"
#include "recorder/compat_modules.h"
#include "recorder/compat_objects.h"
#include "recorder/families/arrays.h"
#include "recorder/families/family.h"
#include "recorder/families/records.h"
#include "recorder/fingerprint.h"
#include "recorder/secrets.h"
#include "recorder/snapshot.h"

/* --- tokens within ------------------------------------------------------------------
 */

static void
put_token(const uint8_t *token, const uint8_t *end)
{
    film_buffer_append(&film_the_snapshot.body, token, (size_t)(end - token));
}

/* The token of something the object holds. */
static void
put_held(film_unfinished *making, PyObject *value, const film_holder *holder)
{
    uint8_t token[FILM_TOKEN_MAX], *end = token;

    film_the_looks_left -= FILM_WRITTEN_ITEM;
    if (value == NULL) {
        *end++ = FILM_TOKEN_UNBOUND;
    }
    else if (film_is_scalar(value)) {
        if (holder->kind == FILM_HOLDER_ATTRIBUTE) {
            film_objects_vacate(holder);
        }
        end = film_scalar_token(value, end);
    }
    else {
        end = film_snapshot_token(making->context, value, holder, making->levels, end);
    }
    put_token(token, end);
}

/* Straight into the body where nothing else is put there meanwhile. */
static inline bool
put_quick(PyObject *value)
{
    uint8_t *start = film_buffer_reserve(&film_the_snapshot.body, FILM_TOKEN_MAX);
    uint8_t *end = start;

    if (FILM_UNLIKELY(start == NULL) || !film_capture_quick(value, &end)) {
        return false;
    }
    film_the_snapshot.body.length += (size_t)(end - start);
    film_the_looks_left -= FILM_WRITTEN_ITEM;
    return true;
}

/* What has a secret's name, or lies in a container that has. */
static void
put_secret(film_unfinished *making, PyObject *value, PyObject *name,
           const film_holder *holder)
{
    uint8_t token = FILM_TOKEN_REDACTED;

    if (value != NULL && !film_is_scalar(value)) {
        film_secret_hide(making->context, value, holder);
    }
    if (value != NULL && film_secret_is_value(value, name)) {
        film_secret_remember(value);
        put_token(&token, &token + 1);
        return;
    }
    if (value != NULL && film_type_of(Py_TYPE(value))->said) {
        uint8_t hidden[FILM_TOKEN_MAX];

        put_token(hidden, film_snapshot_hidden(making->context, value, holder,
                                               making->levels, hidden));
        return;
    }
    put_held(making, value, holder);
}

void
film_snapshot_put_held(film_unfinished *making, PyObject *value)
{
    film_holder holder = {.kind = FILM_HOLDER_NONE};

    if (making->hidden && value != NULL) {
        put_secret(making, value, NULL, &holder);
    }
    else {
        put_held(making, value, &holder);
    }
}

void
film_snapshot_put_secret(film_unfinished *making, PyObject *value, PyObject *name)
{
    film_holder holder = {.kind = FILM_HOLDER_NONE};

    put_secret(making, value, name, &holder);
}

static film_holder
holder_of_item(const film_unfinished *making, Py_ssize_t position)
{
    return (film_holder){.kind = FILM_HOLDER_ITEM,
                         .owner = making->object,
                         .position = (uint32_t)position + 1};
}

/* A key of a dict is told, whatever its name. */
static void
put_key(film_unfinished *making, PyObject *value, Py_ssize_t position)
{
    film_holder holder;

    if (FILM_LIKELY(put_quick(value))) {
        return;
    }
    holder = holder_of_item(making, position);
    put_held(making, value, &holder);
}

static FILM_HOT void
put_item(film_unfinished *making, PyObject *value, Py_ssize_t position)
{
    film_holder holder;

    if (FILM_LIKELY(!making->hidden)) {
        put_key(making, value, position);
        return;
    }
    holder = holder_of_item(making, position);
    put_secret(making, value, NULL, &holder);
}

/* --- forms --------------------------------------------------------------------------
 */

static uint32_t
bounded(film_unfinished *making, int64_t length)
{
    int64_t left = film_the_looks_left / FILM_WRITTEN_ITEM;
    int64_t most = left < (int64_t)film_the_snapshot.items
                       ? left
                       : (int64_t)film_the_snapshot.items;

    if (most < 0) {
        most = 0;
    }
    making->cut = length > most;
    return (uint32_t)(making->cut ? most : length);
}

/* What precedes the items. */
static void
put_head(film_object_form form, int64_t length, uint32_t count)
{
    film_buffer_put_byte(&film_the_snapshot.body, (uint8_t)form);
    film_buffer_put_varint(&film_the_snapshot.body, (uint64_t)(length + 1));
    film_buffer_put_varint(&film_the_snapshot.body, count);
}

static FILM_HOT void
put_array(film_unfinished *making, PyObject *const *items, Py_ssize_t length)
{
    uint32_t count = bounded(making, length);

    put_head(FILM_OBJECT_SEQUENCE, length, count);
    for (uint32_t index = 0; index < count; index++) {
        put_item(making, items[index], index);
    }
}

/* Of a namedtuple: what a field with a secret's name holds may be one. */
static void
put_tuple(film_unfinished *making, PyObject *tuple)
{
    PyObject *fields =
        film_type_of(Py_TYPE(tuple))->named ? film_record_fields(Py_TYPE(tuple)) : NULL;
    uint32_t count;

    if (fields == NULL) {
        put_array(making, ((PyTupleObject *)tuple)->ob_item, Py_SIZE(tuple));
        return;
    }
    count = bounded(making, Py_SIZE(tuple));
    put_head(FILM_OBJECT_SEQUENCE, Py_SIZE(tuple), count);
    for (uint32_t index = 0; index < count; index++) {
        PyObject *name =
            index < PyTuple_GET_SIZE(fields) ? PyTuple_GET_ITEM(fields, index) : NULL;
        PyObject *value = PyTuple_GET_ITEM(tuple, index);

        if (name != NULL && film_name_is_secret(name)) {
            film_holder holder = holder_of_item(making, index);

            put_secret(making, value, name, &holder);
        }
        else {
            put_item(making, value, index);
        }
    }
}

static void
put_numbers(film_unfinished *making, PyObject *array)
{
    const char *bytes;
    size_t length;
    uint32_t count;

    if (!film_numbers_read(array, &bytes, &length)) {
        put_head(FILM_OBJECT_OPAQUE, -1, 0);
        return;
    }
    count = bounded(making, Py_SIZE(array));
    put_head(FILM_OBJECT_SEQUENCE, Py_SIZE(array), count);
    film_numbers_put(array, count);
    film_the_looks_left -= count;
}

static void
put_set(film_unfinished *making, PyObject *set)
{
    int64_t length = film_content_length(set, FILM_CONTENT_SET);
    uint32_t count = bounded(making, length);

    put_head(FILM_OBJECT_SEQUENCE, length, count);
    for (Py_ssize_t index = 0; count > 0 && index < film_set_positions(set); index++) {
        PyObject *member = film_set_get(set, index);

        if (member != NULL) {
            put_item(making, member, index);
            count--;
        }
    }
}

static void
put_deque(film_unfinished *making, PyObject *deque)
{
    film_deque_cursor cursor = film_deque_begin(deque);
    uint32_t count = bounded(making, Py_SIZE(deque));

    put_head(FILM_OBJECT_SEQUENCE, Py_SIZE(deque), count);
    for (uint32_t index = 0; index < count; index++) {
        put_item(making, film_deque_next(&cursor), index);
    }
}

static FILM_HOT void
put_pair(film_unfinished *making, PyObject *key, PyObject *value, Py_ssize_t position)
{
    put_key(making, key, FILM_HINT_KEY + position);
    if (film_name_is_secret(key)) {
        film_holder holder = holder_of_item(making, position);

        put_secret(making, value, key, &holder);
    }
    else {
        put_item(making, value, position);
    }
}

/* The pairs in the order that an OrderedDict keeps; returns how many could be found. */
static uint32_t
put_ordered(film_unfinished *making, PyObject *dict, uint32_t count)
{
    const film_ordered_node *node = ((const film_ordered_dict *)dict)->first;
    uint32_t done = 0;

    for (; done < count && node != NULL; node = node->next) {
        film_dict_place place;

        if (!film_dict_same_key(dict, node->key, node->hash, &place)) {
            break;
        }
        put_pair(making, place.key, place.value, place.position);
        done++;
    }
    return done;
}

static FILM_HOT void
put_dict(film_unfinished *making, PyObject *dict)
{
    int64_t length = film_dict_length(dict);
    uint32_t count = bounded(making, length);
    film_pairs pairs = {0};

    put_head(FILM_OBJECT_MAPPING, length, count);
    if (film_type_of(Py_TYPE(dict))->ordered) {
        count -= put_ordered(making, dict, count);
    }
    else {
        film_pairs_of_dict(dict, &pairs);
    }
    for (Py_ssize_t index = 0; count > 0 && index < pairs.count; index++) {
        PyObject *key, *value = film_pairs_get(&pairs, index, &key);

        if (value != NULL) {
            put_pair(making, key, value, index);
            count--;
        }
    }
    for (; count > 0; count--) { /* a dict that lies about its length */
        static const uint8_t pair[2] = {FILM_TOKEN_UNBOUND, FILM_TOKEN_UNBOUND};

        put_token(pair, pair + 2);
    }
}

static void
put_bytearray(film_unfinished *making, PyObject *object)
{
    size_t length = (size_t)Py_SIZE(object);
    size_t count = length < film_the_snapshot.bytes ? length : film_the_snapshot.bytes;

    if (making->hidden) {
        count = 0;
    }
    making->cut = count < length;
    put_head(FILM_OBJECT_BYTES, (int64_t)length, (uint32_t)count);
    film_buffer_append(&film_the_snapshot.body, PyByteArray_AS_STRING(object), count);
}

static void
put_array_shape(PyObject *object, film_content content)
{
    film_array array;

    if (content == FILM_CONTENT_TENSOR || !film_array_read(object, &array)) {
        put_head(FILM_OBJECT_OPAQUE, -1, 0);
        return;
    }
    put_head(FILM_OBJECT_ARRAY, array.dimensions == 0 ? -1 : array.shape[0],
             (uint32_t)array.dimensions);
    for (int index = 0; index < array.dimensions; index++) {
        film_buffer_put_varint(&film_the_snapshot.body, (uint64_t)array.shape[index]);
    }
    film_buffer_put_varint(&film_the_snapshot.body,
                           film_keep_string(array.dtype, strlen(array.dtype)));
}

/* --- instances ----------------------------------------------------------------------
 */

static void
put_attribute(film_unfinished *making, PyObject *name, uint32_t name_id, bool secret,
              PyObject *value, uint32_t position)
{
    film_holder holder = {.kind = FILM_HOLDER_ATTRIBUTE,
                          .owner = making->object,
                          .name = name,
                          .position = position + 1};

    film_buffer_put_varint(&film_the_snapshot.body, name_id);
    if (secret) {
        put_secret(making, value, name, &holder);
    }
    else {
        put_held(making, value, &holder);
    }
}

static PyObject *
slot_value(PyObject *object, const film_slot *slot)
{
    return *(PyObject **)((char *)object + slot->offset);
}

static uint32_t
count_attributes(PyObject *object, const film_type *type, const film_pairs *pairs)
{
    uint32_t count = 0;

    for (unsigned index = 0; index < type->slot_count; index++) {
        count += slot_value(object, &type->slots[index]) != NULL;
    }
    for (Py_ssize_t index = 0; index < pairs->count; index++) {
        PyObject *key;

        count += film_pairs_get(pairs, index, &key) != NULL;
    }
    return count;
}

static void
put_instance(film_unfinished *making, PyObject *object)
{
    const film_type *type = film_type_of(Py_TYPE(object));
    film_pairs pairs = {0};
    film_slot slots[64];
    unsigned slot_count = type->slot_count < 64 ? type->slot_count : 64;
    uint32_t count;

    if (!film_pairs_of_object(object, &pairs)) {
        pairs.count = 0;
    }
    count = bounded(making, count_attributes(object, type, &pairs));
    put_head(FILM_OBJECT_ATTRIBUTES, -1, count);
    /* Copied: what is within may push the type out of the cache. */
    if (slot_count > 0) {
        memcpy(slots, type->slots, slot_count * sizeof(*slots));
    }
    for (unsigned index = 0; count > 0 && index < slot_count; index++) {
        PyObject *value = slot_value(object, &slots[index]);

        if (value != NULL) {
            put_attribute(making, (PyObject *)(uintptr_t)slots[index].name,
                          slots[index].name_id, slots[index].secret, value,
                          (uint32_t)(FILM_HINT_SLOT + slots[index].offset));
            count--;
        }
    }
    for (Py_ssize_t index = 0; count > 0 && index < pairs.count; index++) {
        PyObject *key, *value = film_pairs_get(&pairs, index, &key);

        if (value != NULL) {
            put_attribute(making, key, film_name_id(key), film_name_is_secret(key),
                          value, (uint32_t)index);
            count--;
        }
    }
}

static void
put_exception(film_unfinished *making, PyObject *object)
{
    PyObject *args = ((PyBaseExceptionObject *)object)->args;
    Py_ssize_t length =
        args != NULL && PyTuple_CheckExact(args) ? PyTuple_GET_SIZE(args) : 0;
    uint32_t count = bounded(making, length);

    put_head(FILM_OBJECT_EXCEPTION, -1, count);
    for (uint32_t index = 0; index < count; index++) {
        PyObject *value = PyTuple_GET_ITEM(args, index);
        uint8_t token[FILM_TOKEN_MAX];

        if (film_is_scalar(value)) {
            put_token(token, film_message_token(value, token));
        }
        else {
            film_holder holder = {.kind = FILM_HOLDER_NONE};

            put_held(making, value, &holder);
        }
    }
}

/* --- names --------------------------------------------------------------------------
 */

static uint32_t
class_name(PyTypeObject *type)
{
    if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0) {
        PyObject *name = ((PyHeapTypeObject *)type)->ht_qualname;

        if (name != NULL && PyUnicode_CheckExact(name)) {
            return film_name_id(name);
        }
    }
    return film_last_name_id(type->tp_name);
}

static uint32_t
function_name(PyObject *function)
{
    PyObject *name = ((PyFunctionObject *)function)->func_qualname;

    return name != NULL ? film_name_id(name) : 0;
}

static uint32_t
method_name(PyObject *method)
{
    PyObject *function = PyMethod_GET_FUNCTION(method);

    return PyFunction_Check(function) ? function_name(function)
                                      : film_last_name_id(Py_TYPE(function)->tp_name);
}

static uint32_t
qualified_name(PyObject *object, film_content content)
{
    switch ((int)content) {
    case FILM_CONTENT_FUNCTION:
        return function_name(object);
    case FILM_CONTENT_METHOD:
        return method_name(object);
    case FILM_CONTENT_BUILTIN:
        return film_last_name_id(((PyCFunctionObject *)object)->m_ml->ml_name);
    case FILM_CONTENT_CLASS:
        return class_name((PyTypeObject *)object);
    default: {
        PyObject *dict = PyModule_GetDict(object);
        PyObject *name = film_dict_lookup(dict, film_the_session.name_key);

        return name != NULL ? film_name_id(name) : 0;
    }
    }
}

static FILM_HOT void
put_content(film_unfinished *making, film_content content)
{
    PyObject *object = making->object;

    switch (content) {
    case FILM_CONTENT_LIST:
        put_array(making, ((PyListObject *)object)->ob_item, Py_SIZE(object));
        break;
    case FILM_CONTENT_TUPLE:
        put_tuple(making, object);
        break;
    case FILM_CONTENT_DICT:
        put_dict(making, object);
        break;
    case FILM_CONTENT_SET:
    case FILM_CONTENT_FROZENSET:
        put_set(making, object);
        break;
    case FILM_CONTENT_DEQUE:
        put_deque(making, object);
        break;
    case FILM_CONTENT_BYTEARRAY:
        put_bytearray(making, object);
        break;
    case FILM_CONTENT_NUMBERS:
        put_numbers(making, object);
        break;
    case FILM_CONTENT_ARRAY:
    case FILM_CONTENT_TENSOR:
        put_array_shape(object, content);
        break;
    case FILM_CONTENT_INSTANCE:
        put_instance(making, object);
        break;
    case FILM_CONTENT_EXCEPTION:
        put_exception(making, object);
        break;
    case FILM_CONTENT_FUNCTION:
    case FILM_CONTENT_METHOD:
    case FILM_CONTENT_BUILTIN:
    case FILM_CONTENT_CLASS:
    case FILM_CONTENT_MODULE:
        put_head(FILM_OBJECT_NAMED, -1, 1);
        film_buffer_put_varint(&film_the_snapshot.body,
                               qualified_name(object, content));
        break;
    case FILM_CONTENT_OPAQUE:
        put_head(FILM_OBJECT_OPAQUE, -1, 0);
        break;
    }
}

FILM_HOT void
film_snapshot_put(film_unfinished *making, film_content content)
{
    put_content(making, content);
    making->noted = film_family_note(making);
}
