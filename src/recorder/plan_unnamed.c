/* plan_unnamed.c: containers that are changed in place and that no variable, nor up to
 * two attributes of one, leads to: `objs[0].items.append(x)`, `f().rows[1:] = []`,
 * `heappush(queues[i], x)`. They are read off the stack at the instruction that changes
 * them, as stores are (plan_writes.c).
 *
 * Calls are known by the name of what is called. The methods of containers change
 * nothing else; a function that changes the container it is given may.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/plan_draft.h"
#include "recorder/plan_harmless.h"

bool
film_draft_is_unnamed(const film_draft *draft, uint32_t index)
{
    const film_bytecode *bytecode = &draft->bytecode;
    const film_instruction *here = &bytecode->instructions[index];
    int32_t above = here->form == FILM_FORM_STORE_SLICE ? 2 : 1;

    return !film_draft_finds(
        draft, film_bytecode_origin(bytecode, here->items, here->depth - above - 1));
}

/* heappush(a[i], x), heapq.heappush(a[i], x) */
static bool
gives_unnamed(const film_draft *draft, const film_instruction *call,
              const film_instruction *point)
{
    /* Above the function and its NULL or `self`. */
    int32_t first = call->depth - call->above_callee;

    return call->arg > 0 &&
           !film_draft_finds(
               draft, film_bytecode_origin(&draft->bytecode, point->items, first));
}

/* The load that gives what is called its name: of `module.function` the last one. A
 * LOAD_GLOBAL that pushes a NULL too stands for what follows it. */
static const film_instruction *
naming_load(const film_draft *draft, const film_instruction *load)
{
    const film_instruction *end =
        draft->bytecode.instructions + draft->bytecode.count - 1;
    int32_t depth = load->depth + 2;

    while (load->form == FILM_FORM_LOAD_GLOBAL ||
           load->form == FILM_FORM_LOAD_ATTRIBUTE) {
        if (load >= end || load[1].form != FILM_FORM_LOAD_ATTRIBUTE ||
            load[1].depth != depth) {
            break;
        }
        load++;
    }
    return load;
}

/* True for a call that changes a container which no touch finds: *write says where that
 * lies. `point`: the instruction that does the work of the CALL. */
static bool
changes_unnamed(const film_draft *draft, uint32_t index, uint32_t point,
                film_draft_write *write)
{
    const film_instruction *all = draft->bytecode.instructions;
    const film_instruction *callee = film_draft_callee(draft, index);
    uint16_t slot = film_draft_callee_slot(draft, &all[index]);
    uint8_t traits;

    if (callee == NULL || slot == FILM_PLAN_NO_PLACE ||
        (callee->form != FILM_FORM_LOAD_METHOD &&
         callee->form != FILM_FORM_LOAD_ATTRIBUTE &&
         callee->form != FILM_FORM_LOAD_GLOBAL &&
         callee->form != FILM_FORM_LOAD_NAME)) {
        return false;
    }
    callee = naming_load(draft, callee);
    write->name = film_draft_name(draft, callee->arg);
    write->name_index = callee->arg;
    write->target = slot;
    traits = film_draft_name_traits(draft, callee->arg);
    if ((traits & FILM_NAME_CHANGES_FIRST) != 0) {
        write->target += 2;
        write->unnamed = true;
        return gives_unnamed(draft, &all[index], &all[point]);
    }
    write->effect = film_draft_method_effect(draft, callee->arg) & 3u;
    return callee->form == FILM_FORM_LOAD_METHOD && (traits & FILM_NAME_WRITES) != 0 &&
           !film_draft_finds(draft, callee->owner);
}

bool
film_draft_find_unnamed_call(film_draft *draft, uint32_t index)
{
    const film_instruction *all = draft->bytecode.instructions;
    /* On 3.11 a PRECALL may do it. */
    uint32_t point =
        index > 0 && all[index - 1].form == FILM_FORM_PRECALL ? index - 1 : index;
    film_draft_write write = {
        .kind = FILM_CALL_ON_STACK,
        .place = all[index].place,
        .call_place = FILM_PLAN_NO_PLACE,
    };

    return !changes_unnamed(draft, index, point, &write) ||
           film_draft_add_stack_write(draft, point, write);
}
