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
/* What they did before; taken[i]: ours is in its place. */
static struct sigaction before[DEADLY_COUNT];
static bool taken[DEADLY_COUNT];

/* Async-signal-safe calls only. */
static void
wait_and_die(int number)
{
    struct pollfd reader = {.fd = reader_end};
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
    for (size_t i = 0; i < DEADLY_COUNT; i++) {
        if (deadly[i] == number) {
            sigaction(number, &before[i], NULL);
        }
    }
    /* Blocked until the handler returns; a fault comes again by itself. */
    kill(getpid(), number);
}

static void
take_signal(size_t i, bool faulthandler)
{
    bool is_fault = deadly[i] == SIGSEGV || deadly[i] == SIGABRT;
    struct sigaction action;

    if (sigaction(deadly[i], NULL, &before[i]) != 0 ||
        ((before[i].sa_flags & SA_SIGINFO) != 0) ||
        !(before[i].sa_handler == SIG_DFL || (is_fault && faulthandler))) {
        return;
    }
    memset(&action, 0, sizeof(action));
    action.sa_handler = wait_and_die;
    action.sa_flags = SA_ONSTACK;
    sigfillset(&action.sa_mask);
    taken[i] = sigaction(deadly[i], &action, NULL) == 0;
}

bool
film_death_wait_begin(const char *path, int descriptor, bool faulthandler)
{
    film_death_wait_end();
    if (strlen(path) >= sizeof(watched)) {
        return false;
    }
    strcpy(watched, path);
    reader_end = descriptor;
    owner = getpid();
    for (size_t i = 0; i < DEADLY_COUNT; i++) {
        take_signal(i, faulthandler);
    }
    return true;
}

void
film_death_wait_end(void)
{
    for (size_t i = 0; i < DEADLY_COUNT; i++) {
        struct sigaction now;

        /* Who came after us stays. */
        if (taken[i] && sigaction(deadly[i], NULL, &now) == 0 &&
            now.sa_handler == wait_and_die) {
            (void)sigaction(deadly[i], &before[i], NULL);
        }
        taken[i] = false;
    }
}
