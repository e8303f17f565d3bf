/* op_graph.c: one walk over the stretch.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ops/op_graph.h"

#include <string.h>

#include "analysis/merge.h"
#include "analysis/ops/nonfinite.h"
#include "base/alloc.h"
#include "format/token.h"

typedef struct visit {
    film_op_graph *graph;
    const film_event *event;
    uint32_t node; /* FILM_NO_NODE: no op */
    bool given;
    bool failed;
} visit;

static uint8_t
numbers_of(const film_tensor *tensor)
{
    if (!tensor->has_summary) {
        return FILM_NUMBERS_UNKNOWN;
    }
    return tensor->summary.nonfinite > 0 ? FILM_NUMBERS_NONFINITE : FILM_NUMBERS_FINITE;
}

/* NULL when memory is out. */
static film_op_tensor_seen *
see_tensor(visit *to, const film_tensor *tensor)
{
    film_op_graph *graph = to->graph;
    film_op_tensor_seen *seen;
    uint32_t id;

    if (film_intern_find(&graph->serials, tensor->serial, &id)) {
        seen = &graph->tensors[id];
    }
    else {
        film_op_tensor_seen *grown = film_grow(graph->tensors, &graph->tensor_capacity,
                                               graph->tensor_count + 1, sizeof(*grown));
        if (grown == NULL) {
            return NULL;
        }
        graph->tensors = grown;
        if (!film_intern_add(&graph->serials, tensor->serial,
                             (uint32_t)graph->tensor_count)) {
            return NULL;
        }
        seen = &grown[graph->tensor_count++];
        *seen = (film_op_tensor_seen){.serial = tensor->serial,
                                      .event = to->event->number,
                                      .record = tensor->record,
                                      .thread = to->event->thread,
                                      .kind = to->event->kind,
                                      .from = FILM_NO_NODE};
    }
    if (!seen->nonfinite_seen && numbers_of(tensor) == FILM_NUMBERS_NONFINITE) {
        seen->nonfinite_seen = true;
        seen->nonfinite_event = to->event->number;
        seen->nonfinite_thread = to->event->thread;
    }
    return seen;
}

/* The place of the node that changed this memory last. NULL when memory is out. */
static uint32_t *
changer_of(film_op_graph *graph, uint64_t storage)
{
    uint32_t id, *grown;

    if (film_intern_find(&graph->storages, storage, &id)) {
        return &graph->changers[id];
    }
    grown = film_grow(graph->changers, &graph->changer_capacity,
                      graph->changer_count + 1, sizeof(*grown));
    if (grown == NULL) {
        return NULL;
    }
    graph->changers = grown;
    if (!film_intern_add(&graph->storages, storage, (uint32_t)graph->changer_count)) {
        return NULL;
    }
    grown[graph->changer_count] = FILM_NO_NODE;
    return &grown[graph->changer_count++];
}

static uint64_t
order_of(const film_op_graph *graph, uint32_t node)
{
    return node == FILM_NO_NODE ? 0 : graph->nodes[node].order;
}

/* Who made what the tensor holds now. */
static uint32_t
maker_of(film_op_graph *graph, const film_op_tensor_seen *seen, uint64_t storage)
{
    const uint32_t *changer = changer_of(graph, storage);

    return changer != NULL && order_of(graph, *changer) > order_of(graph, seen->from)
               ? *changer
               : seen->from;
}

static film_op_link *
add_link(film_op_graph *graph)
{
    film_op_link *grown = film_grow(graph->links, &graph->link_capacity,
                                    graph->link_count + 1, sizeof(*grown));

    if (grown == NULL) {
        return NULL;
    }
    graph->links = grown;
    return &grown[graph->link_count++];
}

/* Whether the op has changed the tensor that it gives: x.add_(1) gives x. */
static bool
is_changed(const film_op_graph *graph, const film_op_node *node,
           const film_tensor *tensor)
{
    for (uint32_t i = 0; i < node->taken; i++) {
        const film_op_link *taken = &graph->links[node->first_taken + i];

        if (taken->serial == tensor->serial) {
            return taken->version != tensor->version;
        }
    }
    return false;
}

