/* plan_flow.c: regions and points, found by walking the control-flow graph.
 *
 * From the start of a region the walk goes along every edge up to the next line event
 * or point, and carries the list of writes made so far. Two paths that meet with
 * different lists, and a write that would hide one not told yet, put a point at the
 * stores in doubt; then the regions that go through it are walked again. This ends:
 * each round adds a point, and a region that begins at a point carries nothing.
 *
 * Also a point: an instruction that runs other code while a write waits that this code
 * could overwrite (an attribute, a global, a cell). And regions are cut where they grow
 * beyond all use, so that work and tables stay in proportion to the code.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/plan_draft.h"

#include "base/alloc.h"

/* The longest list of writes that waits, and the most instructions of a region. Both
 * are far above what people write; an extra point costs an event, no exactness. */
#define LIST_LIMIT 64u
#define REGION_LIMIT 256u
/* Steps of the walk for each instruction, and for any code at all: then we give up. */
#define STEPS_EACH 64u
#define STEPS_BASE 100000u

typedef struct flow_walk {
    film_draft *draft;
    uint32_t serial;      /* of this walk, in the tables by instruction */
    uint32_t *state_seen; /* by instruction: the walk that reached it, */
    uint32_t *state_at;   /* and where its reach is */
    uint32_t *stop_seen, *stop_at;
    uint32_t unwinds;  /* the reach of the stop for unwinding, or FILM_NONE */
    film_reach *stops; /* of this walk; states go to draft->reaches at once */
    size_t stop_count, stop_capacity;
    uint32_t *work;
    size_t work_count, work_capacity;
    bool *doubts;   /* by instruction: a point for the next round */
    bool doubtful;  /* this walk found one */
    bool any_doubt; /* this round found one that is new */
    uint64_t steps, step_limit;
    bool failed;
} flow_walk;

static void
add_doubt(flow_walk *flow, uint32_t index)
{
    index = film_bytecode_prefix(&flow->draft->bytecode, index);
    flow->doubtful = true;
    if (!flow->draft->points[index] && !flow->doubts[index]) {
        flow->doubts[index] = true;
        flow->any_doubt = true;
    }
}

static bool
is_slot_kind(uint8_t kind)
{
    return kind == FILM_WRITE_FAST || kind == FILM_WRITE_CELL ||
           kind == FILM_DELETE_FAST || kind == FILM_DELETE_CELL;
}

static bool
is_attribute_kind(uint8_t kind)
{
    return kind == FILM_WRITE_ATTRIBUTE || kind == FILM_DELETE_ATTRIBUTE;
}

/* True when the write makes one that waits unreadable. */
static bool
hides(const film_write *write, const film_write *waiting)
{
    if (is_slot_kind(write->kind)) {
        return (is_slot_kind(waiting->kind) || is_attribute_kind(waiting->kind)) &&
               waiting->slot == write->slot;
    }
    if (is_attribute_kind(write->kind)) {
        /* Two variables may hold the same owner. */
        return is_attribute_kind(waiting->kind) && waiting->name == write->name;
    }
    /* At module level locals and globals are one. */
    return !is_slot_kind(waiting->kind) && !is_attribute_kind(waiting->kind) &&
           waiting->name == write->name;
}

static bool
is_open_kind(uint8_t kind)
{
    return kind != FILM_WRITE_FAST && kind != FILM_DELETE_FAST;
}

static const film_write *
write_of(const film_draft *draft, uint32_t node)
{
    return &draft->writes[draft->nodes[node].write];
}

static bool
list_is_hidden_by(const film_draft *draft, uint32_t node, const film_write *write)
{
    for (; node != 0; node = draft->nodes[node].before) {
        if (hides(write, write_of(draft, node))) {
            return true;
        }
    }
    return false;
}

/* True when a variable of the list lies in `slot`: LOAD_FAST_AND_CLEAR and MAKE_CELL
 * change a slot without a store. */
