/* command.h: what a command of the program is: its words for --help and its function.
 * One file of this folder a command.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_COMMAND_H
#define FILMSTRIP_COMMAND_H

/* The exit codes of every command but run. */
enum {
    FILM_EXIT_DONE = 0,
    FILM_EXIT_NO = 1,   /* the answer is no: check found damage */
    FILM_EXIT_WRONG = 2 /* wrong use or bad input */
};

typedef struct film_command {
    const char *name;
    const char *summary;     /* a line in the list of commands */
    const char *usage;       /* what follows "filmstrip NAME " */
    const char *description; /* paragraphs */
    const char *examples;    /* lines: a command, or what it does after "# " */
    /* argv[0] is the command's name. Returns the exit code. */
    int (*run)(const struct film_command *command, int argc, char **argv);
} film_command;

extern const film_command film_command_run;
extern const film_command film_command_info;
extern const film_command film_command_log;
extern const film_command film_command_report;
extern const film_command film_command_export;
extern const film_command film_command_dump;
extern const film_command film_command_check;
extern const film_command film_command_scrub;
extern const film_command film_command_nan;
extern const film_command film_command_diff;
extern const film_command film_command_step;
extern const film_command film_command_dap;

/* One sentence to the standard error, with the command's name before it. Returns
 * FILM_EXIT_WRONG. */
int
film_command_fail(const film_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The name in `names` (ended by NULL) that was most likely meant, or NULL. */
const char *
film_command_suggest(const char *typed, const char *const *names);

#endif
