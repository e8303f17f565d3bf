/* death_wait.h: a process that dies by a signal waits for the one that reads its
 * recording: what that writes from it (filmstrip.watch's output_json) is there when the
 * parent hears of the death.
 *
 * Only signals that nobody handles, and that end the process: a handler takes them,
 * waits, and lets them do what they would have done. The program cannot see it from
 * Python; one that sets a handler of its own replaces ours.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_DEATH_WAIT_H
#define FILMSTRIP_DEATH_WAIT_H

#include <stdbool.h>

/* The reader of the recording at `path` holds the other end of the pipe `descriptor`,
 * which stays the caller's. `faulthandler`: Python's module of that name handles
 * SIGSEGV and SIGABRT; it does so after the wait. False: the path is too long. */
bool
film_death_wait_begin(const char *path, int descriptor, bool faulthandler);

/* Signals do at once again what they did. */
void
film_death_wait_end(void);

#endif
