/* plan_told_lines.c: the lines that are told with another event, so that their own need
 * not come: see film_plan.opening and FILM_PLACE_QUIET.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/plan_draft.h"

/* See film_plan.opening. */
static uint16_t
find_opening(const film_bytecode *bytecode, const film_plan_wishes *wishes,
             const film_plan *plan)
{
    const film_instruction *start = bytecode->instructions, *next;
    const film_exit *exit;
    uint32_t index = 0;

    if (!FILM_HAS_MONITORING || plan->entry == NULL) {
        return FILM_PLAN_NO_PLACE;
    }
    while (start[index].place != plan->entry->place) {
        index++;
    }
    if (index + 1 >= bytecode->count ||
        !film_bytecode_fires(bytecode, index, index + 1)) {
        return FILM_PLAN_NO_PLACE;
    }
    next = &start[index + 1];
    exit = film_region_stop_at(plan->entry, next->place);
    if (wishes->earlier != NULL) {
        return wishes->earlier->opening; /* its event is off */
    }
    return next->is_target || next->is_handler || exit == NULL || exit->count != 0 ||
                   plan->entry->touch_count != 0
               ? FILM_PLAN_NO_PLACE
               : next->place;
}

/* True when control can come to an instruction from its own line. */
static bool
is_joined(const film_instruction *here)
{
    return here->is_joined ||
           ((here[-1].traits & FILM_OP_ENDS) == 0 && here[-1].line == here->line);
}

/* The return that the line at `index` consists of, or FILM_NONE. */
static uint32_t
find_return(const film_bytecode *bytecode, uint32_t index)
{
    const film_instruction *all = bytecode->instructions;
    uint32_t end = index;

    while (end < bytecode->count &&
           (all[end].traits & (FILM_OP_QUIET | FILM_OP_ENDS)) == FILM_OP_QUIET &&
           (end == index || (!all[end].marked && !all[end].is_target))) {
        end++;
    }
    return end < bytecode->count && all[end].form == FILM_FORM_RETURN &&
                   (all[end].traits & FILM_OP_ENDS) != 0 &&
                   (end == index || (!all[end].marked && !all[end].is_target))
               ? end
               : FILM_NONE;
}

static bool
add_quiet(film_draft *draft, uint16_t place, uint16_t line)
{
    film_quiet *grown = film_draft_grow(draft, draft->quiet, &draft->quiet_capacity,
                                        draft->quiet_count + 1, sizeof(*grown));

    if (grown == NULL) {
        return false;
    }
    draft->quiet = grown;
    grown[draft->quiet_count++] = (film_quiet){.place = place, .line = line};
    return true;
}

/* Lines of which nothing can be seen but that they return: see FILM_PLACE_QUIET. They
 * are found in the order of their returns, since lines do not lie within one another.
 * They begin whichever way the frame comes there. */
static bool
find_quiet(film_draft *draft, const film_plan *plan)
{
    const film_instruction *all = draft->bytecode.instructions;

    for (uint32_t number = 0; number < plan->region_count; number++) {
        uint32_t index = draft->bytecode.index_at[plan->regions[number].place], end;

        if (index == 0 || !all[index].marked || !all[index].sure ||
            all[index].is_handler || is_joined(&all[index]) ||
            all[index].place == plan->opening) {
            continue;
        }
        end = find_return(&draft->bytecode, index);
        if (end != FILM_NONE) {
            plan->flags[all[index].place] |= FILM_PLACE_QUIET;
            if (!add_quiet(draft, all[end].place, all[index].place)) {
                return false;
            }
        }
    }
    return true;
}

bool
film_draft_find_told_lines(film_draft *draft, film_plan *plan)
{
    plan->opening = find_opening(&draft->bytecode, draft->wishes, plan);
    return !FILM_HAS_MONITORING || draft->wishes->line_times || find_quiet(draft, plan);
}
