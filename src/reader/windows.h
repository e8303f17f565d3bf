/* windows.h: what a recording that was not closed still holds outside its chunks.
 * A window is copied whole, between two looks at its generation, and then belongs to
 * the reader: the file may go on changing.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_WINDOWS_H
#define FILMSTRIP_WINDOWS_H

#include <stddef.h>
#include <stdint.h>

#include <filmstrip/status.h>

#include "reader/directory.h"
#include "reader/source.h"

typedef struct film_window_copy {
    uint32_t stream;
    uint64_t first, base_raw, next_frame, last_resumed, lost, lost_reason, sequence;
    uint8_t *rows; /* owned by film_windows */
    size_t length;
} film_window_copy;

typedef struct film_windows {
    film_window_copy *items; /* owned; by stream, then in order of use */
    size_t count, capacity;
    uint64_t bytes; /* of all rows */
} film_windows;

/* Copies the windows of the arena and of the directory's WINDOWS chunks. A recording
 * that is closed has none. FILM_NO_MEMORY, FILM_IO, FILM_LIMIT. */
FILM_NODISCARD film_status
film_windows_copy(film_windows *windows, const film_file *file,
                  const film_directory *directory);

/* The windows of one stream; *count of them, borrowed; NULL if it has none. */
const film_window_copy *
film_windows_of(const film_windows *windows, uint32_t stream, size_t *count);

void
film_windows_reset(film_windows *windows);

#endif
