/* thread.c: a thread's stream: beginning and ending it, changing windows, rare rows.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/alloc.h"
#include "format/records.h"
#include "writer/writer_state.h"

/* The widest row a caller could build: two token rows may pass FILM_ROW_MAX by a
 * little if their names' ids are huge. */
_Static_assert(FILM_APPEND_ROOM >= FILM_ROW_MAX + 16u, "no room for a row");

static film_thread_stream *
stream_of(film_thread *thread)
{
    return (film_thread_stream *)(void *)thread;
}

bool
film_thread_is_foreign(const film_thread *thread)
{
    const film_thread_stream *owner = (const film_thread_stream *)(const void *)thread;

    return !film_limits_are_ours(owner->writer);
}

/* Points the hot part at a window. */
static void
use_window(film_thread_stream *thread, film_window *window)
{
    uint8_t *rows = film_window_rows(window->header);
    uint8_t *end = (uint8_t *)window->header + FILM_WINDOW_BYTES - FILM_APPEND_ROOM;

    thread->hot.window = window->header;
    thread->hot.cursor = rows;
    atomic_store_explicit(thread->hot.limit, (uint64_t)(uintptr_t)end,
                          memory_order_relaxed);
}

static film_window_start
next_start(const film_thread_stream *thread)
{
    film_window_start start = {.first = thread->hot.events,
                               .base_raw = thread->hot.last_raw,
                               .next_frame = thread->hot.next_frame,
                               .last_resumed = thread->hot.last_resumed};
    return start;
}

bool
film_thread_make_room(film_thread *hot)
{
    film_thread_stream *thread = stream_of(hot);
    film_writer *writer = thread->writer;
    film_window_start start = next_start(thread);
    film_window *window;

    if (!film_limits_are_ours(writer)) {
        return false;
    }
    window = thread->drain.used
                 ? NULL
                 : film_stream_next_window(writer, &thread->stream, &start);
    if (window == NULL) {
        film_drain_next(thread);
    }
    else {
        use_window(thread, window);
    }
    return atomic_load_explicit(hot->running, memory_order_relaxed) == hot ||
           film_thread_take_over(hot);
}

bool
film_thread_take_over(film_thread *thread)
{
    uint8_t *to;

    atomic_store_explicit(thread->running, thread, memory_order_relaxed);
    if (thread->events == 0 || thread->is_track) {
        return true; /* its start, or each of its rows, has a time */
    }
    to = film_append_tag(thread, FILM_ROW_EXT);
    *to++ = FILM_KIND_PAUSE;
    *to++ = 0;
    film_append_commit(thread, to, 0);
    return film_append_ready(thread);
}

static void
put_thread_record(film_writer *writer, film_thread_stream *thread, uint32_t name,
                  uint64_t native_id)
{
    film_buffer body = {0}; /* its own: the thread need not have the GIL */

    film_buffer_put_varint(&body, thread->stream.id);
    film_buffer_put_varint(&body, name);
    film_buffer_put_varint(&body, native_id);
    film_buffer_put_varint(&body, thread->hot.last_raw);
    film_table_append(writer, FILM_RECORD_THREAD, &body);
    film_buffer_reset(&body);
}

/* A row of kind EXT; body is at most FILM_ROW_MAX bytes. Without `timed` it has the
 * time of the row before it. */
static bool
append_row(film_thread *thread, film_kind kind, const uint8_t *body, const uint8_t *end,
           unsigned events, bool timed)
{
    uint8_t *to;
    size_t length = (size_t)(end - body);

    if (!film_append_ready(thread)) {
        return false;
    }
    to = timed ? film_append_tag(thread, FILM_ROW_EXT)
               : film_row_put_tag(thread->cursor, FILM_ROW_EXT, 0);
    *to++ = (uint8_t)kind;
    *to++ = (uint8_t)length; /* below 128: a varint of one byte */
    memcpy(to, body, length);
    film_append_commit(thread, to + length, events);
    return true;
}

/* The same at a time that is given: not before the row before it. */
static bool
append_row_at(film_thread *thread, film_kind kind, const uint8_t *body,
              const uint8_t *end, unsigned events, uint64_t raw)
{
    uint8_t *to;
    size_t length = (size_t)(end - body);

    if (!film_append_ready(thread)) {
        return false;
    }
    to = film_append_put_tag_at(thread, thread->cursor, FILM_ROW_EXT, raw);
    *to++ = (uint8_t)kind;
    *to++ = (uint8_t)length;
    memcpy(to, body, length);
    film_append_commit(thread, to + length, events);
    return true;
}

static bool
append_ext(film_thread *thread, film_kind kind, const uint8_t *body, const uint8_t *end,
           unsigned events)
{
    return append_row(thread, kind, body, end, events, true);
}

