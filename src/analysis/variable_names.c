/* variable_names.c: how the source would name what an event writes to.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/variables_state.h"

#include <string.h>

#include "analysis/closures.h"
#include "reader/render.h"

/* self.a[0].b is as long as names get. */
#define NAME_DEPTH 4u

/* A name that is being put together. */
typedef struct name {
    film_buffer *out;
    film_bare_name bare;
} name;

/* The variable, attribute or global itself. */
static void
append_bare(name *to, film_text text)
{
    to->bare.start = to->out->length;
    film_buffer_append(to->out, text.data, text.length);
    to->bare.end = to->out->length;
}

/* Whether the entry is a value that is the object with this serial. */
static bool
holds(film_variables *variables, const film_recent_entry *held, uint64_t serial)
{
    return held != NULL && film_held_serial(variables, held) == serial;
}

/* Whether the variable `slot` of the event's frame holds the object. */
static bool
local_holds(film_variables *variables, const film_event *event, uint32_t slot,
            uint64_t serial)
{
    return holds(
        variables,
        film_recent_find(&variables->table, film_local_address(variables, event, slot)),
        serial);
}

/* The variable of the event's frame that holds the object, or UINT32_MAX. One that
 * functions share may have got it in another frame. */
static uint32_t
slot_of(film_variables *variables, const film_event *event, const film_code *code,
        uint64_t serial)
{
    const film_recent_entry *named = film_recent_find(
        &variables->table,
        film_frame_address(variables, FILM_ABOUT_NAMED, event, serial));
    uint32_t slot;

    if (named != NULL && named->length == sizeof(slot)) {
        memcpy(&slot, named->bytes, sizeof(slot));
        if (slot < code->local_count && local_holds(variables, event, slot, serial)) {
            return slot;
        }
    }
    for (slot = 0; slot < code->local_count; slot++) {
        if ((code->local_kinds[slot] & FILM_LOCAL_SHARED) != 0 &&
            local_holds(variables, event, slot, serial)) {
            return slot;
        }
    }
    return UINT32_MAX;
}

/* The local of the event's frame that holds the object; the empty text: none. */
static film_text
local_name(film_variables *variables, const film_event *event, uint64_t serial)
{
    const film_code *code = film_reader_code(variables->reader, event->code);
    uint32_t slot = code == NULL ? UINT32_MAX : slot_of(variables, event, code, serial);
    film_text none = {"", 0};

    return slot == UINT32_MAX
               ? none
               : film_reader_string(variables->reader, code->locals[slot]);
}

static bool
name_object(film_variables *variables, const film_event *event, uint64_t serial,
            unsigned depth, name *to);

static void
append_key(film_variables *variables, const film_told *key, film_buffer *out)
{
    film_renderer renderer =
        film_renderer_of(variables->reader, out, out->length + FILM_KEY_TEXT);

    film_buffer_put_byte(out, '[');
    film_render_token(&renderer, &key->token);
    film_buffer_put_byte(out, ']');
}

/* self.x or a global; the same. */
static bool
name_held(film_variables *variables, const film_event *event, uint64_t serial,
          unsigned depth, name *to)
{
    const film_recent_entry *held = film_recent_find(
        &variables->table, film_variable_address(FILM_ABOUT_HOLDER, serial, 0));
    film_held_by by;

    if (held == NULL || held->length != sizeof(by)) {
        return false;
    }
    memcpy(&by, held->bytes, sizeof(by));
    if (by.owner != 0) {
        film_object_head owner;

        if (!film_attribute_holds(variables, by.owner, by.name, serial) ||
            !film_object_head_of(variables->reader, by.owner - 1, &owner) ||
            !name_object(variables, event, owner.serial, depth - 1, to)) {
            return false;
        }
        film_buffer_put_byte(to->out, '.');
    }
    append_bare(to, film_reader_string(variables->reader, by.name));
    return true;
}

/* rows[3], graph['a']; the same. */
static bool
name_within(film_variables *variables, const film_event *event, uint64_t serial,
            unsigned depth, name *to)
{
    uint64_t owner;
    film_told key;

    if (!film_within_find(variables, serial, &owner, &key) ||
        !name_object(variables, event, owner, depth - 1, to)) {
        return false;
    }
    append_key(variables, &key, to->out);
    return true;
}

/* x, self.x, self.x[0].y or a global. False: it has no name here, nothing is appended.
 */
static bool
name_object(film_variables *variables, const film_event *event, uint64_t serial,
            unsigned depth, name *to)
{
    film_text local = local_name(variables, event, serial);

    if (local.length > 0) {
        append_bare(to, local);
        return true;
    }
    return depth > 0 && (name_held(variables, event, serial, depth, to) ||
                         name_within(variables, event, serial, depth, to));
}

/* The object's name, or <Name #serial>, or the value itself. */
static void
name_value(film_variables *variables, const film_event *event, const film_told *value,
           name *to)
{
    uint64_t serial = film_serial_of(variables, &value->token);
    film_renderer renderer =
        film_renderer_of(variables->reader, to->out, to->out->length + FILM_KEY_TEXT);
    film_token token = value->token;
    film_object_head head;

    if (serial != 0 && name_object(variables, event, serial, NAME_DEPTH, to)) {
        return;
    }
    if (token.kind == FILM_TOKEN_OBJECT &&
        film_object_head_of(variables->reader, token.value, &head) &&
        head.has_attributes) { /* by its serial, whatever it shows of itself */
        film_render_object_name(
            to->out, film_reader_string(variables->reader, head.type), serial);
        return;
    }
    if (token.kind == FILM_TOKEN_VALUE && serial != 0) {
        token.kind = FILM_TOKEN_OBJECT; /* by its serial, without its content */
    }
    film_render_token(&renderer, &token);
}

static void
name_written(film_variables *variables, const film_event *event, name *to)
{
    film_write write;

    film_write_read(event, &write);
    if (event->kind == FILM_KIND_CHANGE) {
        name_value(variables, event, &write.value, to);
        return;
    }
    if (write.owner.length == 0) {
        append_bare(to, film_reader_event_name(variables->reader, event));
        return;
    }
    name_value(variables, event, &write.owner, to);
    if (event->form == FILM_SET_ITEM || event->form == FILM_SET_ITEM_VIA) {
        append_key(variables, &write.key, to->out);
    }
    else {
        film_buffer_put_byte(to->out, '.');
        append_bare(to, film_reader_event_name(variables->reader, event));
    }
}

void
film_variables_name(film_variables *variables, const film_event *event,
                    film_buffer *out, film_bare_name *bare)
{
    name to = {.out = out};

    name_written(variables, event, &to);
    if (bare != NULL) {
        *bare = to.bare;
    }
}