static bool
link_tensor(void *context, const film_tensor *tensor, uint32_t index)
{
    visit *to = context;
    film_op_graph *graph = to->graph;
    film_op_tensor_seen *seen = see_tensor(to, tensor);
    film_op_link *link = add_link(graph);
    film_op_node *node = &graph->nodes[to->node];

    if (seen == NULL || link == NULL) {
        to->failed = true;
        return false;
    }
    *link = (film_op_link){.record = tensor->record,
                           .serial = tensor->serial,
                           .version = tensor->version,
                           .from = FILM_NO_NODE,
                           .value = index,
                           .numbers = numbers_of(tensor)};
    if (!to->given) {
        link->from = maker_of(graph, seen, tensor->storage);
        node->taken++;
        return true;
    }
    seen->from = to->node;
    node->given++;
    if (index > 0 || is_changed(graph, node, tensor)) {
        uint32_t *changer = changer_of(graph, tensor->storage);

        to->failed = changer == NULL;
        if (changer != NULL) {
            *changer = to->node;
        }
    }
    return !to->failed;
}

/* Variables, arguments, results of Python functions. */
static bool
note_tensor(void *context, const film_tensor *tensor, uint32_t index)
{
    visit *to = context;
    film_op_graph *graph = to->graph;
    film_op_tensor_seen *seen = see_tensor(to, tensor);
    film_op_write *grown;

    if (seen == NULL) {
        to->failed = true;
        return false;
    }
    if (to->event->kind != FILM_KIND_SET ||
        (int)index != film_event_value_index(to->event, FILM_ROLE_VALUE)) {
        return true;
    }
    if (graph->middle == FILM_NO_NODE) {
        seen->written = to->event->number + 1;
        seen->written_thread = to->event->thread;
        return true;
    }
    grown = film_grow(graph->writes, &graph->write_capacity, graph->write_count + 1,
                      sizeof(*grown));
    if (grown == NULL) {
        to->failed = true;
        return false;
    }
    graph->writes = grown;
    grown[graph->write_count++] =
        (film_op_write){.event = to->event->number,
                        .thread = to->event->thread,
                        .from = maker_of(graph, seen, tensor->storage),
                        .tensor = (uint32_t)(seen - graph->tensors),
                        .numbers = numbers_of(tensor)};
    return true;
}

static bool
open_node(film_op_graph *graph, const film_event *event)
{
    film_op_node *nodes = film_grow(graph->nodes, &graph->node_capacity,
                                    graph->node_count + 1, sizeof(*nodes));
    film_open_op *op;

    if (nodes == NULL || graph->node_count >= FILM_NO_NODE) {
        return false;
    }
    graph->nodes = nodes;
    nodes[graph->node_count] = (film_op_node){.op = event->number,
                                              .thread = event->thread,
                                              .code = event->code,
                                              .offset = event->offset,
                                              .function = event->text,
                                              .api = event->api,
                                              .module = event->module,
                                              .first_taken = graph->link_count,
                                              .child = FILM_NO_NODE,
                                              .sibling = FILM_NO_NODE,
                                              .write = FILM_NO_NODE};
    op = film_open_ops_begin(&graph->opened, 0, event);
    if (op == NULL) {
        return false;
    }
    op->note = (uint32_t)graph->node_count++;
    return true;
}

/* The node of an op that ends; FILM_NO_NODE: it began before the stretch. */
static uint32_t
close_node(film_op_graph *graph, const film_event *event)
{
    film_open_op op;

    return film_open_ops_end(&graph->opened, 0, event, &op) ? op.note : FILM_NO_NODE;
}

static bool
has_records(const film_event *event)
{
    film_input input = film_input_of(event->tokens, event->tokens_length);

    for (uint32_t i = 0; i < event->token_count; i++) {
        film_token token;

        film_token_read(&input, &token);
        if (token.kind == FILM_TOKEN_VALUE || token.kind == FILM_TOKEN_OBJECT) {
            return true;
        }
    }
    return false;
}

static film_status
take_event(film_op_graph *graph, const film_event *event, film_error *error)
{
    visit to = {.graph = graph, .event = event, .node = FILM_NO_NODE};
    film_op_node *node;

    if (event->kind == FILM_KIND_OP) {
        if (!open_node(graph, event)) {
            return film_fail(error, FILM_NO_MEMORY, "memory ran out");
        }
        to.node = (uint32_t)(graph->node_count - 1);
    }
    else if (event->kind == FILM_KIND_OP_END) {
        to.node = close_node(graph, event);
        if (to.node == FILM_NO_NODE) {
            return FILM_OK;
        }
        to.given = true;
        node = &graph->nodes[to.node];
        node->end = event->number;
        node->order = ++graph->ended;
        node->first_given = graph->link_count;
    }
    if (event->token_count > 0 && has_records(event)) {
        FILM_TRY(film_reader_event_tensors(
            graph->reader, event, to.node == FILM_NO_NODE ? note_tensor : link_tensor,
            &to, error));
    }
    return to.failed ? film_fail(error, FILM_NO_MEMORY, "memory ran out") : FILM_OK;
}

