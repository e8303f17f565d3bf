/* place.h: where an operation is called: the recorded frame, the module whose call it lies
 * within, the function that leads to it.
 * Threads: the context's own, with the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_TORCH_PLACE_H
#define FILMSTRIP_RECORDER_TORCH_PLACE_H

#include "recorder/compat.h"

#include "recorder/thread_context.h"

typedef struct film_operation_place {
    uint32_t offset; /* of the frame on top, or FILM_NO_OFFSET */
    uint32_t module; /* string ids; 0: none */
    uint32_t api;
} film_operation_place;

/* Brings the frame that calls, itself or by way of code that is not recorded, to the top
 * of the stack, and tells what it has done so far. False: rows could not be written. */
bool
film_operation_find_place(film_context *context, film_operation_place *place);

#endif
