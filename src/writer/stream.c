/* stream.c: a stream's queue of windows: the one being filled at its end, those not yet
 * sealed before it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "writer/writer_state.h"

bool
film_stream_begin(film_writer *writer, film_stream *stream,
                  const film_window_start *start)
{
    film_window *window = film_arena_take(&writer->arena, stream->id, start, true);

    if (window == NULL) {
        return false;
    }
    window->value_floor = film_writer_value_floor(writer);
    stream->oldest = stream->current = window;
    stream->window_count = 1;
    return true;
}

/* Waits, lock held, until the sealing thread has been through the stream once. It never
 * needs the GIL, so waiting with it held ends. */
static void
wait_for_sealing(film_writer *writer, film_stream *stream)
{
    film_sealer_queue(writer, stream);
    while ((stream->queued || stream->busy) && writer->sealer_runs &&
           !film_writer_stopped(writer)) {
        pthread_cond_wait(&writer->space, &writer->lock);
    }
}

/* The next window, lock held. A stream that holds as many as it may, a ring whose arena
 * is used up, or a disk that is nearly full wait for the sealing thread; where sealing
 * frees none (less than a chunk's events fill all its windows) it goes on with one more
 * if there is any. */
static film_window *
take_window(film_writer *writer, film_stream *stream, const film_window_start *start)
{
    bool stalled = false;

    while (!film_writer_stopped(writer)) {
        size_t before = stream->window_count;
        if (before < FILM_STREAM_WINDOWS || stalled) {
            film_window *window = film_arena_take(&writer->arena, stream->id, start,
                                                  before < 2 || stalled);
            if (window != NULL || before < 2 || stalled ||
                (writer->arena.refusal != FILM_LIMIT &&
                 writer->arena.refusal != FILM_NO_SPACE)) {
                return window;
            }
        }
        wait_for_sealing(writer, stream);
        stalled = stream->window_count >= before;
    }
    return NULL;
}

film_window *
film_stream_next_window(film_writer *writer, film_stream *stream,
                        const film_window_start *start)
{
    film_window *window;
    film_status refusal;

    if (film_writer_stopped(writer)) {
        return NULL;
    }
    pthread_mutex_lock(&writer->lock);
    stream->current->end = start->first;
    stream->current_is_full = true;
    window = take_window(writer, stream, start);
    refusal = writer->arena.refusal;
    if (window != NULL) {
        window->value_floor = film_writer_value_floor(writer);
        stream->current->next = window;
        stream->current = window;
        stream->current_is_full = false;
        stream->window_count++;
        film_sealer_queue(writer, stream);
    }
    pthread_mutex_unlock(&writer->lock);
    if (window == NULL) {
        film_writer_stop(writer, refusal);
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
