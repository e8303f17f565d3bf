/* movement.h: how a session comes to another moment.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_DAP_MOVEMENT_H
#define FILMSTRIP_DAP_MOVEMENT_H

#include "dap/session.h"

/* Tells the client that it stands, and why. text and point may be NULL. */
void
film_dap_tell_stopped(film_dap *dap, const char *reason, const char *description,
                      const char *text, const film_dap_point *point);

/* Before a move by a request that the client does not know to be one: it would go on
 * showing what it showed. Nothing for the protocol's own moves. */
void
film_dap_tell_continued(film_dap *dap);

/* Stands at an end of the recording: the first line, or the last moment that has a
 * frame; `answer` is that of the end itself. */
void
film_dap_tell_end(film_dap *dap, bool back, film_dap_answer *answer);

/* Why a move of film_query ended: arrived, breakpoint, start, end. */
const char *
film_dap_reason(const film_dap_answer *answer);

/* Continues to the next breakpoint, or to the end, and tells where that is. */
void
film_dap_run_on(film_dap *dap, const char *moment, bool back, bool across);

/* Moves as "how" of film_query says, with more members of the question in `with` (JSON,
 * may be NULL). Refused: nothing has moved. Else the response goes out, and `stopped`
 * with that reason. */
bool
film_dap_jump(film_dap *dap, const char *moment, const char *how, const char *with,
              const char *reason, const char *description);

/* The same for a question that is written already (not closed). */
bool
film_dap_arrive(film_dap *dap, const char *how, const char *reason,
                const char *description);

#endif
