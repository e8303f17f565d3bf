/* plan.c: makes a plan of a draft: the tables of plan.h, in memory of their own.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/plan.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "recorder/plan_draft.h"

/* Memory the plan keeps: blocks in a list, given out from the start. */
struct film_arena_block {
    film_arena_block *next;
    size_t used, size;
    _Alignas(16) unsigned char bytes[];
};

/* What a block holds for each code unit, within bounds: small code, small blocks. */
#define ARENA_BYTES_EACH 12u
#define ARENA_BYTES_LEAST 480u
#define ARENA_BYTES_MOST 16000u

static size_t
block_size(const film_draft *draft)
{
    size_t size = (size_t)draft->bytecode.unit_count * ARENA_BYTES_EACH;

    size = size < ARENA_BYTES_LEAST ? ARENA_BYTES_LEAST : size;
    return size > ARENA_BYTES_MOST ? ARENA_BYTES_MOST : size;
}

void *
film_draft_keep(film_draft *draft, size_t count, size_t bytes)
{
    film_arena_block *block = draft->arena;
    size_t wanted, size = block_size(draft);
    void *result;

    if (__builtin_mul_overflow(count, bytes, &wanted) || wanted > SIZE_MAX / 4) {
        return NULL;
    }
    wanted = (wanted + 15u) & ~(size_t)15u;
    if (block == NULL || block->size - block->used < wanted) {
        /* What is large gets a block of its own, behind the one being filled. */
        bool apart = block != NULL && wanted > size / 4;

        size = apart || wanted > size ? wanted : size;
        block = film_alloc(sizeof(*block) + size);
        if (block == NULL) {
            return NULL;
        }
        block->size = size;
        block->next = apart ? draft->arena->next : draft->arena;
        *(apart ? &draft->arena->next : &draft->arena) = block;
    }
    result = block->bytes + block->used;
    block->used += wanted;
    return result;
}

static void
free_arena(film_arena_block *block)
{
    while (block != NULL) {
        film_arena_block *next = block->next;

        film_free(block);
        block = next;
    }
}

static int
compare_reaches(const void *left, const void *right)
{
    uint32_t one = ((const film_reach *)left)->index;
    uint32_t other = ((const film_reach *)right)->index;

    return one < other ? -1 : one > other;
}

/* True when the variable an attribute's value comes from is written later on. */
static bool
is_overwritten(const film_write *array, uint32_t index, uint32_t length)
{
    for (uint32_t later = index + 1; later < length; later++) {
        uint8_t kind = array[later].kind;

        if ((kind == FILM_WRITE_FAST || kind == FILM_DELETE_FAST) &&
            array[later].slot == array[index].target) {
            return true;
        }
    }
    return false;
}

/* Lays the writes of a list out in an array, which all lists it continues share. */
static bool
lay_out_list(film_draft *draft, uint32_t node)
{
    film_write *array;
    uint32_t length = draft->nodes[node].length;

    if (node == 0 || draft->nodes[node].continued || draft->nodes[node].array != NULL) {
        return true;
    }
    array = film_draft_keep(draft, length, sizeof(film_write));
    if (array == NULL) {
        return false;
    }
    for (; node != 0; node = draft->nodes[node].before) {
        film_node *part = &draft->nodes[node];

        array[part->length - 1] = draft->writes[part->write];
        if (part->uncertain) {
            array[part->length - 1].call_place = FILM_PLAN_NO_PLACE;
        }
        if (part->uncertain || is_overwritten(array, part->length - 1u, length)) {
            array[part->length - 1].target = FILM_PLAN_NO_PLACE;
        }
        if (part->array == NULL) {
            part->array = array;
        }
    }
    return true;
}

/* Lays out the lists of a region, the longest only: each walk makes nodes of its own,
 * so no other region has them. */
