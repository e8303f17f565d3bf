/* operations.c: see operations.h. Named as torch.overrides.resolve_name names them: by the
 * last of the namespaces below that has the object.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/torch/operations.h"

#include <filmstrip/event.h>

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "recorder/attributes.h"
#include "recorder/capture_keep.h"
#include "recorder/compat_objects.h"
#include "recorder/text.h"

#define METHOD_FLAGS                                                                   \
    (METH_VARARGS | METH_KEYWORDS | METH_FASTCALL | METH_O | METH_NOARGS)

/* Where they are, then what renames them, in that order. `attribute`: of the module, a
 * class. */
static const struct {
    const char *module, *attribute, *prefix;
} namespaces[] = {
    {"torch._C", "_VariableFunctionsClass", "torch"},
    {"torch._C._nn", NULL, "torch._C._nn"},
    {"torch._C._linalg", NULL, "torch._C._linalg"},
    {"torch._C._fft", NULL, "torch._C._fft"},
    {"torch._C._special", NULL, "torch._C._special"},
    {"torch._C._sparse", NULL, "torch._C._sparse"},
    {"torch._C._nested", NULL, "torch._C._nested"},
    {"torch._C", "TensorBase", "torch.Tensor"},
    {"torch", NULL, "torch"},
    {"torch.nn.functional", NULL, "torch.nn.functional"},
    {"torch.linalg", NULL, "torch.linalg"},
    {"torch.fft", NULL, "torch.fft"},
    {"torch.special", NULL, "torch.special"},
};
#define NAMESPACES (sizeof(namespaces) / sizeof(namespaces[0]))
#define OF_C 8u /* the first ones */

/* They wait for the device where the tensor is on one. */
static const char *const synchronising[] = {
    "torch.Tensor.item",        "torch.Tensor.tolist",
    "torch.Tensor.cpu",         "torch.Tensor.numpy",
    "torch.Tensor.__bool__",    "torch.Tensor.__int__",
    "torch.Tensor.__float__",   "torch.Tensor.__index__",
    "torch.Tensor.nonzero",     "torch.nonzero",
    "torch.Tensor.is_nonzero",  "torch.is_nonzero",
    "torch.Tensor.equal",       "torch.equal",
    "torch.Tensor.__complex__", "torch.Tensor.masked_select",
    "torch.masked_select",      "torch.Tensor.unique_dim",
};

static struct {
    film_operation *items; /* owned */
    size_t count, capacity;
    uint32_t *places;   /* owned: index + 1 in items, by address */
    size_t place_count; /* a power of two */
} table;

static size_t
place_of(const PyObject *callable)
{
    return (size_t)(((uint64_t)(uintptr_t)callable >> 4) *
                        UINT64_C(0x9e3779b97f4a7c15) >>
                    40) &
           (table.place_count - 1);
}

FILM_HOT film_operation *
film_operation_of(const PyObject *callable)
{
    size_t place;

    if (FILM_UNLIKELY(table.place_count == 0)) {
        return NULL;
    }
    for (place = place_of(callable); table.places[place] != 0;
         place = (place + 1) & (table.place_count - 1)) {
        film_operation *found = &table.items[table.places[place] - 1];

        if (FILM_LIKELY(found->callable == callable)) {
            return found;
        }
    }
    return NULL;
}

static bool
index_all(void)
{
    size_t places = 64;

    while (places < table.count * 3) {
        places *= 2;
    }
    film_free(table.places);
    table.places = film_alloc_array(places, sizeof(*table.places));
    table.place_count = table.places == NULL ? 0 : places;
    for (size_t index = 0; table.place_count != 0 && index < table.count; index++) {
        size_t place = place_of(table.items[index].callable);

        while (table.places[place] != 0) {
            place = (place + 1) & (table.place_count - 1);
        }
        table.places[place] = (uint32_t)index + 1;
    }
    return table.place_count != 0;
}

/* What can be hooked: builtin functions and methods that take a tuple and a dict, methods
 * without arguments or with one (apply_). */
static bool
is_candidate(PyObject *object)
{
    int flags;

    if (PyCFunction_CheckExact(object)) {
        flags = ((PyCFunctionObject *)object)->m_ml->ml_flags & METHOD_FLAGS;
        return flags == (METH_VARARGS | METH_KEYWORDS);
    }
    if (Py_IS_TYPE(object, &PyMethodDescr_Type)) {
        flags = ((PyMethodDescrObject *)object)->d_method->ml_flags & METHOD_FLAGS;
        return flags == (METH_VARARGS | METH_KEYWORDS) || flags == METH_NOARGS ||
               flags == METH_O;
    }
    return false;
}