static bool
list_has_slot(const film_draft *draft, uint32_t node, uint32_t slot)
{
    for (; node != 0; node = draft->nodes[node].before) {
        const film_write *write = write_of(draft, node);

        if (write->slot == slot &&
            (is_slot_kind(write->kind) || is_attribute_kind(write->kind))) {
            return true;
        }
    }
    return false;
}

static bool
is_same_write(const film_write *left, const film_write *right)
{
    return left->kind == right->kind && left->slot == right->slot &&
           left->name == right->name && left->hidden == right->hidden &&
           left->cell_owner == right->cell_owner;
}

static uint32_t
add_node(flow_walk *flow, uint32_t before, uint32_t write)
{
    film_draft *draft = flow->draft;
    film_node *grown = film_grow(draft->nodes, &draft->node_capacity,
                                 draft->node_count + 1, sizeof(*grown));

    if (grown == NULL) {
        flow->failed = true;
        return 0;
    }
    draft->nodes = grown;
    grown[draft->node_count] = (film_node){
        .before = before,
        .write = write,
        .length = (uint16_t)(grown[before].length + 1),
        .open = grown[before].open || is_open_kind(draft->writes[write].kind),
    };
    return (uint32_t)draft->node_count++;
}

/* Brings the list to `length` writes, doubting those that it gives up. */
static uint32_t
shorten(flow_walk *flow, uint32_t node, uint32_t length, bool doubt)
{
    const film_draft *draft = flow->draft;

    while (draft->nodes[node].length > length) {
        if (doubt) {
            add_doubt(flow, draft->bytecode.index_at[write_of(draft, node)->place]);
        }
        node = draft->nodes[node].before;
    }
    return node;
}

/* Two paths meet: every write from the first that differs on is in doubt. */
static void
compare_lists(flow_walk *flow, uint32_t left, uint32_t right)
{
    film_node *nodes = flow->draft->nodes;
    uint32_t length = nodes[left].length < nodes[right].length ? nodes[left].length
                                                               : nodes[right].length;
    uint32_t one = shorten(flow, left, length, false);
    uint32_t other = shorten(flow, right, length, false), same = length;

    for (; one != other; one = nodes[one].before, other = nodes[other].before) {
        if (!is_same_write(write_of(flow->draft, one), write_of(flow->draft, other))) {
            same = nodes[one].length - 1u;
        }
        if (nodes[one].write != nodes[other].write) {
            nodes[one].uncertain = true;
            nodes[other].uncertain = true;
        }
    }
    if (same != nodes[left].length || same != nodes[right].length) {
        (void)shorten(flow, left, same, true);
        (void)shorten(flow, right, same, true);
    }
}

/* The walk goes on to `index` with these writes. */
static void
reach_state(flow_walk *flow, uint32_t index, uint32_t node)
{
    film_draft *draft = flow->draft;
    film_reach *grown;
    uint32_t *work;

    if (flow->state_seen[index] == flow->serial) {
        compare_lists(flow, draft->reaches[flow->state_at[index]].node, node);
        return;
    }
    grown = film_grow(draft->reaches, &draft->reach_capacity, draft->reach_count + 1,
                      sizeof(*grown));
    work = film_grow(flow->work, &flow->work_capacity, flow->work_count + 1,
                     sizeof(*work));
    draft->reaches = grown == NULL ? draft->reaches : grown;
    flow->work = work == NULL ? flow->work : work;
    if (grown == NULL || work == NULL) {
        flow->failed = true;
        return;
    }
    grown[draft->reach_count] = (film_reach){index, node, node};
    flow->state_seen[index] = flow->serial;
    flow->state_at[index] = (uint32_t)draft->reach_count++;
    work[flow->work_count++] = index;
}