static bool
lay_out_lists(film_draft *draft, const film_reach *reaches, uint32_t count)
{
    for (uint32_t at = 0; at < count; at++) {
        uint32_t node = draft->nodes[reaches[at].after].before;

        while (node != 0 && !draft->nodes[node].continued) {
            draft->nodes[node].continued = true;
            node = draft->nodes[node].before;
        }
    }
    for (uint32_t at = 0; at < count; at++) {
        if (!lay_out_list(draft, reaches[at].after)) {
            return false;
        }
    }
    return true;
}

static film_exit
make_exit(const film_draft *draft, uint32_t place, const film_reach *reach)
{
    const film_node *list = &draft->nodes[reach->after];
    uint16_t count = draft->nodes[reach->node].length;

    return (film_exit){
        .place = (uint16_t)place,
        .count = count,
        .count_entered = count,
        .writes = list->array,
    };
}

/* True when the variable is written before the old value is let go, and nothing else
 * can run before. */
static bool
is_written_first(const film_draft *draft, const film_made *made)
{
    if (made->count != 1 || made->before != FILM_NONE) {
        return false;
    }
    switch (draft->writes[made->first].kind) {
    case FILM_WRITE_FAST:
    case FILM_WRITE_CELL:
    case FILM_WRITE_GLOBAL:
    case FILM_DELETE_FAST:
    case FILM_DELETE_CELL:
    case FILM_DELETE_GLOBAL:
        return true;
    default:
        return false;
    }
}

/* True when an event can come from the instruction: also where the region begins, since
 * on 3.11 a handler is entered before the line event of its first instruction. */
static bool
has_events(const film_draft *draft, const film_flow_region *flow, uint32_t index)
{
    const film_instruction *here = &draft->bytecode.instructions[index];

    return (here->traits & FILM_OP_QUIET) == 0 || here->marked || index == flow->index;
}

/* Exits for the places an event can come from: returns and yields first. */
static bool
make_inner(film_draft *draft, const film_flow_region *flow, film_region *region)
{
    const film_instruction *all = draft->bytecode.instructions;
    const film_reach *states = &draft->reaches[flow->states];
    uint32_t count = 0;

    for (uint32_t state = 0; state < flow->state_count; state++) {
        count += has_events(draft, flow, states[state].index);
    }
    region->inner_count = (uint16_t)count;
    region->inner = film_draft_keep(draft, count, sizeof(film_exit));
    if (region->inner == NULL) {
        return false;
    }
    count = 0;
    for (int returns = 1; returns >= 0; returns--) {
        for (uint32_t state = 0; state < flow->state_count; state++) {
            uint32_t index = states[state].index;
            film_exit *exit = &region->inner[count];

            if ((all[index].form == FILM_FORM_RETURN) != (returns == 1) ||
                !has_events(draft, flow, index)) {
                continue;
            }
            *exit = make_exit(draft, all[index].place, &states[state]);
            if (is_written_first(draft, &draft->made[index])) {
                exit->count_entered = (uint16_t)(exit->count + 1);
            }
            count++;
        }
    }
    return true;
}

/* The place of a stop, and its rank: forward from the region first, the nearest. */
static uint32_t
stop_place(const film_draft *draft, const film_reach *stop)
{
    return stop->index == FILM_NONE ? FILM_PLAN_UNWINDS
                                    : draft->bytecode.instructions[stop->index].place;
}

static bool
make_stops(film_draft *draft, const film_flow_region *flow, film_region *region)
{
    const film_reach *stops = &draft->reaches[flow->stops];
    uint32_t count = 0;

    region->stops = film_draft_keep(draft, flow->stop_count, sizeof(film_exit));
    if (region->stops == NULL) {
        return false;
    }
    /* In order of their places: those behind the region's start, the others, and last
     * an unwinding. */
    for (int forward = 1; forward >= 0; forward--) {
        for (uint32_t stop = 0; stop < flow->stop_count; stop++) {
            uint32_t place = stop_place(draft, &stops[stop]);

            if ((place > region->place) == (forward == 1)) {
                region->stops[count++] = make_exit(draft, place, &stops[stop]);
                region->points_ahead |=
                    place != FILM_PLAN_UNWINDS && draft->points[stops[stop].index];
            }
        }
    }
    region->stop_count = (uint16_t)count;
    return true;
}

