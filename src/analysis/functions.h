/* functions.h: the functions of all recordings under one numbering.
 * Code ids count per recording, and one function may have several code objects (a
 * module imported again, a nested function of a reloaded file): here it is one entry,
 * told apart by file, first line and qualified name.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_FUNCTIONS_H
#define FILMSTRIP_FUNCTIONS_H

#include <filmstrip/reader.h>

#include "analysis/recordings.h"
#include "base/intern.h"

#define FILM_NO_FUNCTION UINT32_MAX

/* Texts borrow from the recording's reader. */
typedef struct film_function {
    film_text function; /* module.qualname, or the C function */
    film_text module, name, file;
    uint32_t first_line;
    bool is_c;
} film_function;

typedef struct film_functions {
    const film_recordings *set; /* borrowed */
    film_function *items;       /* owned */
    size_t count, capacity;
    film_intern by_name;
    struct film_function_ids *ids; /* owned: per recording, code id to number + 1 */
} film_functions;

FILM_NODISCARD film_status
film_functions_init(film_functions *functions, const film_recordings *set,
                    film_error *error);

void
film_functions_reset(film_functions *functions);

/* The number of a step's function (see activity.h); FILM_NO_FUNCTION when memory is
 * out. */
uint32_t
film_functions_number(film_functions *functions, size_t recording,
                      uint32_t step_function);

#endif
