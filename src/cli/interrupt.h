/* interrupt.h: a half-written file goes when the program is interrupted.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_INTERRUPT_H
#define FILMSTRIP_INTERRUPT_H

/* SIGINT, SIGTERM and SIGHUP remove `path` and then end the program as they would
 * have. `path` must stay valid until film_interrupt_release. */
void
film_interrupt_guard(const char *path);

void
film_interrupt_release(void);

#endif
