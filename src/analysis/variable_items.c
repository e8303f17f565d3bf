/* variable_items.c: what containers held, item by item: the content told last, and the
 * writes to items since.
 *
 * Items are kept under the content they were written after, so that a new one makes
 * those before it unknown. An item that was not written since is looked up in the
 * content itself; not where the table may have forgotten a write since, for then the
 * content would tell what is no longer so.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/variables_state.h"

#include <string.h>

#include "base/hash.h"
#include "reader/reader_state.h"
#include "reader/render.h"

/* An entry about content: this, then the token. */
typedef struct content_head {
    uint32_t forgotten; /* of items, by the table, when the first one was written */
    uint8_t written;    /* items were, since */
} content_head;

#define HEAD_BYTES 5u
#define NESTED_LEVELS 4u /* that are looked at: records hold no more by default */

/* A content and the container it is of. */
typedef struct container {
    uint64_t serial;
    uint64_t record; /* id + 1 of its content; 0: not known */
    content_head head;
} container;

static film_recent_key
content_address(uint64_t serial)
{
    return film_variable_address(FILM_ABOUT_CONTENT, serial, 0);
}

static void
put_content(film_variables *variables, uint64_t serial, const content_head *head,
            const uint8_t *token, size_t length)
{
    uint8_t bytes[FILM_RECENT_BYTES];

    if (length > sizeof(bytes) - HEAD_BYTES) {
        return;
    }
    memcpy(bytes, &head->forgotten, sizeof(head->forgotten));
    bytes[HEAD_BYTES - 1] = head->written;
    memcpy(bytes + HEAD_BYTES, token, length);
    film_recent_put(&variables->table, content_address(serial), bytes,
                    HEAD_BYTES + length);
}

/* True where the content is known. */
static bool
find_content(film_variables *variables, uint64_t serial, content_head *head,
             film_past_value *token)
{
    const film_recent_entry *found =
        film_recent_find(&variables->table, content_address(serial));

    if (found == NULL || found->length < HEAD_BYTES) {
        return false;
    }
    memcpy(&head->forgotten, found->bytes, sizeof(head->forgotten));
    head->written = found->bytes[HEAD_BYTES - 1];
    token->length = (uint8_t)(found->length - HEAD_BYTES);
    memcpy(token->bytes, found->bytes + HEAD_BYTES, token->length);
    return true;
}

/* The record that tells what the object holds; -1: not known. */
static int64_t
known_record(film_variables *variables, uint64_t serial, bool *written)
{
    film_past_value known;
    content_head head;
    film_token token;

    if (!find_content(variables, serial, &head, &known)) {
        return -1;
    }
    film_past_read(&known, &token);
    *written = head.written;
    return (int64_t)token.value;
}

void
film_content_note_record(film_variables *variables, const film_told *object,
                         uint64_t serial)
{
    content_head head = {0};
    bool written;

    if (known_record(variables, serial, &written) < (int64_t)object->token.value) {
        put_content(variables, serial, &head, object->bytes, object->length);
    }
}

void
film_content_note(film_variables *variables, const film_told *value, uint64_t serial)
{
    content_head head = {0};
    film_object_head object;
    bool written = false;

    if (value->token.kind == FILM_TOKEN_OBJECT && serial != 0 &&
        film_object_head_of(variables->reader, value->token.value, &object) &&
        object.has_attributes) {
        film_content_note_record(variables, value, serial);
        return;
    }
    if (value->token.kind != FILM_TOKEN_VALUE || serial == 0 ||
        (known_record(variables, serial, &written) == (int64_t)value->token.value &&
         !written)) {
        return;
    }
    put_content(variables, serial, &head, value->bytes, value->length);
    film_within_note(variables, value);
}

void
film_content_note_within(film_variables *variables, const film_told *value,
                         uint64_t serial)
{
    content_head head = {0};
    bool written;

    if (value->token.kind == FILM_TOKEN_VALUE &&
        known_record(variables, serial, &written) < (int64_t)value->token.value) {
        put_content(variables, serial, &head, value->bytes, value->length);
    }
}

uint64_t
film_content_record(film_variables *variables, uint64_t serial)
{
    bool written;

    return (uint64_t)(known_record(variables, serial, &written) + 1);
}

/* True when the object was told anew, or an item of it written, since a record that
 * has this token. Records come in the order of their ids. */
static bool
is_outdated(film_variables *variables, const film_token *token)
{
    uint64_t serial = film_serial_of(variables, token);
    film_past_value told;
    content_head head;
    film_token content;

    if (serial == 0 || !find_content(variables, serial, &head, &told)) {
        return false;
    }
    film_past_read(&told, &content);
    return content.value > token->value ||
           (head.written && content.value == token->value);
}

/* True for a tuple or frozenset without objects in it: nothing within is written. */
static bool
is_fixed(film_variables *variables, uint64_t id)
{
    film_object_head head;

    return film_object_head_of(variables->reader, id, &head) && head.is_fixed;
}

