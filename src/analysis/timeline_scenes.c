/* timeline_scenes.c: the scenes a timeline holds, and which block a moment is in.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/timeline_state.h"
#include "reader/reader_state.h"

static void
forget_scene(film_timeline *timeline, film_scene *scene)
{
    timeline->scene_bytes -= scene->bytes;
    film_scene_reset(scene);
}

void
film_timeline_forget_scenes(film_timeline *timeline)
{
    for (size_t i = 0; i < FILM_TIMELINE_SCENES; i++) {
        forget_scene(timeline, &timeline->scenes[i]);
    }
}

/* A place for a new scene. Those used last stay whatever they weigh. */
static film_scene *
free_scene(film_timeline *timeline)
{
    for (;;) {
        film_scene *oldest = NULL;
        size_t used = 0;
        for (size_t i = 0; i < FILM_TIMELINE_SCENES; i++) {
            film_scene *scene = &timeline->scenes[i];
            used += scene->thread != 0;
            if (oldest == NULL || scene->used < oldest->used) {
                oldest = scene;
            }
        }
        if (oldest->thread == 0 && (timeline->scene_bytes <= FILM_TIMELINE_BYTES ||
                                    used <= FILM_TIMELINE_HELD)) {
            return oldest;
        }
        if (oldest->thread == 0) { /* too many bytes: the oldest that is one goes */
            for (size_t i = 0; i < FILM_TIMELINE_SCENES; i++) {
                film_scene *scene = &timeline->scenes[i];
                if (scene->thread != 0 &&
                    (oldest->thread == 0 || scene->used < oldest->used)) {
                    oldest = scene;
                }
            }
        }
        forget_scene(timeline, oldest);
    }
}

/* Blocks that no keyframe marks, one behind the other: windows hold some hundred. */
#define MOST_UNMARKED 512u

static film_status
find_scene(film_timeline *timeline, uint32_t thread, uint64_t block, unsigned depth,
           film_scene **out, film_error *error);

/* A block that does not say which ids were told before it (it is not sealed yet): those
 * of the block before. */
static void
find_watermark(film_timeline *timeline, film_scene *scene, unsigned depth)
{
    film_scene *before;
    uint64_t watermark;

    if (scene->has_watermark || scene->block == 0 || depth > MOST_UNMARKED ||
        timeline->reader->file.block.minor < 2 ||
        find_scene(timeline, scene->thread, scene->block - 1, depth + 1, &before,
                   NULL) != FILM_OK) {
        return;
    }
    watermark = before->watermark + before->events[before->count - 1].mark;
    for (uint32_t i = 0; i < scene->count; i++) {
        uint64_t mark = scene->watermark + scene->events[i].mark;
        scene->events[i].mark = (uint32_t)(mark > watermark ? mark - watermark : 0);
    }
    scene->watermark = watermark;
    scene->has_watermark = true;
}

static film_status
find_scene(film_timeline *timeline, uint32_t thread, uint64_t block, unsigned depth,
           film_scene **out, film_error *error)
{
    film_scene *scene;
    film_scene made;

    for (size_t i = 0; i < FILM_TIMELINE_SCENES; i++) {
        scene = &timeline->scenes[i];
        if (scene->thread == thread && scene->block == block && thread != 0) {
            scene->used = ++timeline->clock;
            *out = scene;
            return FILM_OK;
        }
    }
    FILM_TRY(film_scene_read(timeline->reader, thread, block, &made, error));
    find_watermark(timeline, &made, depth);
    scene = free_scene(timeline);
    *scene = made;
    scene->used = ++timeline->clock;
    timeline->scene_bytes += scene->bytes;
    *out = scene;
    return FILM_OK;
}

film_status
film_timeline_scene(film_timeline *timeline, uint32_t thread, uint64_t block,
                    film_scene **out, film_error *error)
{
    return find_scene(timeline, thread, block, 0, out, error);
}

bool
film_timeline_has_scene(const film_timeline *timeline, uint32_t thread, uint64_t block)
{
    for (size_t i = 0; i < FILM_TIMELINE_SCENES; i++) {
        if (timeline->scenes[i].thread == thread &&
            timeline->scenes[i].block == block) {
            return true;
        }
    }
    return false;
}

