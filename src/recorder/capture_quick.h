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
        uint64_t record = film_objects_quick(value);

        if (FILM_UNLIKELY(record == 0)) {
            return false;
        }
        *to = film_token_put_value(*to, FILM_TOKEN_OBJECT, record - 1);
        return true;
    }
    return false;
}

/* An attribute of `owner`, whose `object` is sure, has got such a value and is told. */
void
film_capture_written(film_object *object, PyObject *owner, const film_write *write);

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