/* True when nothing within the record's object was written since. */
static bool
is_current(film_variables *variables, uint64_t id, unsigned levels)
{
    film_value_record record;
    film_buffer tokens = {0}; /* looking at others reads over this one */
    film_input input;
    bool current = true;
    uint64_t count;

    if (film_reader_record(variables->reader, id, &record, NULL) != FILM_OK ||
        (record.form != FILM_OBJECT_MAPPING && record.form != FILM_OBJECT_SEQUENCE)) {
        return true;
    }
    film_buffer_append(&tokens, record.rest.at, film_input_left(&record.rest));
    input = film_input_of(tokens.data, tokens.length);
    count = record.form == FILM_OBJECT_MAPPING ? 2 * record.count : record.count;
    for (; count > 0 && !input.failed && current; count--) {
        film_token token = film_token_decode(&input);

        current = input.failed || token.kind != FILM_TOKEN_VALUE ||
                  (!is_outdated(variables, &token) &&
                   (levels == 0 || is_fixed(variables, token.value) ||
                    is_current(variables, token.value, levels - 1)));
    }
    film_buffer_reset(&tokens);
    return current;
}

void
film_content_doubt(film_variables *variables, film_past_value *past)
{
    film_token content;
    uint8_t *end;

    film_past_read(past, &content);
    if (content.kind == FILM_TOKEN_VALUE &&
        !is_current(variables, content.value, NESTED_LEVELS)) {
        end = film_token_put_value(past->bytes, FILM_TOKEN_OBJECT, content.value);
        past->length = (uint8_t)(end - past->bytes);
    }
}

bool
film_content_find(film_variables *variables, uint64_t serial, film_past_value *out)
{
    content_head head;
    film_token content;

    if (!find_content(variables, serial, &head, out)) {
        return false;
    }
    film_past_read(out, &content);
    if (head.written && content.kind == FILM_TOKEN_VALUE) {
        /* It holds something else by now: which object it is, that is sure. */
        uint8_t *end =
            film_token_put_value(out->bytes, FILM_TOKEN_OBJECT, content.value);
        out->length = (uint8_t)(end - out->bytes);
    }
    return true;
}

/* The container with that token; serial 0: not known. Something within another
 * container is told in that one's record; the writes to its items since are all known
 * if none was forgotten. */
static container
container_of(film_variables *variables, const film_token *owner)
{
    container result = {.serial = film_serial_of(variables, owner)};
    film_past_value token;
    bool known = false;

    if (result.serial != 0 &&
        find_content(variables, result.serial, &result.head, &token)) {
        film_token content; /* UNBOUND, if it makes no sense */

        film_past_read(&token, &content);
        known = content.kind == FILM_TOKEN_VALUE;
        result.record = known ? content.value + 1 : 0;
    }
    if (result.serial != 0 && film_record_of(owner) > result.record &&
        (known || film_variables_are_whole(variables))) {
        result.record = film_record_of(owner);
        result.head = (content_head){0};
    }
    return result;
}

/* --- keys --- */

/* Equal keys have equal hashes where they are scalars, or containers of them. */
static uint64_t
hash_key(film_variables *variables, const film_told *key)
{
    film_text text;
    bool cut;

    if (key->token.kind == FILM_TOKEN_TRUE || key->token.kind == FILM_TOKEN_FALSE) {
        return film_digest_mix(1, key->token.kind == FILM_TOKEN_TRUE);
    }
    if (key->token.kind == FILM_TOKEN_INT) {
        return film_digest_mix(1, (uint64_t)key->token.integer);
    }
    if (key->token.kind != FILM_TOKEN_VALUE || key->length > FILM_TOKEN_MAX) {
        return film_hash(key->bytes, key->length);
    }
    if (film_token_text(variables->reader, &key->token, FILM_KEY_TEXT, &text, &cut) !=
        FILM_OK) {
        return 0;
    }
    return film_hash(text.data, text.length);
}

/* A key of a sequence that counts from its end counts from its start then. */
static void
count_from_start(film_variables *variables, const container *of, film_told *key)
{
    film_value_record record;

    if (key->token.kind == FILM_TOKEN_INT && key->token.integer < 0 &&
        of->record != 0 &&
        film_reader_record(variables->reader, of->record - 1, &record, NULL) ==
            FILM_OK &&
        (record.form == FILM_OBJECT_SEQUENCE || record.form == FILM_OBJECT_BYTES) &&
        record.length > 0) {
        key->token.integer += record.length;
    }
}

static film_recent_key
item_address(film_variables *variables, const container *of, const film_told *key)
{
    /* The serial is spread first: mixed as they are, neighbours would meet. */
    uint64_t told = film_digest_mix(film_digest_mix(0, of->serial), of->record);

    return film_variable_address(FILM_ABOUT_ITEM, told, hash_key(variables, key));
}

/* The first write to an item since the content was told. What is not known for sure is
 * kept as such: nothing will be looked up there. */
