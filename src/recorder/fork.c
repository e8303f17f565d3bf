/* fork.c: before a fork the sealing thread is joined, so that os.fork() has no second
 * thread to warn about; in the child a flag says that the writer is the parent's. The
 * child's own file is opened at its first event (session.c), where it is safe to
 * allocate.
 *
 * pthread_atfork handlers cannot be taken off again: these stay for the life of the
 * process and return at once while nothing is recorded.
 *
 * Processes made by the bare clone system call see none of this; append.h's wiped page
 * finds those.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/compat.h"
#include "recorder/fork.h"

#include <pthread.h>

#include "recorder/session.h"

static bool
writer_is_ours(void)
{
    return film_the_session.writer != NULL && !film_the_session.forked;
}

static void
before_fork(void)
{
    /* A C thread may fork without the GIL: then the writer is left as it is, as the
     * child only abandons it. */
    if (writer_is_ours() && PyGILState_Check()) {
        film_writer_before_fork(film_the_session.writer);
    }
    pthread_mutex_lock(&film_the_session.lifecycle);
}

static void
after_fork_in_parent(void)
{
    pthread_mutex_unlock(&film_the_session.lifecycle);
}

static void
after_fork_in_child(void)
{
    /* Only what is safe after a fork of many threads: plain stores. */
    pthread_mutex_unlock(&film_the_session.lifecycle);
    if (film_the_session.writer != NULL) {
        film_the_session.forked = true;
        film_the_session.token = FILM_TOKEN_OFF;
        /* What is known of code is of the parent's file: a hook that looks it up before
         * it finds out that this is a child must not go on with it. */
        film_the_session.generation = ++film_the_session.counter;
    }
}

bool
film_fork_prepare(void)
{
    static bool registered;

    if (!registered) {
        registered =
            pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0;
    }
    return registered;
}
