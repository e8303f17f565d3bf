/* closures.h: functions written within others, and the variables they share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_CLOSURES_H
#define FILMSTRIP_CLOSURES_H

#include <filmstrip/reader.h>

/* Kinds of local variables, as CPython numbers them (CO_FAST_...). */
#define FILM_LOCAL_CELL 0x40u /* inner functions have it too */
#define FILM_LOCAL_FREE 0x80u /* an outer function's */
#define FILM_LOCAL_SHARED (FILM_LOCAL_CELL | FILM_LOCAL_FREE)

/* Whether the inner function is written within the outer one, however deep. */
bool
film_code_encloses(const film_code *outer, const film_code *inner);

/* The slot of a variable by its name (string id) and kind; UINT32_MAX: none. */
uint32_t
film_code_slot_of_kind(const film_code *code, uint32_t name, uint8_t kind);

#endif
