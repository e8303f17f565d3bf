/* observe_quick.h: the events that come most often, told in one go.
 *
 * On the way to most lines nothing happens, or variables get values that need no closer
 * look (capture_quick.h): all that observe.c would find out about them is in the plan
 * already. The rows are put one behind the other and committed together. Anything else
 * is left to observe.c, which goes on from where these stopped.
 * Threads: the context's own, with the GIL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_RECORDER_OBSERVE_QUICK_H
#define FILMSTRIP_RECORDER_OBSERVE_QUICK_H

#include "recorder/compat.h"

#include "recorder/capture_quick.h"
#include "recorder/plan.h"
#include "recorder/tell.h"
#include "recorder/thread_context.h"
#include "recorder/touches.h"
#include "recorder/variables.h"

static inline void
film_enter_region(film_stack_entry *entry, film_region *region)
{
    entry->region = region;
    entry->covered = 0;
    entry->done = 0;
    entry->told_early = 0;
    entry->fresh = false;
    entry->dead = false;
    entry->unwinding = false;
}

/* True when nothing that the region loads can have changed in a way that is not told:
 * whatever may have changed it was a recorded function. */
static inline bool
film_region_is_untouched(const film_stack_entry *entry, const film_region *region)
{
    return region->touch_count == 0 || entry->covered == region->change_mask;
}

/* Rows that were put and are not committed yet. */
typedef struct film_rows {
    uint8_t *end;
    unsigned events;
} film_rows;

/* The writes of variables before a calm stop. False: one of them needs a closer look;
 * those before it are put. */
static inline bool
film_put_variables(film_stack_entry *entry, const film_frame *frame,
                   const film_write *writes, uint32_t count, const film_thread *thread,
                   film_rows *rows)
{
    uint64_t limit = atomic_load_explicit(thread->limit, memory_order_relaxed);
    uint32_t index = entry->done;

    if (FILM_UNLIKELY(entry->plan->secret_slots != NULL || entry->suspends)) {
        return false;
    }
    for (; index < count; index++) {
        uint32_t slot = writes[index].slot;
        uint8_t *end = film_append_put_set(rows->end, FILM_SET_LOCAL, slot);

        if (FILM_UNLIKELY(
                slot >= FILM_TOLD_SLOTS ||
                !film_capture_quick(film_frame_local(frame, (int)slot), &end) ||
                (uint64_t)(uintptr_t)end >= limit)) {
            break;
        }
        entry->told[slot] = 0;
        rows->end = end;
        rows->events++;
    }
    entry->done = (uint16_t)index;
    return index == count;
}

/* The rows so far, and then what the region has changed in place. False: it is not told
 * in full, or there is no room for more. */
static inline bool
film_commit_and_look(film_context *context, film_stack_entry *entry,
                     const film_frame *frame, uint32_t unit, film_rows *rows)
{
    film_thread *thread = context->thread;

    film_append_commit(thread, rows->end, rows->events);
    if (!film_tell_touches(context, entry, frame, unit) ||
        !film_append_is_ready(thread)) {
        return false;
    }
    *rows = (film_rows){.end = thread->cursor};
    return true;
}

/* A line begins at `unit`. True: all is told. */
static inline bool
film_observe_line_quickly(film_context *context, const film_frame *frame, uint32_t unit)
{
    film_stack_entry *entry = context->top;
    const film_region *region = entry->region;
    film_thread *thread = context->thread;
    const film_exit *exit;
    film_rows rows;

    if (FILM_UNLIKELY(region == NULL || entry->pending ||
                      !film_append_is_ready(thread))) {
        return false;
    }
    exit = film_region_stops(region);
    if (region->stop_place != unit) {
        exit = film_region_stop_at(region, unit);
    }
    if (FILM_UNLIKELY(exit == NULL || !exit->calm)) {
        return false;
    }
    rows = (film_rows){.end = thread->cursor};
    if (exit->count > entry->done &&
        FILM_UNLIKELY(!film_put_variables(entry, frame, film_exit_writes(exit),
                                          exit->count, thread, &rows))) {
        film_append_commit(thread, rows.end, rows.events);
        return false;
    }
    if (!film_region_is_untouched(entry, region) &&
        FILM_UNLIKELY(
            !film_commit_and_look(context, entry, frame, UINT32_MAX, &rows))) {
        return false;
    }
    film_append_commit(thread, film_append_put_line(rows.end, unit), rows.events + 1);
    film_enter_region(entry, film_near_there(&exit->next));
    context->returned = NULL;
    return true;
}

/* The token of the argument that the plan names so. */
static inline uint8_t *
film_put_argument(film_context *context, film_stack_entry *entry,
                  const film_frame *frame, uint32_t argument, uint8_t *to)
{
    uint32_t slot = argument & ~FILM_ARGUMENT_IN_CELL;
    PyObject *value = film_frame_local(frame, (int)slot);

    if (FILM_UNLIKELY((argument & FILM_ARGUMENT_IN_CELL) != 0)) {
        return film_capture_local(context, entry, slot, true, false,
                                  film_cell_content(value), to);
    }
    if (FILM_LIKELY(entry->plan->secret_slots == NULL &&
                    film_capture_quick(value, &to))) {
        film_vacate_slot(entry, slot);
        return to;
    }
    return film_capture_local(context, entry, slot, false, false, value, to);
}

/* A row of arguments from *index on, as many as it holds. */
static inline uint8_t *
film_put_arguments(film_context *context, film_stack_entry *entry,
                   const film_frame *frame, uint32_t *index, uint8_t *start)
{
    const film_plan *plan = entry->plan;
    uint32_t first = *index;
    uint8_t *to = start + 1;

    do {
        to = film_put_argument(context, entry, frame, plan->arguments[(*index)++], to);
    } while (*index < plan->argument_count && *index - first < FILM_APPEND_COUNT &&
             to - start <= (ptrdiff_t)(FILM_APPEND_TOKENS - FILM_TOKEN_MAX));
    film_append_put_values(start, *index - first);
    return to;
}

#endif
