/* variable_attributes.c: what attributes of objects held.
 *
 * An attribute that was written is kept under the record that its owner had then: code
 * that is not recorded may have changed the object since, and then it has a new record.
 * One that was not written since is looked up in the record itself, as long as no write
 * may have been forgotten.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/variables_state.h"

#include <string.h>

#include "base/hash.h"
#include "reader/reader_state.h"
#include "reader/render.h"

#define SHOWN_VALUE 48u      /* bytes of an attribute's value in a list of them */
#define MOST_ATTRIBUTES 512u /* looked at: a recorder keeps no more (--items) */

/* An object and the record it has: id + 1; 0: its records tell no attributes. */
typedef struct attributed {
    uint64_t serial, record;
    bool shows_all;  /* its text shows whatever attributes it has */
    uint64_t module; /* hash of a module's name; 0: it is none */
} attributed;

/* A module's attributes are the globals of its code. */
static uint64_t
module_hash(film_variables *variables, uint64_t id, uint32_t type)
{
    static const char word[] = "module";
    film_value_record record;
    film_text name;

    if (!film_text_is(film_reader_string(variables->reader, type), word,
                      sizeof(word) - 1) ||
        film_reader_record(variables->reader, id, &record, NULL) != FILM_OK ||
        record.form != FILM_OBJECT_NAMED) {
        return 0;
    }
    name = film_reader_string(variables->reader, film_input_varint32(&record.rest));
    return film_hash(name.data, name.length);
}

/* The object whose record it is; serial 0: not known. */
static attributed
object_of(film_variables *variables, uint64_t record)
{
    attributed result = {0};
    film_object_head head;

    if (record != 0 && film_object_head_of(variables->reader, record - 1, &head)) {
        result.serial = head.serial;
        if (head.has_attributes) {
            result.record = record;
            result.shows_all = head.shows_all;
        }
        else {
            result.module = module_hash(variables, record - 1, head.type);
        }
    }
    return result;
}

static film_recent_key
attribute_address(attributed of, uint32_t name)
{
    if (of.module != 0) {
        return film_variable_address(FILM_ABOUT_GLOBAL, of.module, name);
    }
    return film_variable_address(
        FILM_ABOUT_ATTRIBUTE, film_digest_mix(film_digest_mix(0, of.serial), of.record),
        name);
}

void
film_attribute_note(film_variables *variables, const film_write *write)
{
    static const uint8_t gone = FILM_TOKEN_UNBOUND;
    const film_told *value = &write->value;
    attributed of = object_of(variables, film_record_of(&write->owner.token));
    film_recent_key at = attribute_address(of, write->event->name);

    if (of.serial == 0) {
        return;
    }
    if (of.record != 0 && film_recent_find(&variables->table, at) == NULL) {
        film_content_note_record(variables, &write->owner, of.serial);
    }
    film_recent_put(&variables->table, at, value->length == 0 ? &gone : value->bytes,
                    value->length == 0 ? sizeof(gone) : value->length);
    if (of.shows_all) {
        film_variables_note_name(variables, of.serial, write->event->name);
    }
}

/* What a record says of the attribute. */
static bool
find_in_record(film_variables *variables, uint64_t record, uint32_t name,
               film_past_value *out)
{
    film_value_record content;

    if (film_reader_record(variables->reader, record - 1, &content, NULL) != FILM_OK ||
        content.form != FILM_OBJECT_ATTRIBUTES) {
        return false;
    }
    for (uint64_t i = 0; i < content.count && i < MOST_ATTRIBUTES; i++) {
        uint32_t one = film_input_varint32(&content.rest);
        film_told value;

        film_told_read(&content.rest, &value);
        if (one == name || content.rest.failed) {
            return film_told_give(&value, out);
        }
    }
    return false;
}

/* *sure: no write to it since can have been forgotten. */
static bool
find_attribute(film_variables *variables, attributed of, uint32_t name, bool *sure,
               film_past_value *out)
{
    const film_recent_entry *found =
        film_recent_find(&variables->table, attribute_address(of, name));

    *sure = found != NULL || film_variables_keep_attributes(variables);
    if (found != NULL) {
        film_told told = {.bytes = found->bytes, .length = found->length};

        return found->bytes[0] != FILM_TOKEN_UNBOUND && film_told_give(&told, out);
    }
    return of.record != 0 && find_in_record(variables, of.record, name, out);
}

bool
film_attribute_now(film_variables *variables, uint64_t record, uint32_t name,
                   bool *sure, film_past_value *out)
{
    return find_attribute(variables, object_of(variables, record), name, sure, out);
}

bool
film_attribute_before(film_variables *variables, const film_write *write,
                      film_past_value *out)
{
    attributed of = object_of(variables, film_record_of(&write->owner.token));
    bool sure;

    return of.serial != 0 &&
           find_attribute(variables, of, write->event->name, &sure, out) && sure;
}

bool
film_attribute_holds(film_variables *variables, uint64_t record, uint32_t name,
                     uint64_t serial)
{
    attributed of = object_of(variables, record);
    film_past_value value;
    film_token token;
    bool sure;

    if (of.serial == 0 || !find_attribute(variables, of, name, &sure, &value)) {
        return false;
    }
    film_past_read(&value, &token);
    return film_serial_of(variables, &token) == serial;
}

/* --- what a change did to them --- */

