/* screen.h: `filmstrip step` on a whole terminal, by ncursesw. Left out of builds that
 * have none (FILM_WITH_NCURSES).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_SCREEN_H
#define FILMSTRIP_SCREEN_H

#include "step/session.h"

/* Runs until the person ends it. False: the terminal can do no full screen; *why is a
 * sentence. The terminal is left as it was found. */
bool
film_screen_run(film_step *step, bool color, const char **why);

#endif
