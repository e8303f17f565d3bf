/* value_columns.c: see value_columns.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/value_columns.h"

#include <string.h>

#include "format/records.h"
#include "format/token.h"
#include "format/value_record.h"

/* What the numbers of a record are relative to. */
typedef struct record_base {
    uint64_t id;          /* its own */
    uint64_t serial;      /* its own */
    uint64_t last_serial; /* of the object before it */
} record_base;

static void
put_sized(film_buffer *to, const uint8_t *bytes, size_t length)
{
    film_buffer_put_varint(&to[FILM_VALUE_SIZE], length);
    film_buffer_append(&to[FILM_VALUE_BYTES], bytes, length);
}

static void
split_token(film_buffer *to, film_input *input, const record_base *base)
{
    film_token token;
    uint8_t first = input->at < input->end ? *input->at : 0;

    film_buffer_put_byte(&to[FILM_VALUE_TOKEN], first);
    if (first >= FILM_TOKEN_FIRST_INT) {
        input->at++;
        return;
    }
    token = film_token_decode(input);
    switch (token.kind) {
    case FILM_TOKEN_INT:
        film_buffer_put_varint(&to[FILM_VALUE_NUMBER], film_zigzag(token.integer));
        break;
    case FILM_TOKEN_FLOAT:
        film_buffer_append(&to[FILM_VALUE_FLOAT], &token.number, sizeof(token.number));
        break;
    case FILM_TOKEN_VALUE:
    case FILM_TOKEN_OBJECT:
        film_buffer_put_varint(&to[FILM_VALUE_REFERENCE],
                               film_zigzag((int64_t)(base->id - token.value)));
        break;
    case FILM_TOKEN_SHORT_TEXT:
        film_buffer_put_byte(&to[FILM_VALUE_TEXT], (uint8_t)token.text.length);
        film_buffer_append(&to[FILM_VALUE_TEXT], token.text.data, token.text.length);
        break;
    case FILM_TOKEN_CYCLE:
        film_buffer_put_varint(&to[FILM_VALUE_CYCLE],
                               film_zigzag((int64_t)(token.value - base->serial)));
        film_buffer_put_varint(&to[FILM_VALUE_CYCLE], token.type);
        break;
    case FILM_TOKEN_UNBOUND:
    case FILM_TOKEN_NONE:
    case FILM_TOKEN_FALSE:
    case FILM_TOKEN_TRUE:
    case FILM_TOKEN_REDACTED:
    default:
        break;
    }
}

/* Tokens in each item of a form; 0: its items are no tokens. */
static uint32_t
tokens_of(uint8_t form)
{
    switch (form) {
    case FILM_OBJECT_SEQUENCE:
    case FILM_OBJECT_EXCEPTION:
    case FILM_OBJECT_ATTRIBUTES:
    case FILM_OBJECT_AGAIN:
        return 1;
    case FILM_OBJECT_MAPPING:
        return 2;
    default:
        return 0;
    }
}

/* True when the record is what columns can hold: its items end where it ends. */
static bool
is_regular(const film_record *record, film_value_record *value)
{
    film_input input;
    uint32_t tokens;

    if (record->kind != FILM_RECORD_VALUE ||
        !film_value_record_decode(record->body, record->length, value) ||
        value->flags >= FILM_VALUE_ESCAPE) {
        return false;
    }
    if ((value->flags & FILM_VALUE_NOTED) != 0 &&
        value->note.tokens.end != record->body + record->length) {
        return false;
    }
    input = value->rest;
    tokens = tokens_of(value->form);
    if (tokens == 0) {
        return true;
    }
    for (uint64_t i = 0; i < value->count && !input.failed; i++) {
        if (value->form == FILM_OBJECT_ATTRIBUTES) {
            film_input_varint32(&input);
        }
        film_tokens_skip(&input, tokens);
    }
    return !input.failed && film_input_left(&input) == 0;
}