/* The attributes of a record, copied: looking at values reads others over it. */
typedef struct attributes {
    film_buffer bytes;
    film_input input;
    uint64_t left;
    bool cut; /* there are more */
} attributes;

static bool
open_attributes(film_variables *variables, uint64_t record, attributes *out)
{
    film_value_record content;

    memset(out, 0, sizeof(*out));
    if (record == 0 ||
        film_reader_record(variables->reader, record - 1, &content, NULL) != FILM_OK ||
        content.form != FILM_OBJECT_ATTRIBUTES) {
        return false;
    }
    film_buffer_append(&out->bytes, content.rest.at, film_input_left(&content.rest));
    out->input = film_input_of(out->bytes.data, out->bytes.length);
    out->left = out->bytes.failed                 ? 0
                : content.count < MOST_ATTRIBUTES ? content.count
                                                  : MOST_ATTRIBUTES;
    out->cut = (content.flags & FILM_VALUE_CUT) != 0;
    return true;
}

static bool
next_attribute(attributes *from, uint32_t *name, film_told *value)
{
    if (from->left == 0 || from->input.failed) {
        return false;
    }
    from->left--;
    *name = film_input_varint32(&from->input);
    film_told_read(&from->input, value);
    return value->length != 0;
}

static bool
has_attribute(const attributes *from, uint32_t wanted)
{
    attributes all = *from;
    film_told value;
    uint32_t name;

    while (next_attribute(&all, &name, &value)) {
        if (name == wanted) {
            return true;
        }
    }
    return false;
}

static void
append_value(film_variables *variables, const uint8_t *bytes, size_t length,
             film_buffer *out)
{
    film_input input = film_input_of(bytes, length);
    film_token token = film_token_decode(&input);
    film_renderer renderer =
        film_renderer_of(variables->reader, out, out->length + SHOWN_VALUE);

    film_render_token(&renderer, &token);
}

/* The list of changes that is being written. */
typedef struct change_list {
    film_variables *variables;
    film_buffer *out;
    size_t start;
    attributed before;
    film_attribute_visitor *visit; /* may be NULL */
    void *context;
} change_list;

static void
begin_change(const change_list *list, const char *word, uint32_t name)
{
    film_text text = film_reader_string(list->variables->reader, name);

    if (list->out->length > list->start) {
        film_buffer_append_text(list->out, ", ");
    }
    film_buffer_append_text(list->out, word);
    film_buffer_append(list->out, text.data, text.length);
}

static void
tell_visitor(const change_list *list, uint32_t name)
{
    if (list->visit != NULL) {
        list->visit(list->context, film_reader_string(list->variables->reader, name));
    }
}

/* `name old -> new`; nothing, and false, where both look the same. */
static bool
append_changed(const change_list *list, uint32_t name, const film_told *value)
{
    film_buffer *out = list->out;
    size_t start = out->length, old, now, length;
    film_past_value past;
    bool sure = false;
    bool known = find_attribute(list->variables, list->before, name, &sure, &past);

    begin_change(list, "", name);
    old = out->length;
    if (known) {
        film_past_renew(list->variables, &past);
        film_buffer_put_byte(out, ' ');
        append_value(list->variables, past.bytes, past.length, out);
    }
    length = out->length - old;
    film_buffer_append_text(out, " ->");
    now = out->length;
    film_buffer_put_byte(out, ' ');
    append_value(list->variables, value->bytes, value->length, out);
    if (!known || out->failed) {
        return true;
    }
    if (length == out->length - now &&
        memcmp(out->data + old, out->data + now, length) == 0) {
        out->length = start;
        return false;
    }
    if (!sure) { /* it may have been something else by then */
        memmove(out->data + old, out->data + old + length, out->length - old - length);
        out->length -= length;
    }
    return true;
}

static void
append_removed(const change_list *list, const attributes *now, size_t limit)
{
    attributes had;
    film_told value;
    uint32_t name;

    if (now->cut || !open_attributes(list->variables, list->before.record, &had)) {
        return;
    }
    while (list->out->length < limit && next_attribute(&had, &name, &value)) {
        film_past_value past;
        bool sure;

        if (!has_attribute(now, name) &&
            find_attribute(list->variables, list->before, name, &sure, &past)) {
            begin_change(list, "del ", name);
            tell_visitor(list, name);
        }
    }
    film_buffer_reset(&had.bytes);
}

bool
film_variables_changed_attributes(film_variables *variables, const film_event *event,
                                  size_t limit, film_buffer *out,
                                  film_attribute_visitor *visit, void *context)
{
    film_told value;
    film_write write;
    change_list list = {.variables = variables,
                        .out = out,
                        .start = out->length,
                        .visit = visit,
                        .context = context};
    attributes now, all;
    uint32_t name;

    film_write_read(event, &write);
    list.before.serial = film_serial_of(variables, &write.value.token);
    list.before.record = film_content_record(variables, list.before.serial);
    if (list.before.record == 0 ||
        !open_attributes(variables, film_record_of(&write.value.token), &now)) {
        return false;
    }
    limit += list.start;
    all = now;
    while (out->length < limit && next_attribute(&all, &name, &value)) {
        if (append_changed(&list, name, &value)) {
            tell_visitor(&list, name);
        }
    }
    append_removed(&list, &now, limit);
    if (out->length >= limit) {
        film_buffer_append_text(out, ", ...");
    }
    film_buffer_reset(&now.bytes);
    return !out->failed && out->length > list.start;
}
