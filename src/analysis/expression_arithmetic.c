/* expression_arithmetic.c: operators of expressions, as Python means them; ints up to
 * 64 bits.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "analysis/expression_value.h"

static bool
too_large(film_eval *eval)
{
    return film_eval_unknown(eval, "the result does not fit 64 bits");
}

static int64_t
floor_of(int64_t left, int64_t right)
{
    int64_t quotient = left / right;

    return left % right != 0 && (left < 0) != (right < 0) ? quotient - 1 : quotient;
}

static bool
power_of(film_eval *eval, int64_t base, int64_t exponent, film_expr_value *out)
{
    int64_t result = 1;

    if (exponent < 0) {
        *out = (film_expr_value){.kind = FILM_EXPR_FLOAT,
                                 .number = pow((double)base, (double)exponent)};
        return base != 0 ? true : film_eval_error(eval, "division by zero");
    }
    while (exponent > 0) {
        if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) {
            return too_large(eval);
        }
        exponent >>= 1;
        if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) {
            return too_large(eval);
        }
    }
    *out = film_expr_int(result);
    return true;
}

static bool
operate_ints(film_eval *eval, film_op op, int64_t left, int64_t right,
             film_expr_value *out)
{
    int64_t result = 0;
    bool over = false;

    if ((op == FILM_OP_DIVIDE || op == FILM_OP_FLOOR_DIVIDE || op == FILM_OP_MODULO) &&
        right == 0) {
        return film_eval_error(eval, "division by zero");
    }
    if ((op == FILM_OP_FLOOR_DIVIDE || op == FILM_OP_MODULO) && right == -1) {
        over = op == FILM_OP_FLOOR_DIVIDE && __builtin_sub_overflow(0, left, &result);
        *out = film_expr_int(result);
        return over ? too_large(eval) : true;
    }
    switch ((int)op) {
    case FILM_OP_ADD:
        over = __builtin_add_overflow(left, right, &result);
        break;
    case FILM_OP_SUBTRACT:
        over = __builtin_sub_overflow(left, right, &result);
        break;
    case FILM_OP_MULTIPLY:
        over = __builtin_mul_overflow(left, right, &result);
        break;
    case FILM_OP_DIVIDE:
        *out = (film_expr_value){.kind = FILM_EXPR_FLOAT,
                                 .number = (double)left / (double)right};
        return true;
    case FILM_OP_FLOOR_DIVIDE:
        result = floor_of(left, right);
        break;
    case FILM_OP_MODULO:
        result = left - floor_of(left, right) * right;
        break;
    case FILM_OP_POWER:
        return power_of(eval, left, right, out);
    case FILM_OP_BIT_AND:
        result = left & right;
        break;
    case FILM_OP_BIT_OR:
        result = left | right;
        break;
    case FILM_OP_BIT_XOR:
        result = left ^ right;
        break;
    case FILM_OP_SHIFT_LEFT:
        over = right < 0 || right > 62 ||
               __builtin_mul_overflow(left, (int64_t)1 << (right & 63), &result);
        break;
    case FILM_OP_SHIFT_RIGHT:
        over = right < 0;
        result = right > 63 ? (left < 0 ? -1 : 0)
                 : left < 0 ? ~(~left >> (right & 63))
                            : left >> (right & 63);
        break;
    default:
        return film_eval_error(eval, "that cannot be computed");
    }
    *out = film_expr_int(result);
    return over ? too_large(eval) : true;
}

static bool
operate_floats(film_eval *eval, film_op op, double left, double right,
               film_expr_value *out)
{
    double result;

    switch ((int)op) {
    case FILM_OP_ADD:
        result = left + right;
        break;
    case FILM_OP_SUBTRACT:
        result = left - right;
        break;
    case FILM_OP_MULTIPLY:
        result = left * right;
        break;
    case FILM_OP_DIVIDE:
    case FILM_OP_FLOOR_DIVIDE:
    case FILM_OP_MODULO:
        if (right >= 0 && right <= 0) {
            return film_eval_error(eval, "division by zero");
        }
        result = op == FILM_OP_DIVIDE         ? left / right
                 : op == FILM_OP_FLOOR_DIVIDE ? floor(left / right)
                                              : fmod(left, right);
        if (op == FILM_OP_MODULO && result != 0.0 && (result < 0) != (right < 0)) {
            result += right;
        }
        break;
    case FILM_OP_POWER:
        result = pow(left, right);
        break;
    default:
        return film_eval_error(eval, "that cannot be computed with a float");
    }
    *out = (film_expr_value){.kind = FILM_EXPR_FLOAT, .number = result};
    return true;
}

/* Two texts or two lists, one behind the other. */
static bool
join(film_eval *eval, film_expr_value *left, film_expr_value *right,
     film_expr_value *out)
{
    if (!film_eval_unfold(eval, left) || !film_eval_unfold(eval, right)) {
        return false;
    }
    if (left->cut || right->cut) {
        return film_eval_unknown(eval, "not all of it was recorded");
    }
    *out = *left;
    out->datum.length = 0;
    out->serial = 0;
    if (left->kind == FILM_EXPR_SEQUENCE) {
        film_expr_value *items =
            film_eval_take(eval, (left->count + right->count + 1) * sizeof(*items));
        if (items == NULL) {
            return false;
        }
        memcpy(items, left->items, left->count * sizeof(*items));
        memcpy(items + left->count, right->items, right->count * sizeof(*items));
        out->items = items;
        out->count = left->count + right->count;
    }
    else {
        char *text = film_eval_take(eval, left->length + right->length + 1);
        if (text == NULL) {
            return false;
        }
        memcpy(text, left->text, left->length);
        memcpy(text + left->length, right->text, right->length);
        text[left->length + right->length] = '\0';
        out->text = text;
        out->length = left->length + right->length;
    }
    if (out->length > FILM_EXPRESSION_TEXT || out->count > FILM_EXPRESSION_ITEMS) {
        return film_eval_unknown(eval, "the result is too long");
    }
    return true;
}

