/* sink.c: see sink.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "writer/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"

static _Atomic(uint64_t) fail_from;
static _Atomic(uint64_t) calls;
static _Atomic(int) fail_errno;

uint64_t
film_sink_fail_at(uint64_t n, int error)
{
    atomic_store(&fail_from, n);
    atomic_store(&fail_errno, error);
    return atomic_exchange(&calls, 0);
}

/* True, with errno set, when a test wants this call to fail: mappings with ENOMEM,
 * everything else with any other error. */
static bool
must_fail_as(bool mapping)
{
    uint64_t n = atomic_load_explicit(&fail_from, memory_order_relaxed);

    if (__builtin_expect(n == 0, 1) ||
        mapping != (atomic_load(&fail_errno) == ENOMEM)) {
        return false;
    }
    if (atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed) + 1 < n) {
        return false;
    }
    errno = atomic_load(&fail_errno);
    return true;
}

static bool
must_fail(void)
{
    return must_fail_as(false);
}

static film_status
status_of_errno(int number)
{
    return number == ENOSPC || number == EDQUOT || number == EFBIG ? FILM_NO_SPACE
                                                                   : FILM_IO;
}

/* A regular file may be replaced; a symlink, device or folder never. */
static film_status
remove_existing(const char *path, film_error *error)
{
    struct stat found;

    if (lstat(path, &found) != 0) {
        return FILM_OK;
    }
    if (!S_ISREG(found.st_mode)) {
        return film_fail(error, FILM_EXISTS, "%s exists and is not a regular file",
                         path);
    }
    if (unlink(path) != 0) {
        return film_fail(error, FILM_IO, "cannot replace %s: %s", path,
                         strerror(errno));
    }
    return FILM_OK;
}

/* Descriptors are given out from the lowest number on, and programs can tell: ours
 * moves out of the way. Not too high: the kernel's table grows with the number. */
static int
move_up(int file)
{
    struct rlimit limit;
    int high = 960, moved;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 1024) {
        high = (int)limit.rlim_cur - (int)limit.rlim_cur / 16 - 1;
    }
    moved = fcntl(file, F_DUPFD_CLOEXEC, high);
    if (moved < 0) {
        return file;
    }
    close(file);
    return moved;
}

/* False once the program has closed our descriptor. */
static bool
is_still_ours(const film_sink *sink)
{
    struct stat found;

    return fstat(sink->file, &found) == 0 && (uint64_t)found.st_dev == sink->device &&
           (uint64_t)found.st_ino == sink->inode;
}

static film_status
refuse_existing(const char *path, film_error *error)
{
    return film_fail(error, FILM_EXISTS, "%s exists; use --force to replace it", path);
}

/* A file without a name in the folder of `path`; -1 where that is not to be had. */
static int
open_unnamed(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : (size_t)(slash - path);
    char folder[PATH_MAX];

    /* Without /proc such a file cannot get a name later. */
    if (length >= sizeof(folder) || access("/proc/self/fd", X_OK) != 0) {
        return -1;
    }
    memcpy(folder, path, length);
    folder[length] = '\0';
    return open(slash == NULL ? "."
                : length == 0 ? "/"
                              : folder,
                O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

static film_status
open_named(film_sink *sink, const char *path, bool replace, int *file,
           film_error *error)
{
    if (replace) {
        FILM_TRY(remove_existing(path, error));
    }
    *file = must_fail()
                ? -1
                : open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (*file < 0 && errno == EEXIST) {
        return refuse_existing(path, error);
    }
    if (*file < 0) {
        return film_fail(error, status_of_errno(errno), "cannot write %s: %s", path,
                         strerror(errno));
    }
    sink->named = true;
    return FILM_OK;
}

film_status
film_sink_create(film_sink *sink, const char *path, bool replace, film_error *error)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct stat found;
    int file;

    sink->file = -1;
    sink->named = false;
    if (!replace && lstat(path, &found) == 0) {
        return refuse_existing(path, error);
    }
    file = open_unnamed(path);
    if (file < 0) {
        FILM_TRY(open_named(sink, path, replace, &file, error));
    }
    file = move_up(file);
    if (fstat(file, &found) == 0) {
        sink->device = (uint64_t)found.st_dev;
        sink->inode = (uint64_t)found.st_ino;
    }
    /* The lock tells readers that the recording is live; POSIX locks end with the
     * process and are not inherited. A file system without locks is no reason to fail.
     */
    (void)fcntl(file, F_SETLK, &lock);
    sink->file = file;
    return FILM_OK;
}

film_status
film_sink_name(film_sink *sink, const char *path, bool replace, film_error *error)
{
    char self[32];

    if (sink->named) {
        return FILM_OK;
    }
    if (replace) {
        FILM_TRY(remove_existing(path, error));
    }
    snprintf(self, sizeof(self), "/proc/self/fd/%d", sink->file);
    if (must_fail() || linkat(AT_FDCWD, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW) != 0) {
        if (errno == EEXIST) {
            return refuse_existing(path, error);
        }
        return film_fail(error, status_of_errno(errno), "cannot write %s: %s", path,
                         strerror(errno));
    }
    sink->named = true;
    return FILM_OK;
}

void
film_sink_close(film_sink *sink)
{
    if (sink->file >= 0) {
        if (is_still_ours(sink)) {
            close(sink->file);
        }
        sink->file = -1;
    }
}

/* Writing past RLIMIT_FSIZE would raise SIGXFSZ in the program: look first. */
static bool
over_size_limit(uint64_t end)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
           end > limit.rlim_cur;
}

