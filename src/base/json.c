/* json.c: see json.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define NUMBER_LENGTH 400u

typedef struct parser {
    film_json *json;
    const char *begin, *at, *end;
    const char *why; /* what is wrong; NULL: nothing yet */
    bool memory;     /* it ran out */
} parser;

static bool
fail(parser *parse, const char *why)
{
    if (parse->why == NULL) {
        parse->why = why;
    }
    return false;
}

static bool
out_of_memory(parser *parse)
{
    parse->memory = true;
    return fail(parse, "memory ran out");
}

static uint32_t
add_node(parser *parse, film_json_kind kind)
{
    film_json *json = parse->json;
    film_json_node *nodes;

    if (json->count >= FILM_JSON_NODES) {
        fail(parse, "it has too many values");
        return 0;
    }
    nodes = film_grow(json->nodes, &json->capacity, json->count + 1, sizeof(*nodes));
    if (nodes == NULL) {
        out_of_memory(parse);
        return 0;
    }
    json->nodes = nodes;
    memset(&nodes[json->count], 0, sizeof(*nodes));
    nodes[json->count].kind = kind;
    return (uint32_t)json->count++;
}

static void
skip_space(parser *parse)
{
    while (parse->at < parse->end && (*parse->at == ' ' || *parse->at == '\t' ||
                                      *parse->at == '\n' || *parse->at == '\r')) {
        parse->at++;
    }
}

static bool
take(parser *parse, char wanted)
{
    skip_space(parse);
    if (parse->at < parse->end && *parse->at == wanted) {
        parse->at++;
        return true;
    }
    return false;
}

/* --- strings --- */

static bool
take_hex(parser *parse, uint32_t *out)
{
    *out = 0;
    if (parse->end - parse->at < 4) {
        return fail(parse, "an escape is cut off");
    }
    for (unsigned i = 0; i < 4; i++) {
        char digit = *parse->at++;
        uint32_t value = digit >= '0' && digit <= '9'   ? (uint32_t)(digit - '0')
                         : digit >= 'a' && digit <= 'f' ? (uint32_t)(digit - 'a') + 10
                         : digit >= 'A' && digit <= 'F' ? (uint32_t)(digit - 'A') + 10
                                                        : 16;
        if (value == 16) {
            return fail(parse, "an escape is no number");
        }
        *out = *out << 4 | value;
    }
    return true;
}

static void
put_utf8(film_buffer *out, uint32_t letter)
{
    if (letter < 0x80) {
        film_buffer_put_byte(out, (uint8_t)letter);
    }
    else if (letter < 0x800) {
        film_buffer_put_byte(out, (uint8_t)(0xc0 | letter >> 6));
        film_buffer_put_byte(out, (uint8_t)(0x80 | (letter & 0x3f)));
    }
    else if (letter < 0x10000) {
        film_buffer_put_byte(out, (uint8_t)(0xe0 | letter >> 12));
        film_buffer_put_byte(out, (uint8_t)(0x80 | (letter >> 6 & 0x3f)));
        film_buffer_put_byte(out, (uint8_t)(0x80 | (letter & 0x3f)));
    }
    else {
        film_buffer_put_byte(out, (uint8_t)(0xf0 | letter >> 18));
        film_buffer_put_byte(out, (uint8_t)(0x80 | (letter >> 12 & 0x3f)));
        film_buffer_put_byte(out, (uint8_t)(0x80 | (letter >> 6 & 0x3f)));
        film_buffer_put_byte(out, (uint8_t)(0x80 | (letter & 0x3f)));
    }
}

static bool
take_unicode(parser *parse)
{
    uint32_t letter, low;

    if (!take_hex(parse, &letter)) {
        return false;
    }
    if (letter >= 0xd800 && letter < 0xdc00 && parse->end - parse->at >= 6 &&
        parse->at[0] == '\\' && parse->at[1] == 'u') {
        const char *before = parse->at;
        parse->at += 2;
        if (!take_hex(parse, &low)) {
            return false;
        }
        if (low >= 0xdc00 && low < 0xe000) {
            letter = 0x10000 + ((letter - 0xd800) << 10) + (low - 0xdc00);
        }
        else {
            parse->at = before;
        }
    }
    if (letter >= 0xd800 && letter < 0xe000) {
        letter = 0xfffd; /* half of a pair */
    }
    put_utf8(&parse->json->texts, letter);
    return true;
}

