/* tensors.h: tensors to tokens: which tensor it is, what it is like, which memory it has.
 *
 * A tensor is a value: its record tells its shape and the rest of its metadata (as text
 * that equal ones share), and how often it was changed in place. It gets a new record when
 * any of that differs. Its serial is that of objects.h: the Python object of a tensor
 * lives as long as the tensor, and dies in sight.
 * Threads: the holder of the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_TORCH_TENSORS_H
#define FILMSTRIP_RECORDER_TORCH_TENSORS_H

#include "recorder/compat.h"

#include "recorder/capture.h"
#include "recorder/objects.h"
#include "recorder/torch/shim.h"

/* All that the record of a tensor tells but its serial, as one word; 0: it cannot be
 * read. */
uint64_t
film_tensor_word(PyObject *tensor);

/* What else was seen of it. */
typedef struct film_tensor_seen {
    int64_t version; /* as film_shim_version */
    bool on_device;  /* not on the CPU */
} film_tensor_seen;

/* Its token, with a record that tells what it is like now. NULL: it cannot be read, and is
 * told as other objects are; nothing was written. */
uint8_t *
film_tensor_token(film_context *context, PyObject *tensor, const film_holder *holder,
                  film_tensor_seen *seen, uint8_t *to);

/* A tensor that is known already gets a new record: what its fingerprint is now, and
 * false where it cannot be read. */
bool
film_tensor_write(film_object *object, PyObject *tensor);

/* torch.Tensor and Parameter, while operations are recorded; else NULL. */
extern const PyTypeObject *film_the_tensor_types[2];

static inline bool
film_is_tensor(PyObject *object)
{
    const PyTypeObject *type = Py_TYPE(object);

    return type == film_the_tensor_types[0] || type == film_the_tensor_types[1];
}

/* False while tensors are told that an operation has made without filling them
 * (torch.empty): what they hold is no value of the program's. */
extern bool film_the_values_are_set;

/* Finds the types; values: what tensors hold is summed up too. */
void
film_tensors_begin(bool values);

/* True when the tensor was changed in place since its last record. */
bool
film_tensor_was_changed(PyObject *tensor);

/* A recording begins or ends: nothing is known of storages and metadata. */
void
film_tensors_reset(void);

#endif
