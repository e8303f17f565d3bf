/* expression.c: reading expressions: recursive descent, bounded in depth and length.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/expression.h"

#include <string.h>

#include "analysis/expression_tree.h"
#include "analysis/expression_words.h"
#include "base/alloc.h"

#define FAULT_BYTES 24u /* of the expression, shown where it is wrong */

/* --- nodes --- */

static uint32_t
add_two(film_parser *parse, film_op op, uint32_t left, uint32_t right)
{
    if (left == 0 || right == 0) {
        return 0;
    }
    parse->tree->nodes[left].next = right;
    return film_parser_add(parse, op, left);
}

/* a, b, c: behind the first part, up to `closing` (NULL: the end), which stays. */
static uint32_t
parse_tuple(film_parser *parse, uint32_t first, const char *closing)
{
    uint32_t last = first, next;

    while (film_parser_take_sign(parse, ",")) {
        if (closing == NULL ? parse->kind == FILM_WORD_END
                            : film_parser_is(parse, FILM_WORD_SIGN, closing)) {
            break; /* a comma behind the last part */
        }
        next = film_parser_expression(parse);
        if (next == 0) {
            return 0;
        }
        parse->tree->nodes[last].next = next;
        last = next;
    }
    return film_parser_add(parse, FILM_OP_TUPLE, first);
}

/* --- trailers and operators --- */

static uint32_t
parse_slice_part(film_parser *parse)
{
    if (film_parser_is(parse, FILM_WORD_SIGN, ":") ||
        film_parser_is(parse, FILM_WORD_SIGN, "]")) {
        return film_parser_add(parse, FILM_OP_NONE, 0);
    }
    return film_parser_expression(parse);
}

/* a[b] or a[b:c:d], behind the bracket. */
static uint32_t
parse_item(film_parser *parse, uint32_t of)
{
    uint32_t parts[3] = {0, 0, 0};
    film_tree_node *nodes;
    bool slice = false;

    if (film_parser_is(parse, FILM_WORD_SIGN, "]")) {
        return film_parser_fault(parse, "an index is missing");
    }
    parts[0] = parse_slice_part(parse);
    if (parts[0] != 0 && film_parser_is(parse, FILM_WORD_SIGN, ",")) {
        parts[0] = parse_tuple(parse, parts[0], "]");
    }
    for (unsigned i = 1; i < 3 && parts[i - 1] != 0; i++) {
        bool colon = film_parser_take_sign(parse, ":");
        slice = slice || colon;
        parts[i] =
            colon ? parse_slice_part(parse) : film_parser_add(parse, FILM_OP_NONE, 0);
    }
    if (parts[0] == 0 || parts[1] == 0 || parts[2] == 0) {
        return 0;
    }
    if (film_parser_is(parse, FILM_WORD_SIGN, ",")) {
        return film_parser_fault(parse, "a slice of several parts is not known here");
    }
    if (!film_parser_take_sign(parse, "]")) {
        return film_parser_fault(parse, "a bracket does not close");
    }
    nodes = parse->tree->nodes;
    nodes[of].next = parts[0];
    if (slice) {
        nodes[parts[0]].next = parts[1];
        nodes[parts[1]].next = parts[2];
    }
    return film_parser_add(parse, slice ? FILM_OP_SLICE : FILM_OP_ITEM, of);
}

static uint32_t
parse_call(film_parser *parse, uint32_t of)
{
    static const char *const known[] = {"len", "type", "abs", "min", "max", "sum"};
    const film_tree_node *name = &parse->tree->nodes[of];
    const char *text = (const char *)parse->tree->texts.data + name->text;
    size_t at = name->text, length = name->length;
    bool comma, fine = false;
    uint32_t first, node;

    for (size_t i = 0; name->op == FILM_OP_NAME && i < sizeof(known) / sizeof(known[0]);
         i++) {
        fine = fine || strcmp(text, known[i]) == 0;
    }
    if (!fine) {
        return film_parser_fault(
            parse, "no code is run here: only len, type, abs, min, max and sum "
                   "can be called");
    }
    first = film_parser_list(parse, ")", &comma);
    if (parse->why != NULL) {
        return 0;
    }
    node = film_parser_add(parse, FILM_OP_CALL, first);
    if (node != 0) {
        parse->tree->nodes[node].text = at;
        parse->tree->nodes[node].length = length;
    }
    return node;
}

