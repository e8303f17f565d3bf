/* timeline.c: scenes and moments; see timeline.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "analysis/timeline_state.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "reader/reader_state.h"

film_budget
film_budget_of(unsigned milliseconds)
{
    film_budget budget = {.deadline_ns = film_clock_monotonic_ns() +
                                         (uint64_t)milliseconds * 1000000u};

    return budget;
}

bool
film_budget_spent(const film_budget *budget)
{
    return budget != NULL && budget->deadline_ns != 0 &&
           film_clock_monotonic_ns() > budget->deadline_ns;
}

film_status
film_timeline_open(film_reader *reader, film_timeline **out, film_error *error)
{
    film_timeline *timeline = film_alloc(sizeof(*timeline));

    *out = NULL;
    if (timeline == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    timeline->scenes = film_alloc_array(FILM_TIMELINE_SCENES, sizeof(film_scene));
    if (timeline->scenes == NULL) {
        film_free(timeline);
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    timeline->reader = reader;
    *out = timeline;
    return FILM_OK;
}

static void
forget_scene(film_timeline *timeline, film_scene *scene)
{
    timeline->scene_bytes -= scene->bytes;
    film_scene_reset(scene);
}

static void
forget_globals(film_timeline *timeline)
{
    for (size_t i = 0; i < sizeof(timeline->globals) / sizeof(timeline->globals[0]);
         i++) {
        film_free(timeline->globals[i].slots);
    }
    memset(timeline->globals, 0, sizeof(timeline->globals));
}

static void
forget_values(film_timeline *timeline)
{
    for (size_t i = 0; i < FILM_TIMELINE_COUNTS; i++) {
        film_free(timeline->hit_counts[i].counts);
    }
    memset(timeline->hit_counts, 0, sizeof(timeline->hit_counts));
    memset(timeline->write_memos, 0, sizeof(timeline->write_memos));
    memset(timeline->record_memos, 0, sizeof(timeline->record_memos));
    for (size_t i = 0; i < FILM_TIMELINE_VALUES; i++) {
        film_free(timeline->value_serials[i].serials);
    }
    memset(timeline->value_serials, 0, sizeof(timeline->value_serials));
    film_free(timeline->value_ranges);
    timeline->value_ranges = NULL;
    timeline->value_range_count = 0;
    film_buffer_reset(&timeline->value_range_bytes);
}

void
film_timeline_close(film_timeline *timeline)
{
    if (timeline == NULL) {
        return;
    }
    for (size_t i = 0; i < FILM_TIMELINE_SCENES; i++) {
        film_scene_reset(&timeline->scenes[i]);
    }
    forget_globals(timeline);
    film_postings_reset(&timeline->postings);
    forget_values(timeline);
    film_free(timeline->scenes);
    film_free(timeline->frames);
    film_free(timeline->places);
    film_free(timeline->slots);
    film_free(timeline->variables);
    film_free(timeline->items);
    film_free(timeline->shared);
    film_free(timeline->global_names);
    film_free(timeline->global_blocks);
    film_free(timeline->module_names);
    film_free(timeline->behind[0].events);
    film_free(timeline->behind[1].events);
    film_buffer_reset(&timeline->text);
    film_buffer_reset(&timeline->scratch);
    film_buffer_reset(&timeline->content);
    film_free(timeline);
}

film_status
film_timeline_refresh(film_timeline *timeline, film_error *error)
{
    (void)error;
    for (size_t i = 0; i < FILM_TIMELINE_SCENES; i++) {
        forget_scene(timeline, &timeline->scenes[i]);
    }
    forget_globals(timeline);
    forget_values(timeline);
    timeline->behind[0].count = timeline->behind[1].count = 0;
    timeline->bound_known = false;
    timeline->postings.loaded = false; /* what is read stays */
    return FILM_OK;
}

film_reader *
film_timeline_reader(const film_timeline *timeline)
{
    return timeline->reader;
}

/* --- scenes --- */

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

/* --- moments --- */

film_status
film_timeline_ends(film_timeline *timeline, uint32_t thread, film_moment *first,
                   film_moment *last, film_error *error)
{
    const film_track *track = film_tracks_find(&timeline->reader->tracks, thread);

    *first = *last = film_moment_of(0, 0);
    if (track == NULL || track->info.end_event <= track->info.first_event) {
        return film_fail(error, FILM_END, "thread %u has no events", thread);
    }
    *first = film_moment_of(thread, track->info.first_event);
    *last = film_moment_of(thread, track->info.end_event - 1);
    return FILM_OK;
}

film_status
film_timeline_event(film_timeline *timeline, film_moment moment,
                    const film_event **event, film_error *error)
{
    film_scene *scene;
    uint32_t index;

    FILM_TRY(film_timeline_locate(timeline, moment, &scene, &index, error));
    film_scene_event_of(scene, index, &timeline->event);
    *event = &timeline->event;
    return FILM_OK;
}

film_status
film_timeline_line(film_timeline *timeline, film_moment moment, uint32_t *line,
                   film_error *error)
{
    const film_event *event;

    FILM_TRY(film_timeline_event(timeline, moment, &event, error));
    *line = film_reader_event_line(timeline->reader, event);
    return FILM_OK;
}

/* Where the first event not earlier than `time_ns` is looked for: *known if it is this
 * event, else somewhere from its block on. */
