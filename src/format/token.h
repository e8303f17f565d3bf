/* token.h: one value as rows and value records carry it: a few bytes, or a number of a
 * value record.
 *
 *   0x00 UNBOUND     no value: the variable was deleted, or could not be read
 *   0x01 NONE        0x02 FALSE        0x03 TRUE
 *   0x04 INT         zigzag varint
 *   0x05 FLOAT       8 bytes, little-endian IEEE 754
 *   0x06 VALUE       varint: id of a value record, whose content holds at this moment
 *   0x07 REDACTED    a value whose name is on the deny list
 *   0x08 TEXT        length byte (at most FILM_TOKEN_TEXT), UTF-8 bytes: a short str
 *   0x09 OBJECT      varint: id of a value record; its type and serial hold, its
 *                    content may have been changed since by recorded writes to its
 *                    attributes
 *   0x0a CYCLE       serial (varint), type (string id): an object within itself, or one
 *                    deeper than the snapshot goes
 *   0x10 - 0xff      an int from -16 to 223
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_TOKEN_H
#define FILMSTRIP_TOKEN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <filmstrip/event.h>

#include "base/buffer.h"
#include "base/varint.h"

#define FILM_TOKEN_TEXT 16u /* bytes of the longest str told in place */
#define FILM_TOKEN_MAX 20u  /* bytes of the longest token */
#define FILM_TOKEN_FIRST_INT 0x10
#define FILM_TOKEN_LEAST_INT (-16)
#define FILM_TOKEN_GREATEST_INT 223

typedef enum film_token_kind {
    FILM_TOKEN_UNBOUND = 0,
    FILM_TOKEN_NONE = 1,
    FILM_TOKEN_FALSE = 2,
    FILM_TOKEN_TRUE = 3,
    FILM_TOKEN_INT = 4,
    FILM_TOKEN_FLOAT = 5,
    FILM_TOKEN_VALUE = 6,
    FILM_TOKEN_REDACTED = 7,
    FILM_TOKEN_SHORT_TEXT = 8,
    FILM_TOKEN_OBJECT = 9,
    FILM_TOKEN_CYCLE = 10
} film_token_kind;

/* A decoded token. */
typedef struct film_token {
    film_token_kind kind;
    union {
        int64_t integer;
        double number;
        uint64_t value; /* VALUE, OBJECT: record id; CYCLE: serial */
        struct {
            const char *data; /* borrowed from the input */
            size_t length;
        } text;
    };
    uint32_t type; /* CYCLE: string id */
} film_token;

static inline uint8_t *
film_token_put_int(uint8_t *to, int64_t number)
{
    if (number >= FILM_TOKEN_LEAST_INT && number <= FILM_TOKEN_GREATEST_INT) {
        *to++ = (uint8_t)(number - FILM_TOKEN_LEAST_INT + FILM_TOKEN_FIRST_INT);
        return to;
    }
    *to++ = FILM_TOKEN_INT;
    return film_varint_encode(to, film_zigzag(number));
}

static inline uint8_t *
film_token_put_float(uint8_t *to, double number)
{
    *to++ = FILM_TOKEN_FLOAT;
    memcpy(to, &number, sizeof(number)); /* little-endian machines only: see clock.h */
    return to + sizeof(number);
}

/* kind: FILM_TOKEN_VALUE or FILM_TOKEN_OBJECT. */
static inline uint8_t *
film_token_put_value(uint8_t *to, film_token_kind kind, uint64_t id)
{
    *to++ = (uint8_t)kind;
    return film_varint_encode(to, id);
}

/* At most FILM_TOKEN_TEXT bytes. */
static inline uint8_t *
film_token_put_text(uint8_t *to, const char *text, size_t length)
{
    *to++ = FILM_TOKEN_SHORT_TEXT;
    *to++ = (uint8_t)length;
    /* Copies of known lengths, which overlap: no call. */
    if (length >= 8) {
        memcpy(to, text, 8);
        memcpy(to + length - 8, text + length - 8, 8);
    }
    else if (length >= 4) {
        memcpy(to, text, 4);
        memcpy(to + length - 4, text + length - 4, 4);
    }
    else if (length > 0) {
        to[0] = (uint8_t)text[0];
        to[length / 2] = (uint8_t)text[length / 2];
        to[length - 1] = (uint8_t)text[length - 1];
    }
    return to + length;
}

/* Decodes a token that may be of any kind. */
void
film_token_read_any(film_input *input, film_token *out);

/* Decodes the next token; input->failed when it is cut or unknown. Small ints, which
 * most are, in line. Written where it is wanted: a processor waits long for a struct
 * that is copied right after its members were set one by one. */
static inline void
film_token_read(film_input *input, film_token *out)
{
    if (__builtin_expect(input->at < input->end && *input->at >= FILM_TOKEN_FIRST_INT,
                         1)) {
        out->kind = FILM_TOKEN_INT;
        out->integer =
            (int64_t)*input->at++ - FILM_TOKEN_FIRST_INT + FILM_TOKEN_LEAST_INT;
        out->type = 0;
        return;
    }
    film_token_read_any(input, out);
}

static inline film_token
film_token_decode(film_input *input)
{
    film_token token;

    film_token_read(input, &token);
    return token;
}

/* Moves over `count` tokens. */
void
film_tokens_skip(film_input *input, uint32_t count);

/* What a SET row writes: number << FILM_SET_SHIFT | form (film_set_form), then tokens.
 *   LOCAL            number: slot            tokens: value
 *   ATTRIBUTE, _VIA  number: name string id  tokens: owner, value
 *   ITEM, _VIA       number: film_item_effect tokens: owner, key, value
 *   GLOBAL, CLASS    number: name string id  tokens: value */
#define FILM_SET_SHIFT 3
#define FILM_SET_FORMS 7u /* forms from here on are not known */

/* True where the number is a name's; else it is a slot or film_item_effect, which
 * events have in the same place. */
static inline bool
film_set_is_named(uint32_t form)
{
    return form != FILM_SET_LOCAL && form != FILM_SET_ITEM && form != FILM_SET_ITEM_VIA;
}

/* How many tokens follow a SET (a DELETE has no value: one less). */
static inline uint32_t
film_set_tokens(uint32_t form)
{
    switch (form) {
    case FILM_SET_ATTRIBUTE:
    case FILM_SET_ATTRIBUTE_VIA:
        return 2;
    case FILM_SET_ITEM:
    case FILM_SET_ITEM_VIA:
        return 3;
    default:
        return 1;
    }
}

#endif
