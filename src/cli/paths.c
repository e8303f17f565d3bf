/* paths.c: see paths.h.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "cli/paths.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

static bool
add(film_paths *paths, const char *text)
{
    size_t length = strlen(text) + 1;

    if (paths->count == paths->capacity) {
        char **grown =
            film_grow(paths->items, &paths->capacity, paths->count + 1, sizeof(*grown));
        if (grown == NULL) {
            return false;
        }
        paths->items = grown;
    }
    paths->items[paths->count] = film_alloc(length);
    if (paths->items[paths->count] == NULL) {
        return false;
    }
    memcpy(paths->items[paths->count++], text, length);
    return true;
}

static int
compare(const void *left, const void *right)
{
    return strverscmp(*(char *const *)left, *(char *const *)right);
}

static bool
add_matches(film_paths *paths, const char *pattern)
{
    glob_t found;
    int result = glob(pattern, GLOB_NOSORT, NULL, &found);
    bool added = true;

    if (result != 0) {
        return result != GLOB_NOSPACE && add(paths, pattern);
    }
    qsort(found.gl_pathv, found.gl_pathc, sizeof(*found.gl_pathv), compare);
    for (size_t i = 0; added && i < found.gl_pathc; i++) {
        added = add(paths, found.gl_pathv[i]);
    }
    globfree(&found);
    return added;
}

bool
film_paths_expand(char *const *words, size_t count, film_paths *paths)
{
    for (size_t i = 0; i < count; i++) {
        bool is_pattern =
            strpbrk(words[i], "*?[") != NULL && access(words[i], F_OK) != 0;

        if (!(is_pattern ? add_matches(paths, words[i]) : add(paths, words[i]))) {
            return false;
        }
    }
    return true;
}

void
film_paths_reset(film_paths *paths)
{
    for (size_t i = 0; i < paths->count; i++) {
        film_free(paths->items[i]);
    }
    film_free(paths->items);
    *paths = (film_paths){0};
}
