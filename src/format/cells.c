/* cells.c: see cells.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/cells.h"

#include <string.h>

bool
film_cells_next(film_input *body, film_cell_told *told)
{
    uint64_t head;

    memset(told, 0, sizeof(*told));
    if (body->failed || film_input_left(body) == 0) {
        return false;
    }
    head = film_input_varint(body);
    told->flags = head & ((1u << FILM_CELL_SHIFT) - 1);
    told->slot = (uint32_t)(head >> FILM_CELL_SHIFT);
    told->cell = film_input_varint(body);
    if (head >> FILM_CELL_SHIFT > UINT32_MAX || told->cell == 0) {
        body->failed = true;
    }
    if ((told->flags & FILM_CELL_HELD) != 0) {
        told->distance = film_input_varint32(body);
        told->holder_slot = film_input_varint32(body);
    }
    if ((told->flags & FILM_CELL_VALUE) != 0) {
        told->token = body->at;
        film_tokens_skip(body, 1);
        told->token_length = (size_t)(body->at - told->token);
    }
    return !body->failed;
}
