/* describe.c: what is known of a value besides its text: its type, serial, length.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "reader/render.h"
#include "reader/tensors.h"

static film_text
text_of(const char *text)
{
    film_text result = {text, strlen(text)};

    return result;
}

film_text
film_short_name(film_text type)
{
    for (size_t i = type.length; i > 0; i--) {
        if (type.data[i - 1] == '.') {
            type.data += i;
            type.length -= i;
            break;
        }
    }
    return type;
}

/* True for a tuple or frozenset that holds no objects: it stays what it is. */
static bool
is_fixed(film_reader *reader, const film_value_record *record)
{
    film_input input = record->rest;
    film_text type = film_tables_string(&reader->tables, record->type);

    if (record->form != FILM_OBJECT_SEQUENCE ||
        (!film_text_is(type, "tuple", 5) && !film_text_is(type, "frozenset", 9))) {
        return false;
    }
    for (uint64_t i = 0; i < record->count && !input.failed; i++) {
        film_token_kind kind = film_token_decode(&input).kind;

        if (kind == FILM_TOKEN_VALUE || kind == FILM_TOKEN_OBJECT ||
            kind == FILM_TOKEN_CYCLE) {
            return false;
        }
    }
    return !input.failed;
}

const film_object_head *
film_object_head_read(film_reader *reader, uint64_t id)
{
    film_object_head *known = &reader->object_heads[id % FILM_OBJECT_HEADS];
    film_value_record record;

    if (film_reader_record(reader, id, &record, NULL) != FILM_OK) {
        return NULL;
    }
    known->id = id + 1;
    known->serial = record.serial;
    known->is_object = record.form != 0 && record.serial != 0;
    known->is_fixed = is_fixed(reader, &record);
    known->type = record.type;
    known->is_plain = ((record.flags & FILM_VALUE_NOTED) == 0 ||
                       (record.form != FILM_OBJECT_ATTRIBUTES &&
                        record.form != FILM_OBJECT_OPAQUE)) &&
                      record.form != FILM_OBJECT_ARRAY &&
                      record.form != FILM_OBJECT_NAMED &&
                      record.form != FILM_OBJECT_EXCEPTION;
    known->is_tensor = film_record_is_tensor(reader, &record);
    known->has_attributes = record.form == FILM_OBJECT_ATTRIBUTES;
    known->shows_all = known->has_attributes && film_note_shows_all(reader, &record);
    return known;
}

/* The type of what a token holds itself. */
static film_text
plain_type(film_token_kind kind)
{
    switch (kind) {
    case FILM_TOKEN_NONE:
        return text_of("NoneType");
    case FILM_TOKEN_FALSE:
    case FILM_TOKEN_TRUE:
        return text_of("bool");
    case FILM_TOKEN_INT:
        return text_of("int");
    case FILM_TOKEN_FLOAT:
        return text_of("float");
    case FILM_TOKEN_SHORT_TEXT:
        return text_of("str");
    case FILM_TOKEN_UNBOUND:
    case FILM_TOKEN_REDACTED:
    case FILM_TOKEN_VALUE:
    case FILM_TOKEN_OBJECT:
    case FILM_TOKEN_CYCLE:
    default:
        return text_of("");
    }
}

bool
film_token_describe(film_reader *reader, const film_token *token, film_value *out,
                    film_value_record *record)
{
    film_object_head head;

    memset(out, 0, sizeof(*out));
    out->type = plain_type(token->kind);
    out->length = -1;
    out->redacted = token->kind == FILM_TOKEN_REDACTED;
    if (token->kind == FILM_TOKEN_CYCLE) {
        out->type = film_tables_string(&reader->tables, token->type);
        out->object = token->value;
        out->is_object = true;
    }
    else if (token->kind == FILM_TOKEN_SHORT_TEXT) {
        return false;
    }
    else if (token->kind == FILM_TOKEN_OBJECT &&
             film_object_head_of(reader, token->value, &head)) {
        out->type = film_tables_string(&reader->tables, head.type);
        out->object = head.serial;
        out->is_object = true;
    }
    else if ((token->kind == FILM_TOKEN_VALUE || token->kind == FILM_TOKEN_OBJECT) &&
             film_reader_record(reader, token->value, record, NULL) == FILM_OK) {
        out->type = film_tables_string(&reader->tables, record->type);
        out->object = record->serial;
        out->is_object = record->form != 0 && record->serial != 0;
        out->length = record->length;
        out->cut = (record->flags & FILM_VALUE_CUT) != 0;
        out->redacted = (record->flags & FILM_VALUE_REDACTED) != 0;
        return true;
    }
    return false;
}