static film_thread *
begin_at(film_writer *writer, const char *name, uint64_t native_id, uint64_t raw,
         bool is_track)
{
    film_thread_stream *thread;
    film_window_start start;
    bool drains;
    uint32_t name_id = film_writer_passing_name(writer, name, strlen(name));
    uint8_t body[2 * FILM_VARINT_MAX], *end;

    thread = film_alloc(sizeof(*thread));
    if (thread == NULL) {
        return NULL;
    }
    pthread_mutex_lock(&writer->lock);
    thread->writer = writer;
    thread->stream.id = writer->thread_count + 1;
    film_state_begin(&thread->stream.state, thread->stream.id, writer->block.tick_ns);
    if (writer->block.level >= FILM_LEVEL_VALUES) {
        thread->stream.state.locals = &writer->locals;
    }
    thread->hot.clock = &writer->clock;
    thread->hot.running = &writer->running;
    thread->hot.is_track = is_track;
    thread->hot.last_raw = raw;
    thread->stream.raw = thread->hot.last_raw;
    thread->hot.next_frame = thread->stream.state.next_frame;
    thread->hot.last_resumed = thread->stream.state.last_resumed;
    thread->hot.limit = film_limits_take(writer);
    start = next_start(thread);
    if (thread->hot.limit == NULL) {
        pthread_mutex_unlock(&writer->lock);
        film_free(thread);
        return NULL;
    }
    drains = film_writer_stopped(writer) ||
             !film_stream_begin(writer, &thread->stream, &start);
    writer->thread_count++;
    thread->stream.next = writer->threads;
    writer->threads = &thread->stream;
    if (!drains) {
        use_window(thread, thread->stream.current);
    }
    pthread_mutex_unlock(&writer->lock);
    if (drains) {
        film_drain_next(thread);
    }
    else {
        put_thread_record(writer, thread, name_id, native_id);
    }
    end = film_varint_encode(body, name_id);
    end = film_varint_encode(end, native_id);
    append_row_at(&thread->hot, FILM_KIND_THREAD_START, body, end, 1,
                  is_track ? raw : film_clock_read(&writer->clock));
    return &thread->hot;
}

film_thread *
film_writer_thread_begin(film_writer *writer, const char *name, uint64_t native_id)
{
    return begin_at(writer, name, native_id, film_clock_read(&writer->clock), false);
}

film_thread *
film_writer_track_begin(film_writer *writer, const char *name, uint64_t raw)
{
    return begin_at(writer, name, 0, raw, true);
}

void
film_writer_thread_end(film_thread *thread)
{
    film_thread_stream *own = stream_of(thread);
    film_writer *writer = own->writer;
    uint8_t none = 0;

    if (!film_limits_are_ours(writer)) {
        return;
    }
    append_ext(thread, FILM_KIND_THREAD_END, &none, &none, 1);
    pthread_mutex_lock(&writer->lock);
    own->stream.ended = true;
    if (own->stream.current == NULL) {
        film_drain_settle(writer);
        film_stream_forget(writer, &own->stream);
    }
    else {
        own->stream.current->end = film_thread_kept(own);
        film_sealer_queue(writer, &own->stream);
    }
    pthread_mutex_unlock(&writer->lock);
}

bool
film_append_throw(film_thread *thread, uint64_t frame, uint32_t code, uint32_t offset,
                  uint32_t site, uint32_t type, uint64_t message)
{
    uint8_t body[6 * FILM_VARINT_MAX], *end;
    uint64_t delta = film_zigzag((int64_t)(frame - thread->last_resumed));

    end = film_varint_encode(body, delta);
    end = film_varint_encode(end, code);
    end = film_varint_encode(end, offset);
    end = film_varint_encode(end, site);
    end = film_varint_encode(end, type);
    end = film_varint_encode(end, message);
    if (!append_ext(thread, FILM_KIND_THROW, body, end, 1)) {
        return false;
    }
    thread->last_resumed = frame;
    return true;
}

bool
film_append_exception(film_thread *thread, film_kind kind, uint32_t offset,
                      uint32_t type, uint64_t message)
{
    uint8_t body[3 * FILM_VARINT_MAX], *end;

    end = film_varint_encode(body, (uint32_t)(offset + 1));
    end = film_varint_encode(end, type);
    end = film_varint_encode(end, message);
    return append_ext(thread, kind, body, end, 1);
}

bool
film_append_c(film_thread *thread, film_kind kind, uint32_t function, uint32_t offset)
{
    uint8_t body[2 * FILM_VARINT_MAX], *end;

    end = film_varint_encode(body, function);
    end = film_varint_encode(end, (uint32_t)(offset + 1));
    return append_ext(thread, kind, body, end, 1);
}

