/* append.h: the hot path: one event, a few bytes, no lock.
 *
 * A row goes to the thread's own mapped window: bounds check, bytes, advance, release
 * store of the committed length. The bound lies in a page that reads zero after a fork
 * (MADV_WIPEONFORK), so a child falls into the slow path at its first event without
 * asking for its pid.
 *
 * Every film_append_* returns true when the row is committed; once the writer has
 * stopped, when it is counted as lost (drain.c). False: this is a forked child
 * (film_thread_is_foreign: abandon the writer and open one of your own).
 *
 * Frame numbers are kept by the caller in step with the rows: call and adopt give the
 * next serial (film_thread_next_frame before the append is the new frame's).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_APPEND_H
#define FILMSTRIP_APPEND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <filmstrip/event.h>

#include "base/clock.h"
#include "base/varint.h"
#include "format/row.h"
#include "format/token.h"
#include "format/window.h"
#include "writer/writer.h"

#define FILM_APPEND_TOKENS 60u /* bytes of tokens one row holds at most */
#define FILM_APPEND_COUNT 30u  /* tokens one VALUES row holds at most */
#define FILM_APPEND_ROOM 240u  /* bytes there is room for once film_append_ready */

/* The part of a thread's state the hot path touches; the rest is thread.c's. */
struct film_thread {
    uint8_t *cursor;            /* next free byte of the window */
    _Atomic(uint64_t) *limit;   /* address past which no row may begin; the word
                                   reads 0 in a forked child */
    film_window_header *window; /* current window; its rows follow */
    uint64_t last_raw;          /* raw clock of the last row */
    uint64_t next_frame;        /* serial of the next call */
    uint64_t last_resumed;      /* serial the next resume is relative to */
    uint64_t events;            /* events committed so far: the next one's number */
    const film_clock *clock;    /* borrowed from the writer */
    /* The thread whose row was the last of all; the writer's. Rows without a time have
     * that of the row before: the first one after others have run gets one, so that
     * what threads did can be put in order. */
    _Atomic(film_thread *) *running;
    bool is_track; /* others time its events (film_writer_track_begin) */
};

/* Makes room. False: this is a forked child. Out of line. */
bool
film_thread_make_room(film_thread *thread);

/* Notes that other threads have run since its last row. False as film_append_ready. */
bool
film_thread_take_over(film_thread *thread);

/* True in a forked child whose writer still belongs to the parent. */
bool
film_thread_is_foreign(const film_thread *thread);

/* A frame that this thread alone ran, and that was suspended, has ended without an event.
 */
void
film_thread_frame_gone(film_thread *thread, uint64_t serial);

static inline uint64_t
film_thread_next_frame(const film_thread *thread)
{
    return thread->next_frame;
}

static inline bool
film_append_ready(film_thread *thread)
{
    uint64_t limit = atomic_load_explicit(thread->limit, memory_order_relaxed);
    if (__builtin_expect((uint64_t)(uintptr_t)thread->cursor < limit, 1)) {
        if (__builtin_expect(
                atomic_load_explicit(thread->running, memory_order_relaxed) == thread,
                1)) {
            return true;
        }
        return film_thread_take_over(thread);
    }
    return film_thread_make_room(thread);
}

/* The same, but false where anything would have to be done first. */
static inline bool
film_append_is_ready(const film_thread *thread)
{
    return __builtin_expect(
        (uint64_t)(uintptr_t)thread->cursor <
                atomic_load_explicit(thread->limit, memory_order_relaxed) &&
            atomic_load_explicit(thread->running, memory_order_relaxed) == thread,
        1);
}

/* Writes the tag with the time from the last row to `raw`. */
static inline uint8_t *
film_append_put_tag_at(film_thread *thread, uint8_t *to, film_row_tag tag, uint64_t raw)
{
    uint64_t delta = raw > thread->last_raw ? raw - thread->last_raw : 0;

    thread->last_raw += delta;
    return film_row_put_tag(to, tag, delta);
}

