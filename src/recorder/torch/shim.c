/* shim.c: see shim.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/torch/shim.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "recorder/attributes.h"

/* Of the C interface: 0 when it succeeds. */
typedef int32_t (*shim_number)(const void *tensor, int64_t *number);
typedef int32_t (*shim_numbers)(const void *tensor, int64_t **numbers);
typedef int32_t (*shim_code)(const void *tensor, int32_t *code);
typedef int32_t (*shim_pointer)(const void *tensor, const void **pointer);
typedef int32_t (*shim_constant)(void);
typedef bool (*shim_flag)(void);
typedef bool (*shim_impl_flag)(const void *impl);

typedef struct shim_name {
    const char *name, *brief;
} shim_name;

static const shim_name dtype_names[] = {
    {"float32", "f32"},          {"float64", "f64"},
    {"float16", "f16"},          {"bfloat16", "bf16"},
    {"int64", "i64"},            {"int32", "i32"},
    {"int16", "i16"},            {"int8", "i8"},
    {"uint8", "u8"},             {"bool", "b8"},
    {"complex64", "c64"},        {"complex128", "c128"},
    {"float8_e4m3fn", "f8e4m3fn"}, {"float8_e5m2", "f8e5m2"},
    {"uint16", "u16"},           {"uint32", "u32"},
    {"uint64", "u64"},           {"complex32", "c32"},
};
static const char *const device_names[] = {"cpu", "cuda", "meta", "xpu", "mps", "mtia"};

/* libtorch's numbers are small; those that are not are not known. */
#define CODES 64

#define FIRST_PLACE 8 /* of pointers in a TensorImpl, behind its virtual table */
#define LAST_PLACE 96
#define COUNTER_PLACE 40
#define COUNTER_VALUE 16 /* of a c10::VariableVersion's counter: behind its table and
                            reference count */

static struct {
    bool looked, found;
    void *cpu, *core; /* handles */
    shim_number dimensions, offset;
    shim_numbers sizes, strides;
    shim_code dtype, device_type, device_index;
    shim_pointer data;
    shim_flag grad_mode, inference_mode;
    shim_impl_flag requires_grad;
    int8_t dtypes[CODES], devices[CODES]; /* index of the name + 1 */
    int32_t cpu_device;
    const void *plain;         /* what a c10::TensorImpl begins with */
    int storage_at, counter_at; /* offsets in a TensorImpl; 0: not known */
} shim;

void *
film_shim_symbol(const char *name)
{
    void *found = shim.cpu == NULL ? NULL : dlsym(shim.cpu, name);

    return found == NULL && shim.core != NULL ? dlsym(shim.core, name) : found;
}

/* Functions come as objects: dlsym's own way. */
#define FIND(field, name) (*(void **)&shim.field = film_shim_symbol(name))

static int32_t
constant(const char *family, const char *name)
{
    shim_constant code_of;
    char symbol[64];

    (void)snprintf(symbol, sizeof(symbol), "aoti_torch_%s_%s", family, name);
    *(void **)&code_of = film_shim_symbol(symbol);
    return code_of == NULL ? -1 : code_of();
}

static void
find_constants(void)
{
    for (size_t index = 0; index < sizeof(dtype_names) / sizeof(dtype_names[0]);
         index++) {
        int32_t code = constant("dtype", dtype_names[index].name);

        if (code >= 0 && code < CODES) {
            shim.dtypes[code] = (int8_t)(index + 1);
        }
    }
    for (size_t index = 0; index < sizeof(device_names) / sizeof(device_names[0]);
         index++) {
        int32_t code = constant("device_type", device_names[index]);

        if (code >= 0 && code < CODES) {
            shim.devices[code] = (int8_t)(index + 1);
        }
    }
    shim.cpu_device = constant("device_type", "cpu");
}

static void
find_shim(void)
{
    const void *table;

    shim.cpu = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
    shim.core = dlopen("libc10.so", RTLD_LAZY | RTLD_NOLOAD);
    table = shim.core == NULL ? NULL : dlsym(shim.core, "_ZTVN3c1010TensorImplE");
    if (shim.cpu == NULL || table == NULL) {
        return; /* it may still be loading */
    }
    shim.looked = true;
    FIND(dimensions, "aoti_torch_get_dim");
    FIND(sizes, "aoti_torch_get_sizes");
    FIND(strides, "aoti_torch_get_strides");
    FIND(offset, "aoti_torch_get_storage_offset");
    FIND(dtype, "aoti_torch_get_dtype");
    FIND(device_type, "aoti_torch_get_device_type");
    FIND(device_index, "aoti_torch_get_device_index");
    FIND(data, "torch_get_const_data_ptr");
    FIND(grad_mode, "_ZN3c108GradMode10is_enabledEv");
    FIND(inference_mode, "_ZN3c1013InferenceMode10is_enabledEv");
    FIND(requires_grad, "_ZNK3c1010TensorImpl13requires_gradEv");
    find_constants();
    shim.plain = (const char *)table + 2 * sizeof(void *);
    shim.found = shim.dimensions != NULL && shim.sizes != NULL && shim.strides != NULL &&
                 shim.offset != NULL && shim.dtype != NULL && shim.device_type != NULL &&
                 shim.device_index != NULL;
}