bool
film_draft_may_enter(const film_instruction *instruction)
{
    if ((instruction->traits & FILM_OP_CALLS) != 0 ||
        instruction->form == FILM_FORM_LOAD_METHOD) {
        return true;
    }
    return (instruction->traits & (FILM_OP_QUIET | FILM_OP_LEAVES | FILM_OP_ENDS)) ==
               0 &&
           instruction->form != FILM_FORM_LOAD_FAST &&
           instruction->form != FILM_FORM_STORE_LOAD_FAST;
}

static bool
make_region(film_draft *draft, film_flow_region *flow, film_region *region)
{
    const film_bytecode *bytecode = &draft->bytecode;
    const film_made *made = &draft->made[flow->index];
    film_reach *states = &draft->reaches[flow->states];

    if (!flow->planned) {
        return false;
    }
    region->place = bytecode->instructions[flow->index].place;
    region->point = draft->points[flow->index];
    region->sent =
        !FILM_HAS_MONITORING && bytecode->instructions[flow->index].is_sent_to;
    qsort(states, flow->state_count, sizeof(*states), compare_reaches);
    qsort(&draft->reaches[flow->stops], flow->stop_count, sizeof(*states),
          compare_reaches);
    for (uint32_t state = 0; state < flow->state_count; state++) {
        const film_instruction *here = &bytecode->instructions[states[state].index];

        region->early |= states[state].node != 0 && film_draft_may_enter(here);
        region->reraises |=
            !FILM_HAS_MONITORING && (here->traits & FILM_OP_RERAISES) != 0;
    }
    if (made->before != FILM_NONE) {
        region->before = film_draft_keep(draft, 1, sizeof(film_write));
        if (region->before == NULL) {
            return false;
        }
        *region->before = draft->writes[made->before];
    }
    /* A stop's list is that behind one of the states. */
    return lay_out_lists(draft, states, flow->state_count) &&
           make_inner(draft, flow, region) && make_stops(draft, flow, region) &&
           film_draft_find_touches(draft, flow, region);
}

/* The slots of that kind. What the compiler keeps for itself there (__class__ for
 * super()) is nobody's variable. */
static uint16_t
list_slots(const PyCodeObject *code, int kind, uint16_t *to)
{
    const char *kinds = PyBytes_AS_STRING(code->co_localspluskinds);
    uint16_t count = 0;

    for (int slot = 0; slot < code->co_nlocalsplus && slot < UINT16_MAX; slot++) {
        PyObject *name = PyTuple_GET_ITEM(code->co_localsplusnames, slot);

        if ((kinds[slot] & kind) != 0 &&
            PyUnicode_CompareWithASCIIString(name, "__class__") != 0 &&
            PyUnicode_CompareWithASCIIString(name, "__classdict__") != 0) {
            to[count++] = (uint16_t)slot;
        }
    }
    return count;
}

/* The variables of outer functions, and those that inner ones may have. */
static bool
find_cell_slots(film_draft *draft, film_plan *plan)
{
    const PyCodeObject *code = draft->bytecode.code;

    if (code->co_nfreevars + code->co_ncellvars == 0) {
        return true;
    }
    plan->free_slots =
        film_draft_keep(draft, (size_t)code->co_nlocalsplus, sizeof(uint16_t));
    if (plan->free_slots == NULL) {
        return false;
    }
    plan->free_count = list_slots(code, CO_FAST_FREE, plan->free_slots);
    plan->shared_count =
        list_slots(code, CO_FAST_CELL, plan->free_slots + plan->free_count);
    return true;
}

