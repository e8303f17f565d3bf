/* expression_value.c: recorded values in expressions: what they are, what they hold.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/expression_value.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/timeline_state.h"
#include "format/value_record.h"
#include "reader/reader_state.h"
#include "reader/render.h"

#define MOST_DEPTH 32u

static bool
give_up(film_eval *eval, film_eval_outcome outcome, const char *format, va_list rest)
{
    if (eval->out->outcome == FILM_EVAL_VALUE) {
        eval->out->outcome = outcome;
        vsnprintf(eval->out->why, sizeof(eval->out->why), format, rest);
    }
    return false;
}

bool
film_eval_unknown(film_eval *eval, const char *format, ...)
{
    va_list rest;

    va_start(rest, format);
    give_up(eval, FILM_EVAL_UNKNOWN, format, rest);
    va_end(rest);
    return false;
}

bool
film_eval_error(film_eval *eval, const char *format, ...)
{
    va_list rest;

    va_start(rest, format);
    give_up(eval, FILM_EVAL_ERROR, format, rest);
    va_end(rest);
    return false;
}

void *
film_eval_take(film_eval *eval, size_t bytes)
{
    void *memory;

    if (film_pool_take(&eval->tree->memory, bytes, &memory) != FILM_OK) {
        eval->status = film_fail(eval->error, FILM_NO_MEMORY, "memory ran out");
        film_eval_unknown(eval, "memory ran out");
        return NULL;
    }
    return memory;
}

/* A copy that stays. */
static const char *
keep_text(film_eval *eval, const void *bytes, size_t length)
{
    char *to = film_eval_take(eval, length + 1);

    if (to != NULL) {
        memcpy(to, bytes, length);
        to[length] = '\0';
    }
    return to;
}

static bool
is_type(film_text type, const char *name)
{
    return type.length == strlen(name) && memcmp(type.data, name, type.length) == 0;
}

/* A str, bytes or int that did not fit its token. */
static bool
take_scalar(film_eval *eval, const film_value_record *record, film_text type,
            film_expr_value *out)
{
    size_t length = film_input_left(&record->rest);
    const uint8_t *bytes = record->rest.at;

    out->cut = (record->flags & FILM_VALUE_CUT) != 0;
    out->whole = record->length;
    if (is_type(type, "int")) {
        if (out->cut || length > 8) {
            out->kind = FILM_EXPR_OBJECT;
            out->type = "int";
            return true;
        }
        out->kind = FILM_EXPR_INT;
        out->integer = length > 0 && (bytes[length - 1] & 0x80) != 0 ? -1 : 0;
        for (size_t i = length; i > 0; i--) {
            out->integer = (int64_t)((uint64_t)out->integer << 8 | bytes[i - 1]);
        }
        return true;
    }
    if (is_type(type, "str") || is_type(type, "bytes")) {
        out->kind = is_type(type, "str") ? FILM_EXPR_TEXT : FILM_EXPR_BYTES;
        out->text = keep_text(eval, bytes, length);
        out->length = length;
        return out->text != NULL;
    }
    out->kind = FILM_EXPR_OBJECT;
    out->type = keep_text(eval, type.data, type.length);
    return out->type != NULL;
}

static bool
take_record(film_eval *eval, uint64_t id, film_expr_value *out)
{
    film_reader *reader = film_timeline_reader(eval->timeline);
    film_value_record record;
    film_text type;

    if (film_reader_record(reader, id, &record, NULL) != FILM_OK) {
        return film_eval_unknown(eval, "a value is not in the recording");
    }
    type = film_reader_string(reader, record.type);
    if ((record.flags & FILM_VALUE_REDACTED) != 0) {
        return film_eval_unknown(eval, "the value was redacted");
    }
    if (record.form == 0) {
        return take_scalar(eval, &record, type, out);
    }
    out->serial = record.serial;
    out->kind = record.form == FILM_OBJECT_SEQUENCE  ? FILM_EXPR_SEQUENCE
                : record.form == FILM_OBJECT_MAPPING ? FILM_EXPR_MAPPING
                                                     : FILM_EXPR_OBJECT;
    type = film_short_name(type);
    out->type = keep_text(eval, type.data, type.length);
    return out->type != NULL;
}

