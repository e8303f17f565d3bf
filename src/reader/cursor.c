/* cursor.c: walking the events of one thread, from any number on.
 *
 * A cursor stands in a chunk (its own unpacked copy), in the windows behind the last
 * chunk, or nowhere: then the next call finds the place of event number `next` anew,
 * from the nearest keyframe. After a refresh of the reader a cursor in the windows
 * stands nowhere; one in a chunk goes on.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/alloc.h"
#include "format/columns.h"
#include "format/window.h"
#include "reader/reader_state.h"

typedef enum cursor_place { NOWHERE, IN_CHUNK, IN_TAIL, AT_END } cursor_place;

struct film_cursor {
    film_column_reader columns; /* borrows from raw */
    film_state state;
    film_event event;
    cursor_place place;
    bool has_state; /* the state is that behind event next - 1 */
    bool loose;     /* in the tail: part of the stack is not known */
    bool unsynced;  /* in the tail: frame numbers come with the next row */
    bool pending;   /* `event` was met while seeking and is to be given first */
    uint32_t thread;
    uint64_t next;         /* number of the next event */
    uint64_t chunk_end;    /* of the chunk it is in */
    film_chunk_info chunk; /* as the directory has it */
    size_t chunk_number;   /* its index there */
    uint64_t generation;   /* of the reader when the tail was entered */
    film_reader *reader;   /* borrowed */
    film_buffer raw;       /* payload of the chunk */
    film_tail tail;
};

/* Makes the `lost` event that stands for `count` events from `next` on. */
static void
give_lost(film_cursor *cursor, uint64_t count, uint64_t reason, uint64_t not_before_ns)
{
    film_event *event = &cursor->event;
    uint64_t time_ns = cursor->state.tick * cursor->state.tick_ns;

    memset(event, 0, sizeof(*event));
    event->number = cursor->next;
    event->time_ns = time_ns > not_before_ns ? time_ns : not_before_ns;
    event->count = count;
    event->thread = cursor->thread;
    event->code = FILM_NO_CODE;
    event->offset = FILM_NO_OFFSET;
    event->caller_code = FILM_NO_CODE;
    event->caller_offset = FILM_NO_OFFSET;
    event->text = FILM_STRING_LOST + (uint32_t)(reason & 0xff);
    event->kind = FILM_KIND_LOST;
    cursor->state.has_closed = false;
    film_state_forget_values(&cursor->state);
}

/* The rest of the chunk cannot be read: one event tells so, the next chunk's keyframe
 * goes on. */
static void
give_up_chunk(film_cursor *cursor, const char *why)
{
    film_reader *reader = cursor->reader;
    uint64_t reason = FILM_LOST_DAMAGED;

    if (reader->loader.overwritten) {
        reason = FILM_LOST_OVERWRITTEN;
        reader->loader.overwritten = false;
    }
    else {
        film_reader_note(reader, &cursor->chunk, cursor->chunk_number, why);
    }
    give_lost(cursor, cursor->chunk_end - cursor->next, reason, cursor->chunk.first_ns);
    cursor->next = cursor->chunk_end;
    cursor->state.depth = 0;
    cursor->has_state = false;
    cursor->place = NOWHERE;
}

/* Loads the chunk and brings the state to its first row. FILM_CORRUPT (or TRUNCATED,
 * UNSUPPORTED): it cannot be read, loader.why says why. */
static film_status
load_chunk(film_cursor *cursor, const film_track *track, size_t index)
{
    film_reader *reader = cursor->reader;
    const film_chunk_info *chunk = &reader->directory.chunks[index];

    cursor->chunk = *chunk;
    cursor->chunk_number = index;
    cursor->chunk_end = chunk->first + chunk->count;
    FILM_TRY(film_loader_load(&reader->loader, chunk));
    FILM_TRY(film_loader_payload(&reader->loader, &cursor->raw));
    if (!cursor->has_state || cursor->state.event != chunk->first) {
        film_status status = film_reader_keyframe(reader, track, chunk, &cursor->state);
        if (status != FILM_OK) {
            reader->loader.why = "its keyframe makes no sense";
            return status;
        }
        cursor->has_state = true;
    }
    reader->loader.why = "its columns make no sense";
    return film_column_reader_init(&cursor->columns, cursor->raw.data,
                                   cursor->raw.length);
}