/* The tables by place, and the arguments. */
static bool
make_tables(film_draft *draft, film_plan *plan)
{
    const film_bytecode *bytecode = &draft->bytecode;
    const PyCodeObject *code = bytecode->code;
    const char *kinds = PyBytes_AS_STRING(code->co_localspluskinds);
    uint32_t units = bytecode->unit_count;
    int arguments = code->co_argcount + code->co_kwonlyargcount +
                    ((code->co_flags & CO_VARARGS) != 0) +
                    ((code->co_flags & CO_VARKEYWORDS) != 0);

    plan->unit_count = units;
    plan->region_at = film_draft_keep(draft, units, sizeof(uint16_t));
    plan->owner = film_draft_keep(draft, units, sizeof(uint16_t));
    plan->handler = film_draft_keep(draft, units, sizeof(uint16_t));
    plan->flags = film_draft_keep(draft, units, sizeof(uint8_t));
    plan->quiet = film_draft_keep(draft, units, sizeof(uint16_t));
    plan->arguments = film_draft_keep(draft, (size_t)arguments, sizeof(uint16_t));
    if (plan->region_at == NULL || plan->owner == NULL || plan->handler == NULL ||
        plan->flags == NULL || plan->quiet == NULL || plan->arguments == NULL ||
        arguments > code->co_nlocalsplus) {
        return false;
    }
    for (uint32_t unit = 0; unit < units; unit++) {
        const film_instruction *here =
            &bytecode->instructions[bytecode->index_at[unit]];

        plan->owner[unit] = here->place;
        if (here->handler != FILM_NONE) {
            plan->handler[unit] =
                (uint16_t)(bytecode->instructions[here->handler].place + 1);
        }
    }
    plan->argument_count = (uint16_t)arguments;
    for (int slot = 0; slot < arguments; slot++) {
        plan->arguments[slot] = (uint16_t)slot;
        if ((kinds[slot] & CO_FAST_CELL) != 0) {
            plan->arguments[slot] |= FILM_ARGUMENT_IN_CELL;
        }
    }
    return find_cell_slots(draft, plan);
}

static void
set_flags(const film_draft *draft, uint32_t index, film_plan *plan)
{
    const film_instruction *here = &draft->bytecode.instructions[index];
    uint8_t flags = 0;

    if ((here->traits & FILM_OP_SWALLOWS) != 0) {
        flags |= FILM_PLACE_SWALLOWS;
    }
    if (draft->points[index]) {
        flags |= FILM_PLACE_POINT;
        plan->point_count++;
    }
    if (here->form == FILM_FORM_RESUME) {
        flags |= here->is_start ? FILM_PLACE_START : FILM_PLACE_RESUME;
    }
    plan->flags[here->place] |= flags;
    /* What was read off the stack once is to be read so by later plans, too. */
    if (draft->made[index].before != FILM_NONE &&
        draft->writes[draft->made[index].before].kind == FILM_WRITE_STACK_ATTRIBUTE) {
        plan->flags[draft->writes[draft->made[index].before].place] |=
            FILM_PLACE_ON_STACK;
    }
}

/* Regions lie at the beginnings of cache lines. */
static film_region *
keep_regions(film_draft *draft)
{
    char *kept =
        film_draft_keep(draft, (size_t)draft->region_count + 1, sizeof(film_region));

    return kept == NULL ? NULL
                        : (film_region *)(void *)(kept + (-(uintptr_t)kept &
                                                          (sizeof(film_region) - 1)));
}

/* True for a stop on the way to which variables are written and nothing else happens
 * that is to be told, at a line like any other. */
static bool
is_calm(const film_plan *plan, const film_region *region, const film_exit *exit)
{
    if (exit->next == NULL || exit->next->point || exit->next->has_before ||
        exit->next->points_ahead || exit->place == region->place ||
        (plan->flags[exit->place] & FILM_PLACE_QUIET) != 0) {
        return false;
    }
    for (uint32_t index = 0; index < exit->count; index++) {
        const film_write *write = &exit->writes[index];

        if (write->kind != FILM_WRITE_FAST || write->hidden) {
            return false;
        }
    }
    return true;
}