static film_status
walk(film_op_graph *graph, film_merge *merge, uint32_t thread, uint64_t op,
     uint64_t events, film_error *error)
{
    film_merged merged;
    film_status status = FILM_OK;
    uint64_t behind = 0;

    while (behind < events &&
           (status = film_merge_next(merge, &merged, error)) == FILM_OK) {
        const film_event *event = merged.event;

        FILM_TRY(take_event(graph, event, error));
        if (event->kind == FILM_KIND_OP && event->thread == thread &&
            event->number == op) {
            graph->middle = (uint32_t)(graph->node_count - 1);
        }
        behind += graph->middle != FILM_NO_NODE;
    }
    graph->to_end = status == FILM_END;
    return status == FILM_END ? FILM_OK : status;
}

film_status
film_op_graph_make(film_op_graph *graph, const film_recordings *set, size_t recording,
                   uint32_t thread, uint64_t op, uint64_t time_ns, uint64_t events,
                   film_error *error)
{
    film_recordings one = film_recordings_one(set, recording);
    film_merge_range range = film_merge_everything(), walked;
    film_merge *merge;
    film_status status;

    memset(graph, 0, sizeof(*graph));
    graph->reader = one.items->reader;
    graph->middle = FILM_NO_NODE;
    range.from_ns = time_ns + one.items->shift_ns;
    FILM_TRY(film_merge_run_up(&one, &range, events, &walked, &graph->whole, error));
    FILM_TRY(film_merge_open(&one, &walked, &merge, error));
    status = walk(graph, merge, thread, op, events, error);
    film_merge_close(merge);
    if (status == FILM_OK && graph->middle == FILM_NO_NODE) {
        status = FILM_END;
    }
    if (status != FILM_OK) {
        film_op_graph_reset(graph);
    }
    return status;
}

const film_op_tensor_seen *
film_op_graph_tensor(const film_op_graph *graph, uint64_t serial)
{
    uint32_t id;

    return film_intern_find(&graph->serials, serial, &id) ? &graph->tensors[id] : NULL;
}

/* Whether what an op gave may hold numbers that are not finite. */
static bool
goes_on(const film_op_graph *graph, const film_op_node *node)
{
    for (uint32_t i = 0; i < node->given; i++) {
        if (graph->links[node->first_given + i].numbers != FILM_NUMBERS_FINITE) {
            return true;
        }
    }
    return node->given == 0;
}

/* The node of those reached that made what this one took; FILM_NO_NODE: none. */
static uint32_t
reached_by(const film_op_graph *graph, const film_op_node *node)
{
    for (uint32_t i = 0; i < node->taken; i++) {
        const film_op_link *link = &graph->links[node->first_taken + i];

        if (link->from != FILM_NO_NODE && link->numbers != FILM_NUMBERS_FINITE &&
            graph->nodes[link->from].depth > 0 &&
            goes_on(graph, &graph->nodes[link->from])) {
            return link->from;
        }
    }
    return FILM_NO_NODE;
}

size_t
film_op_graph_follow(film_op_graph *graph)
{
    size_t reached = 0;

    graph->nodes[graph->middle].depth = 1;
    for (size_t i = graph->middle + 1; i < graph->node_count; i++) {
        film_op_node *node = &graph->nodes[i];
        uint32_t parent = reached_by(graph, node);

        if (parent != FILM_NO_NODE) {
            node->parent = parent;
            node->depth = graph->nodes[parent].depth + 1;
            reached++;
        }
    }
    /* From the last to the first, so that lists are in order. */
    for (size_t i = graph->node_count; i-- > graph->middle + 1u;) {
        film_op_node *node = &graph->nodes[i];

        if (node->depth > 0) {
            node->sibling = graph->nodes[node->parent].child;
            graph->nodes[node->parent].child = (uint32_t)i;
        }
    }
    for (size_t i = graph->write_count; i-- > 0;) {
        film_op_write *write = &graph->writes[i];

        write->next = FILM_NO_NODE;
        if (write->from != FILM_NO_NODE && write->numbers != FILM_NUMBERS_FINITE &&
            graph->nodes[write->from].depth > 0) {
            write->next = graph->nodes[write->from].write;
            graph->nodes[write->from].write = (uint32_t)i;
        }
    }
    return reached;
}

void
film_op_graph_reset(film_op_graph *graph)
{
    film_free(graph->nodes);
    film_free(graph->links);
    film_free(graph->tensors);
    film_free(graph->writes);
    film_free(graph->changers);
    film_open_ops_reset(&graph->opened);
    film_intern_reset(&graph->serials);
    film_intern_reset(&graph->storages);
    memset(graph, 0, sizeof(*graph));
}
