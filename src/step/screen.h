/* screen.h: the debugger on a whole terminal.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_SCREEN_H
#define FILMSTRIP_SCREEN_H

#include "step/session.h"

/* Whether this build can do it: it needs ncursesw. */
bool
film_step_has_screen(void);

/* Runs until the person ends it. False: the terminal can do no full screen; *why is a
 * sentence. */
bool
film_step_screen(film_step *step, bool color, const char **why);

#endif
