/* sealer.c: the background thread that turns full windows into chunks.
 * It is started when a window fills and joined before a fork (a second native thread
 * makes os.fork warn on 3.12 and later) and at close. It never needs the GIL, blocks
 * all signals, and works on one stream at a time.
 * SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <time.h>

#include "base/alloc.h"
#include "writer/writer_state.h"

/* Without mapped windows the rows are written out this often. */
#define FLUSH_NS 100000000

void
film_stream_forget(film_writer *writer, film_stream *stream)
{
    film_stream **link = &writer->threads;
    film_thread_stream *thread = film_thread_of_stream(stream);

    while (*link != NULL && *link != stream) {
        link = &(*link)->next;
    }
    if (*link == stream) {
        *link = stream->next;
    }
    while (stream->oldest != NULL) {
        film_window *window = stream->oldest;
        stream->oldest = window->next;
        film_arena_give(&writer->arena, window);
    }
    writer->ended_events += film_thread_kept(thread);
    film_limits_give(writer, thread->hot.limit);
    film_state_reset(&stream->state);
    film_free(thread);
}

/* The oldest value id that rows in windows may use. Lock held. */
static void
update_value_floor(film_writer *writer)
{
    uint64_t floor = UINT64_MAX;

    for (film_stream *stream = writer->threads; stream != NULL; stream = stream->next) {
        if (stream->oldest != NULL && stream->oldest->value_floor < floor) {
            floor = stream->oldest->value_floor;
        }
    }
    atomic_store_explicit(&writer->log.value_floor, floor, memory_order_relaxed);
}

static film_status
seal_stream(film_writer *writer, film_stream *stream)
{
    if (stream == &writer->table.stream) {
        return film_seal_records(writer, &writer->table);
    }
    if (stream == &writer->values.stream) {
        return film_seal_records(writer, &writer->values);
    }
    return film_seal_events(writer, stream, false);
}

/* Seals what is queued; lock held on entry and exit, released while working. */
static void
work_off_queue(film_writer *writer)
{
    while (writer->queue != NULL && !film_writer_stopped(writer)) {
        film_stream *stream = writer->queue;
        bool ended;
        film_status status;
        writer->queue = stream->next_queued;
        if (writer->queue == NULL) {
            writer->queue_end = NULL;
        }
        stream->queued = false;
        stream->busy = true;
        ended = stream->ended;
        update_value_floor(writer);
        pthread_mutex_unlock(&writer->lock);
        status = seal_stream(writer, stream);
        if (status == FILM_OK) {
            status = film_seal_sources(writer);
        }
        if (status != FILM_OK) {
            film_writer_stop(writer, status);
        }
        pthread_mutex_lock(&writer->lock);
        stream->busy = false;
        pthread_cond_broadcast(&writer->space);
        if (ended && status == FILM_OK && !stream->queued) {
            film_stream_forget(writer, stream);
        }
    }
}

static void
wait_for_work(film_writer *writer)
{
    struct timespec until;

    if (writer->arena.may_map) {
        pthread_cond_wait(&writer->work, &writer->lock);
        return;
    }
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += FLUSH_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_cond_timedwait(&writer->work, &writer->lock, &until);
}

static void *
run_sealer(void *argument)
{
    film_writer *writer = argument;

    pthread_mutex_lock(&writer->lock);
    while (!writer->sealer_must_end) {
        work_off_queue(writer);
        if (!writer->arena.may_map && !film_writer_stopped(writer)) {
            film_status status;
            pthread_mutex_unlock(&writer->lock);
            status = film_arena_flush(&writer->arena);
            if (status != FILM_OK) {
                film_writer_stop(writer, status);
            }
            pthread_mutex_lock(&writer->lock);
        }
        if (!writer->sealer_must_end &&
            (writer->queue == NULL || film_writer_stopped(writer))) {
            wait_for_work(writer);
        }
    }
    pthread_mutex_unlock(&writer->lock);
    return NULL;
}

/* Signals are the program's: none is delivered to this thread. Lock held. */
static void
start_sealer(film_writer *writer)
{
    sigset_t all, before;

    writer->sealer_must_end = false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    writer->sealer_runs =
        pthread_create(&writer->sealer, NULL, run_sealer, writer) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void
film_sealer_queue(film_writer *writer, film_stream *stream)
{
    if (!stream->queued) {
        stream->queued = true;
        stream->next_queued = NULL;
        if (writer->queue_end != NULL) {
            writer->queue_end->next_queued = stream;
        }
        else {
            writer->queue = stream;
        }
        writer->queue_end = stream;
    }
    if (!writer->sealer_runs) {
        start_sealer(writer);
    }
    if (writer->sealer_runs) {
        pthread_cond_signal(&writer->work);
    }
    else {
        work_off_queue(writer); /* no thread to be had: seal here */
    }
}

void
film_sealer_join(film_writer *writer)
{
    pthread_t sealer;
    bool runs;

    pthread_mutex_lock(&writer->lock);
    runs = writer->sealer_runs;
    sealer = writer->sealer;
    writer->sealer_must_end = true;
    pthread_cond_signal(&writer->work);
    pthread_mutex_unlock(&writer->lock);
    if (runs) {
        pthread_join(sealer, NULL);
        pthread_mutex_lock(&writer->lock);
        writer->sealer_runs = false;
        pthread_mutex_unlock(&writer->lock);
    }
}

void
film_sealer_finish(film_writer *writer)
{
    film_status status = film_seal_records(writer, &writer->table);

    if (status == FILM_OK) {
        status = film_seal_records(writer, &writer->values);
    }
    for (film_stream *stream = writer->threads; stream != NULL && status == FILM_OK;
         stream = stream->next) {
        if (stream->current == NULL) {
            continue;
        }
        if (!stream->ended) {
            stream->current->end = film_thread_kept(film_thread_of_stream(stream));
        }
        status = film_seal_events(writer, stream, true);
    }
    if (status == FILM_OK) {
        status = film_seal_sources(writer);
    }
    if (status == FILM_OK) {
        status = film_seal_totals(writer);
    }
    if (status != FILM_OK) {
        film_writer_stop(writer, status);
    }
}
