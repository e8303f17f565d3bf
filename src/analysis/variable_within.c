/* variable_within.c: which container holds an object, and under which key, so that it
 * can be named `rows[3]` or `graph['a']` where no variable or attribute holds it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/variables_state.h"

#include <string.h>

#include "reader/reader_state.h"
#include "reader/render.h"

static void
keep_place(film_variables *variables, uint64_t serial, uint64_t owner,
           const uint8_t *key, size_t length)
{
    uint8_t bytes[2 * FILM_TOKEN_MAX];
    uint8_t *end = film_varint_encode(bytes, owner);

    if (length == 0 || length > FILM_TOKEN_MAX) {
        return;
    }
    memcpy(end, key, length);
    film_recent_put(&variables->table,
                    film_variable_address(FILM_ABOUT_WITHIN, serial, 0), bytes,
                    (size_t)(end - bytes) + length);
}

static void
note_items(film_variables *variables, uint64_t id, unsigned levels);

/* A key or the name of an attribute. */
typedef struct place {
    uint64_t owner; /* serial */
    uint64_t record;
    film_told key;
    uint32_t name; /* not 0: an attribute's */
} place;

static void
note_item(film_variables *variables, const place *at, const film_told *item,
          unsigned levels)
{
    uint64_t serial = item->token.value;
    film_object_head head;

    if (item->token.kind != FILM_TOKEN_CYCLE) {
        if (!film_object_head_of(variables->reader, item->token.value, &head) ||
            head.is_fixed) {
            return; /* nothing, or nothing that is ever written to */
        }
        serial = head.serial;
    }
    if (serial == 0) {
        return;
    }
    if (at->name != 0) {
        film_note_holder(variables, serial, at->record, at->name);
    }
    else {
        keep_place(variables, serial, at->owner, at->key.bytes, at->key.length);
    }
    film_content_note_within(variables, item, serial);
    if (levels > 1 && item->token.kind == FILM_TOKEN_VALUE) {
        note_items(variables, item->token.value, levels - 1);
    }
}

static void
note_items(film_variables *variables, uint64_t id, unsigned levels)
{
    film_value_record record;
    film_buffer *tokens = &variables->within[levels - 1];
    film_input input;

    if (film_reader_record(variables->reader, id, &record, NULL) != FILM_OK ||
        (record.form != FILM_OBJECT_MAPPING && record.form != FILM_OBJECT_SEQUENCE &&
         record.form != FILM_OBJECT_ATTRIBUTES)) {
        return;
    }
    /* Copied: looking at others reads over this one. */
    film_buffer_clear(tokens);
    film_buffer_append(tokens, record.rest.at, film_input_left(&record.rest));
    if (tokens->failed) {
        film_buffer_reset(tokens);
        return;
    }
    input = film_input_of(tokens->data, tokens->length);
    for (uint64_t index = 0; index < record.count && !input.failed; index++) {
        uint8_t number[FILM_TOKEN_MAX];
        place at = {.owner = record.serial, .record = id + 1, .key = {.bytes = number}};
        film_told item;

        if (record.form == FILM_OBJECT_MAPPING) {
            film_told_read(&input, &at.key);
        }
        else if (record.form == FILM_OBJECT_ATTRIBUTES) {
            at.name = film_input_varint32(&input);
        }
        film_told_read(&input, &item);
        if (film_record_of(&item.token) == 0 && item.token.kind != FILM_TOKEN_CYCLE) {
            continue; /* most containers hold scalars only */
        }
        if (record.form == FILM_OBJECT_SEQUENCE) {
            at.key.length =
                (size_t)(film_token_put_int(number, (int64_t)index) - number);
        }
        note_item(variables, &at, &item, levels);
    }
}

void
film_within_note(film_variables *variables, const film_told *value)
{
    if (value->token.kind == FILM_TOKEN_VALUE) {
        note_items(variables, value->token.value, FILM_NOTED_LEVELS);
    }
}

void
film_within_note_item(film_variables *variables, uint64_t owner, const film_told *key,
                      uint64_t serial)
{
    uint8_t number[FILM_TOKEN_MAX], *end;

    if (key->token.kind != FILM_TOKEN_INT) {
        keep_place(variables, serial, owner, key->bytes, key->length);
        return;
    }
    end = film_token_put_int(number, key->token.integer); /* not as from the end */
    keep_place(variables, serial, owner, number, (size_t)(end - number));
}

bool
film_within_find(film_variables *variables, uint64_t serial, uint64_t *owner,
                 film_told *key)
{
    const film_recent_entry *found = film_recent_find(
        &variables->table, film_variable_address(FILM_ABOUT_WITHIN, serial, 0));
    film_input input;
    film_past_value item;
    film_token token;

    if (found == NULL) {
        return false;
    }
    input = film_input_of(found->bytes, found->length);
    *owner = film_input_varint(&input);
    film_told_read(&input, key);
    if (key->length == 0 || !film_item_find(variables, *owner, key, &item)) {
        return false;
    }
    film_past_read(&item, &token);
    return film_serial_of(variables, &token) == serial;
}
