/* tracks.c: see tracks.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reader/tracks.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "format/chunk.h"
#include "format/window.h"

void
film_tracks_reset(film_tracks *tracks)
{
    film_free(tracks->items);
    film_free(tracks->chunks);
    memset(tracks, 0, sizeof(*tracks));
}

static size_t
find(const film_tracks *tracks, uint32_t thread)
{
    size_t low = 0, high = tracks->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tracks->items[middle].info.id < thread) {
            low = middle + 1;
        }
        else {
            high = middle;
        }
    }
    return low;
}

const film_track *
film_tracks_find(const film_tracks *tracks, uint32_t thread)
{
    size_t at = find(tracks, thread);

    return at < tracks->count && tracks->items[at].info.id == thread
               ? &tracks->items[at]
               : NULL;
}

static bool
is_thread(uint32_t stream)
{
    return stream != 0 && stream < FILM_STREAM_TABLE;
}

static int
by_number(const void *a, const void *b)
{
    const uint32_t *one = a, *other = b;

    return *one < *other ? -1 : *one > *other;
}

/* The ids of all threads that left a trace: in the table, a chunk or a window. */
static film_status
name_threads(film_tracks *tracks, const film_directory *directory,
             const film_windows *windows, const film_tables *tables)
{
    size_t most = directory->count + windows->count + tables->thread_count;
    uint32_t *ids = film_alloc_array(most, sizeof(*ids));
    size_t count = 0, distinct = 0;
    film_status status = FILM_OK;

    if (ids == NULL) {
        return FILM_NO_MEMORY;
    }
    for (size_t i = 0; i < tables->thread_count; i++) {
        ids[count++] = tables->threads[i].thread;
    }
    for (size_t i = 0; i < directory->count; i++) {
        if (directory->chunks[i].type == FILM_CHUNK_EVENT &&
            is_thread(directory->chunks[i].stream)) {
            ids[count++] = directory->chunks[i].stream;
        }
    }
    for (size_t i = 0; i < windows->count; i++) {
        if (is_thread(windows->items[i].stream)) {
            ids[count++] = windows->items[i].stream;
        }
    }
    if (count > 0) {
        qsort(ids, count, sizeof(*ids), by_number);
    }
    for (size_t i = 0; i < count; i++) {
        if (distinct == 0 || ids[distinct - 1] != ids[i]) {
            ids[distinct++] = ids[i];
        }
    }
    tracks->items = film_alloc_array(distinct, sizeof(*tracks->items));
    if (tracks->items == NULL) {
        status = FILM_NO_MEMORY;
    }
    else {
        tracks->count = distinct;
        for (size_t i = 0; i < distinct; i++) {
            tracks->items[i].info.id = ids[i];
            tracks->items[i].info.name = film_tables_string(tables, 0);
        }
    }
    film_free(ids);
    return status;
}

static bool
may_follow(const film_track *track, const film_chunk_info *chunk)
{
    return chunk->count > 0 && chunk->count <= FILM_CHUNK_EVENTS &&
           chunk->first >= track->sealed_end && chunk->first < UINT64_MAX / 2;
}

/* Gives each track its chunks: counted first, then handed out. Chunks that overlap an
 * earlier one are remains of something else. */
static film_status
deal_chunks(film_tracks *tracks, const film_directory *directory)
{
    size_t given = 0;

    tracks->chunks = film_alloc_array(directory->count, sizeof(*tracks->chunks));
    if (tracks->chunks == NULL) {
        return FILM_NO_MEMORY;
    }
    for (unsigned round = 0; round < 2; round++) {
        for (size_t i = 0; i < directory->count; i++) {
            const film_chunk_info *chunk = &directory->chunks[i];
            film_track *track;
            if (chunk->type != FILM_CHUNK_EVENT || !is_thread(chunk->stream)) {
                continue;
            }
            track = &tracks->items[find(tracks, chunk->stream)];
            if (!may_follow(track, chunk)) {
                continue;
            }
            if (round == 1) {
                track->chunks[track->chunk_count] = (uint32_t)i;
            }
            track->chunk_count++;
            track->sealed_end = chunk->first + chunk->count;
        }
        for (size_t i = 0; round == 0 && i < tracks->count; i++) {
            tracks->items[i].chunks = tracks->chunks + given;
            given += tracks->items[i].chunk_count;
            tracks->items[i].chunk_count = 0;
            tracks->items[i].sealed_end = 0;
        }
    }
    return FILM_OK;
}

void
film_tail_begin(film_tail *tail, const film_track *track, uint64_t event)
{
    memset(tail, 0, sizeof(*tail));
    tail->track = track;
    tail->event = event;
}

static void
enter_window(film_tail *tail, const film_window_copy *window)
{
    tail->at = window->rows;
    tail->end = window->rows + window->length; /* NOLINT: none has no length */
    tail->number = window->first;
    tail->raw = window->base_raw;
    tail->frame_behind = window->next_frame;
    tail->resumed_behind = window->last_resumed;
}

