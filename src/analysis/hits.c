/* hits.c: continuing to breakpoints, counting hits.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "analysis/breakpoint_state.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "reader/reader_state.h"

#define LOG_TEXT 4096u
#define MOST_BLOCKS_SHIFT 26

/* A continue under way. */
typedef struct journey {
    film_breakpoints *set;
    const film_budget *budget;
    film_log_point log;
    void *context;
    film_status status;
    film_error *error;
    size_t hit; /* which breakpoint */
    bool out_of_time;
    bool later; /* log points are told once the search has come to them: several
                   threads are looked at one after the other, and out of order */
} journey;

film_status
film_point_holds(film_breakpoints *set, film_point *point, film_moment moment,
                 size_t index, film_tally *tally, bool *holds, film_error *error)
{
    film_evaluated value = {.outcome = FILM_EVAL_UNKNOWN};

    *holds = true;
    if (point->condition != NULL) {
        FILM_TRY(film_expression_evaluate(point->condition, set->timeline, moment,
                                          index, &value, error));
    }
    if (tally != NULL) {
        film_tally_add(tally, point->condition == NULL ? NULL : &value);
    }
    if (point->condition == NULL) {
        return FILM_OK;
    }
    *holds = value.outcome == FILM_EVAL_VALUE && value.truth_known && value.truth;
    return FILM_OK;
}

/* --- counting --- */

/* What a point is, for counts that outlive it. */
static uint64_t
identity_of(const film_point *point)
{
    char text[256];
    int length = snprintf(text, sizeof(text), "%d|%s|%s|%u|%llu|%u|%u|%u",
                          (int)point->kind, point->file == NULL ? "" : point->file,
                          point->function == NULL ? "" : point->function, point->line,
                          (unsigned long long)point->target.serial, point->target.name,
                          point->target.code, point->target.slot);
    uint64_t hash = film_hash(text, length < 0                      ? 0
                                    : (size_t)length < sizeof(text) ? (size_t)length
                                                                    : sizeof(text) - 1);

    if (point->condition_text != NULL) {
        hash = film_digest_mix(
            hash, film_hash(point->condition_text, strlen(point->condition_text)));
    }
    return hash + (hash == 0);
}

static film_hit_counts *
counts_of(film_timeline *timeline, uint64_t identity, uint32_t thread)
{
    film_hit_counts *oldest = &timeline->hit_counts[0];

    for (size_t i = 0; i < FILM_TIMELINE_COUNTS; i++) {
        film_hit_counts *known = &timeline->hit_counts[i];
        if (known->identity == identity && known->thread == thread) {
            known->used = ++timeline->clock;
            return known;
        }
        if (known->used < oldest->used) {
            oldest = known;
        }
    }
    film_free(oldest->counts);
    memset(oldest, 0, sizeof(*oldest));
    oldest->identity = identity;
    oldest->thread = thread;
    oldest->used = ++timeline->clock;
    return oldest;
}

/* Hits among the events of a scene from `begin` up to, not including, `end`. */
static film_status
count_scene(film_breakpoints *set, film_point *point, film_scene *scene, uint32_t begin,
            uint32_t end, uint64_t *count, film_error *error)
{
    *count = 0;
    for (uint32_t i = begin; i < end; i++) {
        bool holds;
        if (!film_point_is_at(set, point, scene, i)) {
            continue;
        }
        FILM_TRY(film_point_holds(
            set, point, film_moment_of(scene->thread, scene->first + i),
            scene->events[i].node == 0 ? 0
                                       : scene->nodes[scene->events[i].node - 1].depth,
            NULL, &holds, error));
        *count += holds;
    }
    return FILM_OK;
}

/* The hits of a whole block; 0 without a look where its summary says so. */
static film_status
count_block(film_breakpoints *set, film_point *point, const film_filter *filter,
            uint32_t thread, uint64_t block, uint64_t *count, film_error *error)
{
    film_scene *scene;
    film_status status;

    *count = 0;
    if (!film_postings_may_hold(&set->timeline->postings, thread, block, filter)) {
        return FILM_OK;
    }
    status = film_timeline_scene(set->timeline, thread, block, &scene, error);
    if (status == FILM_END) {
        return FILM_OK;
    }
    FILM_TRY(status);
    return count_scene(set, point, scene, 0, scene->count, count, error);
}

/* Counts blocks up to, not including, `block`, or until there are `enough` hits.
 * FILM_LIMIT: the budget is spent. */
