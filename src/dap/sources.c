/* sources.c: files of the recording and files of this machine. A file is shown from
 * disk where it is what was recorded, else from the recording: so a recording opens on
 * another machine, and after the program has changed.
 * SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "dap/session.h"

#define MOST_SOURCE ((off_t)64 << 20)
#define PATH_LENGTH 4096u

/* --- comparing --- */

/* What a file holds; NULL: it cannot be read, or is no file. A name in a recording may
 * be anything: pipes and devices are not opened to be waited for. */
static char *
read_file(const char *path, size_t *length)
{
    int file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat status;
    char *text = NULL;
    size_t have = 0;

    if (file < 0) {
        return NULL;
    }
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size <= MOST_SOURCE) {
        text = film_alloc((size_t)status.st_size + 1);
    }
    while (text != NULL && have < (size_t)status.st_size) {
        ssize_t got = read(file, text + have, (size_t)status.st_size - have);
        if (got <= 0) {
            break;
        }
        have += (size_t)got;
    }
    close(file);
    *length = have;
    return text;
}

/* The same lines, however they end. */
static bool
is_same_text(const char *one, size_t length, const char *other, size_t other_length)
{
    size_t i = 0, k = 0;

    if (length >= 3 && memcmp(one, "\xef\xbb\xbf", 3) == 0) {
        i = 3;
    }
    for (;;) {
        while (i < length && one[i] == '\r') {
            i++;
        }
        while (k < other_length && other[k] == '\r') {
            k++;
        }
        if (i == length || k == other_length) {
            return i == length && k == other_length;
        }
        if (one[i++] != other[k++]) {
            return false;
        }
    }
}

static bool
find_recorded(film_dap *dap, const char *file, film_source *source)
{
    for (size_t i = 0; film_reader_source(dap->reader, i, source, NULL) == FILM_OK;
         i++) {
        if (source->file.length == strlen(file) &&
            memcmp(source->file.data, file, source->file.length) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether the file on disk can be shown for the recorded one. */
static bool
is_same_file(const char *path, const film_source *recorded)
{
    size_t length = 0;
    char *text;
    bool same;

    if (recorded == NULL) {
        struct stat status;
        return stat(path, &status) == 0 && S_ISREG(status.st_mode);
    }
    text = read_file(path, &length);
    same = text != NULL && !recorded->cut &&
           is_same_text(text, length, recorded->text.data, recorded->text.length);
    film_free(text);
    return same;
}

/* --- looking --- */

/* The file under a folder of this machine, by ever fewer of its last parts. */
static bool
look_below(const char *root, const char *file, const film_source *recorded, char *path)
{
    for (const char *part = file; part != NULL; part = strchr(part, '/')) {
        int length;
        part += *part == '/';
        length = snprintf(path, PATH_LENGTH, "%s/%s", root, part);
        if (length > 0 && (size_t)length < PATH_LENGTH &&
            is_same_file(path, recorded)) {
            return true;
        }
    }
    return false;
}

static void
look(film_dap *dap, film_dap_source *source)
{
    film_source recorded;
    bool told = source->told && find_recorded(dap, source->file, &recorded);
    char *path = film_alloc(PATH_LENGTH);
    bool found = false;

    if (path == NULL) {
        source->by_text = told;
        return;
    }
    if (source->file[0] == '/') {
        snprintf(path, PATH_LENGTH, "%s", source->file);
        found = is_same_file(path, told ? &recorded : NULL);
    }
    for (size_t i = 0; i < dap->root_count && !found; i++) {
        found = look_below(dap->roots[i], source->file, told ? &recorded : NULL, path);
    }
    if (!found) {
        snprintf(path, PATH_LENGTH, "%s", source->file);
    }
    source->by_text = !found && told;
    source->missing = !found && !told;
    source->path = path;
}

void
film_dap_put_source(film_dap *dap, film_json_writer *out, const char *key, size_t index)
{
    film_dap_source *source = &dap->sources[index];
    const char *name;

    if (source->path == NULL) {
        look(dap, source);
    }
    name = strrchr(source->file, '/');
    film_json_open(out, key, '{');
    film_json_add_text(out, "name", name == NULL ? source->file : name + 1);
    film_json_add_text(out, "path", source->path == NULL ? source->file : source->path);
    if (source->by_text) {
        film_json_add_integer(out, "sourceReference", (int64_t)index + 1);
        film_json_add_text(out, "origin", "the recording");
    }
    if (source->missing) {
        film_json_add_text(out, "presentationHint", "deemphasize");
        film_json_add_text(out, "origin", "neither recorded nor on this machine");
    }
    film_json_close(out, '}');
}

size_t
film_dap_source_of(const film_dap *dap, const char *file)
{
    for (size_t i = 0; file != NULL && i < dap->source_count; i++) {
        if (strcmp(dap->sources[i].file, file) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* --- what a client names --- */

/* How many of the last parts of two paths are the same. */
static size_t
common_parts(const char *one, const char *other)
{
    size_t i = strlen(one), k = strlen(other), parts = 0;

    while (i > 0 && k > 0 && one[i - 1] == other[k - 1]) {
        i--;
        k--;
        parts += one[i] == '/';
    }
    /* a whole name at the front of one of them */
    return parts + ((i == 0 && (k == 0 || other[k - 1] == '/')) ||
                    (k == 0 && (i == 0 || one[i - 1] == '/')));
}

static bool
find_by_parts(film_dap *dap, const char *path, size_t *index)
{
    size_t best = 0, rivals = 0;

    for (size_t i = 0; i < dap->source_count; i++) {
        size_t parts = common_parts(dap->sources[i].file, path);
        if (parts > best) {
            best = parts;
            rivals = 0;
            *index = i;
        }
        else if (parts == best) {
            rivals++;
        }
    }
    if (best == 0) {
        return film_dap_refuse(dap, "no recorded code is in this file");
    }
    return rivals == 0
               ? true
               : film_dap_refuse(dap, "%zu files of the recording could be this one",
                                 rivals + 1);
}

bool
film_dap_find_source(film_dap *dap, const film_json_node *source, size_t *index)
{
    int64_t reference = film_dap_get_integer(dap, source, "sourceReference", 0);
    const char *path = film_dap_get_text(dap, source, "path");
    char *real;

    if (reference > 0 && (uint64_t)reference <= dap->source_count) {
        *index = (size_t)reference - 1;
        return true;
    }
    if (path == NULL) {
        path = film_dap_get_text(dap, source, "name");
    }
    if (path == NULL) {
        return film_dap_refuse(dap, "which file?");
    }
    *index = film_dap_source_of(dap, path);
    for (size_t i = 0; *index == SIZE_MAX && i < dap->source_count; i++) {
        if (dap->sources[i].path != NULL && strcmp(dap->sources[i].path, path) == 0) {
            *index = i;
        }
    }
    if (*index == SIZE_MAX && (real = realpath(path, NULL)) != NULL) {
        *index = film_dap_source_of(dap, real);
        free(real);
    }
    return *index != SIZE_MAX || find_by_parts(dap, path, index);
}
