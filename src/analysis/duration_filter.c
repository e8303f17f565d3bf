/* duration_filter.c: a list of held events per thread, oldest first.
 * The oldest held event is always the entry of a call that is not shown yet, and
 * everything behind it happened inside that call.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/duration_filter.h"

#include <string.h>

#include "analysis/kinds.h"
#include "base/alloc.h"
#include "base/buffer.h"

typedef struct held {
    film_event event; /* a copy: the cursor moves on */
    uint64_t time_ns;
    size_t tokens_at; /* its values in the lane's, then its cells and restored */
} held;

typedef struct lane { /* one thread of one recording */
    held *items;      /* owned */
    size_t count, capacity;
    film_buffer tokens; /* values of the events held, oldest first */
    size_t recording;
    uint32_t thread;
} lane;

struct film_duration_filter {
    const film_recordings *set; /* borrowed */
    uint64_t at_least_ns;
    lane *lanes; /* owned */
    size_t count, capacity;
    size_t last; /* lane of the last event: mostly the next one's too */
};

film_status
film_duration_filter_new(const film_recordings *set, uint64_t at_least_ns,
                         film_duration_filter **out, film_error *error)
{
    *out = film_alloc(sizeof(**out));
    if (*out == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    (*out)->set = set;
    (*out)->at_least_ns = at_least_ns;
    return FILM_OK;
}

void
film_duration_filter_free(film_duration_filter *filter)
{
    if (filter != NULL) {
        for (size_t i = 0; i < filter->count; i++) {
            film_free(filter->lanes[i].items);
            film_buffer_reset(&filter->lanes[i].tokens);
        }
        film_free(filter->lanes);
        film_free(filter);
    }
}

/* Ops count as calls do. */
static bool
begins(uint8_t kind)
{
    return film_kind_enters(kind) || kind == FILM_KIND_OP;
}

static bool
ends(uint8_t kind)
{
    return film_kind_leaves(kind) || kind == FILM_KIND_OP_END;
}

/* Whether the held event began what the other one ends. */
static bool
is_beginning_of(const film_event *entry, const film_event *end)
{
    if (end->kind == FILM_KIND_OP_END) {
        return entry->kind == FILM_KIND_OP && entry->number == end->op;
    }
    return entry->frame == end->frame && film_kind_enters(entry->kind);
}

static lane *
lane_of(film_duration_filter *filter, const film_merged *merged)
{
    for (size_t i = 0; i < filter->count; i++) {
        size_t at = (filter->last + i) % filter->count;
        lane *found = &filter->lanes[at];
        if (found->recording == merged->recording &&
            found->thread == merged->event->thread) {
            filter->last = at;
            return found;
        }
    }
    if (filter->count == filter->capacity) {
        lane *grown = film_grow(filter->lanes, &filter->capacity, filter->count + 1,
                                sizeof(*grown));
        if (grown == NULL) {
            return NULL;
        }
        filter->lanes = grown;
    }
    filter->last = filter->count++;
    memset(&filter->lanes[filter->last], 0, sizeof(lane));
    filter->lanes[filter->last].recording = merged->recording;
    filter->lanes[filter->last].thread = merged->event->thread;
    return &filter->lanes[filter->last];
}

static void
drop_oldest(lane *from, size_t count)
{
    size_t gone =
        count == from->count ? from->tokens.length : from->items[count].tokens_at;

    memmove(from->items, from->items + count, (from->count - count) * sizeof(held));
    from->count -= count;
    if (gone > 0) {
        memmove(from->tokens.data, from->tokens.data + gone,
                from->tokens.length - gone);
        from->tokens.length -= gone;
        for (size_t i = 0; i < from->count; i++) {
            from->items[i].tokens_at -= gone;
        }
    }
}

/* What the cursor lent with the event lies with the lane. */
static void
point_at_kept(const lane *from, held *item)
{
    film_event *event = &item->event;
    const uint8_t *at = from->tokens.data;

    if (at == NULL) {
        return; /* none of those that are held has any */
    }
    at += item->tokens_at;
    event->tokens = event->tokens_length > 0 ? at : NULL;
    at += event->tokens_length;
    event->cells = event->cells_length > 0 ? at : NULL;
    at += event->cells_length;
    event->restored = event->restored_length > 0 ? at : NULL;
}

/* Gives the oldest held events that are certain at `now_ns`. */
static void
release(const film_duration_filter *filter, lane *from, uint64_t now_ns,
        film_duration_taker take, void *context)
{
    size_t given = 0;

    while (given < from->count) {
        held *oldest = &from->items[given];
        film_merged merged = {&oldest->event, NULL, from->recording, oldest->time_ns};

        if (begins(oldest->event.kind) &&
            now_ns - oldest->time_ns < filter->at_least_ns) {
            break;
        }
        point_at_kept(from, oldest);
        take(context, &merged);
        given++;
    }
    if (given > 0) {
        drop_oldest(from, given);
    }
}

static film_status
hold(lane *to, const film_merged *merged, film_error *error)
{
    if (to->count == to->capacity) {
        held *grown =
            film_grow(to->items, &to->capacity, to->count + 1, sizeof(*grown));
        if (grown == NULL) {
            return film_fail(error, FILM_NO_MEMORY, "not enough memory");
        }
        to->items = grown;
    }
    to->items[to->count].event = *merged->event;
    to->items[to->count].event.body = NULL; /* borrowed from the cursor */
    to->items[to->count].tokens_at = to->tokens.length;
    film_buffer_append(&to->tokens, merged->event->tokens,
                       merged->event->tokens_length);
    film_buffer_append(&to->tokens, merged->event->cells, merged->event->cells_length);
    film_buffer_append(&to->tokens, merged->event->restored,
                       merged->event->restored_length);
    if (to->tokens.failed) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    to->items[to->count].time_ns = merged->time_ns;
    to->count++;
    return FILM_OK;
}

/* Whether a call that is not held was long enough. One whose entry was given was; this
 * tells of those whose entry lies before the walk or before the recording. */
static bool
lasted(const film_duration_filter *filter, const film_merged *merged)
{
    const film_frame *closed = film_cursor_closed(merged->cursor);
    uint64_t enter_ns;

    if (closed == NULL) {
        return true;
    }
    enter_ns = film_reader_ticks_to_ns(filter->set->items[merged->recording].reader,
                                       closed->enter_tick);
    return merged->event->time_ns - enter_ns >= filter->at_least_ns;
}

film_status
film_duration_filter_add(film_duration_filter *filter, const film_merged *merged,
                         film_duration_taker take, void *context, film_error *error)
{
    const film_event *event = merged->event;
    lane *own = lane_of(filter, merged);

    if (own == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    release(filter, own, merged->time_ns, take, context);
    if (ends(event->kind)) {
        for (size_t i = own->count; i > 0; i--) {
            if (is_beginning_of(&own->items[i - 1].event, event)) {
                own->tokens.length = own->items[i - 1].tokens_at;
                own->count = i - 1; /* too short: it and all inside it go */
                return FILM_OK;
            }
        }
        if (event->kind != FILM_KIND_OP_END && !lasted(filter, merged)) {
            return FILM_OK;
        }
    }
    if (begins(event->kind) || own->count > 0) {
        FILM_TRY(hold(own, merged, error));
        return FILM_OK;
    }
    take(context, merged);
    return FILM_OK;
}

void
film_duration_filter_finish(film_duration_filter *filter, uint64_t end_ns,
                            film_duration_taker take, void *context)
{
    for (size_t i = 0; i < filter->count; i++) {
        release(filter, &filter->lanes[i], end_ns, take, context);
    }
}
