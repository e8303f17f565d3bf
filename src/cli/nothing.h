/* nothing.h: what to say where functions, variables or a thread were asked for and
 * nothing was printed: which of them the recordings do not have.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_NOTHING_H
#define FILMSTRIP_NOTHING_H

#include "analysis/selection.h"
#include "cli/reading.h"

/* Whether the recordings have a thread of that number (0: any); says so where not. */
bool
film_nothing_of_thread(const film_reading *reading, uint64_t thread);

/* The same for what was selected, once all has been walked. True: nothing was taken
 * though it was asked for by name or thread, and a sentence was printed. */
bool
film_nothing_of_selection(const film_reading *reading, const film_selection *selection,
                          uint64_t thread);

#endif
