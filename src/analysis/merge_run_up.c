/* merge_run_up.c: where a walk has to begin that knows what was before a range.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "analysis/merge.h"
#include "base/alloc.h"
#include "format/chunk.h"

typedef struct stretch {
    uint64_t first_ns; /* of the common line */
    uint64_t count;
} stretch;

typedef struct stretches {
    stretch *items; /* owned */
    size_t count, capacity;
} stretches;

bool
film_merge_range_takes(const film_merge_range *range, const film_merged *merged)
{
    return merged->time_ns >= range->from_ns && merged->time_ns <= range->to_ns &&
           merged->event->number >= range->first_event &&
           merged->event->number < range->end_event &&
           (range->thread == 0 || range->thread == merged->event->thread);
}

static bool
is_wanted(const film_merge_range *range, const film_chunk_info *chunk)
{
    return chunk->type == FILM_CHUNK_EVENT &&
           (range->thread == 0 || range->thread == chunk->stream);
}

/* When the first event of the range may come: not later than it does. */
static uint64_t
begins_at(const film_recordings *set, const film_merge_range *range)
{
    uint64_t earliest = UINT64_MAX;

    for (size_t i = 0; range->first_event > 0 && i < set->count; i++) {
        const film_recording *recording = &set->items[i];
        size_t chunks = film_reader_chunk_count(recording->reader);

        for (size_t k = 0; k < chunks; k++) {
            const film_chunk_info *chunk = film_reader_chunk(recording->reader, k);
            uint64_t first_ns = chunk->first_ns + recording->shift_ns;

            if (is_wanted(range, chunk) &&
                chunk->first + chunk->count > range->first_event &&
                first_ns < earliest) {
                earliest = first_ns;
            }
        }
    }
    if (earliest == UINT64_MAX && range->first_event > 0) {
        earliest = film_recordings_end_ns(set); /* not in a chunk yet, or never */
    }
    return earliest == UINT64_MAX || earliest < range->from_ns ? range->from_ns
                                                               : earliest;
}

/* When the last event of the range may come. */
static uint64_t
ends_at(const film_recordings *set, const film_merge_range *range)
{
    uint64_t latest = 0;

    if (range->follow || (range->thread == 0 && range->end_event == UINT64_MAX)) {
        return range->to_ns;
    }
    for (size_t i = 0; i < set->count; i++) {
        const film_recording *recording = &set->items[i];
        size_t threads = film_reader_thread_count(recording->reader);
        size_t chunks = film_reader_chunk_count(recording->reader);

        for (size_t k = 0; k < threads; k++) {
            const film_thread_info *thread = film_reader_thread(recording->reader, k);
            uint64_t last_ns = thread->last_ns + recording->shift_ns;

            if ((range->thread == 0 || range->thread == thread->id) &&
                thread->end_event <= range->end_event && last_ns > latest) {
                latest = last_ns;
            }
        }
        for (size_t k = 0; k < chunks; k++) {
            const film_chunk_info *chunk = film_reader_chunk(recording->reader, k);
            uint64_t last_ns = chunk->last_ns + recording->shift_ns;

            if (is_wanted(range, chunk) && chunk->first < range->end_event &&
                last_ns > latest) {
                latest = last_ns;
            }
        }
    }
    return latest < range->to_ns ? latest : range->to_ns;
}

static bool
add(stretches *to, uint64_t first_ns, uint64_t count)
{
    stretch *items = film_grow(to->items, &to->capacity, to->count + 1, sizeof(*items));

    if (items == NULL) {
        return false;
    }
    to->items = items;
    items[to->count++] = (stretch){first_ns, count};
    return true;
}

static int
latest_first(const void *a, const void *b)
{
    const stretch *left = a, *right = b;

    return (left->first_ns < right->first_ns) - (left->first_ns > right->first_ns);
}

/* The chunks that begin before `end_ns`; *whole: nothing was before them. */
static bool
collect(const film_recordings *set, uint64_t end_ns, stretches *to, bool *whole)
{
    for (size_t i = 0; i < set->count; i++) {
        const film_recording *recording = &set->items[i];
        size_t threads = film_reader_thread_count(recording->reader);
        size_t chunks = film_reader_chunk_count(recording->reader);

        for (size_t k = 0; k < threads; k++) {
            *whole =
                *whole && film_reader_thread(recording->reader, k)->first_event == 0;
        }
        for (size_t k = 0; k < chunks; k++) {
            const film_chunk_info *chunk = film_reader_chunk(recording->reader, k);
            uint64_t first_ns = chunk->first_ns + recording->shift_ns;

            if (chunk->type == FILM_CHUNK_EVENT && first_ns < end_ns &&
                !add(to, first_ns, chunk->count)) {
                return false;
            }
        }
    }
    return true;
}

film_status
film_merge_run_up(const film_recordings *set, const film_merge_range *range,
                  uint64_t most, film_merge_range *out, bool *whole, film_error *error)
{
    stretches before = {0};
    uint64_t begin_ns = begins_at(set, range), events = 0;

    *out = film_merge_everything();
    *whole = true;
    if (!collect(set, begin_ns, &before, whole)) {
        film_free(before.items);
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    if (before.count > 1) {
        qsort(before.items, before.count, sizeof(*before.items), latest_first);
    }
    for (size_t i = 0; i < before.count; i++) {
        events += before.items[i].count;
        if (events > most) {
            out->from_ns = i == 0 ? begin_ns : before.items[i - 1].first_ns;
            *whole = false;
            break;
        }
    }
    film_free(before.items);
    out->to_ns = ends_at(set, range);
    out->follow = range->follow;
    return FILM_OK;
}