/* Writes the tag with the time since the last row. */
static inline uint8_t *
film_append_put_tag(film_thread *thread, uint8_t *to, film_row_tag tag)
{
    return film_append_put_tag_at(thread, to, tag, film_clock_read(thread->clock));
}

static inline uint8_t *
film_append_tag(film_thread *thread, film_row_tag tag)
{
    return film_append_put_tag(thread, thread->cursor, tag);
}

static inline void
film_append_commit(film_thread *thread, uint8_t *end, unsigned events)
{
    thread->cursor = end;
    thread->events += events;
    /* Release: a reader of the file that sees the length sees the bytes. */
    atomic_store_explicit(&thread->window->committed,
                          (uint64_t)(end - film_window_rows(thread->window)),
                          memory_order_release);
}

/* The rows of the events that come most often, put to `to`, which is the cursor or
 * behind rows put before: within FILM_APPEND_ROOM one commit ends them all. They return
 * where the next one may begin. */

/* site: the caller's place in code units + 1, 0 when it is not known. */
static inline uint8_t *
film_append_put_call(film_thread *thread, uint8_t *to, uint32_t code, uint32_t site)
{
    to = film_append_put_tag(thread, to, FILM_ROW_CALL);
    to = film_varint_encode(to, code);
    thread->next_frame++;
    return film_varint_encode(to, site);
}

/* offset: the frame's place in code units. The frame is the top of the stack. */
static inline uint8_t *
film_append_put_return(film_thread *thread, uint8_t *to, uint32_t offset)
{
    to = film_append_put_tag(thread, to, FILM_ROW_RETURN);
    return film_varint_encode(to, offset);
}

/* A line of the top frame, with the time of the row before it. */
static inline uint8_t *
film_append_put_line(uint8_t *to, uint32_t offset)
{
    to = film_row_put_tag(to, FILM_ROW_LINE, 0);
    return film_varint_encode(to, offset);
}

/* The tag of `count` tokens (1 to 30) that belong to the next event. */
static inline void
film_append_put_values(uint8_t *to, uint32_t count)
{
    *to = (uint8_t)(count << 3 | FILM_ROW_VALUES);
}

/* One write: its tokens follow. number and form as token.h tells. */
static inline uint8_t *
film_append_put_set(uint8_t *to, film_set_form form, uint32_t number)
{
    to = film_row_put_tag(to, FILM_ROW_SET, 0);
    return film_varint_encode(to, (uint64_t)number << FILM_SET_SHIFT | (uint64_t)form);
}

static inline bool
film_append_call(film_thread *thread, uint32_t code, uint32_t site)
{
    if (!film_append_ready(thread)) {
        return false;
    }
    film_append_commit(thread, film_append_put_call(thread, thread->cursor, code, site),
                       1);
    return true;
}

static inline bool
film_append_return(film_thread *thread, uint32_t offset)
{
    if (!film_append_ready(thread)) {
        return false;
    }
    film_append_commit(thread, film_append_put_return(thread, thread->cursor, offset),
                       1);
    return true;
}

static inline bool
film_append_yield(film_thread *thread, uint32_t offset)
{
    uint8_t *to;

    if (!film_append_ready(thread)) {
        return false;
    }
    to = film_append_tag(thread, FILM_ROW_YIELD);
    to = film_varint_encode(to, offset);
    film_append_commit(thread, to, 1);
    return true;
}

static inline bool
film_append_resume(film_thread *thread, uint64_t frame, uint32_t code, uint32_t offset,
                   uint32_t site)
{
    uint8_t *to;

    if (!film_append_ready(thread)) {
        return false;
    }
    to = film_append_tag(thread, FILM_ROW_RESUME);
    to = film_varint_encode(to, film_zigzag((int64_t)(frame - thread->last_resumed)));
    to = film_varint_encode(to, code);
    to = film_varint_encode(to, offset);
    to = film_varint_encode(to, site);
    thread->last_resumed = frame;
    film_append_commit(thread, to, 1);
    return true;
}

/* A line begins at `offset` of the top frame. Without `timed` it has the time of the
 * row before it: the clock is most of what a line costs. */
