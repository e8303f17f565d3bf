/* scrub_content.h: the payload of each kind of chunk, without secrets.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_SCRUB_CONTENT_H
#define FILMSTRIP_SCRUB_CONTENT_H

#include "export/scrub_secrets.h"
#include "format/columns.h"
#include "format/value_columns.h"
#include "reader/reader_state.h"

typedef struct film_scrubber {
    film_reader *reader; /* borrowed */
    film_secrets secrets;
    film_scrub_counts counts;
    film_columns columns;             /* scratch */
    film_value_columns value_columns; /* scratch */
    film_buffer tokens;               /* scratch: the tokens of a row */
} film_scrubber;

/* Finds the values that secret names hold. */
FILM_NODISCARD film_status
film_scrub_find(film_scrubber *scrubber, film_error *error);

/* Append the payload of a chunk that holds `raw` to `out`. */
FILM_NODISCARD film_status
film_scrub_meta(film_scrubber *scrubber, const film_buffer *raw, film_buffer *out);

FILM_NODISCARD film_status
film_scrub_table(film_scrubber *scrubber, const film_buffer *raw, film_buffer *out);

/* Records one after the other, or taken apart: value_columns.h. */
FILM_NODISCARD film_status
film_scrub_values(film_scrubber *scrubber, const film_buffer *raw, uint64_t first,
                  bool in_columns, film_buffer *out);

FILM_NODISCARD film_status
film_scrub_source(film_scrubber *scrubber, const film_buffer *raw, film_buffer *out);

/* `state` is the thread's at the head of the chunk. */
FILM_NODISCARD film_status
film_scrub_events(film_scrubber *scrubber, const film_buffer *raw, film_state *state,
                  film_buffer *out);

/* Whether the value at `index` of an event has a secret name. */
bool
film_scrub_is_named(film_scrubber *scrubber, const film_event *event, uint32_t index);

#endif
