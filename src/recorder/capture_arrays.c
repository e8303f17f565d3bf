/* capture_arrays.c: see capture_arrays.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/capture_arrays.h"

#include <string.h>

/* numpy's PyArrayObject_fields and the beginning of PyArray_Descr: part of its C API,
 * the same in 1.x and 2.x. */
typedef struct numpy_descr {
    PyObject_HEAD
    PyTypeObject *scalar;
} numpy_descr;

typedef struct numpy_array {
    PyObject_HEAD
    char *data;
    int dimensions;
    Py_ssize_t *shape, *strides;
    PyObject *base;
    numpy_descr *descr;
} numpy_array;

/* No class statement makes a type that is not on the heap: the name cannot be had by
 * any other. */
static bool
is_or_comes_from(const PyTypeObject *type, const char *name)
{
    for (; type != NULL; type = type->tp_base) {
        if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0 &&
            strcmp(type->tp_name, name) == 0) {
            return true;
        }
    }
    return false;
}

bool
film_array_is_array(const PyTypeObject *type)
{
    return is_or_comes_from(type, "numpy.ndarray");
}

bool
film_array_read(PyObject *object, film_array *array)
{
    const numpy_array *fields = (const numpy_array *)object;
    const char *name, *dot;

    if (fields->dimensions < 0 || fields->dimensions > FILM_ARRAY_DIMENSIONS) {
        return false;
    }
    array->dimensions = fields->dimensions;
    for (int index = 0; index < fields->dimensions; index++) {
        array->shape[index] = (int64_t)fields->shape[index];
    }
    name = fields->descr == NULL || fields->descr->scalar == NULL
               ? ""
               : fields->descr->scalar->tp_name;
    dot = strrchr(name, '.');
    array->dtype = dot == NULL ? name : dot + 1;
    return true;
}
