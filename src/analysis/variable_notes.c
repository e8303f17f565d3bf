/* variable_notes.c: objects whose text shows their attributes (dataclasses, enum members,
 * paths): what those hold by now, put in the place of what the record tells.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/variables_state.h"

#include <string.h>

#include "base/hash.h"
#include "reader/reader_state.h"
#include "reader/render.h"

#define MOST_NAMES 64u /* shown of one object */

/* Names of attributes, each once. */
typedef struct name_list {
    uint32_t names[MOST_NAMES];
    uint32_t count;
    bool full;
} name_list;

static void
add_name(name_list *list, uint32_t name)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->names[i] == name) {
            return;
        }
    }
    if (list->count == MOST_NAMES) {
        list->full = true;
        return;
    }
    list->names[list->count++] = name;
}

/* --- names that the record does not have ------------------------------------------- */

/* Kept as varints; one more than fits is a 0. */
void
film_variables_note_name(film_variables *variables, uint64_t serial, uint32_t name)
{
    film_recent_key at = film_variable_address(FILM_ABOUT_NAMES, serial, 0);
    const film_recent_entry *found = film_recent_find(&variables->table, at);
    uint8_t bytes[FILM_RECENT_BYTES + FILM_VARINT_MAX];
    size_t length = found == NULL ? 0 : found->length;
    film_input input;

    if (found != NULL) {
        memcpy(bytes, found->bytes, length);
    }
    input = film_input_of(bytes, length);
    while (film_input_left(&input) > 0) {
        uint32_t known = film_input_varint32(&input);

        if (known == name || known == 0 || input.failed) {
            return;
        }
    }
    length = (size_t)(film_varint_encode(bytes + length, name) - bytes);
    if (length + 1 > FILM_RECENT_BYTES) {
        length = (found == NULL ? 0 : found->length) + 1;
        bytes[length - 1] = 0;
    }
    film_recent_put(&variables->table, at, bytes, length);
}

static void
add_written(film_variables *variables, uint64_t serial, name_list *list)
{
    const film_recent_entry *found = film_recent_find(
        &variables->table, film_variable_address(FILM_ABOUT_NAMES, serial, 0));
    film_input input;

    if (found == NULL) {
        return;
    }
    input = film_input_of(found->bytes, found->length);
    while (film_input_left(&input) > 0) {
        uint32_t name = film_input_varint32(&input);

        if (name == 0 || input.failed) {
            list->full = true;
            return;
        }
        add_name(list, name);
    }
}

/* --- names that the note has ------------------------------------------------------- */

static void
add_recorded(const film_value_record *record, name_list *list)
{
    film_input input = record->rest;

    for (uint64_t i = 0; i < record->count && !input.failed; i++) {
        uint32_t name = film_input_varint32(&input);

        film_tokens_skip(&input, 1);
        if (!input.failed) {
            add_name(list, name);
        }
    }
}

/* The string of that text among those of the list, or of all; 0: there is none. */
static uint32_t
find_name(film_variables *variables, const name_list *list, film_text text)
{
    const film_tables *tables = &variables->reader->tables;
    uint64_t hash = film_hash(text.data, text.length) | 1;
    film_found_name *known;

    for (uint32_t i = 0; i < list->count; i++) {
        if (film_text_is(film_tables_string(tables, list->names[i]), text.data,
                         text.length)) {
            return list->names[i];
        }
    }
    known = &variables->found[hash % FILM_FOUND_NAMES];
    if (known->hash != hash ||
        (known->id == 0 && known->among != tables->string_count)) {
        *known = (film_found_name){.hash = hash,
                                   .among = tables->string_count,
                                   .id = film_tables_find(tables, text)};
    }
    return known->id;
}

/* What the object's text shows, whatever its record tells. */
static void
add_noted(film_variables *variables, const film_value_record *record, name_list *list)
{
    film_text names =
        film_tables_string(&variables->reader->tables, record->note.names);
    film_text text;

    while (film_note_names(&names, &text)) {
        uint32_t name = find_name(variables, list, text);

        if (name != 0) {
            add_name(list, name);
        }
    }
}

/* --- the record as it is by now ------------------------------------------------------ */

/* The record that the object has by now, under which its attributes are kept; gives its
 * id. */
static uint64_t
take_newest(film_variables *variables, uint64_t id, film_value_record *record)
{
    uint64_t last = film_content_record(variables, record->serial);
    film_value_record newest;

    if (last <= id + 1) {
        return id;
    }
    if (film_reader_record(variables->reader, last - 1, &newest, NULL) == FILM_OK &&
        newest.serial == record->serial &&
        film_note_needs_attributes(variables->reader, &newest)) {
        *record = newest;
        return last - 1;
    }
    if (film_reader_record(variables->reader, id, record, NULL) != FILM_OK) {
        record->count = 0;
    }
    return id;
}

/* A dataclass: its attributes are written to. Of a UUID or an enum member one that may
 * have been is told all the same. */
static bool
shows_fields(film_reader *reader, const film_value_record *record)
{
    film_text text = film_tables_string(&reader->tables, record->note.text);

    return text.length > 0 && memchr(text.data, FILM_HOLE_FIELDS, text.length) != NULL;
}

void
film_variables_renew(void *context, uint64_t id, film_value_record *record, bool held)
{
    film_variables *variables = context;
    film_reader *reader = variables->reader;
    film_value_record told;
    name_list list = {.count = 0};
    uint64_t count = 0;
    bool changes;

    (void)held; /* what was changed in place since is renewed below */
    if (!film_note_needs_attributes(reader, record)) {
        return;
    }
    id = take_newest(variables, id, record);
    told = *record;
    changes = shows_fields(reader, record);
    add_recorded(record, &list);
    add_noted(variables, record, &list);
    if (film_note_shows_all(reader, record)) {
        add_written(variables, record->serial, &list);
    }
    film_buffer_clear(&variables->noted);
    for (uint32_t i = 0; i < list.count; i++) {
        film_past_value value;
        bool sure,
            found = film_attribute_now(variables, id + 1, list.names[i], &sure, &value);

        list.full = list.full || (!sure && (changes || !found));
        if (found && (sure || !changes)) {
            film_past_renew(variables, &value);
            film_buffer_put_varint(&variables->noted, list.names[i]);
            film_buffer_append(&variables->noted, value.bytes, value.length);
            count++;
        }
    }
    /* Looking at the attributes may have taken the record away. */
    if (film_reader_record(reader, id, record, NULL) != FILM_OK) {
        *record = told;
        record->count = 0;
        record->flags |= FILM_VALUE_CUT;
        return;
    }
    if (!variables->noted.failed) {
        record->count = count;
        record->rest = film_input_of(variables->noted.data, variables->noted.length);
        record->flags |= list.full ? FILM_VALUE_CUT : 0;
    }
}
