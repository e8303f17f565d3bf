/* search.c: see search.h.
 * A lane is a thread's part of the search; the lane that is behind in time goes on, one
 * chunk at a time, until no other lane can still find something earlier.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/search.h"

#include <string.h>

#include "base/alloc.h"
#include "reader/reader_state.h"

typedef struct lane {
    uint32_t thread;
    uint64_t first, end; /* events of the thread */
    uint64_t at;         /* forward: the next to look at; back: one more than that */
    bool found, spent, paused;
    uint64_t time_ns; /* of what was found; else not later (back: earlier) than `at` */
} lane;

double
film_timeline_progress(film_timeline *timeline, film_moment moment)
{
    const film_track *track =
        film_tracks_find(&timeline->reader->tracks, moment.thread);

    return track == NULL || track->info.end_event == 0
               ? 0
               : (double)moment.event / (double)track->info.end_event;
}

/* A bound of the time at `at`, from the directory: cheap. */
static uint64_t
time_at(const film_timeline *timeline, const lane *one, bool back)
{
    const film_track *track = film_tracks_find(&timeline->reader->tracks, one->thread);
    const film_chunk_info *chunks = timeline->reader->directory.chunks;
    uint64_t event = back ? one->at - 1 : one->at;
    size_t low = 0, high = track->chunk_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const film_chunk_info *chunk = &chunks[track->chunks[middle]];
        if (chunk->first + chunk->count <= event) {
            low = middle + 1;
        }
        else {
            high = middle;
        }
    }
    if (low == track->chunk_count) {
        return back ? track->info.last_ns
                    : (low > 0 ? chunks[track->chunks[low - 1]].last_ns
                               : track->info.first_ns);
    }
    return back ? chunks[track->chunks[low]].last_ns
                : chunks[track->chunks[low]].first_ns;
}

static void
bound_lane(const film_timeline *timeline, lane *one, bool back)
{
    one->spent = back ? one->at <= one->first : one->at >= one->end;
    one->time_ns = one->spent ? (back ? 0 : UINT64_MAX) : time_at(timeline, one, back);
}

static bool
must_pause(const film_search *search, uint32_t index)
{
    return search->slow && (index & 31) == 0 && film_budget_spent(search->budget);
}

/* Whether the lane stops at this event: it is what is looked for, or time is up. */
static bool
settles(film_timeline *timeline, const film_search *search, film_scene *scene,
        uint32_t index, lane *one)
{
    if (must_pause(search, index)) {
        one->paused = true;
        return true;
    }
    if (search->match(search->context, timeline, scene, index)) {
        one->found = true;
        one->time_ns = scene->events[index].time_ns;
        return true;
    }
    return false;
}

/* Looks at one chunk of a lane. */
static film_status
advance(film_timeline *timeline, const film_search *search, lane *one,
        film_error *error)
{
    uint64_t block = (search->back ? one->at - 1 : one->at) >> FILM_CHUNK_SHIFT;
    uint64_t near = film_timeline_block(timeline, one->thread, block, search->back);
    film_scene *scene;
    film_status status;

    if (near != block) { /* a hole */
        one->at = near == UINT64_MAX ? (search->back ? one->first : one->end)
                                     : (near + search->back) << FILM_CHUNK_SHIFT;
        return FILM_OK;
    }
    if (search->filter != NULL &&
        !film_postings_may_hold(&timeline->postings, one->thread, block,
                                search->filter)) {
        one->at = (block + !search->back) << FILM_CHUNK_SHIFT;
        return FILM_OK;
    }
    status = film_timeline_scene(timeline, one->thread, block, &scene, error);
    if (status == FILM_END) {
        one->at = (block + !search->back) << FILM_CHUNK_SHIFT;
        return FILM_OK;
    }
    FILM_TRY(status);
    if (search->back) {
        uint64_t last = scene->first + scene->count;
        for (uint64_t at = one->at < last ? one->at : last;
             at > scene->first && at > one->first; at--) {
            uint32_t index = (uint32_t)(at - 1 - scene->first);
            if (settles(timeline, search, scene, index, one)) {
                one->at = at;
                return FILM_OK;
            }
        }
    }
    else {
        for (uint64_t at = one->at > scene->first ? one->at : scene->first;
             at < scene->first + scene->count && at < one->end; at++) {
            uint32_t index = (uint32_t)(at - scene->first);
            if (settles(timeline, search, scene, index, one)) {
                one->at = at;
                return FILM_OK;
            }
        }
    }
    one->at = (block + !search->back) << FILM_CHUNK_SHIFT;
    return FILM_OK;
}

