/* interrupt.h: a half-written file goes when the program is interrupted.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_INTERRUPT_H
#define FILMSTRIP_INTERRUPT_H

/* SIGINT, SIGTERM and SIGHUP wait until film_interrupt_guard: to be called before the
 * file is made. */
void
film_interrupt_delay(void);

/* From here on they remove `path` (NULL: none was made) and then end the program as
 * they would have. `path` must stay valid until film_interrupt_release. */
void
film_interrupt_guard(const char *path);

/* To be called when all is written, before the file gets its name: an interrupt comes
 * too late from here on, and the program ends as if there had been none. */
void
film_interrupt_release(void);

#endif
