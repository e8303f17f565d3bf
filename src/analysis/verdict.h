/* verdict.h: why a place is never stopped at: it is not in the recording, it did not
 * run, its condition was false, or could not be told. Different things, said apart.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_VERDICT_H
#define FILMSTRIP_VERDICT_H

#include "analysis/breakpoints.h"

typedef enum film_verdict {
    FILM_VERDICT_STOPS,
    FILM_VERDICT_NO_FILE,      /* no recorded code is in such a file */
    FILM_VERDICT_NO_LINE,      /* none of its code has the line, or one behind it */
    FILM_VERDICT_NO_FUNCTION,  /* no such function was recorded */
    FILM_VERDICT_NO_LINES,     /* the recording's level tells no lines */
    FILM_VERDICT_NEVER_RAN,    /* it is there and was not come to */
    FILM_VERDICT_NEVER_TRUE,   /* it ran, its condition did not hold */
    FILM_VERDICT_NEVER_KNOWN,  /* it ran, its condition could not be told once */
    FILM_VERDICT_NEVER_COUNTED /* its hit count is not reached */
} film_verdict;

/* Room for film_verdict_tell. */
#define FILM_VERDICT_TEXT 400u

/* "stops", "no_file", ...: as answers name it. */
const char *
film_verdict_name(film_verdict verdict);

/* What is to be said of a breakpoint that was looked for with this outcome and did not
 * stop. */
film_verdict
film_breakpoints_verdict(const film_breakpoints *set, size_t index,
                         const film_tally *tally);

/* The same as one sentence. `whole`: all of the recording was looked at. */
void
film_verdict_tell(const film_breakpoints *set, size_t index, film_verdict verdict,
                  const film_tally *tally, bool whole, char text[FILM_VERDICT_TEXT]);

/* "it ran 7 times, and the condition was never true": of conditions that are looked at
 * anywhere. `what`: "it ran", "it was looked at". */
void
film_tally_tell(const film_tally *tally, const char *what, char *text, size_t room);

#endif
