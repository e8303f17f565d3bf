/* moment_texts.c: see moment_texts.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/moment_texts.h"

#include <string.h>

#include "reader/reader_state.h"

film_status
film_moment_texts_init(film_moment_texts *texts, film_reader *reader, film_error *error)
{
    *texts = (film_moment_texts){.reader = reader, .generation = reader->generation};
    return film_timeline_open(reader, &texts->at.timeline, error);
}

/* Of a recording that goes on being written the reader has seen more since. */
static void
open_anew(film_moment_texts *texts)
{
    film_timeline_close(texts->at.timeline);
    texts->generation = texts->reader->generation;
    if (film_timeline_open(texts->reader, &texts->at.timeline, NULL) != FILM_OK) {
        texts->at.timeline = NULL;
    }
}

void
film_moment_texts_begin(film_moment_texts *texts, const film_event *event)
{
    if (texts->generation != texts->reader->generation) {
        open_anew(texts);
    }
    if (texts->at.timeline != NULL) {
        texts->at.moment = film_moment_of(event->thread, event->number);
        film_timeline_lend(texts->at.timeline, &texts->at);
    }
}

void
film_moment_texts_end(film_moment_texts *texts)
{
    if (texts->at.timeline != NULL) {
        film_timeline_lend(texts->at.timeline, NULL);
    }
}

void
film_moment_texts_reset(film_moment_texts *texts)
{
    film_timeline_close(texts->at.timeline);
    memset(texts, 0, sizeof(*texts));
}
