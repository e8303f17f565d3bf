/* raises.c: see raises.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/raises.h"

#include <string.h>

#include "analysis/search.h"
#include "base/alloc.h"
#include "reader/reader_state.h"

#define MOST_UNCAUGHT 256u
/* So far back it is looked where an exception that is thrown in came from. */
#define MOST_BACK 4096u
/* Messages are compared as far as they are kept. */
#define MESSAGE_ROOM 600u

/* --- which exception --- */

/* What is told of an exception: objects have no numbers of their own here. */
typedef struct told {
    uint32_t type;  /* string id */
    uint64_t value; /* of its message + 1; 0: none */
} told;

static bool
tells_exception(uint8_t kind)
{
    return kind == FILM_KIND_RAISE || kind == FILM_KIND_UNWIND ||
           kind == FILM_KIND_HANDLED || kind == FILM_KIND_THROW;
}

static told
told_at(const film_scene *scene, uint32_t index)
{
    const film_scene_event *event = &scene->events[index];
    told of = {0, 0};

    if (event->extra != 0) {
        of.type = scene->extras[event->extra - 1].text;
        of.value = scene->extras[event->extra - 1].value;
    }
    return of;
}

/* The same message may have been kept twice: its text counts, not its number. */
static bool
is_same_message(film_timeline *timeline, uint64_t one, uint64_t other)
{
    char text[MESSAGE_ROOM];
    film_value value;
    size_t length;

    if (one == other || one == 0 || other == 0) {
        return one == other;
    }
    if (film_reader_value(timeline->reader, one - 1, &value, NULL) != FILM_OK ||
        value.text.length > sizeof(text)) {
        return false;
    }
    length = value.text.length;
    if (length > 0) {
        memcpy(text, value.text.data, length);
    }
    return film_reader_value(timeline->reader, other - 1, &value, NULL) == FILM_OK &&
           film_text_is(value.text, text, length);
}

static bool
is_same(film_timeline *timeline, told one, told other)
{
    return one.type == other.type && is_same_message(timeline, one.value, other.value);
}

/* --- passing by --- */

/* Back through the events of a thread, over the edges of chunks. */
typedef struct way_back {
    film_timeline *timeline;
    const film_scene *scene;
    uint32_t index;
    unsigned left;
} way_back;

static bool
go_back(way_back *way)
{
    film_scene *scene;
    uint64_t block = way->scene->block;

    if (way->left-- == 0) {
        way->left = 0;
        return false;
    }
    if (way->index > 0) {
        way->index--;
        return true;
    }
    if (block == 0 ||
        film_timeline_scene(way->timeline, way->scene->thread, block - 1, &scene,
                            NULL) != FILM_OK ||
        scene->count == 0) {
        return false;
    }
    way->scene = scene;
    way->index = scene->count - 1;
    return true;
}

static uint32_t
depth_at(const film_scene *scene, uint32_t index)
{
    uint32_t node = scene->events[index].node;

    return node == 0 ? UINT32_MAX : scene->nodes[node - 1].depth;
}

/* What may lie between the end of a callee and the raise in its caller: what the
 * caller's line had written until then, the C function that called it, tasks. */
static bool
lies_between(uint8_t kind)
{
    return kind == FILM_KIND_SET || kind == FILM_KIND_DELETE ||
           kind == FILM_KIND_CHANGE || kind == FILM_KIND_C_RAISE ||
           kind == FILM_KIND_OP_END || kind == FILM_KIND_TASK;
}

static uint32_t
line_at(film_timeline *timeline, const film_scene *scene, uint32_t index)
{
    const film_scene_event *event = &scene->events[index];

    return event->node == 0
               ? 0
               : film_reader_line(timeline->reader, scene->nodes[event->node - 1].code,
                                  event->offset);
}

/* What lies between a throw and the exception that was told before it. */
typedef struct between {
    uint32_t shallowest; /* depth */
    uint32_t line;       /* all of it is on; 0: nothing */
    bool elsewhere;      /* it is not on one line */
} between;

static void
pass_over(way_back *way, between *seen)
{
    uint8_t kind = way->scene->events[way->index].kind;
    uint32_t depth = depth_at(way->scene, way->index);
    uint32_t line;

    if (kind == FILM_KIND_TASK) {
        return;
    }
    seen->shallowest = depth < seen->shallowest ? depth : seen->shallowest;
    if (kind == FILM_KIND_LINE) {
        line = line_at(way->timeline, way->scene, way->index);
        seen->elsewhere = seen->elsewhere || (seen->line != 0 && seen->line != line);
        seen->line = line;
    }
    else if (!lies_between(kind)) {
        seen->elsewhere = true;
    }
}

/* Something threw the exception into a frame `depth` deep. It passes by if it was on
 * its way before: the last exception that was told is this one, and the caller of the
 * frame it left has not gone on, nor anybody handled it; but for the line of a with
 * statement, which hands it to the context manager. */