static film_status
count_blocks(film_breakpoints *set, film_point *point, film_hit_counts *known,
             uint64_t block, uint64_t enough, const film_budget *budget,
             film_error *error)
{
    film_filter filter = {.wanted = set->wanted, .count = set->wanted_count};

    FILM_TRY(
        film_postings_load(&set->timeline->postings, set->timeline->reader, error));
    while (known->count < block &&
           (known->count == 0 || known->counts[known->count - 1] < enough)) {
        uint64_t here, *counts = film_grow(known->counts, &known->capacity,
                                           known->count + 1, sizeof(*counts));
        if (counts == NULL) {
            return film_fail(error, FILM_NO_MEMORY, "memory ran out");
        }
        known->counts = counts;
        if (film_budget_spent(budget)) {
            return FILM_LIMIT;
        }
        FILM_TRY(count_block(set, point, &filter, known->thread, known->count, &here,
                             error));
        counts[known->count] =
            here + (known->count == 0 ? 0 : counts[known->count - 1]);
        known->count++;
    }
    return FILM_OK;
}

film_status
film_point_count(film_breakpoints *set, size_t which, film_moment moment,
                 const film_budget *budget, uint64_t *count, film_error *error)
{
    film_timeline *timeline = set->timeline;
    film_point *point = &set->points[which];
    film_hit_counts *known = counts_of(timeline, identity_of(point), moment.thread);
    uint64_t block = moment.event >> FILM_CHUNK_SHIFT, here, last;
    film_scene *scene;
    uint32_t index;

    *count = 0;
    if (block >> MOST_BLOCKS_SHIFT != 0) { /* only a damaged file has such numbers */
        return FILM_OK;
    }
    FILM_TRY(count_blocks(set, point, known, block, UINT64_MAX, budget, error));
    FILM_TRY(film_timeline_locate(timeline, moment, &scene, &index, error));
    last = known->last_event;
    if (known->has_last && last >> FILM_CHUNK_SHIFT == block && last >= scene->first) {
        uint32_t from = (uint32_t)(last - scene->first);
        uint32_t low = index < from ? index : from, high = index < from ? from : index;
        FILM_TRY(count_scene(set, point, scene, low + 1, high + 1, &here, error));
        *count = index < from ? known->last_count - here : known->last_count + here;
    }
    else {
        FILM_TRY(count_scene(set, point, scene, 0, index + 1, &here, error));
        *count = here + (block == 0 ? 0 : known->counts[block - 1]);
    }
    known->has_last = true;
    known->last_event = scene->first + index;
    known->last_count = *count;
    return FILM_OK;
}

/* --- log points --- */

/* The text with its {expressions} evaluated. */
static film_status
write_log(film_breakpoints *set, const char *text, film_moment moment, size_t index,
          film_error *error)
{
    film_buffer *out = &set->text;

    film_buffer_clear(out);
    while (*text != '\0' && out->length < LOG_TEXT) {
        const char *end = *text == '{' ? strchr(text, '}') : NULL;
        film_expression *tree;
        film_evaluated value;
        film_status status;
        if (end == NULL) {
            film_buffer_put_byte(out, (uint8_t)*text++);
            continue;
        }
        if (film_expression_parse(text + 1, (size_t)(end - text - 1), &tree, error) !=
            FILM_OK) {
            film_buffer_append(out, text, (size_t)(end + 1 - text));
            text = end + 1;
            continue;
        }
        status =
            film_expression_evaluate(tree, set->timeline, moment, index, &value, error);
        if (status == FILM_OK && value.outcome == FILM_EVAL_VALUE) {
            film_buffer_append(out, value.value.text.data, value.value.text.length);
        }
        else if (status == FILM_OK) {
            film_buffer_append_text(out, "<");
            film_buffer_append_text(out, value.why);
            film_buffer_append_text(out, ">");
        }
        film_expression_free(tree);
        FILM_TRY(status);
        text = end + 1;
    }
    return out->failed ? film_fail(error, FILM_NO_MEMORY, "memory ran out") : FILM_OK;
}

/* --- continuing --- */

static bool
is_wanted_hit(const film_point *point, uint64_t count)
{
    switch (point->hit_sign) {
    case '<':
        return count < point->hit;
    case '>':
        return count > point->hit;
    case 'l':
        return count <= point->hit;
    case 'g':
        return count >= point->hit;
    case '%':
        return count % point->hit == 0;
    default:
        return count == point->hit;
    }
}

/* Whether the point stops here; a log point is told and does not. */
static bool
stops(journey *on, size_t which, film_moment moment, size_t index)
{
    film_breakpoints *set = on->set;
    film_point *point = &set->points[which];
    uint64_t count;
    bool holds = false;

    on->status =
        film_point_holds(set, point, moment, index, &point->tally, &holds, on->error);
    if (on->status != FILM_OK || !holds) {
        return false;
    }
    if (point->hit != 0) {
        on->status =
            film_point_count(set, which, moment, on->budget, &count, on->error);
        if (on->status == FILM_LIMIT) {
            on->status = FILM_OK;
            on->out_of_time = true;
            point->tally.ran--; /* it is looked at again */
            point->tally.held--;
            return true;
        }
        if (on->status != FILM_OK || !is_wanted_hit(point, count)) {
            return false;
        }
    }
    if (point->log == NULL || on->later || set->trial) {
        return true;
    }
    on->status = write_log(set, point->log, moment, index, on->error);
    if (on->status == FILM_OK && on->log != NULL) {
        on->log(on->context, which, moment, (const char *)set->text.data,
                set->text.length);
    }
    return false;
}

