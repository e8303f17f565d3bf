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
#include "reader/note_parts.h"

static bool __attribute__((format(printf, 3, 0)))
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
take_record(film_eval *eval, uint64_t id, film_expr_value *out);

/* An instance of a class made of a scalar's counts as that, beside what it is itself. */
static bool
take_made_scalar(film_eval *eval, const film_value_record *record, film_expr_value *out)
{
    film_expr_value made = *out;
    film_token token;

    if (out->kind != FILM_EXPR_OBJECT ||
        !film_note_scalar(film_timeline_reader(eval->timeline), record, &token)) {
        return true;
    }
    if (token.kind == FILM_TOKEN_INT) {
        made.kind = FILM_EXPR_INT;
        made.integer = token.integer;
    }
    else if (token.kind == FILM_TOKEN_FLOAT) {
        made.kind = FILM_EXPR_FLOAT;
        made.number = token.number;
    }
    else if (token.kind == FILM_TOKEN_SHORT_TEXT) {
        made.kind = FILM_EXPR_TEXT;
        made.text = keep_text(eval, token.text.data, token.text.length);
        made.length = token.text.length;
        if (made.text == NULL) {
            return false;
        }
    }
    else if (token.kind == FILM_TOKEN_VALUE &&
             (!take_record(eval, token.value, &made) || made.serial != out->serial)) {
        return eval->status == FILM_OK;
    }
    made.serial = out->serial;
    made.datum = out->datum;
    *out = made;
    return true;
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
    return out->type != NULL && take_made_scalar(eval, &record, out);
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