static bool
was_on_its_way(way_back *way, told thrown, uint32_t depth)
{
    between seen = {.shallowest = UINT32_MAX};

    while (go_back(way)) {
        const film_scene *scene = way->scene;
        uint8_t kind = scene->events[way->index].kind;
        uint32_t line;
        if (kind == FILM_KIND_NONE || kind == FILM_KIND_LOST) {
            return false;
        }
        if (!tells_exception(kind)) {
            pass_over(way, &seen);
            continue;
        }
        if (!is_same(way->timeline, told_at(scene, way->index), thrown)) {
            return false;
        }
        if (kind != FILM_KIND_HANDLED) {
            return kind == FILM_KIND_RAISE ||
                   (kind == FILM_KIND_UNWIND &&
                    depth_at(scene, way->index) <= seen.shallowest);
        }
        line = line_at(way->timeline, scene, way->index);
        return line != 0 && line == seen.line && !seen.elsewhere &&
               depth_at(scene, way->index) + 1 == depth;
    }
    return false;
}

bool
film_raise_passes(film_timeline *timeline, const film_scene *scene, uint32_t index)
{
    way_back way = {
        .timeline = timeline, .scene = scene, .index = index, .left = MOST_BACK};
    told raised = told_at(scene, index);
    uint64_t frame;

    if (scene->events[index].kind != FILM_KIND_RAISE ||
        scene->events[index].node == 0) {
        return false;
    }
    frame = scene->nodes[scene->events[index].node - 1].serial;
    do {
        if (!go_back(&way)) {
            return false;
        }
    } while (lies_between(way.scene->events[way.index].kind));
    if (!tells_exception(way.scene->events[way.index].kind) ||
        !is_same(timeline, told_at(way.scene, way.index), raised)) {
        return false;
    }
    if (way.scene->events[way.index].kind == FILM_KIND_THROW) {
        uint32_t node = way.scene->events[way.index].node;
        return node != 0 && way.scene->nodes[node - 1].serial == frame &&
               was_on_its_way(&way, raised, depth_at(scene, index));
    }
    return way.scene->events[way.index].kind == FILM_KIND_UNWIND;
}

/* --- uncaught --- */

static bool
match_last_unwind(void *context, film_timeline *timeline, const film_scene *scene,
                  uint32_t index)
{
    const film_scene_event *event = &scene->events[index];

    (void)context;
    (void)timeline;
    return event->kind == FILM_KIND_UNWIND && event->node != 0 &&
           scene->nodes[event->node - 1].parent == 0;
}

/* The raise of an exception that is told later. */
static bool
match_raise(void *context, film_timeline *timeline, const film_scene *scene,
            uint32_t index)
{
    return scene->events[index].kind == FILM_KIND_RAISE &&
           is_same(timeline, told_at(scene, index), *(const told *)context) &&
           !film_raise_passes(timeline, scene, index);
}

/* The raise of what is told at a moment, itself included; thread 0: not recorded. */
static film_status
find_raise(film_timeline *timeline, film_moment moment, film_moment *raised,
           film_error *error)
{
    film_wanted wanted = {.kind = FILM_WANTED_EVENT, .number = FILM_KIND_RAISE};
    film_filter filter = {.wanted = &wanted, .count = 1};
    film_scene *scene;
    uint32_t index;
    told of;
    film_search search = {.from = moment,
                          .inclusive = true,
                          .back = true,
                          .filter = &filter,
                          .match = match_raise,
                          .context = &of};
    film_stop stop;

    *raised = film_moment_of(0, 0);
    FILM_TRY(film_timeline_locate(timeline, moment, &scene, &index, error));
    of = told_at(scene, index);
    FILM_TRY(film_search_run(timeline, &search, &stop, error));
    if (stop.reason == FILM_STOP_ARRIVED) {
        *raised = stop.moment;
    }
    return FILM_OK;
}

