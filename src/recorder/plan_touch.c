/* plan_touch.c: what a region loads and may change in place: variables, and attributes
 * of them up to two deep, when one of its instructions may change an object. What lies
 * on the stack when the region begins counts as loaded: a call over several lines, or
 * behind a point, has its arguments from regions before.
 *
 * A method that is loaded to be called, and a global that is called, are left out:
 * functions and classes are not what changes. A bound method in a variable or attribute
 * stands for its object (`add = items.append`), so these stay where it may be one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/plan_draft.h"

#include <string.h>

#include "recorder/plan_harmless.h"
#include "recorder/variables.h"

/* How much of the stack counts as loaded, from its top: what the call of this line can
 * have as arguments, not all that a large literal has put there. */
#define STACK_LIMIT 16u
/* How many instructions of its line are looked at before a point. */
#define LOADS_BEFORE 64u

static bool
resolve_slot(const film_draft *draft, uint32_t slot, film_write_kind base,
             film_touched *touched)
{
    PyObject *name = film_draft_slot_name(draft, slot);
    const char *kinds = PyBytes_AS_STRING(draft->bytecode.code->co_localspluskinds);

    /* From 3.13 on the cell itself is loaded by LOAD_FAST, to make a closure. */
    if (base == FILM_WRITE_FAST && (kinds[slot] & (CO_FAST_CELL | CO_FAST_FREE)) != 0) {
        return false;
    }
    touched->base = (uint8_t)base;
    touched->slot = (uint16_t)slot;
    return !film_name_is_hidden(name) &&
           PyUnicode_CompareWithASCIIString(name, "__class__") != 0;
}

/* True for a global that is called and no bound method by now. In a module or class
 * body it may become one: such code runs once. */
static bool
is_plain_function(const film_draft *draft, const film_instruction *load, PyObject *name)
{
    PyObject *value;

    if (load->form != FILM_FORM_LOAD_GLOBAL || draft->wishes->globals == NULL ||
        !PyDict_CheckExact(draft->wishes->globals)) {
        return load->form == FILM_FORM_LOAD_GLOBAL;
    }
    value = film_dict_lookup(draft->wishes->globals, name);
    return value == NULL || film_method_self(value) == NULL;
}

static bool
resolve_name(const film_draft *draft, uint32_t index, film_write_kind base,
             film_touched *touched)
{
    const film_instruction *load = &draft->bytecode.instructions[index];

    touched->base = (uint8_t)base;
    touched->name = film_draft_name(draft, load->arg);
    return !(load->is_called && is_plain_function(draft, load, touched->name)) &&
           !film_name_is_hidden(touched->name) &&
           !film_name_is_annotations(touched->name);
}

/* What the load at `origin` loads; false when it is of no interest. `method`: a method
 * that is called counts as an attribute, not as its owner. */
static bool
resolve(const film_draft *draft, uint32_t origin, bool method, film_touched *touched)
{
    const film_instruction *load;
    uint32_t index;
    bool first;

    *touched = (film_touched){.method = method};
    for (;; method = false) {
        if (origin == FILM_NONE) {
            return false;
        }
        if ((origin & FILM_ORIGIN_WITHIN) != 0) {
            if (touched->depth != 0) {
                return false; /* objs[0].items: an attribute of who knows what */
            }
            touched->within = true;
        }
        first = (origin & FILM_ORIGIN_FIRST) != 0;
        index = FILM_ORIGIN_INDEX(origin);
        load = &draft->bytecode.instructions[index];
        if (load->form == FILM_FORM_LOAD_METHOD && !method) {
            origin = load->owner;
            continue;
        }
        if (load->form != FILM_FORM_LOAD_ATTRIBUTE && !method) {
            break;
        }
        if (touched->depth == 2) {
            return false;
        }
        touched->steps[1] = touched->steps[0];
        touched->steps[0] = film_draft_name(draft, load->arg);
        touched->depth++;
        origin = load->owner;
    }
    switch (load->form) {
    case FILM_FORM_LOAD_FAST:
        return resolve_slot(draft, load->arg, FILM_WRITE_FAST, touched);
    case FILM_FORM_LOAD_FAST_PAIR:
    case FILM_FORM_STORE_LOAD_FAST:
        return resolve_slot(draft, first ? load->arg >> 4 : load->arg & 15u,
                            FILM_WRITE_FAST, touched);
    case FILM_FORM_LOAD_CELL:
        return resolve_slot(draft, load->arg, FILM_WRITE_CELL, touched);
    case FILM_FORM_LOAD_GLOBAL:
        return resolve_name(draft, index, FILM_WRITE_GLOBAL, touched);
    case FILM_FORM_LOAD_NAME:
        return resolve_name(draft, index, FILM_WRITE_NAME, touched);
    default:
        return false;
    }
}

