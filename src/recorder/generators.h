/* generators.h: the serial of every suspended frame.
 * Generators, coroutines and async generators keep their frame, and so its serial, over
 * yield and resume, also in another thread. Keyed by the frame's address: an entry is
 * replaced when a new frame starts there and removed when the frame ends. Frames whose
 * end is never reported (gh-140373) leave one entry per address behind, no more.
 * Threads: the holder of the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_GENERATORS_H
#define FILMSTRIP_RECORDER_GENERATORS_H

#include "recorder/frame_key.h"

/* Returns the serial of a frame that was there and has ended unseen, if no thread but
 * this one ran it; else 0. Out of memory: the frame is forgotten, and adopted when it
 * goes on. */
uint64_t
film_generators_put(film_frame_key frame, uint64_t serial, uint32_t code_id,
                    const void *thread);

/* False when no frame of this code is known there. `thread`: that goes on with it; NULL:
 * none does. */
bool
film_generators_get(film_frame_key frame, uint32_t code_id, const void *thread,
                    uint64_t *serial);

void
film_generators_remove(film_frame_key frame);

void
film_generators_reset(void);

#endif
