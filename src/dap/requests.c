/* requests.c: which handler answers which request.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "dap/handlers.h"

static const film_dap_command the_commands[] = {
    {"initialize", film_dap_initialize, false},
    {"launch", film_dap_launch, false},
    {"attach", film_dap_launch, false},
    {"disconnect", film_dap_disconnect, false},
    {"terminate", film_dap_terminate, false},
    {"cancel", film_dap_cancel, false},
    {"configurationDone", film_dap_configuration_done, true},
    {"setBreakpoints", film_dap_set_breakpoints, true},
    {"setFunctionBreakpoints", film_dap_set_function_breakpoints, true},
    {"setExceptionBreakpoints", film_dap_set_exception_breakpoints, true},
    {"dataBreakpointInfo", film_dap_data_breakpoint_info, true},
    {"setDataBreakpoints", film_dap_set_data_breakpoints, true},
    {"breakpointLocations", film_dap_breakpoint_locations, true},
    {"threads", film_dap_threads, true},
    {"stackTrace", film_dap_stack_trace, true},
    {"scopes", film_dap_scopes, true},
    {"variables", film_dap_variables, true},
    {"source", film_dap_source_text, true},
    {"loadedSources", film_dap_loaded_sources, true},
    {"evaluate", film_dap_evaluate, true},
    {"completions", film_dap_completions, true},
    {"exceptionInfo", film_dap_exception_info, true},
    {"continue", film_dap_continue, true},
    {"reverseContinue", film_dap_reverse_continue, true},
    {"next", film_dap_next, true},
    {"stepIn", film_dap_step_in, true},
    {"stepOut", film_dap_step_out, true},
    {"stepBack", film_dap_step_back, true},
    {"pause", film_dap_pause, true},
    {"gotoTargets", film_dap_goto_targets, true},
    {"goto", film_dap_goto, true},
    {"restartFrame", film_dap_restart_frame, true},
    {"restart", film_dap_restart, true},
    /* ours: what the protocol has no request for */
    {"filmstrip/reverseStepIn", film_dap_reverse_step_in, true},
    {"filmstrip/reverseStepOut", film_dap_reverse_step_out, true},
    {"filmstrip/jump", film_dap_jump_request, true},
    {"filmstrip/query", film_dap_query_request, true},
};

const film_dap_command *
film_dap_find_command(const char *name)
{
    for (size_t i = 0; i < sizeof(the_commands) / sizeof(the_commands[0]); i++) {
        if (strcmp(the_commands[i].name, name) == 0) {
            return &the_commands[i];
        }
    }
    return NULL;
}