static inline bool
film_append_line(film_thread *thread, uint32_t offset, bool timed)
{
    uint8_t *to;

    if (!film_append_ready(thread)) {
        return false;
    }
    to = timed ? film_append_tag(thread, FILM_ROW_LINE)
               : film_row_put_tag(thread->cursor, FILM_ROW_LINE, 0);
    to = film_varint_encode(to, offset);
    film_append_commit(thread, to, 1);
    return true;
}

/* One write: number and form as token.h tells. Its tokens go to where this returns, at
 * most FILM_APPEND_TOKENS bytes of them, and film_append_commit(thread, end, 1) ends
 * the row; nothing else may be appended in between. NULL: as false elsewhere. It has
 * the time of the row before it. */
static inline uint8_t *
film_append_begin_set(film_thread *thread, film_set_form form, uint32_t number)
{
    if (!film_append_ready(thread)) {
        return NULL;
    }
    return film_append_put_set(thread->cursor, form, number);
}

/* The same with the tokens at hand. */
static inline bool
film_append_set(film_thread *thread, film_set_form form, uint32_t number,
                const uint8_t *tokens, size_t length)
{
    uint8_t *to = film_append_begin_set(thread, form, number);

    if (to == NULL) {
        return false;
    }
    memcpy(to, tokens, length);
    film_append_commit(thread, to + length, 1);
    return true;
}

/* Tokens that belong to the next event: a call's arguments in the order of their slots,
 * the value of a return or yield. No event itself; arguments that do not fit one row
 * take several. Their tokens go to where this returns (NULL: as false elsewhere), at
 * most FILM_APPEND_TOKENS bytes; end_values ends the row. */
static inline uint8_t *
film_append_begin_values(film_thread *thread)
{
    return film_append_ready(thread) ? thread->cursor + 1 : NULL;
}

/* `count` tokens (1 to 30) have been written, up to `end`. */
static inline void
film_append_end_values(film_thread *thread, uint32_t count, uint8_t *end)
{
    film_append_put_values(thread->cursor, count);
    film_append_commit(thread, end, 0);
}

/* The same with the tokens at hand. */
static inline bool
film_append_values(film_thread *thread, uint32_t count, const uint8_t *tokens,
                   size_t length)
{
    uint8_t *to = film_append_begin_values(thread);

    if (to == NULL) {
        return false;
    }
    memcpy(to, tokens, length);
    film_append_end_values(thread, count, to + length);
    return true;
}

/* As film_append_set, without the value's token. */
bool
film_append_delete(film_thread *thread, film_set_form form, uint32_t number,
                   const uint8_t *tokens, size_t length);

/* An object's content changed in place: the token of its new content; what its length
 * was before, -1 where it has none; cut: it could not be compared in full and may have
 * changed. */
bool
film_append_change(film_thread *thread, const uint8_t *token, size_t length,
                   int64_t length_before, bool cut);

/* Rare rows, out of line (thread.c). Offsets are code units or FILM_NO_OFFSET;
 * type is a string id, message a value id + 1 or 0. */
bool
film_append_throw(film_thread *thread, uint64_t frame, uint32_t code, uint32_t offset,
                  uint32_t site, uint32_t type, uint64_t message);

/* kind: FILM_KIND_RAISE, FILM_KIND_UNWIND (closes the top frame) or
 * FILM_KIND_HANDLED. */
bool
film_append_exception(film_thread *thread, film_kind kind, uint32_t offset,
                      uint32_t type, uint64_t message);

/* kind: FILM_KIND_C_CALL, FILM_KIND_C_RETURN or FILM_KIND_C_RAISE; function is a
 * string id; offset the place of the call. */
bool
film_append_c(film_thread *thread, film_kind kind, uint32_t function, uint32_t offset);

/* What an op row tells (docs/format.md); its arguments are told before it, by values
 * rows. */
typedef struct film_op_row {
    uint32_t function; /* string ids */
    uint32_t names, module, api;
    uint32_t offset;     /* of the top frame, or FILM_NO_OFFSET */
    uint32_t positional; /* how many of the values before it */
    uint64_t sequence;   /* autograd's number + 1; 0: none */
    uint8_t flags;       /* FILM_OPERATION_ */
} film_op_row;

