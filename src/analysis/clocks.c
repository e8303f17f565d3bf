/* clocks.c: processes of one host read one monotonic clock, so only starts are to be
 * compared. Of several hosts the wall clocks give a first guess; what holds is told by
 * collectives: nobody has left one before the others came, so that each that two hosts
 * took part in bounds how far their clocks differ, both ways. The tightest bounds count,
 * and what follows from bounds over third hosts; in the middle of what they leave the
 * error is at most half of it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/clocks.h"

#include <stdio.h>
#include <string.h>

#include "analysis/ranks.h"
#include "base/alloc.h"

static int64_t
add_bounds(int64_t a, int64_t b)
{
    int64_t sum;

    return a == FILM_UNBOUNDED || b == FILM_UNBOUNDED ||
                   __builtin_add_overflow(a, b, &sum)
               ? FILM_UNBOUNDED
               : sum;
}

/* Whether clocks a and b can be laid so that what bounds them directly holds. */
static bool
is_feasible(const int64_t *bounds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bounds[i * count + i] < 0) {
            return false;
        }
    }
    return true;
}

/* Bounds over third clocks (Floyd and Warshall). */
static void
tighten(int64_t *bounds, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        for (size_t a = 0; a < count; a++) {
            for (size_t b = 0; b < count; b++) {
                int64_t over = add_bounds(bounds[a * count + k], bounds[k * count + b]);
                if (over < bounds[a * count + b]) {
                    bounds[a * count + b] = over;
                }
            }
            if (!is_feasible(bounds, count)) {
                return; /* they contradict one another: sums would run away */
            }
        }
    }
}

void
film_clocks_solve(int64_t *bounds, size_t count, int64_t *offsets, int64_t *errors)
{
    for (size_t i = 0; i < count; i++) {
        bounds[i * count + i] = 0;
    }
    tighten(bounds, count);
    for (size_t i = 0; i < count; i++) {
        int64_t most = bounds[i * count], least = bounds[i]; /* -least .. most */

        offsets[i] = 0;
        errors[i] = i == 0 ? 0 : FILM_UNBOUNDED;
        if (i == 0) {
            continue;
        }
        if (most != FILM_UNBOUNDED && least != FILM_UNBOUNDED) {
            offsets[i] = most / 2 - least / 2;
            errors[i] = most / 2 + least / 2;
        }
        else if (most != FILM_UNBOUNDED && most < 0) {
            offsets[i] = most;
        }
        else if (least != FILM_UNBOUNDED && -least > 0) {
            offsets[i] = -least;
        }
    }
}

/* A signed distance; times of one run are far from overflowing. */
static int64_t
between(uint64_t from, uint64_t to)
{
    return (int64_t)(to - from);
}