film_status
film_sink_write(film_sink *sink, uint64_t offset, const void *bytes, size_t length)
{
    const uint8_t *at = bytes;

    if (!is_still_ours(sink)) {
        return FILM_IO;
    }
    if (over_size_limit(offset + length)) {
        return FILM_NO_SPACE;
    }
    while (length > 0) {
        ssize_t written =
            must_fail() ? -1 : pwrite(sink->file, at, length, (off_t)offset);
        if (written < 0) {
            if (errno == EINTR) {
                continue;
            }
            return status_of_errno(errno);
        }
        at += written;
        offset += (uint64_t)written;
        length -= (size_t)written;
    }
    return FILM_OK;
}

film_status
film_sink_read(film_sink *sink, uint64_t offset, void *bytes, size_t length)
{
    uint8_t *at = bytes;

    while (length > 0) {
        ssize_t got = must_fail() ? -1 : pread(sink->file, at, length, (off_t)offset);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return FILM_IO;
        }
        at += got;
        offset += (uint64_t)got;
        length -= (size_t)got;
    }
    return FILM_OK;
}

film_status
film_sink_write_field(film_sink *sink, uint64_t field_offset, uint64_t number)
{
    uint8_t bytes[8];

    film_put_u64(bytes, number);
    return film_sink_write(sink, field_offset, bytes, sizeof(bytes));
}

film_status
film_sink_reserve(film_sink *sink, uint64_t offset, uint64_t length)
{
    int failure;

    if (!is_still_ours(sink)) {
        return FILM_IO;
    }
    if (over_size_limit(offset + length)) {
        return FILM_NO_SPACE;
    }
    do {
        failure = must_fail()
                      ? errno
                      : posix_fallocate(sink->file, (off_t)offset, (off_t)length);
    } while (failure == EINTR);
    return failure == 0 ? FILM_OK : status_of_errno(failure);
}

void *
film_sink_map(film_sink *sink, uint64_t offset, size_t length)
{
    void *mapping = must_fail_as(true) ? MAP_FAILED
                                       : mmap(NULL, length, PROT_READ | PROT_WRITE,
                                              MAP_SHARED, sink->file, (off_t)offset);

    if (mapping == MAP_FAILED) {
        return NULL;
    }
    if (madvise(mapping, length, MADV_DONTFORK) != 0) {
        munmap(mapping, length);
        return NULL;
    }
    return mapping;
}

void
film_sink_unmap(void *mapping, size_t length)
{
    if (mapping != NULL) {
        munmap(mapping, length);
    }
}

void
film_sink_punch(film_sink *sink, uint64_t offset, uint64_t length)
{
    if (!must_fail() && is_still_ours(sink)) {
        (void)fallocate(sink->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                        (off_t)offset, (off_t)length);
    }
}

film_status
film_sink_truncate(film_sink *sink, uint64_t length)
{
    if (!is_still_ours(sink)) {
        return FILM_IO;
    }
    if (must_fail() || ftruncate(sink->file, (off_t)length) != 0) {
        return status_of_errno(errno);
    }
    return FILM_OK;
}
