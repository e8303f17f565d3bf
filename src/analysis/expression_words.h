/* expression_words.h: the words of an expression: names, numbers, texts, signs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_EXPRESSION_WORDS_H
#define FILMSTRIP_EXPRESSION_WORDS_H

#include "analysis/expression_tree.h"

typedef enum film_word_kind {
    FILM_WORD_END,
    FILM_WORD_NAME,
    FILM_WORD_NUMBER,
    FILM_WORD_STRING,
    FILM_WORD_SIGN /* an operator or a bracket */
} film_word_kind;

typedef struct film_parser {
    film_expression *tree;
    const char *begin, *at, *end; /* the text; at is behind the current token */
    const char *token;            /* the current one */
    size_t length;
    film_word_kind kind;
    unsigned depth;
    const char *why; /* the first fault */
    const char *where;
    bool memory;
} film_parser;

/* Notes what is wrong, at the current word; the first fault counts. Gives 0. */
uint32_t
film_parser_fault(film_parser *parse, const char *why);

/* Moves to the next word. */
void
film_parser_advance(film_parser *parse);

/* expression_literals.c: a new node, its first child linked; with a text. 0 where
 * memory is out. */
uint32_t
film_parser_add(film_parser *parse, film_op op, uint32_t first);

uint32_t
film_parser_add_text(film_parser *parse, film_op op, uint32_t first, const char *text,
                     size_t length);

/* The number, or the texts, that the current word begins. */
uint32_t
film_parser_number(film_parser *parse);

uint32_t
film_parser_string(film_parser *parse);

bool
film_is_letter(char letter);

bool
film_is_digit(char letter);

/* Whether the word is this one; take: moves on behind it if so. */
bool
film_parser_is(const film_parser *parse, film_word_kind kind, const char *text);

bool
film_parser_take_sign(film_parser *parse, const char *sign);

bool
film_parser_take_word(film_parser *parse, const char *word);

/* expression_atoms.c: a name, a literal, something in brackets. 0: a fault. */
uint32_t
film_parser_atom(film_parser *parse);

/* Expressions up to a bracket; *comma: one ended with a comma, or there are several. */
uint32_t
film_parser_list(film_parser *parse, const char *closing, bool *comma);

/* expression.c: a whole one. */
uint32_t
film_parser_expression(film_parser *parse);

#endif
