/* rank_steps.c: see rank_steps.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/rank_steps.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/spans.h"
#include "base/alloc.h"

static int
compare_times(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

/* The median of all but one; `room` is for as many. */
static uint64_t
median_of_others(const uint64_t *took, size_t count, size_t but, uint64_t *room)
{
    size_t others = 0;

    for (size_t i = 0; i < count; i++) {
        if (i != but) {
            room[others++] = took[i];
        }
    }
    if (others == 0) {
        return 0;
    }
    qsort(room, others, sizeof(*room), compare_times);
    return room[others / 2];
}

/* Adds a step; its times are in `took`, which has room for twice the ranks. */
static bool
add_step(film_rank_steps *steps, size_t ranks, film_rank_step step, uint64_t *took)
{
    film_rank_step *items;
    size_t slowest = 0;

    for (size_t i = 1; i < ranks; i++) {
        slowest = took[i] > took[slowest] ? i : slowest;
    }
    items = film_grow(steps->items, &steps->capacity, steps->count + 1, sizeof(*items));
    if (items == NULL) {
        return false;
    }
    steps->items = items;
    if (steps->count == steps->took_capacity) {
        uint64_t *grown = film_grow(steps->took, &steps->took_capacity,
                                    steps->count + 1, ranks * sizeof(*grown));
        if (grown == NULL) {
            return false;
        }
        steps->took = grown;
    }
    memcpy(&steps->took[steps->count * ranks], took, ranks * sizeof(*took));
    step.slowest = slowest;
    step.slowest_ns = took[slowest];
    step.others_ns = median_of_others(took, ranks, slowest, took + ranks);
    steps->items[steps->count++] = step;
    for (size_t i = 0; i < ranks; i++) {
        steps->totals[i].busy_ns += took[i];
    }
    steps->totals[slowest].slowest++;
    return true;
}

static uint64_t
common_ns(const film_ranks *ranks, size_t rank, uint64_t ns)
{
    return ranks->set->items[ranks->items[rank].recording].shift_ns + ns;
}

/* When the rank last left something that all ranks began together, before `collective`
 * of the default group: the one before it, or init_process_group. False: nothing. */
static bool
began_ns(const film_ranks *ranks, size_t rank, uint32_t number, uint64_t *ns)
{
    const film_collectives *told = &ranks->items[rank].collectives;
    const film_collective *before =
        number == 0 ? NULL : film_ranks_met(ranks, &ranks->groups[0], number - 1, rank);

    for (size_t i = 0; number == 0 && before == NULL && i < told->count; i++) {
        if (told->items[i].function->kind == FILM_COLLECTIVE_BEGIN) {
            before = &told->items[i];
        }
    }
    *ns = before == NULL ? 0 : before->leave_ns;
    return before != NULL && before->leave_ns != FILM_NEVER_NS;
}

/* A call, or a stretch of time in a thread. */
typedef struct call {
    uint64_t enter_ns, leave_ns; /* FILM_NEVER_NS: it has no end */
    uint32_t thread;
} call;

/* The time of collectives within the call, in its thread. */
static uint64_t
waited_within(const film_collectives *told, const call *within)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < told->count; i++) {
        const film_collective *item = &told->items[i];

        if (item->enter_ns > within->leave_ns) {
            break; /* they are in order of time */
        }
        if (item->thread == within->thread && item->enter_ns >= within->enter_ns &&
            item->leave_ns <= within->leave_ns) {
            sum += item->leave_ns - item->enter_ns;
        }
    }
    return sum;
}

static film_status
read_collective_steps(const film_ranks *ranks, film_rank_steps *steps, uint64_t *took,
                      film_error *error)
{
    const film_rank_group *group = &ranks->groups[0];

    for (uint32_t number = 0; number < group->count; number++) {
        film_rank_step step = {.number = number};
        bool whole = true;

        for (size_t i = 0; whole && i < ranks->count; i++) {
            const film_collective *met = film_ranks_met(ranks, group, number, i);
            uint64_t began = 0;

            whole = met != NULL && began_ns(ranks, i, number, &began) &&
                    began <= met->enter_ns;
            if (whole) {
                call within = {began, met->enter_ns, met->thread};

                took[i] = met->enter_ns - began -
                          waited_within(&ranks->items[i].collectives, &within);
                step.until = met->function->name;
            }
        }
        if (!whole) {
            continue;
        }
        if (!add_step(steps, ranks->count, step, took)) {
            return film_fail(error, FILM_NO_MEMORY, "not enough memory");
        }
        for (size_t i = 0; i < ranks->count; i++) {
            const film_collective *met = film_ranks_met(ranks, group, number, i);
            film_rank_step *added = &steps->items[steps->count - 1];
            uint64_t waited =
                met->leave_ns == FILM_NEVER_NS ? 0 : met->leave_ns - met->enter_ns;

            steps->totals[i].waited_ns += waited;
            if (i == added->slowest) {
                added->at_ns = common_ns(ranks, i, met->enter_ns);
            }
            else {
                added->waited_ns += waited;
            }
        }
    }
    return FILM_OK;
}

