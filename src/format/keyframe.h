/* keyframe.h: a thread's state at the head of a chunk.
 *
 * All varints: event, tick, next_frame, last_resumed, task, task name, exception type,
 * exception value, depth, number of runs; then the runs of frames, outermost first:
 *   chunk + 1, index, count     `count` frames that an earlier chunk's keyframe holds
 *                               from `index` on, unchanged since
 *   0, count, frames            frames told here: serial - last serial (zigzag), code,
 *                               offset + 1, site, event - call event, tick - call tick,
 *                               tick - enter tick, child ticks, flags (1: adopted)
 * Deep stacks are told once and then referred to; a keyframe refers to at most
 * FILM_KEYFRAME_RUNS earlier ones, else it tells all.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_KEYFRAME_H
#define FILMSTRIP_KEYFRAME_H

#include <filmstrip/status.h>

#include "base/buffer.h"
#include "format/state.h"

#define FILM_KEYFRAME_RUNS 8u
/* Stacks up to this depth are always told in full: cheaper than a second lookup. */
#define FILM_KEYFRAME_SHALLOW 64u

/* Appends the keyframe of chunk `number` to `out` and notes in the frames where they
 * are now stored. With `alone` it refers to no other chunk (ring mode). */
void
film_keyframe_encode(film_state *state, uint64_t number, bool alone, film_buffer *out);

/* Gives the frames told in chunk `number`'s keyframe (literal ones, in order). */
typedef film_status (*film_keyframe_fetch)(void *context, uint64_t number,
                                           const film_frame **frames, size_t *count);

/* Sets state (begun for its thread) to what the keyframe of chunk `number` says;
 * `fetch` resolves references. With fetch NULL references are an error. */
FILM_NODISCARD film_status
film_keyframe_decode(film_state *state, uint64_t number, const uint8_t *bytes,
                     size_t length, film_keyframe_fetch fetch, void *context);

/* Only the frames told literally, appended to *frames (grown with film_grow). */
FILM_NODISCARD film_status
film_keyframe_literals(const uint8_t *bytes, size_t length, film_frame **frames,
                       size_t *count, size_t *capacity);

#endif
