/* told.h: what attributes, names and cells were last told to hold.
 *
 * Check words only, four to a set; a place that falls out has lost its evidence, which
 * costs a new serial and never confuses two objects.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_TOLD_H
#define FILMSTRIP_RECORDER_TOLD_H

#include "recorder/compat.h"

/* The key of a place: what owns it (object, namespace, cell) and its name there. */
static inline uint32_t
film_told_key(const PyObject *owner, const PyObject *name)
{
    uint64_t word = ((uint64_t)(uintptr_t)owner >> 4) * UINT64_C(0x9e3779b97f4a7c15) +
                    ((uint64_t)(uintptr_t)name >> 3) * UINT64_C(0xc2b2ae3d27d4eb4f);

    word ^= word >> 29;
    return (uint32_t)(word * UINT64_C(0xff51afd7ed558ccd) >> 32) | 1u;
}

/* The key of a variable in a frame that is suspended now and then: its entry on the
 * shadow stack comes and goes. */
static inline uint32_t
film_told_slot_key(uint64_t frame, uint32_t slot)
{
    uint64_t word = (frame + 1) * UINT64_C(0xd6e8feb86659fd93) + slot;

    word ^= word >> 29;
    return (uint32_t)(word * UINT64_C(0xff51afd7ed558ccd) >> 32) | 1u;
}

/* How many keys have been put, by their highest bits: nearly everything that programs
 * hold dies in sight and needs no evidence. */
#define FILM_TOLD_FILTER 4096u
extern uint8_t film_the_told_filter[FILM_TOLD_FILTER];

static inline uint8_t *
film_told_filter(uint32_t key)
{
    return &film_the_told_filter[key / (UINT32_MAX / FILM_TOLD_FILTER + 1)];
}

/* The place now holds `object`. `stamp`: the serial of what owns the place, where
 * another owner may come to lie at the same address. */
void
film_told_put(uint32_t key, const PyObject *object, uint64_t stamp);

void
film_told_take(uint32_t key);

/* The place holds something that needs no evidence. */
static inline void
film_told_clear(uint32_t key)
{
    if (FILM_UNLIKELY(*film_told_filter(key) != 0)) {
        film_told_take(key);
    }
}

bool
film_told_is(uint32_t key, const PyObject *object, uint64_t stamp);

bool
film_told_begin(void);

void
film_told_end(void);

#endif
