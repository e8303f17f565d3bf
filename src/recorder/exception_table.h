/* exception_table.h: which handler an instruction has.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_EXCEPTION_TABLE_H
#define FILMSTRIP_RECORDER_EXCEPTION_TABLE_H

#include "recorder/compat.h"

/* Instructions from `start` up to `end`, in code units, go to `handler`, where the
 * stack is cut to `depth`; then the place of the raise (if so) and the exception are
 * pushed. */
typedef struct film_exception_entry {
    uint32_t start, end, handler, depth;
    bool pushes_place;
} film_exception_entry;

/* Borrows the code object. */
typedef struct film_exception_cursor {
    const uint8_t *at, *end;
} film_exception_cursor;

void
film_exception_table_open(film_exception_cursor *cursor, PyCodeObject *code);

/* The next entry, in order of `start`; false behind the last. */
bool
film_exception_table_next(film_exception_cursor *cursor, film_exception_entry *entry);

/* The handler of the instruction at `unit`, in code units; false when it has none. */
bool
film_exception_table_find(PyCodeObject *code, uint32_t unit, uint32_t *handler);

#endif
