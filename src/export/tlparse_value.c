/* tlparse_value.c: values as torchdbg's _json() writes them: scalars as they are, lists
 * and tuples as lists, dicts as objects, a tensor as its dtype and shape, an nn.Module
 * as "Module()", anything else as its repr() or, where that is long, its type's.
 *
 * What torchdbg cannot say or JSON not hold: nan and inf are strings; what a recording
 * has cut ends in "..."; what was taken out is "[redacted]".
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/tlparse_state.h"

#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/json_writer.h"
#include "reader/literal.h"
#include "reader/render.h"

#define LITERAL(out, text) film_buffer_append((out), (text), sizeof(text) - 1)

/* Longer texts become their type's (torchdbg). */
#define TEXT_LENGTH 100u
/* The most bytes that many characters have, and one more. */
#define TEXT_BYTES (4u * TEXT_LENGTH + 4u)
#define DEPTH 8u
/* Digits of an int that every reader of JSON takes. */
#define INT_DIGITS 300u

static void
put_value(film_tlparse *to, film_buffer *out, film_moment moment,
          const film_datum *value, unsigned depth);

static bool
is(film_text text, const char *word)
{
    return text.length == strlen(word) && memcmp(text.data, word, text.length) == 0;
}

void
film_tlparse_separate(film_buffer *out)
{
    uint8_t last = out->length == 0 ? '[' : out->data[out->length - 1];

    if (last != '[' && last != '{') {
        LITERAL(out, ", ");
    }
}

static size_t
count_characters(film_text text)
{
    size_t count = 0;

    for (size_t i = 0; i < text.length; i++) {
        count += ((uint8_t)text.data[i] & 0xc0) != 0x80;
    }
    return count;
}

static void
put_type(film_buffer *out, film_text type)
{
    film_buffer text = {0};

    LITERAL(&text, "<class '");
    film_buffer_append(&text, type.data, type.length);
    LITERAL(&text, "'>");
    if (text.failed) {
        out->failed = true;
    }
    else {
        film_trace_put_text(out, (film_text){(const char *)text.data, text.length});
    }
    film_buffer_reset(&text);
}

/* repr(), or repr(type) where that is long. */
static void
put_repr(film_tlparse *to, film_buffer *out, film_moment moment,
         const film_datum *value)
{
    film_value shown;
    film_status status =
        film_timeline_text(to->timeline, moment, value, TEXT_BYTES, &shown, NULL);

    if (status != FILM_OK) {
        out->failed = true;
        return;
    }
    if (shown.type.length > 0 &&
        (shown.cut || count_characters(shown.text) > TEXT_LENGTH)) {
        put_type(out, shown.type);
    }
    else {
        film_trace_put_text(out, shown.text);
    }
}

static void
put_float(film_buffer *out, double number)
{
    if (isfinite(number)) {
        film_literal_float(out, number);
        return;
    }
    film_buffer_put_byte(out, '"');
    film_literal_float(out, number);
    film_buffer_put_byte(out, '"');
}

static void
put_str(film_buffer *out, const film_value_record *record)
{
    film_text text = {(const char *)record->rest.at, film_input_left(&record->rest)};

    film_trace_put_text(out, text);
    if ((record->flags & FILM_VALUE_CUT) != 0 && !out->failed) {
        out->length--;
        LITERAL(out, "...\"");
    }
}

/* One that is no object: a long str, int or bytes, a complex. */
static void
put_plain(film_tlparse *to, film_buffer *out, film_moment moment,
          const film_datum *value, const film_value_record *record)
{
    film_text type = film_reader_string(to->reader, record->type);
    size_t before = out->length;

    if (is(type, "str")) {
        put_str(out, record);
        return;
    }
    if (is(type, "int") && (record->flags & FILM_VALUE_CUT) == 0) {
        film_literal_big_int(out, record->rest.at, film_input_left(&record->rest));
        if (out->failed ||
            (out->length - before <= INT_DIGITS && out->data[out->length - 1] <= '9')) {
            return;
        }
        out->length = before;
    }
    put_repr(to, out, moment, value);
}

