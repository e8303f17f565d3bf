/* query_op.c: answers about one op: what it gave, and of a node of the backward pass the
 * op that made it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ops/forward.h"
#include "analysis/ops/op_item.h"
#include "analysis/query_state.h"
#include "analysis/timeline_state.h"

#define MOST_VALUES 64u /* of one op that are told */

film_status
film_ask_put_forward(film_ask *ask, const film_event *event)
{
    film_event node = *event;
    film_forward of;
    film_status status;

    if (!film_op_is_node(&node)) {
        return FILM_OK;
    }
    if (ask->timeline->forwards == NULL) {
        FILM_TRY(
            film_forwards_new(ask->timeline, &ask->timeline->forwards, ask->error));
    }
    status = film_forwards_find(ask->timeline->forwards, &node, &of, ask->error);
    if (status == FILM_END) {
        return FILM_OK;
    }
    FILM_TRY(status);
    film_ask_open(ask, "forward", '{');
    film_ask_moment(ask, "m", film_moment_of(of.thread, of.op));
    film_ask_moment(ask, "inner", film_moment_of(of.thread, of.inner));
    film_ask_place(ask, of.code, of.line);
    film_ask_string(ask, "name", film_reader_string(ask->reader, of.function));
    if (of.module != 0) {
        film_ask_string(ask, "module", film_reader_string(ask->reader, of.module));
    }
    film_ask_close(ask, '}');
    return FILM_OK;
}

/* The event that ends the op; FILM_END: it has none. */
static film_status
find_end(film_ask *ask, film_moment op, film_moment *end)
{
    film_op_item begin = {.kind = 0}, ended = {.kind = 0};
    film_status status =
        film_op_item_find(ask->reader, op.thread, op.event, &begin, &ended, ask->error);

    *end = film_moment_of(op.thread, ended.number);
    if (status == FILM_OK && ended.kind == 0) {
        status = FILM_END;
    }
    film_op_item_reset(&begin);
    film_op_item_reset(&ended);
    return status;
}

static film_status
put_result(film_ask *ask, film_moment end)
{
    const film_event *event;
    film_event kept;

    FILM_TRY(film_timeline_event(ask->timeline, end, &event, ask->error));
    kept = *event;
    film_ask_open(ask, "result", '[');
    for (uint32_t i = 0; i < kept.token_count && i < MOST_VALUES; i++) {
        film_scene *scene;
        film_datum value;
        uint32_t index;

        FILM_TRY(film_timeline_locate(ask->timeline, end, &scene, &index, ask->error));
        value = film_scene_token(scene, index, i);
        FILM_TRY(film_ask_value(ask, NULL, end, &value));
    }
    film_ask_close(ask, ']');
    if ((kept.form & FILM_OPERATION_RAISED) != 0) {
        film_value message;

        film_ask_string(ask, "raised", film_reader_string(ask->reader, kept.text));
        if (kept.value != 0 &&
            film_reader_value(ask->reader, kept.value - 1, &message, NULL) == FILM_OK) {
            film_ask_string(ask, "message", message.text);
        }
    }
    return FILM_OK;
}

film_status
film_answer_op(film_ask *ask)
{
    const film_event *event;
    film_moment moment, end;
    film_event op;
    film_status status;

    FILM_TRY(film_ask_get_moment(ask, "m", true, &moment));
    FILM_TRY(film_timeline_event(ask->timeline, moment, &event, ask->error));
    op = *event;
    if (op.kind == FILM_KIND_OP_END) {
        moment.event = op.op;
        status = film_timeline_event(ask->timeline, moment, &event, ask->error);
        op = status == FILM_OK ? *event : (film_event){.kind = FILM_KIND_NONE};
    }
    if (op.kind != FILM_KIND_OP) {
        return film_fail(ask->error, FILM_MISUSE, "no operation is called here");
    }
    film_ask_moment(ask, "m", moment);
    FILM_TRY(film_ask_whole_event(ask, moment, &op));
    status = find_end(ask, moment, &end);
    if (status == FILM_END) {
        film_ask_null(ask, "end");
        return FILM_OK;
    }
    FILM_TRY(status);
    FILM_TRY(film_timeline_event(ask->timeline, end, &event, ask->error));
    film_ask_moment(ask, "end", end);
    film_ask_number(ask, "duration_ns",
                    event->time_ns > op.time_ns ? event->time_ns - op.time_ns : 0);
    return put_result(ask, end);
}
