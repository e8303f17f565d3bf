/* variables.h: what variables held, as far as a walk through the events has seen it: so
 * that a log can show the value before, and call an object by the name it has.
 *
 * Memory is bounded: of more than some 250,000 values the ones not heard of for longest
 * are forgotten, and then simply not known.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_VARIABLES_H
#define FILMSTRIP_VARIABLES_H

#include <filmstrip/reader.h>

#include "base/buffer.h"
#include "format/token.h"

typedef struct film_variables film_variables;

/* For one recording; the caller owns *out, which borrows the reader. `whole`: the walk
 * will begin where the recording does. */
FILM_NODISCARD film_status
film_variables_new(film_reader *reader, bool whole, film_variables **out,
                   film_error *error);

void
film_variables_free(film_variables *variables);

/* Takes in what an event tells. For every event, after it was shown. */
void
film_variables_note(film_variables *variables, const film_event *event);

/* The same for an event that is not shown, before those that are: what is looked up to
 * show one is looked up, so that the same is kept in mind. */
void
film_variables_pass(film_variables *variables, const film_event *event);

/* A value as the bytes of its token. */
typedef struct film_past_value {
    uint8_t bytes[FILM_TOKEN_MAX];
    uint8_t length;
} film_past_value;

/* What a set or delete replaces, what a changed object held. False: not known. */
bool
film_variables_before(film_variables *variables, const film_event *event,
                      film_past_value *out);

/* Its text, borrowed until the next value is asked for; at most about `limit` bytes. */
FILM_NODISCARD film_status
film_variables_text(film_variables *variables, const film_past_value *past,
                    size_t limit, film_text *out);

/* Told of each attribute that a change has changed. */
typedef void
film_attribute_visitor(void *context, film_text name);

/* Appends which attributes of an object a change has changed, as far as is known:
 * mode 'train' -> 'eval', size -> 3, del name. At most about `limit` bytes. `visit` may
 * be NULL. False: nothing is known, or it is no object with attributes. */
bool
film_variables_changed_attributes(film_variables *variables, const film_event *event,
                                  size_t limit, film_buffer *out,
                                  film_attribute_visitor *visit, void *context);

/* Which bytes of a name are the bare name of the variable, attribute or global: without
 * the owner before it and the keys behind it. None: end is 0. */
typedef struct film_bare_name {
    size_t start, end;
} film_bare_name;

/* Appends how the source of the event's frame would name what a set or delete wrote to
 * (x, self.x, d['k']) or what a change is about. An object without a known name is
 * <Name #serial>. UTF-8, no NUL. *bare is set, unless it is NULL. */
void
film_variables_name(film_variables *variables, const film_event *event,
                    film_buffer *out, film_bare_name *bare);

#endif