/* No class statement makes a type that is not on the heap: the name cannot be had by
 * any other. */
static bool
comes_from_tensor_base(const PyTypeObject *type)
{
    for (; type != NULL; type = type->tp_base) {
        if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0 &&
            strcmp(type->tp_name, "torch._C.TensorBase") == 0) {
            return true;
        }
    }
    return false;
}

bool
film_shim_is_tensor(const PyTypeObject *type)
{
    static const struct {
        const char *module, *name;
    } exact[] = {{"torch", "Tensor"}, {"torch.nn.parameter", "Parameter"}};
    PyObject *modules = PyImport_GetModuleDict(); /* borrowed */

    if (!comes_from_tensor_base(type)) {
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
static inline const void *const *
tensor_of(PyObject *object)
{
    const void *const *words = (const void *const *)(const void *)(object + 1);

    return (uintptr_t)words[0] <= 1 ? &words[1] : &words[0];
}

static inline const void *
pointer_at(const void *base, int offset)
{
    return *(const void *const *)(const void *)((const char *)base + offset);
}

static inline int64_t
version_of(const void *impl)
{
    const char *counter =
        shim.counter_at == 0 ? NULL : pointer_at(impl, shim.counter_at);

    return counter == NULL
               ? -1
               : (int64_t)*(const uint32_t *)(const void *)(counter + COUNTER_VALUE);
}

FILM_HOT bool
film_shim_read(PyObject *object, film_tensor_view *view)
{
    const void *const *tensor = tensor_of(object);
    int64_t *sizes, *strides;

    if (FILM_UNLIKELY(!shim.looked)) {
        find_shim();
    }
    if (FILM_UNLIKELY(!shim.found || *tensor == NULL ||
                      *(const void *const *)*tensor != shim.plain)) {
        return false;
    }
    view->impl = *tensor;
    if (shim.dimensions(tensor, &view->dimensions) != 0 || view->dimensions < 0 ||
        view->dimensions > FILM_TENSOR_MOST_DIMENSIONS ||
        shim.sizes(tensor, &sizes) != 0 || shim.strides(tensor, &strides) != 0 ||
        shim.dtype(tensor, &view->dtype) != 0 ||
        shim.device_type(tensor, &view->device_type) != 0 ||
        shim.device_index(tensor, &view->device_index) != 0 ||
        shim.offset(tensor, &view->offset) != 0) {
        return false;
    }
    view->sizes = sizes;
    view->strides = strides;
    view->storage =
        shim.storage_at == 0 ? NULL : pointer_at(view->impl, shim.storage_at);
    view->version = version_of(view->impl);
    view->requires_grad = shim.requires_grad != NULL && shim.requires_grad(view->impl);
    return true;
}

const void *
film_shim_data(PyObject *object)
{
    const void *data = NULL;

    return shim.data != NULL && shim.data(tensor_of(object), &data) == 0 ? data : NULL;
}

int64_t
film_shim_version(PyObject *object)
{
    return version_of(*tensor_of(object));
}

static const shim_name *
dtype_of(int32_t code)
{
    int index = code < 0 || code >= CODES ? 0 : shim.dtypes[code];

    return index == 0 ? NULL : &dtype_names[index - 1];
}

const char *
film_shim_dtype_name(int32_t code)
{
    const shim_name *name = dtype_of(code);

    return name == NULL ? "" : name->name;
}

const char *
film_shim_dtype_short(int32_t code)
{
    const shim_name *name = dtype_of(code);

    return name == NULL ? "?" : name->brief;
}

const char *
film_shim_device_name(int32_t code)
{
    int index = code < 0 || code >= CODES ? 0 : shim.devices[code];

    return index == 0 ? "" : device_names[index - 1];
}

bool
film_shim_is_cpu(int32_t device_type)
{
    return device_type == shim.cpu_device;
}

bool
film_shim_grad_mode(void)
{
    return shim.grad_mode != NULL && shim.grad_mode();
}

bool
film_shim_inference_mode(void)
{
    return shim.inference_mode != NULL && shim.inference_mode();
}

/* --- proof ------------------------------------------------------------------------ */

/* A pointer that an attribute gives as a number; NULL: it does not. */
static const void *
pointer_attribute(PyObject *object, const char *name)
{
    PyObject *number =
        object == NULL ? NULL : PyObject_GetAttrString(object, name);
    const void *pointer = number == NULL ? NULL : PyLong_AsVoidPtr(number);

    Py_XDECREF(number);
    return pointer;
}

/* Where in `impl` the pointer stands; 0: nowhere. */
static int
find_pointer(const void *impl, const void *wanted)
{
    for (int at = FIRST_PLACE; wanted != NULL && at <= LAST_PLACE;
         at += (int)sizeof(void *)) {
        if (pointer_at(impl, at) == wanted) {
            return at;
        }
    }
    return 0;
}

static int
find_storage(PyObject *tensor, const void *impl)
{
    PyObject *storage = PyObject_CallMethod(tensor, "untyped_storage", NULL);
    const void *pointer = pointer_attribute(storage, "_cdata");

    Py_XDECREF(storage);
    return find_pointer(impl, pointer);
}

static long
told_version(PyObject *tensor)
{
    PyObject *number = PyObject_GetAttrString(tensor, "_version");
    long version = number == NULL ? -1 : PyLong_AsLong(number);

    Py_XDECREF(number);
    return version;
}

static bool
change_in_place(PyObject *tensor)
{
    PyObject *same = PyObject_CallMethod(tensor, "zero_", NULL);

    Py_XDECREF(same);
    return same != NULL;
}

/* The version counter is where every torch so far has had it, or not known: the number
 * behind its pointer must follow what _version tells, at three times. */
static int
find_counter(PyObject *tensor, const void *impl)
{
    if (pointer_at(impl, COUNTER_PLACE) == NULL) {
        return 0;
    }
    for (int round = 0; round < 3; round++) {
        const char *counter = pointer_at(impl, COUNTER_PLACE);
        uint32_t held;

        memcpy(&held, counter + COUNTER_VALUE, sizeof(held));
        if (told_version(tensor) != (long)held || !change_in_place(tensor)) {
            return 0;
        }
    }
    return COUNTER_PLACE;
}

static PyObject *
make_probe(PyObject *torch_module, bool inference)
{
    PyObject *made = NULL, *mode = NULL, *entered = NULL, *left;

    if (inference) {
        mode = PyObject_CallMethod(torch_module, "inference_mode", NULL);
        entered = mode == NULL ? NULL : PyObject_CallMethod(mode, "__enter__", NULL);
        if (entered == NULL) {
            PyErr_Clear();
        }
    }
    if (!inference || mode != NULL) {
        made = PyObject_CallMethod(torch_module, "empty", "ii", 2, 3);
    }
    if (mode != NULL) {
        film_saved_error saved;

        film_compat_save_error(&saved);
        left = PyObject_CallMethod(mode, "__exit__", "OOO", Py_None, Py_None, Py_None);
        Py_XDECREF(left);
        PyErr_Clear();
        film_compat_restore_error(&saved);
        Py_XDECREF(entered);
        Py_DECREF(mode);
    }
    return made;
}

/* The implementation of a probe, where it is one that we could read; else NULL. */
static const void *
probed(PyObject *tensor)
{
    film_tensor_view view;

    return tensor != NULL && film_shim_is_tensor(Py_TYPE(tensor)) &&
                   film_shim_read(tensor, &view) &&
                   pointer_attribute(tensor, "_cdata") == view.impl
               ? view.impl
               : NULL;
}

void
film_shim_prove(PyObject *torch_module)
{
    PyObject *first, *second, *inference;
    const void *one, *two, *three;

    if (!shim.looked) {
        find_shim();
    }
    if (!shim.found || shim.storage_at != 0) {
        return;
    }
    first = make_probe(torch_module, false);
    second = make_probe(torch_module, false);
    inference = make_probe(torch_module, true);
    one = probed(first);
    two = probed(second);
    three = probed(inference);
    if (one != NULL && two != NULL && three != NULL) {
        int storage = find_storage(first, one);
        int counter = find_counter(first, one);

        if (storage != 0 && find_storage(second, two) == storage) {
            shim.storage_at = storage;
        }
        /* An inference tensor counts no versions, and has no counter. */
        if (counter != 0 && find_counter(second, two) == counter &&
            pointer_at(three, counter) == NULL) {
            shim.counter_at = counter;
        }
    }
    else {
        shim.found = one != NULL; /* read wrongly: not at all */
    }
    PyErr_Clear();
    Py_XDECREF(first);
    Py_XDECREF(second);
    Py_XDECREF(inference);
}
