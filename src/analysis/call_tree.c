/* call_tree.c: walks up and down a prefix tree of stacks.
 * Own time needs no bookkeeping per call: whatever passes between two steps belongs to
 * the node that is current.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/call_tree.h"

#include "analysis/activity.h"
#include "base/alloc.h"

#define NO_NODE UINT32_MAX

struct film_call_tree {
    film_functions *functions; /* borrowed */
    film_call_node *nodes;     /* owned */
    size_t count, capacity;
    uint32_t *slots; /* owned: hash of (parent, function) to node; 0 = free */
    size_t slot_count;
};

static size_t
slot_of(const film_call_tree *tree, uint32_t parent, uint32_t function)
{
    uint64_t key = (uint64_t)parent << 32 | function;
    size_t slot = (size_t)((key * 0x9E3779B97F4A7C15u) >> 32) & (tree->slot_count - 1);

    for (;;) {
        uint32_t node = tree->slots[slot];
        if (node == 0 || (tree->nodes[node].parent == parent &&
                          tree->nodes[node].function == function)) {
            return slot;
        }
        slot = (slot + 1) & (tree->slot_count - 1);
    }
}

static bool
enlarge_slots(film_call_tree *tree)
{
    size_t count = tree->slot_count == 0 ? 1024 : tree->slot_count * 2;
    uint32_t *slots = film_alloc_array(count, sizeof(*slots));

    if (slots == NULL) {
        return false;
    }
    film_free(tree->slots);
    tree->slots = slots;
    tree->slot_count = count;
    for (size_t i = 1; i < tree->count; i++) {
        const film_call_node *node = &tree->nodes[i];
        slots[slot_of(tree, node->parent, node->function)] = (uint32_t)i;
    }
    return true;
}

static uint32_t
add_node(film_call_tree *tree, uint32_t parent, uint32_t function)
{
    film_call_node *node;

    if (tree->count == NO_NODE) {
        return NO_NODE;
    }
    if (tree->count == tree->capacity) {
        film_call_node *grown =
            film_grow(tree->nodes, &tree->capacity, tree->count + 1, sizeof(*grown));
        if (grown == NULL) {
            return NO_NODE;
        }
        tree->nodes = grown;
    }
    node = &tree->nodes[tree->count];
    node->own_ns = 0;
    node->parent = parent;
    node->function = function;
    return (uint32_t)tree->count++;
}

/* NO_NODE when memory is out. */
static uint32_t
find_child(film_call_tree *tree, uint32_t parent, uint32_t function)
{
    size_t slot;
    uint32_t node;

    if (function == FILM_NO_FUNCTION) {
        return NO_NODE;
    }
    if (tree->count * 2 >= tree->slot_count && !enlarge_slots(tree)) {
        return NO_NODE;
    }
    slot = slot_of(tree, parent, function);
    if (tree->slots[slot] != 0) {
        return tree->slots[slot];
    }
    node = add_node(tree, parent, function);
    if (node != NO_NODE) {
        tree->slots[slot] = node;
    }
    return node;
}

film_status
film_call_tree_new(film_functions *functions, film_call_tree **out, film_error *error)
{
    film_call_tree *tree = film_alloc(sizeof(*tree));

    *out = NULL;
    if (tree == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    tree->functions = functions;
    if (add_node(tree, 0, FILM_NO_FUNCTION) == NO_NODE) {
        film_call_tree_free(tree);
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    *out = tree;
    return FILM_OK;
}

void
film_call_tree_free(film_call_tree *tree)
{
    if (tree != NULL) {
        film_free(tree->nodes);
        film_free(tree->slots);
        film_free(tree);
    }
}

film_status
film_call_tree_add_thread(film_call_tree *tree, size_t recording, uint32_t thread,
                          film_error *error)
{
    film_activity *activity;
    film_step step;
    film_status status;
    uint32_t current = 0;
    uint64_t last_ns = 0;
    size_t depth = 0;

    FILM_TRY(
        film_activity_open(tree->functions->set, recording, thread, &activity, error));
    while ((status = film_activity_next(activity, &step, error)) == FILM_OK) {
        if (step.time_ns > last_ns) {
            tree->nodes[current].own_ns += step.time_ns - last_ns;
            last_ns = step.time_ns;
        }
        if (step.kind == FILM_STEP_ENTER && depth++ < FILM_CALL_TREE_DEPTH) {
            uint32_t function =
                film_functions_number(tree->functions, recording, step.function);
            current = find_child(tree, current, function);
            if (current == NO_NODE) {
                status = film_fail(error, FILM_NO_MEMORY, "not enough memory");
                break;
            }
        }
        else if (step.kind == FILM_STEP_LEAVE && --depth < FILM_CALL_TREE_DEPTH) {
            current = tree->nodes[current].parent;
        }
    }
    film_activity_close(activity);
    return status == FILM_END ? FILM_OK : status;
}

const film_call_node *
film_call_tree_nodes(const film_call_tree *tree, size_t *count)
{
    *count = tree->count;
    return tree->nodes;
}