/* A note has columns of its own, laid out as those of records: older readers pass over
 * them. */
static void
split_note(film_buffer *columns, const film_value_note *note, const record_base *base)
{
    film_buffer *to = columns + FILM_VALUE_NOTES;
    film_input tokens = note->tokens;

    film_buffer_put_varint(&to[FILM_VALUE_NAME], note->text);
    film_buffer_put_varint(&to[FILM_VALUE_NAME], note->names);
    film_buffer_put_byte(&to[FILM_VALUE_FORM], note->base);
    film_buffer_put_varint(&to[FILM_VALUE_COUNT], note->count);
    for (uint32_t i = 0; i < note->count; i++) {
        split_token(to, &tokens, base);
    }
}

static void
split_object(film_buffer *to, const film_value_record *value, const record_base *base)
{
    film_input input = value->rest;
    uint32_t tokens = tokens_of(value->form);

    film_buffer_put_varint(&to[FILM_VALUE_SERIAL],
                           film_zigzag((int64_t)(value->serial - base->last_serial)));
    film_buffer_put_byte(&to[FILM_VALUE_FORM], value->form);
    film_buffer_put_varint(&to[FILM_VALUE_LENGTH], (uint64_t)(value->length + 1));
    film_buffer_put_varint(&to[FILM_VALUE_COUNT], value->count);
    if (tokens == 0) {
        put_sized(to, input.at, film_input_left(&input));
        return;
    }
    for (uint64_t i = 0; i < value->count; i++) {
        if (value->form == FILM_OBJECT_ATTRIBUTES) {
            film_buffer_put_varint(&to[FILM_VALUE_NAME], film_input_varint32(&input));
        }
        for (uint32_t k = 0; k < tokens; k++) {
            split_token(to, &input, base);
        }
    }
}

static void
split_record(film_buffer *to, const film_record *record, record_base *base)
{
    film_value_record value;

    if (!is_regular(record, &value)) {
        film_buffer_put_byte(&to[FILM_VALUE_FLAGS], FILM_VALUE_ESCAPE);
        film_buffer_put_byte(&to[FILM_VALUE_BYTES], record->kind);
        put_sized(to, record->body, record->length);
        return;
    }
    film_buffer_put_byte(&to[FILM_VALUE_FLAGS], (uint8_t)value.flags);
    film_buffer_put_varint(&to[FILM_VALUE_TYPE], value.type);
    if (value.form == 0) {
        film_input body = film_input_of(record->body, record->length);
        film_input_varint32(&body);
        film_input_varint32(&body);
        put_sized(to, body.at, film_input_left(&body));
        return;
    }
    base->serial = value.serial;
    split_object(to, &value, base);
    if ((value.flags & FILM_VALUE_NOTED) != 0) {
        split_note(to, &value.note, base);
    }
    base->last_serial = value.serial;
}

void
film_value_columns_split(film_value_columns *columns, const uint8_t *records,
                         size_t length, uint64_t first, film_buffer *out)
{
    const uint8_t *from = records, *end = records + length;
    record_base base = {.id = first};
    film_record record;

    for (unsigned i = 0; i < FILM_VALUE_COLUMNS; i++) {
        film_buffer_clear(&columns->buffers[i]);
    }
    while (from < end && film_record_decode(&from, end, &record) == FILM_OK) {
        split_record(columns->buffers, &record, &base);
        base.id++;
    }
    for (unsigned i = 0; i < FILM_VALUE_COLUMNS; i++) {
        out->failed = out->failed || columns->buffers[i].failed;
        film_buffer_put_byte(out, (uint8_t)i);
        film_buffer_put_bytes(out, columns->buffers[i].data,
                              columns->buffers[i].length);
    }
}

void
film_value_columns_reset(film_value_columns *columns)
{
    for (unsigned i = 0; i < FILM_VALUE_COLUMNS; i++) {
        film_buffer_reset(&columns->buffers[i]);
    }
}

