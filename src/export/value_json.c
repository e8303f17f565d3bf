/* value_json.c: see value_json.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/value_json.h"

#include "base/alloc.h"
#include "export/tensor_json.h"
#include "reader/note_parts.h"
#include "reader/render.h"

/* Bytes of all texts of a value, and values within it: what a real recording's bounds
 * allow and a little more. */
#define TEXT_LIMIT ((size_t)8 << 20)
#define VALUE_LIMIT 100000u
/* The longest item: a name's id and two tokens, none of them wider. */
#define ITEM_BYTES (8u + 2u * FILM_TOKEN_MAX)
/* Ids for which is kept whether they were told: 16 MiB. */
#define TOLD_LIMIT ((uint64_t)128 << 20)

void
film_value_json_init(film_value_json *json, film_reader *reader)
{
    memset(json, 0, sizeof(*json));
    json->reader = reader;
}

void
film_value_json_reset(film_value_json *json)
{
    film_buffer_reset(&json->text);
    film_buffer_reset(&json->items);
    film_free(json->told);
    memset(json, 0, sizeof(*json));
}

/* True the first time it is asked for an id. */
static bool
is_new(film_value_json *json, uint64_t id)
{
    size_t byte = (size_t)(id / 8);
    uint8_t bit = (uint8_t)(1u << (id % 8));

    if (id >= TOLD_LIMIT) {
        return false;
    }
    if (byte >= json->told_bytes) {
        size_t old = json->told_bytes;
        uint8_t *grown = film_grow(json->told, &json->told_bytes, byte + 1, 1);
        if (grown == NULL) {
            return false;
        }
        memset(grown + old, 0, json->told_bytes - old);
        json->told = grown;
    }
    if ((json->told[byte] & bit) != 0) {
        return false;
    }
    json->told[byte] |= bit;
    return true;
}

static void
write_value(film_value_json *json, film_output *output, const film_token *token,
            unsigned depth);

/* One item from its own bytes: for mappings [key, value], for instances "name":value.
 */
static void
write_item(film_value_json *json, film_output *output, uint8_t form, film_input item,
           unsigned depth)
{
    film_token token;

    if (form == FILM_OBJECT_ATTRIBUTES) {
        film_output_json(output,
                         film_reader_string(json->reader, film_input_varint32(&item)));
        film_output_byte(output, ':');
    }
    token = film_token_decode(&item);
    if (form != FILM_OBJECT_MAPPING) {
        write_value(json, output, &token, depth);
        return;
    }
    film_output_byte(output, '[');
    write_value(json, output, &token, depth);
    film_output_byte(output, ',');
    token = film_token_decode(&item);
    write_value(json, output, &token, depth);
    film_output_byte(output, ']');
}

/* Bytes of the items that may be written. */
static size_t
items_length(const film_value_json *json, const film_value_record *record)
{
    film_input input = record->rest;
    uint64_t most = record->count < json->left ? record->count : json->left;

    for (uint64_t i = 0; i < most && !input.failed; i++) {
        if (record->form == FILM_OBJECT_ATTRIBUTES) {
            film_input_varint32(&input);
        }
        film_tokens_skip(&input, record->form == FILM_OBJECT_MAPPING ? 2 : 1);
    }
    return (size_t)(input.at - record->rest.at);
}

/* The record's items are copied first, and each item again: what they refer to is read
 * by the same reader and written with the same buffer. */
static void
write_items(film_value_json *json, film_output *output, const film_value_record *record,
            unsigned depth)
{
    size_t begin = json->items.length, at = begin, end;
    bool named = record->form == FILM_OBJECT_ATTRIBUTES;
    uint8_t form = record->form;

    film_buffer_append(&json->items, record->rest.at, items_length(json, record));
    end = json->items.length;
    film_output_byte(output, named ? '{' : '[');
    for (uint64_t i = 0; i < record->count && json->left > 0; i++) {
        film_input input = film_input_of(json->items.data + at, end - at);
        uint8_t item[ITEM_BYTES];
        size_t length;
        if (named) {
            film_input_varint32(&input);
        }
        film_tokens_skip(&input, form == FILM_OBJECT_MAPPING ? 2 : 1);
        length = end - film_input_left(&input) - at;
        if (input.failed || length > sizeof(item) || json->items.failed) {
            break;
        }
        memcpy(item, json->items.data + at, length);
        at += length;
        if (i > 0) {
            film_output_byte(output, ',');
        }
        write_item(json, output, form, film_input_of(item, length), depth);
    }
    json->items.length = begin;
    film_output_byte(output, named ? '}' : ']');
}

static void
write_array(film_value_json *json, film_output *output, const film_value_record *record)
{
    film_input input = record->rest;

    FILM_OUTPUT_LITERAL(output, ",\"shape\":[");
    for (uint64_t i = 0; i < record->count && !input.failed; i++) {
        if (i > 0) {
            film_output_byte(output, ',');
        }
        film_output_u64(output, film_input_varint(&input));
    }
    FILM_OUTPUT_LITERAL(output, "],\"dtype\":");
    film_output_json(output,
                     film_reader_string(json->reader, film_input_varint32(&input)));
}

