/* death_wait.c: see death_wait.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/death_wait.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* Those ObjWatch saves its tree at. */
static const int deadly[] = {SIGTERM, SIGINT,  SIGABRT, SIGHUP, SIGQUIT,
                             SIGUSR1, SIGUSR2, SIGALRM, SIGSEGV};
#define DEADLY_COUNT (sizeof(deadly) / sizeof(deadly[0]))
/* A reader that cannot go on (its own output is blocked) must not keep us alive. */
#define LONGEST_WAIT_MS 60000

/* Written while no handler is set. */
static char watched[PATH_MAX];
static int reader_end = -1;
static pid_t owner;

/* Async-signal-safe calls only. */
static void
wait_and_die(int number)
{
    struct pollfd reader = {.fd = reader_end};
    struct sigaction plain;
    int file;

    if (getpid() == owner) {
        /* A process loses its lock on a file when it closes any descriptor of it; the
         * reader follows the recording as long as it is locked. */
        file = open(watched, O_RDONLY | O_CLOEXEC);
        if (file >= 0) {
            close(file);
        }
        /* Nothing is ever written to the pipe: it is closed when the reader is done.
         * All signals that have a handler are blocked. */
        (void)poll(&reader, 1, LONGEST_WAIT_MS);
    }
    memset(&plain, 0, sizeof(plain));
    plain.sa_handler = SIG_DFL;
    sigaction(number, &plain, NULL);
    /* Blocked until the handler returns; a fault comes again by itself. */
    kill(getpid(), number);
}

/* Sets `handler` where it is `expected` now. */
static void
replace_handlers(void (*expected)(int), void (*handler)(int))
{
    for (size_t i = 0; i < DEADLY_COUNT; i++) {
        struct sigaction action;

        if (sigaction(deadly[i], NULL, &action) != 0 ||
            (action.sa_flags & SA_SIGINFO) != 0 || action.sa_handler != expected) {
            continue;
        }
        memset(&action, 0, sizeof(action));
        action.sa_handler = handler;
        action.sa_flags = SA_ONSTACK;
        sigfillset(&action.sa_mask);
        (void)sigaction(deadly[i], &action, NULL);
    }
}

bool
film_death_wait_begin(const char *path, int descriptor)
{
    film_death_wait_end();
    if (strlen(path) >= sizeof(watched)) {
        return false;
    }
    strcpy(watched, path);
    reader_end = descriptor;
    owner = getpid();
    replace_handlers(SIG_DFL, wait_and_die);
    return true;
}

void
film_death_wait_end(void)
{
    replace_handlers(wait_and_die, SIG_DFL);
}
