/* shim.h: what a torch.Tensor is, read in place.
 *
 * Nothing of torch is linked or included. The functions are those of libtorch's stable C
 * interface and of libc10, found where the program has loaded them; what they do not
 * tell is read at places that were found on tensors of our own (film_shim_prove). Only
 * tensors are read for which none of them can fail, because a C++ exception costs a
 * millisecond: of class torch.Tensor or Parameter itself (others may answer by Python
 * code) and implemented by c10::TensorImpl itself (sparse, vmap's and the like are not).
 * Threads: the holder of the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_TORCH_SHIM_H
#define FILMSTRIP_RECORDER_TORCH_SHIM_H

#include "recorder/compat.h"

#include "recorder/torch/summary.h"

#define FILM_TENSOR_MOST_DIMENSIONS 64

/* All borrowed from the tensor. */
typedef struct film_tensor_view {
    const void *impl;
    const void *storage; /* the c10::StorageImpl; NULL: not known, or none */
    const int64_t *sizes, *strides;
    int64_t dimensions;
    int64_t offset;  /* into the storage, in elements */
    int64_t version; /* -1: it has none, or not known */
    int32_t dtype;   /* libtorch's number: film_shim_dtype_name */
    int32_t device_type, device_index;
    bool requires_grad;
} film_tensor_view;

/* torch.Tensor (0) or Parameter (1); NULL: not imported, or another class of that name.
 * Borrowed. */
const PyTypeObject *
film_shim_type(unsigned which);

/* True when the type is torch.Tensor or Parameter, whose objects may be read. */
bool
film_shim_is_tensor(const PyTypeObject *type);

/* True for every class of tensors, those of the program too. */
bool
film_shim_is_any_tensor(const PyTypeObject *type);

/* False when the tensor is none that can be read. */
bool
film_shim_read(PyObject *tensor, film_tensor_view *view);

/* Its numbers, without breaking a copy-on-write storage; NULL: not readable. */
const void *
film_shim_data(PyObject *object);

/* Its version counter alone; -1 as above. `object` has been read before. */
int64_t
film_shim_version(PyObject *object);

/* Of a tensor whose class is the program's, which may answer by Python code: what can be had
 * without asking it, its version and device. False: it is none, or nothing can be had. */
bool
film_shim_peek(PyObject *object, int64_t *version, bool *on_device);

/* "float32" and "f32"; "" for one that is not known. */
const char *
film_shim_dtype_name(int32_t code);

const char *
film_shim_dtype_short(int32_t code);

/* How its numbers are read (summary.h). */
film_dtype
film_shim_dtype_kind(int32_t code);

/* "cpu", "cuda"; "" for one that is not known. */
const char *
film_shim_device_name(int32_t code);

bool
film_shim_is_cpu(int32_t device_type);

/* Whether autograd records in this thread, and whether inference mode is on. */
bool
film_shim_grad_mode(void);

bool
film_shim_inference_mode(void);

/* Finds the places that no function tells, on tensors that it makes by calling torch:
 * once torch has been imported, where Python may be called. Without it requires_grad,
 * storage and version are not known. Clears any exception of its own. */
void
film_shim_prove(PyObject *torch_module);

/* A function of libtorch_cpu or libc10 by its linker's name; NULL: not there. */
void *
film_shim_symbol(const char *name);

#endif
