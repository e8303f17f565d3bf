/* query_ops.c: answers about ops and tensors: what an op took and gave, what a tensor was,
 * and which op made it, back to the leaves.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/content.h"
#include "analysis/ops/op_item.h"
#include "analysis/query_state.h"
#include "analysis/search.h"

#define MOST_VALUES 64u /* of one op that are told */
#define MOST_INPUTS 16u /* tensors of one op whose makers are looked for */
#define MOST_DEPTH 8u
#define MOST_NODES 64u
#define READ_MS 15u /* a search for a maker takes so long at most, each but the first */

/* --- tensors --- */

/* The record that a token names; its serial alone for one within itself. */
static bool
record_of(const film_datum *value, uint64_t *id, uint64_t *serial)
{
    film_input input = film_input_of(value->bytes, value->length);
    film_token token;

    if (value->length == 0) {
        return false;
    }
    film_token_read(&input, &token);
    *id = *serial = 0;
    if (token.kind == FILM_TOKEN_CYCLE) {
        *serial = token.value;
        return true;
    }
    *id = token.value;
    return token.kind == FILM_TOKEN_VALUE || token.kind == FILM_TOKEN_OBJECT;
}

film_status
film_ask_get_tensor(film_ask *ask, film_moment moment, const film_datum *value,
                    film_tensor *out)
{
    uint64_t id, serial, bound, newest;
    film_status status;

    if (!record_of(value, &id, &serial)) {
        return FILM_END;
    }
    if (serial == 0) {
        FILM_TRY(film_reader_tensor(ask->reader, id, out, ask->error));
        serial = out->serial;
    }
    FILM_TRY(film_content_bound(ask->timeline, moment, &bound, ask->error));
    status = film_content_newest(ask->timeline, serial, id, bound, &newest, ask->error);
    if (status == FILM_END) {
        newest = id; /* it is the newest itself */
        status = id == 0 ? FILM_END : FILM_OK;
    }
    FILM_TRY(status);
    return film_reader_tensor(ask->reader, newest, out, ask->error);
}

static void
put_double(film_ask *ask, const char *key, double number)
{
    char text[40];

    if (!isfinite(number)) {
        film_ask_null(ask, key);
        return;
    }
    snprintf(text, sizeof(text), "%.17g", number);
    film_ask_key(ask, key);
    film_buffer_append_text(ask->out, text);
}

static void
put_summary(film_ask *ask, const film_tensor *tensor)
{
    char hash[24];

    film_ask_open(ask, "summary", '{');
    put_double(ask, "min", tensor->summary.min);
    put_double(ask, "max", tensor->summary.max);
    put_double(ask, "mean", tensor->summary.mean);
    put_double(ask, "std", tensor->summary.std);
    film_ask_number(ask, "zeros", tensor->summary.zeros);
    film_ask_number(ask, "nonfinite", tensor->summary.nonfinite);
    film_ask_bool(ask, "sampled", film_tensor_is_sampled(tensor));
    snprintf(hash, sizeof(hash), "%016" PRIx64, tensor->summary.hash);
    film_ask_words(ask, "hash", hash);
    film_ask_close(ask, '}');
}

void
film_ask_put_tensor(film_ask *ask, const film_tensor *tensor)
{
    film_ask_open(ask, "tensor", '{');
    film_ask_number(ask, "object", tensor->serial);
    film_ask_string(ask, "text", tensor->text);
    film_ask_string(ask, "dtype", tensor->dtype);
    film_ask_open(ask, "shape", '[');
    for (int i = 0; i < tensor->dimensions; i++) {
        film_ask_number(ask, NULL, (uint64_t)tensor->sizes[i]);
    }
    film_ask_close(ask, ']');
    film_ask_string(ask, "device", tensor->device);
    film_ask_bool(ask, "requires_grad", tensor->requires_grad);
    if (tensor->version >= 0) {
        film_ask_number(ask, "version", (uint64_t)tensor->version);
    }
    film_ask_number(ask, "storage", tensor->storage);
    if (tensor->has_summary) {
        put_summary(ask, tensor);
    }
    film_ask_close(ask, '}');
}

/* --- the event of an op --- */

/* The event that an op_end ends; false: it is not in the recording any more. */
static bool
find_op(film_ask *ask, film_moment end, uint64_t op, film_event *out)
{
    const film_event *event;

    if (film_timeline_event(ask->timeline, film_moment_of(end.thread, op), &event,
                            NULL) != FILM_OK ||
        event->kind != FILM_KIND_OP || event->number != op) {
        return false;
    }
    *out = *event;
    return true;
}