/* Counts what the row does to the numbers the next ones build on. */
static void
pass_row(film_tail *tail, const film_row *row)
{
    tail->next_frame = tail->frame_behind;
    tail->last_resumed = tail->resumed_behind;
    tail->raw += row->delta;
    if (row->kind == FILM_KIND_CALL || row->kind == FILM_KIND_ADOPT) {
        tail->frame_behind++;
    }
    else if (row->kind == FILM_KIND_RESUME) {
        tail->resumed_behind += (uint64_t)film_unzigzag(row->frame_delta);
    }
    else if (row->kind == FILM_KIND_THROW) {
        film_input body = film_input_of(row->body, row->body_length);
        tail->resumed_behind += (uint64_t)film_unzigzag(film_input_varint(&body));
    }
}

film_status
film_tail_next(film_tail *tail, film_row *row, uint64_t *missing)
{
    const film_track *track = tail->track;

    *missing = 0;
    for (;;) {
        bool is_event, is_known;
        if (tail->at == NULL) {
            if (tail->window == track->window_count) {
                return FILM_END;
            }
            enter_window(tail, &track->windows[tail->window]);
            if (tail->at != tail->end && tail->number > tail->event) {
                *missing = tail->number - tail->event;
                tail->event = tail->number;
                return FILM_OK;
            }
        }
        if (tail->at == tail->end ||
            film_row_decode(&tail->at, tail->end, row) != FILM_OK) {
            tail->window++;
            tail->at = NULL;
            continue;
        }
        pass_row(tail, row);
        is_event = !film_kind_is_adjustment(row->kind);
        /* A chunk ends right behind its last event: what follows that is new. */
        is_known = tail->number < tail->event;
        tail->number += is_event;
        if (!is_known) {
            tail->event += is_event;
            return FILM_OK;
        }
    }
}

/* Reads the windows once, to know how far they go. */
static void
measure_tail(film_track *track, const film_file *file, uint64_t begin)
{
    film_tail tail;
    film_row row;
    uint64_t missing, raw = 0, first_raw = 0, events = 0;

    film_tail_begin(&tail, track, begin);
    while (film_tail_next(&tail, &row, &missing) == FILM_OK) {
        if (missing > 0) {
            track->has_gap = true;
            track->missing += missing;
            track->readable++;
        }
        else if (!film_kind_is_adjustment(row.kind)) {
            raw = tail.raw;
            first_raw = events++ == 0 ? raw : first_raw;
        }
    }
    track->rows_end = tail.event;
    track->readable += events;
    if (events > 0) {
        uint32_t tick_ns = file->block.tick_ns;
        uint64_t last = film_timescale_ns(&file->block.timescale, raw);
        if (track->chunk_count == 0) {
            track->info.first_ns =
                film_timescale_ns(&file->block.timescale, first_raw) / tick_ns *
                tick_ns;
        }
        last = last / tick_ns * tick_ns;
        if (last > track->info.last_ns) {
            track->info.last_ns = last;
        }
    }
    for (size_t i = 0; i < track->window_count; i++) {
        if (track->windows[i].lost > 0) {
            track->tail_lost += track->windows[i].lost;
            track->tail_lost_reason = track->windows[i].lost_reason;
        }
    }
}

static void
measure(film_track *track, const film_file *file, const film_directory *directory)
{
    uint64_t end = 0;

    if (file->block.ring_bytes != 0) {
        end = track->chunk_count > 0    ? directory->chunks[track->chunks[0]].first
              : track->window_count > 0 ? track->windows[0].first
                                        : 0;
    }
    track->info.first_event = end;
    for (size_t i = 0; i < track->chunk_count; i++) {
        const film_chunk_info *chunk = &directory->chunks[track->chunks[i]];
        track->readable += chunk->count;
        track->info.lost += chunk->lost;
        if (chunk->first > end) {
            track->missing += chunk->first - end;
            track->readable++;
        }
        end = chunk->first + chunk->count;
        if (i == 0) {
            track->info.first_ns = chunk->first_ns;
        }
        if (chunk->last_ns > track->info.last_ns) {
            track->info.last_ns = chunk->last_ns;
        }
    }
    track->sealed_end = end;
    measure_tail(track, file, end);
    track->info.end_event = track->rows_end + (track->tail_lost > 0);
    track->readable += track->tail_lost > 0;
    track->info.lost += track->missing + track->tail_lost;
}

film_status
film_tracks_build(film_tracks *tracks, const film_file *file,
                  const film_directory *directory, const film_windows *windows,
                  const film_tables *tables)
{
    FILM_TRY(name_threads(tracks, directory, windows, tables));
    for (size_t i = 0; i < tables->thread_count; i++) {
        const film_thread_record *record = &tables->threads[i];
        film_thread_info *info = &tracks->items[find(tracks, record->thread)].info;
        info->name = film_tables_string(tables, record->name);
        info->native_id = record->native_id;
    }
    FILM_TRY(deal_chunks(tracks, directory));
    for (size_t i = 0; i < tracks->count; i++) {
        film_track *track = &tracks->items[i];
        track->windows = film_windows_of(windows, track->info.id, &track->window_count);
        measure(track, file, directory);
    }
    return FILM_OK;
}