/* Applies rows up to event `until`. FILM_END: the chunk has fewer. */
static film_status
pass_rows(film_cursor *cursor, uint64_t until)
{
    film_row row;
    bool is_event;

    while (cursor->state.event < until) {
        FILM_TRY(film_column_reader_next(&cursor->columns, &row));
        FILM_TRY(film_state_apply(&cursor->state, &row, &cursor->event, &is_event));
    }
    return FILM_OK;
}

static bool
is_damage(film_status status)
{
    return status == FILM_CORRUPT || status == FILM_TRUNCATED ||
           status == FILM_UNSUPPORTED || status == FILM_END;
}

static film_status
failure(film_status status, film_error *error)
{
    return status == FILM_NO_MEMORY
               ? film_fail(error, status, "memory ran out")
               : film_fail(error, status, "the recording cannot be read");
}

/* FILM_OK: in the chunk, before event `next`; FILM_CORRUPT: a lost event is made. */
static film_status
enter_chunk(film_cursor *cursor, const film_track *track, size_t index,
            film_error *error)
{
    film_status status = load_chunk(cursor, track, index);

    if (status == FILM_OK) {
        status = pass_rows(cursor, cursor->next);
        cursor->reader->loader.why = "its rows make no sense";
    }
    if (status == FILM_OK) {
        cursor->place = IN_CHUNK;
        return FILM_OK;
    }
    if (is_damage(status)) {
        give_up_chunk(cursor, cursor->reader->loader.why);
        return FILM_CORRUPT;
    }
    cursor->has_state = false;
    return failure(status, error);
}

/* The state behind the last chunk, where the windows go on. */
static film_status
reach_tail(film_cursor *cursor, const film_track *track, film_error *error)
{
    uint64_t begin = track->sealed_end;
    film_status status = FILM_CORRUPT;

    if (track->chunk_count > 0) {
        status = load_chunk(cursor, track, track->chunks[track->chunk_count - 1]);
        if (status == FILM_OK) {
            status = pass_rows(cursor, begin);
        }
        if (status != FILM_OK && !is_damage(status)) {
            cursor->has_state = false;
            return failure(status, error);
        }
    }
    if (status != FILM_OK) {
        uint64_t tick = cursor->state.tick;
        film_state_begin(&cursor->state, cursor->thread,
                         cursor->reader->file.block.tick_ns);
        cursor->state.event = begin;
        cursor->state.tick = tick;
        cursor->loose = cursor->unsynced = begin > 0;
    }
    cursor->has_state = true;
    return FILM_OK;
}

/* Applies a row of a window. What cannot be is shown all the same: with a part of the
 * past missing, a return may have no frame to close. */
static film_status
apply_loosely(film_cursor *cursor, film_row *row, bool *is_event)
{
    const film_superblock *block = &cursor->reader->file.block;
    film_state *state = &cursor->state;
    uint64_t tick =
        film_timescale_ns(&block->timescale, cursor->tail.raw) / block->tick_ns;
    film_status status;

    if (cursor->unsynced) {
        state->next_frame = cursor->tail.next_frame;
        state->last_resumed = cursor->tail.last_resumed;
        cursor->unsynced = false;
    }
    row->delta = tick > state->tick ? tick - state->tick : 0;
    status = film_state_apply(state, row, &cursor->event, is_event);
    if (status == FILM_OK || status == FILM_NO_MEMORY) {
        return status;
    }
    cursor->loose = true;
    if (*is_event) {
        cursor->event.frame = 0;
        cursor->event.code = FILM_NO_CODE;
        state->has_closed = false;
    }
    return FILM_OK;
}

