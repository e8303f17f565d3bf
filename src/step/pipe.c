/* pipe.c: line after line.
 * SPDX-License-Identifier: Apache-2.0 */
#include "step/pipe.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "step/terminal.h"

/* A line is read up to this length; of a longer one the rest is skipped. */
#define LONGEST_LINE ((size_t)1 << 20)

static bool
is_blank(const char *line, size_t length)
{
    while (length > 0 && isspace((unsigned char)*line)) {
        line++;
        length--;
    }
    return length == 0 || *line == '#';
}

bool
film_step_pipe_run(film_step_pipe *pipe, film_step *step, const char *line,
                   size_t length)
{
    if (is_blank(line, length)) {
        return true;
    }
    film_step_terminal_interrupted = 0;
    film_step_run(step, line, length);
    pipe->failed = pipe->failed || step->failed;
    if (step->text.failed) {
        fputs("memory ran out\n", stdout);
    }
    else if (step->text.length > 0) {
        if (pipe->wrote && !step->json) {
            putchar('\n');
        }
        pipe->wrote = true;
        fwrite(step->text.data, 1, step->text.length, stdout);
    }
    return fflush(stdout) == 0 && !step->quit;
}

static bool
is_interrupted(void *context, double progress)
{
    (void)context;
    (void)progress;
    return film_step_terminal_interrupted == 0;
}

#define NO_LINE SIZE_MAX
#define INTERRUPTED (SIZE_MAX - 1)

/* The next line without its end. */
static size_t
read_line(char *line)
{
    size_t length = 0;
    int byte;

    while ((byte = getchar()) != EOF && byte != '\n') {
        if (length <= LONGEST_LINE) { /* one more: it is told to be too long */
            line[length++] = (char)byte;
        }
    }
    if (byte == EOF && ferror(stdin) && film_step_terminal_interrupted != 0) {
        clearerr(stdin); /* Ctrl-C at the prompt: what was typed does not count */
        film_step_terminal_interrupted = 0;
        return INTERRUPTED;
    }
    return byte == EOF && length == 0 ? NO_LINE : length;
}

void
film_step_pipe_read(film_step_pipe *pipe, film_step *step)
{
    char *line = malloc(LONGEST_LINE + 2), *last = malloc(LONGEST_LINE + 2);
    size_t length, last_length = 0;
    bool going = line != NULL && last != NULL;

    step->working = is_interrupted;
    film_step_terminal_catch_interrupts(pipe->prompt);
    if (!going) {
        fputs("memory ran out\n", stderr);
        pipe->failed = true;
    }
    while (going) {
        if (pipe->prompt) {
            printf("%s(filmstrip) ", pipe->wrote ? "\n" : "");
            fflush(stdout);
            pipe->wrote = false;
        }
        length = read_line(line);
        if (length == NO_LINE) {
            break;
        }
        if (length == INTERRUPTED) {
            putchar('\n');
            continue;
        }
        if (pipe->prompt && length == 0 && last_length > 0) {
            going = film_step_pipe_run(pipe, step, last, last_length);
            continue;
        }
        going = film_step_pipe_run(pipe, step, line, length);
        memcpy(last, line, length);
        last_length = length;
    }
    free(line);
    free(last);
}
