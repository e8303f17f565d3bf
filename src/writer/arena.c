/* arena.c: see arena.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "writer/arena.h"

#include <string.h>

#include "base/alloc.h"

/* How much a WINDOWS chunk brings: 8 windows. */
#define PIECE_BYTES (8u * FILM_WINDOW_BYTES)

film_status
film_arena_init(film_arena *arena, film_sink *sink, film_log *log, uint64_t offset,
                uint64_t bytes, bool may_map)
{
    memset(arena, 0, sizeof(*arena));
    if (pthread_mutex_init(&arena->lock, NULL) != 0) {
        return FILM_NO_MEMORY;
    }
    arena->sink = sink;
    arena->log = log;
    arena->next_offset = offset;
    arena->piece_end = offset + bytes;
    arena->may_map = may_map;
    return FILM_OK;
}

/* The next place for a window in the file. FILM_LIMIT: a ring has no more of them. */
static film_status
next_place(film_arena *arena, uint64_t *place)
{
    *place = 0;
    if (arena->next_offset + FILM_WINDOW_BYTES > arena->piece_end) {
        uint64_t offset, bytes;
        FILM_TRY(film_log_append_windows(arena->log, PIECE_BYTES, &offset, &bytes));
        arena->next_offset = offset;
        arena->piece_end = offset + bytes;
    }
    FILM_TRY(film_sink_reserve(arena->sink, arena->next_offset, FILM_WINDOW_BYTES));
    *place = arena->next_offset;
    arena->next_offset += FILM_WINDOW_BYTES;
    return FILM_OK;
}

/* Memory for a window that has a place in the file (`placed`) or does without. */
static bool
give_memory(film_arena *arena, film_window *window, bool placed)
{
    if (placed && arena->may_map) {
        window->header = film_sink_map(arena->sink, window->offset, FILM_WINDOW_BYTES);
        window->mapped = window->header != NULL;
        arena->may_map = window->mapped;
    }
    if (window->header == NULL) {
        window->header = film_alloc(FILM_WINDOW_BYTES);
    }
    if (window->header == NULL) {
        return false;
    }
    /* Readers of the live file tell by it that a window has changed hands. */
    atomic_store_explicit(&window->header->generation, window->generation,
                          memory_order_relaxed);
    return true;
}

static film_window *
make_window(film_arena *arena, bool any)
{
    film_window *window = film_alloc(sizeof(*window));
    film_status status;

    arena->refusal = FILM_NO_MEMORY;
    if (window == NULL) {
        return NULL;
    }
    status = next_place(arena, &window->offset);
    if ((status != FILM_OK && (status != FILM_LIMIT || !any)) ||
        !give_memory(arena, window, status == FILM_OK)) {
        if (status != FILM_OK) {
            arena->refusal = status;
        }
        film_free(window);
        return NULL;
    }
    window->next_made = arena->made;
    if (arena->made != NULL) {
        arena->made->previous_made = window;
    }
    arena->made = window;
    return window;
}

/* A place that has been used before gets blocks and memory again. */
static film_window *
revive_place(film_arena *arena)
{
    film_window *window = arena->places;

    arena->refusal = film_sink_reserve(arena->sink, window->offset, FILM_WINDOW_BYTES);
    if (arena->refusal != FILM_OK) {
        return NULL;
    }
    if (!give_memory(arena, window, true)) {
        arena->refusal = FILM_NO_MEMORY;
        return NULL;
    }
    arena->places = window->next;
    return window;
}

static void
release_memory(film_window *window)
{
    if (window->mapped) {
        film_sink_unmap(window->header, FILM_WINDOW_BYTES);
    }
    else {
        film_free(window->header);
    }
    window->header = NULL;
    window->mapped = false;
}

/* Forgets a window that is heap memory alone. */
static void
unmake_window(film_arena *arena, film_window *window)
{
    if (window->previous_made != NULL) {
        window->previous_made->next_made = window->next_made;
    }
    else {
        arena->made = window->next_made;
    }
    if (window->next_made != NULL) {
        window->next_made->previous_made = window->previous_made;
    }
    release_memory(window);
    film_free(window);
}

/* There are enough spare ones: only its place is kept. Its header says already that
 * nothing is in it, and a hole says the same. */