static film_status
find_hosts(film_recordings *set, film_error *error)
{
    set->hosts = film_alloc_array(set->count, sizeof(*set->hosts));
    if (set->hosts == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    for (size_t i = 0; i < set->count; i++) {
        const char *hash = film_reader_meta(set->items[i].reader, "host_hash");
        const film_info *info = film_reader_info(set->items[i].reader);
        uint32_t host = 0;

        while (host < set->host_count &&
               (hash == NULL ||
                strncmp(hash, set->hosts[host].hash, FILM_HASH_TEXT_BYTES - 1) != 0)) {
            host++;
        }
        set->items[i].host = host;
        if (host == set->host_count) {
            film_host *added = &set->hosts[set->host_count++];
            *added = (film_host){.first = i, .way = FILM_CLOCK_WALL};
            (void)snprintf(added->hash, sizeof(added->hash), "%s",
                           hash == NULL ? "" : hash);
        }
        else if (film_reader_info(set->items[set->hosts[host].first].reader)
                     ->start_monotonic_ns > info->start_monotonic_ns) {
            set->hosts[host].first = i;
        }
    }
    return FILM_OK;
}

/* How far the start of a recording lies behind that of its host's first, and that behind
 * `origin_ns` by the wall clock. */
static int64_t
place_by_wall(const film_recordings *set, size_t index, uint64_t origin_ns)
{
    const film_recording *item = &set->items[index];
    const film_info *info = film_reader_info(item->reader);
    const film_info *first =
        film_reader_info(set->items[set->hosts[item->host].first].reader);

    return between(origin_ns, first->start_realtime_ns) +
           between(first->start_monotonic_ns, info->start_monotonic_ns);
}

typedef struct bounding {
    film_recordings *set;
    const film_ranks *ranks;
    const int64_t *places; /* by recording */
    int64_t *bounds;       /* of hosts */
} bounding;

/* When the rank came to the collective, or left it, on its host's line. */
static int64_t
time_of(const bounding *from, size_t rank, uint64_t ns)
{
    return from->places[from->ranks->items[rank].recording] + (int64_t)ns;
}

/* Whether `early` must have come before `late` can have left. */
static bool
comes_first(const bounding *from, size_t early, size_t late, const film_collective *met)
{
    switch (met->function->kind) {
    case FILM_COLLECTIVE_ALL:
        return true;
    case FILM_COLLECTIVE_FROM_ROOT:
        return met->root == from->ranks->items[early].rank;
    case FILM_COLLECTIVE_TO_ROOT:
        return met->root == from->ranks->items[late].rank;
    case FILM_COLLECTIVE_BEGIN:
    case FILM_COLLECTIVE_GROUP:
    case FILM_COLLECTIVE_PAIR:
        break;
    }
    return false;
}

/* Takes in one collective: how two hosts' ranks met there. */
static void
bound_by(bounding *from, const film_rank_group *group, uint32_t number)
{
    const film_ranks *ranks = from->ranks;
    size_t hosts = from->set->host_count;

    for (size_t late = 0; late < ranks->count; late++) {
        const film_collective *left = film_ranks_met(ranks, group, number, late);
        uint32_t b = from->set->items[ranks->items[late].recording].host;
        bool counted = false;

        if (left == NULL || !left->waits || left->raised ||
            left->leave_ns == FILM_NEVER_NS) {
            continue;
        }
        for (size_t early = 0; early < ranks->count; early++) {
            const film_collective *came = film_ranks_met(ranks, group, number, early);
            uint32_t a = from->set->items[ranks->items[early].recording].host;
            int64_t most, *bound = &from->bounds[a * hosts + b];

            if (a == b || came == NULL || came->function != left->function ||
                !comes_first(from, early, late, left)) {
                continue;
            }
            /* came + offset a <= left + offset b */
            most = time_of(from, late, left->leave_ns) -
                   time_of(from, early, came->enter_ns);
            *bound = most < *bound ? most : *bound;
            from->set->hosts[b].bounds += !counted;
            counted = true;
        }
    }
}

static void
settle(film_recordings *set, const int64_t *errors)
{
    set->hosts[0].way = FILM_CLOCK_REFERENCE;
    for (size_t i = 1; i < set->host_count; i++) {
        film_host *host = &set->hosts[i];

        if (errors[i] != FILM_UNBOUNDED) {
            host->way = errors[i] < 0 ? FILM_CLOCK_CONTRADICTS : FILM_CLOCK_COLLECTIVES;
            host->error_ns = (uint64_t)(errors[i] < 0 ? -errors[i] : errors[i]);
        }
    }
}

/* Adds to the places of each host's recordings what the collectives tell. */
static film_status
align_hosts(film_recordings *set, int64_t *places, film_error *error)
{
    size_t hosts = set->host_count;
    film_ranks ranks = {0};
    int64_t *bounds = film_alloc_array(hosts * hosts + 2 * hosts, sizeof(*bounds));
    bounding from = {set, &ranks, places, bounds};
    film_status status;

    if (bounds == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    for (size_t i = 0; i < hosts * hosts; i++) {
        bounds[i] = FILM_UNBOUNDED;
    }
    status = film_ranks_read(set, &ranks, error);
    for (size_t i = 0; status == FILM_OK && i < ranks.group_count; i++) {
        for (uint32_t k = 0; k < ranks.groups[i].count; k++) {
            bound_by(&from, &ranks.groups[i], k);
        }
    }
    if (status == FILM_OK) {
        int64_t *offsets = bounds + hosts * hosts, *errors = offsets + hosts;

        film_clocks_solve(bounds, hosts, offsets, errors);
        settle(set, errors);
        for (size_t i = 0; i < set->count; i++) {
            places[i] += offsets[set->items[i].host];
        }
    }
    film_ranks_reset(&ranks);
    film_free(bounds);
    return status;
}

/* Only where some recording tells of its host and its rank is there anything to find. */
static bool
can_be_aligned(const film_recordings *set)
{
    size_t ranks = 0;

    for (size_t i = 0; i < set->count; i++) {
        ranks += set->items[i].rank >= 0 && !set->items[i].is_helper;
    }
    return set->host_count > 1 && ranks > 1;
}

film_status
film_clocks_align(film_recordings *set, film_error *error)
{
    int64_t *places, earliest = INT64_MAX;
    film_status status = find_hosts(set, error);
    uint64_t origin_ns;

    if (status != FILM_OK || set->count == 0) {
        return status;
    }
    places = film_alloc_array(set->count, sizeof(*places));
    if (places == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    origin_ns = film_reader_info(set->items[0].reader)->start_realtime_ns;
    for (size_t i = 0; i < set->count; i++) {
        places[i] = place_by_wall(set, i, origin_ns);
    }
    set->hosts[0].way = FILM_CLOCK_REFERENCE;
    if (can_be_aligned(set)) {
        status = align_hosts(set, places, error);
    }
    for (size_t i = 0; i < set->count; i++) {
        earliest = places[i] < earliest ? places[i] : earliest;
    }
    for (size_t i = 0; i < set->count; i++) {
        set->items[i].shift_ns = (uint64_t)(places[i] - earliest);
    }
    film_free(places);
    return status;
}
