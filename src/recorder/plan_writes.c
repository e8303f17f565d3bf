/* plan_writes.c: which variables and attributes each instruction writes.
 *
 * Most writes are read back later from where they went: the variable, the attribute of
 * an object that is in a variable. A write whose owner is an expression, and every item
 * store, is read off the stack at a point of its own.
 *
 * Hidden, because the source does not show them: what a 3.12+ comprehension gives back
 * to the variables it used, and names the compiler makes up. Left out for the same
 * reason: items of __annotations__, and those taken off a `**rest` of match. `except E
 * as e` ends with `e = None; del e`: both are writes that are executed, so both are
 * told.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/plan_draft.h"

#include <opcode.h>

#include "recorder/plan_harmless.h"
#include "recorder/variables.h"

/* How many instructions of its line are looked at before a store. */
#define LOOK_BACK 256u

/* True for a variable the compiler made up: a local may have any name but one with a
 * dot, a cell may be that of a class body. */
static bool
is_hidden_slot(const film_draft *draft, uint32_t slot)
{
    const char *kinds = PyBytes_AS_STRING(draft->bytecode.code->co_localspluskinds);
    PyObject *name = film_draft_slot_name(draft, slot);

    if ((kinds[slot] & (CO_FAST_CELL | CO_FAST_FREE)) != 0 &&
        (draft->bytecode.code->co_flags & CO_OPTIMIZED) == 0) {
        return film_name_is_hidden(name);
    }
    return PyUnicode_GET_LENGTH(name) > 0 && PyUnicode_READ_CHAR(name, 0) == '.';
}

/* The index of the new write, or FILM_NONE when memory is out. */
static uint32_t
add_write(film_draft *draft, film_draft_write write)
{
    film_draft_write *grown =
        film_draft_grow(draft, draft->writes, &draft->write_capacity,
                        draft->write_count + 1, sizeof(write));

    if (grown == NULL) {
        return FILM_NONE;
    }
    draft->writes = grown;
    grown[draft->write_count] = write;
    return (uint32_t)draft->write_count++;
}

/* The place of the call whose result the store at `index` stores, when nothing but
 * plain loads of `above` items (owner, key) and copies lie between. */
static uint16_t
find_call(const film_draft *draft, uint32_t index, uint32_t above)
{
    const film_bytecode *bytecode = &draft->bytecode;
    const film_instruction *before;

    for (;;) {
        index = film_bytecode_before(bytecode, index);
        if (index == FILM_NONE) {
            return FILM_PLAN_NO_PLACE;
        }
        before = &bytecode->instructions[index];
        if (above != 0) {
            uint32_t pushes = film_instruction_pushes(before);

            if (pushes == 0 || pushes > above) {
                return FILM_PLAN_NO_PLACE;
            }
            above -= pushes;
        }
        else if (before->form == FILM_FORM_CALL) {
            return before->place;
        }
        else if (before->form != FILM_FORM_COPY || before->arg != 1) {
            return FILM_PLAN_NO_PLACE;
        }
    }
}

/* True when what the instruction stores was loaded right before it as a constant. */
static bool
is_constant(const film_draft *draft, uint32_t index)
{
    uint32_t before = film_bytecode_before(&draft->bytecode, index);

    return before != FILM_NONE &&
           draft->bytecode.instructions[before].form == FILM_FORM_LOAD_CONST;
}

static bool
stores_slot(const film_instruction *instruction, uint32_t slot)
{
    switch (instruction->form) {
    case FILM_FORM_STORE_FAST:
    case FILM_FORM_STORE_CELL:
    case FILM_FORM_DELETE_FAST:
    case FILM_FORM_DELETE_CELL:
        return instruction->arg == slot;
    case FILM_FORM_STORE_LOAD_FAST:
        return instruction->arg >> 4 == slot;
    case FILM_FORM_STORE_FAST_PAIR:
        return instruction->arg >> 4 == slot || (instruction->arg & 15u) == slot;
    default:
        return false;
    }
}

/* owner.name += value: LOAD_FAST owner; COPY 1; LOAD_ATTR name; ...; SWAP 2; STORE_ATTR
 * name. The slot of the owner if it keeps it until the store, else FILM_NONE. */
