/* run.c: recording needs Python: the command lives in the Python package, this hands
 * it over.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

static int
run(const film_command *command, int argc, char **argv)
{
    static char module_option[] = "-m", module[] = "filmstrip", fallback[] = "python3";
    char *python = getenv("FILMSTRIP_PYTHON");
    int reason;
    char **arguments = film_alloc_array((size_t)argc + 4, sizeof(*arguments));

    if (arguments == NULL) {
        return film_command_fail(command, "not enough memory");
    }
    if (python == NULL || python[0] == '\0') {
        python = fallback;
    }
    arguments[0] = python;
    arguments[1] = module_option;
    arguments[2] = module;
    memcpy(arguments + 3, argv,
           (size_t)argc * sizeof(*arguments)); /* argv[0] is "run" */
    signal(SIGPIPE, SIG_DFL); /* an ignored signal would be inherited */
    execvp(python, arguments);
    reason = errno;
    film_free(arguments);
    return film_command_fail(command,
                             "cannot start %s (%s); set FILMSTRIP_PYTHON to a Python "
                             "that has filmstrip installed",
                             python, strerror(reason));
}

const film_command film_command_run = {
    "run",
    "records a program: filmstrip run SCRIPT ARGS, -m MODULE, -c CODE",
    "[options] SCRIPT ARGS",
    "",
    "",
    run,
};