film_status
film_ask_put_op_end(film_ask *ask, film_moment moment, const film_event *event)
{
    film_event op;

    if (find_op(ask, moment, event->op, &op)) {
        film_ask_string(ask, "function", film_reader_string(ask->reader, op.text));
        if (op.module != 0) {
            film_ask_string(ask, "module", film_reader_string(ask->reader, op.module));
        }
    }
    film_ask_open(ask, "changed", '[');
    for (uint32_t i = 1; i < event->token_count && i < MOST_VALUES; i++) {
        film_scene *scene;
        film_datum value;
        uint32_t index;

        FILM_TRY(
            film_timeline_locate(ask->timeline, moment, &scene, &index, ask->error));
        value = film_scene_token(scene, index, i);
        FILM_TRY(film_ask_value(ask, NULL, moment, &value));
    }
    film_ask_close(ask, ']');
    return FILM_OK;
}

/* --- who made it --- */

typedef struct maker {
    film_ask *ask;
    uint64_t serial, storage;
    bool met; /* within the event that is looked at */
    film_status status;
} maker;

/* What an op gave may be the tensor, or share its memory. */
static bool
meet_tensor(void *context, const film_tensor *tensor, uint32_t index)
{
    maker *wanted = context;

    (void)index;
    wanted->met = wanted->met || tensor->serial == wanted->serial ||
                  tensor->storage == wanted->storage;
    return !wanted->met;
}

static bool
match_maker(void *context, film_timeline *timeline, const film_scene *scene,
            uint32_t index)
{
    maker *wanted = context;
    film_event event;

    (void)timeline;
    if (scene->events[index].kind != FILM_KIND_OP_END ||
        scene->events[index].token_count == 0) {
        return false;
    }
    film_scene_event_of(scene, index, &event);
    wanted->met = false;
    wanted->status = film_reader_event_tensors(wanted->ask->reader, &event, meet_tensor,
                                               wanted, wanted->ask->error);
    return wanted->met || wanted->status != FILM_OK;
}

static bool
took_unchanged(const film_op_item *op, const film_op_tensor *given)
{
    for (uint32_t i = 0; i < op->tensor_count; i++) {
        if (op->tensors[i].serial == given->serial) {
            return op->tensors[i].version == given->version;
        }
    }
    return false;
}

static bool
took(const film_op_item *op, uint64_t serial)
{
    for (uint32_t i = 0; i < op->tensor_count; i++) {
        if (op->tensors[i].serial == serial) {
            return true;
        }
    }
    return false;
}

/* Whether the op made what the tensor holds: gave it anew, changed it, or changed memory
 * that it shares. One that gives what it took (x.contiguous()) did not, nor a view. */
static bool
made_it(const maker *wanted, const film_op_item *op, const film_op_item *end)
{
    for (uint32_t i = 0; i < end->tensor_count; i++) {
        const film_op_tensor *given = &end->tensors[i];
        bool is_it = given->serial == wanted->serial;

        if (!is_it && given->storage != wanted->storage) {
            continue;
        }
        if (given->value > 0 || (is_it && !took_unchanged(op, given)) ||
            (!is_it && took(op, given->serial) && !took_unchanged(op, given))) {
            return true;
        }
    }
    return false;
}

/* The last op up to `from` that made it. stop->reason ARRIVED: op and end are filled. */
static film_status
find_maker(maker *wanted, film_moment from, const film_budget *budget, film_op_item *op,
           film_op_item *end, film_stop *stop)
{
    film_ask *ask = wanted->ask;
    film_wanted kind = {.kind = FILM_WANTED_EVENT, .number = FILM_KIND_OP_END};
    film_filter filter = {.wanted = &kind, .count = 1};
    film_search search = {.from = from,
                          .inclusive = true,
                          .back = true,
                          .across = true,
                          .filter = &filter,
                          .match = match_maker,
                          .context = wanted,
                          .budget = budget};

    for (;;) {
        film_status status;

        FILM_TRY(film_search_run(ask->timeline, &search, stop, ask->error));
        FILM_TRY(wanted->status);
        if (stop->reason != FILM_STOP_ARRIVED) {
            return FILM_OK;
        }
        search.from = stop->moment;
        search.inclusive = false;
        {
            const film_event *event;
            uint64_t number;

            FILM_TRY(
                film_timeline_event(ask->timeline, stop->moment, &event, ask->error));
            number = event->op;
            FILM_TRY(film_op_item_read(end, ask->reader, event, ask->error));
            status = film_op_item_find(ask->reader, stop->moment.thread, number, op,
                                       NULL, ask->error);
        }
        if (status != FILM_OK && status != FILM_END) {
            return status;
        }
        if (status == FILM_OK && made_it(wanted, op, end)) {
            return FILM_OK;
        }
    }
}

