/* output_file.c: creating, committing and discarding an output file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

static char *
copy_text(const char *text, const char *ending)
{
    size_t length = strlen(text), more = strlen(ending);
    char *copy = film_alloc(length + more + 1);

    if (copy != NULL) {
        memcpy(copy, text, length);
        memcpy(copy + length, ending, more);
    }
    return copy;
}

static void
release(film_output_file *file)
{
    film_free(file->path);
    film_free(file->partial);
    memset(file, 0, sizeof(*file));
    file->fd = -1;
}

/* A rename would put a plain file in the place of a device, a pipe or a folder. */
static bool
may_replace(const char *path)
{
    struct stat found;

    return lstat(path, &found) != 0 || S_ISREG(found.st_mode) || S_ISLNK(found.st_mode);
}

static film_status
fail_to_create(film_output_file *file, const char *path, film_error *error)
{
    int reason = errno;

    release(file);
    if (reason == EEXIST) {
        return film_fail(error, FILM_EXISTS,
                         "%.160s exists already; --force replaces it", path);
    }
    return film_fail(error, FILM_IO, "cannot create %.160s: %s", path,
                     strerror(reason));
}

film_status
film_output_file_create(film_output_file *file, const char *path, bool replace,
                        film_error *error)
{
    char ending[32] = "";

    memset(file, 0, sizeof(*file));
    file->fd = -1;
    if (replace) {
        if (!may_replace(path)) {
            return film_fail(error, FILM_EXISTS, "%.160s is not a plain file", path);
        }
        snprintf(ending, sizeof(ending), ".%ld.part", (long)getpid());
    }
    file->path = copy_text(path, "");
    file->partial = copy_text(path, ending);
    if (file->path == NULL || file->partial == NULL) {
        release(file);
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    file->fd =
        open(file->partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return file->fd >= 0 ? FILM_OK : fail_to_create(file, path, error);
}

film_status
film_output_file_commit(film_output_file *file, film_error *error)
{
    int fd = file->fd;
    film_status status = FILM_OK;

    file->fd = -1;
    if (close(fd) != 0 || (strcmp(file->partial, file->path) != 0 &&
                           rename(file->partial, file->path) != 0)) {
        status = film_fail(error, FILM_IO, "cannot write %.160s: %s", file->path,
                           strerror(errno));
        unlink(file->partial);
    }
    release(file);
    return status;
}

void
film_output_file_discard(film_output_file *file)
{
    if (file->partial == NULL) {
        return;
    }
    if (file->fd >= 0) {
        close(file->fd);
    }
    unlink(file->partial);
    release(file);
}
