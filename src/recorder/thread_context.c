/* thread_context.c: see thread_context.h.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "recorder/thread_context.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/stack.h"
#include "recorder/stacks.h"
#include "recorder/torch/compiled.h"

#define FIRST_ENTRIES 256u
#define NAME_BYTES 200u

__thread film_context film_this_thread __attribute__((tls_model("initial-exec")));

static pthread_key_t death_key;
static bool death_key_made;

/* A thread dies, perhaps long after the GIL, perhaps after the interpreter: no Python
 * here. The lock keeps the file from being closed meanwhile. */
static void
on_thread_death(void *pointer)
{
    film_context *context = pointer;

    pthread_mutex_lock(&film_the_session.lifecycle);
    if (film_the_session.writer != NULL && !film_the_session.forked &&
        context->thread != NULL && context->generation == film_the_session.generation) {
        film_writer_thread_end(context->thread);
    }
    pthread_mutex_unlock(&film_the_session.lifecycle);
    film_stacks_forget(context);
    free(context->entries);
    free(context->pendings);
    free(context->tasks);
    free(context->raises);
    free(context->inner);
    free(context->compiled);
    memset(context, 0, sizeof(*context));
}

bool
film_context_prepare(void)
{
    if (!death_key_made) {
        death_key_made = pthread_key_create(&death_key, on_thread_death) == 0;
    }
    return death_key_made;
}

bool
film_context_grow(film_context *context)
{
    size_t used =
        context->entries == NULL ? 0 : (size_t)(context->top - context->entries);
    size_t room = context->entries == NULL
                      ? FIRST_ENTRIES
                      : (size_t)(context->last - context->entries + 1) * 2;
    film_stack_entry *entries = realloc(context->entries, room * sizeof(*entries));

    if (entries == NULL) {
        return false;
    }
    if (context->entries == NULL) {
        /* The floor: no caller ever matches it. */
        entries[0] = (film_stack_entry){.frame = film_frame_key_of_none()};
    }
    context->entries = entries;
    context->top = entries + used;
    context->last = entries + room - 1;
    return true;
}

const film_frame *
film_entry_frame_by_walk(const film_stack_entry *entry)
{
    const film_frame *frame = film_compat_current_frame();

    for (unsigned walked = 0; frame != NULL && walked < FILM_FAR_FRAMES; walked++) {
        if (film_frame_has_key(frame, entry->frame)) {
            return film_frame_code(frame) == entry->code ? frame : NULL;
        }
        frame = film_frame_caller(frame);
    }
    return NULL;
}

static bool
begin_thread(film_context *context, const char *name)
{
    if (context->entries == NULL && !film_context_grow(context)) {
        return false;
    }
    if (pthread_setspecific(death_key, context) != 0) {
        return false;
    }
    context->top = context->entries;
    context->entangled = false;
    context->pending_count = 0;
    context->returned = NULL;
    free(context->tasks);
    context->tasks = NULL;
    context->generation = film_the_session.generation;
    context->thread = film_writer_thread_begin(film_the_session.writer, name,
                                               (uint64_t)syscall(SYS_gettid));
    return true;
}

bool
film_context_refresh(film_context *context, const film_frame *frame)
{
    film_session *session = &film_the_session;
    film_saved_error saved;
    char name[NAME_BYTES];

    if (session->forked && !film_session_take_over_child()) {
        return false;
    }
    if (session->token == FILM_TOKEN_OFF) {
        return false;
    }
    if (FILM_UNLIKELY(context->compiling != 0) && film_compiled_pauses(context)) {
        return false;
    }
    film_compat_save_error(&saved);
    if (context->generation != session->generation) {
        film_thread_name(frame, name, sizeof(name));
        if (!begin_thread(context, name)) {
            context->thread = NULL;
        }
    }
    if (context->thread == NULL) {
        film_writer_count_lost(session->writer, 1);
    }
    else {
        context->token = session->token;
        film_stack_realign(context, frame);
    }
    film_compat_restore_error(&saved);
    return context->thread != NULL;
}

film_context *
film_context_of_any_thread(void)
{
    film_context *context = &film_this_thread;
    const film_session *session = &film_the_session;
    char name[NAME_BYTES] = "";

    if (FILM_LIKELY(context->token == session->token)) {
        return context;
    }
    /* A thread that was recorded before a pause has frames to be looked at first, with
     * the GIL. */
    if (session->token == FILM_TOKEN_OFF || session->forked ||
        context->generation == session->generation) {
        return NULL;
    }
    (void)pthread_getname_np(pthread_self(), name, sizeof(name));
    if (!begin_thread(context, name) || context->thread == NULL) {
        context->thread = NULL;
        film_writer_count_lost(session->writer, 1);
        return NULL;
    }
    context->token = session->token;
    context->entangled = true;
    return context;
}
