/* capture_arrays.c: see capture_arrays.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/capture_arrays.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "recorder/attributes.h"

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

/* --- torch --------------------------------------------------------------------------
 */

/* The stable C shim of libtorch, found where the program has loaded it. Its functions
 * print when they fail, so only tensors are read for which they cannot: of class
 * torch.Tensor or Parameter itself (others may answer by Python code), implemented by
 * c10::TensorImpl itself (others throw when asked for what they do not have). */
typedef int32_t (*shim_number)(void *tensor, int64_t *number);
typedef int32_t (*shim_numbers)(void *tensor, int64_t **numbers);
typedef int32_t (*shim_code)(void *tensor, int32_t *code);
typedef int32_t (*shim_constant)(void);

static const char *const dtype_names[] = {
    "float32",       "float64",     "float16", "bfloat16", "int64",     "int32",
    "int16",         "int8",        "uint8",   "bool",     "complex64", "complex128",
    "float8_e4m3fn", "float8_e5m2", "uint16",  "uint32",   "uint64",    "complex32",
};
#define DTYPES (sizeof(dtype_names) / sizeof(dtype_names[0]))

static struct {
    bool looked, found;
    shim_number dimensions;
    shim_numbers sizes;
    shim_code dtype;
    int32_t codes[DTYPES]; /* -1: this torch does not have it */
    const void *plain;     /* what a c10::TensorImpl begins with */
} torch;

static void
find_shim(void)
{
    void *cpu = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
    void *core = dlopen("libc10.so", RTLD_LAZY | RTLD_NOLOAD);
    const void *table = core == NULL ? NULL : dlsym(core, "_ZTVN3c1010TensorImplE");

    torch.looked = true;
    if (cpu == NULL || table == NULL) {
        return;
    }
    /* Functions come as objects: dlsym's own way. */
    *(void **)&torch.dimensions = dlsym(cpu, "aoti_torch_get_dim");
    *(void **)&torch.sizes = dlsym(cpu, "aoti_torch_get_sizes");
    *(void **)&torch.dtype = dlsym(cpu, "aoti_torch_get_dtype");
    for (size_t index = 0; index < DTYPES; index++) {
        shim_constant code_of;
        char name[64];

        (void)snprintf(name, sizeof(name), "aoti_torch_dtype_%s", dtype_names[index]);
        *(void **)&code_of = dlsym(cpu, name);
        torch.codes[index] = code_of == NULL ? -1 : code_of();
    }
    torch.plain = (const char *)table + 2 * sizeof(void *);
    torch.found =
        torch.dimensions != NULL && torch.sizes != NULL && torch.dtype != NULL;
}

bool
film_array_is_tensor(const PyTypeObject *type)
{
    static const struct {
        const char *module, *name;
    } exact[] = {{"torch", "Tensor"}, {"torch.nn.parameter", "Parameter"}};
    PyObject *modules = PyImport_GetModuleDict(); /* borrowed */

    if (!is_or_comes_from(type, "torch._C.TensorBase")) {
        return false;
    }
    for (size_t index = 0; index < 2; index++) {
        PyObject *module = film_dict_find(modules, exact[index].module);

        if (module != NULL && PyModule_Check(module) &&
            film_dict_find(PyModule_GetDict(module), exact[index].name) ==
                (const PyObject *)type) {
            return true;
        }
    }
    return false;
}

/* An at::Tensor is a pointer to its implementation and stands behind the head of the
 * Python object; in older versions behind a flag. */
static void *
tensor_of(PyObject *object)
{
    void **words = (void **)(object + 1);

    return (uintptr_t)words[0] <= 1 ? &words[1] : &words[0];
}

bool
film_tensor_read(PyObject *object, film_array *array)
{
    void **tensor = tensor_of(object);
    int64_t dimensions, *sizes;
    int32_t code;

    if (!torch.looked) {
        find_shim();
    }
    if (!torch.found || *tensor == NULL || *(const void **)*tensor != torch.plain ||
        torch.dimensions(tensor, &dimensions) != 0 || dimensions < 0 ||
        dimensions > FILM_ARRAY_DIMENSIONS || torch.sizes(tensor, &sizes) != 0 ||
        torch.dtype(tensor, &code) != 0) {
        return false;
    }
    array->dimensions = (int)dimensions;
    memcpy(array->shape, sizes, (size_t)dimensions * sizeof(*sizes));
    array->dtype = "";
    for (size_t index = 0; index < DTYPES; index++) {
        if (torch.codes[index] == code) {
            array->dtype = dtype_names[index];
        }
    }
    return true;
}