/* Bytes of BYTES, their number from SIZE. */
static void
join_sized(film_input *in, film_buffer *body)
{
    uint64_t length = film_input_varint(&in[FILM_VALUE_SIZE]);
    const uint8_t *bytes;

    if (length > film_input_left(&in[FILM_VALUE_BYTES])) {
        in[FILM_VALUE_BYTES].failed = true;
        return;
    }
    bytes = film_input_take(&in[FILM_VALUE_BYTES], (size_t)length);
    film_buffer_append(body, bytes, (size_t)length);
}

static void
join_token(film_input *in, film_buffer *body, const record_base *base)
{
    uint8_t first = film_input_byte(&in[FILM_VALUE_TOKEN]);
    const uint8_t *bytes;
    size_t length;

    film_buffer_put_byte(body, first);
    switch (first) {
    case FILM_TOKEN_INT:
        film_buffer_put_varint(body, film_input_varint(&in[FILM_VALUE_NUMBER]));
        break;
    case FILM_TOKEN_FLOAT:
        bytes = film_input_take(&in[FILM_VALUE_FLOAT], sizeof(double));
        film_buffer_append(body, bytes, bytes == NULL ? 0 : sizeof(double));
        break;
    case FILM_TOKEN_VALUE:
    case FILM_TOKEN_OBJECT:
        film_buffer_put_varint(
            body, base->id - (uint64_t)film_unzigzag(
                                 film_input_varint(&in[FILM_VALUE_REFERENCE])));
        break;
    case FILM_TOKEN_SHORT_TEXT:
        length = film_input_byte(&in[FILM_VALUE_TEXT]);
        bytes = film_input_take(&in[FILM_VALUE_TEXT], length);
        film_buffer_put_byte(body, (uint8_t)length);
        film_buffer_append(body, bytes, bytes == NULL ? 0 : length);
        break;
    case FILM_TOKEN_CYCLE:
        film_buffer_put_varint(body, base->serial +
                                         (uint64_t)film_unzigzag(
                                             film_input_varint(&in[FILM_VALUE_CYCLE])));
        film_buffer_put_varint(body, film_input_varint(&in[FILM_VALUE_CYCLE]));
        break;
    default:
        break;
    }
}

static void
join_note(film_input *columns, film_buffer *body, const record_base *base)
{
    film_input *in = columns + FILM_VALUE_NOTES;
    uint64_t count;

    film_buffer_put_varint(body, film_input_varint(&in[FILM_VALUE_NAME]));
    film_buffer_put_varint(body, film_input_varint(&in[FILM_VALUE_NAME]));
    film_buffer_put_byte(body, film_input_byte(&in[FILM_VALUE_FORM]));
    count = film_input_varint(&in[FILM_VALUE_COUNT]);
    film_buffer_put_varint(body, count);
    for (uint64_t i = 0; i < count && !in[FILM_VALUE_TOKEN].failed; i++) {
        join_token(in, body, base);
    }
}

static void
join_object(film_input *in, film_buffer *body, record_base *base)
{
    uint64_t count;
    uint32_t tokens;
    uint8_t form;

    base->serial = base->last_serial +
                   (uint64_t)film_unzigzag(film_input_varint(&in[FILM_VALUE_SERIAL]));
    base->last_serial = base->serial;
    form = film_input_byte(&in[FILM_VALUE_FORM]);
    count = film_input_varint(&in[FILM_VALUE_COUNT]);
    film_buffer_put_varint(body, base->serial);
    film_buffer_put_byte(body, form);
    film_buffer_put_varint(body, film_input_varint(&in[FILM_VALUE_LENGTH]));
    film_buffer_put_varint(body, count);
    tokens = tokens_of(form);
    if (tokens == 0) {
        join_sized(in, body);
        return;
    }
    for (uint64_t i = 0; i < count && !in[FILM_VALUE_TOKEN].failed; i++) {
        if (form == FILM_OBJECT_ATTRIBUTES) {
            film_buffer_put_varint(body, film_input_varint(&in[FILM_VALUE_NAME]));
        }
        for (uint32_t k = 0; k < tokens; k++) {
            join_token(in, body, base);
        }
    }
}

