/* expression_compare.c: ==, <, in, is of values in expressions, as Python means them.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "analysis/expression_value.h"

#define MOST_DEPTH 32u

static bool
are_equal(film_eval *eval, film_expr_value *left, film_expr_value *right, bool *equal);

static bool
are_items_equal(film_eval *eval, film_expr_value *left, film_expr_value *right,
                bool *equal)
{
    int64_t one, other;

    *equal = false;
    if (!film_eval_unfold(eval, left) || !film_eval_unfold(eval, right) ||
        !film_eval_length(eval, left, &one) || !film_eval_length(eval, right, &other)) {
        return false;
    }
    if (one != other) {
        return true;
    }
    for (size_t i = 0; i < left->count && i < right->count; i++) {
        if (!are_equal(eval, &left->items[i], &right->items[i], equal)) {
            return false;
        }
        if (!*equal) {
            return true;
        }
    }
    if (left->cut || right->cut) {
        return film_eval_unknown(eval, "not all items were recorded");
    }
    *equal = true;
    return true;
}

/* Sets and dicts: every one of the left is among the right. */
static bool
are_sets_equal(film_eval *eval, film_expr_value *left, film_expr_value *right,
               bool *equal)
{
    size_t step = left->kind == FILM_EXPR_MAPPING ? 2 : 1;
    int64_t one, other;

    *equal = false;
    if (!film_eval_length(eval, left, &one) || !film_eval_length(eval, right, &other)) {
        return false;
    }
    if (one != other) {
        return true;
    }
    if (left->cut || right->cut) {
        return film_eval_unknown(eval, "not all items were recorded");
    }
    for (size_t i = 0; i + step <= left->count; i += step) {
        bool found = false;
        for (size_t k = 0; k + step <= right->count && !found; k += step) {
            if (!are_equal(eval, &left->items[i], &right->items[k], &found)) {
                return false;
            }
            if (found && step == 2 &&
                !are_equal(eval, &left->items[i + 1], &right->items[k + 1], &found)) {
                return false;
            }
        }
        if (!found) {
            return true;
        }
    }
    *equal = true;
    return true;
}

static bool
is_set(const film_expr_value *value)
{
    return strcmp(film_eval_type(value), "set") == 0 ||
           strcmp(film_eval_type(value), "frozenset") == 0;
}

static bool
are_texts_equal(film_eval *eval, const film_expr_value *left,
                const film_expr_value *right, bool *equal)
{
    size_t shorter = left->length < right->length ? left->length : right->length;

    *equal = false;
    if ((left->cut ? left->whole : (int64_t)left->length) !=
            (right->cut ? right->whole : (int64_t)right->length) &&
        left->kind == FILM_EXPR_BYTES) {
        return true;
    }
    if (memcmp(left->text, right->text, shorter) != 0 ||
        (!left->cut && !right->cut && left->length != right->length) ||
        (left->cut && !right->cut && right->length < left->length) ||
        (right->cut && !left->cut && left->length < right->length)) {
        return true;
    }
    if (left->cut || right->cut) {
        return film_eval_unknown(eval, "not all of a text was recorded");
    }
    *equal = true;
    return true;
}

static bool
are_numbers_equal(const film_expr_value *left, const film_expr_value *right)
{
    if (left->kind != FILM_EXPR_FLOAT && right->kind != FILM_EXPR_FLOAT) {
        return left->integer == right->integer;
    }
    return film_expr_number(left) >= film_expr_number(right) &&
           film_expr_number(left) <= film_expr_number(right);
}