bool
film_eval_recorded(film_eval *eval, const film_datum *datum, film_expr_value *out)
{
    film_token token = film_datum_token(datum);
    film_text type;

    memset(out, 0, sizeof(*out));
    out->datum = *datum;
    if (datum->length == 0) {
        return film_eval_unknown(eval, "the value was not recorded");
    }
    switch (token.kind) {
    case FILM_TOKEN_NONE:
        out->kind = FILM_EXPR_NONE;
        return true;
    case FILM_TOKEN_FALSE:
    case FILM_TOKEN_TRUE:
        out->kind = FILM_EXPR_BOOL;
        out->integer = token.kind == FILM_TOKEN_TRUE;
        return true;
    case FILM_TOKEN_INT:
        out->kind = FILM_EXPR_INT;
        out->integer = token.integer;
        return true;
    case FILM_TOKEN_FLOAT:
        out->kind = FILM_EXPR_FLOAT;
        out->number = token.number;
        return true;
    case FILM_TOKEN_SHORT_TEXT:
        out->kind = FILM_EXPR_TEXT;
        out->text = keep_text(eval, token.text.data, token.text.length);
        out->length = token.text.length;
        return out->text != NULL;
    case FILM_TOKEN_VALUE:
    case FILM_TOKEN_OBJECT:
        return take_record(eval, token.value, out);
    case FILM_TOKEN_CYCLE:
        out->kind = FILM_EXPR_OBJECT;
        out->serial = token.value;
        type = film_short_name(
            film_reader_string(film_timeline_reader(eval->timeline), token.type));
        out->type = keep_text(eval, type.data, type.length);
        return out->type != NULL;
    case FILM_TOKEN_REDACTED:
        return film_eval_unknown(eval, "the value was redacted");
    case FILM_TOKEN_UNBOUND:
    default:
        return film_eval_unknown(eval, "the value was not recorded");
    }
}

