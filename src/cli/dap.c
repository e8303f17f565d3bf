/* dap.c: recordings for editors, over the Debug Adapter Protocol.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dap/dap.h"

#include <stdio.h>
#include <unistd.h>

#include "analysis/recordings.h"
#include "cli/command.h"
#include "cli/options.h"

#define NO_PORT UINT64_MAX

/* On the terminal and nowhere else: who can read it may read recordings as we can. */
static void
print_place(void *context, uint16_t port, const char *token)
{
    (void)context;
    printf("listening on 127.0.0.1:%u\ntoken: %s\n", port, token);
    fflush(stdout);
}

/* What is typed wrong is said at once, not when a client asks for it; damage is for the
 * session to tell. */
static bool
can_be_read(const film_command *command, char **path)
{
    film_recordings set = {0};
    film_error error = {FILM_OK, 0, ""};

    if (film_recordings_open(&set, path, 1, &error) != FILM_OK) {
        film_command_fail(command, "%s", error.message);
        return false;
    }
    film_recordings_close(&set);
    return true;
}

static int
run(const film_command *command, int argc, char **argv)
{
    uint64_t port = NO_PORT;
    const film_option options[] = {
        {.name = "port",
         .type = FILM_OPTION_NUMBER,
         .argument = "N",
         .help = "listens on 127.0.0.1:N instead of the standard input; 0: any free "
                 "port. Prints the port and a token, which a client must send",
         .target = &port},
        {0}};
    film_error error = {FILM_OK, 0, ""};
    film_dap_options session = {0};
    film_status status;
    size_t count;
    int code;

    if (!film_options_parse(command, options, argc, argv, &count, &code)) {
        return code;
    }
    if (count > 1) {
        return film_command_fail(command, "one recording at a time, not %zu", count);
    }
    if (port != NO_PORT && port > UINT16_MAX) {
        return film_command_fail(command, "there is no port %llu",
                                 (unsigned long long)port);
    }
    if (port == NO_PORT && isatty(STDIN_FILENO)) {
        return film_command_fail(command,
                                 "an editor starts this and speaks to it through a "
                                 "pipe; 'filmstrip step' is for a terminal, --port "
                                 "waits for a client");
    }
    if (count == 1 && !can_be_read(command, &argv[1])) {
        return FILM_EXIT_WRONG;
    }
    session.film = count == 1 ? argv[1] : NULL;
    status =
        port == NO_PORT
            ? film_dap_serve(STDIN_FILENO, STDOUT_FILENO, &session, &error)
            : film_dap_listen((uint16_t)port, session.film, print_place, NULL, &error);
    return status == FILM_OK ? FILM_EXIT_DONE
                             : film_command_fail(command, "%s", error.message);
}

const film_command film_command_dap = {
    "dap",
    "the time-travelling debugger for editors (Debug Adapter Protocol)",
    "[OPTIONS] [FILE]",
    "Speaks the Debug Adapter Protocol on the standard input and output: an editor "
    "starts it and opens a recording in it as if it were a running program. VS Code "
    "(editors/vscode), Neovim and Emacs are set up as docs/editors.md says.\n"
    "\n"
    "Breakpoints, steps and continue go both ways, over recorded events; nothing of "
    "the program runs. Source comes from the recording where the file on disk is "
    "another one or is not there. The ends of the recording are stops, not the end of "
    "the session.\n"
    "\n"
    "A launch (or attach) request has the arguments film (the recording; FILE where it "
    "names none), cwd (where a relative name begins), stopOnEntry (default true), at "
    "(where to begin: start, end or a moment such as 1:1234), sourceRoots (folders to "
    "look for sources in) and token (with --port).\n"
    "\n"
    "With --port one client after the other is served, on the loopback address only. "
    "A launch without the token that was printed is refused, and a client that does "
    "not bring it within 10 seconds is sent away.",
    "filmstrip dap                  # what an editor runs\n"
    "filmstrip dap --port 4711      # for a client that connects",
    run,
};
