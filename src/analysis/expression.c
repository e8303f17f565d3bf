/* expression.c: reading expressions: recursive descent, bounded in depth and length.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/expression.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/expression_tree.h"
#include "base/alloc.h"

typedef enum token_kind {
    TOKEN_END,
    TOKEN_NAME,
    TOKEN_NUMBER,
    TOKEN_STRING,
    TOKEN_SIGN /* an operator or a bracket */
} token_kind;

typedef struct parser {
    film_expression *tree;
    const char *begin, *at, *end; /* the text; at is behind the current token */
    const char *token;            /* the current one */
    size_t length;
    token_kind kind;
    unsigned depth;
    const char *why; /* the first fault */
    const char *where;
    bool memory;
} parser;

static uint32_t
fault(parser *parse, const char *why)
{
    if (parse->why == NULL) {
        parse->why = why;
        parse->where = parse->token;
    }
    return 0;
}

/* --- tokens --- */

static bool
is_letter(char letter)
{
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           letter == '_' || (letter & 0x80) != 0;
}

static bool
is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

static void
read_number(parser *parse)
{
    parse->kind = TOKEN_NUMBER;
    while (parse->at < parse->end &&
           (is_digit(*parse->at) || is_letter(*parse->at) || *parse->at == '.' ||
            ((*parse->at == '+' || *parse->at == '-') &&
             (parse->at[-1] == 'e' || parse->at[-1] == 'E') &&
             !(parse->token[0] == '0' && parse->at - parse->token > 1 &&
               (parse->token[1] == 'x' || parse->token[1] == 'X'))))) {
        parse->at++;
    }
}

/* From its prefix on; the closing quote is found, escapes are read later. */
static void
read_string(parser *parse)
{
    char quote;

    parse->kind = TOKEN_STRING;
    while (*parse->at != '\'' && *parse->at != '"') {
        parse->at++;
    }
    quote = *parse->at++;
    while (parse->at < parse->end && *parse->at != quote) {
        parse->at += *parse->at == '\\' && parse->at + 1 < parse->end ? 2 : 1;
    }
    if (parse->at >= parse->end) {
        parse->at = parse->end;
        fault(parse, "the text does not end");
        return;
    }
    parse->at++;
}

static bool
begins_string(const parser *parse)
{
    const char *at = parse->at;

    for (unsigned i = 0; i < 2 && at < parse->end && is_letter(*at); i++) {
        char letter = (char)(*at | 0x20);
        if (letter != 'r' && letter != 'b' && letter != 'u') {
            return false;
        }
        at++;
    }
    return at < parse->end && (*at == '\'' || *at == '"');
}

static void
read_sign(parser *parse)
{
    static const char *const two[] = {"**", "//", "==", "!=", "<=", ">=", "<<", ">>"};

    parse->kind = TOKEN_SIGN;
    for (size_t i = 0; i < sizeof(two) / sizeof(two[0]); i++) {
        if (parse->end - parse->at >= 2 && memcmp(parse->at, two[i], 2) == 0) {
            parse->at += 2;
            return;
        }
    }
    if (strchr("+-*/%()[]{}<>,:.&|^~", *parse->at) == NULL || *parse->at == '\0') {
        fault(parse, "this is no part of an expression");
    }
    parse->at++;
}

static void
advance(parser *parse)
{
    while (parse->at < parse->end && (*parse->at == ' ' || *parse->at == '\t' ||
                                      *parse->at == '\n' || *parse->at == '\r')) {
        parse->at++;
    }
    parse->token = parse->at;
    if (parse->at == parse->end || parse->why != NULL) {
        parse->kind = TOKEN_END;
    }
    else if (begins_string(parse)) {
        read_string(parse);
    }
    else if (is_letter(*parse->at)) {
        parse->kind = TOKEN_NAME;
        while (parse->at < parse->end &&
               (is_letter(*parse->at) || is_digit(*parse->at))) {
            parse->at++;
        }
    }
    else if (is_digit(*parse->at) || (*parse->at == '.' && parse->at + 1 < parse->end &&
                                      is_digit(parse->at[1]))) {
        read_number(parse);
    }
    else {
        read_sign(parse);
    }
    parse->length = (size_t)(parse->at - parse->token);
}

