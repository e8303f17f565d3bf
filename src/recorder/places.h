/* places.h: where an object was seen, and whether it is still there: the proofs of
 * objects.h.
 * Threads: the holder of the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_PLACES_H
#define FILMSTRIP_RECORDER_PLACES_H

#include "recorder/compat.h"

#include "recorder/objects.h"

/* The check word of a variable and what it holds. */
static inline uint32_t
film_slot_word(uint64_t frame, uint32_t slot, const PyObject *object)
{
    /* Spread over all bits: entries are not cleared, and objects of like frames may lie
     * at like distances. */
    uint64_t word = ((uint64_t)(uintptr_t)object >> 4) +
                    (frame << 16 | slot) * UINT64_C(0xd6e8feb86659fd93);

    return (uint32_t)(word * UINT64_C(0x9e3779b97f4a7c15) >> 32) |
           1u; /* 0 is: nothing */
}

/* The most frequent case of the two functions below in one: a variable of this thread
 * proves the object, and another one (or the same) shows it now. False: not known. */
static inline bool
film_place_proves_slot(film_context *context, film_object *object, PyObject *value,
                       const film_holder *holder)
{
    const film_slot_place *first = &object->first;
    const film_stack_entry *proof = context->entries + first->index;
    film_stack_entry *entry = holder->entry;
    const film_frame *frame;

    if (holder->kind != FILM_HOLDER_SLOT || entry == NULL ||
        first->stack != context->stack_id || first->is_cell || first->suspends ||
        proof > context->top || proof->serial != first->frame ||
        first->slot >= FILM_TOLD_SLOTS || entry->suspends ||
        holder->slot >= FILM_TOLD_SLOTS ||
        proof->told[first->slot] != film_slot_word(first->frame, first->slot, value)) {
        return false;
    }
    frame = film_entry_frame(context, proof);
    if (FILM_UNLIKELY(frame == NULL) ||
        film_frame_local(frame, (int)first->slot) != value) {
        return false;
    }
    if (entry != proof || holder->slot != first->slot) {
        size_t index = (size_t)(entry - context->entries);

        if (FILM_UNLIKELY(index > 0x3ffff)) {
            return false;
        }
        entry->told[holder->slot] = film_slot_word(entry->serial, holder->slot, value);
        object->last = (film_slot_place){.frame = entry->serial,
                                         .stack = context->stack_id,
                                         .index = (uint32_t)index & 0x3ffff,
                                         .slot = holder->slot & 0xfff};
    }
    return true;
}

/* True when `value`, of the type `object` has, is the object that was seen at its
 * address before. */
bool
film_place_proves(film_context *context, film_object *object, PyObject *value,
                  const film_holder *holder);

/* `value` has just been seen there. */
void
film_place_put(film_context *context, film_object *object, PyObject *value,
               const film_holder *holder);

/* Code begins to run in `dict` as its globals: they may be new ones at the address of
 * some that are gone. */
void
film_place_renew(const PyObject *dict);

/* `value` was seen on the way to something it owns: if a global of the running frame
 * holds it, that is its place. */
void
film_place_adopt(film_context *context, film_object *object, PyObject *value);

#endif