bool
film_append_op(film_thread *thread, const film_op_row *op)
{
    if (!film_append_ready(thread)) {
        return false;
    }
    film_append_commit(thread, film_append_put_op(thread, thread->cursor, op), 1);
    return true;
}

bool
film_append_op_end(film_thread *thread, uint64_t distance, uint8_t flags, uint32_t type,
                   uint64_t message)
{
    if (!film_append_ready(thread)) {
        return false;
    }
    film_append_commit(
        thread,
        film_append_put_op_end(thread, thread->cursor, distance, flags, type, message),
        1);
    return true;
}

bool
film_track_op(film_thread *track, uint64_t raw, const film_op_row *op, uint32_t count,
              const uint8_t *tokens, size_t length)
{
    uint8_t body[FILM_OP_BODY_BYTES], *end = film_append_put_op_body(body, op);

    return (count == 0 || film_append_values(track, count, tokens, length)) &&
           append_row_at(track, FILM_KIND_OP, body, end, 1, raw);
}

bool
film_track_op_end(film_thread *track, uint64_t raw, uint64_t distance)
{
    uint8_t body[3 * FILM_VARINT_MAX + 1], *end;

    end = film_varint_encode(body, distance);
    *end++ = FILM_OPERATION_DEVICE;
    *end++ = 0; /* no type, no message */
    *end++ = 0;
    return append_row_at(track, FILM_KIND_OP_END, body, end, 1, raw);
}

bool
film_append_task(film_thread *thread, uint64_t id, uint32_t name)
{
    uint8_t body[2 * FILM_VARINT_MAX], *end;

    end = film_varint_encode(body, id);
    end = film_varint_encode(end, name);
    return append_ext(thread, FILM_KIND_TASK, body, end, 1);
}

bool
film_append_cells(film_thread *thread, const uint8_t *body, size_t length)
{
    return append_row(thread, FILM_KIND_CELLS, body, body + length, 0, false);
}

bool
film_append_restored(film_thread *thread, uint32_t slot, const uint8_t *token,
                     size_t length, uint64_t cell)
{
    uint8_t body[2 * FILM_VARINT_MAX + FILM_TOKEN_MAX], *end;

    end = film_varint_encode(body, slot);
    memcpy(end, token, length);
    end = film_varint_encode(end + length, cell);
    return append_row(thread, FILM_KIND_RESTORED, body, end, 0, false);
}

bool
film_append_lost(film_thread *thread, film_kind kind, uint64_t count, uint32_t reason)
{
    uint8_t body[2 * FILM_VARINT_MAX], *end;

    end = film_varint_encode(body, count);
    end = film_varint_encode(end, reason);
    return append_ext(thread, kind, body, end, 1);
}

bool
film_append_delete(film_thread *thread, film_set_form form, uint32_t number,
                   const uint8_t *tokens, size_t length)
{
    uint8_t body[FILM_VARINT_MAX + FILM_APPEND_TOKENS], *end;

    end = film_varint_encode(body, (uint64_t)number << FILM_SET_SHIFT | (uint64_t)form);
    memcpy(end, tokens, length);
    return append_row(thread, FILM_KIND_DELETE, body, end + length, 1, false);
}

bool
film_append_change(film_thread *thread, const uint8_t *token, size_t length,
                   int64_t length_before, bool cut)
{
    uint8_t body[2 * FILM_VARINT_MAX + FILM_TOKEN_MAX], *end;

    end = film_varint_encode(body, (uint64_t)(length_before + 1));
    end = film_varint_encode(end, cut);
    memcpy(end, token, length);
    return append_row(thread, FILM_KIND_CHANGE, body, end + length, 1, false);
}

bool
film_append_adopt(film_thread *thread, uint32_t code, uint32_t offset)
{
    uint8_t body[2 * FILM_VARINT_MAX], *end;

    end = film_varint_encode(body, code);
    end = film_varint_encode(end, (uint32_t)(offset + 1));
    if (!append_ext(thread, FILM_KIND_ADOPT, body, end, 0)) {
        return false;
    }
    thread->next_frame++;
    return true;
}

bool
film_append_focus(film_thread *thread, uint32_t distance)
{
    uint8_t body[FILM_VARINT_MAX];
    uint8_t *end = film_varint_encode(body, distance);

    return append_ext(thread, FILM_KIND_FOCUS, body, end, 0);
}

bool
film_append_drop(film_thread *thread, uint32_t distance)
{
    uint8_t body[FILM_VARINT_MAX];
    uint8_t *end = film_varint_encode(body, distance);

    return append_ext(thread, FILM_KIND_DROP, body, end, 0);
}
