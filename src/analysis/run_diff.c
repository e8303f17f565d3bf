/* run_diff.c: see run_diff.h. Where a chunk of the one thread has the running digest of the
 * other's (docs/format.md), control took the same way up to its end: that is skipped.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/run_diff.h"

#include <string.h>

#include "analysis/ops/nonfinite.h"
#include "analysis/ops/op_compare.h"
#include "base/hash.h"
#include "format/chunk.h"

static film_status
next_event(film_run_side *side, const film_event **event, film_error *error)
{
    FILM_TRY(film_cursor_next(side->cursor, event, error));
    if (++side->seen == FILM_PROGRESS_STRIDE) {
        film_progress_add(side->progress, side->seen);
        side->seen = 0;
    }
    return FILM_OK;
}

static uint64_t
hash_string(const film_reader *reader, uint32_t id)
{
    film_text text = film_reader_string(reader, id);

    return film_hash(text.data, text.length);
}

/* An end is that of an op of the same function. Numbers are compared in what ops gave and
 * changed. (What they took, other ops gave: one
 * difference would be told many times.) Memory that nothing was written to holds what was
 * there before. */
static film_status
complete_entry(film_run_side *side, const film_event *event, film_diff_entry *entry,
               film_error *error)
{
    film_open_op op, *opened;

    if (event->kind == FILM_KIND_OP_END) {
        if (!film_open_ops_end(&side->open, 0, event, &op)) {
            entry->has_values = false; /* a ring has given up its beginning */
            return FILM_OK;
        }
        entry->key =
            film_digest_mix(entry->key, hash_string(side->reader, op.function));
        entry->has_values = entry->has_values && op.note == 0;
        return FILM_OK;
    }
    entry->has_values = false;
    opened = film_open_ops_begin(&side->open, 0, event);
    if (opened == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    opened->note =
        film_op_gives_blank(film_reader_string(side->reader, event->text).data);
    return FILM_OK;
}

static film_status
next_op(void *context, film_diff_entry *out, film_error *error)
{
    film_run_side *side = context;
    const film_event *event;

    do {
        FILM_TRY(next_event(side, &event, error));
    } while (event->kind != FILM_KIND_OP && event->kind != FILM_KIND_OP_END);
    FILM_TRY(film_op_entry(side->reader, event, &side->scratch, out, error));
    return complete_entry(side, event, out, error);
}

static bool
is_control(const film_run_side *side, uint8_t kind)
{
    switch (kind) {
    case FILM_KIND_CALL:
    case FILM_KIND_RETURN:
    case FILM_KIND_YIELD:
    case FILM_KIND_RESUME:
    case FILM_KIND_THROW:
    case FILM_KIND_RAISE:
    case FILM_KIND_HANDLED:
    case FILM_KIND_UNWIND:
        return true;
    case FILM_KIND_LINE:
        return side->lines;
    default:
        return false;
    }
}

/* The line is part of the key: entries of other lines are other entries. */
static film_status
next_control(void *context, film_diff_entry *out, film_error *error)
{
    film_run_side *side = context;
    const film_event *event;
    const film_code *code;
    film_text exception = {"", 0};

    do {
        FILM_TRY(next_event(side, &event, error));
    } while (!is_control(side, event->kind));
    *out =
        (film_diff_entry){.number = event->number, .key = event->kind, .counts = true};
    code = film_reader_code(side->reader, event->code);
    if (code != NULL) {
        out->key = film_digest_mix(
            out->key, film_hash(code->function.data, code->function.length));
    }
    out->key = film_digest_mix(out->key, film_reader_event_line(side->reader, event));
    if (event->kind == FILM_KIND_RAISE || event->kind == FILM_KIND_UNWIND) {
        exception = film_reader_string(side->reader, event->text);
    }
    out->shape = film_hash(exception.data, exception.length);
    return FILM_OK;
}

/* The last whole chunk of a thread that has this number; NULL: none. */
static const film_chunk_info *
find_chunk(const film_reader *reader, uint32_t thread, uint64_t number, size_t *from)
{
    size_t count = film_reader_chunk_count(reader);

    for (size_t i = *from; i < count; i++) {
        const film_chunk_info *chunk = film_reader_chunk(reader, i);

        if (chunk->type == FILM_CHUNK_EVENT && chunk->stream == thread &&
            chunk->number >= number) {
            *from = i;
            return chunk->number == number && chunk->count == FILM_CHUNK_EVENTS ? chunk
                                                                                : NULL;
        }
    }
    return NULL;
}

/* How many events of both threads are known to be equal: digests run on, so the first
 * chunk that differs is the first with a difference. */
static uint64_t
equal_events(film_reader *const readers[2], const uint32_t threads[2])
{
    size_t from[2] = {0, 0};
    uint64_t number = 0;

    for (;; number++) {
        const film_chunk_info *left =
            find_chunk(readers[0], threads[0], number, &from[0]);
        const film_chunk_info *right =
            find_chunk(readers[1], threads[1], number, &from[1]);

        if (left == NULL || right == NULL || left->first != right->first ||
            left->flow_digest != right->flow_digest) {
            return number << FILM_CHUNK_SHIFT;
        }
    }
}

film_status
film_run_diff_open(film_run_diff *run, film_reader *const readers[2],
                   const uint32_t threads[2], bool of_ops, film_progress *progress,
                   film_error *error)
{
    bool lines = film_reader_info(readers[0])->level > 0 &&
                 film_reader_info(readers[1])->level > 0;

    memset(run, 0, sizeof(*run));
    run->of_ops = of_ops;
    run->skipped = of_ops ? 0 : equal_events(readers, threads);
    for (size_t i = 0; i < 2; i++) {
        film_run_side *side = &run->sides[i];

        side->reader = readers[i];
        side->progress = progress;
        side->lines = lines;
        run->diff.sides[i].context = side;
        run->diff.sides[i].next = of_ops ? next_op : next_control;
        FILM_TRY(film_cursor_open(readers[i], threads[i], run->skipped, &side->cursor,
                                  error));
    }
    return FILM_OK;
}

void
film_run_diff_reset(film_run_diff *run)
{
    for (size_t i = 0; i < 2; i++) {
        film_cursor_close(run->sides[i].cursor);
        film_buffer_reset(&run->sides[i].scratch);
        film_open_ops_reset(&run->sides[i].open);
    }
    memset(run, 0, sizeof(*run));
}
