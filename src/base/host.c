/* host.c: see host.h.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "base/host.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "base/hash.h"

bool
film_host_hash(char text[FILM_HOST_HASH_BYTES])
{
    char facts[160];
    ssize_t length, more;
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

    if (file < 0) {
        return false;
    }
    length = read(file, facts, 64);
    (void)close(file);
    if (length <= 0) {
        return false;
    }
    /* Without namespaces of time in the kernel there is one clock for all. */
    more = readlink("/proc/self/ns/time", facts + length, 64);
    length += more > 0 ? more : 0;
    (void)snprintf(text, FILM_HOST_HASH_BYTES, "%016llx",
                   (unsigned long long)film_hash(facts, (size_t)length));
    return true;
}
