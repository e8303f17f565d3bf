/* alignment.h: whose recordings were opened together, and how well their clocks are
 * known to agree: for the head of a log and for info.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_ALIGNMENT_H
#define FILMSTRIP_ALIGNMENT_H

#include "analysis/recordings.h"
#include "export/output.h"

/* Whether there is something to tell: ranks, or several hosts. */
bool
film_alignment_matters(const film_recordings *set);

/* Two or more lines, each behind `prefix`; nothing where nothing is to be told. */
void
film_alignment_print(const film_recordings *set, const char *prefix,
                     film_output *output);

/* Members of a JSON object about one recording, each behind a comma: rank, host, where
 * it begins on the common line, how its clock was laid there and how far it may be off. */
void
film_alignment_print_json(const film_recordings *set, size_t recording,
                          film_output *output);

/* Sorted numbers of ranks for people: 0, 2, 5 to 7. */
void
film_alignment_put_ranks(const int64_t *ranks, size_t count, film_output *output);

#endif
