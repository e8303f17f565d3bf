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
 *
 * Behind the runs, at level values, sections: id, length, body; unknown ones are
 * skipped. 1 LOCALS   for each frame told here, in order: the number of its variables
 * that have a value, each: slot - last slot, token; the number of names (of a class
 *              body), each: name, token
 *   2 RESUMED  number of frames that were suspended when the chunk began and are
 * resumed in it, each: serial, then as in LOCALS what they held
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

enum film_keyframe_section {
    FILM_KEYFRAME_LOCALS = 1,
    FILM_KEYFRAME_RESUMED = 2,
    FILM_KEYFRAME_CELLS = 3, /* of the open frames, told here or not */
    FILM_KEYFRAME_RESUMED_CELLS = 4
};

/* Appends RESUMED, once the chunk's rows have passed; film_keyframe_encode appends
 * LOCALS itself. */
void
film_keyframe_put_resumed(const film_locals *locals, film_buffer *out);

/* The body of a section, borrowed from the bytes; FILM_END: it has none. */
FILM_NODISCARD film_status
film_keyframe_section(const uint8_t *bytes, size_t length, uint32_t section,
                      film_input *out);

/* How long it is without its sections; 0: it makes no sense. */
size_t
film_keyframe_base(const uint8_t *bytes, size_t length);

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
