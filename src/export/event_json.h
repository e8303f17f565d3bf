/* event_json.h: an event as one JSON object on a line, as `dump` prints it.
 * The keys are a promise (docs/dump.md): keys may be added, none changes its meaning.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_EVENT_JSON_H
#define FILMSTRIP_EVENT_JSON_H

#include <filmstrip/reader.h>

#include "analysis/open_ops.h"
#include "export/moment_texts.h"
#include "export/names.h"
#include "export/output.h"
#include "export/value_json.h"

typedef struct film_event_json {
    film_reader *reader; /* borrowed */
    film_value_json values;
    film_moment_texts texts;
    bool has_values;  /* level values: every call has args */
    film_names calls; /* "function":...,"file":...,"line":... of each code */
    char head[80];    /* {"event": or, with a process id, {"pid":N,"event": */
    size_t head_length;
    char thread[48]; /* ,"thread":N,"time_ns": of the thread written last */
    size_t thread_length;
    uint32_t thread_id;
    film_open_ops ops;              /* how long they took */
    struct film_forwards *forwards; /* owned; NULL: none was asked for yet */
} film_event_json;

FILM_NODISCARD film_status
film_event_json_init(film_event_json *json, film_reader *reader, film_error *error);

void
film_event_json_reset(film_event_json *json);

/* From now on every object begins with its process id and, where it is not negative, its
 * rank: for logs of several. */
void
film_event_json_name_process(film_event_json *json, uint64_t pid, int64_t rank);

/* Writes the line with its line break. */
void
film_event_json_write(film_event_json *json, film_output *output,
                      const film_event *event);

#endif