bool
film_draft_finds(const film_draft *draft, uint32_t origin)
{
    film_touched touched;

    return resolve(draft, origin, false, &touched) && !touched.within;
}

/* Its index among those found, or their number. */
static size_t
find_touched(const film_draft *draft, const film_touched *touched)
{
    size_t index = 0;

    for (; index < draft->touched_count; index++) {
        const film_touched *other = &draft->touched[index];

        if (other->base == touched->base && other->depth == touched->depth &&
            other->slot == touched->slot && other->name == touched->name &&
            other->steps[0] == touched->steps[0] &&
            other->steps[1] == touched->steps[1]) {
            break;
        }
    }
    return index;
}

/* Adds it if it is new; false when memory is out. */
static bool
keep_touched(film_draft *draft, const film_touched *touched)
{
    size_t known = find_touched(draft, touched);
    film_touched *grown;

    if (known < draft->touched_count) {
        draft->touched[known].method &= touched->method;
        return true;
    }
    grown = film_draft_grow(draft, draft->touched, &draft->touched_capacity,
                            draft->touched_count + 1, sizeof(*touched));
    if (grown == NULL) {
        return false;
    }
    draft->touched = grown;
    grown[draft->touched_count++] = *touched;
    return true;
}

/* The same for what a load loads, if that is of interest. */
static bool
add_touched(film_draft *draft, uint32_t origin, bool method)
{
    film_touched touched;

    return !resolve(draft, origin, method, &touched) || keep_touched(draft, &touched);
}

const film_instruction *
film_draft_callee(const film_draft *draft, uint32_t index)
{
    const film_bytecode *bytecode = &draft->bytecode;
    const film_instruction *call = &bytecode->instructions[index];
    int32_t position;

    if (call->form != FILM_FORM_CALL || call->above_callee < 0) {
        return NULL;
    }
    position = call->depth - call->above_callee - 2;
    /* With a NULL below it the function is one higher. */
    for (int32_t above = 0; above < 2; above++) {
        uint32_t origin = film_bytecode_origin(bytecode, call->items, position + above);

        if (origin != FILM_NONE) {
            return &bytecode->instructions[FILM_ORIGIN_INDEX(origin)];
        }
    }
    return NULL;
}

/* The builtin function of this name, not a global the program has made. A keyword may
 * be a function that changes something: max(l, key=seen.append). */
static bool
is_harmless_function(const film_draft *draft, const film_instruction *load,
                     const film_instruction *call)
{
    PyObject *name;

    if ((load->form != FILM_FORM_LOAD_GLOBAL && load->form != FILM_FORM_LOAD_NAME) ||
        call->bit) {
        return false;
    }
    name = film_draft_name(draft, load->arg);
    return draft->wishes->globals != NULL &&
           (film_draft_name_traits(draft, load->arg) & FILM_NAME_HARMLESS) != 0 &&
           film_dict_lookup(draft->wishes->globals, name) == NULL;
}

