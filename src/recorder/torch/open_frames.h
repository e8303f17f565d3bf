/* open_frames.h: where a part of a recording begins, and what the frames hold that are
 * open there: a recording that begins within a function knows only what is written from
 * then on.
 * Threads: the holder of the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_TORCH_OPEN_FRAMES_H
#define FILMSTRIP_RECORDER_TORCH_OPEN_FRAMES_H

#include "recorder/compat.h"

/* position(skip, tell): where this thread stands, for the export of a part: (thread,
 * number of its next event, how many recorded frames lie outside of the one that is
 * `skip` frames above the caller's caller); None without a recording. tell: the variables
 * of functions from that frame inwards are told as if they were written now. */
PyObject *
film_open_frames_position(PyObject *module, PyObject *arguments);

#endif
