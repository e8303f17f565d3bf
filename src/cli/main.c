/* main.c: finds the command and runs it.
 * SPDX-License-Identifier: Apache-2.0 */
#include <filmstrip/filmstrip.h>

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"

#ifndef FILMSTRIP_VERSION
#define FILMSTRIP_VERSION "0.1.0"
#endif

static const film_command *const commands[] = {
    &film_command_run,    &film_command_info, &film_command_log,   &film_command_report,
    &film_command_export, &film_command_dump, &film_command_check, &film_command_scrub,
    &film_command_nan,    &film_command_diff, &film_command_step,  &film_command_dap,
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

int
film_command_fail(const film_command *command, const char *format, ...)
{
    va_list arguments;

    fflush(stdout);
    fprintf(stderr, "filmstrip%s%s: ", command == NULL ? "" : " ",
            command == NULL ? "" : command->name);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return FILM_EXIT_WRONG;
}

/* How many letters must be typed, dropped or changed to get from one to the other. */
static size_t
distance(const char *from, const char *to)
{
    size_t row[64];
    size_t width = strlen(to);

    if (width >= 64) {
        return SIZE_MAX;
    }
    for (size_t k = 0; k <= width; k++) {
        row[k] = k;
    }
    for (size_t i = 1; from[i - 1] != '\0'; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t k = 1; k <= width; k++) {
            size_t changed = corner + (from[i - 1] != to[k - 1]);
            size_t least = row[k] < row[k - 1] ? row[k] : row[k - 1];
            corner = row[k];
            row[k] = least + 1 < changed ? least + 1 : changed;
        }
    }
    return row[width];
}

const char *
film_command_suggest(const char *typed, const char *const *names)
{
    const char *best = NULL;
    size_t least = strlen(typed) / 2 < 3 ? strlen(typed) / 2 + 1 : 3;

    if (strlen(typed) > 60) {
        return NULL;
    }
    for (; *names != NULL; names++) {
        size_t changes = distance(typed, *names);
        if (changes < least) {
            least = changes;
            best = *names;
        }
    }
    return best;
}

static void
print_help(void)
{
    printf("filmstrip: a flight recorder for Python programs.\n\n"
           "usage: filmstrip COMMAND ...\n\ncommands:\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        printf("  %-8s  %s\n", commands[i]->name, commands[i]->summary);
    }
    printf("\n'filmstrip COMMAND --help' or 'filmstrip help COMMAND' is the page of a "
           "command,\nwith examples.\n"
           "\nexamples:\n"
           "  filmstrip run my_program.py      # records into my_program.film\n"
           "  filmstrip log my_program.film    # the run as a log\n"
           "  filmstrip report my_program.film # where the time went\n");
}

static bool
ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);

    return length > tail && strcmp(text + length - tail, end) == 0;
}

/* What could stand behind `run`: x.py, -m, -c. */
static bool
is_program(const char *typed)
{
    return ends_with(typed, ".py") || strcmp(typed, "-m") == 0 ||
           strcmp(typed, "-c") == 0;
}

static int
refuse(const char *typed)
{
    const char *names[COMMAND_COUNT + 1];
    const char *meant;

    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        names[i] = commands[i]->name;
    }
    names[COMMAND_COUNT] = NULL;
    if (is_program(typed)) {
        return film_command_fail(
            NULL, "there is no command '%s'; did you mean 'filmstrip run %s'?", typed,
            typed);
    }
    if (access(typed, R_OK) == 0 && ends_with(typed, ".film")) {
        return film_command_fail(
            NULL, "there is no command '%s'; did you mean 'filmstrip log %s'?", typed,
            typed);
    }
    meant = film_command_suggest(typed, names);
    if (meant != NULL) {
        return film_command_fail(NULL, "there is no command '%s'; did you mean '%s'?",
                                 typed, meant);
    }
    return film_command_fail(
        NULL, "there is no command '%s'; 'filmstrip --help' lists them all", typed);
}

/* argv[0] is the command's name. */
static int
run_command(const char *name, int argc, char **argv)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(name, commands[i]->name) == 0) {
            return commands[i]->run(commands[i], argc, argv);
        }
    }
    return refuse(name);
}

int
main(int argc, char **argv)
{
    static char help_option[] = "--help";

    /* A closed pipe shall be a status to handle, not a death. */
    signal(SIGPIPE, SIG_IGN);
    if (argc < 2) {
        print_help();
        return FILM_EXIT_WRONG;
    }
    if (argc > 2 && strcmp(argv[1], "help") == 0) {
        return run_command(argv[2], 2, (char *[]){argv[2], help_option, NULL});
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        print_help();
        return FILM_EXIT_DONE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("filmstrip %s (format %d.%d)\n", FILMSTRIP_VERSION, FILM_FORMAT_MAJOR,
               FILM_FORMAT_MINOR);
        return FILM_EXIT_DONE;
    }
    return run_command(argv[1], argc - 1, argv + 1);
}
