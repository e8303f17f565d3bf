/* progress.h: how far a long walk over events has come, for whoever watches.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_PROGRESS_H
#define FILMSTRIP_PROGRESS_H

#include <stdint.h>

/* Walks report every so many events: often enough for a line that moves, rare enough
 * to cost nothing. */
#define FILM_PROGRESS_STRIDE 65536u

typedef struct film_progress {
    uint64_t done;                                /* events walked so far */
    void (*show)(struct film_progress *progress); /* called after `done` grew */
} film_progress;

static inline void
film_progress_add(film_progress *progress, uint64_t events)
{
    if (progress != NULL) {
        progress->done += events;
        progress->show(progress);
    }
}

#endif
