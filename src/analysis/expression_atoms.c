/* expression_atoms.c: what an expression is made of: names, literals, brackets.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/expression_tree.h"
#include "analysis/expression_words.h"

/* Links an item behind the last one. */
static void
link_item(film_parser *parse, uint32_t *first, uint32_t *last, uint32_t item)
{
    if (*last == 0) {
        *first = item;
    }
    else {
        parse->tree->nodes[*last].next = item;
    }
    *last = item;
}

uint32_t
film_parser_list(film_parser *parse, const char *closing, bool *comma)
{
    uint32_t first = 0, last = 0;

    *comma = false;
    while (parse->why == NULL && !film_parser_is(parse, FILM_WORD_SIGN, closing)) {
        uint32_t item = film_parser_expression(parse);
        if (item == 0) {
            return 0;
        }
        link_item(parse, &first, &last, item);
        if (!film_parser_take_sign(parse, ",")) {
            break;
        }
        *comma = true;
    }
    if (!film_parser_take_sign(parse, closing)) {
        return film_parser_fault(parse, "a bracket does not close");
    }
    return first;
}

static uint32_t
parse_braces(film_parser *parse)
{
    uint32_t first = 0, last = 0;
    bool pairs = true, begun = false;

    while (parse->why == NULL && !film_parser_is(parse, FILM_WORD_SIGN, "}")) {
        uint32_t item = film_parser_expression(parse);
        bool colon = item != 0 && film_parser_take_sign(parse, ":");
        if (item == 0) {
            return 0;
        }
        if (begun && colon != pairs) {
            return film_parser_fault(parse, "a set and a dict cannot be mixed");
        }
        begun = true;
        pairs = colon;
        link_item(parse, &first, &last, item);
        if (colon) {
            item = film_parser_expression(parse);
            if (item == 0) {
                return 0;
            }
            link_item(parse, &first, &last, item);
        }
        if (!film_parser_take_sign(parse, ",")) {
            break;
        }
    }
    if (!film_parser_take_sign(parse, "}")) {
        return film_parser_fault(parse, "a bracket does not close");
    }
    return film_parser_add(parse, pairs ? FILM_OP_DICT : FILM_OP_SET, first);
}

static uint32_t
parse_name(film_parser *parse)
{
    static const char *const refused[] = {"lambda", "await",  "yield", "for",   "if",
                                          "else",   "and",    "or",    "not",   "in",
                                          "is",     "import", "def",   "class", "del"};
    const char *name = parse->token;
    size_t length = parse->length;

    if (film_parser_take_word(parse, "None")) {
        return film_parser_add(parse, FILM_OP_NONE, 0);
    }
    if (film_parser_take_word(parse, "True")) {
        return film_parser_add(parse, FILM_OP_TRUE, 0);
    }
    if (film_parser_take_word(parse, "False")) {
        return film_parser_add(parse, FILM_OP_FALSE, 0);
    }
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        if (film_parser_is(parse, FILM_WORD_NAME, refused[i])) {
            return film_parser_fault(parse, "this cannot stand here");
        }
    }
    film_parser_advance(parse);
    return film_parser_add_text(parse, FILM_OP_NAME, 0, name, length);
}

uint32_t
film_parser_atom(film_parser *parse)
{
    uint32_t first, node;
    bool comma;

    if (parse->kind == FILM_WORD_NAME) {
        return parse_name(parse);
    }
    if (parse->kind == FILM_WORD_NUMBER) {
        return film_parser_number(parse);
    }
    if (parse->kind == FILM_WORD_STRING) {
        return film_parser_string(parse);
    }
    if (film_parser_take_sign(parse, "(")) {
        first = film_parser_list(parse, ")", &comma);
        if (parse->why != NULL || (first != 0 && !comma)) {
            return first;
        }
        return film_parser_add(parse, FILM_OP_TUPLE, first);
    }
    if (film_parser_take_sign(parse, "[")) {
        first = film_parser_list(parse, "]", &comma);
        node = parse->why != NULL ? 0 : film_parser_add(parse, FILM_OP_LIST, first);
        return node;
    }
    if (film_parser_take_sign(parse, "{")) {
        return parse_braces(parse);
    }
    return film_parser_fault(parse, parse->kind == FILM_WORD_END
                                        ? "something is missing at the end"
                                        : "this cannot stand here");
}
