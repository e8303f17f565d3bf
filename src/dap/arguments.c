/* arguments.c: what a request brings; hostile clients bring anything.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dap/session.h"

const char *
film_dap_get_text(const film_dap *dap, const film_json_node *of, const char *key)
{
    return film_json_text(&dap->request, film_json_get(&dap->request, of, key));
}

int64_t
film_dap_get_integer(const film_dap *dap, const film_json_node *of, const char *key,
                     int64_t fallback)
{
    const film_json_node *value = film_json_get(&dap->request, of, key);

    return film_json_is(value, FILM_JSON_INTEGER) ? value->integer : fallback;
}

bool
film_dap_get_bool(const film_dap *dap, const film_json_node *of, const char *key,
                  bool fallback)
{
    const film_json_node *value = film_json_get(&dap->request, of, key);

    return film_json_is(value, FILM_JSON_TRUE)    ? true
           : film_json_is(value, FILM_JSON_FALSE) ? false
                                                  : fallback;
}

int64_t
film_dap_line(const film_dap *dap, int64_t line)
{
    return line > 0 && !dap->client.lines_at_1 ? line - 1 : line;
}

int64_t
film_dap_line_of(const film_dap *dap, int64_t told)
{
    return dap->client.lines_at_1 ? told : told + 1;
}