static uint32_t
parse_primary(film_parser *parse)
{
    uint32_t node = film_parser_atom(parse);

    for (unsigned trailers = 0; node != 0; trailers++) {
        if (trailers > FILM_EXPRESSION_DEPTH) {
            return film_parser_fault(parse, "it is nested too deep");
        }
        if (film_parser_take_sign(parse, ".")) {
            if (parse->kind != FILM_WORD_NAME) {
                return film_parser_fault(parse, "the name of an attribute is missing");
            }
            node = film_parser_add_text(parse, FILM_OP_ATTRIBUTE, node, parse->token,
                                        parse->length);
            film_parser_advance(parse);
        }
        else if (film_parser_take_sign(parse, "[")) {
            node = parse_item(parse, node);
        }
        else if (film_parser_take_sign(parse, "(")) {
            node = parse_call(parse, node);
        }
        else {
            break;
        }
    }
    return node;
}

static bool
enter(film_parser *parse)
{
    if (++parse->depth > FILM_EXPRESSION_DEPTH) {
        film_parser_fault(parse, "it is nested too deep");
        return false;
    }
    return true;
}

static uint32_t
parse_unary(film_parser *parse)
{
    static const struct {
        const char *sign;
        film_op op;
    } signs[] = {
        {"-", FILM_OP_NEGATIVE}, {"+", FILM_OP_POSITIVE}, {"~", FILM_OP_INVERT}};
    uint32_t node = 0;

    if (!enter(parse)) {
        return 0;
    }
    for (size_t i = 0; i < 3; i++) {
        if (film_parser_take_sign(parse, signs[i].sign)) {
            node = parse_unary(parse);
            parse->depth--;
            return node == 0 ? 0 : film_parser_add(parse, signs[i].op, node);
        }
    }
    node = parse_primary(parse);
    if (node != 0 && film_parser_take_sign(parse, "**")) {
        node = add_two(parse, FILM_OP_POWER, node, parse_unary(parse));
    }
    parse->depth--;
    return node;
}

/* Operators of two sides, weakest first. */
static const struct {
    const char *sign;
    film_op op;
    unsigned level;
} the_operators[] = {
    {"|", FILM_OP_BIT_OR, 0},        {"^", FILM_OP_BIT_XOR, 1},
    {"&", FILM_OP_BIT_AND, 2},       {"<<", FILM_OP_SHIFT_LEFT, 3},
    {">>", FILM_OP_SHIFT_RIGHT, 3},  {"+", FILM_OP_ADD, 4},
    {"-", FILM_OP_SUBTRACT, 4},      {"*", FILM_OP_MULTIPLY, 5},
    {"//", FILM_OP_FLOOR_DIVIDE, 5}, {"/", FILM_OP_DIVIDE, 5},
    {"%", FILM_OP_MODULO, 5},
};
#define TIGHTEST 6u

static uint32_t
parse_operators(film_parser *parse, unsigned level)
{
    uint32_t node =
        level == TIGHTEST ? parse_unary(parse) : parse_operators(parse, level + 1);
    bool found = level < TIGHTEST;

    while (node != 0 && found) {
        found = false;
        for (size_t i = 0; i < sizeof(the_operators) / sizeof(the_operators[0]); i++) {
            if (the_operators[i].level == level &&
                film_parser_take_sign(parse, the_operators[i].sign)) {
                node = add_two(parse, the_operators[i].op, node,
                               parse_operators(parse, level + 1));
                found = node != 0;
                break;
            }
        }
    }
    return node;
}

static uint8_t
take_comparison(film_parser *parse)
{
    static const struct {
        const char *sign;
        film_comparison how;
    } signs[] = {{"==", FILM_COMPARE_EQUAL},      {"!=", FILM_COMPARE_UNEQUAL},
                 {"<=", FILM_COMPARE_LESS_EQUAL}, {">=", FILM_COMPARE_GREATER_EQUAL},
                 {"<", FILM_COMPARE_LESS},        {">", FILM_COMPARE_GREATER}};

    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
        if (film_parser_take_sign(parse, signs[i].sign)) {
            return (uint8_t)signs[i].how;
        }
    }
    if (film_parser_take_word(parse, "in")) {
        return FILM_COMPARE_IN;
    }
    if (film_parser_take_word(parse, "is")) {
        return film_parser_take_word(parse, "not") ? FILM_COMPARE_IS_NOT
                                                   : FILM_COMPARE_IS;
    }
    if (film_parser_is(parse, FILM_WORD_NAME, "not")) {
        film_parser_advance(parse);
        if (film_parser_take_word(parse, "in")) {
            return FILM_COMPARE_NOT_IN;
        }
        film_parser_fault(parse, "'in' is missing");
    }
    return 0;
}

