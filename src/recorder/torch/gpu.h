/* gpu.h: what ran on the GPU, as tracks of the recording.
 *
 * Each stream of a device is a track (writer.h), a thread by the name of
 * "cuda:0 stream 7"; what ran on it is an op whose function is the kernel's name ("Memcpy
 * HtoD", "Memset"), from when it began to when it ended by the GPU's own clock; its op_end
 * has the flag FILM_OPERATION_DEVICE. Its values tell what led to it, by name: `thread` and
 * `event`, the op that started it; `bytes` of copies and sets; `graph` and `node` of what a
 * CUDA graph launched. What runs at the same time on one stream (nodes of a graph) is on
 * tracks of its own, "cuda:0 stream 7 (2)".
 *
 * Threads: film_gpu_enter and film_gpu_leave by any that has a film_thread; the rest by
 * whoever may call the writer (the holder of the GIL).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_TORCH_GPU_H
#define FILMSTRIP_RECORDER_TORCH_GPU_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/torch/cupti.h"
#include "writer/append.h"
#include "writer/writer.h"

/* Records that film_gpu_write is worth while for: some steps of a model. */
#define FILM_GPU_BATCH 4096u

/* Begins to trace into this recording. False: `sentence` (FILM_CUPTI_SENTENCE bytes) says
 * why not, and the ops are recorded alone. As film_cupti_begin, to be called once the
 * program has used CUDA: when the first op has a tensor on a device. */
bool
film_gpu_begin(film_writer *writer, const film_cupti_options *options, char *sentence);

/* The op whose row this thread appends next (after its values) begins. True: it ends by
 * film_gpu_leave. */
bool
film_gpu_enter(const film_thread *thread);

void
film_gpu_leave(void);

/* Worth calling film_gpu_write: a load and a compare. */
static inline bool
film_gpu_is_due(void)
{
    return film_cupti_ready() >= FILM_GPU_BATCH;
}

/* Writes what has come in. */
void
film_gpu_write(void);

/* Writes all there is and ends the tracks: before the writer is closed. */
void
film_gpu_end(void);

/* In a forked child: it has no tracks. */
void
film_gpu_forget(void);

#endif