static uint32_t
find_augmented_owner(const film_draft *draft, uint32_t store)
{
    const film_instruction *all = draft->bytecode.instructions;

    for (uint32_t index = store - 1; index > 2; index--) {
        const film_instruction *load = &all[index - 1];
        uint32_t slot;

        if (load->form == FILM_FORM_STORE_ATTRIBUTE || load->form == FILM_FORM_RESUME) {
            break;
        }
        if (load->form != FILM_FORM_LOAD_ATTRIBUTE || load->arg != all[store].arg) {
            continue;
        }
        while (index > 3 && all[index - 2].form == FILM_FORM_EXTENDED) {
            index--;
        }
        if (all[index - 2].form != FILM_FORM_COPY || all[index - 2].arg != 1) {
            continue;
        }
        slot = film_instruction_loads(&all[index - 3]);
        if (slot == FILM_NONE) {
            break;
        }
        for (; index < store; index++) {
            if (stores_slot(&all[index], slot)) {
                return FILM_NONE;
            }
        }
        return slot;
    }
    return FILM_NONE;
}

/* The write of an attribute whose owner is in a variable; false: it is not. */
static bool
find_owner(const film_draft *draft, uint32_t index, film_draft_write *write)
{
    const film_bytecode *bytecode = &draft->bytecode;
    uint32_t before = film_bytecode_before(bytecode, index), slot;
    const film_instruction *load;

    if (before == FILM_NONE) {
        return false;
    }
    load = &bytecode->instructions[before];
    if (load->form == FILM_FORM_LOAD_CELL) {
        write->slot = (uint16_t)load->arg;
        write->cell_owner = true;
        return true;
    }
    slot = film_instruction_loads(load);
    if (slot == FILM_NONE && load->form == FILM_FORM_SWAP &&
        write->kind == FILM_WRITE_ATTRIBUTE) {
        slot = find_augmented_owner(draft, index);
    }
    write->slot = (uint16_t)slot;
    return slot != FILM_NONE;
}

static bool
add_made(film_draft *draft, uint32_t index, film_draft_write write)
{
    film_made *made = &draft->made[index];
    uint32_t added = add_write(draft, write);

    if (made->count == 0) {
        made->first = added & 0x3fffffffu;
    }
    made->count = (made->count + 1u) & 3u;
    return added != FILM_NONE;
}

bool
film_draft_add_stack_write(film_draft *draft, uint32_t index, film_draft_write write)
{
    const film_instruction *here = &draft->bytecode.instructions[index];
    uint32_t point = film_bytecode_prefix(&draft->bytecode, index);

    write.slot = (uint16_t)(draft->bytecode.code->co_nlocalsplus +
                            (here->depth > 0 ? here->depth : 0));
    draft->points[point] = true;
    draft->made[point].before = add_write(draft, write);
    return draft->made[point].before != FILM_NONE;
}

static bool
add_slot_write(film_draft *draft, uint32_t index, film_write_kind kind, uint32_t slot,
               bool restores)
{
    film_draft_write write = {
        .kind = (uint8_t)kind,
        .slot = (uint16_t)slot,
        .place = draft->bytecode.instructions[index].place,
        .call_place = FILM_PLAN_NO_PLACE,
        .hidden = restores || is_hidden_slot(draft, slot),
        .restores = restores && !is_hidden_slot(draft, slot),
        .constant = is_constant(draft, index),
    };

    if ((kind == FILM_WRITE_FAST || kind == FILM_WRITE_CELL) &&
        draft->made[index].count == 0) {
        write.call_place = find_call(draft, index, 0);
    }
    return add_made(draft, index, write);
}

bool
film_draft_read_on_stack(film_draft *draft, uint32_t index)
{
    film_made *made = &draft->made[index];
    film_draft_write write = draft->writes[made->first];

    write.target = write.slot;
    write.kind = FILM_WRITE_STACK_FAST;
    made->count = 0;
    return film_draft_add_stack_write(draft, index, write);
}