static bool
take_escape(parser *parse)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char *found;
    char letter;

    if (parse->at == parse->end) {
        return fail(parse, "an escape is cut off");
    }
    letter = *parse->at++;
    if (letter == 'u') {
        return take_unicode(parse);
    }
    found = letter == '\0' ? NULL : strchr(letters, letter);
    if (found == NULL) {
        return fail(parse, "an escape is not known");
    }
    film_buffer_put_byte(&parse->json->texts, (uint8_t)meanings[found - letters]);
    return true;
}

/* How long a sequence of UTF-8 is; 0: it is none. */
static size_t
utf8_length(const uint8_t *at, size_t left)
{
    size_t length = at[0] < 0x80   ? 1
                    : at[0] < 0xc2 ? 0
                    : at[0] < 0xe0 ? 2
                    : at[0] < 0xf0 ? 3
                    : at[0] < 0xf5 ? 4
                                   : 0;

    if (length == 0 || length > left) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] >= 0xa0) ||
        (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] >= 0x90)) {
        return 0;
    }
    return length;
}

/* A string behind its quote; where it begins in the texts. */
static bool
take_string(parser *parse, size_t *text, size_t *length)
{
    film_buffer *texts = &parse->json->texts;

    *text = texts->length;
    while (parse->at < parse->end && *parse->at != '"') {
        size_t letter;
        if (*parse->at == '\\') {
            parse->at++;
            if (!take_escape(parse)) {
                return false;
            }
            continue;
        }
        letter =
            utf8_length((const uint8_t *)parse->at, (size_t)(parse->end - parse->at));
        if (letter == 0) {
            return fail(parse, "a text is no UTF-8");
        }
        if ((uint8_t)*parse->at < 0x20) {
            return fail(parse, "a text has a control character");
        }
        film_buffer_append(texts, parse->at, letter);
        parse->at += letter;
    }
    if (parse->at == parse->end) {
        return fail(parse, "a text does not end");
    }
    parse->at++;
    *length = texts->length - *text;
    film_buffer_put_byte(texts, 0);
    return texts->failed ? out_of_memory(parse) : true;
}

/* --- numbers and words --- */

static bool
take_digits(parser *parse)
{
    const char *from = parse->at;

    while (parse->at < parse->end && *parse->at >= '0' && *parse->at <= '9') {
        parse->at++;
    }
    return parse->at > from;
}

static uint32_t
take_number(parser *parse)
{
    const char *from = parse->at;
    char copy[NUMBER_LENGTH];
    bool whole = true, fine;
    uint32_t node;

    parse->at += *parse->at == '-';
    if (parse->at < parse->end && *parse->at == '0') {
        parse->at++;
        fine = true;
    }
    else {
        fine = take_digits(parse);
    }
    if (fine && parse->at < parse->end && *parse->at == '.') {
        parse->at++;
        whole = false;
        fine = take_digits(parse);
    }
    if (fine && parse->at < parse->end && (*parse->at == 'e' || *parse->at == 'E')) {
        parse->at++;
        whole = false;
        parse->at += parse->at < parse->end && (*parse->at == '+' || *parse->at == '-');
        fine = take_digits(parse);
    }
    if (!fine || (size_t)(parse->at - from) >= sizeof(copy)) {
        fail(parse, "a number is none");
        return 0;
    }
    node = add_node(parse, FILM_JSON_NUMBER);
    if (node != 0) {
        film_json_node *to = &parse->json->nodes[node];
        memcpy(copy, from, (size_t)(parse->at - from));
        copy[parse->at - from] = '\0';
        to->number = strtod(copy, NULL);
        errno = 0;
        to->integer = strtoll(copy, NULL, 10);
        if (whole && errno == 0) {
            to->kind = FILM_JSON_INTEGER;
        }
    }
    return node;
}

static uint32_t
take_word(parser *parse)
{
    static const struct {
        const char *word;
        film_json_kind kind;
    } words[] = {
        {"null", FILM_JSON_NULL}, {"true", FILM_JSON_TRUE}, {"false", FILM_JSON_FALSE}};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t length = strlen(words[i].word);
        if ((size_t)(parse->end - parse->at) >= length &&
            memcmp(parse->at, words[i].word, length) == 0) {
            parse->at += length;
            return add_node(parse, words[i].kind);
        }
    }
    fail(parse, "a value is none");
    return 0;
}

/* --- values --- */

static uint32_t
take_value(parser *parse, unsigned depth);