static film_status
open_lane(film_timeline *timeline, const film_search *search,
          const film_thread_info *info, lane *one, film_error *error)
{
    memset(one, 0, sizeof(*one));
    one->thread = info->id;
    one->first = info->first_event;
    one->end = info->end_event;
    if (info->id == search->from.thread) {
        one->at = search->from.event + (!search->back || search->inclusive);
        if (search->least > one->first) {
            one->first = search->least;
        }
        if (search->end != 0 && search->end < one->end) {
            one->end = search->end;
        }
    }
    else { /* the first event behind the moment, or (back) all before that */
        FILM_TRY(
            film_timeline_behind(timeline, search->from, info->id, &one->at, error));
    }
    bound_lane(timeline, one, search->back);
    return FILM_OK;
}

/* Whether what `one` has, or may still find, comes before that of `other` on the way.
 */
static bool
is_sooner(const lane *one, const lane *other, bool back)
{
    if (one->time_ns != other->time_ns) {
        return back ? one->time_ns > other->time_ns : one->time_ns < other->time_ns;
    }
    return back ? one->thread > other->thread : one->thread < other->thread;
}

static lane *
soonest(lane *lanes, size_t count, bool back)
{
    lane *best = NULL;

    for (size_t i = 0; i < count; i++) {
        if (!lanes[i].spent && (best == NULL || is_sooner(&lanes[i], best, back))) {
            best = &lanes[i];
        }
    }
    return best;
}

/* Where nothing was found: the end of the own thread, or of the last to end (back:
 * first to begin) of all. */
static void
stop_at_end(const film_timeline *timeline, const film_search *search, const lane *lanes,
            size_t count, film_stop *out)
{
    const lane *last = NULL;
    uint64_t last_ns = 0;

    for (size_t i = 0; i < count; i++) {
        const film_track *track =
            film_tracks_find(&timeline->reader->tracks, lanes[i].thread);
        uint64_t ns = search->back ? track->info.first_ns : track->info.last_ns;
        if (last == NULL || (search->back ? ns < last_ns : ns >= last_ns)) {
            last = &lanes[i];
            last_ns = ns;
        }
    }
    out->reason = search->back ? FILM_STOP_AT_START : FILM_STOP_AT_END;
    out->moment =
        film_moment_of(last->thread, search->back ? last->first : last->end - 1);
}

/* Whether the lane's place can be told as a moment to go on from. */
static bool
can_stop(const lane *one, bool back)
{
    return back ? one->at < one->end : one->at > one->first;
}

static film_status
run_lanes(film_timeline *timeline, const film_search *search, lane *lanes, size_t count,
          film_stop *out, film_error *error)
{
    unsigned turn = 0;

    for (;;) {
        lane *one = soonest(lanes, count, search->back);
        if (one == NULL) {
            stop_at_end(timeline, search, lanes, count, out);
            return FILM_OK;
        }
        if (one->found) {
            out->reason = FILM_STOP_ARRIVED;
            out->moment =
                film_moment_of(one->thread, search->back ? one->at - 1 : one->at);
            return FILM_OK;
        }
        if (can_stop(one, search->back) &&
            (one->paused || ((turn++ & 7) == 7 && film_budget_spent(search->budget)))) {
            out->reason = FILM_STOP_UNFINISHED;
            out->moment =
                film_moment_of(one->thread, search->back ? one->at : one->at - 1);
            out->progress = film_timeline_progress(timeline, out->moment);
            return FILM_OK;
        }
        one->paused = false;
        FILM_TRY(advance(timeline, search, one, error));
        if (!one->found) {
            bound_lane(timeline, one, search->back);
        }
    }
}

film_status
film_search_run(film_timeline *timeline, const film_search *search, film_stop *out,
                film_error *error)
{
    size_t all = film_reader_thread_count(timeline->reader), count = 0;
    film_status status = FILM_OK;
    lane *lanes = film_alloc_array(all, sizeof(*lanes));

    memset(out, 0, sizeof(*out));
    if (lanes == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    if (search->filter != NULL && !search->nothing) {
        status = film_postings_load(&timeline->postings, timeline->reader, error);
    }
    for (size_t i = 0; i < all && status == FILM_OK; i++) {
        const film_thread_info *info = film_reader_thread(timeline->reader, i);
        if (info->end_event > info->first_event &&
            (search->across || info->id == search->from.thread)) {
            status = open_lane(timeline, search, info, &lanes[count++], error);
        }
    }
    if (status == FILM_OK && count == 0) {
        status = film_fail(error, FILM_END, "the recording has no thread %u",
                           search->from.thread);
    }
    if (status == FILM_OK && search->nothing) {
        stop_at_end(timeline, search, lanes, count, out);
    }
    else if (status == FILM_OK) {
        status = run_lanes(timeline, search, lanes, count, out, error);
    }
    film_free(lanes);
    return status;
}
