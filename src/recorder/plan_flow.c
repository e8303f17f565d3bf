/* plan_flow.c: regions and points, found by walking the control-flow graph.
 *
 * From the start of a region the walk goes along every edge up to the next line event
 * or point, and carries the list of writes made so far. It puts a point, and ends
 * there, before a write that would hide one not told yet, and before an instruction
 * that runs other code while a write waits that this code could overwrite (an
 * attribute, a global, a cell). Where two paths meet with different lists, the stores
 * in doubt become points and the region is walked again. Regions are cut, too, where
 * they grow beyond all use, so that work and tables stay in proportion to the code.
 *
 * A new point may lie within regions walked before: those are walked again, in rounds.
 * This ends: each round adds a point, and a region that begins at a point carries
 * nothing.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/plan_draft.h"
#include "recorder/plan_lists.h"

#include <string.h>

/* The longest list of writes that waits, and the most instructions of a region. Both
 * are far above what people write; an extra point costs an event, no exactness. */
#define LIST_LIMIT 64u
#define REGION_LIMIT 256u
/* Steps of the walk for each instruction, and for any code at all: then we give up. */
#define STEPS_EACH 64u
#define STEPS_BASE 100000u

typedef struct flow_walk {
    film_draft *draft;
    uint32_t start;    /* the instruction where the region begins */
    uint32_t serial;   /* of this walk, in the tables by instruction */
    uint32_t nodes;    /* the last node of the walks before */
    size_t states;     /* where in draft->reaches its own begin */
    uint16_t unwinds;  /* the stop for unwinding, or FILM_NO_INDEX */
    size_t stop_count; /* in draft->stops; states go to draft->reaches at once */
    size_t work_count; /* in draft->work */
    bool any_fresh;    /* a point was made in this round */
    bool any_ended;    /* a state of this walk is none any more */
    bool doubtful;     /* two paths of this walk have met with different lists */
    uint64_t steps, step_limit;
    bool failed;
} flow_walk;

static bool
add_region(film_draft *draft, uint32_t index)
{
    film_flow_region *grown;

    if (draft->region_of[index] != FILM_NO_INDEX) {
        return true;
    }
    grown = film_draft_grow(draft, draft->regions, &draft->region_capacity,
                            draft->region_count + 1, sizeof(*grown));
    if (grown == NULL) {
        return false;
    }
    draft->regions = grown;
    grown[draft->region_count] = (film_flow_region){.index = (uint16_t)index};
    draft->region_of[index] = (uint16_t)draft->region_count++;
    return true;
}

static void
add_point(flow_walk *flow, uint32_t index)
{
    index = film_bytecode_prefix(&flow->draft->bytecode, index);
    if (!flow->draft->points[index]) {
        flow->draft->points[index] = true;
        flow->draft->fresh[index] = true;
        flow->any_fresh = true;
        flow->failed = !add_region(flow->draft, index) || flow->failed;
    }
}

/* The list with one write more. */
static uint32_t
add_node(flow_walk *flow, uint32_t before, uint32_t write)
{
    uint32_t node = film_list_add(flow->draft, before, write);

    flow->failed = flow->failed || node == 0;
    return node;
}

/* Makes every write of the list behind the first `length` a point. */
static void
doubt_rest(flow_walk *flow, uint32_t node, uint32_t length)
{
    const film_draft *draft = flow->draft;

    flow->doubtful = true;
    for (; draft->nodes[node].length > length; node = draft->nodes[node].before) {
        add_point(flow, draft->bytecode.index_at[film_list_write(draft, node)->place]);
    }
}

/* Two paths meet: every write from the first that differs on is in doubt. */
static void
compare_lists(flow_walk *flow, uint32_t left, uint32_t right)
{
    const film_draft *draft = flow->draft;
    uint32_t same = left == right ? draft->nodes[left].length
                                  : film_list_compare(draft, left, right);

    if (same != draft->nodes[left].length || same != draft->nodes[right].length) {
        doubt_rest(flow, left, same);
        doubt_rest(flow, right, same);
    }
}

/* The number a list has in a film_reach of this walk, and the other way round. */
static inline uint16_t
number_of_node(const flow_walk *flow, uint32_t node)
{
    return node == 0 ? (uint16_t)0 : (uint16_t)(node - flow->nodes);
}

static inline uint32_t
node_of_number(const flow_walk *flow, uint16_t number)
{
    return number == 0 ? 0 : flow->nodes + number;
}

