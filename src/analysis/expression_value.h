/* expression_value.h: values while an expression is evaluated.
 * A recorded container is unfolded when its items are asked for.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_EXPRESSION_VALUE_H
#define FILMSTRIP_EXPRESSION_VALUE_H

#include "analysis/expression_tree.h"

typedef enum film_expr_kind {
    FILM_EXPR_NONE,
    FILM_EXPR_BOOL,
    FILM_EXPR_INT,
    FILM_EXPR_FLOAT,
    FILM_EXPR_TEXT,
    FILM_EXPR_BYTES,
    FILM_EXPR_SEQUENCE, /* list, tuple, set, frozenset, deque: by its type */
    FILM_EXPR_MAPPING,  /* items: key, value, key, value ... */
    FILM_EXPR_TYPE,     /* text: the name of a type */
    FILM_EXPR_OBJECT    /* anything recorded that is none of these */
} film_expr_kind;

typedef struct film_expr_value film_expr_value;
struct film_expr_value {
    film_expr_kind kind;
    int64_t integer;  /* INT, BOOL */
    double number;    /* FLOAT */
    const char *text; /* TEXT, BYTES, TYPE */
    size_t length;
    const char *type;       /* the name of its type, for SEQUENCE and OBJECT */
    film_expr_value *items; /* SEQUENCE, MAPPING; NULL: not unfolded */
    size_t count;
    uint64_t serial;  /* recorded objects */
    film_datum datum; /* recorded; length 0: computed */
    bool cut;         /* TEXT, BYTES and what is unfolded: there is more */
    int64_t whole;    /* its true length, where cut */
};

/* One evaluation. */
typedef struct film_eval {
    film_expression *tree;
    film_timeline *timeline;
    film_moment moment;
    size_t index;
    film_evaluated *out; /* outcome and why: VALUE as long as all is well */
    film_status status;  /* of the recording */
    film_error *error;
    unsigned depth;
    size_t items_left;
} film_eval;

/* False, with a sentence. */
bool
film_eval_unknown(film_eval *eval, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

bool
film_eval_error(film_eval *eval, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Memory of the evaluation; NULL with status set. */
void *
film_eval_take(film_eval *eval, size_t bytes);

/* What a recorded token is. */
bool
film_eval_recorded(film_eval *eval, const film_datum *datum, film_expr_value *out);

/* The items of a container, all of those that are recorded. */
bool
film_eval_unfold(film_eval *eval, film_expr_value *value);

/* bool(value), len(value), value's type. */
bool
film_eval_truth(film_eval *eval, film_expr_value *value, bool *truth);

bool
film_eval_length(film_eval *eval, film_expr_value *value, int64_t *length);

const char *
film_eval_type(const film_expr_value *value);

/* One comparison (film_comparison). */
bool
film_eval_compare(film_eval *eval, uint8_t how, film_expr_value *left,
                  film_expr_value *right, bool *result);

/* An operator of two sides. */
bool
film_eval_operate(film_eval *eval, film_op op, film_expr_value *left,
                  film_expr_value *right, film_expr_value *out);

/* A name, an attribute, an item, a slice (its three ends). */
bool
film_eval_name(film_eval *eval, const char *name, film_expr_value *out);

bool
film_eval_attribute(film_eval *eval, film_expr_value *of, const char *name,
                    film_expr_value *out);

bool
film_eval_item(film_eval *eval, film_expr_value *of, film_expr_value *key,
               film_expr_value *out);

bool
film_eval_slice(film_eval *eval, film_expr_value *of, const film_expr_value *ends,
                film_expr_value *out);

/* An operator of one side. */
bool
film_eval_unary(film_eval *eval, film_op op, film_expr_value *of, film_expr_value *out);

/* Tells the result. */
void
film_eval_describe(film_eval *eval, film_expr_value *value, film_evaluated *out);

static inline bool
film_expr_is_number(const film_expr_value *value)
{
    return value->kind == FILM_EXPR_BOOL || value->kind == FILM_EXPR_INT ||
           value->kind == FILM_EXPR_FLOAT;
}

static inline double
film_expr_number(const film_expr_value *value)
{
    return value->kind == FILM_EXPR_FLOAT ? value->number : (double)value->integer;
}

static inline film_expr_value
film_expr_bool(bool is)
{
    return (film_expr_value){.kind = FILM_EXPR_BOOL, .integer = is};
}

static inline film_expr_value
film_expr_int(int64_t number)
{
    return (film_expr_value){.kind = FILM_EXPR_INT, .integer = number};
}

#endif
