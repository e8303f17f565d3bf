/* observe.c: see observe.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/observe.h"

#include "recorder/observe_quick.h"
#include "recorder/pending.h"
#include "recorder/tell.h"
#include "recorder/touches.h"

/* The plan has no such edge: nothing is guessed, the frame is found again at its next
 * line, and info tells. Later frames are watched instruction by instruction. */
static void
note_unknown_edge(film_stack_entry *entry, const film_frame *frame)
{
    film_the_session.unknown_edges++;
    if (!entry->plan->every_place) {
        film_tell_plan_again(frame, true);
    }
}

static inline bool
tell_pending(film_context *context, film_stack_entry *entry)
{
    return FILM_LIKELY(!entry->pending) || film_pending_settle(context, entry);
}

/* The frame has reached `unit`, where a region begins, by any way. */
static bool
arrive(film_context *context, film_stack_entry *entry, const film_frame *frame,
       uint32_t unit)
{
    film_region *region = entry->region;
    const film_exit *exit;
    const film_inner *inner = NULL;

    if (region == NULL) {
        return true;
    }
    if (!tell_pending(context, entry)) {
        return false;
    }
    exit = film_region_stop_at(region, unit);
    if (exit == NULL) {
        inner = film_region_inner_at(region, unit);
    }
    if (FILM_UNLIKELY(exit == NULL && inner == NULL)) {
        note_unknown_edge(entry, frame);
    }
    else if (!(exit != NULL
                   ? film_tell_writes(context, entry, frame, film_exit_writes(exit),
                                      exit->count)
                   : film_tell_writes(context, entry, frame, film_inner_writes(inner),
                                      inner->count))) {
        return false;
    }
    return film_region_is_untouched(entry, region) ||
           film_tell_touches(context, entry, frame, UINT32_MAX);
}

/* Arrives at `unit` and finds the region that begins there, *next. */
static inline bool
reach(film_context *context, film_stack_entry *entry, const film_frame *frame,
      uint32_t unit, film_region **next)
{
    film_region *region = entry->region;
    bool written;

    if (FILM_LIKELY(region != NULL && region->stop_place == unit && !entry->pending)) {
        written = (region->stop_writes <= entry->done ||
                   film_tell_writes(context, entry, frame,
                                    film_exit_writes(film_region_stops(region)),
                                    region->stop_writes)) &&
                  (film_region_is_untouched(entry, region) ||
                   film_tell_touches(context, entry, frame, UINT32_MAX));
        *next = film_region_next(region);
    }
    else {
        written = arrive(context, entry, frame, unit);
        *next = film_plan_region(entry->plan, unit);
    }
    return written;
}

static inline bool
begin_region(film_context *context, film_stack_entry *entry, const film_frame *frame,
             film_region *region)
{
    bool written = true;

    film_enter_region(entry, region);
    if (FILM_UNLIKELY(region != NULL && region->before != 0)) {
        const film_write *before = film_region_before(region);

        written = film_pending_begin(context, entry, frame, before,
                                     film_tell_in_flight(context, entry, before));
    }
    context->returned = NULL;
    return written;
}

FILM_HOT bool
film_observe_line(film_context *context, const film_frame *frame, uint32_t unit)
{
    film_stack_entry *entry = context->top;
    bool timed = film_the_session.options.line_times;
    film_region *next;

    if (FILM_UNLIKELY(entry->plan == NULL)) {
        return film_append_line(context->thread, unit, timed);
    }
    if (FILM_UNLIKELY(!reach(context, entry, frame, unit, &next) ||
                      !film_append_line(context->thread, unit, timed) ||
                      !begin_region(context, entry, frame, next))) {
        return false;
    }
    /* At a point both events come, the line's first. */
    entry->fresh = next != NULL && next->point;
    return true;
}

FILM_HOT bool
film_observe_point(film_context *context, const film_frame *frame, uint32_t unit)
{
    film_stack_entry *entry = context->top;
    film_region *next;

    if (entry->fresh) {
        entry->fresh = false;
        return true;
    }
    if (FILM_UNLIKELY((entry->plan->flags[unit] & FILM_PLACE_QUIET) != 0)) {
        bool written = film_observe_line(context, frame, unit); /* its event is off */

        entry->fresh = false;
        return written;
    }
    return reach(context, entry, frame, unit, &next) &&
           begin_region(context, entry, frame, next);
}

/* The line that the frame opens with is told, and something ran or was raised before
 * its first instruction: a signal's handler, at RESUME. */
static bool
is_before_opening(const film_stack_entry *entry, uint32_t place)
{
    return entry->plan->opening == entry->region->place && entry->plan->entry != NULL &&
           entry->plan->entry->place == place;
}

