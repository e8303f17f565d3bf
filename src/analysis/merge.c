/* merge.c: a binary heap of threads, the one with the earliest next event on top.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/merge.h"

#include <string.h>

#include "base/alloc.h"

typedef struct source {
    film_cursor *cursor;     /* owned; NULL until its time comes */
    const film_event *event; /* its next event; NULL: not read yet */
    uint64_t key_ns;         /* of the event, or of the thread's first one */
    size_t recording;
    uint32_t thread;
} source;

struct film_merge {
    const film_recordings *set; /* borrowed */
    film_merge_range range;
    source *sources; /* owned: the heap, then the parked ones */
    size_t heap;     /* sources in the heap */
    size_t count, capacity;
    size_t *known; /* owned: threads of each recording already taken */
    bool given;    /* the top's event is in the caller's hands */
    uint64_t seen;
};

film_merge_range
film_merge_everything(void)
{
    film_merge_range range = {0};

    range.to_ns = UINT64_MAX;
    range.end_event = UINT64_MAX;
    return range;
}

static bool
before(const source *a, const source *b)
{
    if (a->key_ns != b->key_ns) {
        return a->key_ns < b->key_ns;
    }
    return a->recording != b->recording ? a->recording < b->recording
                                        : a->thread < b->thread;
}

static void
swap(film_merge *merge, size_t a, size_t b)
{
    source kept = merge->sources[a];

    merge->sources[a] = merge->sources[b];
    merge->sources[b] = kept;
}

static void
sift_down(film_merge *merge, size_t at)
{
    for (;;) {
        size_t least = at;
        size_t child = 2 * at + 1;

        for (size_t i = child; i < child + 2 && i < merge->heap; i++) {
            if (before(&merge->sources[i], &merge->sources[least])) {
                least = i;
            }
        }
        if (least == at) {
            return;
        }
        swap(merge, at, least);
        at = least;
    }
}