bool
film_eval_operate(film_eval *eval, film_op op, film_expr_value *left,
                  film_expr_value *right, film_expr_value *out)
{
    bool sequences = left->kind == right->kind &&
                     (left->kind == FILM_EXPR_TEXT || left->kind == FILM_EXPR_BYTES ||
                      (left->kind == FILM_EXPR_SEQUENCE &&
                       strcmp(film_eval_type(left), film_eval_type(right)) == 0));

    if (film_expr_is_number(left) && film_expr_is_number(right)) {
        if (left->kind == FILM_EXPR_FLOAT || right->kind == FILM_EXPR_FLOAT) {
            return operate_floats(eval, op, film_expr_number(left),
                                  film_expr_number(right), out);
        }
        return operate_ints(eval, op, left->integer, right->integer, out);
    }
    if (op == FILM_OP_ADD && sequences) {
        return join(eval, left, right, out);
    }
    if (left->kind == FILM_EXPR_OBJECT || right->kind == FILM_EXPR_OBJECT) {
        return film_eval_unknown(eval, "an operator of a %s runs code, or is too large",
                                 left->kind == FILM_EXPR_OBJECT
                                     ? film_eval_type(left)
                                     : film_eval_type(right));
    }
    return film_eval_error(eval, "a %s and a %s cannot be computed with",
                           film_eval_type(left), film_eval_type(right));
}

bool
film_eval_unary(film_eval *eval, film_op op, film_expr_value *of, film_expr_value *out)
{
    if (!film_expr_is_number(of)) {
        return of->kind == FILM_EXPR_OBJECT
                   ? film_eval_unknown(eval, "an operator of a %s runs code",
                                       film_eval_type(of))
                   : film_eval_error(eval, "a %s has no sign", film_eval_type(of));
    }
    if (of->kind == FILM_EXPR_FLOAT) {
        if (op == FILM_OP_INVERT) {
            return film_eval_error(eval, "a float has no bits");
        }
        *out = *of;
        out->datum.length = 0;
        out->number = op == FILM_OP_NEGATIVE ? -of->number : of->number;
        return true;
    }
    if (op == FILM_OP_NEGATIVE) {
        int64_t result;
        if (__builtin_sub_overflow(0, of->integer, &result)) {
            return too_large(eval);
        }
        *out = film_expr_int(result);
        return true;
    }
    *out = film_expr_int(op == FILM_OP_INVERT ? ~of->integer : of->integer);
    return true;
}
