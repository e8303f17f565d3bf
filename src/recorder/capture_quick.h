/* capture_quick.h: the values that most variables hold, told without a call.
 *
 * Small scalars, and instances that are known already and die in sight: nothing about
 * their holders needs to be known but that they hold no other object any more.
 * Threads: the holder of the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_CAPTURE_QUICK_H
#define FILMSTRIP_RECORDER_CAPTURE_QUICK_H

#include "recorder/compat.h"

#include "recorder/capture.h"
#include "recorder/fingerprint.h"
#include "recorder/objects.h"

/* Writes the token of such a value that is bound to no secret name; false: another
 * value (NULL too), and nothing was written. */
static inline bool
film_capture_quick(PyObject *value, uint8_t **to)
{
    if (FILM_UNLIKELY(value == NULL)) {
        return false;
    }
    if (film_capture_scalar(value, to)) {
        return true;
    }
    if ((Py_TYPE(value)->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0) {
        const film_object_way *way = film_objects_quick(value);

        if (FILM_UNLIKELY(way == NULL)) {
            return false;
        }
        *to = film_token_put_value(*to, FILM_TOKEN_OBJECT, film_quick_record(way));
        return true;
    }
    return false;
}

/* The place of an attribute that film_attribute_read has just found so among its
 * owner's words; FILM_WORDS or more: it has none. */
static inline uint32_t
film_attribute_place(const film_named *named, film_kept kept)
{
    if (FILM_LIKELY(kept == FILM_KEPT_IN_LINE)) {
        return named->word_place + (uint32_t)named->value_index;
    }
    return kept == FILM_KEPT_IN_SLOT ? named->word_place : FILM_WORDS;
}

/* Its word. */
static inline uint64_t
film_attribute_word(const film_named *named, film_kept kept, PyObject *value)
{
    return value == NULL ? 0
                         : film_fingerprint_item(value, kept == FILM_KEPT_IN_SLOT
                                                            ? named->word_place + 1u
                                                            : (uintptr_t)named->name);
}

/* The attribute held an object that was not sure, or may have. */
void
film_capture_written_slowly(PyObject *owner, const film_named *named);

/* An attribute of `owner`, which is at `way`, has got such a value and is told. */
static inline void
film_capture_written(film_object_way *way, PyObject *owner, film_named *named,
                     film_kept kept, PyObject *value)
{
    uint32_t place = film_attribute_place(named, kept);

    if (FILM_LIKELY((way->quick & FILM_QUICK_WORDED) != 0 && place < FILM_WORDS)) {
        film_object *object = film_object_of_way(way);

        object->words[place] = film_attribute_word(named, kept, value);
        /* Positions in a __dict__ may shift: only those in line are sure. */
        if (FILM_LIKELY((way->quick & FILM_QUICK_HOLDS) == 0 ||
                        (object->holding &
                         film_holding_bit(named->value_offset, named->value_index)) ==
                            0)) {
            return;
        }
    }
    else {
        film_capture_told(owner, NULL);
    }
    film_capture_written_slowly(owner, named);
}

/* The variable has got such a value. */
static inline void
film_vacate_slot(film_stack_entry *entry, uint32_t slot)
{
    if (FILM_LIKELY(!entry->suspends && slot < FILM_TOLD_SLOTS)) {
        entry->told[slot] = 0;
    }
    else {
        film_holder holder = {.kind = FILM_HOLDER_SLOT, .entry = entry, .slot = slot};

        film_objects_vacate(&holder);
    }
}

#endif
