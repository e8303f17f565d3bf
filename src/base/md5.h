/* md5.h: MD5 (RFC 1321), because torch's structured logs name their payloads by it.
 * For nothing that must be safe.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_MD5_H
#define FILMSTRIP_MD5_H

#include <stddef.h>
#include <stdint.h>

#define FILM_MD5_TEXT 33u

/* The digest as 32 lower-case hex digits and a NUL. */
void
film_md5_text(const void *bytes, size_t length, char text[FILM_MD5_TEXT]);

#endif