static bool
are_equal(film_eval *eval, film_expr_value *left, film_expr_value *right, bool *equal)
{
    bool done;

    *equal = false;
    if (eval->depth > MOST_DEPTH) {
        return film_eval_unknown(eval, "it is nested too deep");
    }
    if (left->serial != 0 && left->serial == right->serial) {
        *equal = true;
        return true;
    }
    if (film_expr_is_number(left) && film_expr_is_number(right)) {
        *equal = are_numbers_equal(left, right);
        return true;
    }
    if (left->kind == FILM_EXPR_OBJECT || right->kind == FILM_EXPR_OBJECT) {
        if (left->kind == FILM_EXPR_NONE || right->kind == FILM_EXPR_NONE) {
            return true;
        }
        return film_eval_unknown(eval, "== of a %s runs code, or was not recorded",
                                 left->kind == FILM_EXPR_OBJECT
                                     ? film_eval_type(left)
                                     : film_eval_type(right));
    }
    if (left->kind == FILM_EXPR_TYPE || right->kind == FILM_EXPR_TYPE) {
        *equal = left->text != NULL && right->text != NULL &&
                 strcmp(left->text, right->text) == 0;
        return true;
    }
    if (left->kind != right->kind) {
        return true;
    }
    eval->depth++;
    switch (left->kind) {
    case FILM_EXPR_TEXT:
    case FILM_EXPR_BYTES:
        done = are_texts_equal(eval, left, right, equal);
        break;
    case FILM_EXPR_SEQUENCE:
        if (is_set(left) && is_set(right)) {
            done = film_eval_unfold(eval, left) && film_eval_unfold(eval, right) &&
                   are_sets_equal(eval, left, right, equal);
        }
        else if (strcmp(film_eval_type(left), film_eval_type(right)) != 0) {
            done = true;
        }
        else {
            done = are_items_equal(eval, left, right, equal);
        }
        break;
    case FILM_EXPR_MAPPING:
        done = film_eval_unfold(eval, left) && film_eval_unfold(eval, right) &&
               are_sets_equal(eval, left, right, equal);
        break;
    case FILM_EXPR_NONE:
    case FILM_EXPR_BOOL:
    case FILM_EXPR_INT:
    case FILM_EXPR_FLOAT:
    case FILM_EXPR_TYPE:
    case FILM_EXPR_OBJECT:
    default:
        *equal = true; /* None */
        done = true;
        break;
    }
    eval->depth--;
    return done;
}

static bool
is_among(film_eval *eval, film_expr_value *item, film_expr_value *of, bool *found)
{
    size_t step = of->kind == FILM_EXPR_MAPPING ? 2 : 1;

    *found = false;
    if ((of->kind == FILM_EXPR_TEXT || of->kind == FILM_EXPR_BYTES) &&
        item->kind == of->kind) {
        *found = item->length == 0 ||
                 memmem(of->text, of->length, item->text, item->length) != NULL;
        return *found || !of->cut
                   ? true
                   : film_eval_unknown(eval, "not all of a text was recorded");
    }
    if (of->kind != FILM_EXPR_SEQUENCE && of->kind != FILM_EXPR_MAPPING) {
        return film_eval_error(eval, "'in' needs a container, not a %s",
                               film_eval_type(of));
    }
    if (!film_eval_unfold(eval, of)) {
        return false;
    }
    for (size_t i = 0; i < of->count && !*found; i += step) {
        if (!are_equal(eval, item, &of->items[i], found)) {
            return false;
        }
    }
    return *found || !of->cut ? true
                              : film_eval_unknown(eval, "not all items were recorded");
}

static bool
is_the_same(film_eval *eval, const film_expr_value *left, const film_expr_value *right,
            bool *same)
{
    *same = false;
    if (left->kind == FILM_EXPR_NONE || right->kind == FILM_EXPR_NONE) {
        *same = left->kind == right->kind;
        return true;
    }
    if (left->kind == FILM_EXPR_BOOL && right->kind == FILM_EXPR_BOOL) {
        *same = left->integer == right->integer;
        return true;
    }
    if (left->kind == FILM_EXPR_TYPE || right->kind == FILM_EXPR_TYPE) {
        *same = left->text != NULL && right->text != NULL &&
                strcmp(left->text, right->text) == 0;
        return true;
    }
    if (left->serial != 0 && right->serial != 0) {
        *same = left->serial == right->serial;
        return true;
    }
    if (left->kind != right->kind) {
        return true;
    }
    return film_eval_unknown(eval, "'is' of two values of type %s was not recorded",
                             film_eval_type(left));
}