/* An event within the region: the writes before it. `entered`: code runs from within
 * the instruction, which may be a store whose slot is written already; or a finaliser
 * runs in the unwinding, and all is told. */
static FILM_HOT bool
tell_inside(film_context *context, film_stack_entry *entry, const film_frame *frame,
            uint32_t unit, bool entered)
{
    film_region *region = entry->region;
    uint32_t place;
    const film_inner *inner;

    if (region == NULL || (entered && entry->unwinding)) {
        return true;
    }
    place = film_plan_instruction(entry->plan, unit);
    if (FILM_UNLIKELY(entry->pending) && place != film_region_before(region)->place &&
        !film_pending_settle(context, entry)) {
        return false;
    }
    inner = film_region_inner_at(region, place);
    if (FILM_UNLIKELY(inner == NULL)) {
        /* 3.11: after an exception event the unwinding may still close generators
         * while the frame shows the raise; a RERAISE makes it show that again. */
        if ((!entered || (entry->raised != place + 1 && !region->reraises)) &&
            !is_before_opening(entry, place)) {
            note_unknown_edge(entry, frame);
        }
        return true;
    }
    return film_tell_writes(context, entry, frame, film_inner_writes(inner),
                            entered ? inner->count_entered : inner->count);
}

bool
film_observe_caller(film_context *context, const film_frame *callee)
{
    film_stack_entry *entry = context->top;
    const film_region *region = entry->region;
    const film_frame *frame;
    bool direct;
    uint32_t unit;

    if (region == NULL) {
        return true;
    }
    frame = film_frame_caller(callee);
    direct = film_frame_has_key(frame, entry->frame) && !film_frame_is_from_c(callee);
    if (FILM_LIKELY(direct && !region->early && !region->early_change &&
                    !entry->pending)) {
        return true;
    }
    if (!film_frame_has_key(frame, entry->frame) &&
        (frame = film_entry_frame(context, entry)) == NULL) {
        return true; /* it is no caller of this one: another greenlet's */
    }
    unit = film_frame_unit(frame, entry->first);
    return tell_inside(context, entry, frame, unit, true) &&
           (!region->early_change ||
            film_tell_early_changes(context, entry, frame, unit));
}

bool
film_observe_so_far(film_context *context, const film_frame *frame)
{
    film_stack_entry *entry = context->top;
    const film_region *region = entry->region;
    uint32_t unit;

    if (FILM_LIKELY(region == NULL ||
                    (!region->early && !region->early_change && !entry->pending))) {
        return true;
    }
    unit = film_frame_unit(frame, entry->first);
    return tell_inside(context, entry, frame, unit, true) &&
           (!region->early_change ||
            film_tell_early_changes(context, entry, frame, unit));
}

void
film_observe_resumed(film_context *context, uint32_t unit)
{
    film_stack_entry *entry = context->top;

    if (entry->plan != NULL) {
        film_enter_region(entry, film_plan_region(entry->plan, unit));
    }
}

uint32_t
film_observe_continued(const film_plan *plan, uint32_t unit)
{
    const film_region *found = NULL;

    for (uint32_t index = 0; plan != NULL && index < plan->region_count; index++) {
        const film_region *region = &plan->regions[index];

        /* Where several lead there, the nearest before it. */
        if (region->sent && (found == NULL || region->place <= unit) &&
            (film_region_stop_at(region, unit) != NULL ||
             film_region_inner_at(region, unit) != NULL)) {
            found = region;
        }
    }
    return found == NULL ? unit : found->place;
}

/* The line whose event is turned off and told with the return it consists of. */
static inline bool
tell_quiet_line(film_context *context, const film_frame *frame)
{
    const film_stack_entry *entry = context->top;
    uint32_t quiet;

    if (FILM_LIKELY(entry->region != NULL && !entry->region->quiet_ahead)) {
        return true;
    }
    quiet = film_plan_quiet_line(entry->plan, film_frame_unit(frame, entry->first));
    return quiet == 0 || film_observe_line(context, frame, quiet - 1);
}

/* What the top wrote before it leaves, and the value. */
static FILM_HOT bool
tell_leaving(film_context *context, const film_frame *frame, PyObject *value)
{
    film_stack_entry *entry = context->top;
    uint32_t unit = film_frame_unit(frame, entry->first);

    if (!tell_inside(context, entry, frame, unit, false)) {
        return false;
    }
    if (entry->region != NULL && !film_region_is_untouched(entry, entry->region) &&
        !film_tell_touches(context, entry, frame, unit)) {
        return false;
    }
    if (FILM_UNLIKELY(entry->suspends) && value != NULL) {
        value = film_async_yielded(value);
    }
    return film_tell_result(context, value);
}

