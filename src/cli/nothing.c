/* nothing.c: see nothing.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/nothing.h"

#include <filmstrip/tensor.h>

#include <inttypes.h>

static const char *
recordings_name(const film_reading *reading)
{
    return reading->set.count == 1 ? "recording" : "recordings";
}

bool
film_nothing_of_thread(const film_reading *reading, uint64_t thread)
{
    for (size_t i = 0; i < reading->set.count; i++) {
        const film_reader *reader = reading->set.items[i].reader;
        size_t count = film_reader_thread_count(reader);

        for (size_t k = 0; k < count; k++) {
            if (thread == 0 || film_reader_thread(reader, k)->id == thread) {
                return false;
            }
        }
    }
    if (thread != 0) {
        film_command_fail(reading->command,
                          "the %s has no thread %" PRIu64
                          "; 'filmstrip info' lists them",
                          recordings_name(reading), thread);
    }
    return thread != 0;
}

/* The first pattern that is no function's name, or NULL. */
static const char *
unknown_function(const film_reading *reading, const film_selection *selection)
{
    for (size_t i = 0; i < selection->pattern_count; i++) {
        bool found = false;

        for (size_t k = 0; k < reading->set.count && !found; k++) {
            found = film_selection_knows(reading->set.items[k].reader,
                                         selection->patterns[i]);
        }
        if (!found) {
            return selection->patterns[i];
        }
    }
    return NULL;
}

static bool
have_ops(const film_recordings *set)
{
    for (size_t i = 0; i < set->count; i++) {
        if (film_reader_has_ops(set->items[i].reader)) {
            return true;
        }
    }
    return false;
}

bool
film_nothing_of_selection(const film_reading *reading, const film_selection *selection,
                          uint64_t thread)
{
    const film_command *command = reading->command;
    const char *name = recordings_name(reading), *function;

    if (selection->taken != 0 || (selection->pattern_count == 0 &&
                                  selection->variable_count == 0 && thread == 0)) {
        return false;
    }
    if (film_nothing_of_thread(reading, thread)) {
        return true;
    }
    function = unknown_function(reading, selection);
    if (function != NULL) {
        film_command_fail(command, "no function of the %s matches '%s'", name,
                          function);
    }
    else if (selection->variable_count > 0 &&
             !film_recordings_have_values(&reading->set)) {
        film_command_fail(command, "the %s has no values: record with --level values",
                          name);
    }
    else if (selection->variable_count > 0 && !selection->met_variable) {
        film_command_fail(command, "nothing that is written in the %s matches '%s'%s",
                          name, selection->variables[0],
                          selection->variable_count > 1 ? " or the others" : "");
    }
    else {
        film_command_fail(command, "no event of the %s is in what was asked for%s",
                          name,
                          selection->without_ops && have_ops(&reading->set)
                              ? "; --ops shows operations"
                              : "");
    }
    return true;
}
