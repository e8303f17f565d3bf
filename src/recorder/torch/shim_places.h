/* shim_places.h: what is known of how tensors lie in memory, shared by those that read them
 * (shim.c) and find it out (shim_proof.c).
 * Threads: the holder of the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_TORCH_SHIM_PLACES_H
#define FILMSTRIP_RECORDER_TORCH_SHIM_PLACES_H

#include <string.h>

#include "recorder/torch/shim.h"

/* Of the C interface: 0 when it succeeds. */
typedef int32_t (*film_shim_number)(const void *tensor, int64_t *number);
typedef int32_t (*film_shim_numbers)(const void *tensor, int64_t **numbers);
typedef int32_t (*film_shim_code)(const void *tensor, int32_t *code);
typedef int32_t (*film_shim_pointer)(const void *tensor, const void **pointer);
typedef int32_t (*film_shim_constant)(void);
typedef bool (*film_shim_flag)(void);
typedef bool (*film_shim_impl_flag)(const void *impl);

/* libtorch's numbers are small; those that are not are not known. */
#define FILM_SHIM_CODES 64

/* Of the autograd metadata in a TensorImpl: NULL where there is none. */
#define FILM_SHIM_AUTOGRAD_PLACE 24
/* Sizes and strides of so many lie in the TensorImpl. */
#define FILM_SHIM_INLINE_DIMENSIONS 5
/* Of a c10::VariableVersion's counter: behind its table and reference count. */
#define FILM_SHIM_COUNTER_VALUE 16

typedef struct film_shim_places {
    bool looked, found;
    void *cpu, *core; /* handles */
    film_shim_number dimensions, offset;
    film_shim_numbers sizes, strides;
    film_shim_code dtype, device_type, device_index;
    film_shim_pointer data;
    film_shim_flag grad_mode, inference_mode;
    film_shim_impl_flag requires_grad;
    int8_t dtypes[FILM_SHIM_CODES],
        devices[FILM_SHIM_CODES]; /* index of the name + 1 */
    int32_t cpu_device;
    const void *plain;          /* what a c10::TensorImpl begins with */
    int storage_at, counter_at; /* offsets in a TensorImpl; 0: not known */
    /* The rest of what is asked for, read in place where that was proven to be the same
     * (0: it was not): number of dimensions, then sizes and strides, or where they are;
     * the offset; dtype, device type and index. */
    int dimensions_at, offset_at, dtype_at;
} film_shim_places;

extern film_shim_places film_the_shim;

/* An at::Tensor is a pointer to its implementation and stands behind the head of the
 * Python object; in older versions behind a flag. */
static inline const void *const *
film_shim_tensor(PyObject *object)
{
    const void *const *words = (const void *const *)(const void *)(object + 1);

    return (uintptr_t)words[0] <= 1 ? &words[1] : &words[0];
}

static inline const void *
film_shim_pointer_at(const void *base, int offset)
{
    return *(const void *const *)(const void *)((const char *)base + offset);
}

static inline int64_t
film_shim_impl_version(const void *impl)
{
    const char *counter = film_the_shim.counter_at == 0
                              ? NULL
                              : film_shim_pointer_at(impl, film_the_shim.counter_at);

    return counter == NULL
               ? -1
               : (int64_t)*(const uint32_t *)(const void *)(counter +
                                                            FILM_SHIM_COUNTER_VALUE);
}

static inline int64_t
film_shim_number_at(const void *base, int offset)
{
    return *(const int64_t *)(const void *)((const char *)base + offset);
}

/* By the functions of the C interface. */
bool
film_shim_ask(const void *const *tensor, film_tensor_view *view);

/* The same, read in place. */
static inline bool
film_shim_look(const void *impl, film_tensor_view *view)
{
    const char *bytes = (const char *)impl + film_the_shim.dimensions_at;
    const int8_t *device = (const int8_t *)impl + film_the_shim.dtype_at + 2;
    uint16_t dtype;

    view->dimensions = film_shim_number_at(bytes, 0);
    if (FILM_UNLIKELY((uint64_t)view->dimensions > FILM_TENSOR_MOST_DIMENSIONS)) {
        return false;
    }
    bytes += sizeof(int64_t);
    if (FILM_LIKELY(view->dimensions <= FILM_SHIM_INLINE_DIMENSIONS)) {
        view->sizes = (const int64_t *)(const void *)bytes;
        view->strides = view->sizes + FILM_SHIM_INLINE_DIMENSIONS;
    }
    else {
        view->sizes = film_shim_pointer_at(bytes, 0);
        view->strides = view->sizes + view->dimensions;
    }
    memcpy(&dtype, (const char *)impl + film_the_shim.dtype_at, sizeof(dtype));
    view->dtype = dtype;
    view->device_type = device[0];  /* NOLINT: numbers as they are, -1 for none */
    view->device_index = device[1]; /* NOLINT */
    view->offset = film_shim_number_at(impl, film_the_shim.offset_at);
    return true;
}

/* Looks for the libraries that the program has loaded, once they are there. */
void
film_shim_find(void);

#endif
