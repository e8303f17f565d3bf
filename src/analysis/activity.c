/* activity.c: keeps a stack of its own beside the cursor's and mends it where the two
 * disagree. The check costs two comparisons an event; only a disagreement looks at the
 * whole stack.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/activity.h"

#include "analysis/kinds.h"
#include "base/alloc.h"

typedef struct entry {
    uint64_t serial;   /* of the frame; 0 for a C function or an op */
    uint64_t op;       /* of an op, the number of its event + 1; else 0 */
    uint32_t function; /* as film_step.function */
} entry;

struct film_activity {
    film_cursor *cursor; /* owned */
    film_progress *progress;
    entry *entries; /* owned, outermost first */
    size_t count, capacity;
    size_t frames;           /* entries that are frames */
    uint64_t top_serial;     /* of the innermost frame; 0: none */
    const film_event *event; /* read, not yet given */
    size_t keep;             /* mending: entries that stay */
    bool mending, ended;
    uint64_t last_ns; /* time of the newest event, at the end the time to close at */
    uint64_t end_ns;
    uint64_t seen; /* events since progress was told */
};

film_status
film_activity_open(const film_recordings *set, size_t recording, uint32_t thread,
                   film_activity **out, film_error *error)
{
    film_reader *reader = set->items[recording].reader;
    film_activity *activity = film_alloc(sizeof(*activity));
    film_status status;

    *out = NULL;
    if (activity == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    status = film_cursor_open(reader, thread, 0, &activity->cursor, error);
    if (status != FILM_OK) {
        film_activity_close(activity);
        return status;
    }
    activity->progress = set->progress;
    activity->end_ns = film_reader_info(reader)->duration_ns;
    *out = activity;
    return FILM_OK;
}

void
film_activity_close(film_activity *activity)
{
    if (activity != NULL) {
        film_cursor_close(activity->cursor);
        film_free(activity->entries);
        film_free(activity);
    }
}

/* Whether our stack is what the cursor's was just before the event. */
static bool
agrees(const film_activity *activity, const film_event *event)
{
    const film_frame *stack;
    size_t depth;

    if (film_kind_enters(event->kind)) {
        if (activity->frames != event->depth) {
            return false;
        }
        if (event->depth == 0) {
            return true;
        }
        stack = film_cursor_stack(activity->cursor, &depth);
        return depth == event->depth + 1u &&
               stack[depth - 2].serial == activity->top_serial;
    }
    if (event->kind == FILM_KIND_LOST || event->kind == FILM_KIND_LOST_CONTROL) {
        return false; /* anything may have happened meanwhile */
    }
    if (event->frame == 0) {
        return true;
    }
    return activity->top_serial == event->frame &&
           activity->frames == event->depth + 1u;
}

/* Frame number `index` of the stack before the event; `count` tells how many. */
static const film_frame *
frame_before(const film_activity *activity, size_t index, size_t *count)
{
    size_t depth;
    const film_frame *stack = film_cursor_stack(activity->cursor, &depth);
    const film_frame *closed = NULL;

    if (film_kind_enters(activity->event->kind)) {
        depth -= depth > 0;
    }
    else if (film_kind_leaves(activity->event->kind)) {
        closed = film_cursor_closed(activity->cursor);
    }
    *count = depth + (closed != NULL);
    return index < depth ? &stack[index] : index == depth ? closed : NULL;
}

/* The entry of the op that an op_end ends, + 1; 0: it has none. */
static size_t
entry_of_op(const film_activity *activity, const film_event *event)
{
    for (size_t i = activity->count; event->kind == FILM_KIND_OP_END && i > 0; i--) {
        if (activity->entries[i - 1].op == event->op + 1) {
            return i;
        }
    }
    return 0;
}

static void
start_mending(film_activity *activity)
{
    size_t op = entry_of_op(activity, activity->event);

    size_t matched = 0; /* frames of ours that are also the cursor's */
    size_t count = 0;

    activity->keep = 0;
    activity->mending = true;
    for (size_t i = 0; i < activity->count; i++) {
        const film_frame *frame;
        if (activity->entries[i].serial == 0) {
            continue;
        }
        frame = frame_before(activity, matched, &count);
        if (frame == NULL || frame->serial != activity->entries[i].serial) {
            /* Frames within an op ended unseen, the op did not. */
            activity->keep = op > activity->keep && op <= i ? op : activity->keep;
            return;
        }
        matched++;
        activity->keep = i + 1;
    }
    activity->keep = activity->count; /* nothing of ours is gone */
}

static bool
push(film_activity *activity, uint64_t serial, uint64_t op, uint32_t function)
{
    if (activity->count == activity->capacity) {
        entry *grown = film_grow(activity->entries, &activity->capacity,
                                 activity->count + 1, sizeof(*grown));
        if (grown == NULL) {
            return false;
        }
        activity->entries = grown;
    }
    activity->entries[activity->count].serial = serial;
    activity->entries[activity->count].op = op;
    activity->entries[activity->count].function = function;
    activity->count++;
    if (serial != 0) {
        activity->frames++;
        activity->top_serial = serial;
    }
    return true;
}

static void
pop(film_activity *activity, film_step *step, uint8_t cause)
{
    const entry *top = &activity->entries[--activity->count];

    step->kind = FILM_STEP_LEAVE;
    step->function = top->function;
    step->cause = cause;
    if (top->serial != 0) {
        size_t below = activity->count;

        while (below > 0 && activity->entries[below - 1].serial == 0) {
            below--;
        }
        activity->frames--;
        activity->top_serial = below > 0 ? activity->entries[below - 1].serial : 0;
    }
}

/* Gives the next step that brings our stack to the cursor's; FILM_END when done. */
static film_status
mend(film_activity *activity, film_step *step, film_error *error)
{
    const film_frame *frame;
    size_t count = 0;

    step->event = NULL;
    step->time_ns = activity->last_ns;
    if (activity->count > activity->keep) {
        pop(activity, step, FILM_KIND_DROP);
        return FILM_OK;
    }
    frame = frame_before(activity, activity->frames, &count);
    if (frame == NULL || activity->frames >= count) {
        activity->mending = false;
        return FILM_END;
    }
    step->kind = FILM_STEP_ENTER;
    step->function = frame->code;
    step->cause = FILM_KIND_ADOPT;
    if (!push(activity, frame->serial, 0, frame->code)) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    activity->keep = activity->count;
    return FILM_OK;
}

static film_status
apply(film_activity *activity, film_step *step, film_error *error)
{
    const film_event *event = activity->event;
    bool top_is_c =
        activity->count > 0 && activity->entries[activity->count - 1].serial == 0;
    size_t op = entry_of_op(activity, event);
    bool pushed = true;

    step->time_ns = event->time_ns;
    step->cause = event->kind;
    step->event = event;
    if (film_kind_enters(event->kind)) {
        step->kind = FILM_STEP_ENTER;
        step->function = event->code;
        pushed = push(activity, event->frame, 0, event->code);
    }
    else if (film_kind_leaves(event->kind) && activity->top_serial == event->frame &&
             activity->count > 0) {
        if (top_is_c) { /* a C function or op whose end was not seen */
            step->event = NULL;
            pop(activity, step, FILM_KIND_DROP);
            return FILM_OK;
        }
        pop(activity, step, event->kind);
    }
    else if (event->kind == FILM_KIND_OP) {
        step->kind = FILM_STEP_ENTER;
        step->function = event->text | FILM_C_FUNCTION;
        pushed = push(activity, 0, event->number + 1, step->function);
    }
    else if (op != 0) {
        if (op < activity->count) { /* one within it, whose end was not seen */
            step->event = NULL;
            pop(activity, step, FILM_KIND_DROP);
            return FILM_OK;
        }
        pop(activity, step, event->kind);
    }
    else if (event->kind == FILM_KIND_C_CALL) {
        step->kind = FILM_STEP_ENTER;
        step->function = event->text | FILM_C_FUNCTION;
        pushed = push(activity, 0, 0, step->function);
    }
    else if ((event->kind == FILM_KIND_C_RETURN || event->kind == FILM_KIND_C_RAISE) &&
             top_is_c && activity->entries[activity->count - 1].op == 0) {
        pop(activity, step, event->kind);
    }
    else {
        step->kind = FILM_STEP_EVENT;
        step->function = event->code;
    }
    activity->event = NULL;
    if (!pushed) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    return FILM_OK;
}

static film_status
read_event(film_activity *activity, film_error *error)
{
    film_status status = film_cursor_next(activity->cursor, &activity->event, error);

    if (status != FILM_OK) {
        activity->event = NULL;
        film_progress_add(activity->progress, activity->seen);
        activity->seen = 0;
        return status;
    }
    if (++activity->seen == FILM_PROGRESS_STRIDE) {
        film_progress_add(activity->progress, activity->seen);
        activity->seen = 0;
    }
    activity->last_ns = activity->event->time_ns;
    if (!agrees(activity, activity->event)) {
        start_mending(activity);
    }
    return FILM_OK;
}

film_status
film_activity_next(film_activity *activity, film_step *step, film_error *error)
{
    film_status status;

    if (activity->event == NULL && !activity->ended) {
        status = read_event(activity, error);
        if (status == FILM_END) {
            activity->ended = true;
            if (activity->last_ns < activity->end_ns) {
                activity->last_ns = activity->end_ns;
            }
        }
        else if (status != FILM_OK) {
            return status;
        }
    }
    if (activity->ended) {
        if (activity->count == 0) {
            return FILM_END;
        }
        step->event = NULL;
        step->time_ns = activity->last_ns;
        pop(activity, step, FILM_KIND_NONE);
        return FILM_OK;
    }
    if (activity->mending) {
        status = mend(activity, step, error);
        if (status != FILM_END) {
            return status;
        }
    }
    return apply(activity, step, error);
}
