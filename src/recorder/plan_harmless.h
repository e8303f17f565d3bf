/* plan_harmless.h: builtin functions and methods whose effect is known by their names.
 * Without them every `len(x)` would make the recorder compare all that its line loads.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_PLAN_HARMLESS_H
#define FILMSTRIP_RECORDER_PLAN_HARMLESS_H

#include "recorder/compat.h"

#include "recorder/plan.h"

/* A builtin function that changes nothing by itself. */
bool
film_function_is_harmless(PyObject *name);

/* A method that, called on a builtin container or scalar, changes that one at most;
 * *reads: not even that. */
bool
film_method_is_contained(PyObject *name, bool *reads);

/* Looks `name` up in a dict without running code of the program (attributes.c). */
PyObject *
film_dict_lookup(PyObject *dict, PyObject *name);

/* A function that changes the container it is given first. */
bool
film_function_changes_first(PyObject *name);

/* What a method of containers of this name does. */
film_effect
film_method_effect(PyObject *name);

#endif