static bool
add_slot_pair(film_draft *draft, uint32_t index)
{
    const film_instruction *here = &draft->bytecode.instructions[index];
    uint32_t first = here->arg >> 4, second = here->arg & 15u;

    if (first != second) {
        return add_slot_write(draft, index, FILM_WRITE_FAST, first,
                              (here->restores & 1u) != 0) &&
               add_slot_write(draft, index, FILM_WRITE_FAST, second,
                              (here->restores & 2u) != 0);
    }
    /* x, x = ...: the first value is gone when the instruction is over. */
    return film_draft_add_stack_write(draft, index,
                                      (film_draft_write){
                                          .kind = FILM_WRITE_STACK_FAST,
                                          .hidden = (here->restores & 1u) != 0,
                                          .target = (uint16_t)first,
                                          .place = here->place,
                                          .call_place = find_call(draft, index, 0),
                                      }) &&
           add_slot_write(draft, index, FILM_WRITE_FAST, second,
                          (here->restores & 2u) != 0);
}

/* True when the store at `index` is to be read off the stack: its value could not be
 * read back in an earlier plan. */
static bool
is_wished_on_stack(const film_draft *draft, uint32_t index)
{
    const film_plan *earlier = draft->wishes->earlier;
    uint32_t place = draft->bytecode.instructions[index].place;

    return earlier != NULL && place < earlier->unit_count &&
           (earlier->flags[place] & FILM_PLACE_ON_STACK) != 0;
}

/* The same for a constant loaded right before the owner, or FILM_PLAN_NO_PLACE. */
static uint16_t
find_constant(const film_draft *draft, uint32_t index)
{
    const film_bytecode *bytecode = &draft->bytecode;
    const film_instruction *load;

    index = film_bytecode_before(bytecode, index);
    if (index == FILM_NONE ||
        film_instruction_pushes(&bytecode->instructions[index]) != 1) {
        return FILM_PLAN_NO_PLACE;
    }
    index = film_bytecode_before(bytecode, index);
    if (index == FILM_NONE) {
        return FILM_PLAN_NO_PLACE;
    }
    load = &bytecode->instructions[index];
    if (load->opcode == LOAD_CONST &&
        load->arg < FILM_TARGET_SMALL_INT - FILM_TARGET_CONSTANT) {
        return (uint16_t)(FILM_TARGET_CONSTANT | load->arg);
    }
#if defined(LOAD_SMALL_INT)
    if (load->opcode == LOAD_SMALL_INT && load->arg < 256) {
        return (uint16_t)(FILM_TARGET_SMALL_INT | load->arg);
    }
#endif
    return FILM_PLAN_NO_PLACE;
}

/* Where the value comes from that the STORE_ATTR at `index` finds below its owner. */
static uint16_t
find_value(const film_draft *draft, uint32_t index)
{
    const film_bytecode *bytecode = &draft->bytecode;
    const film_instruction *here = &bytecode->instructions[index], *load;
    uint32_t origin = film_bytecode_origin(bytecode, here->items, here->depth - 2);
    uint32_t slot;

    if (origin == FILM_NONE) {
        return find_constant(draft, index);
    }
    if ((origin & FILM_ORIGIN_WITHIN) != 0) {
        return FILM_PLAN_NO_PLACE;
    }
    load = &bytecode->instructions[FILM_ORIGIN_INDEX(origin)];
    slot = load->form == FILM_FORM_LOAD_FAST_PAIR && (origin & FILM_ORIGIN_FIRST) != 0
               ? load->arg >> 4
               : film_instruction_loads(load);
    return slot == FILM_NONE ? FILM_PLAN_NO_PLACE : (uint16_t)slot;
}

/* True for `__module__ = "m"` or `__qualname__ = "q"` in the body of a class that is
 * not the compiler's, which comes first. */
static bool
is_programs_own(const film_draft *draft, uint32_t index)
{
    const film_instruction *all = draft->bytecode.instructions;
    PyObject *name = film_draft_name(draft, all[index].arg);

    if (PyUnicode_CompareWithASCIIString(name, "__module__") != 0 &&
        PyUnicode_CompareWithASCIIString(name, "__qualname__") != 0) {
        return false;
    }
    for (uint32_t before = 0; before < index; before++) {
        if (all[before].form == FILM_FORM_STORE_NAME &&
            all[before].arg == all[index].arg) {
            return true;
        }
    }
    return PyUnicode_CompareWithASCIIString(draft->bytecode.code->co_name,
                                            "<module>") == 0;
}

