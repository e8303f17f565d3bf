/* token.c: see token.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/token.h"

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