/* Where this walk has been at an instruction. */
static inline film_passed *
passed_at(const flow_walk *flow, uint32_t index)
{
    film_passed *passed = &flow->draft->passed[index];

    if (passed->walk != flow->serial) {
        *passed = (film_passed){flow->serial, FILM_NO_INDEX, FILM_NO_INDEX};
    }
    return passed;
}

static inline film_reach *
state_at(const flow_walk *flow, uint32_t index)
{
    return &flow->draft->reaches[flow->states + flow->draft->passed[index].state];
}

/* True for an instruction that was reached and did not end the walk afterwards. */
static inline bool
is_state(const flow_walk *flow, uint32_t index)
{
    return passed_at(flow, index)->state != FILM_NO_INDEX &&
           state_at(flow, index)->index != FILM_NO_INDEX;
}

/* The walk goes on to `index` with these writes; false: it has been there. */
static inline bool
reach_state(flow_walk *flow, uint32_t index, uint32_t node)
{
    film_draft *draft = flow->draft;
    uint16_t number = number_of_node(flow, node);
    film_reach *grown;

    if (is_state(flow, index)) {
        compare_lists(flow, node_of_number(flow, state_at(flow, index)->node), node);
        return false;
    }
    grown = film_draft_grow(draft, draft->reaches, &draft->reach_capacity,
                            draft->reach_count + 1, sizeof(*grown));
    if (grown == NULL) {
        flow->failed = true;
        return false;
    }
    draft->reaches = grown;
    draft->passed[index].state = (uint16_t)(draft->reach_count - flow->states);
    grown[draft->reach_count++] = (film_reach){(uint16_t)index, number, number};
    return true;
}

/* A state to be visited later. */
static void
add_work(flow_walk *flow, uint32_t index)
{
    film_draft *draft = flow->draft;
    uint32_t *grown = film_draft_grow(draft, draft->work, &draft->work_capacity,
                                      flow->work_count + 1, sizeof(*grown));

    if (grown == NULL) {
        flow->failed = true;
        return;
    }
    draft->work = grown;
    grown[flow->work_count++] = index;
}

/* The walk ends at `index` (FILM_NONE: the frame unwinds) with these writes. */
static void
reach_stop(flow_walk *flow, uint32_t index, uint32_t node)
{
    film_draft *draft = flow->draft;
    uint16_t number = number_of_node(flow, node);
    uint16_t *at = index == FILM_NONE ? &flow->unwinds : &passed_at(flow, index)->stop;
    film_reach *grown;

    if (*at != FILM_NO_INDEX) {
        compare_lists(flow, node_of_number(flow, draft->stops[*at].node), node);
        return;
    }
    grown = film_draft_grow(draft, draft->stops, &draft->stop_capacity,
                            flow->stop_count + 1, sizeof(*grown));
    if (grown == NULL) {
        flow->failed = true;
        return;
    }
    draft->stops = grown;
    *at = (uint16_t)flow->stop_count;
    grown[flow->stop_count++] = (film_reach){(uint16_t)index, number, number};
}

/* Where a container that was stored may now be changed in place: the writes are told
 * before. One by the instruction that the region begins with, a point already, is read
 * off the stack there instead. */
static bool
must_stop_for_change(flow_walk *flow, uint32_t index, uint32_t node)
{
    film_draft *draft = flow->draft;
    uint32_t store = flow->start;

    if (!film_list_may_change(draft, node) || !film_draft_may_change(draft, index)) {
        return false;
    }
    while (draft->bytecode.instructions[store].form == FILM_FORM_EXTENDED) {
        store++;
    }
    if (draft->points[flow->start] && draft->made[store].count == 1 &&
        draft->nodes[node].length == 1 &&
        draft->made[flow->start].before == FILM_NONE &&
        draft->nodes[node].write == draft->made[store].first &&
        film_list_write(draft, node)->kind == FILM_WRITE_FAST) {
        flow->failed = !film_draft_read_on_stack(draft, store) || flow->failed;
        flow->doubtful = true;
        flow->any_fresh = true;
    }
    return true;
}

