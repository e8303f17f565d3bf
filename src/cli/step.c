/* step.c: the time-travelling debugger: full screen on a terminal, else command by
 * command.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/options.h"
#include "cli/reading.h"
#include "step/pipe.h"
#include "step/session.h"
#if FILM_WITH_NCURSES
#include "screen/screen.h"
#endif

typedef struct step_options {
    film_option_list commands;
    const char *at;
    bool pipe, json, table;
    size_t color;
} step_options;

/* Stands where --at says. */
static bool
start_at(const film_command *command, film_step *step, const char *at)
{
    film_buffer line = {0};
    bool is_time = at != NULL && at[strspn(at, "0123456789:")] != '\0';
    bool failed;

    if (at == NULL) {
        return true;
    }
    film_buffer_append_text(&line, is_time ? "time " : "event ");
    film_buffer_append_text(&line, at);
    film_step_run(step, (const char *)line.data, line.length);
    failed = step->failed || line.failed;
    film_buffer_reset(&line);
    if (failed) {
        film_command_fail(command, "--at: %.*s",
                          (int)(step->text.length > 0 ? step->text.length - 1 : 0),
                          step->text.length > 0 ? (char *)step->text.data : "");
    }
    else if (step->beyond) { /* its first line says so */
        const char *said = (const char *)step->text.data;
        const char *end = memchr(said, '\n', step->text.length);
        fprintf(stderr, "filmstrip step: --at %.40s: %.*s\n", at,
                (int)(end == NULL ? 0 : end - said), said);
    }
    step->trail_count = 0;
    return !failed;
}

static int
run_lines(film_step *step, const step_options *wanted, bool prompt)
{
    film_step_pipe pipe = {.prompt = prompt};
    bool going = true;

    step->json = wanted->json;
    for (size_t i = 0; i < wanted->commands.count && going; i++) {
        going = film_step_pipe_run(&pipe, step, wanted->commands.items[i],
                                   strlen(wanted->commands.items[i]));
    }
    if (wanted->commands.count == 0) {
        film_step_pipe_read(&pipe, step);
    }
    return pipe.failed ? FILM_EXIT_NO : FILM_EXIT_DONE;
}

static bool
run_screen(film_step *step, bool color, const char **why)
{
#if FILM_WITH_NCURSES
    return film_screen_run(step, color, why);
#else
    (void)step;
    (void)color;
    *why = "this filmstrip was built without ncurses";
    return false;
#endif
}

static int
run_session(const film_command *command, film_step *step, const step_options *wanted)
{
    bool person = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    const char *why = "";

    if (!start_at(command, step, wanted->at)) {
        return FILM_EXIT_WRONG;
    }
    if (wanted->pipe || wanted->json || wanted->commands.count > 0 || !person) {
        return run_lines(step, wanted, false);
    }
    if (run_screen(step, film_reading_wants_color(wanted->color), &why)) {
        return FILM_EXIT_DONE;
    }
    fprintf(stderr,
            "filmstrip step: %s, so it goes line by line; help lists the commands\n",
            why);
    return run_lines(step, wanted, true);
}

static int
open_and_run(const film_command *command, char *path, size_t count,
             const step_options *wanted)
{
    film_reading reading;
    film_step step;
    film_status status;
    int code = FILM_EXIT_WRONG, closed;

    if (count > 1) {
        return film_command_fail(command, "one recording at a time, not %zu", count);
    }
    if (!film_reading_open(&reading, command, &path, count)) {
        return FILM_EXIT_WRONG;
    }
    status = film_step_open(&step, reading.set.items[0].reader, path, &reading.error);
    if (status == FILM_OK) {
        code = run_session(command, &step, wanted);
        film_step_close(&step);
    }
    closed = film_reading_close(&reading, status);
    return closed != FILM_EXIT_DONE ? closed : code;
}

/* The command's page, with the table of commands and keys in it. */
static bool
describe(const film_command *command, film_buffer *words)
{
    film_buffer_append_text(words, command->description);
    film_buffer_append_text(words, "\n\nKeys of the full screen, and commands:\n");
    film_words_help(words, 78);
    film_buffer_put_byte(words, '\0');
    return !words->failed;
}

static int
print_table(void)
{
    film_buffer table = {0};

    film_words_markdown(&table);
    if (!table.failed) {
        fwrite(table.data, 1, table.length, stdout);
    }
    film_buffer_reset(&table);
    return FILM_EXIT_DONE;
}

static int
run(const film_command *command, int argc, char **argv)
{
    step_options wanted = {.at = NULL};
    const film_option options[] = {
        {"command", 'c', FILM_OPTION_LIST, "COMMAND",
         "Run this command, print its answer and end; may be repeated.",
         &wanted.commands, NULL},
        {"at", 0, FILM_OPTION_TEXT, "MOMENT",
         "Begin there: THREAD:EVENT, an event, a time (1.5s, 20ms) or 50%.", &wanted.at,
         NULL},
        {"pipe", 'p', FILM_OPTION_FLAG, NULL,
         "Read commands from the standard input, also where that is a terminal.",
         &wanted.pipe, NULL},
        {"json", 'j', FILM_OPTION_FLAG, NULL,
         "Answer each command with one JSON object on a line.", &wanted.json, NULL},
        {"color", 0, FILM_OPTION_CHOICE, "WHEN",
         "Colours on the full screen: auto (the default; not where NO_COLOR is set), "
         "always, never.",
         &wanted.color, film_color_choices},
        {"table", 0, FILM_OPTION_FLAG, NULL,
         "Print the table of commands and keys as markdown, without a recording.",
         &wanted.table, NULL},
        {0},
    };
    film_command whole = *command;
    film_buffer words = {0};
    size_t count;
    int code = FILM_EXIT_WRONG;

    if (!describe(command, &words)) {
        film_buffer_reset(&words);
        return film_command_fail(command, "memory ran out");
    }
    whole.description = (const char *)words.data;
    if (film_options_parse(&whole, options, argc, argv, &count, &code)) {
        code = wanted.table ? print_table()
                            : open_and_run(command, argv[1], count, &wanted);
    }
    film_buffer_reset(&words);
    film_free(wanted.commands.items);
    return code;
}

const film_command film_command_step = {
    "step",
    "steps through a recording, forwards and backwards",
    "[options] FILE",
    "Stands at any moment of a recording and moves both ways: the source with the line "
    "that is about to run, the values beside the lines that wrote them, the stack, the "
    "variables. Asks who wrote a value and where it came from. The program is not run "
    "again.\n"
    "\n"
    "On a terminal it fills the screen and is driven by single keys; a colon takes a "
    "command. From a pipe it reads one command a line and answers each with a "
    "paragraph, a blank line between two, or with --json with one object a line. Empty "
    "lines and lines that begin with # are skipped. A command that fails says why and "
    "the next one runs; the exit status then is 1.",
    "filmstrip step train.film\n"
    "filmstrip step train.film --at 50%\n"
    "filmstrip step train.film -c 'b train.py:12 if loss > 10' -c c -c locals\n"
    "echo 'origin loss' | filmstrip step train.film --at 1:48112 --json",
    run,
};
