/* plan_harmless.h: builtin functions and methods whose effect is known by their names.
 * Without them every `len(x)` would make the recorder compare all that its line loads.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_PLAN_HARMLESS_H
#define FILMSTRIP_RECORDER_PLAN_HARMLESS_H

#include "recorder/compat.h"

#include "recorder/plan.h"

enum film_name_traits {
    FILM_NAME_HARMLESS = 1, /* a builtin function that changes nothing by itself */
    /* Methods that, called on a builtin container or scalar, change that one at most: */
    FILM_NAME_READS = 2,   /* not even that */
    FILM_NAME_WRITES = 4,  /* that one */
    FILM_NAME_APPENDS = 8, /* FILM_EFFECT_APPENDS */
    FILM_NAME_REMOVES = 16,
    /* Functions that change the container they are given first; of heapq, bisect,
     * operator and random. */
    FILM_NAME_CHANGES_FIRST = 32,
    FILM_NAME_ASKED = 128 /* in film_draft.name_traits */
};

#define FILM_NAME_CONTAINED (FILM_NAME_READS | FILM_NAME_WRITES)

/* What functions and methods of that name do. */
uint8_t
film_name_traits_of(PyObject *name);

/* Looks `name` up in a dict without running code of the program (attributes.c). */
PyObject *
film_dict_lookup(PyObject *dict, PyObject *name);

#endif
