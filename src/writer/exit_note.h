/* exit_note.h: the exit status of the process, written into a closed recording.
 * The recording is closed while Python still runs; what the process exits with is known
 * only later. So the descriptor outlives the writer and on_exit(3) writes one field.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_EXIT_NOTE_H
#define FILMSTRIP_EXIT_NOTE_H

#include "writer/sink.h"

/* Takes the sink's descriptor (leaves it closed). The handler cannot be taken off
 * again; without a descriptor it does nothing. A forked child writes nothing. */
void
film_exit_note_take(film_sink *sink);

#endif