static bool
is_token(const parser *parse, token_kind kind, const char *text)
{
    return parse->kind == kind && parse->length == strlen(text) &&
           memcmp(parse->token, text, parse->length) == 0;
}

static bool
take_sign(parser *parse, const char *sign)
{
    if (!is_token(parse, TOKEN_SIGN, sign)) {
        return false;
    }
    advance(parse);
    return true;
}

static bool
take_word(parser *parse, const char *word)
{
    if (!is_token(parse, TOKEN_NAME, word)) {
        return false;
    }
    advance(parse);
    return true;
}

/* --- nodes --- */

static uint32_t
add_node(parser *parse, film_op op, uint32_t first)
{
    film_expression *tree = parse->tree;
    film_tree_node *nodes =
        film_grow(tree->nodes, &tree->capacity, tree->count + 1, sizeof(*nodes));

    if (nodes == NULL) {
        parse->memory = true;
        return fault(parse, "memory ran out");
    }
    tree->nodes = nodes;
    memset(&nodes[tree->count], 0, sizeof(*nodes));
    nodes[tree->count].op = op;
    nodes[tree->count].first = first;
    return (uint32_t)tree->count++;
}

static uint32_t
add_two(parser *parse, film_op op, uint32_t left, uint32_t right)
{
    if (left == 0 || right == 0) {
        return 0;
    }
    parse->tree->nodes[left].next = right;
    return add_node(parse, op, left);
}

static uint32_t
add_text(parser *parse, film_op op, uint32_t first, const char *text, size_t length)
{
    uint32_t node = add_node(parse, op, first);

    if (node != 0) {
        parse->tree->nodes[node].text = parse->tree->texts.length;
        parse->tree->nodes[node].length = length;
        film_buffer_append(&parse->tree->texts, text, length);
        film_buffer_put_byte(&parse->tree->texts, 0);
        if (parse->tree->texts.failed) {
            parse->memory = true;
            return fault(parse, "memory ran out");
        }
    }
    return node;
}

static uint32_t
parse_expression(parser *parse);

/* --- atoms --- */

static uint32_t
parse_number(parser *parse)
{
    char copy[64], *end;
    size_t length = 0;
    uint32_t node;
    bool whole = true, hex;

    for (size_t i = 0; i < parse->length; i++) {
        if (parse->token[i] != '_') {
            if (length + 1 >= sizeof(copy)) {
                return fault(parse, "the number is too long");
            }
            copy[length++] = parse->token[i];
        }
    }
    copy[length] = '\0';
    hex = length > 2 && copy[0] == '0' && is_letter(copy[1]);
    whole = hex || strpbrk(copy, ".eE") == NULL;
    errno = 0;
    node = add_node(parse, whole ? FILM_OP_INT : FILM_OP_FLOAT, 0);
    if (node == 0) {
        return 0;
    }
    if (whole) {
        int base = !hex                      ? 10
                   : (copy[1] | 0x20) == 'x' ? 16
                   : (copy[1] | 0x20) == 'o' ? 8
                   : (copy[1] | 0x20) == 'b' ? 2
                                             : 0;
        if (base == 0) {
            return fault(parse, "this is no number");
        }
        parse->tree->nodes[node].integer = strtoll(hex ? copy + 2 : copy, &end, base);
    }
    else {
        parse->tree->nodes[node].number = strtod(copy, &end);
        errno = 0;
    }
    if (*end != '\0' || (hex && end == copy + 2)) {
        return fault(parse, "this is no number");
    }
    if (errno != 0) {
        return fault(parse, "the number does not fit 64 bits");
    }
    advance(parse);
    return node;
}

