/* closures.c: see closures.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/closures.h"

#include <string.h>

static const char the_locals[] = ".<locals>.";

bool
film_code_encloses(const film_code *outer, const film_code *inner)
{
    size_t length = outer->qualname.length, marker = sizeof(the_locals) - 1;

    return inner->qualname.length > length + marker &&
           memcmp(inner->qualname.data, outer->qualname.data, length) == 0 &&
           memcmp(inner->qualname.data + length, the_locals, marker) == 0 &&
           inner->file.length == outer->file.length &&
           memcmp(inner->file.data, outer->file.data, outer->file.length) == 0;
}

uint32_t
film_code_slot_of_kind(const film_code *code, uint32_t name, uint8_t kind)
{
    for (uint32_t i = 0; i < code->local_count; i++) {
        if (code->locals[i] == name && (code->local_kinds[i] & kind) != 0) {
            return i;
        }
    }
    return UINT32_MAX;
}
