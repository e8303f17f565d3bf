/* moment_texts.h: some objects are shown by what their attributes hold (dataclasses,
 * members of an Enum): for one who writes events one by one, what they held at each.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_MOMENT_TEXTS_H
#define FILMSTRIP_MOMENT_TEXTS_H

#include "analysis/timeline.h"

typedef struct film_moment_texts {
    film_reader *reader; /* borrowed */
    film_timeline_at at; /* owns the timeline; NULL: none, they are shown by name */
    uint64_t generation; /* of the reader when it was opened */
} film_moment_texts;

FILM_NODISCARD film_status
film_moment_texts_init(film_moment_texts *texts, film_reader *reader,
                       film_error *error);

/* From now on the reader's texts are those at the event. */
void
film_moment_texts_begin(film_moment_texts *texts, const film_event *event);

/* And now they are as recorded again. */
void
film_moment_texts_end(film_moment_texts *texts);

void
film_moment_texts_reset(film_moment_texts *texts);

#endif
