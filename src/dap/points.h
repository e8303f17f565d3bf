/* points.h: setting breakpoints: begin, add each, end.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_DAP_POINTS_H
#define FILMSTRIP_DAP_POINTS_H

#include "dap/session.h"

/* Those of the group (LINE: and source) are set anew; the old ones stay until
 * film_dap_end_points. */
void
film_dap_begin_points(film_dap *dap, film_dap_group group, size_t source);

/* `spec` is a BREAKPOINT of film_query. False: refused. */
bool
film_dap_add_point(film_dap *dap, film_dap_group group, size_t source,
                   const film_json_writer *spec, bool log);

/* The members of a spec that every kind may have: condition and hit. */
void
film_dap_put_conditions(const film_dap *dap, film_json_writer *spec,
                        const film_json_node *from);

/* Verifies them and writes them into the response. */
bool
film_dap_end_points(film_dap *dap, film_dap_group group, size_t source);

/* Log points that are new say what they would have said so far (logpoints.c). */
void
film_dap_tell_past(film_dap *dap);

#endif