static int
hex_of(const char *at, const char *end, unsigned digits)
{
    int value = 0;

    for (unsigned i = 0; i < digits; i++, at++) {
        if (at >= end ||
            !(is_digit(*at) || ((*at | 0x20) >= 'a' && (*at | 0x20) <= 'f'))) {
            return -1;
        }
        value = value * 16 + (is_digit(*at) ? *at - '0' : (*at | 0x20) - 'a' + 10);
    }
    return value;
}

static void
put_letter(film_buffer *out, uint32_t letter, bool bytes)
{
    if (bytes || letter < 0x80) {
        film_buffer_put_byte(out, (uint8_t)letter);
    }
    else if (letter < 0x800) {
        film_buffer_put_byte(out, (uint8_t)(0xc0 | letter >> 6));
        film_buffer_put_byte(out, (uint8_t)(0x80 | (letter & 0x3f)));
    }
    else {
        film_buffer_put_byte(out, (uint8_t)(0xe0 | letter >> 12));
        film_buffer_put_byte(out, (uint8_t)(0x80 | (letter >> 6 & 0x3f)));
        film_buffer_put_byte(out, (uint8_t)(0x80 | (letter & 0x3f)));
    }
}

/* What is between the quotes, escapes read. */
static bool
put_string(parser *parse, const char *at, const char *end, bool raw, bool bytes)
{
    static const char letters[] = "\\'\"ntr0abfv", meanings[] = "\\'\"\n\t\r\0\a\b\f\v";
    film_buffer *out = &parse->tree->texts;

    while (at < end) {
        const char *found;
        if (*at != '\\' || raw || at + 1 >= end) {
            film_buffer_put_byte(out, (uint8_t)*at++);
            continue;
        }
        at++;
        if (*at == 'x' || (*at == 'u' && !bytes)) {
            unsigned digits = *at == 'x' ? 2 : 4;
            int letter = hex_of(at + 1, end, digits);
            if (letter < 0) {
                return fault(parse, "an escape is no number") != 0;
            }
            put_letter(out, (uint32_t)letter, bytes);
            at += 1 + digits;
            continue;
        }
        found = *at == '\0' ? NULL : strchr(letters, *at);
        if (found == NULL) {
            film_buffer_put_byte(out, '\\');
            film_buffer_put_byte(out, (uint8_t)*at++);
            continue;
        }
        film_buffer_put_byte(out, (uint8_t)meanings[found - letters]);
        at++;
    }
    return true;
}

/* Strings side by side are one. */
static uint32_t
parse_string(parser *parse)
{
    uint32_t node = add_node(parse, FILM_OP_TEXT, 0);
    size_t begin = parse->tree->texts.length;
    bool first = true;

    while (node != 0 && parse->kind == TOKEN_STRING) {
        const char *at = parse->token, *end = parse->token + parse->length - 1;
        bool raw = false, bytes = false;
        for (; *at != '\'' && *at != '"'; at++) {
            raw = raw || (*at | 0x20) == 'r';
            bytes = bytes || (*at | 0x20) == 'b';
        }
        if (!first && bytes != (parse->tree->nodes[node].op == FILM_OP_BYTES)) {
            return fault(parse, "bytes and text cannot be joined");
        }
        first = false;
        parse->tree->nodes[node].op = bytes ? FILM_OP_BYTES : FILM_OP_TEXT;
        if (!put_string(parse, at + 1, end, raw, bytes)) {
            return 0;
        }
        advance(parse);
    }
    if (node != 0) {
        parse->tree->nodes[node].text = begin;
        parse->tree->nodes[node].length = parse->tree->texts.length - begin;
        film_buffer_put_byte(&parse->tree->texts, 0);
        if (parse->tree->texts.failed) {
            parse->memory = true;
            return fault(parse, "memory ran out");
        }
    }
    return node;
}

/* Links an item behind the last one. */
static void
link_item(parser *parse, uint32_t *first, uint32_t *last, uint32_t item)
{
    if (*last == 0) {
        *first = item;
    }
    else {
        parse->tree->nodes[*last].next = item;
    }
    *last = item;
}

