/* expression_result.c: what an expression came to, as Python writes it.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "analysis/expression_value.h"
#include "reader/literal.h"

static void
put_value(film_eval *eval, film_expr_value *value, film_buffer *out, unsigned depth)
{
    static const char *const brackets[] = {"[]", "()", "{}"};
    const char *pair = brackets[0];

    if (value->datum.length > 0) {
        film_value told;
        if (film_timeline_text(eval->timeline, eval->moment, &value->datum,
                               FILM_EXPRESSION_TEXT, &told, NULL) == FILM_OK) {
            film_buffer_append(out, told.text.data, told.text.length);
        }
        return;
    }
    switch (value->kind) {
    case FILM_EXPR_NONE:
        film_buffer_append_text(out, "None");
        return;
    case FILM_EXPR_BOOL:
        film_buffer_append_text(out, value->integer != 0 ? "True" : "False");
        return;
    case FILM_EXPR_INT:
        film_literal_int(out, value->integer);
        return;
    case FILM_EXPR_FLOAT:
        film_literal_float(out, value->number);
        return;
    case FILM_EXPR_TEXT:
        film_literal_str(out, (const uint8_t *)value->text, value->length);
        return;
    case FILM_EXPR_BYTES:
        film_literal_bytes(out, (const uint8_t *)value->text, value->length);
        return;
    case FILM_EXPR_TYPE:
        film_buffer_append(out, value->text, value->length);
        return;
    case FILM_EXPR_OBJECT:
        film_buffer_append_text(out, "<not recorded>");
        return;
    case FILM_EXPR_SEQUENCE:
    case FILM_EXPR_MAPPING:
    default:
        break;
    }
    if (depth > 16 || out->length > FILM_EXPRESSION_TEXT) {
        film_buffer_append_text(out, "...");
        return;
    }
    pair = value->kind == FILM_EXPR_MAPPING || strcmp(value->type, "set") == 0
               ? brackets[2]
           : strcmp(value->type, "tuple") == 0 ? brackets[1]
                                               : brackets[0];
    film_buffer_put_byte(out, (uint8_t)pair[0]);
    for (size_t i = 0; i < value->count; i++) {
        if (i > 0) {
            film_buffer_append_text(
                out, value->kind == FILM_EXPR_MAPPING && i % 2 == 1 ? ": " : ", ");
        }
        put_value(eval, &value->items[i], out, depth + 1);
    }
    if (pair == brackets[1] && value->count == 1) {
        film_buffer_put_byte(out, ',');
    }
    film_buffer_put_byte(out, (uint8_t)pair[1]);
}

void
film_eval_describe(film_eval *eval, film_expr_value *value, film_evaluated *out)
{
    film_buffer *text = &eval->tree->text;
    const char *type = film_eval_type(value);
    char *kept = film_eval_take(eval, strlen(type) + 1);
    bool truth = false;

    out->datum = value->datum;
    film_buffer_clear(text);
    if (value->datum.length > 0 &&
        film_timeline_text(eval->timeline, eval->moment, &value->datum,
                           FILM_EXPRESSION_TEXT, &out->value, NULL) == FILM_OK) {
        film_buffer_append(text, out->value.text.data, out->value.text.length);
    }
    else {
        put_value(eval, value, text, 0);
        out->value.length = -1;
        if (kept != NULL) {
            memcpy(kept, type, strlen(type) + 1);
            out->value.type = (film_text){kept, strlen(kept)};
        }
    }
    film_buffer_put_byte(text, 0);
    if (text->failed) {
        eval->status = film_fail(eval->error, FILM_NO_MEMORY, "memory ran out");
        return;
    }
    out->value.text = (film_text){(const char *)text->data, text->length - 1};
    out->truth_known = film_eval_truth(eval, value, &truth);
    out->truth = truth;
    out->outcome = FILM_EVAL_VALUE; /* an unknown truth is no failure */
    out->is_number = film_expr_is_number(value);
    out->number = out->is_number ? film_expr_number(value) : 0;
}
