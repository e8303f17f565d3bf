/* timeline.c: a timeline and its moments; see timeline.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "analysis/ops/forward.h"
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
    film_forwards_free(timeline->forwards);
    film_timeline_forget_scenes(timeline);
    film_writes_lists_reset(&timeline->writes);
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
    film_timeline_forget_scenes(timeline);
    film_writes_lists_reset(&timeline->writes);
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