/* The next event of the windows, into cursor->event. FILM_END. */
static film_status
step_tail(film_cursor *cursor, film_error *error)
{
    const film_track *track = cursor->tail.track;
    bool is_event = false;

    do {
        film_row row;
        uint64_t missing;
        film_status status = film_tail_next(&cursor->tail, &row, &missing);
        if (status == FILM_END) {
            if (cursor->next != track->rows_end || track->tail_lost == 0) {
                return FILM_END;
            }
            give_lost(cursor, track->tail_lost, track->tail_lost_reason, 0);
            cursor->next++;
            return FILM_OK;
        }
        if (missing > 0) {
            cursor->next = cursor->tail.event - missing;
            give_lost(cursor, missing, FILM_LOST_MISSING, 0);
            cursor->next = cursor->state.event = cursor->tail.event;
            cursor->state.depth = 0;
            cursor->loose = cursor->unsynced = true;
            return FILM_OK;
        }
        if (apply_loosely(cursor, &row, &is_event) != FILM_OK) {
            return failure(FILM_NO_MEMORY, error);
        }
    } while (!is_event);
    cursor->next = cursor->state.event;
    return FILM_OK;
}

static film_status
enter_tail(film_cursor *cursor, const film_track *track, film_error *error)
{
    uint64_t wanted = cursor->next;

    if (wanted >= track->info.end_event) {
        cursor->place = AT_END;
        return FILM_OK;
    }
    if (!cursor->has_state || cursor->state.event != track->sealed_end ||
        wanted != track->sealed_end) {
        cursor->loose = cursor->unsynced = false;
        cursor->has_state = false;
        FILM_TRY(reach_tail(cursor, track, error));
    }
    film_tail_begin(&cursor->tail, track, track->sealed_end);
    cursor->next = track->sealed_end;
    while (cursor->next < wanted) {
        film_status status = step_tail(cursor, error);
        if (status != FILM_OK) {
            cursor->place = status == FILM_END ? AT_END : NOWHERE;
            cursor->next = wanted;
            cursor->has_state = false;
            return status == FILM_END ? FILM_OK : status;
        }
        if (cursor->next > wanted && cursor->event.kind == FILM_KIND_LOST) {
            cursor->pending = true; /* the loss that `wanted` is a part of */
        }
    }
    cursor->place = IN_TAIL;
    return FILM_OK;
}

/* The first chunk of the track that ends behind `event`; chunk_count if none. */
static size_t
find_chunk(const film_reader *reader, const film_track *track, uint64_t event)
{
    size_t low = 0, high = track->chunk_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const film_chunk_info *chunk = &reader->directory.chunks[track->chunks[middle]];
        if (chunk->first + chunk->count <= event) {
            low = middle + 1;
        }
        else {
            high = middle;
        }
    }
    return low;
}

/* Finds the place of event `next`. FILM_OK: place is set; FILM_CORRUPT: what is there
 * cannot be read, cursor->event says so. */
static film_status
find_place(film_cursor *cursor, film_error *error)
{
    film_reader *reader = cursor->reader;
    const film_track *track = film_tracks_find(&reader->tracks, cursor->thread);
    const film_chunk_info *chunk;
    size_t at;

    cursor->generation = reader->generation;
    cursor->place = AT_END;
    if (track == NULL) {
        return FILM_OK;
    }
    if (cursor->next < track->info.first_event) {
        cursor->next = track->info.first_event;
        cursor->has_state = false;
    }
    at = find_chunk(reader, track, cursor->next);
    if (at == track->chunk_count) {
        return enter_tail(cursor, track, error);
    }
    chunk = &reader->directory.chunks[track->chunks[at]];
    if (chunk->first > cursor->next) {
        give_lost(cursor, chunk->first - cursor->next, FILM_LOST_MISSING, 0);
        cursor->next = chunk->first;
        cursor->state.depth = 0;
        cursor->has_state = false;
        cursor->place = NOWHERE;
        return FILM_CORRUPT;
    }
    return enter_chunk(cursor, track, track->chunks[at], error);
}