static void
sift_up(film_merge *merge, size_t at)
{
    while (at > 0 && before(&merge->sources[at], &merge->sources[(at - 1) / 2])) {
        swap(merge, at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

/* The last chunk that begins at or before the wanted time; nothing earlier can be in
 * the range. */
static uint64_t
first_event_from(const film_merge *merge, const source *from)
{
    const film_recording *recording = &merge->set->items[from->recording];
    uint64_t first = merge->range.first_event;
    uint64_t wanted_ns = merge->range.from_ns;
    size_t chunks;

    if (wanted_ns <= recording->shift_ns) {
        return first;
    }
    wanted_ns -= recording->shift_ns;
    chunks = film_reader_chunk_count(recording->reader);
    for (size_t i = 0; i < chunks; i++) {
        const film_chunk_info *chunk = film_reader_chunk(recording->reader, i);
        if (chunk->stream == from->thread && chunk->first_ns < wanted_ns &&
            chunk->first > first) {
            first = chunk->first;
        }
    }
    return first;
}

static bool
add_source(film_merge *merge, size_t recording, const film_thread_info *thread)
{
    source *added;

    if (merge->count == merge->capacity) {
        source *grown = film_grow(merge->sources, &merge->capacity, merge->count + 1,
                                  sizeof(*grown));
        if (grown == NULL) {
            return false;
        }
        merge->sources = grown;
    }
    added = &merge->sources[merge->count++];
    memset(added, 0, sizeof(*added));
    added->recording = recording;
    added->thread = thread->id;
    added->key_ns = thread->first_ns + merge->set->items[recording].shift_ns;
    swap(merge, merge->heap, merge->count - 1); /* parked ones stay behind the heap */
    sift_up(merge, merge->heap++);
    return true;
}

/* Takes the threads that were not there before. */
static film_status
add_threads(film_merge *merge, film_error *error)
{
    for (size_t i = 0; i < merge->set->count; i++) {
        const film_reader *reader = merge->set->items[i].reader;
        size_t threads = film_reader_thread_count(reader);
        for (; merge->known[i] < threads; merge->known[i]++) {
            const film_thread_info *thread =
                film_reader_thread(reader, merge->known[i]);
            if (merge->range.thread != 0 && merge->range.thread != thread->id) {
                continue;
            }
            if (!add_source(merge, i, thread)) {
                return film_fail(error, FILM_NO_MEMORY, "not enough memory");
            }
        }
    }
    return FILM_OK;
}

film_status
film_merge_open(const film_recordings *set, const film_merge_range *range,
                film_merge **out, film_error *error)
{
    film_merge *merge = film_alloc(sizeof(*merge));
    film_status status;

    *out = NULL;
    if (merge == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    merge->set = set;
    merge->range = *range;
    merge->known = film_alloc_array(set->count, sizeof(*merge->known));
    status = merge->known == NULL
                 ? film_fail(error, FILM_NO_MEMORY, "not enough memory")
                 : add_threads(merge, error);
    if (status != FILM_OK) {
        film_merge_close(merge);
        return status;
    }
    *out = merge;
    return FILM_OK;
}

void
film_merge_close(film_merge *merge)
{
    if (merge != NULL) {
        for (size_t i = 0; i < merge->count; i++) {
            film_cursor_close(merge->sources[i].cursor);
        }
        film_free(merge->sources);
        film_free(merge->known);
        film_free(merge);
    }
}

/* The top has nothing more: for good, or until the next refresh. */
static void
retire_top(film_merge *merge)
{
    swap(merge, 0, --merge->heap);
    if (!merge->range.follow) {
        source *retired = &merge->sources[merge->heap];
        film_cursor_close(retired->cursor);
        *retired = merge->sources[--merge->count];
    }
    sift_down(merge, 0);
}

/* Reads the top's next event that lies in the range. */
static film_status
read_top(film_merge *merge, film_error *error)
{
    source *top = &merge->sources[0];
    const film_recording *recording = &merge->set->items[top->recording];
    film_status status;

    if (top->cursor == NULL) {
        FILM_TRY(film_cursor_open(recording->reader, top->thread,
                                  first_event_from(merge, top), &top->cursor, error));
    }
    do {
        status = film_cursor_next(top->cursor, &top->event, error);
        if (status != FILM_OK) {
            top->event = NULL;
            return status;
        }
        if (++merge->seen == FILM_PROGRESS_STRIDE) {
            film_progress_add(merge->set->progress, merge->seen);
            merge->seen = 0;
        }
        top->key_ns = top->event->time_ns + recording->shift_ns;
        if (top->event->number >= merge->range.end_event ||
            top->key_ns > merge->range.to_ns) {
            top->event = NULL;
            return FILM_END;
        }
    } while (top->event->number < merge->range.first_event ||
             top->key_ns < merge->range.from_ns);
    return FILM_OK;
}

film_status
film_merge_next(film_merge *merge, film_merged *merged, film_error *error)
{
    while (merge->heap > 0) {
        source *top = &merge->sources[0];
        film_status status;

        if (top->event != NULL && !merge->given) {
            merge->given = true;
            merged->event = top->event;
            merged->cursor = top->cursor;
            merged->recording = top->recording;
            merged->time_ns = top->key_ns;
            return FILM_OK;
        }
        merge->given = false;
        status = read_top(merge, error);
        if (status == FILM_OK) {
            sift_down(merge, 0);
        }
        else if (status == FILM_END) {
            retire_top(merge);
        }
        else {
            return status;
        }
    }
    return FILM_END;
}

film_status
film_merge_refresh(film_merge *merge, film_error *error)
{
    for (size_t i = 0; i < merge->set->count; i++) {
        FILM_TRY(film_reader_refresh(merge->set->items[i].reader, error));
    }
    /* A parked thread's next event is not earlier than its last, which is its key. */
    while (merge->heap < merge->count) {
        sift_up(merge, merge->heap++);
    }
    return add_threads(merge, error);
}
