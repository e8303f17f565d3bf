/* interrupt.c: the signal handler of guarded output files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static const int fatal_signals[] = {SIGINT, SIGTERM, SIGHUP};

/* Read by the handler, which may run between any two instructions. */
static _Atomic(const char *) guarded;

static void
remove_and_die(int number)
{
    const char *path = atomic_load(&guarded);

    if (path != NULL) {
        unlink(path);
    }
    signal(number, SIG_DFL);
    raise(number);
}

static void
handle_with(void (*handler)(int))
{
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(fatal_signals) / sizeof(fatal_signals[0]); i++) {
        struct sigaction before;
        /* A signal our parent chose to ignore (nohup) stays ignored. */
        if (sigaction(fatal_signals[i], NULL, &before) == 0 &&
            before.sa_handler != SIG_IGN) {
            sigaction(fatal_signals[i], &action, NULL);
        }
    }
}

static void
mask(int how)
{
    sigset_t signals;

    sigemptyset(&signals);
    for (size_t i = 0; i < sizeof(fatal_signals) / sizeof(fatal_signals[0]); i++) {
        sigaddset(&signals, fatal_signals[i]);
    }
    sigprocmask(how, &signals, NULL);
}

void
film_interrupt_delay(void)
{
    mask(SIG_BLOCK);
}

void
film_interrupt_guard(const char *path)
{
    atomic_store(&guarded, path);
    handle_with(remove_and_die);
    mask(SIG_UNBLOCK);
}

void
film_interrupt_release(void)
{
    handle_with(SIG_IGN);
    atomic_store(&guarded, (const char *)NULL);
}
