/* windows.c: see windows.h; format/window.h draws a window.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reader/windows.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "format/chunk.h"
#include "format/window.h"

#define PAGE 4096u
/* Other values of the superblock's `closed`: stopped early, rows are still here. */
#define CLOSED_WHOLE 1u
/* 1,024 full windows; a writer has 32 and a few more for each busy thread. */
#define MOST_BYTES ((uint64_t)256 << 20)
/* A window changes hands once in milliseconds at most. */
#define MOST_TRIES 8u

void
film_windows_reset(film_windows *windows)
{
    for (size_t i = 0; i < windows->count; i++) {
        film_free(windows->items[i].rows);
    }
    film_free(windows->items);
    memset(windows, 0, sizeof(*windows));
}

static bool
is_used(const uint8_t *header)
{
    return film_get_u32(header) == FILM_WINDOW_MAGIC &&
           (film_get_u64(header + 8) & 1) == 0;
}

/* One look: FILM_OK with rows filled, FILM_END if there is nothing to take, and
 * FILM_TRUNCATED if the window changed meanwhile. */
static film_status
look(const film_file *file, uint64_t physical, bool shared, film_window_copy *copy)
{
    uint8_t header[FILM_WINDOW_HEADER], again[16];
    uint64_t committed;

    FILM_TRY(film_file_read_at(file, physical, header, sizeof(header)));
    committed = film_get_u64(header + 64);
    if (film_get_u32(header) != FILM_WINDOW_MAGIC) {
        return FILM_END;
    }
    if (!is_used(header)) {
        return FILM_TRUNCATED;
    }
    if (committed > file->block.window_bytes - FILM_WINDOW_HEADER ||
        film_get_u64(header + 16) > INT64_MAX ||
        (film_get_u32(header + 4) >= FILM_STREAM_TABLE) != shared) {
        return FILM_END;
    }
    copy->stream = film_get_u32(header + 4);
    copy->first = film_get_u64(header + 16);
    copy->base_raw = film_get_u64(header + 24);
    copy->next_frame = film_get_u64(header + 32);
    copy->last_resumed = film_get_u64(header + 40);
    copy->lost = film_get_u64(header + 48);
    copy->lost_reason = film_get_u64(header + 56);
    copy->sequence = film_get_u64(header + 72);
    copy->length = (size_t)committed;
    if (committed == 0 && copy->lost == 0) {
        return FILM_END;
    }
    film_free(copy->rows);
    copy->rows = film_alloc((size_t)committed);
    if (copy->rows == NULL) {
        return FILM_NO_MEMORY;
    }
    FILM_TRY(film_file_read_at(file, physical + FILM_WINDOW_HEADER, copy->rows,
                               (size_t)committed));
    FILM_TRY(film_file_read_at(file, physical, again, sizeof(again)));
    return memcmp(header, again, sizeof(again)) == 0 ? FILM_OK : FILM_TRUNCATED;
}

static film_status
take_window(film_windows *windows, const film_file *file, uint64_t physical,
            bool shared)
{
    film_window_copy copy = {0};
    film_window_copy *items;
    film_status status = FILM_TRUNCATED;

    for (unsigned i = 0; i < MOST_TRIES && status == FILM_TRUNCATED; i++) {
        status = look(file, physical, shared, &copy);
    }
    if (status == FILM_OK && windows->bytes + copy.length > MOST_BYTES) {
        status = FILM_LIMIT;
    }
    if (status == FILM_OK) {
        items = film_grow(windows->items, &windows->capacity, windows->count + 1,
                          sizeof(*items));
        if (items != NULL) {
            windows->items = items;
            items[windows->count++] = copy;
            windows->bytes += copy.length;
            copy.rows = NULL;
        }
        else {
            status = FILM_NO_MEMORY;
        }
    }
    film_free(copy.rows);
    /* Half set up, or the file ends here: nothing is committed in it. */
    return status == FILM_END || status == FILM_TRUNCATED ? FILM_OK : status;
}

/* The slots of [from, to), without those that lie in holes. */
static film_status
take_range(film_windows *windows, const film_file *file, uint64_t from, uint64_t to,
           bool shared)
{
    uint64_t step = file->block.window_bytes;

    if (to > file->bytes) {
        to = file->bytes;
    }
    while (from < to && to - from >= FILM_WINDOW_HEADER) {
        uint64_t data = film_file_next_data(file, from);
        if (data >= from + step) {
            from += (data - from) / step * step;
            continue;
        }
        FILM_TRY(take_window(windows, file, from, shared));
        from += step;
    }
    return FILM_OK;
}

static film_status
take_all(film_windows *windows, const film_file *file, const film_directory *directory,
         bool shared)
{
    FILM_TRY(take_range(windows, file, FILM_SUPERBLOCK_BYTES,
                        FILM_SUPERBLOCK_BYTES + file->block.arena_bytes, shared));
    for (size_t i = 0; i < directory->count; i++) {
        const film_chunk_info *chunk = &directory->chunks[i];
        uint64_t begin, first;
        if (chunk->type != FILM_CHUNK_WINDOWS) {
            continue;
        }
        begin = film_file_physical(file, chunk->offset);
        first = (begin + FILM_CHUNK_HEADER + PAGE - 1) & ~(uint64_t)(PAGE - 1);
        FILM_TRY(take_range(windows, file, first, begin + chunk->stored_bytes, shared));
    }
    return FILM_OK;
}

static int
by_use(const void *a, const void *b)
{
    const film_window_copy *one = a, *other = b;

    if (one->stream != other->stream) {
        return one->stream < other->stream ? -1 : 1;
    }
    if (one->sequence != other->sequence) {
        return one->sequence < other->sequence ? -1 : 1;
    }
    return one->first < other->first ? -1 : one->first > other->first;
}

film_status
film_windows_copy(film_windows *windows, const film_file *file,
                  const film_directory *directory)
{
    const film_superblock *block = &file->block;

    if (block->closed == CLOSED_WHOLE) {
        return FILM_OK;
    }
    /* What rows refer to is committed before them, so it is copied after them. */
    FILM_TRY(take_all(windows, file, directory, false));
    FILM_TRY(take_all(windows, file, directory, true));
    if (windows->count > 0) {
        qsort(windows->items, windows->count, sizeof(*windows->items), by_use);
    }
    return FILM_OK;
}

const film_window_copy *
film_windows_of(const film_windows *windows, uint32_t stream, size_t *count)
{
    size_t low = 0, high = windows->count, end;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (windows->items[middle].stream < stream) {
            low = middle + 1;
        }
        else {
            high = middle;
        }
    }
    for (end = low; end < windows->count && windows->items[end].stream == stream;) {
        end++;
    }
    *count = end - low;
    return end == low ? NULL : windows->items + low;
}
