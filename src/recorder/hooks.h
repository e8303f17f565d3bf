/* hooks.h: what a backend offers: hooks_monitoring.c on 3.12 and later, hooks_trace.c
 * on 3.11.
 * Threads: with the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_HOOKS_H
#define FILMSTRIP_RECORDER_HOOKS_H

#include "recorder/compat.h"

/* Finds out whether hooks can be had, before a file is made, and takes what must be
 * reserved. False with a Python exception: one sentence. */
bool
film_hooks_reserve(void);

/* Turns the events on. False with a Python exception; film_hooks_remove is still
 * called. */
bool
film_hooks_install(void);

/* Takes off everything film_hooks_reserve and film_hooks_install put on; harmless when
 * there is nothing. Clears any exception of its own. */
void
film_hooks_remove(void);

/* Writes a lost_control event if somebody took our hooks away. Before remove. */
void
film_hooks_check_control(void);

/* The code has observation points: its instructions are events from now on. */
void
film_hooks_watch(PyCodeObject *code);

/* Prepares the backend's types; called once per module. -1 with an exception. */
int
film_hooks_prepare(PyObject *module);

#endif
