/* value_record.c: see value_record.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/value_record.h"

#include <string.h>

#include "format/token.h"

static void
decode_note(film_input *input, film_value_note *note)
{
    const uint8_t *start;

    note->text = film_input_varint32(input);
    note->names = film_input_varint32(input);
    note->base = film_input_byte(input);
    note->count = film_input_varint32(input);
    start = input->at;
    if (note->count > film_input_left(input)) {
        input->failed = true;
        return;
    }
    film_tokens_skip(input, note->count);
    if (!input->failed) {
        note->tokens = film_input_of(start, (size_t)(input->at - start));
    }
}

/* Tokens among the items. */
static uint64_t
count_tokens(const film_value_record *record)
{
    switch (record->form) {
    case FILM_OBJECT_SEQUENCE:
    case FILM_OBJECT_EXCEPTION:
    case FILM_OBJECT_ATTRIBUTES:
    case FILM_OBJECT_AGAIN:
        return record->count;
    case FILM_OBJECT_MAPPING:
        return record->count * 2;
    default:
        return 0;
    }
}

/* Numbers that are no tokens; a newer form's items cannot be looked at. */
static void
pass_numbers(const film_value_record *record, film_input *input)
{
    uint64_t numbers = record->form == FILM_OBJECT_ARRAY   ? record->count + 1
                       : record->form == FILM_OBJECT_NAMED ? record->count
                                                           : 0;

    for (uint64_t i = 0; i < numbers && !input->failed; i++) {
        film_input_varint(input);
    }
}

/* Passes the items of a form that is known. */
static void
pass_items(const film_value_record *record, film_input *input)
{
    uint64_t tokens = count_tokens(record);

    if (record->form == FILM_OBJECT_BYTES) {
        (void)film_input_take(input, (size_t)record->count);
    }
    for (uint64_t i = 0; i < tokens && !input->failed; i++) {
        if (record->form == FILM_OBJECT_ATTRIBUTES) {
            film_input_varint32(input);
        }
        film_tokens_skip(input, 1);
    }
    pass_numbers(record, input);
}

static void
decode_object(film_input *input, film_value_record *record)
{
    record->serial = film_input_varint(input);
    record->form = film_input_byte(input);
    record->length = (int64_t)(film_input_varint(input) - 1);
    record->count = film_input_varint(input);
    /* Every item takes a byte at least: nobody has to loop further than that. */
    if (record->form == 0 || record->length < -1 ||
        (record->form != FILM_OBJECT_OPAQUE &&
         record->count > film_input_left(input))) {
        input->failed = true;
    }
    record->rest = *input;
    if ((record->flags & FILM_VALUE_NOTED) != 0 && !input->failed) {
        pass_items(record, input);
        record->rest.end = input->at;
        decode_note(input, &record->note);
    }
}

bool
film_value_record_decode(const uint8_t *body, size_t length, film_value_record *record)
{
    film_input input = film_input_of(body, length);

    memset(record, 0, sizeof(*record));
    record->length = -1;
    record->type = film_input_varint32(&input);
    record->flags = film_input_varint32(&input);
    if ((record->flags & FILM_VALUE_OBJECT) != 0) {
        decode_object(&input, record);
    }
    else if ((record->flags & FILM_VALUE_MEASURED) != 0) {
        record->length = (int64_t)film_input_varint(&input);
        (void)film_input_take(&input, sizeof(uint64_t));
        if (record->length < 0) {
            input.failed = true;
        }
        record->rest = input;
    }
    else {
        record->rest = input;
    }
    return !input.failed;
}

bool
film_value_record_again(const film_value_record *record, uint64_t *id)
{
    film_input input = record->rest;
    film_token token = film_token_decode(&input);

    *id = token.value;
    return !input.failed && record->count == 1 && token.kind == FILM_TOKEN_VALUE;
}

/* Passes a token, which may refer to a record. */
static void
widen_range(film_input *input, uint64_t *lowest, uint64_t *end)
{
    film_token token = film_token_decode(input);

    if (token.kind == FILM_TOKEN_VALUE || token.kind == FILM_TOKEN_OBJECT) {
        *lowest = token.value < *lowest ? token.value : *lowest;
        *end = token.value >= *end ? token.value + 1 : *end;
    }
}

bool
film_value_record_range(const film_value_record *record, uint64_t *lowest,
                        uint64_t *end)
{
    film_input input = record->rest, noted = record->note.tokens;
    uint64_t tokens = count_tokens(record);

    *lowest = UINT64_MAX;
    *end = 0;
    for (uint32_t i = 0; i < record->note.count && !noted.failed; i++) {
        widen_range(&noted, lowest, end);
    }
    for (uint64_t i = 0; i < tokens && !input.failed; i++) {
        if (record->form == FILM_OBJECT_ATTRIBUTES) {
            film_input_varint32(&input);
        }
        widen_range(&input, lowest, end);
    }
    pass_numbers(record, &input);
    return !input.failed && !noted.failed;
}
