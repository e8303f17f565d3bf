/* text.h: bytes that claim to be UTF-8, made so.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_READER_TEXT_H
#define FILMSTRIP_READER_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* How many bytes the repaired text takes (equal to `length` only if nothing is wrong:
 * a bad byte becomes the three of U+FFFD). */
size_t
film_text_repaired_length(const uint8_t *bytes, size_t length);

/* Writes the repaired text and a NUL behind it; `to` has room for both. */
void
film_text_repair(char *to, const uint8_t *bytes, size_t length);

#endif
