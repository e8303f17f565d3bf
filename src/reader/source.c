/* source.c: see source.h. The only file of the reader that calls the system.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reader/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)

static film_status
open_failure(const char *path, film_error *error)
{
    switch (errno) {
    case ENOENT:
    case ENOTDIR:
        return film_fail(error, FILM_IO, "no such file: %s", path);
    case ENOMEM:
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    default:
        return film_fail(error, FILM_IO, "%s cannot be opened: %s", path,
                         strerror(errno));
    }
}

/* The superblock's messages speak of "the recording"; here it gets its name. */
static film_status
name_failure(film_status status, const char *path, const film_error *cause,
             film_error *error)
{
    if (status == FILM_NOT_A_FILM) {
        return film_fail(error, status, "%s is not a .film recording", path);
    }
    return film_fail_at(error, status, cause->offset, "%s: %s", path, cause->message);
}

film_status
film_file_open(film_file *file, const char *path, film_error *error)
{
    film_error cause = {0};
    struct stat facts = {0};
    film_status status;

    memset(file, 0, sizeof(*file));
    /* Not blocking: a FIFO would else wait here for its other end. */
    file->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file->descriptor < 0) {
        return open_failure(path, error);
    }
    if (fstat(file->descriptor, &facts) != 0 || !S_ISREG(facts.st_mode)) {
        status = S_ISDIR(facts.st_mode)
                     ? film_fail(error, FILM_NOT_A_FILM,
                                 "%s is a folder, not a .film recording", path)
                     : film_fail(error, FILM_NOT_A_FILM, "%s is not a .film recording",
                                 path);
        film_file_close(file);
        return status;
    }
    status = film_file_look(file, &cause);
    if (status != FILM_OK) {
        film_file_close(file);
        return name_failure(status, path, &cause, error);
    }
    return FILM_OK;
}

void
film_file_close(film_file *file)
{
    if (file->descriptor >= 0) {
        close(file->descriptor);
    }
    file->descriptor = -1;
}

/* As many bytes as there are, up to `bytes`. */
static film_status
read_some(const film_file *file, uint64_t physical, void *to, size_t bytes, size_t *got)
{
    uint8_t *at = to;

    *got = 0;
    while (*got < bytes) {
        uint64_t from = physical + *got;
        ssize_t part;
        if (from > INT64_MAX) {
            break;
        }
        part = pread(file->descriptor, at + *got, bytes - *got, (off_t)from);
        if (part < 0 && errno == EINTR) {
            continue;
        }
        if (part < 0) {
            return FILM_IO;
        }
        if (part == 0) {
            break;
        }
        *got += (size_t)part;
    }
    return FILM_OK;
}

film_status
film_file_look(film_file *file, film_error *error)
{
    uint8_t bytes[FILM_SUPERBLOCK_BYTES];
    film_superblock block;
    struct stat facts;
    size_t got;

    if (fstat(file->descriptor, &facts) != 0 ||
        read_some(file, 0, bytes, sizeof(bytes), &got) != FILM_OK) {
        return film_fail(error, FILM_IO, "the recording cannot be read: %s",
                         strerror(errno));
    }
    memset(bytes + got, 0, sizeof(bytes) - got);
    FILM_TRY(film_superblock_decode(&block, bytes, got, error));
    file->block = block;
    file->bytes = (uint64_t)facts.st_size;
    file->disk_bytes = (uint64_t)facts.st_blocks * 512u;
    return FILM_OK;
}

static bool
has_lock(const film_file *file, int how)
{
    struct flock lock;

    memset(&lock, 0, sizeof(lock));
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return fcntl(file->descriptor, how, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* When this process began, in ns since the epoch; UINT64_MAX if that is not known. */
static uint64_t
process_start_ns(void)
{
    struct timespec since_boot, real;
    unsigned long long ticks = 0;
    char text[1024];
    const char *at;
    ssize_t got;
    int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

    if (file < 0) {
        return UINT64_MAX;
    }
    got = read(file, text, sizeof(text) - 1);
    close(file);
    text[got < 0 ? 0 : got] = '\0';
    /* Field 22, the 20th behind the name, which may hold anything but ends with ')'. */
    at = strrchr(text, ')');
    for (int field = 2; at != NULL && field < 22; field++) {
        at = strchr(at + 1, ' ');
    }
    if (at == NULL || sscanf(at, "%llu", &ticks) != 1 ||
        clock_gettime(CLOCK_BOOTTIME, &since_boot) != 0 ||
        clock_gettime(CLOCK_REALTIME, &real) != 0) {
        return UINT64_MAX;
    }
    return (uint64_t)real.tv_sec * SECOND_NS - (uint64_t)since_boot.tv_sec * SECOND_NS +
           (uint64_t)ticks * (SECOND_NS / (uint64_t)sysconf(_SC_CLK_TCK));
}

bool
film_file_is_locked(const film_file *file)
{
#ifdef F_OFD_GETLK
    /* Asked on behalf of this open file, not of this process: it sees the lock of a
     * writer in the same process too. */
    if (has_lock(file, F_OFD_GETLK)) {
        return true;
    }
#endif
    if (has_lock(file, F_GETLK)) {
        return true;
    }
    /* A process loses its lock when it closes any descriptor of the file, as a reader
     * does. So a recording that this process began after it began itself is live. */
    return file->block.pid == (uint64_t)getpid() &&
           file->block.start_realtime_ns + SECOND_NS >= process_start_ns();
}

uint64_t
film_file_physical(const film_file *file, uint64_t logical)
{
    uint64_t contiguous;

    return film_superblock_physical(&file->block, logical, &contiguous);
}

film_status
film_file_read_at(const film_file *file, uint64_t physical, void *to, size_t bytes)
{
    size_t got;

    FILM_TRY(read_some(file, physical, to, bytes, &got));
    return got == bytes ? FILM_OK : FILM_TRUNCATED;
}

film_status
film_file_read(const film_file *file, uint64_t logical, void *to, size_t bytes)
{
    uint8_t *at = to;

    while (bytes > 0) {
        uint64_t contiguous;
        uint64_t physical =
            film_superblock_physical(&file->block, logical, &contiguous);
        size_t part = contiguous < bytes ? (size_t)contiguous : bytes;
        FILM_TRY(film_file_read_at(file, physical, at, part));
        at += part;
        logical += part;
        bytes -= part;
    }
    return FILM_OK;
}

uint64_t
film_file_logical_end(const film_file *file)
{
    const film_superblock *block = &file->block;
    uint64_t log = FILM_SUPERBLOCK_BYTES + block->arena_bytes;
    uint64_t moved;

    if (block->ring_bytes != 0) {
        return block->tail + block->ring_bytes;
    }
    if (file->bytes > log && file->bytes - log > block->moved_until) {
        return file->bytes - log;
    }
    moved =
        file->bytes - FILM_SUPERBLOCK_BYTES; /* a superblock was read: not below 0 */
    return moved < block->moved_until ? moved : block->moved_until;
}

uint64_t
film_file_next_data(const film_file *file, uint64_t physical)
{
    off_t found;

    if (physical >= file->bytes) {
        return file->bytes;
    }
    found = lseek(file->descriptor, (off_t)physical, SEEK_DATA);
    if (found < 0) {
        return errno == ENXIO ? file->bytes : physical;
    }
    return (uint64_t)found;
}
