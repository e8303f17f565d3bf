/* shim.c: see shim.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/torch/shim.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "recorder/attributes.h"
#include "recorder/torch/apart.h"

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

/* libtorch's numbers are small; those that are not are not known. */
#define CODES 64

#define FIRST_PLACE 8 /* of pointers in a TensorImpl, behind its virtual table */
#define LAST_PLACE 96
#define FIELD_BYTES 24 /* behind sizes and strides: what is looked for in them */
#define COUNTER_PLACE 40
#define AUTOGRAD_PLACE 24   /* of the autograd metadata: NULL where there is none */
#define INLINE_DIMENSIONS 5 /* sizes and strides of so many lie in the TensorImpl */
#define COUNTER_VALUE                                                                  \
    16 /* of a c10::VariableVersion's counter: behind its table and
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
    const void *plain;          /* what a c10::TensorImpl begins with */
    int storage_at, counter_at; /* offsets in a TensorImpl; 0: not known */
    /* The rest of what is asked for, read in place where that was proven to be the same
     * (0: it was not): number of dimensions, then sizes and strides, or where they are;
     * the offset; dtype, device type and index. */
    int dimensions_at, offset_at, dtype_at;
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
number_of(const char *family, const char *name)
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
        int32_t code = number_of("dtype", dtype_names[index].name);

        if (code >= 0 && code < CODES) {
            shim.dtypes[code] = (int8_t)(index + 1);
        }
    }
    for (size_t index = 0; index < sizeof(device_names) / sizeof(device_names[0]);
         index++) {
        int32_t code = number_of("device_type", device_names[index]);

        if (code >= 0 && code < CODES) {
            shim.devices[code] = (int8_t)(index + 1);
        }
    }
    shim.cpu_device = number_of("device_type", "cpu");
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
    shim.found = shim.dimensions != NULL && shim.sizes != NULL &&
                 shim.strides != NULL && shim.offset != NULL && shim.dtype != NULL &&
                 shim.device_type != NULL && shim.device_index != NULL;
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

static inline int64_t
number_at(const void *base, int offset)
{
    return *(const int64_t *)(const void *)((const char *)base + offset);
}

/* By the functions of the C interface. */
static bool
ask(const void *const *tensor, film_tensor_view *view)
{
    int64_t *sizes, *strides;

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
    return true;
}

/* The same, read in place. */
static inline bool
look(const void *impl, film_tensor_view *view)
{
    const char *bytes = (const char *)impl + shim.dimensions_at;
    const int8_t *device = (const int8_t *)impl + shim.dtype_at + 2;
    uint16_t dtype;

    view->dimensions = number_at(bytes, 0);
    if (FILM_UNLIKELY((uint64_t)view->dimensions > FILM_TENSOR_MOST_DIMENSIONS)) {
        return false;
    }
    bytes += sizeof(int64_t);
    if (FILM_LIKELY(view->dimensions <= INLINE_DIMENSIONS)) {
        view->sizes = (const int64_t *)(const void *)bytes;
        view->strides = view->sizes + INLINE_DIMENSIONS;
    }
    else {
        view->sizes = pointer_at(bytes, 0);
        view->strides = view->sizes + view->dimensions;
    }
    memcpy(&dtype, (const char *)impl + shim.dtype_at, sizeof(dtype));
    view->dtype = dtype;
    view->device_type = device[0];  /* NOLINT: numbers as they are, -1 for none */
    view->device_index = device[1]; /* NOLINT */
    view->offset = number_at(impl, shim.offset_at);
    return true;
}

