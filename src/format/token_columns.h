/* token_columns.h: tokens taken apart, so that each column of a chunk holds one kind of
 * number, and put together again.
 *
 *   TOKEN      the first byte of each token
 *   NUMBER     INT: its varint               FLOAT    its 8 bytes
 *   TEXT       SHORT_TEXT: length byte, bytes
 *   REFERENCE  VALUE, OBJECT: a varint. Even: (id - next) * 2, where next is one more
 *              than the greatest id before it in the chunk: a record written for this
 *              very token is 0. Odd: zigzag(id - the id last told by a token of its
 *              kind) * 2 + 1. CYCLE: serial, type
 *
 * In line: the sealing thread takes nearly every row apart.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_TOKEN_COLUMNS_H
#define FILMSTRIP_TOKEN_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <filmstrip/event.h>

#include "base/buffer.h"
#include "base/hash.h"
#include "format/token.h"

/* What a token may add to one column at most. */
#define FILM_TOKEN_COLUMN_MAX 20u

/* Ids told so far in the chunk; zeroed at its start. */
typedef struct film_token_past {
    uint64_t next;    /* one more than the greatest */
    uint64_t last[2]; /* VALUE, OBJECT */
} film_token_past;

/* Ends of the columns; the caller has made room. */
typedef struct film_token_ends {
    uint8_t *tokens, *numbers, *floats, *texts, *references;
} film_token_ends;

/* What the sealing thread wants to know besides. */
typedef struct film_token_facts {
    uint64_t digest; /* of all values so far */
    uint64_t lowest; /* value id */
} film_token_facts;

/* Takes in the values of a delete or a change, which lie in the row's body; nothing of
 * other events. */
void
film_token_facts_note(film_token_facts *facts, const film_event *event);

static inline void
film_reference_split(film_token_past *past, film_token_ends *ends, uint8_t kind,
                     uint64_t id)
{
    uint64_t *last = &past->last[kind == FILM_TOKEN_OBJECT];
    uint64_t told;

    if (id >= past->next) {
        told = (id - past->next) << 1;
        past->next = id + 1;
    }
    else {
        told = film_zigzag((int64_t)(id - *last)) << 1 | 1;
    }
    *last = id;
    ends->references = film_varint_encode(ends->references, told);
}

/* The rarer tokens; input->at is behind the first byte. False: cut or unknown. */
static inline bool
film_token_split_rest(film_input *input, uint8_t first, film_token_past *past,
                      film_token_ends *ends, film_token_facts *facts)
{
    uint64_t word = 0;
    const uint8_t *bytes;
    size_t length;

    switch (first) {
    case FILM_TOKEN_INT:
        word = film_input_varint(input);
        ends->numbers = film_varint_encode(ends->numbers, word);
        break;
    case FILM_TOKEN_FLOAT:
        bytes = film_input_take(input, sizeof(word));
        if (bytes == NULL) {
            return false;
        }
        memcpy(&word, bytes, sizeof(word));
        memcpy(ends->floats, bytes, sizeof(word));
        ends->floats += sizeof(word);
        break;
    case FILM_TOKEN_VALUE:
    case FILM_TOKEN_OBJECT:
        word = film_input_varint(input);
        if (input->failed || word >= UINT64_MAX >> 3) {
            return false; /* no recording has that many values */
        }
        film_reference_split(past, ends, first, word);
        if (word < facts->lowest) {
            facts->lowest = word;
        }
        break;
    case FILM_TOKEN_SHORT_TEXT:
        length = film_input_byte(input);
        bytes = length > FILM_TOKEN_TEXT ? NULL : film_input_take(input, length);
        if (bytes == NULL) {
            return false;
        }
        *ends->texts++ = (uint8_t)length;
        memcpy(ends->texts, bytes, length);
        ends->texts += length;
        for (size_t i = 0; i < length; i++) {
            word = word * 0x100000001b3u + bytes[i];
        }
        break;
    case FILM_TOKEN_CYCLE:
        word = film_input_varint(input);
        ends->references = film_varint_encode(ends->references, word);
        ends->references =
            film_varint_encode(ends->references, film_input_varint32(input));
        break;
    case FILM_TOKEN_UNBOUND:
    case FILM_TOKEN_NONE:
    case FILM_TOKEN_FALSE:
    case FILM_TOKEN_TRUE:
    case FILM_TOKEN_REDACTED:
        break;
    default:
        return false;
    }
    facts->digest = film_digest_mix(facts->digest, word ^ (uint64_t)first << 56);
    return !input->failed;
}

/* Takes `count` tokens apart. False: one is cut or unknown. */
static inline bool
film_tokens_split(film_input *input, uint32_t count, film_token_past *past,
                  film_token_ends *ends, film_token_facts *facts)
{
    while (count-- > 0) {
        uint8_t first = film_input_byte(input);
        *ends->tokens++ = first;
        if (__builtin_expect(first >= FILM_TOKEN_FIRST_INT, 1)) {
            facts->digest = film_digest_mix(facts->digest, (uint64_t)first << 56);
        }
        else if (input->failed ||
                 !film_token_split_rest(input, first, past, ends, facts)) {
            return false;
        }
    }
    return true;
}

#endif
