/* plan_lists.c: see plan_lists.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/plan_lists.h"

static bool
is_slot_kind(uint8_t kind)
{
    return kind == FILM_WRITE_FAST || kind == FILM_WRITE_CELL ||
           kind == FILM_DELETE_FAST || kind == FILM_DELETE_CELL;
}

static bool
is_attribute_kind(uint8_t kind)
{
    return kind == FILM_WRITE_ATTRIBUTE || kind == FILM_DELETE_ATTRIBUTE;
}

/* True when the write makes one that waits unreadable. */
static bool
hides(const film_draft_write *write, const film_draft_write *waiting)
{
    if (is_slot_kind(write->kind)) {
        return (is_slot_kind(waiting->kind) || is_attribute_kind(waiting->kind)) &&
               waiting->slot == write->slot;
    }
    if (is_attribute_kind(write->kind)) {
        /* Two variables may hold the same owner. */
        return is_attribute_kind(waiting->kind) && waiting->name == write->name;
    }
    /* At module level locals and globals are one. */
    return !is_slot_kind(waiting->kind) && !is_attribute_kind(waiting->kind) &&
           waiting->name == write->name;
}

static bool
is_open_kind(uint8_t kind)
{
    return kind != FILM_WRITE_FAST && kind != FILM_DELETE_FAST;
}

bool
film_list_is_hidden_by(const film_draft *draft, uint32_t node,
                       const film_draft_write *write)
{
    for (; node != 0; node = draft->nodes[node].before) {
        if (hides(write, film_list_write(draft, node))) {
            return true;
        }
    }
    return false;
}

bool
film_list_has_slot(const film_draft *draft, uint32_t node, uint32_t slot)
{
    for (; node != 0; node = draft->nodes[node].before) {
        const film_draft_write *write = film_list_write(draft, node);

        if (write->slot == slot &&
            (is_slot_kind(write->kind) || is_attribute_kind(write->kind))) {
            return true;
        }
    }
    return false;
}

static bool
is_same_write(const film_draft_write *left, const film_draft_write *right)
{
    return left->kind == right->kind && left->slot == right->slot &&
           left->name == right->name && left->hidden == right->hidden &&
           left->cell_owner == right->cell_owner;
}

uint32_t
film_list_add(film_draft *draft, uint32_t before, uint32_t write)
{
    film_node *grown = film_draft_grow(draft, draft->nodes, &draft->node_capacity,
                                       draft->node_count + 1, sizeof(*grown));

    if (grown == NULL) {
        return 0;
    }
    draft->nodes = grown;
    grown[draft->node_count] = (film_node){
        .before = before,
        .write = write,
        .length = (uint16_t)(grown[before].length + 1),
        .open = grown[before].open || is_open_kind(draft->writes[write].kind),
    };
    return (uint32_t)draft->node_count++;
}

static uint32_t
shorten(const film_draft *draft, uint32_t node, uint32_t length)
{
    while (draft->nodes[node].length > length) {
        node = draft->nodes[node].before;
    }
    return node;
}

bool
film_list_may_change(const film_draft *draft, uint32_t node)
{
    for (; node != 0; node = draft->nodes[node].before) {
        const film_draft_write *write = film_list_write(draft, node);

        if (!write->hidden && !write->constant && write->kind <= FILM_WRITE_ATTRIBUTE) {
            return true;
        }
    }
    return false;
}

uint32_t
film_list_compare(const film_draft *draft, uint32_t left, uint32_t right)
{
    film_node *nodes = draft->nodes;
    uint32_t length = nodes[left].length < nodes[right].length ? nodes[left].length
                                                               : nodes[right].length;
    uint32_t one = shorten(draft, left, length);
    uint32_t other = shorten(draft, right, length), same = length;

    for (; one != other; one = nodes[one].before, other = nodes[other].before) {
        if (!is_same_write(film_list_write(draft, one),
                           film_list_write(draft, other))) {
            same = nodes[one].length - 1u;
        }
        if (nodes[one].write != nodes[other].write) {
            nodes[one].uncertain = true;
            nodes[other].uncertain = true;
        }
    }
    return same;
}