/* What is between the brackets. */
static bool
take_members(parser *parse, uint32_t of, bool keys, char closing, unsigned depth)
{
    uint32_t last = 0;

    if (take(parse, closing)) {
        return true;
    }
    do {
        size_t key = 0, length;
        uint32_t member;
        if (keys && (!take(parse, '"') || !take_string(parse, &key, &length) ||
                     !take(parse, ':'))) {
            return fail(parse, "a member has no name");
        }
        member = take_value(parse, depth + 1);
        if (member == 0) {
            return false;
        }
        parse->json->nodes[member].key = key;
        if (last == 0) {
            parse->json->nodes[of].first = member;
        }
        else {
            parse->json->nodes[last].next = member;
        }
        last = member;
        parse->json->nodes[of].count++;
    } while (take(parse, ','));
    return take(parse, closing) ? true : fail(parse, "a bracket does not close");
}

static uint32_t
take_value(parser *parse, unsigned depth)
{
    uint32_t node = 0;

    skip_space(parse);
    if (depth > FILM_JSON_DEPTH) {
        fail(parse, "it is nested too deep");
        return 0;
    }
    if (parse->at == parse->end) {
        fail(parse, "it ends too early");
        return 0;
    }
    if (take(parse, '"')) {
        size_t text = 0, length = 0;
        node = add_node(parse, FILM_JSON_STRING);
        if (node == 0 || !take_string(parse, &text, &length)) {
            return 0;
        }
        parse->json->nodes[node].text = text;
        parse->json->nodes[node].length = length;
        return node;
    }
    if (*parse->at == '[' || *parse->at == '{') {
        bool object = *parse->at++ == '{';
        node = add_node(parse, object ? FILM_JSON_OBJECT : FILM_JSON_ARRAY);
        return node != 0 && take_members(parse, node, object, object ? '}' : ']', depth)
                   ? node
                   : 0;
    }
    if (*parse->at == '-' || (*parse->at >= '0' && *parse->at <= '9')) {
        return take_number(parse);
    }
    return take_word(parse);
}

film_status
film_json_read(film_json *json, const char *text, size_t length, film_error *error)
{
    parser parse = {.json = json, .begin = text, .at = text, .end = text + length};

    json->count = 0;
    film_buffer_clear(&json->texts);
    /* Node 0 is none, text 0 the empty one. */
    film_buffer_put_byte(&json->texts, 0);
    (void)add_node(&parse, FILM_JSON_NULL);
    if (parse.why == NULL) {
        (void)take_value(&parse, 0);
    }
    skip_space(&parse);
    if (parse.why == NULL && parse.at != parse.end) {
        fail(&parse, "something follows it");
    }
    if (parse.why == NULL) {
        return FILM_OK;
    }
    json->count = 0;
    return film_fail_at(error, parse.memory ? FILM_NO_MEMORY : FILM_MISUSE,
                        (uint64_t)(parse.at - parse.begin), "this is no JSON: %s",
                        parse.why);
}

void
film_json_reset(film_json *json)
{
    film_free(json->nodes);
    film_buffer_reset(&json->texts);
    memset(json, 0, sizeof(*json));
}

const film_json_node *
film_json_root(const film_json *json)
{
    return json->count > 1 ? &json->nodes[1] : NULL;
}

const film_json_node *
film_json_first(const film_json *json, const film_json_node *of)
{
    return of == NULL || of->first == 0 ? NULL : &json->nodes[of->first];
}

const film_json_node *
film_json_next(const film_json *json, const film_json_node *item)
{
    return item->next == 0 ? NULL : &json->nodes[item->next];
}

const char *
film_json_key(const film_json *json, const film_json_node *member)
{
    return (const char *)json->texts.data + member->key;
}

const film_json_node *
film_json_get(const film_json *json, const film_json_node *object, const char *key)
{
    if (!film_json_is(object, FILM_JSON_OBJECT)) {
        return NULL;
    }
    for (const film_json_node *member = film_json_first(json, object); member != NULL;
         member = film_json_next(json, member)) {
        if (strcmp(film_json_key(json, member), key) == 0) {
            return member;
        }
    }
    return NULL;
}

const char *
film_json_text(const film_json *json, const film_json_node *node)
{
    const char *text;

    if (!film_json_is(node, FILM_JSON_STRING)) {
        return NULL;
    }
    text = (const char *)json->texts.data + node->text;
    return strlen(text) == node->length ? text : NULL;
}

double
film_json_number(const film_json_node *node)
{
    return film_json_is(node, FILM_JSON_INTEGER)  ? (double)node->integer
           : film_json_is(node, FILM_JSON_NUMBER) ? node->number
                                                  : 0;
}