FILM_HOT bool
film_shim_read(PyObject *object, film_tensor_view *view)
{
    const void *const *tensor = tensor_of(object);

    if (FILM_UNLIKELY(!shim.looked)) {
        find_shim();
    }
    if (FILM_UNLIKELY(!shim.found || *tensor == NULL ||
                      *(const void *const *)*tensor != shim.plain)) {
        return false;
    }
    view->impl = *tensor;
    if (FILM_LIKELY(shim.dimensions_at != 0) ? !look(*tensor, view)
                                             : !ask(tensor, view)) {
        return false;
    }
    view->storage =
        shim.storage_at == 0 ? NULL : pointer_at(view->impl, shim.storage_at);
    view->version = version_of(view->impl);
    view->requires_grad = pointer_at(view->impl, AUTOGRAD_PLACE) != NULL &&
                          shim.requires_grad != NULL && shim.requires_grad(view->impl);
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

bool
film_shim_peek(PyObject *object, int64_t *version, bool *on_device)
{
    const void *const *tensor;
    film_tensor_view view;

    /* A class of tensors is made by torch's own metaclass, or one made from that. */
    if (Py_TYPE(Py_TYPE(object)) == &PyType_Type ||
        !comes_from_tensor_base(Py_TYPE(object)) || shim.dimensions_at == 0) {
        return false;
    }
    tensor = tensor_of(object);
    if (*tensor == NULL || *(const void *const *)*tensor != shim.plain ||
        !look(*tensor, &view)) {
        return false;
    }
    *version = version_of(*tensor);
    *on_device = !film_shim_is_cpu(view.device_type);
    return true;
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

film_dtype
film_shim_dtype_kind(int32_t code)
{
    const shim_name *name = dtype_of(code);

    return name == NULL ? FILM_DTYPE_UNKNOWN : name->kind;
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
    PyObject *number = object == NULL ? NULL : PyObject_GetAttrString(object, name);
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
        /* What torch.inference_mode is made of: no Python code (apart.h). */
        PyObject *core = PyObject_GetAttrString(torch_module, "_C");

        mode = core == NULL ? NULL
                            : PyObject_CallMethod(core, "_InferenceMode", "O", Py_True);
        Py_XDECREF(core);
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

/* A tensor of that shape, dtype and device; NULL with an exception. */
static PyObject *
make_one(PyObject *torch_module, const long *shape, Py_ssize_t dimensions,
         const char *dtype_name, const char *device)
{
    PyObject *sizes = PyTuple_New(dimensions), *made = NULL;
    PyObject *dtype = PyObject_GetAttrString(torch_module, dtype_name);
    PyObject *empty = PyObject_GetAttrString(torch_module, "empty");
    PyObject *arguments = NULL, *keywords = NULL;

    for (Py_ssize_t index = 0; sizes != NULL && index < dimensions; index++) {
        PyTuple_SET_ITEM(sizes, index, PyLong_FromLong(shape[index]));
    }
    if (sizes != NULL && dtype != NULL && empty != NULL) {
        arguments = PyTuple_Pack(1, sizes);
        keywords = Py_BuildValue("{sOss}", "dtype", dtype, "device", device);
    }
    if (arguments != NULL && keywords != NULL) {
        made = PyObject_Call(empty, arguments, keywords);
    }
    Py_XDECREF(sizes);
    Py_XDECREF(dtype);
    Py_XDECREF(empty);
    Py_XDECREF(arguments);
    Py_XDECREF(keywords);
    return made;
}

/* Tensors of all kinds that the places are proven on. */
static PyObject *
make_various(PyObject *torch_module)
{
    static const struct {
        long shape[7];
        Py_ssize_t dimensions;
        const char *dtype, *device;
    } kinds[] = {
        {{2, 3}, 2, "float32", "cpu"},
        {{4, 5, 6}, 3, "int64", "cpu"},
        {{0}, 0, "float64", "cpu"},
        {{2, 3, 4, 5, 6, 7, 1}, 7, "bool", "cpu"},
        {{7, 2, 1, 3, 2}, 5, "bfloat16", "cpu"},
        {{3, 4}, 2, "uint8", "meta"},
        {{1, 2, 3, 4, 5, 6}, 6, "complex64", "meta"},
    };
    PyObject *all = PyList_New(0);

    for (size_t index = 0; all != NULL && index < sizeof(kinds) / sizeof(kinds[0]);
         index++) {
        PyObject *made =
            make_one(torch_module, kinds[index].shape, kinds[index].dimensions,
                     kinds[index].dtype, kinds[index].device);

        if (made != NULL) {
            (void)PyList_Append(all, made);
        }
        Py_XDECREF(made);
    }
    return all;
}

/* Adds views of the tensors: other strides, another offset. */
static void
add_views(PyObject *all)
{
    Py_ssize_t count = PyList_GET_SIZE(all);

    for (Py_ssize_t index = 0; index < count; index++) {
        PyObject *tensor = PyList_GET_ITEM(all, index);
        PyObject *turned = PyObject_CallMethod(tensor, "transpose", "ii", 0, -1);
        PyObject *part = turned == NULL
                             ? NULL
                             : PyObject_CallMethod(turned, "narrow", "iii", 0, 1, 1);

        if (turned != NULL) {
            (void)PyList_Append(all, turned);
        }
        if (part != NULL) {
            (void)PyList_Append(all, part);
        }
        PyErr_Clear(); /* of a scalar there is none */
        Py_XDECREF(turned);
        Py_XDECREF(part);
    }
}

/* True when reading in place tells what the functions tell. */
static bool
is_told_alike(PyObject *object)
{
    const void *const *tensor = tensor_of(object);
    film_tensor_view asked, seen;
    size_t bytes;

    if (*tensor == NULL || *(const void *const *)*tensor != shim.plain ||
        !ask(tensor, &asked) || !look(*tensor, &seen) ||
        asked.dimensions != seen.dimensions) {
        return false;
    }
    bytes = (size_t)asked.dimensions * sizeof(int64_t);
    return memcmp(asked.sizes, seen.sizes, bytes) == 0 &&
           memcmp(asked.strides, seen.strides, bytes) == 0 &&
           asked.offset == seen.offset && asked.dtype == seen.dtype &&
           asked.device_type == seen.device_type &&
           asked.device_index == seen.device_index;
}

/* Where a field of that many bytes is that has these values in turn; 0: nowhere, or at
 * more than one place. */
static int
find_field(PyObject *all, int step, bool (*matches)(PyObject *tensor, const char *at))
{
    int first = shim.dimensions_at + (int)sizeof(int64_t) * (1 + 2 * INLINE_DIMENSIONS);
    int found = 0;

    for (int at = first; at <= first + FIELD_BYTES; at += step) {
        bool same = true;

        for (Py_ssize_t index = 0; same && index < PyList_GET_SIZE(all); index++) {
            PyObject *tensor = PyList_GET_ITEM(all, index);

            same = matches(tensor, (const char *)*tensor_of(tensor) + at);
        }
        if (same && found != 0) {
            return 0;
        }
        found = same ? at : found;
    }
    return found;
}

static bool
matches_offset(PyObject *tensor, const char *at)
{
    int64_t offset = 0, held;

    memcpy(&held, at, sizeof(held));
    return shim.offset(tensor_of(tensor), &offset) == 0 && offset == held;
}

static bool
matches_dtype(PyObject *tensor, const char *at)
{
    int32_t dtype = -1, type = -1, index = -1;
    uint16_t held;

    memcpy(&held, at, sizeof(held));
    return shim.dtype(tensor_of(tensor), &dtype) == 0 && dtype == (int32_t)held &&
           shim.device_type(tensor_of(tensor), &type) == 0 && type == (int8_t)at[2] &&
           shim.device_index(tensor_of(tensor), &index) == 0 && index == (int8_t)at[3];
}

/* Finds out where the rest of a tensor's metadata lies, which is quicker to read in place:
 * used only where it tells the same of all the probes. */
static void
prove_places(PyObject *torch_module)
{
    PyObject *all = make_various(torch_module);
    int64_t *sizes = NULL;
    bool alike = all != NULL && PyList_GET_SIZE(all) >= 7;

    if (alike) {
        const void *const *first = tensor_of(PyList_GET_ITEM(all, 0));

        add_views(all);
        alike = shim.sizes(first, &sizes) == 0;
        shim.dimensions_at =
            (int)((const char *)sizes - (const char *)*first) - (int)sizeof(int64_t);
        alike = alike && shim.dimensions_at > AUTOGRAD_PLACE &&
                shim.dimensions_at <= LAST_PLACE;
    }
    if (alike) {
        shim.offset_at = find_field(all, (int)sizeof(int64_t), matches_offset);
        shim.dtype_at = find_field(all, 2, matches_dtype);
        alike = shim.offset_at != 0 && shim.dtype_at != 0;
    }
    for (Py_ssize_t index = 0; alike && index < PyList_GET_SIZE(all); index++) {
        alike = is_told_alike(PyList_GET_ITEM(all, index));
    }
    if (!alike) {
        shim.dimensions_at = 0;
    }
    PyErr_Clear();
    Py_XDECREF(all);
}

static void
prove(PyObject *torch_module)
{
    PyObject *first, *second, *inference;
    const void *one, *two, *three;

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
    if (one != NULL) {
        prove_places(torch_module);
    }
    else {
        shim.found = false; /* read wrongly: not at all */
    }
    PyErr_Clear();
    Py_XDECREF(first);
    Py_XDECREF(second);
    Py_XDECREF(inference);
}

void
film_shim_prove(PyObject *torch_module)
{
    if (!shim.looked) {
        find_shim();
    }
    if (shim.found && shim.storage_at == 0) {
        film_run_apart(prove, torch_module);
    }
}