/* One record's kind and body. */
static uint8_t
join_record(film_input *in, film_buffer *body, record_base *base)
{
    uint8_t flags = film_input_byte(&in[FILM_VALUE_FLAGS]);

    film_buffer_clear(body);
    if (flags == FILM_VALUE_ESCAPE) {
        uint8_t kind = film_input_byte(&in[FILM_VALUE_BYTES]);
        join_sized(in, body);
        return kind;
    }
    film_buffer_put_varint(body, film_input_varint(&in[FILM_VALUE_TYPE]));
    film_buffer_put_varint(body, flags);
    if ((flags & FILM_VALUE_OBJECT) != 0) {
        join_object(in, body, base);
        if ((flags & FILM_VALUE_NOTED) != 0) {
            join_note(in, body, base);
        }
    }
    else {
        join_sized(in, body);
    }
    return FILM_RECORD_VALUE;
}

static film_status
open_columns(const uint8_t *raw, size_t length, film_input *in)
{
    film_input input = film_input_of(raw, length);

    memset(in, 0, FILM_VALUE_COLUMNS * sizeof(*in));
    while (film_input_left(&input) > 0) {
        uint8_t id = film_input_byte(&input);
        size_t bytes;
        const uint8_t *data = film_input_bytes(&input, &bytes);
        if (input.failed) {
            return FILM_CORRUPT;
        }
        if (id < FILM_VALUE_COLUMNS) {
            in[id] = film_input_of(data, bytes);
        }
    }
    return FILM_OK;
}

film_status
film_value_columns_serials(const uint8_t *raw, size_t length, uint64_t *serials,
                           size_t count)
{
    film_input in[FILM_VALUE_COLUMNS];
    uint64_t serial = 0;

    FILM_TRY(open_columns(raw, length, in));
    for (size_t i = 0; i < count; i++) {
        uint8_t flags = film_input_byte(&in[FILM_VALUE_FLAGS]);

        serials[i] = 0;
        if (flags == FILM_VALUE_ESCAPE) {
            serials[i] = FILM_SERIAL_ELSEWHERE;
        }
        else if ((flags & FILM_VALUE_OBJECT) != 0) {
            serial +=
                (uint64_t)film_unzigzag(film_input_varint(&in[FILM_VALUE_SERIAL]));
            serials[i] = serial;
        }
    }
    return in[FILM_VALUE_FLAGS].failed || in[FILM_VALUE_SERIAL].failed ? FILM_CORRUPT
                                                                       : FILM_OK;
}

film_status
film_value_columns_join(const uint8_t *raw, size_t length, uint64_t first, size_t limit,
                        film_buffer *out)
{
    film_input in[FILM_VALUE_COLUMNS];
    record_base base = {.id = first};
    film_buffer body = {0};
    film_status status;

    FILM_TRY(open_columns(raw, length, in));
    status = FILM_OK;
    while (status == FILM_OK && film_input_left(&in[FILM_VALUE_FLAGS]) > 0) {
        uint8_t kind = join_record(in, &body, &base);
        film_buffer_put_byte(out, kind);
        film_buffer_put_bytes(out, body.data, body.length);
        for (unsigned i = 0; i < FILM_VALUE_COLUMNS; i++) {
            status = in[i].failed ? FILM_CORRUPT : status;
        }
        if (out->length > limit) {
            status = FILM_CORRUPT;
        }
        if (body.failed || out->failed) {
            status = FILM_NO_MEMORY;
        }
        base.id++;
    }
    film_buffer_reset(&body);
    return status;
}