static bool
match_points(void *context, film_timeline *timeline, const film_scene *scene,
             uint32_t index)
{
    journey *on = context;
    const film_scene_event *event = &scene->events[index];
    film_moment moment = film_moment_of(scene->thread, scene->first + index);
    size_t depth = event->node == 0 ? 0 : scene->nodes[event->node - 1].depth;

    (void)timeline;
    for (size_t i = 0; i < on->set->count && on->status == FILM_OK; i++) {
        if (film_point_is_at(on->set, &on->set->points[i], scene, index) &&
            stops(on, i, moment, depth)) {
            on->hit = i;
            return true;
        }
    }
    return false;
}

static bool
is_slow(const film_breakpoints *set)
{
    for (size_t i = 0; i < set->count; i++) {
        if (set->points[i].condition != NULL || set->points[i].hit != 0 ||
            set->points[i].log != NULL) {
            return true;
        }
    }
    return false;
}

static bool
has_log_point(const film_breakpoints *set)
{
    for (size_t i = 0; i < set->count; i++) {
        if (set->points[i].log != NULL) {
            return true;
        }
    }
    return false;
}

/* Across threads: to the next hit that is no log point; log points on the way are told
 * in the order of time, none of what is behind the stop. */
static film_status
search_in_order(journey *on, film_search *search, film_stop *out)
{
    film_scene *scene;
    uint32_t index;

    for (;;) {
        on->later = true;
        FILM_TRY(film_search_run(on->set->timeline, search, out, on->error));
        if (out->reason != FILM_STOP_ARRIVED || on->out_of_time ||
            on->status != FILM_OK) {
            return FILM_OK;
        }
        on->later = false;
        FILM_TRY(film_timeline_locate(on->set->timeline, out->moment, &scene, &index,
                                      on->error));
        if (match_points(on, on->set->timeline, scene, index) ||
            on->status != FILM_OK) {
            return FILM_OK;
        }
        search->from = out->moment;
        if (film_budget_spent(on->budget)) {
            out->reason = FILM_STOP_UNFINISHED;
            out->progress = film_timeline_progress(on->set->timeline, out->moment);
            return FILM_OK;
        }
    }
}

film_tally *
film_breakpoints_tally(film_breakpoints *breakpoints, size_t index)
{
    return &breakpoints->points[index].tally;
}

void
film_breakpoints_until(film_breakpoints *breakpoints, uint64_t event)
{
    breakpoints->until = event;
    breakpoints->bounded = true;
}

film_status
film_breakpoints_continue(film_breakpoints *breakpoints, film_moment from, bool back,
                          bool across, const film_budget *budget, film_log_point log,
                          void *context, film_stop *out, film_error *error)
{
    journey on = {.set = breakpoints,
                  .budget = budget,
                  .log = log,
                  .context = context,
                  .error = error};
    film_filter filter = {.wanted = breakpoints->wanted,
                          .count = breakpoints->wanted_count};
    film_search search = {.from = from,
                          .back = back,
                          .across = across,
                          .slow = is_slow(breakpoints),
                          .nothing = breakpoints->wanted_count == 0,
                          .filter = &filter,
                          .match = match_points,
                          .context = &on,
                          .budget = budget};

    if (breakpoints->bounded && back) {
        search.least = breakpoints->until + 1;
    }
    else if (breakpoints->bounded) {
        search.end = breakpoints->until;
    }
    if (across && has_log_point(breakpoints) && !breakpoints->trial) {
        FILM_TRY(search_in_order(&on, &search, out));
    }
    else {
        FILM_TRY(film_search_run(breakpoints->timeline, &search, out, error));
    }
    FILM_TRY(on.status);
    if (out->reason == FILM_STOP_ARRIVED) {
        out->reason = FILM_STOP_BREAKPOINT;
        out->breakpoint = on.hit;
    }
    if (on.out_of_time) { /* the hit is looked at again when it goes on */
        out->reason = FILM_STOP_UNFINISHED;
        out->progress = film_timeline_progress(breakpoints->timeline, out->moment);
        out->moment.event = back                    ? out->moment.event + 1
                            : out->moment.event > 0 ? out->moment.event - 1
                                                    : 0;
    }
    return FILM_OK;
}