/* Expressions up to a bracket; *comma: one ended with a comma, or there are several. */
static uint32_t
parse_list(parser *parse, const char *closing, bool *comma)
{
    uint32_t first = 0, last = 0;

    *comma = false;
    while (parse->why == NULL && !is_token(parse, TOKEN_SIGN, closing)) {
        uint32_t item = parse_expression(parse);
        if (item == 0) {
            return 0;
        }
        link_item(parse, &first, &last, item);
        if (!take_sign(parse, ",")) {
            break;
        }
        *comma = true;
    }
    if (!take_sign(parse, closing)) {
        return fault(parse, "a bracket does not close");
    }
    return first;
}

static uint32_t
parse_braces(parser *parse)
{
    uint32_t first = 0, last = 0;
    bool pairs = true, begun = false;

    while (parse->why == NULL && !is_token(parse, TOKEN_SIGN, "}")) {
        uint32_t item = parse_expression(parse);
        bool colon = item != 0 && take_sign(parse, ":");
        if (item == 0) {
            return 0;
        }
        if (begun && colon != pairs) {
            return fault(parse, "a set and a dict cannot be mixed");
        }
        begun = true;
        pairs = colon;
        link_item(parse, &first, &last, item);
        if (colon) {
            item = parse_expression(parse);
            if (item == 0) {
                return 0;
            }
            link_item(parse, &first, &last, item);
        }
        if (!take_sign(parse, ",")) {
            break;
        }
    }
    if (!take_sign(parse, "}")) {
        return fault(parse, "a bracket does not close");
    }
    return add_node(parse, pairs ? FILM_OP_DICT : FILM_OP_SET, first);
}

static uint32_t
parse_name(parser *parse)
{
    static const char *const refused[] = {"lambda", "await",  "yield", "for",   "if",
                                          "else",   "and",    "or",    "not",   "in",
                                          "is",     "import", "def",   "class", "del"};
    const char *name = parse->token;
    size_t length = parse->length;

    if (take_word(parse, "None")) {
        return add_node(parse, FILM_OP_NONE, 0);
    }
    if (take_word(parse, "True")) {
        return add_node(parse, FILM_OP_TRUE, 0);
    }
    if (take_word(parse, "False")) {
        return add_node(parse, FILM_OP_FALSE, 0);
    }
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        if (is_token(parse, TOKEN_NAME, refused[i])) {
            return fault(parse, "this cannot stand here");
        }
    }
    advance(parse);
    return add_text(parse, FILM_OP_NAME, 0, name, length);
}

static uint32_t
parse_atom(parser *parse)
{
    uint32_t first, node;
    bool comma;

    if (parse->kind == TOKEN_NAME) {
        return parse_name(parse);
    }
    if (parse->kind == TOKEN_NUMBER) {
        return parse_number(parse);
    }
    if (parse->kind == TOKEN_STRING) {
        return parse_string(parse);
    }
    if (take_sign(parse, "(")) {
        first = parse_list(parse, ")", &comma);
        if (parse->why != NULL || (first != 0 && !comma)) {
            return first;
        }
        return add_node(parse, FILM_OP_TUPLE, first);
    }
    if (take_sign(parse, "[")) {
        first = parse_list(parse, "]", &comma);
        node = parse->why != NULL ? 0 : add_node(parse, FILM_OP_LIST, first);
        return node;
    }
    if (take_sign(parse, "{")) {
        return parse_braces(parse);
    }
    return fault(parse, parse->kind == TOKEN_END ? "something is missing at the end"
                                                 : "this cannot stand here");
}

/* --- trailers and operators --- */

static uint32_t
parse_slice_part(parser *parse)
{
    if (is_token(parse, TOKEN_SIGN, ":") || is_token(parse, TOKEN_SIGN, "]")) {
        return add_node(parse, FILM_OP_NONE, 0);
    }
    return parse_expression(parse);
}

