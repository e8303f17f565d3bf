/* log_json.c: dump's objects in order of time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/log.h"

#include "base/alloc.h"
#include "export/event_json.h"

struct film_log_json {
    const film_recordings *set; /* borrowed */
    film_event_json *items;     /* owned, one a recording */
};

film_status
film_log_json_new(const film_recordings *set, film_log_json **out, film_error *error)
{
    film_log_json *log = film_alloc(sizeof(*log));
    film_status status = FILM_OK;

    *out = NULL;
    if (log == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    log->set = set;
    log->items = film_alloc_array(set->count, sizeof(*log->items));
    if (log->items == NULL) {
        status = film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    for (size_t i = 0; status == FILM_OK && i < set->count; i++) {
        status = film_event_json_init(&log->items[i], set->items[i].reader, error);
        if (status == FILM_OK && set->count > 1) {
            film_event_json_name_process(&log->items[i],
                                         film_reader_info(set->items[i].reader)->pid,
                                         set->items[i].rank);
        }
    }
    if (status != FILM_OK) {
        film_log_json_free(log);
        return status;
    }
    *out = log;
    return FILM_OK;
}

void
film_log_json_free(film_log_json *log)
{
    if (log != NULL) {
        for (size_t i = 0; log->items != NULL && i < log->set->count; i++) {
            film_event_json_reset(&log->items[i]);
        }
        film_free(log->items);
        film_free(log);
    }
}

void
film_log_json_write(film_log_json *log, film_output *output, const film_merged *merged)
{
    film_event_json_write(&log->items[merged->recording], output, merged->event);
}
