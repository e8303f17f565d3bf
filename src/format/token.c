/* token.c: see token.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/token.h"

#include "format/token_columns.h"

film_token
film_token_decode(film_input *input)
{
    uint8_t first = film_input_byte(input);
    film_token token = {.kind = (film_token_kind)first};
    const uint8_t *bytes;

    if (first >= FILM_TOKEN_FIRST_INT) {
        token.kind = FILM_TOKEN_INT;
        token.integer = (int64_t)first - FILM_TOKEN_FIRST_INT + FILM_TOKEN_LEAST_INT;
        return token;
    }
    switch (token.kind) {
    case FILM_TOKEN_UNBOUND:
    case FILM_TOKEN_NONE:
    case FILM_TOKEN_FALSE:
    case FILM_TOKEN_TRUE:
    case FILM_TOKEN_REDACTED:
        break;
    case FILM_TOKEN_INT:
        token.integer = film_unzigzag(film_input_varint(input));
        break;
    case FILM_TOKEN_FLOAT:
        bytes = film_input_take(input, sizeof(token.number));
        if (bytes != NULL) {
            memcpy(&token.number, bytes, sizeof(token.number));
        }
        break;
    case FILM_TOKEN_VALUE:
    case FILM_TOKEN_OBJECT:
        token.value = film_input_varint(input);
        break;
    case FILM_TOKEN_SHORT_TEXT:
        token.text.length = film_input_byte(input);
        if (token.text.length > FILM_TOKEN_TEXT) {
            input->failed = true;
        }
        token.text.data = (const char *)film_input_take(input, token.text.length);
        break;
    case FILM_TOKEN_CYCLE:
        token.value = film_input_varint(input);
        token.type = film_input_varint32(input);
        break;
    default:
        input->failed = true;
        break;
    }
    if (input->failed) {
        memset(&token, 0, sizeof(token));
    }
    return token;
}

void
film_tokens_skip(film_input *input, uint32_t count)
{
    while (count-- > 0 && !input->failed) {
        if (film_input_left(input) > 0 && *input->at >= FILM_TOKEN_FIRST_INT) {
            input->at++;
        }
        else {
            film_token_decode(input);
        }
    }
}

void
film_token_facts_note(film_token_facts *facts, const film_event *event)
{
    film_input input = film_input_of(event->tokens, event->tokens_length);

    if (event->kind != FILM_KIND_DELETE && event->kind != FILM_KIND_CHANGE) {
        return;
    }
    facts->digest = film_digest_mix(
        facts->digest, film_hash(event->tokens, event->tokens_length) ^ event->kind);
    for (uint32_t i = 0; i < event->token_count; i++) {
        film_token token = film_token_decode(&input);
        if ((token.kind == FILM_TOKEN_VALUE || token.kind == FILM_TOKEN_OBJECT) &&
            token.value < facts->lowest) {
            facts->lowest = token.value;
        }
    }
}