/* Everything but the next row of the chunk at hand. */
static film_status
next_elsewhere(film_cursor *cursor, film_error *error)
{
    film_status status;

    if (cursor->pending) {
        cursor->pending = false;
        return FILM_OK;
    }
    if (cursor->place != NOWHERE && cursor->generation != cursor->reader->generation) {
        cursor->place = NOWHERE;
        cursor->has_state = false;
    }
    while (cursor->place == NOWHERE) {
        status = find_place(cursor, error);
        if (status == FILM_CORRUPT) {
            return FILM_OK;
        }
        FILM_TRY(status);
        if (cursor->place == IN_CHUNK) {
            return FILM_TRUNCATED; /* the caller's loop goes on there */
        }
    }
    if (cursor->pending) {
        cursor->pending = false;
        return FILM_OK;
    }
    if (cursor->place == AT_END) {
        return FILM_END;
    }
    status = step_tail(cursor, error);
    if (status == FILM_END) {
        cursor->place = AT_END;
        cursor->state.has_closed = false;
    }
    return status;
}

/* The chunk gave no row. True: it ended as it should. */
static bool
is_whole(const film_cursor *cursor, film_status status)
{
    return status == FILM_END && cursor->state.event == cursor->chunk_end;
}

film_status
film_cursor_next(film_cursor *cursor, const film_event **event, film_error *error)
{
    film_status status;

    *event = &cursor->event;
    for (;;) {
        while (cursor->place == IN_CHUNK) {
            film_row row;
            bool is_event;
            status = film_column_reader_next(&cursor->columns, &row);
            if (__builtin_expect(status == FILM_OK, 1)) {
                status =
                    film_state_apply(&cursor->state, &row, &cursor->event, &is_event);
                if (__builtin_expect(status == FILM_OK && is_event &&
                                         cursor->next < cursor->chunk_end,
                                     1)) {
                    cursor->next++;
                    return FILM_OK;
                }
                if (status == FILM_OK && !is_event) {
                    continue;
                }
                if (status == FILM_NO_MEMORY) {
                    cursor->place = NOWHERE;
                    cursor->has_state = false;
                    return failure(status, error);
                }
                status = FILM_CORRUPT;
            }
            if (cursor->next >= cursor->chunk_end) {
                cursor->has_state = is_whole(cursor, status);
                cursor->place = NOWHERE;
            }
            else {
                give_up_chunk(cursor, "its rows make no sense");
                return FILM_OK;
            }
        }
        status = next_elsewhere(cursor, error);
        if (status != FILM_TRUNCATED) {
            return status;
        }
    }
}

film_status
film_cursor_open(film_reader *reader, uint32_t thread, uint64_t first,
                 film_cursor **out, film_error *error)
{
    film_cursor *cursor;

    film_status status;

    *out = NULL;
    cursor = film_alloc(sizeof(*cursor));
    if (cursor == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    cursor->reader = reader;
    cursor->thread = thread;
    cursor->next = first;
    film_state_begin(&cursor->state, thread, reader->file.block.tick_ns);
    /* At once, so that the stack before the first event is there. */
    status = find_place(cursor, error);
    if (status == FILM_CORRUPT) {
        cursor->pending = true;
        status = FILM_OK;
    }
    if (status != FILM_OK) {
        film_cursor_close(cursor);
        return status;
    }
    *out = cursor;
    return FILM_OK;
}

void
film_cursor_close(film_cursor *cursor)
{
    if (cursor != NULL) {
        film_state_reset(&cursor->state);
        film_buffer_reset(&cursor->raw);
        film_free(cursor);
    }
}

const film_frame *
film_cursor_stack(const film_cursor *cursor, size_t *depth)
{
    *depth = cursor->state.depth;
    return cursor->state.frames;
}

const film_frame *
film_cursor_closed(const film_cursor *cursor)
{
    return cursor->state.has_closed ? &cursor->state.closed : NULL;
}
