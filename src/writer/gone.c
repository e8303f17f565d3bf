/* gone.c: frames that were suspended and ended without an event, as the recorder found
 * out later: their variables are not kept for a resume that never comes.
 *
 * From 3.13 on Python ends a generator that is dropped at a yield without running it. The
 * recorder knows when another frame begins where that one was. The rows that tell of the
 * dead one all lie before, in its thread's stream, but may not be sealed yet: so its
 * serial waits until they are.
 *
 * A ring between the holder of the GIL, who puts, and the sealing side, which takes. What
 * finds no room is not told: film_locals forgets those that sleep for longest.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/alloc.h"
#include "writer/writer_state.h"

#define RING_FRAMES 16384u /* a power of two; a chunk's events tell of fewer */
#define MOST_WAITING 32768u

void
film_thread_frame_gone(film_thread *thread, uint64_t serial)
{
    const film_thread_stream *own = (const film_thread_stream *)(const void *)thread;
    film_gone_frames *gone = &own->writer->gone;
    uint64_t put = atomic_load_explicit(&gone->put, memory_order_relaxed);

    if (own->writer->block.level < FILM_LEVEL_VALUES) {
        return;
    }
    if (gone->ring == NULL) {
        gone->ring = film_alloc_array(RING_FRAMES, sizeof(*gone->ring));
    }
    if (gone->ring == NULL ||
        put - atomic_load_explicit(&gone->taken, memory_order_acquire) >= RING_FRAMES) {
        return;
    }
    gone->ring[put % RING_FRAMES] = (film_gone_frame){
        .serial = serial, .events = thread->events, .stream = own->stream.id};
    /* Release: who sees the count sees the frame, and the ring. */
    atomic_store_explicit(&gone->put, put + 1, memory_order_release);
}

/* What was put since the last time joins those that wait. */
static void
take_new(film_gone_frames *gone)
{
    uint64_t taken = atomic_load_explicit(&gone->taken, memory_order_relaxed);
    uint64_t put = atomic_load_explicit(&gone->put, memory_order_acquire);

    for (; taken != put; taken++) {
        film_gone_frame *waiting =
            gone->waiting_count >= MOST_WAITING
                ? NULL
                : film_grow(gone->waiting, &gone->waiting_capacity,
                            gone->waiting_count + 1, sizeof(*waiting));

        if (waiting != NULL) {
            gone->waiting = waiting;
            waiting[gone->waiting_count++] = gone->ring[taken % RING_FRAMES];
        }
    }
    /* Release: their places may be written to again. */
    atomic_store_explicit(&gone->taken, taken, memory_order_release);
}

void
film_gone_forget(film_writer *writer, const film_stream *stream)
{
    film_gone_frames *gone = &writer->gone;
    size_t kept = 0;

    take_new(gone);
    for (size_t i = 0; i < gone->waiting_count; i++) {
        const film_gone_frame *frame = &gone->waiting[i];

        if (frame->stream == stream->id && frame->events <= stream->sealed) {
            film_locals_forget(&writer->locals, frame->serial);
        }
        else {
            gone->waiting[kept++] = *frame;
        }
    }
    gone->waiting_count = kept;
}

void
film_gone_reset(film_gone_frames *gone)
{
    film_free(gone->ring);
    film_free(gone->waiting);
    *gone = (film_gone_frames){0};
}