static uint32_t
parse_comparison(film_parser *parse)
{
    uint32_t first = parse_operators(parse, 0), last = first, node;
    char hows[FILM_EXPRESSION_DEPTH];
    size_t count = 0;
    uint8_t how;

    while (last != 0 && (how = take_comparison(parse)) != 0) {
        uint32_t next = parse_operators(parse, 0);
        if (next == 0) {
            return 0;
        }
        if (count == sizeof(hows)) {
            return film_parser_fault(parse, "there are too many comparisons");
        }
        hows[count++] = (char)how;
        parse->tree->nodes[last].next = next;
        last = next;
    }
    if (parse->why != NULL || count == 0) {
        return parse->why != NULL ? 0 : first;
    }
    node = film_parser_add_text(parse, FILM_OP_COMPARE, first, hows, count);
    return node;
}

static uint32_t
parse_not(film_parser *parse)
{
    uint32_t node;

    if (!film_parser_is(parse, FILM_WORD_NAME, "not")) {
        return parse_comparison(parse);
    }
    if (!enter(parse)) {
        return 0;
    }
    film_parser_advance(parse);
    node = parse_not(parse);
    parse->depth--;
    return node == 0 ? 0 : film_parser_add(parse, FILM_OP_NOT, node);
}

static uint32_t
parse_and(film_parser *parse)
{
    uint32_t node = parse_not(parse);

    while (node != 0 && film_parser_take_word(parse, "and")) {
        node = add_two(parse, FILM_OP_AND, node, parse_not(parse));
    }
    return node;
}

static uint32_t
parse_or(film_parser *parse)
{
    uint32_t node = parse_and(parse);

    while (node != 0 && film_parser_take_word(parse, "or")) {
        node = add_two(parse, FILM_OP_OR, node, parse_and(parse));
    }
    return node;
}

uint32_t
film_parser_expression(film_parser *parse)
{
    uint32_t node, condition, other;

    if (!enter(parse)) {
        return 0;
    }
    node = parse_or(parse);
    if (node != 0 && film_parser_take_word(parse, "if")) {
        condition = parse_or(parse);
        if (condition == 0 || !film_parser_take_word(parse, "else")) {
            return film_parser_fault(parse, "'else' is missing");
        }
        other = film_parser_expression(parse);
        if (other == 0) {
            return 0;
        }
        parse->tree->nodes[node].next = condition;
        parse->tree->nodes[condition].next = other;
        node = film_parser_add(parse, FILM_OP_IF, node);
    }
    parse->depth--;
    return node;
}

/* Says what is wrong, and the words where. */
static film_status
tell_fault(const film_parser *parse, film_error *error)
{
    const char *where = parse->where == NULL ? parse->begin : parse->where;
    size_t left = (size_t)(parse->end - where);
    size_t shown = left > FAULT_BYTES ? FAULT_BYTES : left;
    film_status status = parse->memory ? FILM_NO_MEMORY : FILM_MISUSE;
    uint64_t at = (uint64_t)(where - parse->begin);

    while (shown < left && shown > 0 && (where[shown] & 0xc0) == 0x80) {
        shown--; /* whole letters */
    }
    if (parse->why == NULL) {
        return film_fail_at(error, status, at, "it is empty");
    }
    return shown == 0 ? film_fail_at(error, status, at, "%s", parse->why)
                      : film_fail_at(error, status, at, "%s, at '%.*s%s'", parse->why,
                                     (int)shown, where, shown < left ? "..." : "");
}

film_status
film_expression_parse(const char *text, size_t length, film_expression **out,
                      film_error *error)
{
    film_expression *tree;
    film_parser parse = {
        .begin = text, .at = text, .end = text + length, .token = text};

    *out = NULL;
    if (length > FILM_EXPRESSION_LENGTH) {
        return film_fail(error, FILM_MISUSE, "the expression is too long");
    }
    tree = film_alloc(sizeof(*tree));
    if (tree == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    parse.tree = tree;
    (void)film_parser_add(&parse, FILM_OP_NONE, 0); /* 0 is none */
    film_parser_advance(&parse);
    tree->root = film_parser_expression(&parse);
    if (tree->root != 0 && film_parser_is(&parse, FILM_WORD_SIGN, ",")) {
        tree->root = parse_tuple(&parse, tree->root, NULL);
    }
    if (parse.why == NULL && parse.kind != FILM_WORD_END) {
        film_parser_fault(&parse, "nothing may follow here");
    }
    if (parse.why != NULL || tree->root == 0) {
        film_expression_free(tree);
        return tell_fault(&parse, error);
    }
    *out = tree;
    return FILM_OK;
}

void
film_expression_free(film_expression *expression)
{
    if (expression != NULL) {
        film_free(expression->nodes);
        film_buffer_reset(&expression->texts);
        film_buffer_reset(&expression->text);
        film_pool_reset(&expression->memory);
        film_free(expression);
    }
}
