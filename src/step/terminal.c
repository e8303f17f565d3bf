/* terminal.c: what may run in a signal handler: flags, write, tcsetattr, raise.
 *
 * Ctrl-C, SIGTERM and SIGHUP set a flag; the loop of the screen sees it within the 50
 * ms that a question takes, leaves the full screen as always and ends. Should that not
 * happen (a second signal comes), or should we crash, the handler itself restores the
 * modes and writes what leaves the full screen.
 * SPDX-License-Identifier: Apache-2.0 */
#include "step/terminal.h"

#include <errno.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

volatile sig_atomic_t film_step_terminal_interrupted;
volatile sig_atomic_t film_step_terminal_ending;
volatile sig_atomic_t film_step_terminal_resumed;

static const int crashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
static const int endings[] = {SIGTERM, SIGHUP};

#define CRASH_COUNT (sizeof(crashes) / sizeof(crashes[0]))
#define ENDING_COUNT (sizeof(endings) / sizeof(endings[0]))

/* Written before the handlers are installed, only read afterwards. */
static struct termios modes;
static bool has_modes;
static char leaving[256];
static size_t leaving_length;

static void
note_interrupt(int number)
{
    (void)number;
    film_step_terminal_interrupted++;
}

static void
note_resume(int number)
{
    (void)number;
    film_step_terminal_resumed = 1;
}

static void
restore(void)
{
    ssize_t written;

    written = write(STDOUT_FILENO, leaving, leaving_length);
    (void)written; /* the terminal may be gone */
    if (has_modes) {
        tcsetattr(STDIN_FILENO, TCSANOW, &modes);
    }
}

static void
die(int number)
{
    restore();
    signal(number, SIG_DFL);
    raise(number);
}

static void
note_ending(int number)
{
    if (film_step_terminal_ending != 0) {
        die(number);
        return;
    }
    film_step_terminal_ending = number;
}

static void
catch(int number, void (*handler)(int), int flags)
{
    struct sigaction action, before;

    memset(&action, 0, sizeof(action));
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigemptyset(&action.sa_mask);
    /* A signal our parent chose to ignore (nohup) stays ignored. */
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
        sigaction(number, &action, NULL);
    }
}

void
film_step_terminal_catch_interrupts(bool reads)
{
    /* Without a person a read goes on: Ctrl-C was for the search, or ends us there. */
    if (reads) {
        catch(SIGINT, note_interrupt, 0);
    }
}

void
film_step_terminal_keep(void)
{
    has_modes = tcgetattr(STDIN_FILENO, &modes) == 0;
}

void
film_step_terminal_guard(const char *leave)
{
    leaving_length = strlen(leave);
    if (leaving_length > sizeof(leaving)) {
        leaving_length = sizeof(leaving);
    }
    memcpy(leaving, leave, leaving_length);
    catch(SIGINT, note_interrupt, 0);
    catch(SIGCONT, note_resume, 0);
    for (size_t i = 0; i < ENDING_COUNT; i++) {
        catch(endings[i], note_ending, 0);
    }
    for (size_t i = 0; i < CRASH_COUNT; i++) {
        catch(crashes[i], die, (int)SA_RESETHAND);
    }
}

void
film_step_terminal_release(void)
{
    int ended = film_step_terminal_ending;

    signal(SIGINT, SIG_DFL);
    signal(SIGCONT, SIG_DFL);
    for (size_t i = 0; i < ENDING_COUNT; i++) {
        signal(endings[i], SIG_DFL);
    }
    for (size_t i = 0; i < CRASH_COUNT; i++) {
        signal(crashes[i], SIG_DFL);
    }
    if (ended != 0) {
        raise(ended);
    }
}
