/* search.h: long questions, piece by piece.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_DAP_SEARCH_H
#define FILMSTRIP_DAP_SEARCH_H

#include "dap/session.h"

/* Watches over a loop of questions. */
typedef struct film_dap_watch {
    const char *title;
    uint64_t began_ns, shown_ns;
    bool shown; /* the client has been told of it */
} film_dap_watch;

void
film_dap_watch_begin(film_dap *dap, film_dap_watch *watch, const char *title);

/* Between two pieces: shows how far it is (progress 0 to 1; negative: not known),
 * looks at what the client has sent. */
film_dap_interrupt
film_dap_watch_go_on(film_dap *dap, film_dap_watch *watch, double progress);

void
film_dap_watch_end(film_dap *dap, film_dap_watch *watch);

/* Asks the question in dap->question (not closed yet) until it is finished. What log
 * points say is told. False: refused. *interrupt: whether the client stopped it;
 * PAUSED: `answer` is that of the moment where the search was. */
bool
film_dap_search(film_dap *dap, const char *title, film_dap_answer *answer,
                film_dap_interrupt *interrupt);

/* A line that a log point said. */
void
film_dap_tell_log(film_dap *dap, const film_dap_point *point, const char *text);

#endif