bool
film_draft_may_change(const film_draft *draft, uint32_t index)
{
    const film_instruction *here = &draft->bytecode.instructions[index], *callee;

    if (here->form == FILM_FORM_PRECALL && index + 1 < draft->bytecode.count) {
        here = &draft->bytecode.instructions[++index];
    }
    if (here->form == FILM_FORM_BINARY) {
        return here->bit;
    }
    if (here->form != FILM_FORM_CALL) {
        return (here->traits & FILM_OP_CHANGES) != 0;
    }
    callee = film_draft_callee(draft, index);
    if (callee == NULL) {
        return true;
    }
    if (callee->form == FILM_FORM_LOAD_METHOD) {
        return (film_draft_name_traits(draft, callee->arg) & FILM_NAME_READS) == 0;
    }
    return !is_harmless_function(draft, callee, here);
}

/* A generator expression: calling it makes a generator and runs nothing. */
static bool
is_generator_function(const film_draft *draft, const film_instruction *load)
{
    const film_instruction *before = load - 1;
    PyObject *constants = draft->bytecode.code->co_consts, *code;

    if (load->form != FILM_FORM_MAKE_FUNCTION || load == draft->bytecode.instructions ||
        before->form != FILM_FORM_LOAD_CONST ||
        before->arg >= (uint32_t)PyTuple_GET_SIZE(constants)) {
        return false;
    }
    code = PyTuple_GET_ITEM(constants, (Py_ssize_t)before->arg);
    return PyCode_Check(code) &&
           (((PyCodeObject *)code)->co_flags &
            (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)) != 0;
}

/* Where the object comes from that the instruction changes, if nothing else. */
static uint32_t
receiver_of(const film_draft *draft, uint32_t index, const film_instruction *callee,
            film_change *change)
{
    const film_bytecode *bytecode = &draft->bytecode;
    const film_instruction *here = &bytecode->instructions[index];
    uint8_t traits;

    switch (here->form) {
    case FILM_FORM_STORE_ITEM:
    case FILM_FORM_DELETE_ITEM:
        return film_bytecode_origin(bytecode, here->items, here->depth - 2);
    case FILM_FORM_STORE_SLICE:
        return film_bytecode_origin(bytecode, here->items, here->depth - 3);
    default:
        if (callee == NULL || callee->form != FILM_FORM_LOAD_METHOD) {
            return FILM_NONE;
        }
        traits = film_draft_name_traits(draft, callee->arg);
        change->reads = (traits & FILM_NAME_READS) != 0;
        return (traits & FILM_NAME_CONTAINED) != 0 ? callee->owner : FILM_NONE;
    }
}

uint16_t
film_draft_callee_slot(const film_draft *draft, const film_instruction *call)
{
    int32_t position = call->depth - 2;

    if (call->form == FILM_FORM_CALL && call->above_callee >= 0) {
        position -= call->above_callee;
    }
    else if (call->form != FILM_FORM_SEND) {
        return FILM_PLAN_NO_PLACE;
    }
    if (position < 0) {
        return FILM_PLAN_NO_PLACE;
    }
    return (uint16_t)(draft->bytecode.code->co_nlocalsplus + position);
}

/* True for `o.__dict__`. */
static bool
is_attributes_dict(const film_draft *draft, uint32_t origin)
{
    const film_instruction *load =
        origin == FILM_NONE ? NULL
                            : &draft->bytecode.instructions[FILM_ORIGIN_INDEX(origin)];

    return load != NULL && load->form == FILM_FORM_LOAD_ATTRIBUTE &&
           PyUnicode_CompareWithASCIIString(film_draft_name(draft, load->arg),
                                            "__dict__") == 0;
}

/* Where the function of a call comes from: film_change.maker. */
static bool
note_maker(film_draft *draft, const film_instruction *callee, film_change *change)
{
    uint32_t origin = (uint32_t)(callee - draft->bytecode.instructions);
    film_touched touched;
    uint32_t number;

    if (callee->form == FILM_FORM_LOAD_METHOD) {
        change->method = (callee->arg + 1) & 0xfffffffu;
        origin = callee->owner;
    }
    if (callee->form == FILM_FORM_LOAD_GLOBAL) {
        touched = (film_touched){.base = FILM_WRITE_GLOBAL,
                                 .name = film_draft_name(draft, callee->arg)};
    }
    else if (!resolve(draft, origin, false, &touched)) {
        return true;
    }
    number = film_draft_number_touch(draft, &touched);
    if (number >= UINT16_MAX) {
        return false;
    }
    change->maker = (uint16_t)(number + 1);
    return true;
}

