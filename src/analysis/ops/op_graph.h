/* op_graph.h: the ops of a stretch of a recording and which gave what to which: who made
 * the tensors that an op took, and who took what it gave.
 *
 * A tensor comes from the op that gave it or was the last to change it in place, or to
 * change memory that it shares (a view). Tensors are known by their serials.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_OP_GRAPH_H
#define FILMSTRIP_OP_GRAPH_H

#include <filmstrip/tensor.h>

#include "analysis/open_ops.h"
#include "analysis/recordings.h"
#include "base/intern.h"

#define FILM_NO_NODE UINT32_MAX

/* What is known of a tensor's numbers. */
typedef enum film_numbers {
    FILM_NUMBERS_UNKNOWN, /* no summary */
    FILM_NUMBERS_FINITE,
    FILM_NUMBERS_NONFINITE
} film_numbers;

/* A tensor that an op took or gave. */
typedef struct film_op_link {
    uint64_t record, serial;
    int64_t version; /* how often it had been changed in place */
    uint32_t from;   /* taken: node that made it, or FILM_NO_NODE */
    uint32_t value;  /* among the event's values; of what it gave 0 is the result */
    uint8_t numbers; /* film_numbers */
} film_op_link;

typedef struct film_op_node {
    uint64_t op, end; /* event numbers; end 0: it has none in the stretch */
    uint64_t order;   /* when it ended, among the ops of the stretch; 0: not */
    uint32_t thread, code, offset;
    uint32_t function, api, module;  /* string ids */
    size_t first_taken, first_given; /* links */
    uint32_t taken, given;
    /* film_op_graph_follow: */
    uint32_t depth;          /* 0: not reached; 1: the op that was followed */
    uint32_t parent;         /* node that gave what it took; when depth > 1 */
    uint32_t child, sibling; /* the first that it is the parent of; the next of those */
    uint32_t write;          /* the first write of what it gave */
} film_op_node;

/* Where a tensor was first seen in the stretch. */
typedef struct film_op_tensor_seen {
    uint64_t serial, event; /* number of the event */
    uint64_t record;        /* as it was then */
    uint64_t written;       /* event + 1 of the last write of a variable that gives it
                               a name, before the stretch's middle; 0: none */
    uint32_t thread, written_thread;
    uint32_t from; /* node that gave it or changed it last */
    uint8_t kind;  /* film_kind of the event */
    bool nonfinite_seen;
    uint64_t nonfinite_event; /* where its numbers were first not finite */
    uint32_t nonfinite_thread;
} film_op_tensor_seen;

/* A write of a variable that took a tensor. */
typedef struct film_op_write {
    uint64_t event;
    uint32_t thread, from; /* node that had made it */
    uint32_t tensor;       /* in `tensors` */
    uint32_t next;         /* film_op_graph_follow: the next of what one op gave */
    uint8_t numbers;
} film_op_write;

typedef struct film_op_graph {
    film_reader *reader; /* borrowed */
    film_op_node *nodes; /* owned, as all arrays here */
    size_t node_count, node_capacity;
    film_op_link *links;
    size_t link_count, link_capacity;
    film_op_tensor_seen *tensors;
    size_t tensor_count, tensor_capacity;
    film_op_write *writes;
    size_t write_count, write_capacity;
    film_intern serials;  /* to `tensors` */
    film_intern storages; /* to `changers` */
    uint32_t *changers;   /* node that changed memory in place last */
    size_t changer_count, changer_capacity;
    film_open_ops opened; /* ops that have not ended; notes: nodes */
    uint64_t ended;
    uint32_t middle; /* node of the op it was made for */
    bool whole;      /* it begins where the recording does */
    bool to_end;     /* it ends where the recording does */
} film_op_graph;

/* The ops around one: about `events` events of all threads before it and as many behind
 * it. FILM_END: there is no such op. */
FILM_NODISCARD film_status
film_op_graph_make(film_op_graph *graph, const film_recordings *set, size_t recording,
                   uint32_t thread, uint64_t op, uint64_t time_ns, uint64_t events,
                   film_error *error);

/* Marks the nodes that took what the middle gave, or what came of it, and the variables
 * that got it: on through what is not known to be finite. Returns how many nodes. */
size_t
film_op_graph_follow(film_op_graph *graph);

const film_op_tensor_seen *
film_op_graph_tensor(const film_op_graph *graph, uint64_t serial);

void
film_op_graph_reset(film_op_graph *graph);

#endif