static void
shed_window(film_arena *arena, film_window *window)
{
    if (window->offset == 0) {
        unmake_window(arena, window);
        return;
    }
    window->generation =
        atomic_load_explicit(&window->header->generation, memory_order_relaxed);
    release_memory(window);
    film_sink_punch(arena->sink, window->offset, FILM_WINDOW_BYTES);
    window->next = arena->places;
    arena->places = window;
}

film_window *
film_arena_take(film_arena *arena, uint32_t stream, const film_window_start *start,
                bool any)
{
    film_window_header *header;
    film_window *window;

    pthread_mutex_lock(&arena->lock);
    window = arena->free_list;
    if (window != NULL) {
        arena->free_list = window->next;
        arena->free_count--;
    }
    else {
        window = arena->places != NULL ? revive_place(arena) : make_window(arena, any);
    }
    if (window != NULL) {
        header = window->header;
        /* Odd while it changes: readers of the live file leave it alone. */
        atomic_fetch_or_explicit(&header->generation, 1, memory_order_acq_rel);
        atomic_store_explicit(&header->committed, 0, memory_order_release);
        header->magic = FILM_WINDOW_MAGIC;
        header->stream = stream;
        header->first = start->first;
        header->base_raw = start->base_raw;
        header->next_frame = start->next_frame;
        header->last_resumed = start->last_resumed;
        atomic_store_explicit(&header->lost, 0, memory_order_relaxed);
        atomic_store_explicit(&header->lost_reason, 0, memory_order_relaxed);
        header->sequence = ++arena->sequence;
        atomic_fetch_add_explicit(&header->generation, 1, memory_order_release);
        window->next = NULL;
        window->end = window->position = window->flushed = window->value_floor = 0;
        window->taken = true;
    }
    pthread_mutex_unlock(&arena->lock);
    return window;
}

void
film_arena_give(film_arena *arena, film_window *window)
{
    film_window_header *header = window->header;

    pthread_mutex_lock(&arena->lock);
    atomic_fetch_or_explicit(&header->generation, 1, memory_order_acq_rel);
    header->magic = 0;
    atomic_store_explicit(&header->committed, 0, memory_order_release);
    atomic_fetch_add_explicit(&header->generation, 1, memory_order_release);
    if (!window->mapped && window->offset != 0) {
        /* If this fails the file keeps rows that are sealed as well: readers skip them.
         */
        FILM_IGNORE(
            film_sink_write(arena->sink, window->offset, header, FILM_WINDOW_HEADER));
    }
    window->taken = false;
    if (arena->free_count >= FILM_ARENA_SPARE) {
        shed_window(arena, window);
    }
    else {
        window->next = arena->free_list;
        arena->free_list = window;
        arena->free_count++;
    }
    pthread_mutex_unlock(&arena->lock);
}

/* New rows first, then the header whose committed length lets them count. */
static film_status
flush_window(film_arena *arena, film_window *window)
{
    uint8_t image[FILM_WINDOW_HEADER];
    uint64_t committed =
        atomic_load_explicit(&window->header->committed, memory_order_acquire);

    if (committed > window->flushed) {
        FILM_TRY(film_sink_write(arena->sink,
                                 window->offset + FILM_WINDOW_HEADER + window->flushed,
                                 film_window_rows(window->header) + window->flushed,
                                 (size_t)(committed - window->flushed)));
    }
    memcpy(image, window->header, sizeof(image));
    film_put_u64(image + 64, committed);
    FILM_TRY(film_sink_write(arena->sink, window->offset, image, sizeof(image)));
    window->flushed = committed;
    return FILM_OK;
}

film_status
film_arena_flush(film_arena *arena)
{
    film_status status = FILM_OK;

    pthread_mutex_lock(&arena->lock);
    for (film_window *window = arena->made; window != NULL && status == FILM_OK;
         window = window->next_made) {
        if (window->taken && !window->mapped && window->offset != 0) {
            status = flush_window(arena, window);
        }
    }
    pthread_mutex_unlock(&arena->lock);
    return status;
}

void
film_arena_reset(film_arena *arena)
{
    while (arena->made != NULL) {
        film_window *window = arena->made;
        arena->made = window->next_made;
        release_memory(window);
        film_free(window);
    }
    if (arena->sink != NULL) {
        pthread_mutex_destroy(&arena->lock);
    }
    memset(arena, 0, sizeof(*arena));
}