/* Notes the instruction if it may change an object in place; its receiver is one of the
 * touches found before. False when memory is out. */
static bool
note_change(film_draft *draft, uint32_t index, film_region *region)
{
    const film_instruction *here = &draft->bytecode.instructions[index];
    const film_instruction *callee = film_draft_callee(draft, index);
    film_change change = {.place = here->place,
                          .callee = film_draft_callee_slot(draft, here)};
    film_touched touched;
    uint32_t receiver;

    if (callee != NULL && (is_harmless_function(draft, callee, here) ||
                           is_generator_function(draft, callee))) {
        return true;
    }
    receiver = receiver_of(draft, index, callee, &change);
    if (receiver != FILM_NONE && callee != NULL &&
        callee->form == FILM_FORM_LOAD_METHOD) {
        change.effect = film_draft_method_effect(draft, callee->arg) & 3u;
    }
    change.spreads = is_attributes_dict(draft, receiver);
    if (receiver != FILM_NONE && !change.spreads &&
        resolve(draft, receiver, false, &touched)) {
        size_t found = find_touched(draft, &touched);

        change.receiver =
            found < draft->touched_count ? (uint16_t)(found + 1) : (uint16_t)0;
    }
    if (region->change_count >= FILM_REGION_CHANGES) {
        region->change_count = UINT8_MAX;
        return true;
    }
    if (change.receiver == 0 && callee != NULL && !note_maker(draft, callee, &change)) {
        return false;
    }
    draft->changes[region->change_count++] = change;
    return true;
}

static bool
reaches(const film_draft *draft, const film_flow_region *flow, uint32_t index)
{
    for (uint32_t state = 0; state < flow->state_count; state++) {
        if (draft->reaches[flow->states + state].index == index) {
            return true;
        }
    }
    return false;
}

/* A loop within the region makes its instructions run more than once before the next
 * event; most jumps back lead to a line's start, and out of it. */
static bool
find_changes(film_draft *draft, const film_flow_region *flow, film_region *region)
{
    bool loops = false;

    region->forward = true;
    region->change_count = 0;
    /* In the order of their places. */
    for (uint32_t state = 0; state < flow->state_count; state++) {
        uint32_t index = draft->reaches[flow->states + state].index;
        const film_instruction *here = &draft->bytecode.instructions[index];

        region->early_change |= region->change_count != 0 && film_draft_may_enter(here);
        if ((here->traits & FILM_OP_CHANGES) != 0 &&
            !note_change(draft, index, region)) {
            return false;
        }
        /* Back to a SEND leads only what goes on after a yield, which is an event. */
        if ((here->traits & FILM_OP_BACKWARD) != 0 && here->jump != FILM_NO_INDEX &&
            draft->bytecode.instructions[here->jump].form != FILM_FORM_SEND) {
            region->forward = false;
            loops = loops || reaches(draft, flow, here->jump);
        }
    }
    if (loops && region->change_count != 0) {
        region->change_count = UINT8_MAX;
        region->early_change = true;
    }
    return true;
}

/* self.add(x), where `add` may be an attribute that holds a bound method. */
static bool
add_method(film_draft *draft, uint32_t index)
{
    uint32_t name = draft->bytecode.instructions[index].arg;

    return (film_draft_name_traits(draft, name) & FILM_NAME_CONTAINED) != 0 ||
           add_touched(draft, index, true);
}

/* super().add(x): without arguments it takes the function's first one, which 3.11 does
 * not load for it. */
static bool
add_super(film_draft *draft, uint32_t index)
{
    const PyCodeObject *code = draft->bytecode.code;
    const film_instruction *load = &draft->bytecode.instructions[index];
    film_touched touched = {0};
    bool cell;

    if (code->co_argcount == 0 ||
        PyUnicode_CompareWithASCIIString(film_draft_name(draft, load->arg), "super") !=
            0) {
        return true;
    }
    cell = (PyBytes_AS_STRING(code->co_localspluskinds)[0] & CO_FAST_CELL) != 0;
    return !resolve_slot(draft, 0, cell ? FILM_WRITE_CELL : FILM_WRITE_FAST,
                         &touched) ||
           keep_touched(draft, &touched);
}

