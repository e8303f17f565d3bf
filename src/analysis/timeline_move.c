/* timeline_move.c: forwards and backwards through events, lines and frames.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "analysis/raises.h"
#include "analysis/search.h"
#include "base/alloc.h"
#include "reader/reader_state.h"

/* CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR */
#define GENERATOR_FLAGS 0x2a0u
#define MOST_KEPT 4096u

/* What a movement by lines looks for. */
typedef struct line_walk {
    bool without_lines;     /* level calls: other events stand for lines */
    bool any;               /* in whichever frame */
    const uint64_t *frames; /* serials, sorted */
    size_t count;
    uint64_t own;  /* a generator's frame: when it yields it is waited for */
    bool only_own; /* it has yielded */
    bool ended;    /* (own) it returned or unwound: from now on its callers count */
} line_walk;

static bool
is_stop(const line_walk *walk, uint8_t kind)
{
    if (!walk->without_lines) {
        return kind == FILM_KIND_LINE;
    }
    return film_kind_enters(kind) || film_kind_leaves(kind) ||
           kind == FILM_KIND_RAISE || kind == FILM_KIND_HANDLED ||
           kind == FILM_KIND_C_CALL || kind == FILM_KIND_OP;
}

static bool
holds_frame(const line_walk *walk, uint64_t serial)
{
    size_t low = 0, high = walk->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (walk->frames[middle] < serial) {
            low = middle + 1;
        }
        else {
            high = middle;
        }
    }
    return low < walk->count && walk->frames[low] == serial;
}

static bool
match_line(void *context, film_timeline *timeline, const film_scene *scene,
           uint32_t index)
{
    const line_walk *walk = context;
    const film_scene_event *event = &scene->events[index];

    (void)timeline;
    if (!is_stop(walk, event->kind)) {
        return false;
    }
    return walk->any || (event->node != 0 &&
                         holds_frame(walk, scene->nodes[event->node - 1].serial));
}

static bool
match_any(void *context, film_timeline *timeline, const film_scene *scene,
          uint32_t index)
{
    (void)context;
    (void)timeline;
    return scene->events[index].kind != FILM_KIND_NONE;
}

/* A raise; of those that pass by only where `context` says so. */
static bool
match_raise(void *context, film_timeline *timeline, const film_scene *scene,
            uint32_t index)
{
    return scene->events[index].kind == FILM_KIND_RAISE &&
           (*(const bool *)context || !film_raise_passes(timeline, scene, index));
}

typedef struct frame_event {
    uint64_t serial;
    bool entering, leaving, yields;
} frame_event;

/* The events that begin or end a frame's running. */
static bool
match_frame(void *context, film_timeline *timeline, const film_scene *scene,
            uint32_t index)
{
    const frame_event *wanted = context;
    const film_scene_event *event = &scene->events[index];

    (void)timeline;
    if (event->node == 0 || scene->nodes[event->node - 1].serial != wanted->serial) {
        return false;
    }
    switch (event->kind) {
    case FILM_KIND_CALL:
        return wanted->entering;
    case FILM_KIND_RESUME:
    case FILM_KIND_THROW:
        return wanted->entering && wanted->yields;
    case FILM_KIND_RETURN:
    case FILM_KIND_UNWIND:
        return wanted->leaving;
    case FILM_KIND_YIELD:
        return wanted->leaving && wanted->yields;
    default:
        return false;
    }
}

static bool
has_lines(const film_timeline *timeline)
{
    return film_reader_info(timeline->reader)->level >= 1;
}

/* The frame that a move is about: its place in timeline->places. FILM_END: it is not
 * open. */
static film_status
find_frame(film_timeline *timeline, film_moment from, uint64_t serial,
           film_scene **scene, size_t *at, film_error *error)
{
    uint32_t index;

    FILM_TRY(film_timeline_locate(timeline, from, scene, &index, error));
    FILM_TRY(film_timeline_places(timeline, *scene, index, error));
    for (size_t i = timeline->place_count; i > 0; i--) {
        if (serial == 0 ||
            (*scene)->nodes[timeline->places[i - 1].node].serial == serial) {
            *at = i - 1;
            return FILM_OK;
        }
    }
    return FILM_END;
}

