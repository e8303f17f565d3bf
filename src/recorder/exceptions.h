/* exceptions.h: an exception's type and message as ids of the file.
 * The type by its name, the message only where it is a plain str in args[0]: nothing of
 * the program runs.
 * Threads: the holder of the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_EXCEPTIONS_H
#define FILMSTRIP_RECORDER_EXCEPTIONS_H

#include "recorder/compat.h"

/* exception (borrowed) may be NULL, an instance, or a type where 3.11 has not made the
 * instance yet; value (borrowed) is what belongs to such a type, or NULL. */
void
film_exception_describe(PyObject *exception, PyObject *value, uint32_t *type,
                        uint64_t *message);

/* Forgets the last message kept. */
void
film_exception_reset(void);

#endif
