/* plan_lists.h: lists of writes that wait to be told, by their last node in
 * film_draft.nodes; 0 is the empty one. They grow while the control-flow graph is walked.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_PLAN_LISTS_H
#define FILMSTRIP_RECORDER_PLAN_LISTS_H

#include "recorder/plan_draft.h"

/* The last write of a list that is not empty. */
static inline const film_draft_write *
film_list_write(const film_draft *draft, uint32_t node)
{
    return &draft->writes[draft->nodes[node].write];
}

/* The list with one write more; 0 when memory is out. */
uint32_t
film_list_add(film_draft *draft, uint32_t before, uint32_t write);

/* True when the write makes one of the list unreadable. */
bool
film_list_is_hidden_by(const film_draft *draft, uint32_t node,
                       const film_draft_write *write);

/* True when a variable of the list lies in `slot`: LOAD_FAST_AND_CLEAR and MAKE_CELL
 * change a slot without a store. */
bool
film_list_has_slot(const film_draft *draft, uint32_t node, uint32_t slot);

/* True for a list with a value that may be changed in place before it is told. */
bool
film_list_may_change(const film_draft *draft, uint32_t node);

/* How many writes two lists begin with that are the same. Those that are made at
 * different places are marked as uncertain. */
uint32_t
film_list_compare(const film_draft *draft, uint32_t left, uint32_t right);

#endif