FILM_HOT bool
film_observe_yield(film_context *context, const film_frame *frame, PyObject *value)
{
    if (FILM_LIKELY(context->top->plan != NULL) &&
        !(tell_quiet_line(context, frame) && tell_leaving(context, frame, value))) {
        return false;
    }
    return film_stack_yield_top(context, frame);
}

/* What a frame that has ended gives to its caller keeps its serial. */
static inline void
note_returned(film_context *context, const film_stack_entry *entry,
              const film_frame *frame, PyObject *value)
{
    if (entry->initialises) {
        value = film_frame_local(frame, 0);
    }
    else if (film_frame_is_from_c(frame)) {
        value = NULL; /* C code may drop it and give something else */
    }
    context->returned_unit = entry->site - 1;
    film_capture_returned(context, value);
}

/* A return of a value that needs no closer look, with nothing else to be told. */
static inline bool
return_quickly(film_context *context, const film_frame *frame, PyObject *value)
{
    film_stack_entry *entry = context->top;
    const film_region *region = entry->region;
    film_thread *thread = context->thread;
    uint32_t unit = film_frame_unit(frame, entry->first);
    const film_inner *inner;
    film_rows rows;
    uint8_t *to;

    if (FILM_UNLIKELY(region == NULL || region->inner_count == 0)) {
        return false;
    }
    inner = film_region_inner(region);
    if (FILM_UNLIKELY(inner->place != unit || inner->count > entry->done ||
                      entry->pending || entry->suspends ||
                      !film_append_is_ready(thread))) {
        return false;
    }
    rows = (film_rows){.end = thread->cursor};
    if (!film_region_is_untouched(entry, region) &&
        FILM_UNLIKELY(!film_commit_and_look(context, entry, frame, unit, &rows))) {
        return false;
    }
    to = rows.end + 1;
    if (FILM_UNLIKELY(!film_capture_quick(value, &to))) {
        return false;
    }
    film_append_put_values(rows.end, 1);
    film_append_commit(thread, film_append_put_return(thread, to, unit), 1);
    note_returned(context, entry, frame, value);
    context->top--;
    return true;
}

FILM_HOT bool
film_observe_return(film_context *context, const film_frame *frame, PyObject *value)
{
    if (!tell_quiet_line(context, frame)) {
        return false;
    }
    if (return_quickly(context, frame, value)) {
        return true;
    }
    if (!tell_leaving(context, frame, value)) {
        return false;
    }
    note_returned(context, context->top, frame, value);
    return film_stack_return_top(context, frame);
}

bool
film_observe_raise(film_context *context, const film_frame *frame, uint32_t unit)
{
    film_stack_entry *entry = context->top;

    if (entry->plan == NULL) {
        return true;
    }
    if (FILM_UNLIKELY(entry->pending) && entry->region != NULL &&
        film_plan_instruction(entry->plan, unit) ==
            film_region_before(entry->region)->place &&
        !film_pending_raised(context, entry)) {
        return false;
    }
    if (!tell_inside(context, entry, frame, unit, false) ||
        (entry->region != NULL && !film_region_is_untouched(entry, entry->region) &&
         !film_tell_touches(context, entry, frame, UINT32_MAX))) {
        return false;
    }
    entry->unwinding = unit >= entry->plan->unit_count ||
                       (film_plan_flags(entry->plan, unit) & FILM_PLACE_SWALLOWS) == 0;
    return true;
}

void
film_observe_handled(film_context *context, uint32_t unit, uint32_t raised_at)
{
    film_stack_entry *entry = context->top;

    if (entry->plan == NULL) {
        return;
    }
    film_pending_drop(context, entry);
    film_enter_region(entry, film_plan_region(entry->plan, unit));
    entry->raised = raised_at == FILM_PLAN_NO_PLACE
                        ? 0
                        : (uint16_t)(film_plan_instruction(entry->plan, raised_at) + 1);
}

bool
film_observe_unwind(film_context *context, const film_frame *frame)
{
    film_stack_entry *entry = context->top;
    const film_exit *exit;

    if (entry->plan == NULL || entry->dead || entry->region == NULL) {
        return true;
    }
    if (!tell_pending(context, entry)) {
        return false;
    }
    exit = film_region_stop_at(entry->region, FILM_PLAN_UNWINDS);
    if (exit == NULL) {
        note_unknown_edge(entry, frame);
        return true;
    }
    return film_tell_writes(context, entry, frame, film_exit_writes(exit),
                            exit->count) &&
           (film_region_is_untouched(entry, entry->region) ||
            film_tell_touches(context, entry, frame, UINT32_MAX));
}