/* a[b] or a[b:c:d], behind the bracket. */
static uint32_t
parse_item(parser *parse, uint32_t of)
{
    uint32_t parts[3] = {0, 0, 0};
    film_tree_node *nodes;
    bool slice = false;

    if (is_token(parse, TOKEN_SIGN, "]")) {
        return fault(parse, "an index is missing");
    }
    parts[0] = parse_slice_part(parse);
    for (unsigned i = 1; i < 3 && parts[i - 1] != 0; i++) {
        bool colon = take_sign(parse, ":");
        slice = slice || colon;
        parts[i] = colon ? parse_slice_part(parse) : add_node(parse, FILM_OP_NONE, 0);
    }
    if (parts[0] == 0 || parts[1] == 0 || parts[2] == 0) {
        return 0;
    }
    if (is_token(parse, TOKEN_SIGN, ",")) {
        return fault(parse, "an index of several parts is not known here");
    }
    if (!take_sign(parse, "]")) {
        return fault(parse, "a bracket does not close");
    }
    nodes = parse->tree->nodes;
    nodes[of].next = parts[0];
    if (slice) {
        nodes[parts[0]].next = parts[1];
        nodes[parts[1]].next = parts[2];
    }
    return add_node(parse, slice ? FILM_OP_SLICE : FILM_OP_ITEM, of);
}

static uint32_t
parse_call(parser *parse, uint32_t of)
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
        return fault(parse,
                     "no code is run here: only len, type, abs, min, max and sum "
                     "can be called");
    }
    first = parse_list(parse, ")", &comma);
    if (parse->why != NULL) {
        return 0;
    }
    node = add_node(parse, FILM_OP_CALL, first);
    if (node != 0) {
        parse->tree->nodes[node].text = at;
        parse->tree->nodes[node].length = length;
    }
    return node;
}

static uint32_t
parse_primary(parser *parse)
{
    uint32_t node = parse_atom(parse);

    for (unsigned trailers = 0; node != 0; trailers++) {
        if (trailers > FILM_EXPRESSION_DEPTH) {
            return fault(parse, "it is nested too deep");
        }
        if (take_sign(parse, ".")) {
            if (parse->kind != TOKEN_NAME) {
                return fault(parse, "the name of an attribute is missing");
            }
            node =
                add_text(parse, FILM_OP_ATTRIBUTE, node, parse->token, parse->length);
            advance(parse);
        }
        else if (take_sign(parse, "[")) {
            node = parse_item(parse, node);
        }
        else if (take_sign(parse, "(")) {
            node = parse_call(parse, node);
        }
        else {
            break;
        }
    }
    return node;
}

static bool
enter(parser *parse)
{
    if (++parse->depth > FILM_EXPRESSION_DEPTH) {
        fault(parse, "it is nested too deep");
        return false;
    }
    return true;
}