/* True when the writes that wait must be told before this instruction. */
static bool
must_stop(const film_draft *draft, uint32_t index, uint32_t node)
{
    const film_instruction *here = &draft->bytecode.instructions[index];
    const film_made *made = &draft->made[index];

    if ((here->form == FILM_FORM_LOAD_AND_CLEAR || here->form == FILM_FORM_MAKE_CELL) &&
        film_list_has_slot(draft, node, here->arg)) {
        return true;
    }
    if ((here->traits & FILM_OP_CALLS) != 0 && draft->nodes[node].open) {
        return true;
    }
    for (uint32_t number = 0; number < made->count; number++) {
        if (draft->nodes[node].length >= LIST_LIMIT ||
            film_list_is_hidden_by(draft, node, &draft->writes[made->first + number])) {
            return true;
        }
    }
    return false;
}

/* Makes a state that was reached the end of this walk, by a point. */
static void
stop_at(flow_walk *flow, uint32_t index)
{
    film_draft *draft = flow->draft;
    uint32_t first = film_bytecode_prefix(&draft->bytecode, index);
    uint32_t node = node_of_number(flow, state_at(flow, index)->node);

    add_point(flow, index);
    for (uint32_t at = first; at <= index; at++) {
        if (is_state(flow, at)) {
            state_at(flow, at)->index = FILM_NO_INDEX;
            flow->any_ended = true;
        }
    }
    reach_stop(flow, first, node);
}

/* Goes from one instruction to another, and returns where the walk goes on: there, or
 * where it went on without that, `on`. */
static inline uint32_t
go_on(flow_walk *flow, uint32_t from, uint32_t to, uint32_t node, uint32_t on)
{
    film_draft *draft = flow->draft;

    if (draft->points[to] || film_bytecode_fires(&draft->bytecode, from, to)) {
        reach_stop(flow, to, node);
        return on;
    }
    if (!reach_state(flow, to, node)) {
        return on;
    }
    if (on != FILM_NONE) {
        add_work(flow, on);
    }
    return to;
}

/* Goes from one instruction to those that follow, as film_bytecode_next has them, and returns the last of them, to be
 * visited next; FILM_NONE: there is none. */
static uint32_t
visit(flow_walk *flow, uint32_t index)
{
    film_draft *draft = flow->draft;
    const film_bytecode *bytecode = &draft->bytecode;
    const film_instruction *here = &bytecode->instructions[index];
    const film_made *made = &draft->made[index];
    film_reach *state = state_at(flow, index);
    uint32_t node = node_of_number(flow, state->node);
    uint32_t on = FILM_NONE;

    if (node != 0 &&
        (must_stop(draft, index, node) || must_stop_for_change(flow, index, node))) {
        if (!flow->doubtful) {
            stop_at(flow, index);
        }
        return FILM_NONE;
    }
    for (uint32_t number = 0; number < made->count; number++) {
        node = add_node(flow, node, made->first + number);
    }
    state->after = number_of_node(flow, node);
    /* On 3.11 this raises without an event, and the frame then shows another place. */
    if (!FILM_HAS_MONITORING && (here->traits & FILM_OP_RERAISES) != 0 &&
        here->handler == FILM_NO_INDEX) {
        reach_stop(flow, FILM_NONE, node);
    }
    if ((here->traits & FILM_OP_ENDS) == 0 && index + 1 < bytecode->count) {
        on = go_on(flow, index, index + 1, node, on);
    }
    if (here->jump != FILM_NO_INDEX) {
        on = go_on(flow, index, here->jump, node, on);
    }
    if (!FILM_HAS_MONITORING && (here->traits & FILM_OP_RERAISES) != 0 &&
        here->handler != FILM_NO_INDEX) {
        on = go_on(flow, index, here->handler, node, on);
    }
    return on;
}

/* Takes the states of this walk out that are none any more. */
static void
drop_ended(film_draft *draft, size_t first)
{
    size_t kept = first;

    for (size_t at = first; at < draft->reach_count; at++) {
        if (draft->reaches[at].index != FILM_NO_INDEX) {
            draft->reaches[kept++] = draft->reaches[at];
        }
    }
    draft->reach_count = kept;
}

/* The states of this walk that are still states, and the stops behind them. */
static void
finish_region(flow_walk *flow, film_flow_region *region)
{
    film_draft *draft = flow->draft;
    film_reach *grown;

    if (flow->any_ended) {
        drop_ended(draft, region->states);
    }
    region->state_count = (uint16_t)(draft->reach_count - region->states);
    region->stop_count = (uint16_t)flow->stop_count;
    grown = film_draft_grow(draft, draft->reaches, &draft->reach_capacity,
                            draft->reach_count + flow->stop_count, sizeof(*grown));
    if (grown == NULL) {
        flow->failed = true;
        return;
    }
    draft->reaches = grown;
    for (size_t stop = 0; stop < flow->stop_count; stop++) {
        grown[draft->reach_count++] = draft->stops[stop];
    }
    region->planned = true;
}