/* A tensor's keys; false: the record is of something else. */
static bool
write_tensor(film_value_json *json, film_output *output, uint64_t id)
{
    film_tensor tensor;

    if (film_reader_tensor(json->reader, id, &tensor, NULL) != FILM_OK) {
        return false;
    }
    film_tensor_json_write(output, &tensor, &json->text);
    return true;
}

/* What is in it, where it is a container. */
static void
write_content(film_value_json *json, film_output *output,
              const film_value_record *record, const char *key, unsigned depth)
{
    switch (record->form) {
    case FILM_OBJECT_SEQUENCE:
    case FILM_OBJECT_MAPPING:
    case FILM_OBJECT_ATTRIBUTES:
    case FILM_OBJECT_EXCEPTION:
        if (depth < FILM_RENDER_DEPTH) {
            film_output_text(output, key);
            write_items(json, output, record, depth + 1);
        }
        break;
    case FILM_OBJECT_ARRAY:
        write_array(json, output, record);
        break;
    default:
        break;
    }
}

static void
write_text(film_value_json *json, film_output *output, const film_token *token,
           uint64_t bound, bool *cut)
{
    film_renderer renderer =
        film_renderer_of(json->reader, &json->text, json->text_left);
    film_text text;

    renderer.bound = bound;
    film_buffer_clear(&json->text);
    film_render_token(&renderer, token);
    film_buffer_put_byte(&json->text, 0);
    text.data = json->text.failed ? "" : (const char *)json->text.data;
    text.length = json->text.failed ? 0 : json->text.length - 1;
    FILM_OUTPUT_LITERAL(output, "{\"text\":");
    film_output_json(output, text);
    *cut = renderer.cut;
    json->text_left -= text.length < json->text_left ? text.length : json->text_left;
}

/* The fields of a namedtuple, and the parts that a note has: {"year": 2024, ...}. */
static void
write_parts(film_value_json *json, film_output *output, uint64_t id, unsigned depth)
{
    film_value_record record;
    bool any = false, items = false;

    for (uint64_t index = 0; depth < FILM_RENDER_DEPTH; index++) {
        uint8_t bytes[ITEM_BYTES];
        film_part part;
        size_t length;

        if (film_reader_record(json->reader, id, &record, NULL) != FILM_OK) {
            break;
        }
        part = film_note_part_at(json->reader, &record, index);
        length = film_input_left(&part.token);
        if ((part.kind != FILM_PART_TOKEN && part.kind != FILM_PART_ITEM) ||
            length > sizeof(bytes) || (any && (part.kind == FILM_PART_ITEM) != items)) {
            break;
        }
        items = part.kind == FILM_PART_ITEM;
        film_output_text(output, any ? "," : items ? ",\"fields\":[" : ",\"parts\":{");
        any = true;
        film_output_json(output, part.name);
        if (!items) {
            memcpy(bytes, part.token.at, length);
            film_output_byte(output, ':');
            write_item(json, output, 0, film_input_of(bytes, length), depth + 1);
        }
    }
    if (any) {
        film_output_byte(output, items ? ']' : '}');
    }
}

static void
write_value(film_value_json *json, film_output *output, const film_token *token,
            unsigned depth)
{
    uint64_t bound = json->bound;
    film_value_record record;
    film_value value;
    bool is_record, cut;

    json->left -= json->left > 0;
    write_text(json, output, token, bound, &cut);
    is_record = film_token_describe(json->reader, token, &value, &record);
    FILM_OUTPUT_LITERAL(output, ",\"type\":");
    film_output_json(output, value.type);
    if (value.is_object) {
        FILM_OUTPUT_LITERAL(output, ",\"object\":");
        film_output_u64(output, value.object);
    }
    if (value.length >= 0) {
        FILM_OUTPUT_LITERAL(output, ",\"length\":");
        film_output_u64(output, (uint64_t)value.length);
    }
    if ((token->kind == FILM_TOKEN_VALUE || token->kind == FILM_TOKEN_OBJECT) &&
        token->value < bound) {
        json->bound = token->value; /* records refer to earlier ones only */
        if (!write_tensor(json, output, token->value)) {
            write_parts(json, output, token->value, depth);
        }
        else {
            is_record = false;
        }
        if (is_record) {
            write_content(json, output, &record, ",\"items\":", depth);
        }
        else if (token->kind == FILM_TOKEN_OBJECT && is_new(json, token->value) &&
                 film_reader_record(json->reader, token->value, &record, NULL) ==
                     FILM_OK &&
                 record.form == FILM_OBJECT_ATTRIBUTES) {
            write_content(json, output, &record, ",\"first\":", depth);
        }
        json->bound = bound;
    }
    if (value.cut || cut) {
        FILM_OUTPUT_LITERAL(output, ",\"cut\":true");
    }
    if (value.redacted) {
        FILM_OUTPUT_LITERAL(output, ",\"redacted\":true");
    }
    film_output_byte(output, '}');
}

void
film_value_json_write(film_value_json *json, film_output *output,
                      const film_event *event, uint32_t index)
{
    film_input input = film_input_of(event->tokens, event->tokens_length);
    film_token token;

    film_tokens_skip(&input, index);
    token = film_token_decode(&input);
    json->left = VALUE_LIMIT;
    json->text_left = TEXT_LIMIT;
    json->bound = UINT64_MAX;
    film_buffer_clear(&json->items);
    write_value(json, output, &token, 0);
}
