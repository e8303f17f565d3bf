/* cells.h: which variables of several frames are one: the cells of closures.
 *
 * A CELLS row stands before the call of a function that has variables of outer ones
 * and tells, for each of them, which cell it is; before a resume it tells of the
 * frame's own, which were told of while it was suspended. Its body is a list:
 *
 *   slot << 2 | flags, cell    slot: the variable in the frame that is called;
 *                              cell: a number that no other cell has
 *   flag 1: distance, slot     an open frame (from the top, before the call) that has
 *                              the same cell in that slot
 *   flag 2: token              what it holds: no open frame tells
 *
 * Both flags: that open frame's slot is this cell no more, a comprehension has made
 * another one for it.
 *
 * The frame's slot and every other slot that is told to be this cell change together.
 * Keyframes tell the cells of frames: serial, count, (slot, cell) each.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_CELLS_H
#define FILMSTRIP_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "format/token.h"

enum film_cell_flags { FILM_CELL_HELD = 1, FILM_CELL_VALUE = 2 };

#define FILM_CELL_SHIFT 2
/* What one entry of a row takes at most. */
#define FILM_CELL_MAX (5u * 3u + 10u + FILM_TOKEN_MAX)

typedef struct film_cell_told {
    uint64_t cell;
    uint32_t slot;
    uint32_t distance, holder_slot; /* with FILM_CELL_HELD */
    uint8_t flags;
    const uint8_t *token; /* with FILM_CELL_VALUE; borrowed */
    size_t token_length;
} film_cell_told;

/* The next entry of a body. False at its end, or where it makes no sense
 * (input->failed). */
bool
film_cells_next(film_input *body, film_cell_told *told);

#endif