#define FILM_OP_BODY_BYTES (7 * FILM_VARINT_MAX + 1)

static inline uint8_t *
film_append_put_op_body(uint8_t *to, const film_op_row *op)
{
    to = film_varint_encode(to, op->function);
    to = film_varint_encode(to, (uint32_t)(op->offset + 1));
    *to++ = op->flags;
    to = film_varint_encode(to, op->positional);
    to = film_varint_encode(to, op->names);
    to = film_varint_encode(to, op->module);
    to = film_varint_encode(to, op->api);
    return film_varint_encode(to, op->sequence);
}

/* Both go to `to`, which is the cursor or behind rows put before it (film_append_commit
 * ends them all, with one event more); they return where the next row may begin. */
static inline uint8_t *
film_append_put_op(film_thread *thread, uint8_t *to, const film_op_row *op)
{
    uint8_t *length;

    to = film_append_put_tag(thread, to, FILM_ROW_EXT);
    *to++ = (uint8_t)FILM_KIND_OP;
    length = to++; /* below 128: a varint of one byte */
    to = film_append_put_op_body(to, op);
    *length = (uint8_t)(to - length - 1);
    return to;
}

/* `distance`: how many events of the thread ago the op began; flags: FILM_OPERATION_RAISED.
 */
static inline uint8_t *
film_append_put_op_end(film_thread *thread, uint8_t *to, uint64_t distance,
                       uint8_t flags, uint32_t type, uint64_t message)
{
    uint8_t *length;

    to = film_append_put_tag(thread, to, FILM_ROW_EXT);
    *to++ = (uint8_t)FILM_KIND_OP_END;
    length = to++;
    to = film_varint_encode(to, distance);
    *to++ = flags;
    to = film_varint_encode(to, type);
    to = film_varint_encode(to, message);
    *length = (uint8_t)(to - length - 1);
    return to;
}

bool
film_append_op(film_thread *thread, const film_op_row *op);

bool
film_append_op_end(film_thread *thread, uint64_t distance, uint8_t flags, uint32_t type,
                   uint64_t message);

/* The same for what ran on a track, at the raw time it began and ended: not before what
 * was appended before it. `count` values (at most 30, FILM_APPEND_TOKENS bytes) are its
 * arguments. */
bool
film_track_op(film_thread *track, uint64_t raw, const film_op_row *op, uint32_t count,
              const uint8_t *tokens, size_t length);

bool
film_track_op_end(film_thread *track, uint64_t raw, uint64_t distance);

bool
film_append_task(film_thread *thread, uint64_t id, uint32_t name);

/* kind: FILM_KIND_LOST or FILM_KIND_LOST_CONTROL; reason is a string id. */
bool
film_append_lost(film_thread *thread, film_kind kind, uint64_t count, uint32_t reason);

/* Which cells the function has that is called next (format/cells.h): before its
 * arguments, at most FILM_APPEND_CELLS bytes; what does not fit takes another row. No
 * event. */
#define FILM_APPEND_CELLS 60u

bool
film_append_cells(film_thread *thread, const uint8_t *body, size_t length);

/* A comprehension has given the variable `slot` of the top frame back what it held
 * before, as this token says (UNBOUND: nothing), and the cell it was; 0: none, or none
 * that was told of. No event. */
bool
film_append_restored(film_thread *thread, uint32_t slot, const uint8_t *token,
                     size_t length, uint64_t cell);

/* Adjustments, no events. adopt: a frame whose call was not recorded becomes the top
 * (it takes the next serial). focus: the open frame `distance` below the top becomes
 * the top. drop: that frame ended unseen. distance 0 is the top. */
bool
film_append_adopt(film_thread *thread, uint32_t code, uint32_t offset);

bool
film_append_focus(film_thread *thread, uint32_t distance);

bool
film_append_drop(film_thread *thread, uint32_t distance);

#endif
