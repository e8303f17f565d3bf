/* plan_stack.c: follows the evaluation stack through a code object: its depth before
 * each instruction, and where those of its items come from that the planner asks for:
 * loads of variables and their attributes (what a later line may change in place), and
 * what LOAD_FAST_AND_CLEAR put aside (a store of that is not in the source).
 *
 * How many items an instruction takes and gives is not known, only the difference. So
 * an item's origin is forgotten when the stack falls to it, or when an instruction that
 * leaves a result may have put that in its place (all without FILM_OP_LEAVES). Where
 * two ways meet (`a if c else b`), what they have put at one place differs: that has no
 * origin from there on, and what lies behind is visited again.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/plan_bytecode.h"

#include <assert.h>

/* How many items are compared where two ways meet. */
#define MEETING_ITEMS 64u

typedef film_stack_pending pending;

/* A stack effect as CPython gave it: most instructions are asked for with the argument
 * of the last of their kind. */
typedef struct known_effect {
    uint32_t asked; /* the argument and which way, never 0 */
    int effect;
} known_effect;

typedef struct stack_walk {
    film_bytecode *bytecode;
    size_t work_count; /* in bytecode->work */
    bool failed;
    known_effect effects[256]; /* by opcode */
} stack_walk;

static void
add_work(stack_walk *walk, pending at)
{
    film_bytecode *bytecode = walk->bytecode;
    pending *grown =
        film_scratch_grow(&bytecode->scratch, bytecode->work, &bytecode->work_capacity,
                          walk->work_count + 1, sizeof(pending));

    if (grown == NULL) {
        walk->failed = true;
        return;
    }
    bytecode->work = grown;
    grown[walk->work_count++] = at;
}

/* True when a visit would find nothing new. */
static bool
is_visited(const film_bytecode *bytecode, pending at)
{
    const film_instruction *to = &bytecode->instructions[at.index];

    return to->depth >= 0 && to->items == at.items;
}

/* The list `next` with one more item on top. */
static uint32_t
push_item(stack_walk *walk, uint32_t next, int32_t position, uint32_t origin)
{
    film_bytecode *bytecode = walk->bytecode;
    film_stack_item *grown =
        film_scratch_grow(&bytecode->scratch, bytecode->items, &bytecode->item_capacity,
                          bytecode->item_count + 1, sizeof(*grown));

    if (grown == NULL) {
        walk->failed = true;
        return 0;
    }
    bytecode->items = grown;
    grown[bytecode->item_count] = (film_stack_item){next, position, origin};
    return (uint32_t)bytecode->item_count++;
}

/* The list without the items at `depth` and above. */
static uint32_t
cut(const film_bytecode *bytecode, uint32_t items, int32_t depth)
{
    while (items != 0 && bytecode->items[items].position >= depth) {
        items = bytecode->items[items].next;
    }
    return items;
}

/* Where the item at `position` comes from, or FILM_NONE. */
static uint32_t
origin_at(const film_bytecode *bytecode, uint32_t items, int32_t position)
{
    items = cut(bytecode, items, position + 1);
    return items != 0 && bytecode->items[items].position == position
               ? bytecode->items[items].origin
               : FILM_NONE;
}

uint32_t
film_bytecode_origin(const film_bytecode *bytecode, uint32_t items, int32_t position)
{
    return origin_at(bytecode, items, position);
}

/* The list with the items at `top` and `other`, below it, exchanged. */
static uint32_t
swap(stack_walk *walk, uint32_t items, int32_t top, int32_t other)
{
    const film_bytecode *bytecode = walk->bytecode;
    uint32_t upper = origin_at(bytecode, items, top);
    uint32_t lower = origin_at(bytecode, items, other);
    uint32_t between[16], count = 0, list = cut(bytecode, items, top);

    if (upper == FILM_NONE && lower == FILM_NONE) {
        return items;
    }
    while (list != 0 && bytecode->items[list].position > other && count < 16) {
        between[count++] = list;
        list = bytecode->items[list].next;
    }
    list = cut(bytecode, list, other);
    if (upper != FILM_NONE) {
        list = push_item(walk, list, other, upper);
    }
    while (count != 0) {
        film_stack_item item = bytecode->items[between[--count]];

        list = push_item(walk, list, item.position, item.origin);
    }
    return lower == FILM_NONE ? list : push_item(walk, list, top, lower);
}

/* The items that both lists have; `one` itself when it loses none. */
static uint32_t
meet(stack_walk *walk, uint32_t one, uint32_t other)
{
    const film_bytecode *bytecode = walk->bytecode;
    uint32_t kept[MEETING_ITEMS], count = 0, list;
    bool lost = false;

    for (list = one; list != 0 && list != other; list = bytecode->items[list].next) {
        other = cut(bytecode, other, bytecode->items[list].position + 1);
        if (list == other) {
            break;
        }
        if (count == MEETING_ITEMS) {
            return 0; /* that many are no program's: nothing is known */
        }
        if (origin_at(bytecode, other, bytecode->items[list].position) ==
            bytecode->items[list].origin) {
            kept[count++] = list;
        }
        else {
            lost = true;
        }
    }
    if (!lost) {
        return one;
    }
    while (count > 0) {
        film_stack_item item = bytecode->items[kept[--count]];

        list = push_item(walk, list, item.position, item.origin);
    }
    return list;
}

