/* expression_tree.h: an expression as it was read: nodes in one array.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_EXPRESSION_TREE_H
#define FILMSTRIP_EXPRESSION_TREE_H

#include "analysis/expression.h"
#include "base/buffer.h"
#include "reader/pool.h"

typedef enum film_op {
    FILM_OP_NONE, /* None, and a part of a slice that is left out */
    FILM_OP_FALSE,
    FILM_OP_TRUE,
    FILM_OP_INT,
    FILM_OP_FLOAT,
    FILM_OP_TEXT,
    FILM_OP_BYTES,
    FILM_OP_NAME,
    FILM_OP_ATTRIBUTE, /* a.text */
    FILM_OP_ITEM,      /* a[b] */
    FILM_OP_SLICE,     /* a[b:c:d] */
    FILM_OP_CALL,      /* text(children) */
    FILM_OP_LIST,      /* children */
    FILM_OP_TUPLE,
    FILM_OP_SET,
    FILM_OP_DICT, /* children: key, value, key, value ... */
    FILM_OP_AND,
    FILM_OP_OR,
    FILM_OP_NOT,
    FILM_OP_IF, /* a if b else c */
    FILM_OP_NEGATIVE,
    FILM_OP_POSITIVE,
    FILM_OP_INVERT,
    FILM_OP_ADD,
    FILM_OP_SUBTRACT,
    FILM_OP_MULTIPLY,
    FILM_OP_DIVIDE,
    FILM_OP_FLOOR_DIVIDE,
    FILM_OP_MODULO,
    FILM_OP_POWER,
    FILM_OP_BIT_AND,
    FILM_OP_BIT_OR,
    FILM_OP_BIT_XOR,
    FILM_OP_SHIFT_LEFT,
    FILM_OP_SHIFT_RIGHT,
    FILM_OP_COMPARE /* children: a, b, c ...; between them the comparisons in text */
} film_op;

/* How two neighbours of a COMPARE compare; one byte each. */
typedef enum film_comparison {
    FILM_COMPARE_EQUAL = 1,
    FILM_COMPARE_UNEQUAL,
    FILM_COMPARE_LESS,
    FILM_COMPARE_LESS_EQUAL,
    FILM_COMPARE_GREATER,
    FILM_COMPARE_GREATER_EQUAL,
    FILM_COMPARE_IN,
    FILM_COMPARE_NOT_IN,
    FILM_COMPARE_IS,
    FILM_COMPARE_IS_NOT
} film_comparison;

typedef struct film_tree_node {
    film_op op;
    uint32_t first; /* first child, 0: none; children are linked by next */
    uint32_t next;
    size_t text, length; /* in film_expression.texts */
    int64_t integer;
    double number;
} film_tree_node;

struct film_expression {
    film_tree_node *nodes; /* owned; 0 is none */
    size_t count, capacity;
    uint32_t root;
    film_buffer texts;
    film_pool memory; /* of the last evaluation */
    film_buffer text; /* its result */
};

#endif
