/* flight.c: see flight.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/flight.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"

static void
keep_text(const film_json *json, const film_json_node *node, char *to, size_t room)
{
    const char *text = film_json_text(json, node);

    (void)snprintf(to, room, "%s", text == NULL ? "" : text);
}

static void
keep_last(const film_json *json, const film_json_node *entry, film_flight *flight)
{
    const film_json_node *group = film_json_get(json, entry, "process_group");
    const film_json_node *part = group == NULL ? NULL : film_json_first(json, group);
    const film_json_node *described = part == NULL ? NULL : film_json_next(json, part);
    bool is_pair = film_json_is(film_json_get(json, entry, "is_p2p"), FILM_JSON_TRUE);
    const film_json_node *number =
        film_json_get(json, entry, is_pair ? "p2p_seq_id" : "collective_seq_id");

    keep_text(json, film_json_get(json, entry, "profiling_name"), flight->name,
              sizeof(flight->name));
    keep_text(json, film_json_get(json, entry, "state"), flight->state,
              sizeof(flight->state));
    keep_text(json, described != NULL ? described : part, flight->group,
              sizeof(flight->group));
    flight->number = film_json_is(number, FILM_JSON_INTEGER) ? number->integer : -1;
}

static bool
keep(const film_json *json, film_flight *flight)
{
    const film_json_node *entries =
        film_json_get(json, film_json_root(json), "entries");
    const film_json_node *left_out =
        film_json_get(json, film_json_root(json), "entries_left_out");
    const film_json_node *last = NULL;

    if (!film_json_is(entries, FILM_JSON_ARRAY)) {
        return false;
    }
    for (const film_json_node *item = film_json_first(json, entries); item != NULL;
         item = film_json_next(json, item)) {
        last = item;
        flight->entries++;
    }
    if (film_json_is(left_out, FILM_JSON_INTEGER) && left_out->integer > 0) {
        flight->entries += (uint64_t)left_out->integer;
    }
    if (last != NULL) {
        keep_last(json, last, flight);
    }
    return last != NULL;
}

bool
film_flight_read(const film_reader *reader, film_flight *flight)
{
    const char *text = film_reader_meta(reader, "flight_recorder");
    film_json json = {0};
    bool found;

    memset(flight, 0, sizeof(*flight));
    if (text == NULL) {
        return false;
    }
    found = film_json_read(&json, text, strlen(text), NULL) == FILM_OK &&
            keep(&json, flight);
    film_json_reset(&json);
    return found;
}