static uint32_t
parse_unary(parser *parse)
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
        if (take_sign(parse, signs[i].sign)) {
            node = parse_unary(parse);
            parse->depth--;
            return node == 0 ? 0 : add_node(parse, signs[i].op, node);
        }
    }
    node = parse_primary(parse);
    if (node != 0 && take_sign(parse, "**")) {
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
parse_operators(parser *parse, unsigned level)
{
    uint32_t node =
        level == TIGHTEST ? parse_unary(parse) : parse_operators(parse, level + 1);
    bool found = level < TIGHTEST;

    while (node != 0 && found) {
        found = false;
        for (size_t i = 0; i < sizeof(the_operators) / sizeof(the_operators[0]); i++) {
            if (the_operators[i].level == level &&
                take_sign(parse, the_operators[i].sign)) {
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
take_comparison(parser *parse)
{
    static const struct {
        const char *sign;
        film_comparison how;
    } signs[] = {{"==", FILM_COMPARE_EQUAL},      {"!=", FILM_COMPARE_UNEQUAL},
                 {"<=", FILM_COMPARE_LESS_EQUAL}, {">=", FILM_COMPARE_GREATER_EQUAL},
                 {"<", FILM_COMPARE_LESS},        {">", FILM_COMPARE_GREATER}};

    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
        if (take_sign(parse, signs[i].sign)) {
            return (uint8_t)signs[i].how;
        }
    }
    if (take_word(parse, "in")) {
        return FILM_COMPARE_IN;
    }
    if (take_word(parse, "is")) {
        return take_word(parse, "not") ? FILM_COMPARE_IS_NOT : FILM_COMPARE_IS;
    }
    if (is_token(parse, TOKEN_NAME, "not")) {
        advance(parse);
        if (take_word(parse, "in")) {
            return FILM_COMPARE_NOT_IN;
        }
        fault(parse, "'in' is missing");
    }
    return 0;
}

static uint32_t
parse_comparison(parser *parse)
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
            return fault(parse, "there are too many comparisons");
        }
        hows[count++] = (char)how;
        parse->tree->nodes[last].next = next;
        last = next;
    }
    if (parse->why != NULL || count == 0) {
        return parse->why != NULL ? 0 : first;
    }
    node = add_text(parse, FILM_OP_COMPARE, first, hows, count);
    return node;
}

static uint32_t
parse_not(parser *parse)
{
    uint32_t node;

    if (!is_token(parse, TOKEN_NAME, "not")) {
        return parse_comparison(parse);
    }
    if (!enter(parse)) {
        return 0;
    }
    advance(parse);
    node = parse_not(parse);
    parse->depth--;
    return node == 0 ? 0 : add_node(parse, FILM_OP_NOT, node);
}

static uint32_t
parse_and(parser *parse)
{
    uint32_t node = parse_not(parse);

    while (node != 0 && take_word(parse, "and")) {
        node = add_two(parse, FILM_OP_AND, node, parse_not(parse));
    }
    return node;
}

static uint32_t
parse_or(parser *parse)
{
    uint32_t node = parse_and(parse);

    while (node != 0 && take_word(parse, "or")) {
        node = add_two(parse, FILM_OP_OR, node, parse_and(parse));
    }
    return node;
}

static uint32_t
parse_expression(parser *parse)
{
    uint32_t node, condition, other;

    if (!enter(parse)) {
        return 0;
    }
    node = parse_or(parse);
    if (node != 0 && take_word(parse, "if")) {
        condition = parse_or(parse);
        if (condition == 0 || !take_word(parse, "else")) {
            return fault(parse, "'else' is missing");
        }
        other = parse_expression(parse);
        if (other == 0) {
            return 0;
        }
        parse->tree->nodes[node].next = condition;
        parse->tree->nodes[condition].next = other;
        node = add_node(parse, FILM_OP_IF, node);
    }
    parse->depth--;
    return node;
}

film_status
film_expression_parse(const char *text, size_t length, film_expression **out,
                      film_error *error)
{
    film_expression *tree;
    parser parse = {.begin = text, .at = text, .end = text + length, .token = text};

    *out = NULL;
    if (length > FILM_EXPRESSION_LENGTH) {
        return film_fail(error, FILM_MISUSE, "the expression is too long");
    }
    tree = film_alloc(sizeof(*tree));
    if (tree == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    parse.tree = tree;
    (void)add_node(&parse, FILM_OP_NONE, 0); /* 0 is none */
    advance(&parse);
    tree->root = parse_expression(&parse);
    if (parse.why == NULL && parse.kind != TOKEN_END) {
        fault(&parse, "nothing may follow here");
    }
    if (parse.why != NULL || tree->root == 0) {
        film_expression_free(tree);
        return film_fail_at(error, parse.memory ? FILM_NO_MEMORY : FILM_MISUSE,
                            (uint64_t)(parse.where == NULL ? 0 : parse.where - text),
                            "%s", parse.why == NULL ? "it is empty" : parse.why);
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
