/* expression_eval.c: evaluating a tree at a moment.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "analysis/expression_value.h"
#include "analysis/timeline_state.h"
#include "reader/reader_state.h"

static bool
evaluate(film_eval *eval, uint32_t node, film_expr_value *out);

static const char *
text_of(const film_eval *eval, const film_tree_node *node)
{
    return (const char *)eval->tree->texts.data + node->text;
}

/* --- names, attributes, items --- */

static bool
name_of(film_eval *eval, const char *name, film_expr_value *out)
{
    static const char *const types[] = {"int",  "float", "str",  "bool", "bytes",
                                        "list", "tuple", "dict", "set",  "NoneType"};
    film_variable variable;
    film_status status = film_timeline_variable(
        eval->timeline, eval->moment, eval->index, name, &variable, eval->error);

    if (status == FILM_OK) {
        return film_eval_recorded(eval, &variable.value, out);
    }
    if (status != FILM_END) {
        eval->status = status;
        return film_eval_unknown(eval, "the recording cannot be read");
    }
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (strcmp(name, types[i]) == 0) {
            *out = (film_expr_value){
                .kind = FILM_EXPR_TYPE, .text = types[i], .length = strlen(types[i])};
            return true;
        }
    }
    return film_eval_unknown(eval, "'%s' has no recorded value here", name);
}

static bool
attribute_of(film_eval *eval, film_expr_value *of, const char *name,
             film_expr_value *out)
{
    film_content content;

    if (of->datum.length == 0 || of->serial == 0 ||
        film_timeline_content(eval->timeline, eval->moment, &of->datum, &content,
                              eval->error) != FILM_OK) {
        return film_eval_unknown(eval, "attribute '%s' of a %s was not recorded", name,
                                 film_eval_type(of));
    }
    for (size_t i = 0; i < content.count; i++) {
        if (content.items[i].name.length == strlen(name) &&
            memcmp(content.items[i].name.data, name, strlen(name)) == 0) {
            film_datum held = content.items[i].value;
            return film_eval_recorded(eval, &held, out);
        }
    }
    return film_eval_unknown(eval, "attribute '%s' of a %s was not recorded", name,
                             film_eval_type(of));
}

static bool
key_of(film_eval *eval, film_expr_value *of, film_expr_value *key, film_expr_value *out)
{
    for (size_t i = 0; i + 1 < of->count; i += 2) {
        bool equal;
        if (!film_eval_compare(eval, FILM_COMPARE_EQUAL, key, &of->items[i], &equal)) {
            return false;
        }
        if (equal) {
            *out = of->items[i + 1];
            return true;
        }
    }
    return of->cut ? film_eval_unknown(eval, "not all items were recorded")
                   : film_eval_error(eval, "the key is not there");
}

/* The letter at an index, as bytes of UTF-8. */
static bool
letter_of(film_eval *eval, const film_expr_value *of, int64_t index,
          film_expr_value *out)
{
    const char *at = of->text, *end = of->text + of->length;
    const char *next;
    char *copy;

    while (at < end && index > 0) {
        at++;
        while (at < end && ((uint8_t)*at & 0xc0) == 0x80) {
            at++;
        }
        index--;
    }
    if (at >= end) {
        return film_eval_unknown(eval, "not all of a text was recorded");
    }
    next = at + 1;
    while (next < end && ((uint8_t)*next & 0xc0) == 0x80) {
        next++;
    }
    copy = film_eval_take(eval, (size_t)(next - at) + 1);
    if (copy == NULL) {
        return false;
    }
    memcpy(copy, at, (size_t)(next - at));
    copy[next - at] = '\0';
    *out = (film_expr_value){
        .kind = FILM_EXPR_TEXT, .text = copy, .length = (size_t)(next - at)};
    return true;
}

static bool
item_of(film_eval *eval, film_expr_value *of, film_expr_value *key,
        film_expr_value *out)
{
    int64_t length, index;

    if (of->kind == FILM_EXPR_MAPPING) {
        return film_eval_unfold(eval, of) && key_of(eval, of, key, out);
    }
    if (of->kind != FILM_EXPR_SEQUENCE && of->kind != FILM_EXPR_TEXT &&
        of->kind != FILM_EXPR_BYTES) {
        return of->kind == FILM_EXPR_OBJECT
                   ? film_eval_unknown(eval, "items of a %s were not recorded",
                                       film_eval_type(of))
                   : film_eval_error(eval, "a %s has no items", film_eval_type(of));
    }
    if (key->kind != FILM_EXPR_INT && key->kind != FILM_EXPR_BOOL) {
        return film_eval_error(eval, "an index must be an int, not a %s",
                               film_eval_type(key));
    }
    if (!film_eval_length(eval, of, &length)) {
        return false;
    }
    index = key->integer < 0 ? key->integer + length : key->integer;
    if (index < 0 || index >= length) {
        return film_eval_error(eval, "the index is out of range");
    }
    if (of->kind == FILM_EXPR_TEXT) {
        return letter_of(eval, of, index, out);
    }
    if ((uint64_t)index >= (of->kind == FILM_EXPR_BYTES ? of->length : of->count)) {
        return film_eval_unknown(eval, "not all items were recorded");
    }
    *out = of->kind == FILM_EXPR_BYTES ? film_expr_int((uint8_t)of->text[index])
                                       : of->items[index];
    return true;
}