/* What is on the stack, and what it is an attribute of: it may be a bound method. */
static bool
add_item(film_draft *draft, uint32_t origin)
{
    while (origin != FILM_NONE) {
        const film_instruction *load =
            &draft->bytecode.instructions[FILM_ORIGIN_INDEX(origin)];

        if (!add_touched(draft, origin, false)) {
            return false;
        }
        origin = load->form == FILM_FORM_LOAD_ATTRIBUTE ? load->owner : FILM_NONE;
    }
    return true;
}

/* What the line has loaded before a point at an instruction that may change it. */
static bool
add_loads_before(film_draft *draft, const film_flow_region *flow)
{
    const film_instruction *all = draft->bytecode.instructions;
    uint32_t index = flow->index,
             first = index < LOADS_BEFORE ? 0 : index - LOADS_BEFORE;

    while (all[index].form == FILM_FORM_EXTENDED) {
        index++;
    }
    if (!draft->points[flow->index] || !film_draft_may_change(draft, index)) {
        return true;
    }
    /* Not out of a loop: each turn would look at what lies before it. */
    for (index = flow->index; index > first && !all[index].is_returned_to; index--) {
        if (all[index - 1].line >= 0 && all[index - 1].line != all[flow->index].line) {
            break;
        }
        if (!add_touched(draft, index - 1, false)) {
            return false;
        }
    }
    return true;
}

/* What one instruction loads. */
static bool
add_load(film_draft *draft, uint32_t index)
{
    switch (draft->bytecode.instructions[index].form) {
    case FILM_FORM_LOAD_FAST_PAIR:
        return add_touched(draft, index | FILM_ORIGIN_FIRST, false) &&
               add_touched(draft, index, false);
    case FILM_FORM_LOAD_FAST:
    case FILM_FORM_STORE_LOAD_FAST:
    case FILM_FORM_LOAD_CELL:
    case FILM_FORM_LOAD_ATTRIBUTE:
        return add_touched(draft, index, false);
    case FILM_FORM_LOAD_METHOD:
        return add_touched(draft, index, false) && add_method(draft, index);
    case FILM_FORM_LOAD_GLOBAL:
    case FILM_FORM_LOAD_NAME:
        return add_touched(draft, index, false) && add_super(draft, index);
    default:
        return true;
    }
}

static bool
add_loads(film_draft *draft, const film_flow_region *flow)
{
    const film_bytecode *bytecode = &draft->bytecode;
    uint32_t item = bytecode->instructions[flow->index].items;

    if (!add_loads_before(draft, flow)) {
        return false;
    }
    for (uint32_t count = 0; item != 0 && count < STACK_LIMIT;
         item = bytecode->items[item].next, count++) {
        if (!add_item(draft, bytecode->items[item].origin)) {
            return false;
        }
    }
    for (uint32_t state = 0; state < flow->state_count; state++) {
        if (!add_load(draft, draft->reaches[flow->states + state].index)) {
            return false;
        }
    }
    return true;
}

bool
film_draft_find_touches(film_draft *draft, const film_flow_region *flow,
                        uint16_t traits, film_region *region)
{
    draft->touched_count = 0;
    if (draft->wishes->scope != FILM_VALUES_ALL) {
        return true; /* nothing is compared */
    }
    if ((traits & (FILM_OP_CHANGES | FILM_OP_BACKWARD)) == 0) {
        region->forward = true;
        return true; /* and what it loads is of no interest */
    }
    if (!add_loads(draft, flow) || draft->touched_count >= UINT16_MAX ||
        !find_changes(draft, flow, region)) {
        return false;
    }
    region->touch_count =
        region->change_count == 0 ? (uint16_t)0 : (uint16_t)draft->touched_count;
    return true;
}
