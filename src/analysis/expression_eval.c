/* expression_eval.c: evaluating a tree at a moment.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "analysis/expression_value.h"
#include "analysis/timeline_state.h"
#include "reader/reader_state.h"

static bool
evaluate(film_eval *eval, uint32_t at, film_expr_value *out);

static const char *
text_of(const film_eval *eval, const film_tree_node *node)
{
    return (const char *)eval->tree->texts.data + node->text;
}

/* --- calls --- */

/* min, max, sum of the items of one container, or of several arguments. */
static bool
fold(film_eval *eval, const char *name, film_expr_value *items, size_t count,
     size_t step, film_expr_value *out)
{
    film_expr_value result = film_expr_int(0);
    bool sums = strcmp(name, "sum") == 0;

    if (count == 0 && !sums) {
        return film_eval_error(eval, "%s() of nothing", name);
    }
    for (size_t i = 0; i < count; i += step) {
        bool better;
        if (sums) {
            film_expr_value before = result;
            if (!film_eval_operate(eval, FILM_OP_ADD, &before, &items[i], &result)) {
                return false;
            }
            continue;
        }
        if (i == 0) {
            result = items[0];
            continue;
        }
        if (!film_eval_compare(eval,
                               strcmp(name, "min") == 0 ? FILM_COMPARE_LESS
                                                        : FILM_COMPARE_GREATER,
                               &items[i], &result, &better)) {
            return false;
        }
        result = better ? items[i] : result;
    }
    *out = result;
    return true;
}

static bool
call(film_eval *eval, const film_tree_node *node, film_expr_value *out)
{
    const char *name = text_of(eval, node);
    film_expr_value arguments[8], *first = &arguments[0];
    size_t count = 0;
    int64_t length;

    for (uint32_t at = node->first; at != 0; at = eval->tree->nodes[at].next) {
        if (count == 8) {
            return film_eval_error(eval, "%s() has too many arguments", name);
        }
        if (!evaluate(eval, at, &arguments[count++])) {
            return false;
        }
    }
    if (count == 0 || (count > 1 && name[0] != 'm')) {
        return film_eval_error(eval, "%s() takes one argument", name);
    }
    if (strcmp(name, "len") == 0) {
        if (!film_eval_length(eval, first, &length)) {
            return false;
        }
        *out = film_expr_int(length);
        return true;
    }
    if (strcmp(name, "type") == 0) {
        const char *type = film_eval_type(first);
        *out = (film_expr_value){
            .kind = FILM_EXPR_TYPE, .text = type, .length = strlen(type)};
        return true;
    }
    if (strcmp(name, "abs") == 0) {
        if (film_expr_is_number(first) && film_expr_number(first) < 0) {
            return film_eval_unary(eval, FILM_OP_NEGATIVE, first, out);
        }
        return film_eval_unary(eval, FILM_OP_POSITIVE, first, out);
    }
    if (count > 1) {
        return fold(eval, name, arguments, count, 1, out);
    }
    if (first->kind != FILM_EXPR_SEQUENCE && first->kind != FILM_EXPR_MAPPING) {
        return film_eval_error(eval, "%s() needs a container", name);
    }
    if (!film_eval_unfold(eval, first)) {
        return false;
    }
    if (first->cut) {
        return film_eval_unknown(eval, "not all items were recorded");
    }
    return fold(eval, name, first->items, first->count,
                first->kind == FILM_EXPR_MAPPING ? 2 : 1, out);
}

/* --- the tree --- */

static bool
build(film_eval *eval, const film_tree_node *node, film_expr_value *out)
{
    size_t count = 0;

    for (uint32_t at = node->first; at != 0; at = eval->tree->nodes[at].next) {
        count++;
    }
    *out = (film_expr_value){.kind = node->op == FILM_OP_DICT ? FILM_EXPR_MAPPING
                                                              : FILM_EXPR_SEQUENCE,
                             .type = node->op == FILM_OP_LIST    ? "list"
                                     : node->op == FILM_OP_TUPLE ? "tuple"
                                     : node->op == FILM_OP_SET   ? "set"
                                                                 : "dict",
                             .whole = -1};
    out->items = film_eval_take(eval, (count + 1) * sizeof(*out->items));
    if (out->items == NULL) {
        return false;
    }
    for (uint32_t at = node->first; at != 0; at = eval->tree->nodes[at].next) {
        if (!evaluate(eval, at, &out->items[out->count])) {
            return false;
        }
        out->count++;
    }
    return true;
}

static bool
compare_all(film_eval *eval, const film_tree_node *node, film_expr_value *out)
{
    const char *hows = text_of(eval, node);
    film_expr_value left, right;
    uint32_t at = node->first;
    bool result = true;

    if (!evaluate(eval, at, &left)) {
        return false;
    }
    for (size_t i = 0; i < node->length && result; i++) {
        at = eval->tree->nodes[at].next;
        if (!evaluate(eval, at, &right) ||
            !film_eval_compare(eval, (uint8_t)hows[i], &left, &right, &result)) {
            return false;
        }
        left = right;
    }
    *out = film_expr_bool(result);
    return true;
}

