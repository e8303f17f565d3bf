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

void
film_interrupt_guard(const char *path)
{
    struct sigaction action;

    atomic_store(&guarded, path);
    memset(&action, 0, sizeof(action));
    action.sa_handler = remove_and_die;
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

void
film_interrupt_release(void)
{
    atomic_store(&guarded, (const char *)NULL);
}
