/* condition.c: the first moment where a condition is true: see questions.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/breakpoints.h"
#include "analysis/kinds.h"
#include "analysis/questions.h"
#include "analysis/search.h"
#include "format/chunk.h"

typedef struct condition_walk {
    const film_condition *condition;
    film_evaluated value; /* where it was last looked at */
    film_status status;
    film_error *error;
} condition_walk;

/* Values are looked at where a line begins and where the frame ends. */
static bool
is_looked_at(const film_condition *condition, film_timeline *timeline,
             const film_scene *scene, const film_scene_event *event)
{
    uint32_t code;

    if (event->node == 0) {
        return false;
    }
    code = scene->nodes[event->node - 1].code;
    if (condition->code != FILM_NO_CODE && code != condition->code) {
        return false;
    }
    if (condition->line != 0) {
        return event->kind == FILM_KIND_LINE &&
               film_reader_line(timeline->reader, code, event->offset) ==
                   condition->line;
    }
    return event->kind == FILM_KIND_LINE || film_kind_leaves(event->kind);
}

/* True where it is known whether the condition holds. */
static bool
match_known(void *context, film_timeline *timeline, const film_scene *scene,
            uint32_t index)
{
    condition_walk *walk = context;
    const film_scene_event *event = &scene->events[index];
    film_moment moment = film_moment_of(scene->thread, scene->first + index);

    if (walk->status != FILM_OK ||
        !is_looked_at(walk->condition, timeline, scene, event)) {
        return false;
    }
    walk->status = film_expression_evaluate(walk->condition->tree, timeline, moment,
                                            scene->nodes[event->node - 1].depth,
                                            &walk->value, walk->error);
    if (walk->status == FILM_OK && walk->condition->tally != NULL) {
        film_tally_add(walk->condition->tally, &walk->value);
    }
    return walk->status == FILM_OK && walk->value.outcome == FILM_EVAL_VALUE &&
           walk->value.truth_known;
}

static bool
match_true(void *context, film_timeline *timeline, const film_scene *scene,
           uint32_t index)
{
    const condition_walk *walk = context;

    return match_known(context, timeline, scene, index) && walk->value.truth;
}

static film_status
run(film_timeline *timeline, const film_search *wish, condition_walk *walk,
    film_stop *out, film_error *error)
{
    film_wanted wanted = {.kind = FILM_WANTED_CODE, .code = walk->condition->code};
    film_filter filter = {.wanted = &wanted,
                          .count = walk->condition->code == FILM_NO_CODE ? 0 : 1};
    film_search search = *wish;

    search.slow = true;
    search.filter = &filter;
    search.context = walk;
    FILM_TRY(film_search_run(timeline, &search, out, error));
    return walk->status;
}

/* Halves what lies behind *from until a chunk is left: all before *from is false then,
 * and from *end on it is true. */
static film_status
halve(film_timeline *timeline, condition_walk *walk, film_moment *from, uint64_t *end,
      const film_budget *budget, film_stop *out, film_error *error)
{
    while (*end - from->event > FILM_CHUNK_EVENTS) {
        uint64_t middle = from->event + (*end - from->event) / 2;
        film_search search = {.from = film_moment_of(from->thread, middle),
                              .inclusive = true,
                              .back = true,
                              .least = from->event + 1,
                              .match = match_known,
                              .budget = budget};
        FILM_TRY(run(timeline, &search, walk, out, error));
        if (out->reason == FILM_STOP_UNFINISHED) {
            out->moment = *from; /* what is known by now is not asked again */
            return FILM_OK;
        }
        if (out->reason == FILM_STOP_ARRIVED && walk->value.truth) {
            *end = out->moment.event + 1;
        }
        else {
            from->event = middle;
        }
    }
    out->reason = FILM_STOP_ARRIVED;
    return FILM_OK;
}

film_status
film_find_condition(film_timeline *timeline, const film_condition *condition,
                    film_moment from, const film_budget *budget, film_stop *out,
                    film_error *error)
{
    condition_walk walk = {.condition = condition, .error = error};
    film_search search = {.from = from,
                          .back = condition->back,
                          .across = true,
                          .match = match_true,
                          .budget = budget};

    if (condition->monotone && !condition->back) {
        film_moment first, last;
        uint64_t end;

        FILM_TRY(film_timeline_ends(timeline, from.thread, &first, &last, error));
        end = last.event + 1;
        FILM_TRY(halve(timeline, &walk, &search.from, &end, budget, out, error));
        if (out->reason == FILM_STOP_UNFINISHED) {
            return FILM_OK;
        }
        search.across = false;
    }
    return run(timeline, &search, &walk, out, error);
}
