/* shim_proof.c: finds out how tensors lie in memory, on tensors of our own (shim.h).
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/torch/shim_places.h"

#include "recorder/torch/apart.h"

#define FIRST_PLACE 8 /* of pointers in a TensorImpl, behind its virtual table */
#define LAST_PLACE 96
#define FIELD_BYTES 24 /* behind sizes and strides: what is looked for in them */
#define COUNTER_PLACE 40

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
        if (film_shim_pointer_at(impl, at) == wanted) {
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
    if (film_shim_pointer_at(impl, COUNTER_PLACE) == NULL) {
        return 0;
    }
    for (int round = 0; round < 3; round++) {
        const char *counter = film_shim_pointer_at(impl, COUNTER_PLACE);
        uint32_t held;

        memcpy(&held, counter + FILM_SHIM_COUNTER_VALUE, sizeof(held));
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
    const void *const *tensor = film_shim_tensor(object);
    film_tensor_view asked, seen;
    size_t bytes;

    if (*tensor == NULL || *(const void *const *)*tensor != film_the_shim.plain ||
        !film_shim_ask(tensor, &asked) || !film_shim_look(*tensor, &seen) ||
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
    int first = film_the_shim.dimensions_at +
                (int)sizeof(int64_t) * (1 + 2 * FILM_SHIM_INLINE_DIMENSIONS);
    int found = 0;

    for (int at = first; at <= first + FIELD_BYTES; at += step) {
        bool same = true;

        for (Py_ssize_t index = 0; same && index < PyList_GET_SIZE(all); index++) {
            PyObject *tensor = PyList_GET_ITEM(all, index);

            same = matches(tensor, (const char *)*film_shim_tensor(tensor) + at);
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
    return film_the_shim.offset(film_shim_tensor(tensor), &offset) == 0 &&
           offset == held;
}

static bool
matches_dtype(PyObject *tensor, const char *at)
{
    int32_t dtype = -1, type = -1, index = -1;
    uint16_t held;

    memcpy(&held, at, sizeof(held));
    return film_the_shim.dtype(film_shim_tensor(tensor), &dtype) == 0 &&
           dtype == (int32_t)held &&
           film_the_shim.device_type(film_shim_tensor(tensor), &type) == 0 &&
           type == (int8_t)at[2] &&
           film_the_shim.device_index(film_shim_tensor(tensor), &index) == 0 &&
           index == (int8_t)at[3];
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
        const void *const *first = film_shim_tensor(PyList_GET_ITEM(all, 0));

        add_views(all);
        alike = film_the_shim.sizes(first, &sizes) == 0;
        film_the_shim.dimensions_at =
            (int)((const char *)sizes - (const char *)*first) - (int)sizeof(int64_t);
        alike = alike && film_the_shim.dimensions_at > FILM_SHIM_AUTOGRAD_PLACE &&
                film_the_shim.dimensions_at <= LAST_PLACE;
    }
    if (alike) {
        film_the_shim.offset_at = find_field(all, (int)sizeof(int64_t), matches_offset);
        film_the_shim.dtype_at = find_field(all, 2, matches_dtype);
        alike = film_the_shim.offset_at != 0 && film_the_shim.dtype_at != 0;
    }
    for (Py_ssize_t index = 0; alike && index < PyList_GET_SIZE(all); index++) {
        alike = is_told_alike(PyList_GET_ITEM(all, index));
    }
    if (!alike) {
        film_the_shim.dimensions_at = 0;
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
            film_the_shim.storage_at = storage;
        }
        /* An inference tensor counts no versions, and has no counter. */
        if (counter != 0 && find_counter(second, two) == counter &&
            film_shim_pointer_at(three, counter) == NULL) {
            film_the_shim.counter_at = counter;
        }
    }
    if (one != NULL) {
        prove_places(torch_module);
    }
    else {
        film_the_shim.found = false; /* read wrongly: not at all */
    }
    PyErr_Clear();
    Py_XDECREF(first);
    Py_XDECREF(second);
    Py_XDECREF(inference);
}

void
film_shim_prove(PyObject *torch_module)
{
    if (!film_the_shim.looked) {
        film_shim_find();
    }
    if (film_the_shim.found && film_the_shim.storage_at == 0) {
        film_run_apart(prove, torch_module);
    }
}
