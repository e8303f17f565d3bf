/* shim.c: see shim.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/torch/shim_places.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "recorder/attributes.h"

typedef struct shim_name {
    const char *name, *brief;
    film_dtype kind;
} shim_name;

static const shim_name dtype_names[] = {
    {"float32", "f32", FILM_DTYPE_FLOAT32},
    {"float64", "f64", FILM_DTYPE_FLOAT64},
    {"float16", "f16", FILM_DTYPE_FLOAT16},
    {"bfloat16", "bf16", FILM_DTYPE_BFLOAT16},
    {"int64", "i64", FILM_DTYPE_INT64},
    {"int32", "i32", FILM_DTYPE_INT32},
    {"int16", "i16", FILM_DTYPE_INT16},
    {"int8", "i8", FILM_DTYPE_INT8},
    {"uint8", "u8", FILM_DTYPE_UINT8},
    {"bool", "b8", FILM_DTYPE_BOOL},
    {"complex64", "c64", FILM_DTYPE_COMPLEX64},
    {"complex128", "c128", FILM_DTYPE_COMPLEX128},
    {"float8_e4m3fn", "f8e4m3fn", FILM_DTYPE_FLOAT8_E4M3FN},
    {"float8_e5m2", "f8e5m2", FILM_DTYPE_FLOAT8_E5M2},
    {"uint16", "u16", FILM_DTYPE_UINT16},
    {"uint32", "u32", FILM_DTYPE_UINT32},
    {"uint64", "u64", FILM_DTYPE_UINT64},
    {"complex32", "c32", FILM_DTYPE_UNKNOWN},
};
static const char *const device_names[] = {"cpu", "cuda", "meta", "xpu", "mps", "mtia"};

film_shim_places film_the_shim;

void *
film_shim_symbol(const char *name)
{
    void *found = film_the_shim.cpu == NULL ? NULL : dlsym(film_the_shim.cpu, name);

    return found == NULL && film_the_shim.core != NULL ? dlsym(film_the_shim.core, name)
                                                       : found;
}

/* Functions come as objects: dlsym's own way. */
#define FIND(field, name) (*(void **)&film_the_shim.field = film_shim_symbol(name))

static int32_t
number_of(const char *family, const char *name)
{
    film_shim_constant code_of;
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
        int32_t code = number_of("dtype", dtype_names[index].name);

        if (code >= 0 && code < FILM_SHIM_CODES) {
            film_the_shim.dtypes[code] = (int8_t)(index + 1);
        }
    }
    for (size_t index = 0; index < sizeof(device_names) / sizeof(device_names[0]);
         index++) {
        int32_t code = number_of("device_type", device_names[index]);

        if (code >= 0 && code < FILM_SHIM_CODES) {
            film_the_shim.devices[code] = (int8_t)(index + 1);
        }
    }
    film_the_shim.cpu_device = number_of("device_type", "cpu");
}

