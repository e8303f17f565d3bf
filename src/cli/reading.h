/* reading.h: what every reading command does before and after its own work: opens the
 * recordings, makes the standard output ready, shows progress, tells of damage, and
 * turns a status into an exit code.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_READING_H
#define FILMSTRIP_READING_H

#include "analysis/recordings.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/paths.h"
#include "export/output.h"

typedef struct film_reading {
    const film_command *command; /* borrowed */
    film_paths paths;            /* what the set was opened from */
    film_recordings set;
    film_output output;     /* the standard output */
    film_progress progress; /* given to the set when a person is watching */
    uint64_t total;         /* events to walk; 0: not known */
    uint64_t started_ns, shown_ns;
    bool progress_shown;
    film_error error; /* for the command's own calls */
} film_reading;

/* Opens `count` recordings, and those that patterns among them stand for. On failure a sentence was printed; the reading is empty
 * and the exit code FILM_EXIT_WRONG. */
bool
film_reading_open(film_reading *reading, const film_command *command, char **paths,
                  size_t count);

/* Reads the command's words and opens the recordings that they name, at most `most`.
 * False: *code is what to exit with. */
bool
film_reading_begin(film_reading *reading, const film_command *command,
                   const film_option *options, int argc, char **argv, size_t most,
                   int *code);

/* Flushes the output, tells what went wrong (`status` and reading->error, or damage
 * met while reading) and releases everything. Returns the exit code. */
int
film_reading_close(film_reading *reading, film_status status);

/* Whether to colour: the choice of --color, NO_COLOR, and whether a person looks. */
bool
film_reading_wants_color(size_t choice);

/* Removes the progress line before something else is written. */
void
film_reading_clear_progress(film_reading *reading);

#endif
