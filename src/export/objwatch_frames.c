/* objwatch_frames.c: the open frames of each thread, and those of generators that wait.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/alloc.h"
#include "export/objwatch_state.h"

#define THREADS_MAX 1000000u /* ids are dense; one beyond comes from a damaged file */

film_seen_thread *
film_watch_thread(film_watch *state, uint32_t id)
{
    size_t before = state->thread_capacity;
    film_seen_thread *threads;

    if (id >= THREADS_MAX) {
        return NULL;
    }
    if (id >= before) {
        threads = film_grow(state->threads, &state->thread_capacity, (size_t)id + 1,
                            sizeof(*threads));
        if (threads == NULL) {
            state->failed = true;
            return NULL;
        }
        memset(threads + before, 0,
               (state->thread_capacity - before) * sizeof(*threads));
        state->threads = threads;
    }
    return &state->threads[id];
}

static film_seen_frame *
take_suspended(film_watch *state, uint64_t serial)
{
    for (size_t i = state->suspended_count; i > 0; i--) {
        film_seen_frame *frame = state->suspended[i - 1];
        if (frame->serial == serial) {
            state->suspended[i - 1] = state->suspended[--state->suspended_count];
            return frame;
        }
    }
    return NULL;
}

film_seen_frame *
film_watch_enter(film_watch *state, const film_event *event)
{
    film_seen_thread *thread = film_watch_thread(state, event->thread);
    film_seen_frame *frame =
        event->kind == FILM_KIND_CALL ? NULL : take_suspended(state, event->frame);
    film_seen_frame **stack;

    if (frame == NULL) {
        frame = film_alloc(sizeof(*frame));
        if (frame == NULL) {
            state->failed = true;
            return NULL;
        }
        frame->serial = event->frame;
        frame->code = event->code;
    }
    stack = thread == NULL ? NULL
                           : film_grow(thread->stack, &thread->capacity,
                                       thread->depth + 1, sizeof(film_seen_frame *));
    if (stack == NULL) {
        state->failed = true;
        film_seen_frame_free(frame);
        return NULL;
    }
    thread->stack = stack;
    stack[thread->depth++] = frame;
    frame->last_line = 0;
    return frame;
}

film_seen_frame *
film_watch_frame(film_watch *state, const film_event *event)
{
    film_seen_thread *thread = film_watch_thread(state, event->thread);
    size_t at = thread == NULL ? 0 : thread->depth;

    while (at > 0 && thread->stack[at - 1]->serial != event->frame) {
        at--;
    }
    if (at == 0) {
        return NULL;
    }
    while (thread->depth > at) { /* they ended unseen */
        film_watch_leave(state, thread, false);
    }
    return thread->stack[at - 1];
}

void
film_watch_leave(film_watch *state, film_seen_thread *thread, bool suspended)
{
    film_seen_frame *frame = thread->stack[--thread->depth];
    film_seen_frame **kept;

    if (frame->traced && thread->shown > 0) {
        thread->shown--;
    }
    kept = !suspended ? NULL
                      : film_grow(state->suspended, &state->suspended_capacity,
                                  state->suspended_count + 1, sizeof(*kept));
    if (kept == NULL) {
        film_seen_frame_free(frame);
        return;
    }
    state->suspended = kept;
    kept[state->suspended_count++] = frame;
}
