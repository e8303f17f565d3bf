/* kinds.h: what kinds of events do to the stack.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_KINDS_H
#define FILMSTRIP_KINDS_H

#include <filmstrip/event.h>

static inline bool
film_kind_enters(uint8_t kind)
{
    return kind == FILM_KIND_CALL || kind == FILM_KIND_RESUME ||
           kind == FILM_KIND_THROW;
}

static inline bool
film_kind_is_op(uint8_t kind)
{
    return kind == FILM_KIND_OP || kind == FILM_KIND_OP_END;
}

static inline bool
film_kind_leaves(uint8_t kind)
{
    return kind == FILM_KIND_RETURN || kind == FILM_KIND_YIELD ||
           kind == FILM_KIND_UNWIND;
}

#endif