static void
note_first_write(film_variables *variables, const film_token *owner, container *of)
{
    content_head head = {.forgotten = film_variables_items_forgotten(variables),
                         .written = 1};
    uint8_t token[FILM_TOKEN_MAX], *end;

    if (of->record == 0) {
        of->record = film_record_of(owner);
        head.forgotten--;
    }
    if (of->record != 0) {
        end = film_token_put_value(token, FILM_TOKEN_VALUE, of->record - 1);
        put_content(variables, of->serial, &head, token, (size_t)(end - token));
    }
}

void
film_item_note(film_variables *variables, film_write *write)
{
    static const uint8_t gone = FILM_TOKEN_UNBOUND;
    container of = container_of(variables, &write->owner.token);
    const film_told *value = &write->value;
    uint64_t serial;

    if (of.serial == 0) {
        return;
    }
    count_from_start(variables, &of, &write->key);
    serial = value->length == 0 ? 0 : film_serial_of(variables, &value->token);
    if (serial != 0) {
        film_within_note_item(variables, of.serial, &write->key, serial);
    }
    if (!of.head.written) {
        note_first_write(variables, &write->owner.token, &of);
    }
    film_recent_put(&variables->table, item_address(variables, &of, &write->key),
                    value->length == 0 ? &gone : value->bytes,
                    value->length == 0 ? sizeof(gone) : value->length);
}

/* --- what the content says --- */

static bool
find_in_mapping(film_variables *variables, film_input *input, uint64_t count,
                const film_told *key, film_past_value *out)
{
    uint64_t wanted = hash_key(variables, key);

    for (uint64_t index = 0; index < count && !input->failed; index++) {
        film_told one, value;

        film_told_read(input, &one);
        film_told_read(input, &value);
        if (one.length > 0 && hash_key(variables, &one) == wanted) {
            return film_told_give(&value, out);
        }
    }
    return false;
}

static bool
find_in_sequence(film_input *input, uint64_t count, const film_told *key,
                 film_past_value *out)
{
    film_told value;

    if (key->token.kind != FILM_TOKEN_INT || key->token.integer < 0 ||
        (uint64_t)key->token.integer >= count) {
        return false;
    }
    film_tokens_skip(input, (uint32_t)key->token.integer);
    film_told_read(input, &value);
    return film_told_give(&value, out);
}

static bool
find_in_bytes(const film_value_record *record, const film_told *key,
              film_past_value *out)
{
    if (key->token.kind != FILM_TOKEN_INT || key->token.integer < 0 ||
        (uint64_t)key->token.integer >= film_input_left(&record->rest)) {
        return false;
    }
    out->length =
        (uint8_t)(film_token_put_int(out->bytes, record->rest.at[key->token.integer]) -
                  out->bytes);
    return true;
}

static bool
find_in_content(film_variables *variables, const container *of, const film_told *key,
                film_past_value *out)
{
    film_value_record record;
    film_input input;

    if (film_reader_record(variables->reader, of->record - 1, &record, NULL) !=
        FILM_OK) {
        return false;
    }
    if (record.form == FILM_OBJECT_BYTES) {
        return find_in_bytes(&record, key, out);
    }
    if (record.form != FILM_OBJECT_MAPPING && record.form != FILM_OBJECT_SEQUENCE) {
        return false;
    }
    /* Copied: looking at keys may read other records over this one. */
    film_buffer_clear(&variables->items);
    film_buffer_append(&variables->items, record.rest.at,
                       film_input_left(&record.rest));
    if (variables->items.failed) {
        film_buffer_reset(&variables->items);
        return false;
    }
    input = film_input_of(variables->items.data, variables->items.length);
    return record.form == FILM_OBJECT_MAPPING
               ? find_in_mapping(variables, &input, record.count, key, out)
               : find_in_sequence(&input, record.count, key, out);
}

static bool
find_item(film_variables *variables, const container *of, const film_told *key,
          film_past_value *out)
{
    const film_recent_entry *found =
        film_recent_find(&variables->table, item_address(variables, of, key));

    if (found != NULL) {
        film_told told = {.bytes = found->bytes, .length = found->length};

        return found->bytes[0] != FILM_TOKEN_UNBOUND && film_told_give(&told, out);
    }
    return of->record != 0 &&
           (!of->head.written ||
            of->head.forgotten == film_variables_items_forgotten(variables)) &&
           find_in_content(variables, of, key, out);
}

bool
film_item_before(film_variables *variables, film_write *write, film_past_value *out)
{
    container of = container_of(variables, &write->owner.token);

    if (of.serial == 0) {
        return false;
    }
    count_from_start(variables, &of, &write->key);
    return find_item(variables, &of, &write->key, out);
}

bool
film_item_find(film_variables *variables, uint64_t serial, const film_told *key,
               film_past_value *out)
{
    container of = {.serial = serial};
    film_past_value told;
    film_token token;

    if (!find_content(variables, serial, &of.head, &told)) {
        return false;
    }
    film_past_read(&told, &token);
    of.record = token.value + 1;
    return find_item(variables, &of, key, out);
}