static bool
add_name_write(film_draft *draft, uint32_t index, film_write_kind kind)
{
    const film_instruction *here = &draft->bytecode.instructions[index];
    film_draft_write write = {
        .kind = (uint8_t)kind,
        .place = here->place,
        .call_place = FILM_PLAN_NO_PLACE,
        .name = film_draft_name(draft, here->arg),
        .name_index = here->arg,
        .constant = is_constant(draft, index),
    };

    write.hidden = film_name_is_hidden(write.name) && !is_programs_own(draft, index);
    if (kind == FILM_WRITE_GLOBAL || kind == FILM_WRITE_NAME) {
        write.call_place = find_call(draft, index, 0);
    }
    if (kind == FILM_WRITE_NAME && draft->wishes->names_on_stack && !write.hidden) {
        write.kind = FILM_WRITE_STACK_NAME;
        return film_draft_add_stack_write(draft, index, write);
    }
    return add_made(draft, index, write);
}

/* True when the owner is an argument whose property or __setattr__ takes the value, in
 * the frame that is about to begin: its value can only be read off the stack. */
static bool
is_taken_over(const film_draft *draft, film_draft_write write)
{
    const PyCodeObject *code = draft->bytecode.code;
    const film_frame *frame = draft->wishes->frame;
    PyObject *owner;
    film_kept kept = FILM_KEPT_ELSEWHERE;

    if (frame == NULL || write.slot >= code->co_argcount + code->co_kwonlyargcount) {
        return false;
    }
    owner = film_frame_local(frame, write.slot);
    if (write.cell_owner) {
        owner = film_cell_content(owner);
    }
    if (owner != NULL) {
        film_named named = film_named_new(write.name);

        (void)film_attribute_read(&named, owner, &kept);
    }
    return kept == FILM_KEPT_VIA;
}

static bool
add_attribute_write(film_draft *draft, uint32_t index, film_write_kind kind,
                    film_write_kind on_stack)
{
    const film_instruction *here = &draft->bytecode.instructions[index];
    film_draft_write write = {
        .kind = (uint8_t)kind,
        .place = here->place,
        .call_place = FILM_PLAN_NO_PLACE,
        .name = film_draft_name(draft, here->arg),
        .name_index = here->arg,
    };

    if (kind == FILM_WRITE_ATTRIBUTE) {
        write.call_place = find_call(draft, index, 1);
        write.target = find_value(draft, index);
    }
    if (!is_wished_on_stack(draft, index) && find_owner(draft, index, &write) &&
        !is_taken_over(draft, write)) {
        return add_made(draft, index, write);
    }
    write.kind = (uint8_t)on_stack;
    return film_draft_add_stack_write(draft, index, write);
}

/* True for item stores and deletes that are not in the source: `x: int` in a class or
 * module up to 3.13, and `case {"k": 1, **rest}`, which takes the keys off a new dict.
 */
static bool
is_compilers_item(const film_draft *draft, uint32_t index)
{
    const film_bytecode *bytecode = &draft->bytecode;
    uint32_t before = film_bytecode_before(bytecode, index);

    if (before == FILM_NONE) {
        return false;
    }
    if (bytecode->instructions[index].form == FILM_FORM_DELETE_ITEM) {
        return bytecode->instructions[before].form == FILM_FORM_SWAP;
    }
    if (bytecode->instructions[before].form != FILM_FORM_LOAD_CONST) {
        return false;
    }
    before = film_bytecode_before(bytecode, before);
    return before != FILM_NONE &&
           bytecode->instructions[before].form == FILM_FORM_LOAD_NAME &&
           film_name_is_annotations(
               film_draft_name(draft, bytecode->instructions[before].arg));
}

/* An item or slice store or delete, with the items that lie above the value. */
static bool
add_item_write(film_draft *draft, uint32_t index, film_write_kind kind, uint32_t above)
{
    return film_draft_add_stack_write(
        draft, index,
        (film_draft_write){
            .kind = (uint8_t)kind,
            .unnamed = film_draft_is_unnamed(draft, index),
            .place = draft->bytecode.instructions[index].place,
            .call_place = kind == FILM_DELETE_STACK_ITEM
                              ? FILM_PLAN_NO_PLACE
                              : find_call(draft, index, above),
        });
}