/* -1, 0, 1 */
static bool
order(film_eval *eval, film_expr_value *left, film_expr_value *right, int *out)
{
    bool equal;

    if (film_expr_is_number(left) && film_expr_is_number(right)) {
        if (left->kind != FILM_EXPR_FLOAT && right->kind != FILM_EXPR_FLOAT) {
            *out = (left->integer > right->integer) - (left->integer < right->integer);
        }
        else {
            double one = film_expr_number(left), other = film_expr_number(right);
            *out = one < other ? -1 : one > other ? 1 : one >= other ? 0 : 2; /* nan */
        }
        return true;
    }
    if ((left->kind == FILM_EXPR_TEXT || left->kind == FILM_EXPR_BYTES) &&
        left->kind == right->kind) {
        size_t shorter = left->length < right->length ? left->length : right->length;
        int found = memcmp(left->text, right->text, shorter);
        if (found == 0 && (left->cut || right->cut)) {
            return film_eval_unknown(eval, "not all of a text was recorded");
        }
        *out = found != 0
                   ? (found > 0) - (found < 0)
                   : (left->length > right->length) - (left->length < right->length);
        return true;
    }
    if (left->kind == FILM_EXPR_SEQUENCE && right->kind == FILM_EXPR_SEQUENCE &&
        !is_set(left) && !is_set(right)) {
        if (!film_eval_unfold(eval, left) || !film_eval_unfold(eval, right)) {
            return false;
        }
        for (size_t i = 0; i < left->count && i < right->count; i++) {
            if (!are_equal(eval, &left->items[i], &right->items[i], &equal)) {
                return false;
            }
            if (!equal) {
                return ++eval->depth > MOST_DEPTH
                           ? film_eval_unknown(eval, "it is nested too deep")
                           : order(eval, &left->items[i], &right->items[i], out);
            }
        }
        if (left->cut || right->cut) {
            return film_eval_unknown(eval, "not all items were recorded");
        }
        *out = (left->count > right->count) - (left->count < right->count);
        return true;
    }
    if (left->kind == FILM_EXPR_OBJECT || right->kind == FILM_EXPR_OBJECT) {
        return film_eval_unknown(eval, "the order of a %s and a %s was not recorded",
                                 film_eval_type(left), film_eval_type(right));
    }
    return film_eval_error(eval, "a %s and a %s have no order", film_eval_type(left),
                           film_eval_type(right));
}

bool
film_eval_compare(film_eval *eval, uint8_t how, film_expr_value *left,
                  film_expr_value *right, bool *result)
{
    int found = 0;

    switch ((film_comparison)how) {
    case FILM_COMPARE_EQUAL:
        return are_equal(eval, left, right, result);
    case FILM_COMPARE_UNEQUAL:
        if (!are_equal(eval, left, right, result)) {
            return false;
        }
        *result = !*result;
        return true;
    case FILM_COMPARE_IN:
        return is_among(eval, left, right, result);
    case FILM_COMPARE_NOT_IN:
        if (!is_among(eval, left, right, result)) {
            return false;
        }
        *result = !*result;
        return true;
    case FILM_COMPARE_IS:
        return is_the_same(eval, left, right, result);
    case FILM_COMPARE_IS_NOT:
        if (!is_the_same(eval, left, right, result)) {
            return false;
        }
        *result = !*result;
        return true;
    case FILM_COMPARE_LESS:
    case FILM_COMPARE_LESS_EQUAL:
    case FILM_COMPARE_GREATER:
    case FILM_COMPARE_GREATER_EQUAL:
    default:
        if (!order(eval, left, right, &found)) {
            return false;
        }
        *result = found == 2                       ? false
                  : how == FILM_COMPARE_LESS       ? found < 0
                  : how == FILM_COMPARE_LESS_EQUAL ? found <= 0
                  : how == FILM_COMPARE_GREATER    ? found > 0
                                                   : found >= 0;
        return true;
    }
}
