/* objwatch_value.h: values as ObjWatch writes them: plain ones as str() gives them,
 * `(list)[1, 2, 3, '... (4 more elements)']`, `(type)Name`.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_OBJWATCH_VALUE_H
#define FILMSTRIP_OBJWATCH_VALUE_H

#include "export/objwatch_state.h"

/* Appends the value's text; `shapes`: tensors by their shape. No value is `None`, as
 * ObjWatch has it. */
void
film_objwatch_put_value(film_watch *state, film_buffer *out, const film_held *held,
                        bool shapes);

/* A list, set, tuple or dict: what ObjWatch follows the length of. */
bool
film_objwatch_is_container(film_watch *state, const film_held *held);

/* The length of such a container, -1 of anything else. */
int64_t
film_objwatch_length(film_watch *state, const film_held *held);

/* A function, a class, anything with a __call__: ObjWatch does not follow variables
 * that hold one. */
bool
film_objwatch_is_callable(const film_watch *state, const film_held *held);

/* The type of an object, by its short name. */
film_text
film_objwatch_type(film_watch *state, const film_seen_object *object);

/* Whose attributes they are: a class, module or function by its own name, an instance
 * by its type's. */
film_text
film_objwatch_owner(film_watch *state, const film_seen_object *object);

/* True for a module; *name is borrowed from the reader's strings. */
bool
film_objwatch_is_module(film_watch *state, const film_seen_object *object,
                        film_text *name);

#endif
