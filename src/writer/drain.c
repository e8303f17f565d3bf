/* drain.c: where a thread's rows go once the writer keeps nothing more: the disk is
 * full.
 *
 * The recorder goes on as before, so that all it would have recorded is counted: each
 * row lies in a piece of memory of its thread's until the next one wants room, then its
 * events are counted as lost and it is forgotten. The count stands in the header of the
 * thread's last window, where readers find it; for a thread without one, in the first
 * block.
 * SPDX-License-Identifier: Apache-2.0 */
#include "writer/writer_state.h"

/* A write to the file for so many events of a thread without a window. */
#define COUNT_AT_ONCE 256u

/* Tells the file what was lost since the last time. Lock held. */
static void
count(film_thread_stream *thread)
{
    film_writer *writer = thread->writer;
    uint64_t lost = thread->hot.events - thread->drain.counted;

    if (!thread->drain.used || lost == 0) {
        return;
    }
    thread->drain.counted = thread->hot.events;
    if (thread->stream.current == NULL) {
        film_writer_add_lost(writer, lost);
        return;
    }
    atomic_fetch_add_explicit(&thread->stream.current->header->lost, lost,
                              memory_order_relaxed);
    atomic_store_explicit(&thread->stream.current->header->lost_reason,
                          atomic_load(&writer->stop_reason), memory_order_relaxed);
}

void
film_drain_next(film_thread_stream *thread)
{
    film_drain *drain = &thread->drain;

    if (!drain->used) {
        drain->used = true;
        drain->kept = drain->counted = thread->hot.events;
        thread->hot.window = &drain->header;
    }
    if (thread->stream.current != NULL ||
        thread->hot.events - drain->counted >= COUNT_AT_ONCE) {
        pthread_mutex_lock(&thread->writer->lock);
        count(thread);
        pthread_mutex_unlock(&thread->writer->lock);
    }
    thread->hot.cursor = film_window_rows(thread->hot.window);
    /* Room for one row and those that are committed with it. */
    atomic_store_explicit(thread->hot.limit,
                          (uint64_t)(uintptr_t)thread->hot.cursor + 1,
                          memory_order_relaxed);
}

void
film_drain_settle(film_writer *writer)
{
    for (film_stream *stream = writer->threads; stream != NULL; stream = stream->next) {
        count(film_thread_of_stream(stream));
    }
}