void
film_shim_find(void)
{
    const void *table;

    film_the_shim.cpu = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
    film_the_shim.core = dlopen("libc10.so", RTLD_LAZY | RTLD_NOLOAD);
    table = film_the_shim.core == NULL
                ? NULL
                : dlsym(film_the_shim.core, "_ZTVN3c1010TensorImplE");
    if (film_the_shim.cpu == NULL || table == NULL) {
        return; /* it may still be loading */
    }
    film_the_shim.looked = true;
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
    film_the_shim.plain = (const char *)table + 2 * sizeof(void *);
    film_the_shim.found =
        film_the_shim.dimensions != NULL && film_the_shim.sizes != NULL &&
        film_the_shim.strides != NULL && film_the_shim.offset != NULL &&
        film_the_shim.dtype != NULL && film_the_shim.device_type != NULL &&
        film_the_shim.device_index != NULL;
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

const PyTypeObject *
film_shim_type(unsigned which)
{
    static const struct {
        const char *module, *name;
    } exact[] = {{"torch", "Tensor"}, {"torch.nn.parameter", "Parameter"}};
    PyObject *module = film_dict_find(PyImport_GetModuleDict(), exact[which].module);
    PyObject *type = module == NULL || !PyModule_Check(module)
                         ? NULL
                         : film_dict_find(PyModule_GetDict(module), exact[which].name);

    return type != NULL && PyType_Check(type) &&
                   comes_from_tensor_base((PyTypeObject *)type)
               ? (PyTypeObject *)type
               : NULL;
}

bool
film_shim_is_any_tensor(const PyTypeObject *type)
{
    return comes_from_tensor_base(type);
}

bool
film_shim_is_tensor(const PyTypeObject *type)
{
    return comes_from_tensor_base(type) &&
           (film_shim_type(0) == type || film_shim_type(1) == type);
}

bool
film_shim_ask(const void *const *tensor, film_tensor_view *view)
{
    int64_t *sizes, *strides;

    if (film_the_shim.dimensions(tensor, &view->dimensions) != 0 ||
        view->dimensions < 0 || view->dimensions > FILM_TENSOR_MOST_DIMENSIONS ||
        film_the_shim.sizes(tensor, &sizes) != 0 ||
        film_the_shim.strides(tensor, &strides) != 0 ||
        film_the_shim.dtype(tensor, &view->dtype) != 0 ||
        film_the_shim.device_type(tensor, &view->device_type) != 0 ||
        film_the_shim.device_index(tensor, &view->device_index) != 0 ||
        film_the_shim.offset(tensor, &view->offset) != 0) {
        return false;
    }
    view->sizes = sizes;
    view->strides = strides;
    return true;
}

FILM_HOT bool
film_shim_read(PyObject *object, film_tensor_view *view)
{
    const void *const *tensor = film_shim_tensor(object);

    if (FILM_UNLIKELY(!film_the_shim.looked)) {
        film_shim_find();
    }
    if (FILM_UNLIKELY(!film_the_shim.found || *tensor == NULL ||
                      *(const void *const *)*tensor != film_the_shim.plain)) {
        return false;
    }
    view->impl = *tensor;
    if (FILM_LIKELY(film_the_shim.dimensions_at != 0) ? !film_shim_look(*tensor, view)
                                                      : !film_shim_ask(tensor, view)) {
        return false;
    }
    view->storage = film_the_shim.storage_at == 0
                        ? NULL
                        : film_shim_pointer_at(view->impl, film_the_shim.storage_at);
    view->version = film_shim_impl_version(view->impl);
    view->requires_grad =
        film_shim_pointer_at(view->impl, FILM_SHIM_AUTOGRAD_PLACE) != NULL &&
        film_the_shim.requires_grad != NULL && film_the_shim.requires_grad(view->impl);
    return true;
}

const void *
film_shim_data(PyObject *object)
{
    const void *data = NULL;

    return film_the_shim.data != NULL &&
                   film_the_shim.data(film_shim_tensor(object), &data) == 0
               ? data
               : NULL;
}

int64_t
film_shim_version(PyObject *object)
{
    return film_shim_impl_version(*film_shim_tensor(object));
}

bool
film_shim_peek(PyObject *object, int64_t *version, bool *on_device)
{
    const void *const *tensor;
    film_tensor_view view;

    /* A class of tensors is made by torch's own metaclass, or one made from that. */
    if (Py_TYPE(Py_TYPE(object)) == &PyType_Type ||
        !comes_from_tensor_base(Py_TYPE(object)) || film_the_shim.dimensions_at == 0) {
        return false;
    }
    tensor = film_shim_tensor(object);
    if (*tensor == NULL || *(const void *const *)*tensor != film_the_shim.plain ||
        !film_shim_look(*tensor, &view)) {
        return false;
    }
    *version = film_shim_impl_version(*tensor);
    *on_device = !film_shim_is_cpu(view.device_type);
    return true;
}

static const shim_name *
dtype_of(int32_t code)
{
    int index = code < 0 || code >= FILM_SHIM_CODES ? 0 : film_the_shim.dtypes[code];

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

film_dtype
film_shim_dtype_kind(int32_t code)
{
    const shim_name *name = dtype_of(code);

    return name == NULL ? FILM_DTYPE_UNKNOWN : name->kind;
}

const char *
film_shim_device_name(int32_t code)
{
    int index = code < 0 || code >= FILM_SHIM_CODES ? 0 : film_the_shim.devices[code];

    return index == 0 ? "" : device_names[index - 1];
}

bool
film_shim_is_cpu(int32_t device_type)
{
    return device_type == film_the_shim.cpu_device;
}

bool
film_shim_grad_mode(void)
{
    return film_the_shim.grad_mode != NULL && film_the_shim.grad_mode();
}

bool
film_shim_inference_mode(void)
{
    return film_the_shim.inference_mode != NULL && film_the_shim.inference_mode();
}
