/* expression_literals.c: numbers and texts of expressions become nodes.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/expression_words.h"
#include "base/alloc.h"

uint32_t
film_parser_add(film_parser *parse, film_op op, uint32_t first)
{
    film_expression *tree = parse->tree;
    film_tree_node *nodes =
        film_grow(tree->nodes, &tree->capacity, tree->count + 1, sizeof(*nodes));

    if (nodes == NULL) {
        parse->memory = true;
        return film_parser_fault(parse, "memory ran out");
    }
    tree->nodes = nodes;
    memset(&nodes[tree->count], 0, sizeof(*nodes));
    nodes[tree->count].op = op;
    nodes[tree->count].first = first;
    return (uint32_t)tree->count++;
}

uint32_t
film_parser_add_text(film_parser *parse, film_op op, uint32_t first, const char *text,
                     size_t length)
{
    uint32_t node = film_parser_add(parse, op, first);

    if (node != 0) {
        parse->tree->nodes[node].text = parse->tree->texts.length;
        parse->tree->nodes[node].length = length;
        film_buffer_append(&parse->tree->texts, text, length);
        film_buffer_put_byte(&parse->tree->texts, 0);
        if (parse->tree->texts.failed) {
            parse->memory = true;
            return film_parser_fault(parse, "memory ran out");
        }
    }
    return node;
}

uint32_t
film_parser_number(film_parser *parse)
{
    char copy[64], *end;
    size_t length = 0;
    uint32_t node;
    bool whole = true, hex;

    for (size_t i = 0; i < parse->length; i++) {
        if (parse->token[i] != '_') {
            if (length + 1 >= sizeof(copy)) {
                return film_parser_fault(parse, "the number is too long");
            }
            copy[length++] = parse->token[i];
        }
    }
    copy[length] = '\0';
    hex = length > 2 && copy[0] == '0' && film_is_letter(copy[1]);
    whole = hex || strpbrk(copy, ".eE") == NULL;
    errno = 0;
    node = film_parser_add(parse, whole ? FILM_OP_INT : FILM_OP_FLOAT, 0);
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
            return film_parser_fault(parse, "this is no number");
        }
        parse->tree->nodes[node].integer = strtoll(hex ? copy + 2 : copy, &end, base);
    }
    else {
        parse->tree->nodes[node].number = strtod(copy, &end);
        errno = 0;
    }
    if (*end != '\0' || (hex && end == copy + 2)) {
        return film_parser_fault(parse, "this is no number");
    }
    if (errno != 0) {
        return film_parser_fault(parse, "the number does not fit 64 bits");
    }
    film_parser_advance(parse);
    return node;
}

static int
hex_of(const char *at, const char *end, unsigned digits)
{
    int value = 0;

    for (unsigned i = 0; i < digits; i++, at++) {
        if (at >= end ||
            !(film_is_digit(*at) || ((*at | 0x20) >= 'a' && (*at | 0x20) <= 'f'))) {
            return -1;
        }
        value = value * 16 + (film_is_digit(*at) ? *at - '0' : (*at | 0x20) - 'a' + 10);
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
put_string(film_parser *parse, const char *at, const char *end, bool raw, bool bytes)
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
                return film_parser_fault(parse, "an escape is no number") != 0;
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
uint32_t
film_parser_string(film_parser *parse)
{
    uint32_t node = film_parser_add(parse, FILM_OP_TEXT, 0);
    size_t begin = parse->tree->texts.length;
    bool first = true;

    while (node != 0 && parse->kind == FILM_WORD_STRING) {
        const char *at = parse->token, *end = parse->token + parse->length - 1;
        bool raw = false, bytes = false;
        for (; *at != '\'' && *at != '"'; at++) {
            raw = raw || (*at | 0x20) == 'r';
            bytes = bytes || (*at | 0x20) == 'b';
        }
        if (!first && bytes != (parse->tree->nodes[node].op == FILM_OP_BYTES)) {
            return film_parser_fault(parse, "bytes and text cannot be joined");
        }
        first = false;
        parse->tree->nodes[node].op = bytes ? FILM_OP_BYTES : FILM_OP_TEXT;
        if (!put_string(parse, at + 1, end, raw, bytes)) {
            return 0;
        }
        film_parser_advance(parse);
    }
    if (node != 0) {
        parse->tree->nodes[node].text = begin;
        parse->tree->nodes[node].length = parse->tree->texts.length - begin;
        film_buffer_put_byte(&parse->tree->texts, 0);
        if (parse->tree->texts.failed) {
            parse->memory = true;
            return film_parser_fault(parse, "memory ran out");
        }
    }
    return node;
}
