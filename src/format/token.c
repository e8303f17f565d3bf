/* token.c: see token.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/token.h"

#include "format/token_columns.h"

void
film_token_read_any(film_input *input, film_token *out)
{
    uint8_t first = film_input_byte(input);
    const uint8_t *bytes;

    out->kind = (film_token_kind)first;
    out->integer = 0;
    out->type = 0;
    if ((first == FILM_TOKEN_VALUE || first == FILM_TOKEN_OBJECT) && !input->failed &&
        film_input_usual_varint(input, &out->value)) {
        return;
    }
    if (first >= FILM_TOKEN_FIRST_INT) {
        out->kind = FILM_TOKEN_INT;
        out->integer = (int64_t)first - FILM_TOKEN_FIRST_INT + FILM_TOKEN_LEAST_INT;
        return;
    }
    switch (out->kind) {
    case FILM_TOKEN_UNBOUND:
    case FILM_TOKEN_NONE:
    case FILM_TOKEN_FALSE:
    case FILM_TOKEN_TRUE:
    case FILM_TOKEN_REDACTED:
        break;
    case FILM_TOKEN_INT:
        out->integer = film_unzigzag(film_input_varint(input));
        break;
    case FILM_TOKEN_FLOAT:
        bytes = film_input_take(input, sizeof(out->number));
        if (bytes != NULL) {
            memcpy(&out->number, bytes, sizeof(out->number));
        }
        break;
    case FILM_TOKEN_VALUE:
    case FILM_TOKEN_OBJECT:
        out->value = film_input_varint(input);
        break;
    case FILM_TOKEN_SHORT_TEXT:
        out->text.length = film_input_byte(input);
        if (out->text.length > FILM_TOKEN_TEXT) {
            input->failed = true;
        }
        out->text.data = (const char *)film_input_take(input, out->text.length);
        break;
    case FILM_TOKEN_CYCLE:
        out->value = film_input_varint(input);
        out->type = film_input_varint32(input);
        break;
    default:
        input->failed = true;
        break;
    }
    if (__builtin_expect(input->failed, 0)) {
        memset(out, 0, sizeof(*out));
    }
}

void
film_tokens_skip(film_input *input, uint32_t count)
{
    while (count-- > 0 && !input->failed) {
        uint8_t first = film_input_left(input) > 0 ? *input->at : 0;

        if (first >= FILM_TOKEN_FIRST_INT) {
            input->at++;
        }
        else if (first == FILM_TOKEN_INT || first == FILM_TOKEN_VALUE ||
                 first == FILM_TOKEN_OBJECT) {
            input->at++;
            (void)film_input_varint(input);
        }
        else {
            film_token ignored;
            film_token_read_any(input, &ignored);
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
