/* stream.c: a stream's queue of windows: the one being filled at its end, those not yet
 * sealed before it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "writer/writer_state.h"

bool
film_stream_begin(film_writer *writer, film_stream *stream,
                  const film_window_start *start)
{
    film_window *window = film_arena_take(&writer->arena, stream->id, start);

    if (window == NULL) {
        return false;
    }
    window->value_floor = writer->values.records;
    stream->oldest = stream->current = window;
    stream->window_count = 1;
    return true;
}

/* Waits, lock held, until the stream may take another window. The sealing thread never
 * needs the GIL, so waiting with it held ends. */
static void
wait_for_space(film_writer *writer, film_stream *stream)
{
    while (stream->window_count >= FILM_STREAM_WINDOWS && !film_writer_stopped(writer)) {
        film_sealer_queue(writer, stream);
        if (writer->sealer_runs) {
            pthread_cond_wait(&writer->space, &writer->lock);
        }
    }
}

film_window *
film_stream_next_window(film_writer *writer, film_stream *stream,
                        const film_window_start *start)
{
    film_window *window = NULL;

    if (film_writer_stopped(writer)) {
        return NULL;
    }
    pthread_mutex_lock(&writer->lock);
    wait_for_space(writer, stream);
    if (!film_writer_stopped(writer)) {
        window = film_arena_take(&writer->arena, stream->id, start);
    }
    if (window != NULL) {
        window->value_floor = writer->values.records;
        stream->current->end = start->first;
        stream->current->next = window;
        stream->current = window;
        stream->window_count++;
        film_sealer_queue(writer, stream);
    }
    pthread_mutex_unlock(&writer->lock);
    if (window == NULL) {
        film_writer_stop(writer, FILM_NO_MEMORY);
    }
    return window;
}

void
film_stream_release(film_writer *writer, film_stream *stream)
{
    film_window *done = NULL;

    pthread_mutex_lock(&writer->lock);
    while (stream->oldest != NULL && stream->oldest != stream->current &&
           stream->oldest->end <= stream->sealed &&
           stream->oldest->position >=
               atomic_load_explicit(&stream->oldest->header->committed,
                                    memory_order_acquire)) {
        film_window *window = stream->oldest;
        stream->oldest = window->next;
        stream->window_count--;
        window->next = done;
        done = window;
    }
    while (done != NULL) {
        film_window *window = done;
        done = window->next;
        film_arena_give(&writer->arena, window);
    }
    pthread_cond_broadcast(&writer->space);
    pthread_mutex_unlock(&writer->lock);
}
