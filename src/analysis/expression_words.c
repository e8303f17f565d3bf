/* expression_words.c: see expression_words.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/expression_words.h"

#include <string.h>

uint32_t
film_parser_fault(film_parser *parse, const char *why)
{
    if (parse->why == NULL) {
        parse->why = why;
        parse->where = parse->token;
    }
    return 0;
}

bool
film_is_letter(char letter)
{
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           letter == '_' || (letter & 0x80) != 0;
}

bool
film_is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

static void
read_number(film_parser *parse)
{
    parse->kind = FILM_WORD_NUMBER;
    while (parse->at < parse->end &&
           (film_is_digit(*parse->at) || film_is_letter(*parse->at) ||
            *parse->at == '.' ||
            ((*parse->at == '+' || *parse->at == '-') &&
             (parse->at[-1] == 'e' || parse->at[-1] == 'E') &&
             !(parse->token[0] == '0' && parse->at - parse->token > 1 &&
               (parse->token[1] == 'x' || parse->token[1] == 'X'))))) {
        parse->at++;
    }
}

/* From its prefix on; the closing quote is found, escapes are read later. */
static void
read_string(film_parser *parse)
{
    char quote;

    parse->kind = FILM_WORD_STRING;
    while (*parse->at != '\'' && *parse->at != '"') {
        parse->at++;
    }
    quote = *parse->at++;
    while (parse->at < parse->end && *parse->at != quote) {
        parse->at += *parse->at == '\\' && parse->at + 1 < parse->end ? 2 : 1;
    }
    if (parse->at >= parse->end) {
        parse->at = parse->end;
        film_parser_fault(parse, "the text does not end");
        return;
    }
    parse->at++;
}

static bool
begins_string(const film_parser *parse)
{
    const char *at = parse->at;

    for (unsigned i = 0; i < 2 && at < parse->end && film_is_letter(*at); i++) {
        char letter = (char)(*at | 0x20);
        if (letter != 'r' && letter != 'b' && letter != 'u') {
            return false;
        }
        at++;
    }
    return at < parse->end && (*at == '\'' || *at == '"');
}

static void
read_sign(film_parser *parse)
{
    static const char *const two[] = {"**", "//", "==", "!=", "<=", ">=", "<<", ">>"};

    parse->kind = FILM_WORD_SIGN;
    for (size_t i = 0; i < sizeof(two) / sizeof(two[0]); i++) {
        if (parse->end - parse->at >= 2 && memcmp(parse->at, two[i], 2) == 0) {
            parse->at += 2;
            return;
        }
    }
    if (strchr("+-*/%()[]{}<>,:.&|^~", *parse->at) == NULL || *parse->at == '\0') {
        film_parser_fault(parse, "this is no part of an expression");
    }
    parse->at++;
}

void
film_parser_advance(film_parser *parse)
{
    while (parse->at < parse->end && (*parse->at == ' ' || *parse->at == '\t' ||
                                      *parse->at == '\n' || *parse->at == '\r')) {
        parse->at++;
    }
    parse->token = parse->at;
    if (parse->at == parse->end || parse->why != NULL) {
        parse->kind = FILM_WORD_END;
    }
    else if (begins_string(parse)) {
        read_string(parse);
    }
    else if (film_is_letter(*parse->at)) {
        parse->kind = FILM_WORD_NAME;
        while (parse->at < parse->end &&
               (film_is_letter(*parse->at) || film_is_digit(*parse->at))) {
            parse->at++;
        }
    }
    else if (film_is_digit(*parse->at) ||
             (*parse->at == '.' && parse->at + 1 < parse->end &&
              film_is_digit(parse->at[1]))) {
        read_number(parse);
    }
    else {
        read_sign(parse);
    }
    parse->length = (size_t)(parse->at - parse->token);
}

bool
film_parser_is(const film_parser *parse, film_word_kind kind, const char *text)
{
    return parse->kind == kind && parse->length == strlen(text) &&
           memcmp(parse->token, text, parse->length) == 0;
}

bool
film_parser_take_sign(film_parser *parse, const char *sign)
{
    if (!film_parser_is(parse, FILM_WORD_SIGN, sign)) {
        return false;
    }
    film_parser_advance(parse);
    return true;
}

bool
film_parser_take_word(film_parser *parse, const char *word)
{
    if (!film_parser_is(parse, FILM_WORD_NAME, word)) {
        return false;
    }
    film_parser_advance(parse);
    return true;
}
