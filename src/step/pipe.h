/* pipe.h: commands a line, answers a paragraph: for pipes, scripts and terminals that
 * cannot do more.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_PIPE_H
#define FILMSTRIP_PIPE_H

#include "step/session.h"

typedef struct film_step_pipe {
    bool prompt; /* a person types: show a prompt, an empty line repeats the last */
    bool failed; /* some command failed */
    bool wrote;  /* something was printed: a blank line comes before the next */
} film_step_pipe;

/* Runs one command and prints its answer. False: nobody reads any more, or quit. */
bool
film_step_pipe_run(film_step_pipe *pipe, film_step *step, const char *line,
                   size_t length);

/* Runs the commands that standard input holds. */
void
film_step_pipe_read(film_step_pipe *pipe, film_step *step);

#endif
