/* statistics.c: one pass over balanced entries and exits.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/statistics.h"

#include <string.h>

#include "analysis/activity.h"
#include "base/alloc.h"

#define NO_EDGE UINT32_MAX

typedef struct activation {
    uint64_t enter_ns;
    uint64_t inner_ns; /* time in what it called */
    uint32_t function;
    uint32_t edge; /* NO_EDGE: nobody called it */
} activation;

struct film_statistics {
    film_functions *functions; /* borrowed */
    film_tally *tallies;       /* owned, by function number */
    size_t tally_count, tally_capacity;
    film_edge *edges; /* owned */
    size_t edge_count, edge_capacity;
    uint32_t *slots; /* owned: hash of the pair to edge + 1, linear probing */
    size_t slot_count;
    activation *stack; /* owned */
    size_t depth, stack_capacity;
};

film_status
film_statistics_new(film_functions *functions, film_statistics **out, film_error *error)
{
    *out = film_alloc(sizeof(**out));
    if (*out == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    (*out)->functions = functions;
    return FILM_OK;
}

void
film_statistics_free(film_statistics *statistics)
{
    if (statistics != NULL) {
        film_free(statistics->tallies);
        film_free(statistics->edges);
        film_free(statistics->slots);
        film_free(statistics->stack);
        film_free(statistics);
    }
}

void
film_statistics_clear(film_statistics *statistics)
{
    statistics->tally_count = 0;
    statistics->edge_count = 0;
    statistics->depth = 0;
    if (statistics->slots != NULL) {
        memset(statistics->slots, 0, statistics->slot_count * sizeof(uint32_t));
    }
}

static size_t
slot_of(const film_statistics *statistics, uint32_t caller, uint32_t callee)
{
    uint64_t key = (uint64_t)caller << 32 | callee;
    size_t slot =
        (size_t)((key * 0x9E3779B97F4A7C15u) >> 32) & (statistics->slot_count - 1);

    for (;;) {
        uint32_t edge = statistics->slots[slot];
        if (edge == 0 || (statistics->edges[edge - 1].caller == caller &&
                          statistics->edges[edge - 1].callee == callee)) {
            return slot;
        }
        slot = (slot + 1) & (statistics->slot_count - 1);
    }
}

static bool
enlarge_slots(film_statistics *statistics)
{
    size_t count = statistics->slot_count == 0 ? 1024 : statistics->slot_count * 2;
    uint32_t *slots = film_alloc_array(count, sizeof(*slots));

    if (slots == NULL) {
        return false;
    }
    film_free(statistics->slots);
    statistics->slots = slots;
    statistics->slot_count = count;
    for (size_t i = 0; i < statistics->edge_count; i++) {
        const film_edge *edge = &statistics->edges[i];
        slots[slot_of(statistics, edge->caller, edge->callee)] = (uint32_t)(i + 1);
    }
    return true;
}

static uint32_t
add_edge(film_statistics *statistics, size_t slot, uint32_t caller, uint32_t callee)
{
    film_edge *edge;

    if (statistics->edge_count == statistics->edge_capacity) {
        film_edge *grown = film_grow(statistics->edges, &statistics->edge_capacity,
                                     statistics->edge_count + 1, sizeof(*grown));
        if (grown == NULL) {
            return NO_EDGE;
        }
        statistics->edges = grown;
    }
    edge = &statistics->edges[statistics->edge_count];
    memset(edge, 0, sizeof(*edge));
    edge->caller = caller;
    edge->callee = callee;
    statistics->slots[slot] = (uint32_t)++statistics->edge_count;
    return (uint32_t)(statistics->edge_count - 1);
}

/* NO_EDGE when memory is out. */
static uint32_t
find_edge(film_statistics *statistics, uint32_t caller, uint32_t callee)
{
    size_t slot;

    if (statistics->edge_count * 2 >= statistics->slot_count &&
        !enlarge_slots(statistics)) {
        return NO_EDGE;
    }
    slot = slot_of(statistics, caller, callee);
    if (statistics->slots[slot] != 0) {
        return statistics->slots[slot] - 1;
    }
    return add_edge(statistics, slot, caller, callee);
}

static bool
hold_function(film_statistics *statistics, uint32_t function)
{
    if (function >= statistics->tally_count) {
        film_tally *grown = film_grow(statistics->tallies, &statistics->tally_capacity,
                                      function + 1u, sizeof(*grown));
        if (grown == NULL) {
            return false;
        }
        statistics->tallies = grown;
        memset(grown + statistics->tally_count, 0,
               (function + 1u - statistics->tally_count) * sizeof(*grown));
        statistics->tally_count = function + 1u;
    }
    return true;
}

static void
count_entry(film_tally *tally, uint8_t cause)
{
    bool outermost = tally->level++ == 0;

    if (cause == FILM_KIND_ADOPT) {
        return; /* open before it was seen: its call is not in the recording */
    }
    tally->activations++;
    tally->primitive_activations += outermost;
    if (cause == FILM_KIND_CALL || cause == FILM_KIND_C_CALL || cause == FILM_KIND_OP) {
        tally->calls++;
        tally->primitive_calls += outermost;
    }
}

static void
count_exit(film_tally *tally, uint64_t total_ns, uint64_t own_ns)
{
    tally->own_ns += own_ns;
    if (--tally->level == 0) {
        tally->total_ns += total_ns;
    }
}

static bool
enter(film_statistics *statistics, uint32_t function, uint8_t cause, uint64_t time_ns)
{
    activation *top;
    uint32_t edge = NO_EDGE;

    if (function == FILM_NO_FUNCTION || !hold_function(statistics, function)) {
        return false;
    }
    if (statistics->depth == statistics->stack_capacity) {
        activation *grown = film_grow(statistics->stack, &statistics->stack_capacity,
                                      statistics->depth + 1, sizeof(*grown));
        if (grown == NULL) {
            return false;
        }
        statistics->stack = grown;
    }
    top = &statistics->stack[statistics->depth];
    if (statistics->depth > 0) {
        edge = find_edge(statistics, top[-1].function, function);
        if (edge == NO_EDGE) {
            return false;
        }
        count_entry(&statistics->edges[edge].tally, cause);
    }
    count_entry(&statistics->tallies[function], cause);
    top->function = function;
    top->edge = edge;
    top->enter_ns = time_ns;
    top->inner_ns = 0;
    statistics->depth++;
    return true;
}

static void
leave(film_statistics *statistics, uint64_t time_ns)
{
    const activation *top = &statistics->stack[--statistics->depth];
    /* Times of one thread never run backwards; a damaged file may say so. */
    uint64_t total_ns = time_ns > top->enter_ns ? time_ns - top->enter_ns : 0;
    uint64_t own_ns = total_ns > top->inner_ns ? total_ns - top->inner_ns : 0;

    count_exit(&statistics->tallies[top->function], total_ns, own_ns);
    if (top->edge != NO_EDGE) {
        count_exit(&statistics->edges[top->edge].tally, total_ns, own_ns);
    }
    if (statistics->depth > 0) {
        statistics->stack[statistics->depth - 1].inner_ns += total_ns;
    }
}

film_status
film_statistics_add_thread(film_statistics *statistics, size_t recording,
                           uint32_t thread, film_error *error)
{
    film_activity *activity;
    film_step step;
    film_status status;

    FILM_TRY(film_activity_open(statistics->functions->set, recording, thread,
                                &activity, error));
    statistics->depth = 0;
    while ((status = film_activity_next(activity, &step, error)) == FILM_OK) {
        if (step.kind == FILM_STEP_ENTER) {
            uint32_t function =
                film_functions_number(statistics->functions, recording, step.function);
            if (!enter(statistics, function, step.cause, step.time_ns)) {
                status = film_fail(error, FILM_NO_MEMORY, "not enough memory");
                break;
            }
        }
        else if (step.kind == FILM_STEP_LEAVE) {
            leave(statistics, step.time_ns);
        }
    }
    film_activity_close(activity);
    return status == FILM_END ? FILM_OK : status;
}

film_status
film_statistics_add_all(film_statistics *statistics, film_error *error)
{
    const film_recordings *set = statistics->functions->set;

    for (size_t i = 0; i < set->count; i++) {
        size_t threads = film_reader_thread_count(set->items[i].reader);
        for (size_t k = 0; k < threads; k++) {
            uint32_t id = film_reader_thread(set->items[i].reader, k)->id;
            FILM_TRY(film_statistics_add_thread(statistics, i, id, error));
        }
    }
    return FILM_OK;
}

const film_tally *
film_statistics_functions(const film_statistics *statistics, size_t *count)
{
    *count = statistics->tally_count;
    return statistics->tallies;
}

const film_edge *
film_statistics_edges(const film_statistics *statistics, size_t *count)
{
    *count = statistics->edge_count;
    return statistics->edges;
}

uint64_t
film_statistics_own_ns(const film_statistics *statistics)
{
    uint64_t own_ns = 0;

    for (size_t i = 0; i < statistics->tally_count; i++) {
        own_ns += statistics->tallies[i].own_ns;
    }
    return own_ns;
}