/* and, or, not, if: what decides is asked first, the rest only where it counts. */
static bool
decide(film_eval *eval, const film_tree_node *node, film_expr_value *out)
{
    uint32_t second = eval->tree->nodes[node->first].next;
    bool truth;

    if (node->op == FILM_OP_IF) {
        film_expr_value condition;
        if (!evaluate(eval, second, &condition) ||
            !film_eval_truth(eval, &condition, &truth)) {
            return false;
        }
        return evaluate(eval, truth ? node->first : eval->tree->nodes[second].next,
                        out);
    }
    if (!evaluate(eval, node->first, out) || !film_eval_truth(eval, out, &truth)) {
        return false;
    }
    if (node->op == FILM_OP_NOT) {
        *out = film_expr_bool(!truth);
        return true;
    }
    return truth == (node->op == FILM_OP_OR) ? true : evaluate(eval, second, out);
}

/* a[b:c:d], `first` being b. */
static bool
slice(film_eval *eval, film_expr_value *of, uint32_t first, film_expr_value *out)
{
    film_expr_value ends[3];

    for (size_t i = 0; i < 3; i++) {
        if (!evaluate(eval, first, &ends[i])) {
            return false;
        }
        first = eval->tree->nodes[first].next;
    }
    return film_eval_slice(eval, of, ends, out);
}

static bool
evaluate_two(film_eval *eval, const film_tree_node *node, film_expr_value *out)
{
    film_expr_value left, right;
    uint32_t second = eval->tree->nodes[node->first].next;

    if (!evaluate(eval, node->first, &left)) {
        return false;
    }
    if (node->op == FILM_OP_SLICE) {
        return slice(eval, &left, second, out);
    }
    if (!evaluate(eval, second, &right)) {
        return false;
    }
    return node->op == FILM_OP_ITEM
               ? film_eval_item(eval, &left, &right, out)
               : film_eval_operate(eval, node->op, &left, &right, out);
}

static bool
evaluate_one(film_eval *eval, const film_tree_node *node, film_expr_value *out)
{
    film_expr_value of;

    if (!evaluate(eval, node->first, &of)) {
        return false;
    }
    return node->op == FILM_OP_ATTRIBUTE
               ? film_eval_attribute(eval, &of, text_of(eval, node), out)
               : film_eval_unary(eval, node->op, &of, out);
}

static bool
evaluate_node(film_eval *eval, uint32_t at, film_expr_value *out)
{
    const film_tree_node *node = &eval->tree->nodes[at];

    memset(out, 0, sizeof(*out));
    switch (node->op) {
    case FILM_OP_NONE:
        return true;
    case FILM_OP_FALSE:
    case FILM_OP_TRUE:
        *out = film_expr_bool(node->op == FILM_OP_TRUE);
        return true;
    case FILM_OP_INT:
        *out = film_expr_int(node->integer);
        return true;
    case FILM_OP_FLOAT:
        out->kind = FILM_EXPR_FLOAT;
        out->number = node->number;
        return true;
    case FILM_OP_TEXT:
    case FILM_OP_BYTES:
        out->kind = node->op == FILM_OP_TEXT ? FILM_EXPR_TEXT : FILM_EXPR_BYTES;
        out->text = text_of(eval, node);
        out->length = node->length;
        return true;
    case FILM_OP_NAME:
        return film_eval_name(eval, text_of(eval, node), out);
    case FILM_OP_CALL:
        return call(eval, node, out);
    case FILM_OP_LIST:
    case FILM_OP_TUPLE:
    case FILM_OP_SET:
    case FILM_OP_DICT:
        return build(eval, node, out);
    case FILM_OP_AND:
    case FILM_OP_OR:
    case FILM_OP_NOT:
    case FILM_OP_IF:
        return decide(eval, node, out);
    case FILM_OP_COMPARE:
        return compare_all(eval, node, out);
    case FILM_OP_ATTRIBUTE:
    case FILM_OP_NEGATIVE:
    case FILM_OP_POSITIVE:
    case FILM_OP_INVERT:
        return evaluate_one(eval, node, out);
    case FILM_OP_ITEM:
    case FILM_OP_SLICE:
    case FILM_OP_ADD:
    case FILM_OP_SUBTRACT:
    case FILM_OP_MULTIPLY:
    case FILM_OP_DIVIDE:
    case FILM_OP_FLOOR_DIVIDE:
    case FILM_OP_MODULO:
    case FILM_OP_POWER:
    case FILM_OP_BIT_AND:
    case FILM_OP_BIT_OR:
    case FILM_OP_BIT_XOR:
    case FILM_OP_SHIFT_LEFT:
    case FILM_OP_SHIFT_RIGHT:
    default:
        return evaluate_two(eval, node, out);
    }
}

static bool
evaluate(film_eval *eval, uint32_t at, film_expr_value *out)
{
    bool done;

    if (eval->depth > 4 * FILM_EXPRESSION_DEPTH) {
        return film_eval_unknown(eval, "it is nested too deep");
    }
    eval->depth++;
    done = evaluate_node(eval, at, out);
    eval->depth--;
    return done;
}

film_status
film_expression_evaluate(film_expression *expression, film_timeline *timeline,
                         film_moment moment, size_t index, film_evaluated *out,
                         film_error *error)
{
    film_eval eval = {.tree = expression,
                      .timeline = timeline,
                      .moment = moment,
                      .index = index,
                      .out = out,
                      .error = error,
                      .items_left = FILM_EXPRESSION_ITEMS};
    film_expr_value value;

    memset(out, 0, sizeof(*out));
    film_pool_reset(&expression->memory);
    if (evaluate(&eval, expression->root, &value)) {
        film_eval_describe(&eval, &value, out);
    }
    return eval.status;
}
