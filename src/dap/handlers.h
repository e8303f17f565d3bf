/* handlers.h: the handlers of all requests, by file; see film_dap_handler.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_DAP_HANDLERS_H
#define FILMSTRIP_DAP_HANDLERS_H

#include "dap/session.h"

#define FILM_DAP_HANDLER(name)                                                         \
    bool film_dap_##name(film_dap *dap, const film_json_node *arguments)

/* set_points.c, data_points.c */
FILM_DAP_HANDLER(set_breakpoints);
FILM_DAP_HANDLER(set_function_breakpoints);
FILM_DAP_HANDLER(set_exception_breakpoints);
FILM_DAP_HANDLER(breakpoint_locations);
FILM_DAP_HANDLER(data_breakpoint_info);
FILM_DAP_HANDLER(set_data_breakpoints);

/* stack.c */
FILM_DAP_HANDLER(threads);
FILM_DAP_HANDLER(stack_trace);
FILM_DAP_HANDLER(scopes);
FILM_DAP_HANDLER(exception_info);
FILM_DAP_HANDLER(source_text);
FILM_DAP_HANDLER(loaded_sources);

/* values.c, evaluate.c */
FILM_DAP_HANDLER(variables);
FILM_DAP_HANDLER(evaluate);
FILM_DAP_HANDLER(completions);

/* movement.c */
FILM_DAP_HANDLER(continue);
FILM_DAP_HANDLER(reverse_continue);
FILM_DAP_HANDLER(next);
FILM_DAP_HANDLER(step_in);
FILM_DAP_HANDLER(step_out);
FILM_DAP_HANDLER(step_back);
FILM_DAP_HANDLER(reverse_step_in);
FILM_DAP_HANDLER(reverse_step_out);
FILM_DAP_HANDLER(pause);

/* jumps.c */
FILM_DAP_HANDLER(goto_targets);
FILM_DAP_HANDLER(goto);
FILM_DAP_HANDLER(restart_frame);
FILM_DAP_HANDLER(restart);
FILM_DAP_HANDLER(jump_request);

/* lifecycle.c */
FILM_DAP_HANDLER(initialize);
FILM_DAP_HANDLER(launch);
FILM_DAP_HANDLER(configuration_done);
FILM_DAP_HANDLER(disconnect);
FILM_DAP_HANDLER(terminate);
FILM_DAP_HANDLER(cancel);
FILM_DAP_HANDLER(query_request);

#endif