/* True for a store that was not asked for: option --values. */
static bool
is_out_of_scope(const film_draft *draft, uint32_t index)
{
    film_values_scope scope = draft->wishes->scope;

    switch (draft->bytecode.instructions[index].form) {
    case FILM_FORM_STORE_ATTRIBUTE:
    case FILM_FORM_DELETE_ATTRIBUTE:
        return scope >= FILM_VALUES_LOCALS;
    case FILM_FORM_STORE_ITEM:
    case FILM_FORM_STORE_SLICE:
    case FILM_FORM_DELETE_ITEM:
    case FILM_FORM_CALL:
        return scope >= FILM_VALUES_ATTRIBUTES;
    default:
        return false;
    }
}

/* True for forms that find_writes_of knows. */
static bool
may_write(uint8_t form)
{
    return form >= FILM_FORM_STORE_FAST || form == FILM_FORM_CALL;
}

static bool
find_writes_of(film_draft *draft, uint32_t index)
{
    const film_instruction *here = &draft->bytecode.instructions[index];

    if (is_out_of_scope(draft, index)) {
        return true;
    }

    switch (here->form) {
    case FILM_FORM_STORE_FAST:
        return add_slot_write(draft, index, FILM_WRITE_FAST, here->arg,
                              here->restores != 0);
    case FILM_FORM_STORE_LOAD_FAST:
        return add_slot_write(draft, index, FILM_WRITE_FAST, here->arg >> 4,
                              here->restores != 0);
    case FILM_FORM_STORE_FAST_PAIR:
        return add_slot_pair(draft, index);
    case FILM_FORM_STORE_CELL:
        return add_slot_write(draft, index, FILM_WRITE_CELL, here->arg, false);
    case FILM_FORM_DELETE_FAST:
        return add_slot_write(draft, index, FILM_DELETE_FAST, here->arg, false);
    case FILM_FORM_DELETE_CELL:
        return add_slot_write(draft, index, FILM_DELETE_CELL, here->arg, false);
    case FILM_FORM_STORE_GLOBAL:
        return add_name_write(draft, index, FILM_WRITE_GLOBAL);
    case FILM_FORM_DELETE_GLOBAL:
        return add_name_write(draft, index, FILM_DELETE_GLOBAL);
    case FILM_FORM_STORE_NAME:
        return add_name_write(draft, index, FILM_WRITE_NAME);
    case FILM_FORM_DELETE_NAME:
        return add_name_write(draft, index, FILM_DELETE_NAME);
    case FILM_FORM_STORE_ATTRIBUTE:
        return add_attribute_write(draft, index, FILM_WRITE_ATTRIBUTE,
                                   FILM_WRITE_STACK_ATTRIBUTE);
    case FILM_FORM_DELETE_ATTRIBUTE:
        return add_attribute_write(draft, index, FILM_DELETE_ATTRIBUTE,
                                   FILM_DELETE_STACK_ATTRIBUTE);
    case FILM_FORM_STORE_ITEM:
        return is_compilers_item(draft, index) ||
               add_item_write(draft, index, FILM_WRITE_STACK_ITEM, 2);
    case FILM_FORM_STORE_STAR:
        return film_draft_add_stack_write(draft, index,
                                          (film_draft_write){
                                              .kind = FILM_WRITE_STACK_STAR,
                                              .place = here->place,
                                              .call_place = FILM_PLAN_NO_PLACE,
                                          });
    case FILM_FORM_STORE_SLICE:
        return add_item_write(draft, index, FILM_WRITE_STACK_SLICE, 3);
    case FILM_FORM_CALL:
        return film_draft_find_unnamed_call(draft, index);
    case FILM_FORM_DELETE_ITEM:
        return is_compilers_item(draft, index) ||
               add_item_write(draft, index, FILM_DELETE_STACK_ITEM, 0);
    default:
        return true;
    }
}

bool
film_draft_find_writes(film_draft *draft)
{
    for (uint32_t index = 0; index < draft->bytecode.count; index++) {
        draft->made[index] = (film_made){.before = FILM_NONE};
        draft->points[index] = false;
        /* A point that is wanted lies here or before. */
        if (may_write(draft->bytecode.instructions[index].form) &&
            !find_writes_of(draft, index)) {
            return false;
        }
        if (film_draft_watches_all(draft) &&
            draft->bytecode.instructions[index].depth >= 0) {
            draft->points[film_bytecode_prefix(&draft->bytecode, index)] = true;
        }
    }
    return true;
}