/* Takes the blocks of events `first` to `last` into account. */
static void
offer_blocks(uint64_t first, uint64_t last, uint64_t block, bool back, uint64_t *best)
{
    uint64_t low = first >> FILM_CHUNK_SHIFT, high = last >> FILM_CHUNK_SHIFT;
    uint64_t nearest = block < low ? low : block > high ? high : block;

    if (back ? nearest <= block && (*best == UINT64_MAX || nearest > *best)
             : nearest >= block && nearest < *best) {
        *best = nearest;
    }
}

/* The chunk of the track whose events begin last at or before the block's end. */
static size_t
chunk_near(const film_timeline *timeline, const film_track *track, uint64_t block)
{
    const film_chunk_info *chunks = timeline->reader->directory.chunks;
    size_t low = 0, high = track->chunk_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (chunks[track->chunks[middle]].first >> FILM_CHUNK_SHIFT <= block) {
            low = middle + 1;
        }
        else {
            high = middle;
        }
    }
    return low;
}

uint64_t
film_timeline_block(const film_timeline *timeline, uint32_t thread, uint64_t block,
                    bool back)
{
    const film_track *track = film_tracks_find(&timeline->reader->tracks, thread);
    const film_chunk_info *chunks = timeline->reader->directory.chunks;
    uint64_t best = UINT64_MAX, last;
    size_t near;

    if (track == NULL || track->info.end_event == 0) {
        return UINT64_MAX;
    }
    last = track->info.end_event - 1;
    near = chunk_near(timeline, track, block);
    for (size_t i = near > 0 ? near - 1 : 0; i < near + 1 && i < track->chunk_count;
         i++) {
        const film_chunk_info *chunk = &chunks[track->chunks[i]];
        uint64_t behind = chunk->first + chunk->count; /* a loss may be told there */
        offer_blocks(chunk->first, behind < last ? behind : last, block, back, &best);
    }
    for (size_t i = 0; i < track->window_count; i++) {
        const film_window_copy *window = &track->windows[i];
        uint64_t behind = window->first + window->length; /* a row has two bytes */
        offer_blocks(window->first < last ? window->first : last,
                     behind < last ? behind : last, block, back, &best);
    }
    offer_blocks(track->sealed_end < last ? track->sealed_end : last,
                 track->sealed_end < last ? track->sealed_end : last, block, back,
                 &best);
    offer_blocks(last, last, block, back, &best);
    return best;
}

film_status
film_timeline_locate(film_timeline *timeline, film_moment moment, film_scene **scene,
                     uint32_t *index, film_error *error)
{
    const film_track *track =
        film_tracks_find(&timeline->reader->tracks, moment.thread);
    film_status status;

    *scene = NULL;
    *index = 0;
    if (track == NULL) {
        return film_fail(error, FILM_END, "the recording has no thread %u",
                         moment.thread);
    }
    if (moment.event < track->info.first_event ||
        moment.event >= track->info.end_event) {
        return film_fail(error, FILM_END, "thread %u has no event %llu", moment.thread,
                         (unsigned long long)moment.event);
    }
    status = film_timeline_scene(timeline, moment.thread,
                                 moment.event >> FILM_CHUNK_SHIFT, scene, error);
    if (status == FILM_END) {
        return film_fail(error, status, "thread %u has no event %llu", moment.thread,
                         (unsigned long long)moment.event);
    }
    FILM_TRY(status);
    *index = (uint32_t)(moment.event - (*scene)->first);
    if (*index >= (*scene)->count) { /* damage reaches to the end of the chunk */
        *index = (*scene)->count - 1;
    }
    while (*index > 0 && (*scene)->events[*index].kind == FILM_KIND_NONE) {
        (*index)--;
    }
    return FILM_OK;
}

film_datum
film_scene_token(const film_scene *scene, uint32_t index, uint32_t which)
{
    const film_scene_event *event = &scene->events[index];
    film_input input =
        film_input_of(scene->tokens.data + event->tokens, event->tokens_length);
    film_datum datum = {.length = 0};
    const uint8_t *from;

    if (which >= event->token_count) {
        return datum;
    }
    film_tokens_skip(&input, which);
    from = input.at;
    film_tokens_skip(&input, 1);
    if (!input.failed) {
        film_datum_set(&datum, from, (size_t)(input.at - from));
    }
    return datum;
}