static bool
is_tensor(film_tlparse *to, const film_value_record *record)
{
    film_text type = film_short_name(film_reader_string(to->reader, record->type));
    film_text names = film_reader_string(to->reader, record->note.names);

    if (record->form != FILM_OBJECT_ARRAY) {
        return false;
    }
    if ((record->flags & FILM_VALUE_NOTED) != 0) {
        return names.length >= 7 && memcmp(names.data, "storage", 7) == 0;
    }
    return !is(type, "ndarray") && !is(type, "memmap") && !is(type, "matrix");
}

/* Reads the newer record of the same tensor, where there is one. False: it cannot. */
static bool
renew(film_tlparse *to, const film_datum *value, film_value_record *record)
{
    uint64_t serial = record->serial, id = film_datum_token(value).value, newer;

    if (to->renewed.length == 0) {
        return true;
    }
    for (size_t at = 0; at + sizeof(newer) <= to->renewed.length; at += sizeof(newer)) {
        memcpy(&newer, to->renewed.data + at, sizeof(newer));
        if (film_reader_serial(to->reader, newer) == serial) {
            id = newer;
        }
    }
    return film_reader_record(to->reader, id, record, NULL) == FILM_OK &&
           record->form == FILM_OBJECT_ARRAY;
}

static void
put_tensor(film_tlparse *to, film_buffer *out, const film_value_record *record)
{
    film_input input = record->rest;
    film_buffer shape = {0};
    film_text dtype;

    for (uint64_t i = 0; i < record->count && !input.failed; i++) {
        if (i > 0) {
            LITERAL(&shape, ", ");
        }
        film_literal_int(&shape, (int64_t)film_input_varint(&input));
    }
    dtype = film_reader_string(to->reader, film_input_varint32(&input));
    LITERAL(out, "{\"dtype\": \"torch.");
    film_buffer_append(out, dtype.data, dtype.length);
    LITERAL(out, "\", \"shape\": [");
    film_buffer_append(out, shape.data, shape.length);
    LITERAL(out, "]}");
    out->failed = out->failed || shape.failed;
    film_buffer_reset(&shape);
}

/* The key of a dict: a str, or what json.dumps makes of None, a bool or a number. */
static void
put_key(film_tlparse *to, film_buffer *out, film_moment moment, const film_datum *key)
{
    size_t before = out->length;

    put_value(to, out, moment, key, DEPTH);
    if (out->failed || out->length == before || out->data[before] == '"') {
        return;
    }
    if (out->data[before] != '{' && out->data[before] != '[') {
        film_buffer_put_byte(out, '"');
        if (film_buffer_reserve(out, 1) != NULL) {
            memmove(out->data + before + 1, out->data + before, out->length - before);
            out->data[before] = '"';
            out->length++;
        }
        return;
    }
    out->length = before; /* no key of a dict in Python's JSON */
    put_repr(to, out, moment, key);
}

static void
put_more(film_buffer *out, const film_content *content)
{
    char text[48];
    int64_t more = content->length - (int64_t)content->count;

    if (!content->cut && more <= 0) {
        return;
    }
    film_tlparse_separate(out);
    snprintf(text, sizeof(text), more > 0 ? "\"... %lld more\"" : "\"...\"",
             (long long)more);
    film_buffer_append_text(out, text);
    if (content->form == FILM_OBJECT_MAPPING) {
        LITERAL(out, ": \"...\"");
    }
}

/* A list or dict; the items are copied, because theirs are looked up by the same
 * timeline. */
static void
put_items(film_tlparse *to, film_buffer *out, film_moment moment,
          const film_content *content, unsigned depth)
{
    bool mapping = content->form == FILM_OBJECT_MAPPING;
    film_item *items = film_alloc((content->count + 1) * sizeof(*items));

    if (items == NULL) {
        out->failed = true;
        return;
    }
    if (content->count > 0) {
        memcpy(items, content->items, content->count * sizeof(*items));
    }
    film_buffer_put_byte(out, mapping ? '{' : '[');
    for (size_t i = 0; i < content->count && !out->failed; i++) {
        film_tlparse_separate(out);
        if (mapping) {
            put_key(to, out, moment, &items[i].key);
            LITERAL(out, ": ");
        }
        put_value(to, out, moment, &items[i].value, depth + 1);
    }
    put_more(out, content);
    film_buffer_put_byte(out, mapping ? '}' : ']');
    film_free(items);
}

