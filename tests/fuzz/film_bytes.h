/* film_bytes.h: any bytes as a file that a reader can open.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_FUZZ_FILM_BYTES_H
#define FILMSTRIP_FUZZ_FILM_BYTES_H

#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filmstrip/filmstrip.h>

#define FUZZ_PATH 64u

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A file in memory that holds the bytes, and a path that opens it; to be closed. -1:
 * the machine has no room for it. */
static inline int
open_bytes(const uint8_t *data, size_t size, char path[FUZZ_PATH])
{
    int memory = memfd_create("fuzz", MFD_CLOEXEC);

    if (memory >= 0 && size > 0 && write(memory, data, size) != (ssize_t)size) {
        close(memory);
        memory = -1;
    }
    (void)snprintf(path, FUZZ_PATH, "/proc/self/fd/%d", memory);
    return memory;
}

/* Shows the bytes to `look` if a reader opens them. */
static inline void
read_bytes(const uint8_t *data, size_t size, void (*look)(film_reader *reader))
{
    char path[FUZZ_PATH];
    film_reader *reader = NULL;
    film_error error;
    int memory = open_bytes(data, size, path);

    if (memory < 0) {
        return;
    }
    if (film_reader_open(path, &reader, &error) == FILM_OK) {
        look(reader);
    }
    film_reader_close(reader);
    close(memory);
}

#endif