/* The walk ends at `index` (FILM_NONE: the frame unwinds) with these writes. */
static void
reach_stop(flow_walk *flow, uint32_t index, uint32_t node)
{
    film_reach *grown;
    uint32_t at = (uint32_t)flow->stop_count;

    if (index == FILM_NONE ? flow->unwinds != FILM_NONE
                           : flow->stop_seen[index] == flow->serial) {
        at = index == FILM_NONE ? flow->unwinds : flow->stop_at[index];
        compare_lists(flow, flow->stops[at].node, node);
        return;
    }
    grown = film_grow(flow->stops, &flow->stop_capacity, flow->stop_count + 1,
                      sizeof(*grown));
    if (grown == NULL) {
        flow->failed = true;
        return;
    }
    flow->stops = grown;
    grown[flow->stop_count++] = (film_reach){index, node, node};
    if (index == FILM_NONE) {
        flow->unwinds = at;
    }
    else {
        flow->stop_seen[index] = flow->serial;
        flow->stop_at[index] = at;
    }
}

/* The list behind the instruction; doubts the instruction where the list before it
 * cannot be told any more behind it. `first`: the region begins here. */
static uint32_t
pass(flow_walk *flow, uint32_t index, uint32_t node, bool first)
{
    const film_draft *draft = flow->draft;
    const film_instruction *here = &draft->bytecode.instructions[index];
    const film_made *made = &draft->made[index];

    if (!first) {
        if ((here->form == FILM_FORM_LOAD_AND_CLEAR ||
             here->form == FILM_FORM_MAKE_CELL) &&
            list_has_slot(draft, node, here->arg)) {
            add_doubt(flow, index);
        }
        if ((here->traits & FILM_OP_CALLS) != 0 && draft->nodes[node].open) {
            add_doubt(flow, index);
        }
    }
    for (uint32_t number = 0; number < made->count; number++) {
        if (!first &&
            (draft->nodes[node].length >= LIST_LIMIT ||
             list_is_hidden_by(draft, node, &draft->writes[made->first + number]))) {
            add_doubt(flow, index);
        }
        node = add_node(flow, node, made->first + number);
    }
    return node;
}

/* Goes from one instruction to those that follow. */
static void
visit(flow_walk *flow, uint32_t index, bool first)
{
    film_draft *draft = flow->draft;
    const film_bytecode *bytecode = &draft->bytecode;
    const film_instruction *here = &bytecode->instructions[index];
    uint32_t at = flow->state_at[index], next[3], count;
    uint32_t node = pass(flow, index, draft->reaches[at].node, first);

    draft->reaches[at].after = node;
    /* On 3.11 this raises without an event, and the frame then shows another place. */
    if (!FILM_HAS_MONITORING && (here->traits & FILM_OP_RERAISES) != 0 &&
        here->handler == FILM_NONE) {
        reach_stop(flow, FILM_NONE, node);
    }
    count = film_bytecode_next(bytecode, index, next);
    for (uint32_t way = 0; way < count && !flow->failed; way++) {
        if (draft->points[next[way]] ||
            film_bytecode_fires(bytecode, index, next[way])) {
            reach_stop(flow, next[way], node);
        }
        else {
            reach_state(flow, next[way], node);
        }
    }
}

