/* spans.c: see spans.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/spans.h"

#include "analysis/postings.h"
#include "base/alloc.h"

typedef struct walk {
    film_reader *reader;
    const bool *wanted;
    size_t codes;
    const film_span_visitor *visitor;
    film_postings postings;
    film_filter filter;
    uint64_t open; /* the frame of the call that has begun; 0: none */
} walk;

static bool
ends_frame(const film_event *event)
{
    return event->kind == FILM_KIND_RETURN || event->kind == FILM_KIND_UNWIND;
}

static bool
take(walk *over, uint32_t thread, const film_event *event)
{
    const film_span_visitor *visitor = over->visitor;

    if (over->open == 0 && event->kind == FILM_KIND_CALL && event->code < over->codes &&
        over->wanted[event->code]) {
        over->open = event->frame;
        return visitor->begin(visitor->context, event);
    }
    if (over->open != 0 && ends_frame(event) && event->frame == over->open) {
        over->open = 0;
        return visitor->end(visitor->context, thread, event);
    }
    return true;
}

/* Reads from the head of a block to the end of it, and on while a call is open.
 * *next: the first event that was not read. */
static film_status
walk_block(walk *over, uint32_t thread, uint64_t first, uint64_t *next,
           film_error *error)
{
    uint64_t end = (first >> FILM_CHUNK_SHIFT << FILM_CHUNK_SHIFT) + FILM_CHUNK_EVENTS;
    film_cursor *cursor;
    const film_event *event;
    film_status status;

    FILM_TRY(film_cursor_open(over->reader, thread, first, &cursor, error));
    *next = first;
    while ((*next < end || over->open != 0) &&
           (status = film_cursor_next(cursor, &event, error)) != FILM_END) {
        if (status == FILM_OK && !take(over, thread, event)) {
            status = film_fail(error, FILM_NO_MEMORY, "not enough memory");
        }
        if (status != FILM_OK) {
            film_cursor_close(cursor);
            return status;
        }
        *next = event->number + 1;
    }
    /* Nothing more comes: a call that is open has not ended. */
    *next = *next < end ? end : *next;
    film_cursor_close(cursor);
    return FILM_OK;
}

static film_status
walk_thread(walk *over, const film_thread_info *thread, film_error *error)
{
    uint64_t at = thread->first_event;

    over->open = 0;
    while (at < thread->end_event) {
        uint64_t block = at >> FILM_CHUNK_SHIFT;

        if (film_postings_may_hold(&over->postings, thread->id, block, &over->filter)) {
            FILM_TRY(walk_block(over, thread->id, at, &at, error));
        }
        else {
            at = (block + 1) << FILM_CHUNK_SHIFT;
        }
    }
    return FILM_OK;
}

static film_status
walk_all(walk *over, film_error *error)
{
    film_status status = film_postings_load(&over->postings, over->reader, error);
    size_t threads = film_reader_thread_count(over->reader);

    for (size_t i = 0; status == FILM_OK && i < threads; i++) {
        status = walk_thread(over, film_reader_thread(over->reader, i), error);
    }
    film_postings_reset(&over->postings);
    return status;
}

film_status
film_spans_read(film_reader *reader, const bool *wanted,
                const film_span_visitor *visitor, film_error *error)
{
    walk over = {.reader = reader, .wanted = wanted, .visitor = visitor};
    film_wanted *codes;
    size_t count = 0;
    film_status status;

    over.codes = film_reader_code_count(reader);
    codes = film_alloc_array(over.codes + 1, sizeof(*codes));
    if (codes == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    for (size_t i = 0; i < over.codes; i++) {
        if (wanted[i]) {
            codes[count++] =
                (film_wanted){.kind = FILM_WANTED_CALL, .code = (uint32_t)i};
        }
    }
    over.filter = (film_filter){.wanted = codes, .count = count};
    status = count == 0 ? FILM_OK : walk_all(&over, error);
    film_free(codes);
    return status;
}
