/* cells.h: tells which cells a function is called with and which it makes, so that
 * readers know which variables of its frame and of others are one (format/cells.h).
 *
 * A cell is known by the serial that its address has (objects.h): cells die in sight.
 * Where a frame that is open has it, that frame is told once; later calls tell the
 * serial, and what the cell holds where no open frame is known to have it.
 * Nothing here runs code of the program or keeps a reference. Threads: the context's
 * own, with the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_CELLS_H
#define FILMSTRIP_RECORDER_CELLS_H

#include "recorder/compat.h"

#include "recorder/thread_context.h"

/* The frame on top begins, whose plan has variables of outer functions or such that
 * inner ones may have: in rows before its call and its arguments. False when a row was
 * not written. */
bool
film_cells_tell(film_context *context, const film_frame *frame);

/* The frame on top, whose plan has variables that inner functions may have, goes on:
 * those that were told of while it was suspended, in rows before its resume. */
bool
film_cells_tell_again(film_context *context, const film_frame *frame);

/* The frame on top has got this cell back in a slot that held another one meanwhile.
 * Its number; 0: this thread has never told of it. */
uint64_t
film_cells_restored(const film_context *context, PyObject *cell, uint32_t slot);

/* Whether a slot of the code's frames may be a cell. */
static inline bool
film_slot_is_cell(const PyCodeObject *code, uint32_t slot)
{
    const char *kinds = PyBytes_AS_STRING(code->co_localspluskinds);

    return (kinds[slot] & (CO_FAST_CELL | CO_FAST_FREE)) != 0;
}

#endif
