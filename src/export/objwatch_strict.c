/* objwatch_strict.c: what ObjWatch sees when it looks. Its rules, and so its losses:
 *   - a look comes when a line begins; what the last line of a function did to its
 *     variables is never seen, to `self` at the next look at that object;
 *   - a container bound anew counts as the same if it still is one: no line;
 *   - the length of containers within `self` is taken anew, without a line, whenever a
 *     method of it begins or ends;
 *   - callables, `__slots__`, deletes and items are not looked at.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/objwatch_view.h"
#include "reader/reader_state.h"

static const film_held none; /* there was no value: shown as None */

/* A container of a class of Python code that weak references can be made of in the way
 * ObjWatch asks for: made of list or dict themselves. Their notes are the items as such;
 * a Counter's, whose class is Python code, shows counts. */
static bool
is_own_container(film_objwatch *view, const film_seen_object *object)
{
    film_value_record record;
    film_text text;

    if ((object->flags & FILM_VALUE_NOTED) == 0 ||
        film_reader_record(view->reader, object->record - 1, &record, NULL) !=
            FILM_OK) {
        return false;
    }
    text = film_reader_string(view->reader, record.note.text);
    return record.note.base == FILM_BASE_COUNTS ||
           ((record.note.base == FILM_BASE_LIST ||
             record.note.base == FILM_BASE_DICT) &&
            text.length == 1 && text.data[0] == FILM_HOLE_ITEMS);
}

/* ObjWatch follows an object's `__dict__`. */
static bool
can_be_tracked(film_objwatch *view, const film_seen_object *object)
{
    if (object == NULL || (object->flags & FILM_VALUE_SLOTS) != 0) {
        return false;
    }
    return object->form == FILM_OBJECT_ATTRIBUTES ||
           ((object->form == FILM_OBJECT_SEQUENCE ||
             object->form == FILM_OBJECT_MAPPING) &&
            is_own_container(view, object));
}

static void
take_length(film_objwatch *view, film_seen_variable *variable)
{
    int64_t length = film_objwatch_length(&view->state, &variable->now);

    if (length >= 0) {
        variable->old_length = length;
    }
}

static bool
is_seen(film_objwatch *view, const film_seen_variable *variable)
{
    return variable->now.length > 0 &&
           !film_objwatch_is_callable(&view->state, &variable->now);
}

static bool
is_seen_attribute(film_objwatch *view, const film_seen_object *object,
                  const film_seen_variable *variable)
{
    return is_seen(view, variable) &&
           !film_objwatch_is_slot(&view->config,
                                  film_reader_string(view->reader, object->type),
                                  film_reader_string(view->reader, variable->name));
}

void
film_objwatch_meet(film_objwatch *view, film_seen_frame *frame, bool begins)
{
    film_seen_object *self = film_watch_object(&view->state, &frame->self);

    if (view->mode == FILM_OBJWATCH_FULL) {
        return;
    }
    if (can_be_tracked(view, self)) {
        for (size_t i = 0; i < self->attributes.count; i++) {
            film_seen_variable *variable = &self->attributes.items[i];
            if (!self->tracked && is_seen_attribute(view, self, variable)) {
                variable->was = true;
                variable->old = variable->now;
            }
            take_length(view, variable);
        }
        self->tracked = true;
    }
    for (size_t i = 0; begins && i < frame->locals.count; i++) {
        film_seen_variable *variable = &frame->locals.items[i];
        variable->was = is_seen(view, variable);
        variable->old = variable->now;
        variable->old_length = -1;
        take_length(view, variable);
    }
}

/* One variable against what it was. A local that was not there is told whatever it
 * holds; of anything else no value and None are the same. */
static void
compare(film_objwatch *view, film_objwatch_line *line, film_seen_variable *variable,
        bool is_local)
{
    const film_held *old = variable->was ? &variable->old : &none;
    int64_t length = film_objwatch_length(&view->state, &variable->now);
    bool measured = variable->old_length >= 0 && length >= 0;
    bool was_none = old->length == 0 || film_held_token(old).kind == FILM_TOKEN_NONE;
    bool is_none = film_held_token(&variable->now).kind == FILM_TOKEN_NONE;

    line->name = film_reader_string(view->reader, variable->name);
    if (is_local && !variable->was) {
        film_objwatch_tell_value(view, line, &none, &variable->now);
    }
    else if ((was_none && is_none) ||
             (!was_none && film_held_is(&view->state, old, &variable->now))) {
        if (measured && length != variable->old_length) {
            film_text type = film_objwatch_type(
                &view->state, film_watch_object(&view->state, &variable->now));
            film_objwatch_tell_length(view, line, type, variable->old_length, length);
        }
    }
    else if (!measured) {
        film_objwatch_tell_value(view, line, old, &variable->now);
    }
    variable->was = true;
    variable->old = variable->now;
    take_length(view, variable);
}

static void
look_at_self(film_objwatch *view, film_seen_frame *frame, film_objwatch_line line)
{
    const film_code *code = film_reader_code(view->reader, frame->code);
    film_seen_object *self = film_watch_object(&view->state, &frame->self);

    if (self == NULL || !self->tracked || code == NULL ||
        self->attributes.looked == view->state.time) {
        return;
    }
    line.owner = film_objwatch_type(&view->state, self);
    for (size_t i = 0; i < self->attributes.count; i++) {
        film_seen_variable *variable = &self->attributes.items[i];
        if (is_seen_attribute(view, self, variable) &&
            film_objwatch_shows_attribute(
                &view->config, code, line.owner,
                film_reader_string(view->reader, variable->name))) {
            compare(view, &line, variable, false);
        }
    }
    self->attributes.looked = view->state.time;
}

static void
look_at_locals(film_objwatch *view, film_seen_frame *frame, film_objwatch_line line)
{
    if (!view->config.with_locals || frame->locals.looked == view->state.time) {
        return;
    }
    line.owner = film_text_of("_");
    for (size_t i = 0; i < frame->locals.count; i++) {
        film_seen_variable *variable = &frame->locals.items[i];
        if (!film_objwatch_shows_local(view, variable->name)) {
            continue;
        }
        if (is_seen(view, variable)) {
            compare(view, &line, variable, true);
        }
        else {
            variable->was = false;
        }
    }
    frame->locals.looked = view->state.time;
}

static void
look_at_globals(film_objwatch *view, film_seen_frame *frame, film_objwatch_line line)
{
    const film_code *code = film_reader_code(view->reader, frame->code);
    film_seen_scope *scope = !view->config.with_globals || code == NULL
                                 ? NULL
                                 : film_watch_globals(&view->state, code->module);

    if (scope == NULL || scope->looked == view->state.time) {
        return;
    }
    line.owner = film_text_of("@");
    for (size_t i = 0; i < scope->count; i++) {
        film_seen_variable *variable = &scope->items[i];
        if (variable->now.length > 0 &&
            film_objwatch_shows_global(
                &view->config, code->module,
                film_reader_string(view->reader, variable->name))) {
            compare(view, &line, variable, false);
        }
    }
    scope->looked = view->state.time;
}

void
film_objwatch_look(film_objwatch *view, const film_event *event, film_seen_frame *frame)
{
    uint32_t now = film_reader_event_line(view->reader, event);
    uint32_t shown = view->mode == FILM_OBJWATCH_OLD || frame->last_line == 0
                         ? now
                         : frame->last_line;
    film_objwatch_line line = film_objwatch_begin(view, event, "upd", shown);

    look_at_self(view, frame, line);
    look_at_locals(view, frame, line);
    look_at_globals(view, frame, line);
}
