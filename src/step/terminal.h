/* terminal.h: signals, and a terminal that is left as it was found, whatever happens.
 * One a process: signal handlers know no context.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_TERMINAL_H
#define FILMSTRIP_TERMINAL_H

#include <signal.h>
#include <stdbool.h>

/* How often Ctrl-C came since it was set to 0. */
extern volatile sig_atomic_t film_step_terminal_interrupted;
/* The signal that wants us to end; 0: none. */
extern volatile sig_atomic_t film_step_terminal_ending;
/* We were stopped and go on: the screen is to be drawn anew. */
extern volatile sig_atomic_t film_step_terminal_resumed;

/* Ctrl-C is counted instead of ending the program; `reads`: and breaks off a read. */
void
film_step_terminal_catch_interrupts(bool reads);

/* Keeps the terminal's modes as they are. */
void
film_step_terminal_keep(void);

/* Keeps what leaves the full screen, and catches the signals that would end us.
 * `leave`: borrowed; at most 256 bytes of it are kept. */
void
film_step_terminal_guard(const char *leave);

/* The full screen is left: signals do again what they did. Then the signal that asked
 * us to end, if any, ends us. */
void
film_step_terminal_release(void);

#endif