/* True when the value at `position` is what LOAD_FAST_AND_CLEAR took from `slot`. */
static bool
is_restored(const film_bytecode *bytecode, uint32_t items, int32_t position,
            uint32_t slot)
{
    uint32_t origin = origin_at(bytecode, items, position);

    if (origin == FILM_NONE) {
        return false;
    }
    origin = FILM_ORIGIN_INDEX(origin);
    return bytecode->instructions[origin].form == FILM_FORM_LOAD_AND_CLEAR &&
           bytecode->instructions[origin].arg == slot;
}

/* What is known of the stack behind the instruction, where it is `after` deep. */
static uint32_t
step(stack_walk *walk, uint32_t index, uint32_t items, int32_t after)
{
    film_bytecode *bytecode = walk->bytecode;
    film_instruction *here = &bytecode->instructions[index];
    int32_t depth = here->depth;

    switch (here->form) {
    case FILM_FORM_LOAD_FAST:
    case FILM_FORM_LOAD_AND_CLEAR:
    case FILM_FORM_LOAD_CELL:
    case FILM_FORM_LOAD_GLOBAL:
    case FILM_FORM_LOAD_NAME:
        /* LOAD_GLOBAL's NULL lies above the function on some versions and below it on
         * others: the lower of the two places stands for both. */
        return push_item(walk, items, depth, index);
    case FILM_FORM_LOAD_FAST_PAIR:
        items = push_item(walk, items, depth, index | FILM_ORIGIN_FIRST);
        return push_item(walk, items, depth + 1, index);
    case FILM_FORM_COPY: {
        uint32_t origin = origin_at(bytecode, items, depth - (int32_t)here->arg);

        return origin == FILM_NONE ? items : push_item(walk, items, depth, origin);
    }
    case FILM_FORM_SWAP:
        return swap(walk, items, depth - 1, depth - (int32_t)here->arg);
    case FILM_FORM_LOAD_ATTRIBUTE:
        here->owner = origin_at(bytecode, items, depth - 1);
        items = cut(bytecode, items, depth - 1);
        return here->owner == FILM_NONE ? items
                                        : push_item(walk, items, depth - 1, index);
    case FILM_FORM_SUBSCRIPT: {
        uint32_t origin = origin_at(bytecode, items, depth - 2);

        items = cut(bytecode, items, depth - 2);
        return origin == FILM_NONE
                   ? items
                   : push_item(walk, items, depth - 2, origin | FILM_ORIGIN_WITHIN);
    }
    case FILM_FORM_LOAD_METHOD:
        here->owner = origin_at(bytecode, items, depth - 1);
        return push_item(walk, cut(bytecode, items, depth - 1), depth - 1, index);
    case FILM_FORM_STORE_FAST:
        here->restores = is_restored(bytecode, items, depth - 1, here->arg);
        break;
    case FILM_FORM_STORE_FAST_PAIR:
        here->restores =
            ((is_restored(bytecode, items, depth - 1, here->arg >> 4) ? 1u : 0u) |
             (is_restored(bytecode, items, depth - 2, here->arg & 15u) ? 2u : 0u)) &
            3u;
        break;
    case FILM_FORM_STORE_LOAD_FAST:
        here->restores = is_restored(bytecode, items, depth - 1, here->arg >> 4);
        return push_item(walk, cut(bytecode, items, depth - 1), depth - 1, index);
    case FILM_FORM_MAKE_FUNCTION:
        return push_item(walk, cut(bytecode, items, after - 1), after - 1, index);
    case FILM_FORM_FINISH_FUNCTION: {
        uint32_t origin = origin_at(bytecode, items, depth - 1);

        items = cut(bytecode, items, after - 1);
        return origin == FILM_NONE ? items : push_item(walk, items, after - 1, origin);
    }
    case FILM_FORM_LOAD_SUPER:
        /* Three items for one or two: what is called is no longer `super`. */
        return cut(bytecode, items, depth - 3);
    default:
        break;
    }
    if ((here->traits & FILM_OP_LEAVES) == 0 && after <= depth) {
        return cut(bytecode, items, after - 1);
    }
    return cut(bytecode, items, after < depth ? after : depth);
}

/* The argument as it is in the bytecode. */
static uint32_t
raw_arg(const film_instruction *here)
{
    switch (here->form) {
    case FILM_FORM_LOAD_GLOBAL:
    case FILM_FORM_LOAD_ATTRIBUTE:
    case FILM_FORM_LOAD_METHOD:
        return film_bytecode_has_bit(here) ? here->arg << 1 | here->bit : here->arg;
    default:
        return here->arg;
    }
}

