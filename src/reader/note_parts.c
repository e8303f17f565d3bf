/* note_parts.c: see note_parts.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reader/note_parts.h"

#include "reader/reader_state.h"
#include "reader/render.h"

/* _value_ is what the program calls value. */
static film_text
without_underscores(film_text name)
{
    while (name.length > 1 && name.data[0] == '_') {
        name.data++;
        name.length--;
    }
    while (name.length > 1 && name.data[name.length - 1] == '_') {
        name.length--;
    }
    return name;
}

static film_input
token_at(const film_value_record *record, uint64_t index)
{
    film_input input = record->note.tokens, behind;

    film_tokens_skip(&input, (uint32_t)index);
    behind = input;
    film_tokens_skip(&behind, 1);
    return film_input_of(input.at, (size_t)(behind.at - input.at));
}

/* The names are those of the tokens, else of the items or attributes. */
static film_part
part_of(const film_value_record *record, uint64_t index, film_text name)
{
    film_part part = {.kind = FILM_PART_NONE, .index = index, .name = name};

    if (index < record->note.count) {
        part.kind = FILM_PART_TOKEN;
        part.token = token_at(record, index);
    }
    else if (record->form == FILM_OBJECT_SEQUENCE && record->note.count == 0) {
        part.kind = FILM_PART_ITEM;
    }
    else if (record->form == FILM_OBJECT_ATTRIBUTES && record->note.count == 0) {
        part.kind = FILM_PART_ATTRIBUTE;
    }
    return part;
}

film_part
film_note_part_at(film_reader *reader, const film_value_record *record, uint64_t index)
{
    film_text names, name = {"", 0};
    uint64_t left = index + 1;

    if ((record->flags & FILM_VALUE_NOTED) == 0) {
        return (film_part){.kind = FILM_PART_NONE};
    }
    names = film_tables_string(&reader->tables, record->note.names);
    while (left > 0) {
        if (!film_note_names(&names, &name)) {
            return (film_part){.kind = FILM_PART_NONE};
        }
        left--;
    }
    return part_of(record, index, name);
}

film_part
film_note_part(film_reader *reader, const film_value_record *record, film_text name)
{
    film_part part = {.kind = FILM_PART_NONE};
    uint64_t index = 0;

    do {
        film_text bare;

        part = film_note_part_at(reader, record, index++);
        bare = without_underscores(part.name);
        if (part.kind != FILM_PART_NONE &&
            (film_text_is(part.name, name.data, name.length) ||
             film_text_is(bare, name.data, name.length))) {
            return part;
        }
    } while (part.kind != FILM_PART_NONE);
    return part;
}

/* What the attribute of that name held when the record was made; false: it has none. */
static bool
recorded_attribute(film_reader *reader, const film_value_record *record,
                   film_text wanted, film_token *token)
{
    film_input input = record->rest;

    for (uint64_t i = 0; i < record->count && !input.failed; i++) {
        film_text name =
            film_tables_string(&reader->tables, film_input_varint32(&input));

        film_token_read(&input, token);
        if (!input.failed && film_text_is(name, wanted.data, wanted.length)) {
            return true;
        }
    }
    return false;
}

bool
film_note_scalar(film_reader *reader, const film_value_record *record,
                 film_token *token)
{
    film_text text = film_tables_string(&reader->tables, record->note.text);
    film_input input;

    if ((record->flags & FILM_VALUE_NOTED) != 0 &&
        (record->note.base & FILM_BASE_IS_VALUE) != 0 &&
        record->form == FILM_OBJECT_ATTRIBUTES) {
        return recorded_attribute(reader, record, (film_text){"_value_", 7}, token);
    }
    if ((record->flags & FILM_VALUE_NOTED) == 0 || record->note.count != 1 ||
        film_tables_string(&reader->tables, record->note.names).length != 0 ||
        (memchr(text.data, FILM_HOLE_VALUE, text.length) == NULL &&
         memchr(text.data, FILM_HOLE_SINGLE, text.length) == NULL &&
         memchr(text.data, FILM_HOLE_HALF, text.length) == NULL)) {
        return false;
    }
    input = token_at(record, 0);
    film_token_read(&input, token);
    return !input.failed;
}
