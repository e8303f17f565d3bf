/* frame_key.h: names a frame that was open when it was noted.
 *
 * Frames may end unseen (a greenlet that is never switched to again, hooks that were
 * lost), so a frame that was noted is only ever compared with one that runs.
 * film_entry_frame (thread_context.h) is the one way from a key back to a frame.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_FRAME_KEY_H
#define FILMSTRIP_RECORDER_FRAME_KEY_H

#include "recorder/compat.h"

typedef struct film_frame_key {
    uintptr_t word; /* the frame's address; odd: names no frame */
} film_frame_key;

static inline film_frame_key
film_frame_key_of(const film_frame *frame)
{
    return (film_frame_key){(uintptr_t)frame};
}

/* Matches no frame: for what is not to be found again. */
static inline film_frame_key
film_frame_key_of_none(void)
{
    return (film_frame_key){1};
}

static inline bool
film_frame_has_key(const film_frame *frame, film_frame_key key)
{
    return (uintptr_t)frame == key.word;
}

#endif
