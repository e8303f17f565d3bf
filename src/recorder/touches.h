/* touches.h: what a region loads and may have changed in place.
 * Threads: the context's own, with the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_TOUCHES_H
#define FILMSTRIP_RECORDER_TOUCHES_H

#include "recorder/compat.h"

#include "recorder/capture.h"
#include "recorder/plan.h"
#include "recorder/thread_context.h"

/* A CHANGE row where the content of `value` is not as it was told. False: it was not
 * written. */
bool
film_tell_change(film_context *context, PyObject *value, const film_holder *holder,
                 film_effect effect);

/* The top frame has an event at `unit` of its region, which touches something, or
 * leaves it (UINT32_MAX): a CHANGE row for each object whose content is not as it was
 * told. False: a row was not written. */
bool
film_tell_touches(film_context *context, film_stack_entry *entry,
                  const film_frame *frame, uint32_t unit);

/* What the region may have changed in place before the instruction at `unit`, from
 * where a function is entered: what that changes is its own. */
bool
film_tell_early_changes(film_context *context, film_stack_entry *entry,
                        const film_frame *frame, uint32_t unit);

#endif
