/* track.h: the process and thread numbers under which a timeline shows a thread.
 * Timelines tell tracks apart by number; recordings of two containers may share a
 * process id, and the system hands a thread id out again once its thread is gone.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_TRACK_H
#define FILMSTRIP_TRACK_H

#include "analysis/functions.h"
#include "export/output.h"

/* The recording's process id, or a number of its own where an earlier one has it. */
uint64_t
film_track_process(const film_recordings *set, size_t recording);

/* The system's thread id, or our own number where an earlier thread has it. */
uint64_t
film_track_thread(const film_reader *reader, size_t thread_index);

#define FILM_TRACK_BYTES 512

/* What to call the process: the program, else the file's name; a rank's in front of it.
 * Borrows from the recording or from `room`. */
film_text
film_track_process_name(const film_recording *recording, char room[FILM_TRACK_BYTES]);

/* The thread's name, "thread N" where it has none; `room` holds the latter. */
film_text
film_track_thread_name(const film_thread_info *thread, char room[32]);

/* "module.qualname (file.py:12)", the slice's name. Control characters are escaped. */
void
film_track_put_slice_name(film_output *output, const film_function *function);

#endif