/* A tensor's maker, and those of what that took. */
typedef struct tree {
    film_ask *ask;
    unsigned nodes;
} tree;

static film_status
put_made(tree *of, uint64_t record, film_moment from, unsigned depth,
         const film_budget *budget, film_stop *stop);

static film_status
put_inputs(tree *of, const film_op_item *op, unsigned depth)
{
    film_ask *ask = of->ask;

    film_ask_open(ask, "inputs", '[');
    for (uint32_t i = 0; i < op->tensor_count && i < MOST_INPUTS; i++) {
        film_budget budget = film_budget_of(READ_MS);
        film_tensor tensor;
        film_stop stop;
        film_status status =
            film_reader_tensor(ask->reader, op->tensors[i].record, &tensor, ask->error);

        if (status == FILM_END) {
            continue;
        }
        FILM_TRY(status);
        film_ask_open(ask, NULL, '{');
        film_ask_put_tensor(ask, &tensor);
        if (depth > 1 && ++of->nodes < MOST_NODES && !film_budget_spent(&ask->budget)) {
            film_ask_open(ask, "made", '{');
            FILM_TRY(put_made(of, op->tensors[i].record,
                              film_moment_of(op->thread, op->number), depth - 1,
                              &budget, &stop));
            film_ask_close(ask, '}');
        }
        film_ask_close(ask, '}');
    }
    film_ask_close(ask, ']');
    return FILM_OK;
}

static void
put_maker(film_ask *ask, const film_op_item *op, const film_stop *stop)
{
    film_ask_moment(ask, "m", stop->moment);
    film_ask_moment(ask, "op", film_moment_of(op->thread, op->number));
    film_ask_place(ask, op->code, op->line);
    film_ask_string(ask, "name", op->function);
    if (op->module.length > 0) {
        film_ask_string(ask, "module", op->module);
    }
}

static film_status
put_made(tree *of, uint64_t record, film_moment from, unsigned depth,
         const film_budget *budget, film_stop *stop)
{
    film_ask *ask = of->ask;
    film_op_item op = {.kind = 0}, end = {.kind = 0};
    film_tensor tensor;
    maker wanted = {.ask = ask};
    film_status status = film_reader_tensor(ask->reader, record, &tensor, ask->error);

    FILM_TRY(status);
    wanted.serial = tensor.serial;
    wanted.storage = tensor.storage;
    status = find_maker(&wanted, from, budget, &op, &end, stop);
    if (status == FILM_OK && stop->reason == FILM_STOP_ARRIVED) {
        put_maker(ask, &op, stop);
        status = put_inputs(of, &op, depth);
    }
    else if (status == FILM_OK) {
        film_ask_moment(ask, "m", film_moment_of(0, 0));
        film_ask_words(ask, "stopped",
                       stop->reason == FILM_STOP_UNFINISHED
                           ? "there was no time to look further"
                           : "no op that is recorded made it");
    }
    film_op_item_reset(&op);
    film_op_item_reset(&end);
    return status;
}

film_status
film_answer_made(film_ask *ask)
{
    tree of = {.ask = ask};
    film_moment moment, from;
    film_datum value;
    film_tensor tensor;
    film_stop stop;
    film_status status;
    uint64_t depth;

    FILM_TRY(film_ask_get_moment(ask, "m", true, &moment));
    FILM_TRY(film_ask_get_number(ask, "depth", 2, &depth));
    FILM_TRY(film_ask_find_value(ask, moment, &value));
    status = film_ask_get_tensor(ask, moment, &value, &tensor);
    if (status == FILM_END) {
        return film_fail(ask->error, FILM_MISUSE,
                         "it is no tensor, or none that could "
                         "be read");
    }
    FILM_TRY(status);
    from = moment;
    if (film_ask_get(ask, "next") != NULL) {
        FILM_TRY(film_ask_get_moment(ask, "next", false, &from));
    }
    film_ask_put_tensor(ask, &tensor);
    film_ask_open(ask, "made", '{');
    FILM_TRY(put_made(&of, tensor.record, from,
                      depth < 1            ? 1
                      : depth < MOST_DEPTH ? (unsigned)depth
                                           : MOST_DEPTH,
                      &ask->budget, &stop));
    film_ask_close(ask, '}');
    if (stop.reason == FILM_STOP_UNFINISHED) {
        film_ask_moment(ask, "next", stop.moment);
    }
    return FILM_OK;
}