/* Walks one region; false when it has doubts or the walk failed. */
static bool
walk_region(flow_walk *flow, film_flow_region *region)
{
    film_draft *draft = flow->draft;
    film_reach *grown;

    flow->serial++;
    flow->unwinds = FILM_NONE;
    flow->stop_count = 0;
    flow->work_count = 0;
    flow->doubtful = false;
    region->planned = false;
    region->states = (uint32_t)draft->reach_count;
    reach_state(flow, region->index, 0);
    while (flow->work_count != 0 && !flow->doubtful && !flow->failed) {
        uint32_t index = flow->work[--flow->work_count];

        visit(flow, index, index == region->index);
        if (draft->reach_count - region->states > REGION_LIMIT) {
            while (flow->work_count != 0) {
                add_doubt(flow, flow->work[--flow->work_count]);
            }
        }
        flow->failed = flow->failed || ++flow->steps > flow->step_limit;
    }
    region->state_count = (uint32_t)draft->reach_count - region->states;
    if (flow->doubtful || flow->failed) {
        return false;
    }
    region->stops = (uint32_t)draft->reach_count;
    region->stop_count = (uint32_t)flow->stop_count;
    grown = film_grow(draft->reaches, &draft->reach_capacity,
                      draft->reach_count + flow->stop_count, sizeof(*grown));
    if (grown == NULL) {
        flow->failed = true;
        return false;
    }
    draft->reaches = grown;
    for (size_t stop = 0; stop < flow->stop_count; stop++) {
        grown[draft->reach_count++] = flow->stops[stop];
    }
    region->planned = true;
    return true;
}

static bool
add_region(film_draft *draft, uint32_t index)
{
    film_flow_region *grown;

    if (draft->region_of[index] != FILM_NONE) {
        return true;
    }
    grown = film_grow(draft->regions, &draft->region_capacity, draft->region_count + 1,
                      sizeof(*grown));
    if (grown == NULL) {
        return false;
    }
    draft->regions = grown;
    grown[draft->region_count] = (film_flow_region){.index = index};
    draft->region_of[index] = (uint32_t)draft->region_count++;
    return true;
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

            flow->steps++;
            if (flow->doubts[index] && index != region->index) {
                region->planned = false;
            }
        }
    }
}

/* Makes the doubts points, with regions of their own; false when memory is out. */
static bool
settle_doubts(flow_walk *flow)
{
    film_draft *draft = flow->draft;

    outdate_regions(flow);
    for (uint32_t index = 0; index < draft->bytecode.count; index++) {
        if (flow->doubts[index]) {
            flow->doubts[index] = false;
            draft->points[index] = true;
            if (!add_region(draft, index)) {
                return false;
            }
        }
    }
    flow->any_doubt = false;
    return true;
}

static void
walk_until_settled(flow_walk *flow)
{
    film_draft *draft = flow->draft;

    do {
        if (!settle_doubts(flow)) {
            flow->failed = true;
            return;
        }
        for (size_t number = 0; number < draft->region_count && !flow->failed;
             number++) {
            if (!draft->regions[number].planned) {
                (void)walk_region(flow, &draft->regions[number]);
            }
        }
    } while (flow->any_doubt && !flow->failed);
}

static bool
add_first_regions(film_draft *draft)
{
    for (uint32_t index = 0; index < draft->bytecode.count; index++) {
        const film_instruction *here = &draft->bytecode.instructions[index];

        draft->region_of[index] = FILM_NONE;
        if ((here->marked || here->is_handler || here->form == FILM_FORM_RESUME ||
             draft->points[index]) &&
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
    flow_walk flow = {.draft = draft};
    uint32_t *tables = film_alloc_array(4 * count, sizeof(uint32_t));

    flow.doubts = film_alloc_array(count, sizeof(bool));
    flow.step_limit = STEPS_BASE + STEPS_EACH * count;
    flow.failed = tables == NULL || flow.doubts == NULL || !add_first_regions(draft);
    if (!flow.failed) {
        flow.state_seen = tables;
        flow.state_at = tables + count;
        flow.stop_seen = tables + 2 * count;
        flow.stop_at = tables + 3 * count;
        draft->node_count = 0;
        flow.failed = (draft->nodes = film_grow(draft->nodes, &draft->node_capacity, 1,
                                                sizeof(film_node))) == NULL;
    }
    if (!flow.failed) {
        draft->nodes[draft->node_count++] = (film_node){0};
        walk_until_settled(&flow);
    }
    film_free(tables);
    film_free(flow.doubts);
    film_free(flow.stops);
    film_free(flow.work);
    return !flow.failed;
}
