/* device.h: when the GPU is traced (`--torch-gpu`): from the first operation on that has a
 * tensor there, because to begin earlier would start the driver, which a program that forks
 * cannot bear.
 * Threads: the holder of the GIL; film_device_enter and film_device_leave any thread that
 * has the session's `lifecycle` or the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_TORCH_DEVICE_H
#define FILMSTRIP_RECORDER_TORCH_DEVICE_H

#include "recorder/compat.h"

#include "recorder/torch/gpu.h"

/* True while the GPU is traced. */
extern bool film_the_device_is_traced;

/* An operation with a tensor on a device is about to be told: begins to trace, the first
 * time. Where that fails the recording says so, once. */
void
film_device_seen(void);

/* The operation whose row the thread appends next begins; true: it ends by
 * film_gpu_leave. */
static inline bool
film_device_enter(const film_thread *thread)
{
    return FILM_UNLIKELY(film_the_device_is_traced) && film_gpu_enter(thread);
}

/* An operation has ended: what has come in meanwhile is written, where it is much. */
static inline void
film_device_written(void)
{
    if (FILM_UNLIKELY(film_the_device_is_traced) && film_gpu_is_due()) {
        film_gpu_write();
    }
}

/* Before the recording is closed: all that ran is in it. */
void
film_device_end(void);

/* In a forked child, and when a recording is forgotten. */
void
film_device_forget(void);

#endif
