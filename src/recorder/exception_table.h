/* exception_table.h: which handler an instruction has.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_EXCEPTION_TABLE_H
#define FILMSTRIP_RECORDER_EXCEPTION_TABLE_H

#include "recorder/compat.h"

/* The handler of the instruction at `unit`, in code units; false when it has none. */
bool
film_exception_table_find(PyCodeObject *code, uint32_t unit, uint32_t *handler);

#endif
