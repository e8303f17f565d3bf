/* operations.h: torch's entry points: the builtin functions and method descriptors that
 * its C++ code hands to Python, each with the name people know it by.
 * Threads: the holder of the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_TORCH_OPERATIONS_H
#define FILMSTRIP_RECORDER_TORCH_OPERATIONS_H

#include "recorder/compat.h"

#define FILM_OPERATION_NAME 96u

typedef struct film_operation {
    PyObject *callable; /* owned while the table lasts */
    char name[FILM_OPERATION_NAME];
    uint8_t flags; /* FILM_OPERATION_SYNC */
    bool silent;   /* no operation, but it makes a tensor of another one's memory: only
                          that is noted */
    bool leaves_unset; /* its result holds whatever was in memory */
    uint32_t id;       /* string id of the name, in the recording `generation` */
    uint64_t generation;
} film_operation;

/* Finds them all, in the modules that are imported: torch's own, its Tensor, nn.functional,
 * linalg, fft, special and the C modules below torch._C. False: none, or no memory. */
bool
film_operations_find(void);

/* Lets go of all. */
void
film_operations_forget(void);

size_t
film_operations_count(void);

film_operation *
film_operation_at(size_t index);

/* The operation of a callable; NULL: it is none of ours. */
film_operation *
film_operation_of(const PyObject *callable);

/* The string id of its name in this recording. */
uint32_t
film_operation_id(film_operation *operation);

#endif