static film_status
add_uncaught(film_timeline *timeline, film_moment unwound, film_uncaught_list *out,
             film_error *error)
{
    film_uncaught one = {.unwound = unwound};
    film_uncaught *items;

    FILM_TRY(find_raise(timeline, unwound, &one.raised, error));
    if (one.raised.thread == 0 || out->count == MOST_UNCAUGHT) {
        return FILM_OK;
    }
    items = film_grow(out->items, &out->capacity, out->count + 1, sizeof(*items));
    if (items == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    out->items = items;
    items[out->count++] = one;
    return FILM_OK;
}

film_status
film_find_uncaught(film_timeline *timeline, film_uncaught_list *out, film_error *error)
{
    film_wanted wanted = {.kind = FILM_WANTED_EVENT, .number = FILM_KIND_UNWIND};
    film_filter filter = {.wanted = &wanted, .count = 1, .shallower = 1};

    for (size_t i = 0; i < film_reader_thread_count(timeline->reader); i++) {
        film_moment first, last;
        film_search search = {.filter = &filter, .match = match_last_unwind};
        film_stop stop;
        if (film_timeline_ends(timeline, film_reader_thread(timeline->reader, i)->id,
                               &first, &last, NULL) != FILM_OK) {
            continue;
        }
        search.from = first;
        for (unsigned k = 0; k < MOST_UNCAUGHT; k++) {
            FILM_TRY(film_search_run(timeline, &search, &stop, error));
            if (stop.reason != FILM_STOP_ARRIVED) {
                break;
            }
            search.from = stop.moment;
            FILM_TRY(add_uncaught(timeline, stop.moment, out, error));
        }
    }
    return FILM_OK;
}

/* --- what became of one --- */

/* Whether nothing of the thread ran behind this but its end. */
static film_status
is_last(film_timeline *timeline, film_moment moment, bool *is, film_error *error)
{
    film_moment first, last;
    const film_event *event;

    *is = true;
    FILM_TRY(film_timeline_ends(timeline, moment.thread, &first, &last, error));
    if (last.event > moment.event + 1) {
        *is = false;
    }
    else if (last.event == moment.event + 1) {
        FILM_TRY(film_timeline_event(timeline, last, &event, error));
        *is = event->kind == FILM_KIND_THREAD_END;
    }
    return FILM_OK;
}

/* What ended the program is noted by its type. */
static bool
ended_program(film_timeline *timeline, film_moment unwound)
{
    const char *type = film_reader_meta(timeline->reader, "exit_exception");
    const film_event *event;

    return type != NULL && unwound.thread == 1 &&
           film_timeline_event(timeline, unwound, &event, NULL) == FILM_OK &&
           film_text_is(film_reader_string(timeline->reader, event->text), type,
                        strlen(type));
}

/* The event behind a moment that is no write or task: where control went. FILM_END:
 * there is none. */
static film_status
event_behind(film_timeline *timeline, film_moment *moment, film_scene **scene,
             uint32_t *index, film_error *error)
{
    film_moment first, last;

    FILM_TRY(film_timeline_ends(timeline, moment->thread, &first, &last, error));
    do {
        if (moment->event >= last.event) {
            return FILM_END;
        }
        moment->event++;
        FILM_TRY(film_timeline_locate(timeline, *moment, scene, index, error));
    } while (lies_between((*scene)->events[*index].kind));
    return FILM_OK;
}

/* The end of the frame that a moment is in. *by: whether this exception ended it. */
static film_status
end_of_frame(film_timeline *timeline, film_moment *moment, told of,
             const film_budget *budget, bool *by, film_error *error)
{
    film_move_options options = {.budget = *budget};
    film_scene *scene;
    uint32_t index;
    film_stop stop;

    film_status status;

    *by = false;
    status =
        film_timeline_move(timeline, *moment, FILM_MOVE_RETURN, &options, &stop, error);
    /* It goes on, and on; or its frame was lost with a damaged part. */
    if (status == FILM_MISUSE ||
        (status == FILM_OK && stop.reason != FILM_STOP_ARRIVED)) {
        return FILM_OK;
    }
    FILM_TRY(status);
    *moment = stop.moment;
    FILM_TRY(film_timeline_locate(timeline, *moment, &scene, &index, error));
    *by = scene->events[index].kind == FILM_KIND_UNWIND &&
          is_same(timeline, told_at(scene, index), of);
    return FILM_OK;
}

film_status
film_exception_fate(film_timeline *timeline, film_moment moment,
                    const film_budget *budget, film_fate *fate, film_moment *raised,
                    film_error *error)
{
    film_scene *scene;
    uint32_t index;
    told of;
    bool by = true, last = false;

    *fate = FILM_FATE_NONE;
    *raised = film_moment_of(0, 0);
    FILM_TRY(film_timeline_locate(timeline, moment, &scene, &index, error));
    if (!tells_exception(scene->events[index].kind) || scene->events[index].node == 0) {
        return FILM_OK;
    }
    of = told_at(scene, index);
    *fate = FILM_FATE_CAUGHT;
    FILM_TRY(find_raise(timeline, moment, raised, error));
    while (!film_budget_spent(budget)) {
        film_status status;
        FILM_TRY(end_of_frame(timeline, &moment, of, budget, &by, error));
        if (!by) {
            return FILM_OK;
        }
        FILM_TRY(is_last(timeline, moment, &last, error));
        *fate = last || ended_program(timeline, moment) ? FILM_FATE_UNCAUGHT
                                                        : FILM_FATE_LEFT;
        status = event_behind(timeline, &moment, &scene, &index, error);
        if (status == FILM_END) {
            return FILM_OK;
        }
        FILM_TRY(status);
        if (scene->events[index].kind != FILM_KIND_RAISE ||
            !is_same(timeline, told_at(scene, index), of)) {
            return FILM_OK;
        }
        *fate = FILM_FATE_CAUGHT; /* unless its caller is left by it as well */
    }
    return FILM_OK;
}