bool
film_eval_unfold(film_eval *eval, film_expr_value *value)
{
    film_content content;
    bool pairs = value->kind == FILM_EXPR_MAPPING;
    film_datum *held;
    size_t count;

    if (value->items != NULL || value->datum.length == 0 ||
        (value->kind != FILM_EXPR_SEQUENCE && !pairs)) {
        return true;
    }
    if (film_timeline_content(eval->timeline, eval->moment, &value->datum, &content,
                              eval->error) != FILM_OK) {
        return film_eval_unknown(eval, "what the %s holds was not recorded",
                                 value->type);
    }
    count = content.count * (pairs ? 2u : 1u);
    if (count > eval->items_left) {
        return film_eval_unknown(eval, "there are too many items");
    }
    eval->items_left -= count;
    value->cut = content.cut || content.doubtful;
    value->whole = content.length;
    /* The items are copied first: looking at one may ask for another content. */
    held = film_eval_take(eval, (count + 1) * sizeof(*held));
    value->items = film_eval_take(eval, (count + 1) * sizeof(*value->items));
    if (held == NULL || value->items == NULL) {
        return false;
    }
    for (size_t i = 0; i < content.count; i++) {
        if (pairs) {
            held[2 * i] = content.items[i].key;
            held[2 * i + 1] = content.items[i].value;
        }
        else {
            held[i] = content.items[i].value;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (!film_eval_recorded(eval, &held[i], &value->items[i])) {
            /* An item that is not known spoils only what looks at it. */
            if (eval->status != FILM_OK) {
                return false;
            }
            eval->out->outcome = FILM_EVAL_VALUE;
            memset(&value->items[i], 0, sizeof(value->items[i]));
            value->items[i].kind = FILM_EXPR_OBJECT;
            value->items[i].type = "unknown";
        }
    }
    value->count = count;
    return true;
}

const char *
film_eval_type(const film_expr_value *value)
{
    switch (value->kind) {
    case FILM_EXPR_NONE:
        return "NoneType";
    case FILM_EXPR_BOOL:
        return "bool";
    case FILM_EXPR_INT:
        return "int";
    case FILM_EXPR_FLOAT:
        return "float";
    case FILM_EXPR_TEXT:
        return "str";
    case FILM_EXPR_BYTES:
        return "bytes";
    case FILM_EXPR_TYPE:
        return "type";
    case FILM_EXPR_SEQUENCE:
    case FILM_EXPR_MAPPING:
    case FILM_EXPR_OBJECT:
    default:
        return value->type == NULL ? "object" : value->type;
    }
}

static int64_t
letters(const char *text, size_t length)
{
    int64_t count = 0;

    for (size_t i = 0; i < length; i++) {
        count += ((uint8_t)text[i] & 0xc0) != 0x80;
    }
    return count;
}

bool
film_eval_length(film_eval *eval, film_expr_value *value, int64_t *length)
{
    switch (value->kind) {
    case FILM_EXPR_TEXT:
    case FILM_EXPR_BYTES:
        *length = value->cut                      ? value->whole
                  : value->kind == FILM_EXPR_TEXT ? letters(value->text, value->length)
                                                  : (int64_t)value->length;
        break;
    case FILM_EXPR_SEQUENCE:
    case FILM_EXPR_MAPPING:
        if (!film_eval_unfold(eval, value)) {
            return false;
        }
        *length = value->datum.length > 0 && value->whole >= 0
                      ? value->whole
                      : (int64_t)(value->kind == FILM_EXPR_MAPPING ? value->count / 2
                                                                   : value->count);
        break;
    case FILM_EXPR_OBJECT: {
        film_content content;
        if (value->datum.length == 0 ||
            film_timeline_content(eval->timeline, eval->moment, &value->datum, &content,
                                  eval->error) != FILM_OK ||
            content.length < 0) {
            return film_eval_unknown(eval, "the length of a %s was not recorded",
                                     film_eval_type(value));
        }
        *length = content.length;
        break;
    }
    case FILM_EXPR_NONE:
    case FILM_EXPR_BOOL:
    case FILM_EXPR_INT:
    case FILM_EXPR_FLOAT:
    case FILM_EXPR_TYPE:
    default:
        return film_eval_error(eval, "a %s has no len()", film_eval_type(value));
    }
    if (*length < 0) {
        return film_eval_unknown(eval, "the length was not recorded");
    }
    return true;
}

bool
film_eval_truth(film_eval *eval, film_expr_value *value, bool *truth)
{
    int64_t length;

    switch (value->kind) {
    case FILM_EXPR_NONE:
        *truth = false;
        return true;
    case FILM_EXPR_BOOL:
    case FILM_EXPR_INT:
        *truth = value->integer != 0;
        return true;
    case FILM_EXPR_FLOAT:
        *truth = !(value->number >= 0 && value->number <= 0);
        return true;
    case FILM_EXPR_TYPE:
        *truth = true;
        return true;
    case FILM_EXPR_OBJECT:
        if (strcmp(film_eval_type(value), "int") == 0 ||
            strcmp(film_eval_type(value), "function") == 0) {
            *truth = true; /* an int this large is not 0 */
            return true;
        }
        return film_eval_unknown(eval, "whether a %s is true is its class's to say",
                                 film_eval_type(value));
    case FILM_EXPR_TEXT:
    case FILM_EXPR_BYTES:
    case FILM_EXPR_SEQUENCE:
    case FILM_EXPR_MAPPING:
    default:
        if (!film_eval_length(eval, value, &length)) {
            return false;
        }
        *truth = length > 0;
        return true;
    }
}

/* --- comparisons --- */

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
