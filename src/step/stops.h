/* stops.h: the breakpoints of a session.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_STOPS_H
#define FILMSTRIP_STOPS_H

#include "step/session.h"

/* Sets a breakpoint: its spec (JSON), as a list tells it, its place if it is a line.
 * Tells what film_query says of it. False: it makes no sense, which was told. */
bool
film_step_add_stop(film_step *step, const film_buffer *spec, const char *words,
                   const char *file, uint32_t line, bool once);

void
film_step_delete_stops(film_step *step);

/* False: there is none with that number. */
bool
film_step_delete_stop(film_step *step, unsigned id);

/* Adds all of them to a request, or only `spec` where it is given. */
void
film_step_add_stops(film_step *step, const char *spec);

/* The breakpoint on a line of a file as the recording names it; NULL: none. */
const film_step_stop *
film_step_stop_at(const film_step *step, const char *file, uint64_t line);

/* Whether `typed` names `file`: the whole of it or its last parts. */
bool
film_step_is_file(const char *file, const char *typed);

/* A text parted by a NUL, its own; NULL: memory ran out. */
char *
film_step_copy(const char *text, size_t length);

#endif