/* The walk has grown beyond all use: it ends where it is. */
static void
stop_everywhere(flow_walk *flow)
{
    while (flow->work_count != 0 && !flow->doubtful) {
        stop_at(flow, flow->draft->work[--flow->work_count]);
    }
}

/* Visits all that is reached from the region's start without an event. */
static void
walk_states(flow_walk *flow)
{
    film_draft *draft = flow->draft;
    uint32_t on = flow->start;

    (void)reach_state(flow, on, 0);
    while (!flow->doubtful && !flow->failed) {
        if (on == FILM_NONE) {
            if (flow->work_count == 0) {
                break;
            }
            on = draft->work[--flow->work_count];
        }
        on = visit(flow, on);
        if (draft->reach_count - flow->states > REGION_LIMIT) {
            if (on != FILM_NONE) {
                add_work(flow, on);
                on = FILM_NONE;
            }
            stop_everywhere(flow);
        }
    }
}

static void
walk_region(flow_walk *flow, size_t number)
{
    film_draft *draft = flow->draft;
    flow->serial++;
    flow->nodes = (uint32_t)draft->node_count - 1;
    flow->states = draft->reach_count;
    flow->unwinds = FILM_NO_INDEX;
    flow->stop_count = 0;
    flow->work_count = 0;
    flow->doubtful = false;
    flow->any_ended = false;
    flow->start = draft->regions[number].index;
    walk_states(flow);
    flow->steps += draft->reach_count - flow->states;
    flow->failed = flow->failed || flow->steps > flow->step_limit;
    if (flow->doubtful || flow->failed) {
        draft->reach_count = flow->states;
        draft->node_count = flow->nodes + 1;
        return;
    }
    /* Points made on the way may have moved the regions. */
    draft->regions[number].states = (uint32_t)flow->states;
    draft->regions[number].nodes = flow->nodes;
    finish_region(flow, &draft->regions[number]);
}

/* Regions that went through what is now a point are to be walked again. */
static void
outdate_regions(flow_walk *flow)
{
    film_draft *draft = flow->draft;

    for (size_t number = 0; number < draft->region_count; number++) {
        film_flow_region *region = &draft->regions[number];

        for (uint32_t state = 0; region->planned && state < region->state_count;
             state++) {
            uint32_t index = draft->reaches[region->states + state].index;

            if (draft->fresh[index] && index != region->index) {
                region->planned = false;
            }
        }
        flow->steps += region->state_count;
    }
}

static void
walk_until_settled(flow_walk *flow)
{
    film_draft *draft = flow->draft;

    do {
        flow->any_fresh = false;
        memset(draft->fresh, 0, draft->bytecode.count * sizeof(bool));
        for (size_t number = 0; number < draft->region_count && !flow->failed;
             number++) {
            if (!draft->regions[number].planned) {
                walk_region(flow, number);
            }
        }
        if (flow->any_fresh) {
            outdate_regions(flow);
        }
    } while (flow->any_fresh && !flow->failed);
}

static bool
add_first_regions(film_draft *draft)
{
    for (uint32_t index = 0; index < draft->bytecode.count; index++) {
        const film_instruction *here = &draft->bytecode.instructions[index];

        draft->region_of[index] = FILM_NO_INDEX;
        if ((here->marked || here->is_handler || here->form == FILM_FORM_RESUME ||
             (!FILM_HAS_MONITORING && here->is_sent_to) || draft->points[index]) &&
            !add_region(draft, index)) {
            return false;
        }
    }
    return true;
}

bool
film_draft_find_regions(film_draft *draft)
{
    size_t count = draft->bytecode.count;
    flow_walk flow = {.draft = draft, .step_limit = STEPS_BASE + STEPS_EACH * count};
    film_node *nodes = film_draft_grow(draft, draft->nodes, &draft->node_capacity, 1,
                                       sizeof(film_node));

    if (nodes == NULL) {
        return false;
    }
    draft->nodes = nodes;
    nodes[0] = (film_node){0};
    draft->node_count = 1;
    if (!add_first_regions(draft)) {
        return false;
    }
    memset(draft->passed, 0, count * sizeof(film_passed));
    walk_until_settled(&flow);
    return !flow.failed;
}