static bool
is_synchronising(const char *name)
{
    for (size_t index = 0; index < sizeof(synchronising) / sizeof(synchronising[0]);
         index++) {
        if (strcmp(name, synchronising[index]) == 0) {
            return true;
        }
    }
    return false;
}

static void
name_it(film_operation *operation, const char *prefix, PyObject *name)
{
    char text[FILM_OPERATION_NAME];

    (void)film_text_copy(name, text, sizeof(text) - 1, NULL);
    if (snprintf(operation->name, sizeof(operation->name), "%s.%s", prefix, text) < 0) {
        operation->name[0] = '\0';
    }
    operation->flags = is_synchronising(operation->name) ? FILM_OPERATION_SYNC : 0;
    operation->leaves_unset =
        strstr(text, "empty") != NULL || strstr(text, "resize") != NULL;
    operation->silent = strcmp(text, "_make_subclass") == 0; /* a Parameter */
}

/* torch.Tensor's own attributes that no call of an operation is. */
static bool
is_left_out(PyObject *name)
{
    static const char *const left_out[] = {"__new__", "__init__", "__reduce_ex__"};

    for (size_t index = 0; index < sizeof(left_out) / sizeof(left_out[0]); index++) {
        if (PyUnicode_CompareWithASCIIString(name, left_out[index]) == 0) {
            return true;
        }
    }
    return false;
}

/* The function of a static method; NULL: it has none. Owned. */
static PyObject *
unwrapped(PyObject *object)
{
    PyObject *function;

    if (!Py_IS_TYPE(object, &PyStaticMethod_Type)) {
        return Py_NewRef(object);
    }
    function = PyObject_GetAttrString(object, "__func__");
    if (function == NULL) {
        PyErr_Clear();
    }
    return function;
}

static bool
add(PyObject *name, PyObject *object, const char *prefix)
{
    PyObject *function = unwrapped(object);
    film_operation *items;

    if (function == NULL || !is_candidate(function)) {
        Py_XDECREF(function);
        return true;
    }
    items =
        film_grow(table.items, &table.capacity, table.count + 1, sizeof(*table.items));
    if (items == NULL) {
        Py_DECREF(function);
        return false;
    }
    table.items = items;
    items[table.count] = (film_operation){.callable = function};
    name_it(&items[table.count++], prefix, name);
    return true;
}

/* Adds what a namespace holds, or names anew what is known of it. */
static bool
add_namespace(PyObject *dict, const char *prefix, bool renames)
{
    PyObject *name, *object;
    Py_ssize_t position = 0;

    while (PyDict_Next(dict, &position, &name, &object)) {
        if (!PyUnicode_CheckExact(name) || is_left_out(name)) {
            continue;
        }
        if (renames) {
            film_operation *known = film_operation_of(object);

            if (known != NULL) {
                name_it(known, prefix, name);
            }
        }
        else if (!add(name, object, prefix)) {
            return false;
        }
    }
    return true;
}

static PyObject *
namespace_dict(size_t index)
{
    PyObject *module =
        film_dict_find(PyImport_GetModuleDict(), namespaces[index].module);
    PyObject *dict, *type;

    if (module == NULL || !PyModule_Check(module)) {
        return NULL;
    }
    dict = PyModule_GetDict(module);
    if (namespaces[index].attribute == NULL) {
        return dict;
    }
    type = film_dict_find(dict, namespaces[index].attribute);
    return type != NULL && PyType_Check(type) ? film_type_dict((PyTypeObject *)type)
                                              : NULL;
}

bool
film_operations_find(void)
{
    film_operations_forget();
    for (size_t index = 0; index < NAMESPACES; index++) {
        PyObject *dict = namespace_dict(index);

        if ((index == OF_C && (table.count == 0 || !index_all())) ||
            (dict != NULL &&
             !add_namespace(dict, namespaces[index].prefix, index >= OF_C))) {
            film_operations_forget();
            return false;
        }
    }
    return true;
}

void
film_operations_forget(void)
{
    for (size_t index = 0; index < table.count; index++) {
        Py_DECREF(table.items[index].callable);
    }
    film_free(table.items);
    film_free(table.places);
    memset(&table, 0, sizeof(table));
}

size_t
film_operations_count(void)
{
    return table.count;
}

film_operation *
film_operation_at(size_t index)
{
    return &table.items[index];
}

uint32_t
film_operation_id(film_operation *operation)
{
    if (FILM_UNLIKELY(operation->generation != film_the_session.generation)) {
        operation->id = film_keep_string(operation->name, strlen(operation->name));
        operation->generation = film_the_session.generation;
    }
    return operation->id;
}
