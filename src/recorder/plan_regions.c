/* plan_regions.c: see plan_draft.h: a region that was walked, laid out as the plan
 * keeps it, with the lists of writes that lead to its exits.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/plan_draft.h"

#include <stddef.h>
#include <string.h>

/* Sorts by instruction. Walks reach most of them in that order, and few in all. */
static void
sort_reaches(film_reach *reaches, uint32_t count)
{
    for (uint32_t index = 1; index < count; index++) {
        film_reach moved;
        uint32_t to = index;

        if (reaches[index - 1].index <= reaches[index].index) {
            continue;
        }
        moved = reaches[index];
        while (to > 0 && reaches[to - 1].index > moved.index) {
            reaches[to] = reaches[to - 1];
            to--;
        }
        reaches[to] = moved;
    }
}

/* The list of writes with that number in a film_reach of the region. */
static uint32_t
node_of(const film_flow_region *flow, uint16_t number)
{
    return number == 0 ? 0 : flow->nodes + number;
}

/* True when the variable an attribute's value comes from is written later on. */
static bool
is_overwritten(const film_write *array, const film_draft_write *write, uint32_t index,
               uint32_t length)
{
    for (uint32_t later = index + 1; later < length; later++) {
        uint8_t kind = array[later].kind;

        if ((kind == FILM_WRITE_FAST || kind == FILM_DELETE_FAST) &&
            array[later].slot == write->target) {
            return true;
        }
    }
    return false;
}

/* Who the attribute of a write belongs to, as far as the plan knows. */
static film_named_key
key_of(const film_draft_write *write)
{
    film_named_key key = {.name = write->name};

    if (write->kind == FILM_WRITE_ATTRIBUTE || write->kind == FILM_DELETE_ATTRIBUTE) {
        key.owner = film_named_owner(
            write->cell_owner ? FILM_WRITE_CELL : FILM_WRITE_FAST, write->slot);
    }
    else if (write->kind == FILM_WRITE_STACK_ATTRIBUTE ||
             write->kind == FILM_DELETE_STACK_ATTRIBUTE) {
        key.place = write->place + 1u;
    }
    return key;
}

/* Fills in the film_write that is kept at `at`. */
static bool
keep_write(film_draft *draft, const film_draft_write *write, uint32_t at)
{
    film_named_key key = key_of(write);
    uint32_t named;

    *(film_write *)film_draft_kept(draft, at) = (film_write){
        .kind = write->kind,
        .hidden = write->hidden,
        .restores = write->restores,
        .cell_owner = write->cell_owner,
        .constant = write->constant,
        .unnamed = write->unnamed,
        .effect = write->effect & 3u,
        .slot = write->slot,
        .target = write->target,
        .place = write->place,
        .call_place = write->call_place,
    };
    if (write->name == NULL) {
        return true;
    }
    named = key.owner == 0 && key.place == 0
                ? film_draft_keep_variable(draft, write->name_index)
                : film_draft_keep_named(draft, &key);
    film_draft_link(draft, at + (uint32_t)offsetof(film_write, named), named);
    return named != 0;
}

/* Lays the writes of a list out in an array, which all lists it continues share. */
static bool
lay_out_list(film_draft *draft, uint32_t node)
{
    uint32_t length = draft->nodes[node].length, first;

    if (draft->nodes[node].continued || draft->nodes[node].laid_out != 0) {
        return true;
    }
    first = film_draft_keep(draft, length * sizeof(film_write), _Alignof(film_write));
    if (first == 0) {
        return false;
    }
    for (; node != 0; node = draft->nodes[node].before) {
        film_node *part = &draft->nodes[node];
        uint32_t at = first + (part->length - 1u) * (uint32_t)sizeof(film_write);
        film_draft_write write = draft->writes[part->write];

        if (part->uncertain) {
            write.call_place = FILM_PLAN_NO_PLACE;
        }
        if (part->uncertain || is_overwritten(film_draft_kept(draft, first), &write,
                                              part->length - 1u, length)) {
            write.target = FILM_PLAN_NO_PLACE;
        }
        if (!keep_write(draft, &write, at)) {
            return false;
        }
        if (part->laid_out == 0) {
            part->laid_out = first;
        }
    }
    return true;
}

