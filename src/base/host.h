/* host.h: which machine this is, as far as clocks are concerned.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_HOST_H
#define FILMSTRIP_HOST_H

#include <stdbool.h>

#define FILM_HOST_HASH_BYTES 17 /* 16 hexadecimal digits and a NUL */

/* A hash of the running kernel's boot id and of the namespace of its clocks: processes
 * with the same one read the same CLOCK_MONOTONIC, in containers too. It tells neither
 * the host's name nor its address. False: not known here. */
bool
film_host_hash(char text[FILM_HOST_HASH_BYTES]);

#endif
