/* timeline_ops.c: from op to op.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "analysis/ops/own_code.h"
#include "analysis/search.h"
#include "analysis/timeline_state.h"

typedef struct op_walk {
    bool next;
    uint64_t most; /* next: how deep the frame may be that calls it */
} op_walk;

/* How deep the program's frame is that an op was called by: torch's own are passed
 * over. */
static uint64_t
depth_of_caller(film_timeline *timeline, const film_scene *scene, uint32_t node)
{
    while (node != 0) {
        const film_node *at = &scene->nodes[node - 1];
        const film_code *code = film_reader_code(timeline->reader, at->code);

        if (code == NULL || !film_code_is_own(code) || at->parent == 0) {
            return at->depth;
        }
        node = at->parent;
    }
    return 0;
}

static bool
match_op(void *context, film_timeline *timeline, const film_scene *scene,
         uint32_t index)
{
    const op_walk *walk = context;
    const film_scene_event *event = &scene->events[index];

    if (event->kind != FILM_KIND_OP) {
        return false;
    }
    return !walk->next || ((event->form & FILM_OPERATION_INNER) == 0 &&
                           depth_of_caller(timeline, scene, event->node) <= walk->most);
}

/* The depth of the frame that a move is about, or of that which called torch's code. */
static film_status
find_depth(film_timeline *timeline, film_moment from, uint64_t serial, uint64_t *out,
           film_error *error)
{
    const film_stack_frame *frames;
    size_t depth, at;

    *out = UINT64_MAX;
    FILM_TRY(film_timeline_stack(timeline, from, &frames, &depth, error));
    at = depth;
    while (at > 0 && serial != 0 && frames[at - 1].serial != serial) {
        at--;
    }
    for (; at > 0; at--) {
        const film_code *code = film_reader_code(timeline->reader, frames[at - 1].code);

        *out = at - 1;
        if (code == NULL || !film_code_is_own(code)) {
            break;
        }
    }
    return FILM_OK;
}

film_status
film_move_op(film_timeline *timeline, film_moment from, bool back, bool next,
             const film_move_options *options, film_stop *out, film_error *error)
{
    film_wanted wanted = {.kind = FILM_WANTED_EVENT, .number = FILM_KIND_OP};
    film_filter filter = {.wanted = &wanted, .count = 1};
    op_walk walk = {.next = next};
    film_search search = {.from = from,
                          .back = back,
                          .across = options->across && !next,
                          .filter = &filter,
                          .match = match_op,
                          .context = &walk,
                          .budget = &options->budget};

    if (next) {
        FILM_TRY(find_depth(timeline, from, options->frame, &walk.most, error));
    }
    return film_search_run(timeline, &search, out, error);
}

bool
film_timeline_has_ops(film_timeline *timeline)
{
    film_move_options options = {.across = true};
    film_moment first, last;
    film_stop stop;

    if (film_reader_thread_count(timeline->reader) == 0 ||
        film_timeline_ends(timeline, film_reader_thread(timeline->reader, 0)->id,
                           &first, &last, NULL) != FILM_OK ||
        film_move_op(timeline, first, false, false, &options, &stop, NULL) != FILM_OK) {
        return false;
    }
    return stop.reason == FILM_STOP_ARRIVED;
}