/* Sets and deques are no lists for torchdbg; nor are frozensets and arrays. */
static bool
is_list(film_text type, const film_value_record *record)
{
    uint8_t base = (record->flags & FILM_VALUE_NOTED) != 0
                       ? record->note.base & FILM_BASE_ITEMS
                       : FILM_BASE_NONE;

    if (base == FILM_BASE_SET || base == FILM_BASE_FROZEN) {
        return false;
    }
    type = film_short_name(type);
    return !is(type, "set") && !is(type, "frozenset") && !is(type, "deque") &&
           !is(type, "array");
}

/* An instance whose attributes are those that torch.nn.Module makes first. */
static bool
is_module(const film_content *content)
{
    unsigned found = 0;

    for (size_t i = 0; i < content->count; i++) {
        found += is(content->items[i].name, "_parameters") ||
                 is(content->items[i].name, "_buffers") ||
                 is(content->items[i].name, "_modules");
    }
    return found == 3;
}

static void
put_object(film_tlparse *to, film_buffer *out, film_moment moment,
           const film_datum *value, film_value_record *record, unsigned depth)
{
    film_text type = film_reader_string(to->reader, record->type);
    bool items = record->form == FILM_OBJECT_MAPPING ||
                 (record->form == FILM_OBJECT_SEQUENCE && is_list(type, record));
    film_content content;

    if (is_tensor(to, record)) {
        if (renew(to, value, record)) {
            put_tensor(to, out, record);
        }
        else {
            put_repr(to, out, moment, value);
        }
        return;
    }
    if (depth < DEPTH && to->values_left > 0 &&
        (items || record->form == FILM_OBJECT_ATTRIBUTES)) {
        film_status status =
            film_timeline_content(to->timeline, moment, value, &content, NULL);
        if (status == FILM_NO_MEMORY) {
            out->failed = true;
            return;
        }
        if (status == FILM_OK && items) {
            put_items(to, out, moment, &content, depth);
            return;
        }
        if (status == FILM_OK && is_module(&content)) {
            LITERAL(out, "\"Module()\"");
            return;
        }
    }
    put_repr(to, out, moment, value);
}

static void
put_record(film_tlparse *to, film_buffer *out, film_moment moment,
           const film_datum *value, uint64_t id, unsigned depth)
{
    film_value_record record;
    film_status status = film_reader_record(to->reader, id, &record, NULL);

    if (status == FILM_NO_MEMORY) {
        out->failed = true;
    }
    else if (status != FILM_OK) {
        put_repr(to, out, moment, value); /* says that it is gone */
    }
    else if (record.form == 0 && (record.flags & FILM_VALUE_REDACTED) == 0) {
        put_plain(to, out, moment, value, &record);
    }
    else {
        put_object(to, out, moment, value, &record, depth);
    }
}

static void
put_value(film_tlparse *to, film_buffer *out, film_moment moment,
          const film_datum *value, unsigned depth)
{
    film_token token = film_datum_token(value);

    to->values_left -= to->values_left > 0;
    switch (value->length == 0 ? FILM_TOKEN_UNBOUND : token.kind) {
    case FILM_TOKEN_NONE:
        LITERAL(out, "null");
        break;
    case FILM_TOKEN_FALSE:
        LITERAL(out, "false");
        break;
    case FILM_TOKEN_TRUE:
        LITERAL(out, "true");
        break;
    case FILM_TOKEN_INT:
        film_literal_int(out, token.integer);
        break;
    case FILM_TOKEN_FLOAT:
        put_float(out, token.number);
        break;
    case FILM_TOKEN_SHORT_TEXT:
        film_trace_put_text(out, (film_text){token.text.data, token.text.length});
        break;
    case FILM_TOKEN_REDACTED:
        LITERAL(out, "\"[redacted]\"");
        break;
    case FILM_TOKEN_VALUE:
    case FILM_TOKEN_OBJECT:
        put_record(to, out, moment, value, token.value, depth);
        break;
    case FILM_TOKEN_UNBOUND:
    case FILM_TOKEN_CYCLE:
    default:
        put_repr(to, out, moment, value);
        break;
    }
}

void
film_tlparse_put_value(film_tlparse *to, film_buffer *out, film_moment moment,
                       const film_datum *value)
{
    put_value(to, out, moment, value, 0);
}