/* The calls of one rank. */
typedef struct calls {
    call *items; /* owned */
    size_t count, capacity;
} calls;

static bool
begin_call(void *context, const film_event *event)
{
    calls *to = context;
    call *grown = film_grow(to->items, &to->capacity, to->count + 1, sizeof(*grown));

    if (grown == NULL) {
        return false;
    }
    to->items = grown;
    to->items[to->count++] = (call){event->time_ns, FILM_NEVER_NS, event->thread};
    return true;
}

static bool
end_call(void *context, uint32_t thread, const film_event *event)
{
    calls *to = context;

    (void)thread;
    to->items[to->count - 1].leave_ns = event->time_ns;
    return true;
}

static int
compare_calls(const void *left, const void *right)
{
    const call *a = left, *b = right;

    return (a->enter_ns > b->enter_ns) - (a->enter_ns < b->enter_ns);
}

static film_status
read_calls(film_reader *reader, const char *function, calls *to, film_error *error)
{
    film_span_visitor visitor = {to, begin_call, end_call};
    size_t codes = film_reader_code_count(reader);
    bool *wanted = film_alloc_array(codes + 1, sizeof(*wanted));
    film_status status;

    if (wanted == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    for (uint32_t i = 0; i < codes; i++) {
        const film_code *code = film_reader_code(reader, i);

        wanted[i] = code != NULL && (fnmatch(function, code->function.data, 0) == 0 ||
                                     fnmatch(function, code->qualname.data, 0) == 0 ||
                                     fnmatch(function, code->name.data, 0) == 0);
    }
    status = film_spans_read(reader, wanted, &visitor, error);
    if (to->count > 0) {
        qsort(to->items, to->count, sizeof(*to->items), compare_calls);
    }
    film_free(wanted);
    return status;
}

static film_status
add_calls(const film_ranks *ranks, const calls *all, film_rank_steps *steps,
          uint64_t *took, film_error *error)
{
    size_t count = SIZE_MAX;

    for (size_t i = 0; i < ranks->count; i++) {
        size_t ended = 0;

        while (ended < all[i].count && all[i].items[ended].leave_ns != FILM_NEVER_NS) {
            ended++;
        }
        count = ended < count ? ended : count;
    }
    for (uint32_t number = 0; number < count; number++) {
        film_rank_step step = {.number = number};

        for (size_t i = 0; i < ranks->count; i++) {
            const call *one = &all[i].items[number];
            uint64_t waited = waited_within(&ranks->items[i].collectives, one);

            took[i] = one->leave_ns - one->enter_ns - waited;
            steps->totals[i].waited_ns += waited;
            step.waited_ns += waited;
        }
        if (!add_step(steps, ranks->count, step, took)) {
            return film_fail(error, FILM_NO_MEMORY, "not enough memory");
        }
        else {
            film_rank_step *added = &steps->items[steps->count - 1];
            const call *slowest = &all[added->slowest].items[number];

            added->at_ns = common_ns(ranks, added->slowest, slowest->leave_ns);
            added->waited_ns -=
                waited_within(&ranks->items[added->slowest].collectives, slowest);
        }
    }
    return FILM_OK;
}

static film_status
read_call_steps(const film_ranks *ranks, const char *function, film_rank_steps *steps,
                uint64_t *took, film_error *error)
{
    calls *all = film_alloc_array(ranks->count, sizeof(*all));
    film_status status = FILM_OK;

    if (all == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    for (size_t i = 0; status == FILM_OK && i < ranks->count; i++) {
        status = read_calls(ranks->set->items[ranks->items[i].recording].reader,
                            function, &all[i], error);
    }
    if (status == FILM_OK) {
        status = add_calls(ranks, all, steps, took, error);
    }
    for (size_t i = 0; i < ranks->count; i++) {
        film_free(all[i].items);
    }
    film_free(all);
    return status;
}

film_status
film_rank_steps_read(const film_ranks *ranks, const char *function,
                     film_rank_steps *steps, film_error *error)
{
    uint64_t *took;
    film_status status;

    if (ranks->count == 0 || (function == NULL && ranks->group_count == 0)) {
        return FILM_OK;
    }
    took = film_alloc_array(2 * ranks->count, sizeof(*took));
    steps->totals = film_alloc_array(ranks->count, sizeof(*steps->totals));
    if (took == NULL || steps->totals == NULL) {
        status = film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    else {
        status = function == NULL
                     ? read_collective_steps(ranks, steps, took, error)
                     : read_call_steps(ranks, function, steps, took, error);
    }
    film_free(took);
    return status;
}

void
film_rank_steps_reset(film_rank_steps *steps)
{
    film_free(steps->items);
    film_free(steps->took);
    film_free(steps->totals);
    *steps = (film_rank_steps){0};
}