/* Where the stops lead to, now that all regions are made. */
static void
link_regions(film_plan *plan)
{
    for (uint32_t number = 0; number < plan->region_count; number++) {
        film_region *region = &plan->regions[number];

        region->stop_place = FILM_PLAN_NO_PLACE;
        region->has_before = region->before != NULL;
        for (uint32_t stop = 0; stop < region->stop_count; stop++) {
            film_exit *exit = &region->stops[stop];

            exit->next = film_plan_region(plan, exit->place);
            region->quiet_ahead = region->quiet_ahead ||
                                  (exit->next != NULL && !exit->next->point &&
                                   (plan->flags[exit->place] & FILM_PLACE_QUIET) != 0);
        }
        if (region->stop_count != 0) {
            region->stop_place = region->stops[0].place;
            region->stop_writes = region->stops[0].count;
            region->stop_next = region->stops[0].next;
        }
        region->change_mask = region->change_count > FILM_REGION_CHANGES
                                  ? UINT8_MAX
                                  : (uint8_t)((1u << region->change_count) - 1);
    }
}

/* What observe_quick.h may tell. */
static void
find_calm(film_plan *plan)
{
    for (uint32_t number = 0; number < plan->region_count; number++) {
        film_region *region = &plan->regions[number];

        for (uint32_t stop = 0; stop < region->stop_count; stop++) {
            region->stops[stop].calm = is_calm(plan, region, &region->stops[stop]);
        }
    }
    plan->opens_calmly = plan->opening != FILM_PLAN_NO_PLACE &&
                         plan->entry->stop_place == plan->opening &&
                         plan->entry->stops[0].calm && plan->entry->stop_writes == 0 &&
                         plan->entry->touch_count == 0;
}

static film_plan *
make_plan(film_draft *draft)
{
    film_plan *plan = film_draft_keep(draft, 1, sizeof(film_plan));

    if (plan == NULL || !make_tables(draft, plan)) {
        return NULL;
    }
    plan->regions = keep_regions(draft);
    if (plan->regions == NULL) {
        return NULL;
    }
    for (uint32_t index = 0; index < draft->bytecode.count; index++) {
        const film_instruction *here = &draft->bytecode.instructions[index];
        film_region *region = &plan->regions[plan->region_count];

        set_flags(draft, index, plan);
        if (draft->region_of[index] == FILM_NONE) {
            continue;
        }
        if (!make_region(draft, &draft->regions[draft->region_of[index]], region)) {
            return NULL;
        }
        plan->region_at[here->place] = (uint16_t)++plan->region_count;
        if (here->is_start && plan->entry == NULL) {
            plan->entry = region;
        }
    }
    film_draft_find_told_lines(draft, plan);
    link_regions(plan);
    if (!draft->wishes->line_times) {
        find_calm(plan);
    }
    return plan;
}

film_plan *
film_plan_new(PyCodeObject *code, const film_plan_wishes *wishes)
{
    film_draft draft = {.wishes = wishes};
    film_plan *plan = NULL;
    bool watches_all = false;

    if (film_bytecode_init(&draft.bytecode, code)) {
        size_t count = draft.bytecode.count;

        draft.made = film_alloc_array(count, sizeof(film_made));
        draft.points = film_alloc_array(count, sizeof(bool));
        draft.region_of = film_alloc_array(count, sizeof(uint32_t));
        if (draft.made != NULL && draft.points != NULL && draft.region_of != NULL &&
            film_draft_find_writes(&draft)) {
            watches_all = film_draft_watches_all(&draft);
            film_draft_find_rebound(&draft);
            plan = film_draft_find_regions(&draft) ? make_plan(&draft) : NULL;
        }
    }
    if (plan == NULL) {
        free_arena(draft.arena);
    }
    else {
        plan->memory = draft.arena;
        plan->names_on_stack = wishes->names_on_stack;
        plan->every_place = watches_all;
    }
    film_free(draft.made);
    film_free(draft.points);
    film_free(draft.region_of);
    film_free(draft.writes);
    film_free(draft.regions);
    film_free(draft.nodes);
    film_free(draft.reaches);
    film_free(draft.touched);
    film_bytecode_reset(&draft.bytecode);
    return plan;
}

void
film_plan_free(film_plan *plan)
{
    while (plan != NULL) {
        film_plan *older = plan->older;

        free(plan->secret_slots);
        free_arena(plan->memory); /* the plan is in it */
        plan = older;
    }
}