/* Lays out the lists of a region, the longest only: each walk makes nodes of its own,
 * so no other region has them. Every list was made at one of the states. */
static bool
lay_out_lists(film_draft *draft, const film_flow_region *flow)
{
    const film_reach *states = &draft->reaches[flow->states];

    for (uint32_t at = 0; at < flow->state_count; at++) {
        uint32_t node;

        if (states[at].after == states[at].node) {
            continue;
        }
        node = draft->nodes[node_of(flow, states[at].after)].before;
        while (node != 0 && !draft->nodes[node].continued) {
            draft->nodes[node].continued = true;
            node = draft->nodes[node].before;
        }
    }
    for (uint32_t at = 0; at < flow->state_count; at++) {
        if (states[at].after != states[at].node &&
            !lay_out_list(draft, node_of(flow, states[at].after))) {
            return false;
        }
    }
    return true;
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

/* The exit at one of the region's states. */
static void
make_inner(film_draft *draft, const film_flow_region *flow, const film_reach *state,
           uint32_t at)
{
    uint8_t count = (uint8_t)draft->nodes[node_of(flow, state->node)].length;
    uint8_t own = is_written_first(draft, &draft->made[state->index]) ? 1 : 0;

    *(film_inner *)film_draft_kept(draft, at) = (film_inner){
        .place = draft->bytecode.instructions[state->index].place,
        .count = count,
        .count_entered = (uint8_t)(count + own),
    };
    film_draft_link(draft, at + (uint32_t)offsetof(film_inner, writes),
                    draft->nodes[node_of(flow, state->after)].laid_out);
}

/* Exits for the places an event can come from, at `at`: the returns and yields, `returns`
 * of them, first. */
static void
make_inners(film_draft *draft, const film_flow_region *flow, uint32_t at,
            uint32_t returns)
{
    const film_instruction *all = draft->bytecode.instructions;
    uint32_t others = at + returns * (uint32_t)sizeof(film_inner);

    for (uint32_t state = 0; state < flow->state_count; state++) {
        const film_reach *reach = &draft->reaches[flow->states + state];
        bool first = all[reach->index].form == FILM_FORM_RETURN;

        if (has_events(draft, flow, reach->index)) {
            make_inner(draft, flow, reach, first ? at : others);
            *(first ? &at : &others) += (uint32_t)sizeof(film_inner);
        }
    }
}

/* The place of a stop. */
static uint32_t
stop_place(const film_draft *draft, const film_reach *stop)
{
    return stop->index == FILM_NO_INDEX
               ? FILM_PLAN_UNWINDS
               : draft->bytecode.instructions[stop->index].place;
}

static void
make_stop(film_draft *draft, const film_flow_region *flow, const film_reach *stop,
          uint32_t at)
{
    const film_node *node = &draft->nodes[node_of(flow, stop->node)];

    *(film_exit *)film_draft_kept(draft, at) = (film_exit){
        .place = (uint16_t)stop_place(draft, stop),
        .count = (uint8_t)node->length,
    };
    film_draft_link(draft, at + (uint32_t)offsetof(film_exit, writes), node->laid_out);
}

/* In order of their places, as they are sorted, but those behind the region's start
 * first: they are likelier. */
static void
make_stops(film_draft *draft, const film_flow_region *flow, film_region *region,
           uint32_t at)
{
    const film_reach *stops = &draft->reaches[flow->states + flow->state_count];
    uint32_t back = 0; /* how many lie before them */

    while (back < flow->stop_count &&
           stop_place(draft, &stops[back]) <= region->place) {
        back++;
    }
    for (uint32_t number = 0; number < flow->stop_count; number++) {
        uint32_t turned = number + back;
        const film_reach *stop =
            &stops[turned < flow->stop_count ? turned : turned - flow->stop_count];

        make_stop(draft, flow, stop, at);
        region->points_ahead |=
            stop->index != FILM_NO_INDEX && draft->points[stop->index];
        at += (uint32_t)sizeof(film_exit);
    }
}

/* What there is of the states of a region. */
typedef struct state_sums {
    uint32_t returns; /* those of its inner exits that are returns or yields */
    uint16_t traits;  /* all of theirs */
    bool writes;      /* one of them has written */
} state_sums;

static state_sums
sum_states(const film_draft *draft, const film_flow_region *flow, film_region *region)
{
    const film_reach *states = &draft->reaches[flow->states];
    state_sums sums = {0};

    for (uint32_t state = 0; state < flow->state_count; state++) {
        const film_instruction *here =
            &draft->bytecode.instructions[states[state].index];

        sums.traits |= here->traits;
        sums.writes |= states[state].after != 0;
        region->early |= states[state].node != 0 && film_draft_may_enter(here);
        if (has_events(draft, flow, states[state].index)) {
            region->inner_count++;
            sums.returns += here->form == FILM_FORM_RETURN;
        }
    }
    region->reraises = !FILM_HAS_MONITORING && (sums.traits & FILM_OP_RERAISES) != 0;
    return sums;
}

/* Its stops, and its inner exits behind them; where they are, 0 when memory is out. */
static uint32_t
keep_exits(film_draft *draft, const film_flow_region *flow, film_region *region,
           uint32_t returns)
{
    size_t bytes = flow->stop_count * sizeof(film_exit);
    uint32_t at = film_draft_keep(
        draft, bytes + region->inner_count * sizeof(film_inner), _Alignof(film_exit));

    region->stop_count = (uint16_t)flow->stop_count;
    if (at != 0) {
        make_stops(draft, flow, region, at);
        make_inners(draft, flow, at + (uint32_t)bytes, returns);
    }
    return at;
}

/* What may change in it, and the numbers of what it touches behind that; the same. */
static uint32_t
keep_changes(film_draft *draft, const film_region *region)
{
    size_t count =
        region->change_count > FILM_REGION_CHANGES ? 0 : region->change_count;
    size_t bytes = count * sizeof(film_change);
    uint32_t at = film_draft_keep(draft, bytes + region->touch_count * sizeof(uint16_t),
                                  _Alignof(film_change));
    uint16_t *touches;

    if (at == 0) {
        return 0;
    }
    memcpy(film_draft_kept(draft, at), draft->changes, bytes);
    touches = film_draft_kept(draft, at + (uint32_t)bytes);
    for (uint32_t index = 0; index < region->touch_count; index++) {
        uint32_t number = film_draft_number_touch(draft, &draft->touched[index]);

        if (number >= UINT16_MAX) {
            return 0;
        }
        touches[index] = (uint16_t)number;
    }
    return at;
}

/* The write that is read off the stack where the region begins; 0 when memory is out.
 */
static uint32_t
keep_before(film_draft *draft, uint32_t write)
{
    uint32_t at = film_draft_keep(draft, sizeof(film_write), _Alignof(film_write));

    return at != 0 && keep_write(draft, &draft->writes[write], at) ? at : 0;
}

bool
film_draft_make_region(film_draft *draft, const film_flow_region *flow, uint32_t at)
{
    const film_bytecode *bytecode = &draft->bytecode;
    const film_made *made = &draft->made[flow->index];
    film_region region = {.place = bytecode->instructions[flow->index].place,
                          .point = draft->points[flow->index]};
    uint32_t exits, changes, before = 0;
    state_sums sums;

    if (!flow->planned) {
        return false;
    }
    region.sent =
        !FILM_HAS_MONITORING && bytecode->instructions[flow->index].is_sent_to;
    sort_reaches(&draft->reaches[flow->states], flow->state_count);
    sort_reaches(&draft->reaches[flow->states + flow->state_count], flow->stop_count);
    sums = sum_states(draft, flow, &region);
    if (made->before != FILM_NONE) {
        before = keep_before(draft, made->before);
        if (before == 0) {
            return false;
        }
    }
    /* A stop's list is that behind one of the states. */
    if ((sums.writes && !lay_out_lists(draft, flow)) ||
        (exits = keep_exits(draft, flow, &region, sums.returns)) == 0 ||
        !film_draft_find_touches(draft, flow, sums.traits, &region) ||
        (changes = keep_changes(draft, &region)) == 0) {
        return false;
    }
    *(film_region *)film_draft_kept(draft, at) = region;
    film_draft_link(draft, at + (uint32_t)offsetof(film_region, stops), exits);
    film_draft_link(draft, at + (uint32_t)offsetof(film_region, changes), changes);
    film_draft_link(draft, at + (uint32_t)offsetof(film_region, before), before);
    return true;
}