static uint64_t
guess_of_time(film_timeline *timeline, const film_track *track, uint64_t time_ns,
              bool *known)
{
    const film_chunk_info *chunks = timeline->reader->directory.chunks;
    size_t low = 0, high = track->chunk_count;

    while (low < high) { /* the first chunk that ends at or behind it */
        size_t middle = low + (high - low) / 2;
        if (chunks[track->chunks[middle]].last_ns < time_ns) {
            low = middle + 1;
        }
        else {
            high = middle;
        }
    }
    if (low == track->chunk_count) {
        *known = false;
        return track->sealed_end;
    }
    *known = chunks[track->chunks[low]].first_ns > time_ns;
    return chunks[track->chunks[low]].first;
}

/* The first event with a time greater than time_ns, or with `at` equal too. */
static film_status
first_behind_time(film_timeline *timeline, uint32_t thread, uint64_t time_ns, bool at,
                  uint64_t *event, film_error *error)
{
    const film_track *track = film_tracks_find(&timeline->reader->tracks, thread);
    bool known;

    if (track == NULL) {
        return film_fail(error, FILM_END, "the recording has no thread %u", thread);
    }
    *event = guess_of_time(timeline, track, time_ns, &known);
    for (uint64_t block = *event >> FILM_CHUNK_SHIFT; !known; block++) {
        film_scene *scene;
        uint32_t low = 0, high;
        film_status status;
        block = film_timeline_block(timeline, thread, block, false);
        status = block == UINT64_MAX
                     ? FILM_END
                     : film_timeline_scene(timeline, thread, block, &scene, error);
        if (status == FILM_END) {
            *event = track->info.end_event;
            return FILM_OK;
        }
        FILM_TRY(status);
        high = scene->count;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            uint64_t time = scene->events[middle].time_ns;
            if (time < time_ns || (time == time_ns && !at)) {
                low = middle + 1;
            }
            else {
                high = middle;
            }
        }
        known = low < scene->count;
        *event = scene->first + low;
    }
    return FILM_OK;
}

/* What is known about where the other threads stand at this moment; NULL: no memory. */
static film_behind *
behind_of(film_timeline *timeline, film_moment moment)
{
    size_t count = timeline->reader->tracks.count;
    film_behind *first = &timeline->behind[0], *second = &timeline->behind[1];
    film_behind *known = second->used < first->used ? second : first;

    for (size_t i = 0; i < 2; i++) {
        film_behind *one = &timeline->behind[i];
        if (one->count == count && film_moment_is(one->at, moment)) {
            one->used = ++timeline->clock;
            return one;
        }
    }
    if (known->count != count) {
        uint64_t *events = film_realloc(known->events, (count + 1) * sizeof(*events));
        if (events == NULL) {
            return NULL;
        }
        known->events = events;
        known->count = count;
    }
    memset(known->events, 0xff, count * sizeof(*known->events));
    known->at = moment;
    known->used = ++timeline->clock;
    return known;
}

film_status
film_timeline_behind(film_timeline *timeline, film_moment moment, uint32_t thread,
                     uint64_t *event, film_error *error)
{
    const film_track *track = film_tracks_find(&timeline->reader->tracks, thread);
    film_scene *scene;
    film_behind *of;
    uint32_t index;
    uint64_t *known;

    *event = 0;
    if (thread == moment.thread) {
        *event = moment.event + 1;
        return FILM_OK;
    }
    if (track == NULL) {
        return film_fail(error, FILM_END, "the recording has no thread %u", thread);
    }
    of = behind_of(timeline, moment);
    if (of == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    known = &of->events[track - timeline->reader->tracks.items];
    if (*known == UINT64_MAX) {
        FILM_TRY(film_timeline_locate(timeline, moment, &scene, &index, error));
        FILM_TRY(first_behind_time(timeline, thread, scene->events[index].time_ns,
                                   thread > moment.thread, event, error));
        *known = *event;
    }
    *event = *known;
    return FILM_OK;
}

film_status
film_timeline_at_time(film_timeline *timeline, uint32_t thread, uint64_t time_ns,
                      film_moment *out, film_error *error)
{
    film_moment first, last;
    uint64_t event;

    FILM_TRY(film_timeline_ends(timeline, thread, &first, &last, error));
    FILM_TRY(first_behind_time(timeline, thread, time_ns, false, &event, error));
    *out = film_moment_of(thread, event > first.event ? event - 1 : first.event);
    return FILM_OK;
}

film_status
film_timeline_other_thread(film_timeline *timeline, film_moment moment, uint32_t thread,
                           film_moment *out, film_error *error)
{
    film_moment first, last;
    uint64_t event;

    if (thread == moment.thread) {
        *out = moment;
        return FILM_OK;
    }
    FILM_TRY(film_timeline_ends(timeline, thread, &first, &last, error));
    FILM_TRY(film_timeline_behind(timeline, moment, thread, &event, error));
    if (event <= first.event) {
        return film_fail(error, FILM_END, "thread %u has not begun", thread);
    }
    *out = film_moment_of(thread, event - 1);
    return FILM_OK;
}

film_status
film_timeline_at_fraction(film_timeline *timeline, uint32_t thread, double fraction,
                          film_moment *out, film_error *error)
{
    uint64_t duration = film_reader_info(timeline->reader)->duration_ns;
    double time = !(fraction > 0) ? 0
                  : fraction >= 1 ? (double)duration
                                  : fraction * (double)duration;

    return film_timeline_at_time(timeline, thread, (uint64_t)time, out, error);
}
