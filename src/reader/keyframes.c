/* keyframes.c: a thread's state at the head of a chunk, with what it borrows from
 * earlier ones.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/alloc.h"
#include "reader/reader_state.h"

/* Deeper stacks than this are not stood in for. */
#define UNKNOWN_FRAMES ((size_t)1 << 16)

typedef struct lookup {
    film_reader *reader;
    const film_track *track;
    bool incomplete; /* a frame's place was not readable */
} lookup;

/* The chunk with that number in its thread; NULL if it is not there. */
static const film_chunk_info *
find_chunk(const film_reader *reader, const film_track *track, uint64_t number)
{
    size_t low = 0, high = track->chunk_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (reader->directory.chunks[track->chunks[middle]].number < number) {
            low = middle + 1;
        }
        else {
            high = middle;
        }
    }
    if (low == track->chunk_count ||
        reader->directory.chunks[track->chunks[low]].number != number) {
        return NULL;
    }
    return &reader->directory.chunks[track->chunks[low]];
}

/* A free or the least recently used place, its frames kept only for their memory. */
static film_literals *
free_place(film_reader *reader)
{
    film_literals *oldest = &reader->literals[0];
    size_t kept = 0;

    for (size_t i = 0; i < FILM_LITERALS; i++) {
        film_literals *place = &reader->literals[i];
        kept += place->capacity;
        if (place->thread == 0 || place->used < oldest->used) {
            oldest = place;
        }
    }
    if (kept > FILM_LITERAL_BUDGET) {
        film_reader_forget_keyframes(reader);
    }
    oldest->thread = 0;
    oldest->count = 0;
    return oldest;
}

static film_status
read_literals(film_reader *reader, const film_track *track, uint64_t number,
              film_literals *place)
{
    const film_chunk_info *chunk = find_chunk(reader, track, number);
    film_status status;

    if (chunk == NULL) {
        return FILM_CORRUPT;
    }
    status = film_loader_load(&reader->loader, chunk);
    if (status == FILM_OK) {
        status = film_loader_keyframe(&reader->loader, &reader->reference);
    }
    if (status == FILM_OK) {
        status =
            film_keyframe_literals(reader->reference.data, reader->reference.length,
                                   &place->frames, &place->count, &place->capacity);
    }
    if (status == FILM_CORRUPT || status == FILM_TRUNCATED) {
        film_reader_note(reader, chunk, (size_t)(chunk - reader->directory.chunks),
                         reader->loader.why[0] != '\0' ? reader->loader.why
                                                       : "its keyframe makes no sense");
    }
    return status;
}

static film_status
stand_in(film_reader *reader, const film_frame **frames, size_t *count)
{
    if (reader->unknown_frames == NULL) {
        reader->unknown_frames = film_alloc_array(UNKNOWN_FRAMES, sizeof(film_frame));
        if (reader->unknown_frames == NULL) {
            return FILM_NO_MEMORY;
        }
        for (size_t i = 0; i < UNKNOWN_FRAMES; i++) {
            reader->unknown_frames[i].code = FILM_NO_CODE;
            reader->unknown_frames[i].offset = FILM_NO_OFFSET;
        }
    }
    *frames = reader->unknown_frames;
    *count = UNKNOWN_FRAMES;
    return FILM_OK;
}

static film_status
fetch(void *context, uint64_t number, const film_frame **frames, size_t *count)
{
    lookup *wanted = context;
    film_reader *reader = wanted->reader;
    uint32_t thread = wanted->track->info.id;
    film_literals *place;
    film_status status;

    for (size_t i = 0; i < FILM_LITERALS; i++) {
        place = &reader->literals[i];
        if (place->thread == thread && place->number == number) {
            place->used = ++reader->clock;
            *frames = place->frames;
            *count = place->count;
            return FILM_OK;
        }
    }
    place = free_place(reader);
    status = read_literals(reader, wanted->track, number, place);
    if (status == FILM_NO_MEMORY || status == FILM_IO) {
        return status;
    }
    if (status != FILM_OK) {
        wanted->incomplete = true;
        return stand_in(reader, frames, count);
    }
    place->thread = thread;
    place->number = number;
    place->used = ++reader->clock;
    *frames = place->frames;
    *count = place->count;
    return FILM_OK;
}

film_status
film_reader_keyframe(film_reader *reader, const film_track *track,
                     const film_chunk_info *chunk, film_state *state)
{
    lookup wanted = {.reader = reader, .track = track};

    if (reader->loader.header.keyframe_raw == 0) {
        return FILM_CORRUPT;
    }
    FILM_TRY(film_loader_keyframe(&reader->loader, &reader->keyframe));
    FILM_TRY(film_keyframe_decode(state, chunk->number, reader->keyframe.data,
                                  reader->keyframe.length, fetch, &wanted));
    /* What is not known began now, as far as times go. */
    for (size_t i = 0; wanted.incomplete && i < state->depth; i++) {
        film_frame *frame = &state->frames[i];
        if (frame->code == FILM_NO_CODE) {
            frame->call_event = state->event;
            frame->call_tick = frame->enter_tick = state->tick;
        }
    }
    return state->event == chunk->first ? FILM_OK : FILM_CORRUPT;
}

void
film_reader_forget_keyframes(film_reader *reader)
{
    for (size_t i = 0; i < FILM_LITERALS; i++) {
        film_free(reader->literals[i].frames);
    }
    memset(reader->literals, 0, sizeof(reader->literals));
}

film_status
film_reader_raw_keyframe(film_reader *reader, uint32_t thread, uint64_t number,
                         film_buffer *out)
{
    const film_track *track = film_tracks_find(&reader->tracks, thread);
    const film_chunk_info *chunk =
        track == NULL ? NULL : find_chunk(reader, track, number);
    film_status status;

    film_buffer_clear(out);
    if (chunk == NULL) {
        return FILM_END;
    }
    status = film_loader_load(&reader->loader, chunk);
    if (status == FILM_OK && reader->loader.header.keyframe_raw == 0) {
        status = FILM_END;
    }
    if (status == FILM_OK) {
        status = film_loader_keyframe(&reader->loader, out);
    }
    return status;
}
