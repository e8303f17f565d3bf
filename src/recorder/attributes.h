/* attributes.h: attributes and dict items read where they are kept, without running
 * code of the program. film_attribute_read and film_dict_lookup are in capture.h.
 * Threads: the holder of the GIL. Everything is borrowed.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_ATTRIBUTES_H
#define FILMSTRIP_RECORDER_ATTRIBUTES_H

#include "recorder/compat.h"

#include "recorder/capture_types.h"

/* Where an attribute of an object was found, to be found there again quickly: a
 * position among the pairs, or FILM_HINT_SLOT + the offset of a slot. */
#define FILM_HINT_NONE (-1)
#define FILM_HINT_SLOT (1 << 24)
#define FILM_HINT_KEY (1 << 25) /* a key of a dict, at a position above this */

/* The position of `value` under the key `name` (by identity) in `owner`'s attributes,
 * or FILM_HINT_NONE. */
int32_t
film_attribute_hint(PyObject *owner, const PyObject *name, const PyObject *value);

/* True when `owner` keeps `value` at that place now. */
bool
film_attribute_holds(PyObject *owner, int32_t hint, const PyObject *value);

/* The same for a dict's values. */
int32_t
film_dict_hint(PyObject *dict, const PyObject *name, const PyObject *value);

bool
film_dict_holds(PyObject *dict, int32_t hint, const PyObject *value);

/* True when `key` is the key at or near that position. */
bool
film_dict_has_key(PyObject *dict, int32_t position, const PyObject *key);

typedef struct film_dict_place {
    PyObject *key; /* that the dict has for it */
    PyObject *value;
    Py_ssize_t position; /* among the pairs */
} film_dict_place;

/* What a dict holds under a scalar or a tuple of them; value NULL and position -1 when
 * it holds nothing (then the key is `key`). False: not known without comparing keys by
 * code of the program. All borrowed. */
bool
film_dict_item(PyObject *dict, PyObject *key, film_dict_place *place);

/* The same for the very key, whose hash is known; false: the dict does not have it. */
bool
film_dict_same_key(PyObject *dict, PyObject *key, Py_hash_t hash,
                   film_dict_place *place);

/* What `object.name(...)` calls, where that is found in its type: NULL also when the
 * object has an attribute of that name itself or a way of its own to look it up. */
PyObject *
film_method_find(PyObject *object, PyObject *name);

/* What `object.name` is where the object itself has no such attribute: a class' list or
 * dict that its instances, or the classes derived from it, share. */
PyObject *
film_attribute_of_class(PyObject *object, PyObject *name);

/* What an object whose class has a __setattr__ of its own keeps under `name` all the
 * same: reading it does not ask that. */
PyObject *
film_attribute_kept(PyObject *object, PyObject *name);

/* What a dict (sys.modules, a module's) holds under `name`; NULL also when it has keys
 * other than strings. */
PyObject *
film_dict_find(PyObject *dict, const char *name);

#endif