/* The thread that alone can hit the point; 0: there are several, or none. */
static uint32_t
only_thread(film_breakpoints *set)
{
    film_reader *reader = set->timeline->reader;
    film_filter filter = {.wanted = set->wanted, .count = set->wanted_count};
    uint32_t found = 0;

    for (size_t i = 0; i < film_reader_thread_count(reader); i++) {
        const film_thread_info *info = film_reader_thread(reader, i);
        uint64_t block = info->first_event >> FILM_CHUNK_SHIFT;
        bool can = false;
        while (!can && info->end_event > 0 && block != UINT64_MAX &&
               block <= (info->end_event - 1) >> FILM_CHUNK_SHIFT) {
            can = film_postings_may_hold(&set->timeline->postings, info->id, block,
                                         &filter);
            block = film_timeline_block(set->timeline, info->id, block + 1, false);
        }
        if (can && found != 0) {
            return 0;
        }
        found = can ? info->id : found;
    }
    return found;
}

/* The n-th hit in one thread: the block by counts, then the event in it. */
static film_status
nth_hit(film_breakpoints *set, uint32_t thread, uint64_t n, const film_budget *budget,
        film_stop *out, film_error *error)
{
    film_point *point = &set->points[0];
    film_hit_counts *known = counts_of(set->timeline, identity_of(point), thread);
    film_moment first, last;
    uint64_t blocks, block = 0, before, here;
    film_scene *scene;
    film_status status;

    FILM_TRY(film_timeline_ends(set->timeline, thread, &first, &last, error));
    blocks = (last.event >> FILM_CHUNK_SHIFT) + 1;
    out->moment = last;
    out->reason = FILM_STOP_AT_END;
    if (blocks >> MOST_BLOCKS_SHIFT != 0) {
        return FILM_OK;
    }
    status = count_blocks(set, point, known, blocks, n, budget, error);
    if (status == FILM_LIMIT) {
        out->reason = FILM_STOP_UNFINISHED;
        out->moment = film_moment_of(thread, known->count << FILM_CHUNK_SHIFT);
        out->progress = (double)known->count / (double)blocks;
        return FILM_OK;
    }
    FILM_TRY(status);
    while (block < known->count && known->counts[block] < n) {
        block++;
    }
    if (block == known->count) {
        return FILM_OK;
    }
    before = block == 0 ? 0 : known->counts[block - 1];
    FILM_TRY(film_timeline_scene(set->timeline, thread, block, &scene, error));
    for (uint32_t i = 0; i < scene->count; i++) {
        FILM_TRY(count_scene(set, point, scene, i, i + 1, &here, error));
        before += here;
        if (before == n) {
            out->moment = film_moment_of(thread, scene->first + i);
            out->reason = FILM_STOP_ARRIVED;
            return FILM_OK;
        }
    }
    return FILM_OK;
}

/* The n-th hit of all threads by time, one after the other. */
static film_status
walk_hits(film_breakpoints *set, int64_t n, const film_budget *budget, film_stop *out,
          film_error *error)
{
    film_moment first, last, at;

    FILM_TRY(film_timeline_ends(set->timeline,
                                film_reader_thread(set->timeline->reader, 0)->id,
                                &first, &last, error));
    at = n < 0 ? last : first;
    for (int64_t left = n < 0 ? -n : n; left > 0; left--) {
        FILM_TRY(film_breakpoints_continue(set, at, n < 0, true, budget, NULL, NULL,
                                           out, error));
        if (out->reason != FILM_STOP_BREAKPOINT) {
            return FILM_OK;
        }
        at = out->moment;
    }
    out->reason = FILM_STOP_ARRIVED;
    return FILM_OK;
}

film_status
film_timeline_hit(film_timeline *timeline, const film_breakpoint *place, int64_t n,
                  const film_budget *budget, film_stop *out, film_error *error)
{
    film_breakpoints *set;
    film_status status;
    uint32_t thread;
    size_t bad;

    memset(out, 0, sizeof(*out));
    n = n == 0 ? 1 : n < -INT64_MAX ? -INT64_MAX : n;
    if (film_reader_thread_count(timeline->reader) == 0) {
        return film_fail(error, FILM_END, "the recording has no events");
    }
    FILM_TRY(film_breakpoints_make(timeline, place, 1, &set, &bad, error));
    status = film_postings_load(&timeline->postings, timeline->reader, error);
    if (status == FILM_OK) {
        thread = n < 0 || set->wanted_count == 0 ? 0 : only_thread(set);
        status = thread != 0 ? nth_hit(set, thread, (uint64_t)n, budget, out, error)
                             : walk_hits(set, n, budget, out, error);
    }
    film_breakpoints_free(set);
    return status;
}
