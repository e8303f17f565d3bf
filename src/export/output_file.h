/* output_file.h: a file that appears whole or not at all.
 * Mode 0600, never through a symbolic link, never over something that exists unless
 * asked; replacing writes beside it and renames.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_OUTPUT_FILE_H
#define FILMSTRIP_OUTPUT_FILE_H

#include <stdbool.h>

#include <filmstrip/status.h>

typedef struct film_output_file {
    char *path; /* owned; what the caller asked for */
    char
        *partial; /* owned; what is being written: `path`, or beside it to replace it */
    int fd;
} film_output_file;

/* FILM_EXISTS without `replace` when something is there. */
FILM_NODISCARD film_status
film_output_file_create(film_output_file *file, const char *path, bool replace,
                        film_error *error);

/* Closes the file and gives it its name. On failure nothing is left behind. */
FILM_NODISCARD film_status
film_output_file_commit(film_output_file *file, film_error *error);

/* Closes and removes what was written. Does nothing after a commit. */
void
film_output_file_discard(film_output_file *file);

#endif
