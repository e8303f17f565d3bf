/* timeline_cells.c: variables that an inner function takes from an outer one.
 * A recording does not say which cell a function was made with. Where one frame of the
 * enclosing function is open below, the variable is that frame's; where none is, or
 * several, it is not known.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "analysis/timeline_state.h"

#define CO_FAST_CELL 0x40u

static const char the_locals[] = ".<locals>.";

/* Whether the inner function is written within the outer one. */
static bool
encloses(const film_code *outer, const film_code *inner)
{
    size_t length = outer->qualname.length, marker = sizeof(the_locals) - 1;

    return inner->qualname.length > length + marker &&
           memcmp(inner->qualname.data, outer->qualname.data, length) == 0 &&
           memcmp(inner->qualname.data + length, the_locals, marker) == 0 &&
           inner->file.length == outer->file.length &&
           memcmp(inner->file.data, outer->file.data, outer->file.length) == 0;
}

/* The slot of the outer function's cell of that name; UINT32_MAX: it has none. */
static uint32_t
cell_of(const film_code *outer, uint32_t name)
{
    for (uint32_t i = 0; i < outer->local_count; i++) {
        if (outer->locals[i] == name && (outer->local_kinds[i] & CO_FAST_CELL) != 0) {
            return i;
        }
    }
    return UINT32_MAX;
}

film_status
film_timeline_cell(film_timeline *timeline, film_scene *scene, size_t index,
                   uint32_t slot, film_slot *out, film_error *error)
{
    uint32_t inner_id = scene->nodes[timeline->places[index].node].code;
    const film_code *inner = film_reader_code(timeline->reader, inner_id);
    film_place owner = {0};
    uint32_t found = UINT32_MAX;

    if (inner == NULL || slot >= inner->local_count) {
        return FILM_END;
    }
    for (size_t i = 0; i < index; i++) {
        uint32_t code = scene->nodes[timeline->places[i].node].code;
        const film_code *outer = film_reader_code(timeline->reader, code);
        uint32_t cell = outer == NULL || !encloses(outer, inner)
                            ? UINT32_MAX
                            : cell_of(outer, inner->locals[slot]);
        if (cell == UINT32_MAX) {
            continue;
        }
        if (found != UINT32_MAX) {
            return FILM_END; /* which of them is not known */
        }
        found = cell;
        owner = timeline->places[i];
    }
    if (found == UINT32_MAX) {
        return FILM_END;
    }
    FILM_TRY(film_timeline_slots(timeline, scene, owner, found, error));
    *out = timeline->slots[found];
    out->changed = false;
    return out->value.length > 0 ? FILM_OK : FILM_END;
}