/* By how much the instruction makes the stack deeper; `way` 1: where it jumps. */
static int
ask_effect(stack_walk *walk, const film_instruction *here, uint32_t way)
{
    known_effect *known = &walk->effects[here->opcode];
    uint32_t arg = raw_arg(here);
    uint32_t asked = arg << 2 | (here->jump == FILM_NO_INDEX ? 1u : 2u + way);

    if (known->asked != asked) {
        int effect = PyCompile_OpcodeStackEffectWithJump(
            here->opcode, (int)arg, here->jump == FILM_NO_INDEX ? -1 : (int)way);

        *known = (known_effect){asked, effect == PY_INVALID_STACK_EFFECT ? 0 : effect};
    }
    return known->effect;
}

/* The same; what loads and stores variables is not asked for. */
static int
effect_of(stack_walk *walk, const film_instruction *here, uint32_t way)
{
    int effect;

    switch (here->form) {
    case FILM_FORM_EXTENDED:
        effect = 0;
        break;
    case FILM_FORM_LOAD_CONST:
    case FILM_FORM_LOAD_FAST:
    case FILM_FORM_LOAD_CELL:
    case FILM_FORM_LOAD_NAME:
        effect = 1;
        break;
    case FILM_FORM_STORE_FAST:
    case FILM_FORM_STORE_CELL:
    case FILM_FORM_STORE_GLOBAL:
    case FILM_FORM_STORE_NAME:
        effect = -1;
        break;
    default:
        return ask_effect(walk, here, way);
    }
    assert(effect == ask_effect(walk, here, way));
    return effect;
}

/* Goes from `from` to `next`: that is where the walk goes on, *at, and what was there
 * has to wait. `at` has no instruction where there is nothing yet. */
static void
reach(stack_walk *walk, pending from, uint32_t next, uint32_t way, pending *at)
{
    const film_instruction *here = &walk->bytecode->instructions[from.index];
    pending to = {.index = next, .depth = from.depth + effect_of(walk, here, way)};

    to.items = step(walk, from.index, from.items, to.depth);
    if (is_visited(walk->bytecode, to)) {
        return;
    }
    if (at->index != FILM_NONE) {
        add_work(walk, *at);
    }
    *at = to;
}

/* Goes from one instruction to those that follow: the last of them is in *at, where the
 * walk goes on at once. False: there is none. */
static bool
visit(stack_walk *walk, pending *at)
{
    film_bytecode *bytecode = walk->bytecode;
    film_instruction *here = &bytecode->instructions[at->index];
    pending from = *at;
    bool again = here->depth >= 0;

    at->index = FILM_NONE;
    here->depth = (int16_t)from.depth;
    here->items = from.items;
    if (here->handler != FILM_NO_INDEX &&
        (again || !bytecode->instructions[here->handler].is_queued)) {
        pending handler = {here->handler, here->handler_stack + here->handler_pushes,
                           cut(bytecode, from.items, here->handler_stack)};

        bytecode->instructions[here->handler].is_queued = true;
        if (!is_visited(bytecode, handler)) {
            add_work(walk, handler);
        }
    }
    if ((here->traits & FILM_OP_ENDS) == 0 && from.index + 1 < bytecode->count) {
        reach(walk, from, from.index + 1, 0, at);
    }
    if (here->jump != FILM_NO_INDEX) {
        reach(walk, from, here->jump, 1, at);
    }
    return at->index != FILM_NONE;
}

/* Passes over instructions to which nothing but the next leads on, and which leave what
 * is known of the stack as it is. */
static void
pass_plain(film_bytecode *bytecode, pending *at)
{
    film_instruction *here = &bytecode->instructions[at->index];
    const film_instruction *end = &bytecode->instructions[bytecode->count - 1];

    while (here < end && here->depth < 0 && here->handler == FILM_NO_INDEX &&
           (here->form == FILM_FORM_EXTENDED || here->form == FILM_FORM_LOAD_CONST)) {
        here->depth = (int16_t)at->depth;
        here->items = at->items;
        at->depth += here->form == FILM_FORM_LOAD_CONST;
        at->index++;
        here++;
    }
}

/* Visits an instruction, unless nothing new is known there, and those behind it. */
static void
follow(stack_walk *walk, pending at)
{
    film_bytecode *bytecode = walk->bytecode;

    do {
        const film_instruction *to;

        pass_plain(bytecode, &at);
        to = &bytecode->instructions[at.index];
        if (to->depth >= 0) {
            at.depth = to->depth;
            at.items = meet(walk, to->items, at.items);
            if (at.items == to->items) {
                return;
            }
        }
        if (at.depth < 0 || at.depth > bytecode->code->co_stacksize) {
            walk->failed = true; /* not a compiler's code */
        }
    } while (!walk->failed && visit(walk, &at));
}

bool
film_bytecode_follow_stack(film_bytecode *bytecode, int entry_depth)
{
    stack_walk walk = {.bytecode = bytecode};

    (void)push_item(&walk, 0, -1, FILM_NONE); /* index 0 is no item */
    add_work(&walk, (pending){0, entry_depth, 0});
    while (walk.work_count != 0 && !walk.failed) {
        follow(&walk, bytecode->work[--walk.work_count]);
    }
    return !walk.failed;
}
