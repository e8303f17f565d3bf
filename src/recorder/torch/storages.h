/* storages.h: which memory a tensor has: tensors with the same number share it.
 *
 * A c10::StorageImpl's address is used again as soon as it is free, and nobody says when
 * that was. So an address keeps its number only while a tensor that was told to have it
 * lives and has it still; else it is a new one.
 * Threads: the holder of the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_TORCH_STORAGES_H
#define FILMSTRIP_RECORDER_TORCH_STORAGES_H

#include "recorder/compat.h"

#include "recorder/objects.h"

/* The number of `storage` (NULL: 0), which `tensor`, known as `object`, has now. */
uint64_t
film_storage_of(const void *storage, PyObject *tensor, const film_object *object);

void
film_storages_reset(void);

#endif
