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
    exit = film_exit_find(plan->entry->stops, plan->entry->stop_count, next->place);
    if (wishes->earlier != NULL) {
        return wishes->earlier->opening; /* its event is off */
    }
    return next->is_target || next->is_handler || exit == NULL || exit->count != 0 ||
                   plan->entry->touch_count != 0
               ? FILM_PLAN_NO_PLACE
               : next->place;
}

/* True when a line begins at `index` whichever way the frame comes there. */
static bool
always_fires(const film_bytecode *bytecode, uint32_t index)
{
    const film_instruction *all = bytecode->instructions;

    if (!all[index].marked || !all[index].sure || all[index].is_handler || index == 0) {
        return false;
    }
    for (uint32_t from = 0; from < bytecode->count; from++) {
        bool leads = all[from].jump == index ||
                     (from + 1 == index && (all[from].traits & FILM_OP_ENDS) == 0);

        if (leads && all[from].line == all[index].line) {
            return false;
        }
    }
    return true;
}

/* Lines of which nothing can be seen but that they return: see FILM_PLACE_QUIET. */
static void
find_quiet(const film_bytecode *bytecode, film_plan *plan)
{
    const film_instruction *all = bytecode->instructions;

    for (uint32_t index = 0; index < bytecode->count && FILM_HAS_MONITORING; index++) {
        uint32_t end = index;

        if (!all[index].marked || all[index].place == plan->opening ||
            plan->region_at[all[index].place] == 0) {
            continue;
        }
        while (end < bytecode->count &&
               (all[end].traits & (FILM_OP_QUIET | FILM_OP_ENDS)) == FILM_OP_QUIET &&
               (end == index || (!all[end].marked && !all[end].is_target))) {
            end++;
        }
        if (end < bytecode->count && all[end].form == FILM_FORM_RETURN &&
            (all[end].traits & FILM_OP_ENDS) != 0 &&
            (end == index || (!all[end].marked && !all[end].is_target)) &&
            always_fires(bytecode, index)) {
            plan->flags[all[index].place] |= FILM_PLACE_QUIET;
            plan->quiet[all[end].place] = (uint16_t)(all[index].place + 1);
        }
    }
}

void
film_draft_find_told_lines(const film_draft *draft, film_plan *plan)
{
    plan->opening = find_opening(&draft->bytecode, draft->wishes, plan);
    if (!draft->wishes->line_times) {
        find_quiet(&draft->bytecode, plan);
    }
}
