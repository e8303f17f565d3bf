/* lines.h: the location table of a code object (co_linetable of CPython 3.11 on), as
 * an array from code unit to line.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_LINES_H
#define FILMSTRIP_LINES_H

#include <stddef.h>
#include <stdint.h>

#include <filmstrip/status.h>

/* Makes the array; the caller owns *lines (film_free). A unit without a line has 0;
 * where the table is damaged the rest has none. */
FILM_NODISCARD film_status
film_lines_decode(const uint8_t *table, size_t length, uint32_t first_line,
                  uint32_t **lines, size_t *count);

#endif
