/* plan_rebound.c: variables and attributes that are bound anew behind a change, in one
 * line: `l.append(4); l = []`, `del self.x[1:]; self.x = None`, `node = node.pop()`.
 *
 * So are those that a loop within a line binds anew with each turn: `for l in lists:
 * l.append(4)`, `[f(x) for x in xs]`.
 *
 * What a line changes in place is looked at when the next event comes, by the names the
 * line loaded it from. Where the same line binds such a name anew, that store becomes a
 * point: the object is looked at while the name still has it. Within a statement only
 * methods that change builtin containers count; a later statement of the line has a
 * point behind any change.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/plan_draft.h"
#include "recorder/plan_harmless.h"

/* How far back a line is looked through: beyond, nobody writes lines. */
#define LINE_LIMIT 256u

static bool
loads_slot(const film_instruction *load, uint32_t slot)
{
    switch (load->form) {
    case FILM_FORM_LOAD_FAST:
    case FILM_FORM_LOAD_CELL:
        return load->arg == slot;
    case FILM_FORM_LOAD_FAST_PAIR:
        return load->arg >> 4 == slot || (load->arg & 15u) == slot;
    case FILM_FORM_STORE_LOAD_FAST:
        return (load->arg & 15u) == slot;
    default:
        return false;
    }
}

/* True when the instruction loads from where the write goes. */
static bool
loads_target(const film_draft *draft, const film_instruction *load,
             const film_draft_write *write)
{
    switch (write->kind) {
    case FILM_WRITE_FAST:
    case FILM_WRITE_CELL:
    case FILM_DELETE_FAST:
    case FILM_DELETE_CELL:
        return loads_slot(load, write->slot);
    case FILM_WRITE_GLOBAL:
    case FILM_WRITE_NAME:
    case FILM_DELETE_GLOBAL:
    case FILM_DELETE_NAME:
        return (load->form == FILM_FORM_LOAD_GLOBAL ||
                load->form == FILM_FORM_LOAD_NAME) &&
               film_draft_name(draft, load->arg) == write->name;
    case FILM_WRITE_ATTRIBUTE:
    case FILM_DELETE_ATTRIBUTE:
        return load->form == FILM_FORM_LOAD_ATTRIBUTE &&
               film_draft_name(draft, load->arg) == write->name;
    default:
        return false; /* read off the stack, at a point in any case */
    }
}

/* How many items the store takes from the stack. */
static int32_t
taken_by(const film_draft *draft, uint32_t store)
{
    const film_made *made = &draft->made[store];

    switch (draft->writes[made->first].kind) {
    case FILM_DELETE_FAST:
    case FILM_DELETE_CELL:
    case FILM_DELETE_GLOBAL:
    case FILM_DELETE_NAME:
        return 0;
    case FILM_DELETE_ATTRIBUTE:
        return 1;
    case FILM_WRITE_ATTRIBUTE:
        return 2;
    default:
        return (int32_t)made->count;
    }
}

/* True when the instruction loads what the store binds anew. */
static bool
loads_any_target(const film_draft *draft, const film_instruction *load, uint32_t store)
{
    const film_made *made = &draft->made[store];

    for (uint32_t number = 0; number < made->count; number++) {
        if (loads_target(draft, load, &draft->writes[made->first + number])) {
            return true;
        }
    }
    return false;
}

/* How deep the stack is before an instruction: of one that stores and loads, between
 * the two, where one statement ends and the next begins. */
static int32_t
depth_of(const film_instruction *here)
{
    return here->form == FILM_FORM_STORE_LOAD_FAST ? here->depth - 1 : here->depth;
}

/* True when an earlier statement of the store's line loads what the store binds anew,
 * and behind that something is changed in place. */
static bool
is_rebound(const film_draft *draft, uint32_t store)
{
    const film_instruction *all = draft->bytecode.instructions;
    int32_t base = all[store].depth - taken_by(draft, store);
    bool statement = false, changed = false;

    for (uint32_t index = store; index-- > 0 && store - index < LINE_LIMIT;) {
        const film_instruction *here = &all[index];

        if (here->line != all[store].line && here->line >= 0) {
            return false;
        }
        changed = changed || (statement && film_draft_may_change(draft, index));
        if (changed && loads_any_target(draft, here, store)) {
            return true;
        }
        /* Nothing of the store's own statement lies on the stack here. */
        statement = statement || (here->depth >= 0 && depth_of(here) <= base);
    }
    return false;
}

/* True when the line has called a method of the variable, or of an attribute of it,
 * that may have changed an object which no variable of the line may hold once this
 * store is over: `node = node.setdefault(k, {})`. */