static int
by_serial(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

/* The serials of the frames up to and with `last`, sorted; the caller owns them. Of
 * very deep stacks the innermost count. */
static uint64_t *
serials_of(const film_timeline *timeline, const film_scene *scene, size_t last,
           size_t *count)
{
    size_t first = last + 1 > MOST_KEPT ? last + 1 - MOST_KEPT : 0;
    uint64_t *serials = film_alloc_array(last + 2 - first, sizeof(*serials));

    *count = 0;
    for (size_t i = first; serials != NULL && i <= last; i++) {
        serials[(*count)++] = scene->nodes[timeline->places[i].node].serial;
    }
    if (serials != NULL && *count > 1) {
        qsort(serials, *count, sizeof(*serials), by_serial);
    }
    return serials;
}

static film_status
search(film_timeline *timeline, film_moment from, bool back, bool across,
       const film_filter *filter, film_match match, void *context,
       const film_budget *budget, film_stop *out, film_error *error)
{
    film_search request = {.from = from,
                           .back = back,
                           .across = across,
                           .filter = filter,
                           .match = match,
                           .context = context,
                           .budget = budget};

    return film_search_run(timeline, &request, out, error);
}

/* The next line of one of the frames up to `last` of the stack at `from`. */
static film_status
to_line_of(film_timeline *timeline, film_scene *scene, film_moment from, bool back,
           size_t last, const film_move_options *options, film_stop *out,
           film_error *error)
{
    line_walk walk = {.without_lines = !has_lines(timeline)};
    film_filter filter = {.shallower = (uint32_t)(last + 2)};
    uint64_t *serials = serials_of(timeline, scene, last, &walk.count);
    film_status status;

    if (serials == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    walk.frames = serials;
    status = search(timeline, from, back, false, &filter, match_line, &walk,
                    &options->budget, out, error);
    film_free(serials);
    return status;
}

static bool
is_generator(const film_timeline *timeline, uint32_t code)
{
    const film_code *of = film_reader_code(timeline->reader, code);

    return of != NULL && (of->flags & GENERATOR_FLAGS) != 0;
}

/* A generator's next line is its own, also when it has yielded in between; when it
 * ends, its caller's. */
static film_status
next_of_generator(film_timeline *timeline, film_scene *scene, film_moment from,
                  size_t at, const film_move_options *options, film_stop *out,
                  film_error *error)
{
    const film_node *node = &scene->nodes[timeline->places[at].node];
    uint64_t serial = node->serial;
    film_wanted wanted = {.kind = FILM_WANTED_CODE, .code = node->code};
    film_filter filter = {.wanted = &wanted, .count = 1};
    line_walk walk = {
        .without_lines = !has_lines(timeline), .frames = &serial, .count = 1};
    frame_event end = {.serial = serial, .leaving = true};
    film_stop line, ended;

    FILM_TRY(search(timeline, from, false, true, &filter, match_line, &walk,
                    &options->budget, &line, error));
    if (line.reason == FILM_STOP_UNFINISHED) {
        *out = line;
        out->frame = serial;
        return FILM_OK;
    }
    if (line.reason == FILM_STOP_ARRIVED) {
        *out = line;
        return FILM_OK;
    }
    /* No more lines of it: behind its end, or its last yield, the callers go on. */
    end.yields = true;
    FILM_TRY(search(timeline, from, false, false, &filter, match_frame, &end,
                    &options->budget, &ended, error));
    if (ended.reason == FILM_STOP_ARRIVED && at > 0) {
        FILM_TRY(find_frame(timeline, from, serial, &scene, &at, error));
        return to_line_of(timeline, scene, ended.moment, false, at - 1, options, out,
                          error);
    }
    *out = line;
    return FILM_OK;
}

static film_status
move_next(film_timeline *timeline, film_moment from, bool back,
          const film_move_options *options, film_stop *out, film_error *error)
{
    film_scene *scene;
    size_t at;
    film_status status = find_frame(timeline, from, options->frame, &scene, &at, error);

    if (status == FILM_END) { /* outside any frame, or it has ended: any line */
        line_walk walk = {.without_lines = !has_lines(timeline), .any = true};
        return search(timeline, from, back, false, NULL, match_line, &walk,
                      &options->budget, out, error);
    }
    FILM_TRY(status);
    if (is_generator(timeline, scene->nodes[timeline->places[at].node].code)) {
        if (!back) {
            return next_of_generator(timeline, scene, from, at, options, out, error);
        }
    }
    return to_line_of(timeline, scene, from, back, at, options, out, error);
}

static film_status
move_out(film_timeline *timeline, film_moment from, bool back,
         const film_move_options *options, film_stop *out, film_error *error)
{
    film_scene *scene;
    size_t at = 0;
    film_status status = find_frame(timeline, from, options->frame, &scene, &at, error);

    if (status != FILM_OK && status != FILM_END) {
        return status;
    }
    if (status == FILM_END || at == 0) {
        film_moment first, last;
        FILM_TRY(film_timeline_ends(timeline, from.thread, &first, &last, error));
        memset(out, 0, sizeof(*out));
        out->reason = back ? FILM_STOP_AT_START : FILM_STOP_AT_END;
        out->moment = back ? first : last;
        return FILM_OK;
    }
    return to_line_of(timeline, scene, from, back, at - 1, options, out, error);
}

/* To the call that made a frame, or the event that ended it. */
static film_status
move_to_end_of_frame(film_timeline *timeline, film_moment from, bool back,
                     const film_move_options *options, film_stop *out,
                     film_error *error)
{
    frame_event wanted = {.entering = back, .leaving = !back};
    film_scene *scene;
    const film_scene_event *event;
    film_wanted code = {.kind = FILM_WANTED_CODE};
    film_filter filter = {.wanted = &code, .count = 1};
    uint32_t index;
    size_t at;
    film_status status;

    status = find_frame(timeline, from, options->frame, &scene, &at, error);
    if (status == FILM_END) {
        return film_fail(error, FILM_MISUSE, "there is no such frame at this moment");
    }
    FILM_TRY(status);
    wanted.serial = scene->nodes[timeline->places[at].node].serial;
    code.code = scene->nodes[timeline->places[at].node].code;
    FILM_TRY(film_timeline_locate(timeline, from, &scene, &index, error));
    event = &scene->events[index];
    if (match_frame(&wanted, timeline, scene, index)) { /* it stands there */
        memset(out, 0, sizeof(*out));
        out->moment = from;
        return FILM_OK;
    }
    (void)event;
    FILM_TRY(search(timeline, from, back, is_generator(timeline, code.code), &filter,
                    match_frame, &wanted, &options->budget, out, error));
    return FILM_OK;
}

static film_status
move_line(film_timeline *timeline, film_moment from, bool back,
          const film_move_options *options, film_stop *out, film_error *error)
{
    line_walk walk = {.without_lines = !has_lines(timeline), .any = true};

    return search(timeline, from, back, options->across, NULL, match_line, &walk,
                  &options->budget, out, error);
}

static film_status
move_raise(film_timeline *timeline, film_moment from, bool back,
           const film_move_options *options, film_stop *out, film_error *error)
{
    bool passing = options->passing;
    film_wanted wanted = {.kind = FILM_WANTED_EVENT, .number = FILM_KIND_RAISE};
    film_filter filter = {.wanted = &wanted, .count = 1};

    return search(timeline, from, back, options->across, &filter, match_raise, &passing,
                  &options->budget, out, error);
}

static film_status
move_to_end(film_timeline *timeline, film_moment from, bool back, film_stop *out,
            film_error *error)
{
    film_moment first, last;

    FILM_TRY(film_timeline_ends(timeline, from.thread, &first, &last, error));
    memset(out, 0, sizeof(*out));
    out->moment = back ? first : last;
    return FILM_OK;
}

film_status
film_timeline_move(film_timeline *timeline, film_moment from, film_move move,
                   const film_move_options *options, film_stop *out, film_error *error)
{
    film_move_options none = {0};
    bool back = move == FILM_MOVE_BACK || move == FILM_MOVE_BACK_LINE ||
                move == FILM_MOVE_BACK_NEXT || move == FILM_MOVE_BACK_OUT ||
                move == FILM_MOVE_BACK_RAISE || move == FILM_MOVE_BACK_OP ||
                move == FILM_MOVE_BACK_NEXT_OP || move == FILM_MOVE_CALL ||
                move == FILM_MOVE_START;

    memset(out, 0, sizeof(*out));
    options = options == NULL ? &none : options;
    switch (move) {
    case FILM_MOVE_STEP:
    case FILM_MOVE_BACK:
        return search(timeline, from, back, options->across, NULL, match_any, NULL,
                      &options->budget, out, error);
    case FILM_MOVE_LINE:
    case FILM_MOVE_BACK_LINE:
        return move_line(timeline, from, back, options, out, error);
    case FILM_MOVE_NEXT:
    case FILM_MOVE_BACK_NEXT:
        return move_next(timeline, from, back, options, out, error);
    case FILM_MOVE_OUT:
    case FILM_MOVE_BACK_OUT:
        return move_out(timeline, from, back, options, out, error);
    case FILM_MOVE_CALL:
    case FILM_MOVE_RETURN:
        return move_to_end_of_frame(timeline, from, back, options, out, error);
    case FILM_MOVE_RAISE:
    case FILM_MOVE_BACK_RAISE:
        return move_raise(timeline, from, back, options, out, error);
    case FILM_MOVE_OP:
    case FILM_MOVE_BACK_OP:
        return film_move_op(timeline, from, back, false, options, out, error);
    case FILM_MOVE_NEXT_OP:
    case FILM_MOVE_BACK_NEXT_OP:
        return film_move_op(timeline, from, back, true, options, out, error);
    case FILM_MOVE_START:
    case FILM_MOVE_END:
        return move_to_end(timeline, from, back, out, error);
    default:
        return film_fail(error, FILM_MISUSE, "no such move");
    }
}
