/* paths.h: the recordings that a command line names: files, and patterns that the shell
 * has left as they are.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_PATHS_H
#define FILMSTRIP_PATHS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct film_paths {
    char **items; /* owned, as are the texts; rank2 comes before rank10 */
    size_t count, capacity;
} film_paths;

/* A word that is no file and has *, ? or [ in it stands for the files that match; where
 * none does it stays as it is. False: out of memory; `paths` is to be reset then too. */
bool
film_paths_expand(char *const *words, size_t count, film_paths *paths);

void
film_paths_reset(film_paths *paths);

#endif
