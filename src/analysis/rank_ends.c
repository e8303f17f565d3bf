/* rank_ends.c: see rank_ends.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/rank_ends.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/host.h"

/* Only a thread's last events are read; a cursor knows its stack from the first on. */
#define LAST_EVENTS 4u

/* The thread whose frames tell what the rank does. */
static const film_thread_info *
choose_thread(film_reader *reader, const film_collective *within)
{
    size_t threads = film_reader_thread_count(reader);

    for (size_t i = 0; within != NULL && i < threads; i++) {
        if (film_reader_thread(reader, i)->id == within->thread) {
            return film_reader_thread(reader, i);
        }
    }
    return film_reader_thread(reader, 0);
}

static bool
keep_frames(film_reader *reader, film_cursor *cursor, film_rank_end *end)
{
    size_t depth;
    const film_frame *stack = film_cursor_stack(cursor, &depth);

    end->frames = film_alloc_array(depth, sizeof(*end->frames));
    if (end->frames == NULL) {
        return false;
    }
    for (size_t i = 0; i < depth; i++) {
        end->frames[i].code = stack[i].code;
        end->frames[i].line =
            stack[i].offset == FILM_NO_OFFSET
                ? 0
                : film_reader_line(reader, stack[i].code, stack[i].offset);
    }
    end->depth = depth;
    return true;
}

static film_status
read_end(film_reader *reader, const film_thread_info *thread, film_rank_end *end,
         film_error *error)
{
    uint64_t first = thread->first_event;
    film_cursor *cursor;
    const film_event *event;
    film_status status;

    if (thread->end_event - first > LAST_EVENTS) {
        first = thread->end_event - LAST_EVENTS;
    }
    end->thread = thread->id;
    FILM_TRY(film_cursor_open(reader, thread->id, first, &cursor, error));
    while ((status = film_cursor_next(cursor, &event, error)) == FILM_OK) {
        end->event = event->number;
        end->kind = event->kind;
    }
    if (status == FILM_END) {
        status = keep_frames(reader, cursor, end)
                     ? FILM_OK
                     : film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    film_cursor_close(cursor);
    return status;
}

static const film_collective *
find_within(const film_collectives *told)
{
    for (size_t i = told->count; i > 0; i--) {
        const film_collective *item = &told->items[i - 1];
        if (item->leave_ns == FILM_NEVER_NS) {
            return item;
        }
    }
    return NULL;
}

static bool
note_unfinished(const film_ranks *ranks, film_rank_ends *ends,
                const film_rank_group *group, uint32_t number)
{
    film_unfinished found = {
        .group = group, .number = number, .since_ns = FILM_NEVER_NS};
    film_unfinished *grown;

    for (size_t i = 0; i < ranks->count; i++) {
        const film_collective *met = film_ranks_met(ranks, group, number, i);

        if (met == NULL) {
            found.missing += film_ranks_has_member(group, ranks->items[i].rank);
        }
        else if (met->leave_ns == FILM_NEVER_NS) {
            uint64_t came =
                met->enter_ns + ranks->set->items[ranks->items[i].recording].shift_ns;
            found.waiting++;
            found.name = met->function->name;
            found.since_ns = came < found.since_ns ? came : found.since_ns;
        }
    }
    if (found.waiting == 0) {
        return true;
    }
    grown = film_grow(ends->unfinished, &ends->unfinished_capacity,
                      ends->unfinished_count + 1, sizeof(*grown));
    if (grown == NULL) {
        return false;
    }
    ends->unfinished = grown;
    ends->unfinished[ends->unfinished_count++] = found;
    return true;
}

/* What the clock of this machine shows on the common line, where a recording of it is
 * still being written. */
static void
look_at_clock(const film_ranks *ranks, film_rank_ends *ends)
{
    char here[FILM_HOST_HASH_BYTES];

    for (size_t i = 0; i < ranks->count && film_host_hash(here); i++) {
        const film_recording *recording = &ranks->set->items[ranks->items[i].recording];
        const film_info *info = film_reader_info(recording->reader);
        uint64_t now;

        if (info->ending != FILM_ENDING_LIVE ||
            strcmp(ranks->set->hosts[recording->host].hash, here) != 0) {
            continue;
        }
        now =
            film_clock_monotonic_ns() - info->start_monotonic_ns + recording->shift_ns;
        if (now > ends->end_ns) {
            ends->end_ns = now;
            ends->is_now = true;
        }
    }
}

film_status
film_rank_ends_read(const film_ranks *ranks, film_rank_ends *ends, film_error *error)
{
    ends->items = film_alloc_array(ranks->count, sizeof(*ends->items));
    if (ends->items == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    for (; ends->count < ranks->count; ends->count++) {
        const film_rank *rank = &ranks->items[ends->count];
        const film_recording *recording = &ranks->set->items[rank->recording];
        film_rank_end *end = &ends->items[ends->count];
        const film_thread_info *thread;
        size_t threads = film_reader_thread_count(recording->reader);

        end->within = find_within(&rank->collectives);
        thread = choose_thread(recording->reader, end->within);
        for (size_t k = 0; k < threads; k++) {
            uint64_t last =
                film_reader_thread(recording->reader, k)->last_ns + recording->shift_ns;
            end->last_ns = last > end->last_ns ? last : end->last_ns;
        }
        ends->end_ns = end->last_ns > ends->end_ns ? end->last_ns : ends->end_ns;
        if (thread != NULL) {
            film_status status = read_end(recording->reader, thread, end, error);
            if (status != FILM_OK) {
                ends->count++;
                return status;
            }
        }
    }
    look_at_clock(ranks, ends);
    for (size_t i = 0; i < ranks->group_count; i++) {
        for (uint32_t k = 0; k < ranks->groups[i].count; k++) {
            if (!note_unfinished(ranks, ends, &ranks->groups[i], k)) {
                return film_fail(error, FILM_NO_MEMORY, "not enough memory");
            }
        }
    }
    return FILM_OK;
}

void
film_rank_ends_reset(film_rank_ends *ends)
{
    for (size_t i = 0; i < ends->count; i++) {
        film_free(ends->items[i].frames);
    }
    film_free(ends->items);
    film_free(ends->unfinished);
    *ends = (film_rank_ends){0};
}