/* One end of a slice. */
static bool
slice_end(film_eval *eval, uint32_t node, int64_t fallback, int64_t *out)
{
    film_expr_value value;

    if (!evaluate(eval, node, &value)) {
        return false;
    }
    if (value.kind == FILM_EXPR_NONE) {
        *out = fallback;
        return true;
    }
    if (value.kind != FILM_EXPR_INT && value.kind != FILM_EXPR_BOOL) {
        return film_eval_error(eval, "a slice needs ints");
    }
    *out = value.integer;
    return true;
}

static int64_t
clamp(int64_t index, int64_t length, bool back)
{
    int64_t least = back ? -1 : 0, most = back ? length - 1 : length;

    if (index < 0) {
        index = index < -length ? least : index + length;
    }
    return index < least ? least : index > most ? most : index;
}

static bool
slice_of(film_eval *eval, film_expr_value *of, uint32_t first, film_expr_value *out)
{
    const film_tree_node *nodes = eval->tree->nodes;
    uint32_t second = nodes[first].next, third = nodes[second].next;
    int64_t length = 0, step = 1, from = 0, to = 0;
    bool text = of->kind == FILM_EXPR_TEXT || of->kind == FILM_EXPR_BYTES;
    size_t count = 0, used = 0;
    char *letters;

    if (of->kind != FILM_EXPR_SEQUENCE && !text) {
        return film_eval_error(eval, "a %s has no slices", film_eval_type(of));
    }
    if (!film_eval_length(eval, of, &length) || !slice_end(eval, third, 1, &step)) {
        return false;
    }
    if (step == 0 || step == INT64_MIN) {
        return film_eval_error(eval, "the step of a slice cannot be 0");
    }
    if (!slice_end(eval, first, step < 0 ? length - 1 : 0, &from) ||
        !slice_end(eval, second, step < 0 ? -length - 1 : length, &to)) {
        return false;
    }
    from = clamp(from, length, step < 0);
    to = clamp(to, length, step < 0);
    if (of->cut) {
        return film_eval_unknown(eval, "not all of it was recorded");
    }
    *out = *of;
    out->datum.length = 0;
    out->serial = 0;
    out->items =
        text ? NULL : film_eval_take(eval, (of->count + 1) * sizeof(*of->items));
    letters = text ? film_eval_take(eval, of->length + 1) : NULL;
    if ((text ? (void *)letters : (void *)out->items) == NULL) {
        return false;
    }
    for (int64_t at = from; step > 0 ? at < to : at > to;) {
        film_expr_value one;
        if (of->kind == FILM_EXPR_TEXT) {
            if (!letter_of(eval, of, at, &one)) {
                return false;
            }
            memcpy(letters + used, one.text, one.length);
            used += one.length;
        }
        else if (of->kind == FILM_EXPR_BYTES) {
            letters[used++] = of->text[at];
        }
        else {
            out->items[count++] = of->items[at];
        }
        if (__builtin_add_overflow(at, step, &at)) {
            break;
        }
    }
    out->count = count;
    if (text) {
        letters[used] = '\0';
        out->text = letters;
        out->length = used;
    }
    return true;
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

static bool
evaluate_two(film_eval *eval, const film_tree_node *node, film_expr_value *out)
{
    film_expr_value left, right;
    uint32_t second = eval->tree->nodes[node->first].next;

    if (!evaluate(eval, node->first, &left)) {
        return false;
    }
    if (node->op == FILM_OP_SLICE) {
        return slice_of(eval, &left, second, out);
    }
    if (!evaluate(eval, second, &right)) {
        return false;
    }
    return node->op == FILM_OP_ITEM
               ? item_of(eval, &left, &right, out)
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
               ? attribute_of(eval, &of, text_of(eval, node), out)
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
        return name_of(eval, text_of(eval, node), out);
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
