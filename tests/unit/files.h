/* files.h: whole files, read, written and copied.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_TEST_FILES_H
#define FILMSTRIP_TEST_FILES_H

#include "test.h"

#include <sys/stat.h>

static inline void
temporary_path(char *path, size_t length, const char *name)
{
    const char *folder = getenv("TMPDIR");

    snprintf(path, length, "%s/film_test_%d_%s.film", folder == NULL ? "/tmp" : folder,
             (int)getpid(), name);
    unlink(path);
}

static inline uint8_t *
read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    struct stat facts;
    uint8_t *bytes;

    CHECK(file != NULL && fstat(fileno(file), &facts) == 0);
    *length = (size_t)facts.st_size;
    bytes = malloc(*length + 1);
    CHECK(bytes != NULL && fread(bytes, 1, *length, file) == *length);
    fclose(file);
    return bytes;
}

static inline void
write_file(const char *path, const uint8_t *bytes, size_t length)
{
    FILE *file;

    unlink(path);
    file = fopen(path, "wb");
    CHECK(file != NULL && fwrite(bytes, 1, length, file) == length);
    fclose(file);
}

/* A copy of the file as it is now: what a kill would leave. */
static inline void
copy_file(const char *from, char *to, size_t to_length, const char *name)
{
    size_t length;
    uint8_t *bytes = read_file(from, &length);

    temporary_path(to, to_length, name);
    write_file(to, bytes, length);
    free(bytes);
}

#endif
