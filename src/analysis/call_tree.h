/* call_tree.h: the distinct stacks of a run and the own time of each.
 * A stack is a node with its caller's node as parent, so memory grows with distinct
 * stacks, not with events. Stacks deeper than FILM_CALL_TREE_DEPTH are cut there: what
 * runs deeper counts as own time of the last node. (A recursion of 90,000 frames would
 * make 90,000 stacks of up to 90,000 names each.)
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_CALL_TREE_H
#define FILMSTRIP_CALL_TREE_H

#include "analysis/functions.h"

#define FILM_CALL_TREE_DEPTH 1000u

typedef struct film_call_node {
    uint64_t own_ns;
    uint32_t parent;   /* node; the root is node 0 and its own parent */
    uint32_t function; /* number of film_functions; FILM_NO_FUNCTION for the root */
} film_call_node;

typedef struct film_call_tree film_call_tree;

/* The caller owns *out; it borrows `functions`. */
FILM_NODISCARD film_status
film_call_tree_new(film_functions *functions, film_call_tree **out, film_error *error);

void
film_call_tree_free(film_call_tree *tree);

FILM_NODISCARD film_status
film_call_tree_add_thread(film_call_tree *tree, size_t recording, uint32_t thread,
                          film_error *error);

/* Nodes in the order they first ran; a parent comes before its children. */
const film_call_node *
film_call_tree_nodes(const film_call_tree *tree, size_t *count);

#endif