static bool
is_let_go_changed(const film_draft *draft, uint32_t store, uint32_t slot)
{
    const film_bytecode *bytecode = &draft->bytecode;
    const film_instruction *all = bytecode->instructions;

    for (uint32_t index = store; index > 0 && store - index < LINE_LIMIT; index--) {
        const film_instruction *load = &all[index - 1];
        uint32_t before;

        if (load->line >= 0 && load->line != all[store].line) {
            break;
        }
        if (load->form != FILM_FORM_LOAD_METHOD ||
            (film_draft_name_traits(draft, load->arg) & FILM_NAME_WRITES) == 0) {
            continue;
        }
        before = film_bytecode_before(bytecode, index - 1);
        while (before != FILM_NONE && (all[before].form == FILM_FORM_LOAD_ATTRIBUTE ||
                                       all[before].form == FILM_FORM_SUBSCRIPT)) {
            bool subscript = all[before].form == FILM_FORM_SUBSCRIPT;

            before = film_bytecode_before(bytecode, before);
            if (subscript && before != FILM_NONE) {
                /* d[k].append(x): its key is a plain load. */
                before = film_instruction_pushes(&all[before]) == 1
                             ? film_bytecode_before(bytecode, before)
                             : FILM_NONE;
            }
        }
        if (before != FILM_NONE &&
            (film_instruction_loads(&all[before]) == slot ||
             (all[before].form == FILM_FORM_LOAD_CELL && all[before].arg == slot))) {
            return true;
        }
    }
    return false;
}

/* True when the instructions from `first` to `last` are of one line, load what the
 * store binds anew, and may change an object. */
static bool
changes_target(const film_draft *draft, uint32_t store, uint32_t first, uint32_t last)
{
    const film_instruction *all = draft->bytecode.instructions;
    bool changed = false, loaded = false;

    for (uint32_t index = first; index <= last; index++) {
        if (all[index].line >= 0 && all[index].line != all[store].line) {
            return false;
        }
        changed = changed || film_draft_may_change(draft, index);
        loaded = loaded || loads_any_target(draft, &all[index], store);
    }
    return changed && loaded;
}

/* True when a loop within the store's line leads back to it, with a change between. */
static bool
is_rebound_by_loop(const film_draft *draft, uint32_t store)
{
    const film_instruction *all = draft->bytecode.instructions;

    for (uint32_t index = store + 1;
         index < draft->bytecode.count && index - store < LINE_LIMIT; index++) {
        if (all[index].line >= 0 && all[index].line != all[store].line) {
            return false;
        }
        if ((all[index].traits & FILM_OP_BACKWARD) != 0 && all[index].jump <= store &&
            changes_target(draft, store, all[index].jump, index)) {
            return true;
        }
    }
    return false;
}

/* What the compiler does for itself: the end of `except E as e` (e = None; del e), the
 * end of a comprehension. */
static bool
is_cleaning_up(const film_draft *draft, uint32_t index)
{
    const film_instruction *all = draft->bytecode.instructions;
    const film_draft_write *write = &draft->writes[draft->made[index].first];

    if (write->hidden) {
        return true;
    }
    if (write->kind == FILM_WRITE_FAST && index + 1 < draft->bytecode.count) {
        return all[index + 1].form == FILM_FORM_DELETE_FAST &&
               all[index + 1].arg == write->slot;
    }
    return write->kind == FILM_DELETE_FAST && index > 0 &&
           all[index - 1].form == FILM_FORM_STORE_FAST &&
           all[index - 1].arg == write->slot;
}

/* A variable whose object a method of the line may have changed. */
static bool
lets_go_changed(const film_draft *draft, uint32_t index)
{
    const film_made *made = &draft->made[index];

    for (uint32_t number = 0; number < made->count; number++) {
        const film_draft_write *write = &draft->writes[made->first + number];

        if ((write->kind == FILM_WRITE_FAST || write->kind == FILM_WRITE_CELL ||
             write->kind == FILM_DELETE_FAST || write->kind == FILM_DELETE_CELL) &&
            is_let_go_changed(draft, index, write->slot)) {
            return true;
        }
    }
    return false;
}

/* True for instructions that may change an object in place, or load the method that
 * does. */
static bool
may_matter(const film_instruction *here)
{
    const uint64_t forms = (uint64_t)1 << FILM_FORM_BINARY |
                           (uint64_t)1 << FILM_FORM_PRECALL |
                           (uint64_t)1 << FILM_FORM_LOAD_METHOD;

    return (here->traits & FILM_OP_CHANGES) != 0 || (forms >> here->form & 1u) != 0;
}

void
film_draft_find_rebound(film_draft *draft)
{
    int32_t line = -1;
    bool changing = false, between = false;

    if (draft->wishes->scope != FILM_VALUES_ALL) {
        return;
    }
    for (uint32_t index = 0; index < draft->bytecode.count; index++) {
        const film_instruction *here = &draft->bytecode.instructions[index];

        /* Most lines change nothing: only those that may are looked through. What has
         * no line belongs to those around it. */
        if (here->line >= 0 && here->line != line) {
            line = here->line;
            changing = between;
        }
        changing = changing || may_matter(here);
        between = here->line < 0 && (between || may_matter(here));
        if (draft->made[index].count != 0 && draft->made[index].before == FILM_NONE &&
            ((changing && lets_go_changed(draft, index)) ||
             (here->depth >= 0 && !is_cleaning_up(draft, index) &&
              ((changing && is_rebound(draft, index)) ||
               is_rebound_by_loop(draft, index))))) {
            draft->points[film_bytecode_prefix(&draft->bytecode, index)] = true;
        }
    }
}
