/* objwatch_full.c: writes, deletes and changes: kept in the state, and told as they
 * happened.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/objwatch_view.h"

#include <string.h>

#include "analysis/closures.h"

typedef struct write {
    film_held owner, key, value;
    uint32_t name;
    bool deletes;
} write;

/* The tokens of a set or delete, in the order of their roles. */
static write
take_write(film_objwatch *view, const film_event *event)
{
    film_input input = film_input_of(event->tokens, event->tokens_length);
    write taken = {.deletes = event->kind == FILM_KIND_DELETE, .name = event->name};

    for (uint32_t i = 0; i < event->token_count && i < 3; i++) {
        film_held held = film_watch_take(&view->state, &input);

        if (held.length == 0 && !input.failed) {
            held.length =
                1; /* a value that could not be read: it is one all the same */
        }

        if ((int)i == film_event_value_index(event, FILM_ROLE_OWNER)) {
            taken.owner = held;
        }
        else if ((int)i == film_event_value_index(event, FILM_ROLE_KEY)) {
            taken.key = held;
        }
        else {
            taken.value = held;
        }
    }
    return taken;
}

static bool
tells(const film_objwatch *view, const film_seen_frame *frame)
{
    return view->mode == FILM_OBJWATCH_FULL && frame != NULL && frame->traced;
}

/* Puts the value in its place and tells it. A plain value written again is no news. */
static void
put(film_objwatch *view, film_objwatch_line *line, film_seen_variable *variable,
    const write *taken, bool told)
{
    film_held before = variable->now;

    variable->now = taken->value;
    view->state.time++;
    if (!told) {
        return;
    }
    line->name = film_reader_string(view->reader, variable->name);
    if (taken->deletes) {
        film_buffer_clear(&view->before);
        film_objwatch_put_value(&view->state, &view->before, &before,
                                view->config.wrapper == FILM_WRAPPER_SHAPE);
        line->word = "del";
        line->before = film_buffer_text(&view->before);
        view->write(view->context, line);
    }
    else if (before.length == 0 ||
             film_held_token(&taken->value).kind == FILM_TOKEN_UNBOUND ||
             !film_held_is(&view->state, &before, &taken->value)) {
        film_objwatch_tell_value(view, line, &before, &taken->value);
    }
}

/* A variable of a function around is written: that function has it too. */
static void
put_outer(film_objwatch *view, const film_event *event, const write *taken)
{
    film_seen_thread *thread = film_watch_thread(&view->state, event->thread);
    const film_code *code = film_reader_code(view->reader, event->code);

    for (size_t at = thread == NULL ? 0 : thread->depth; at > 1; at--) {
        film_seen_frame *outer = thread->stack[at - 2];
        const film_code *around = film_reader_code(view->reader, outer->code);
        film_seen_variable *variable =
            around == NULL || !film_code_encloses(around, code)
                ? NULL
                : film_scope_find(&view->state, &outer->locals, taken->name, false);
        if (variable != NULL) {
            variable->now = taken->value;
            return;
        }
    }
}

static void
take_local(film_objwatch *view, const film_event *event, film_seen_frame *frame,
           write *taken, film_objwatch_line *line)
{
    const film_code *code = film_reader_code(view->reader, event->code);
    film_seen_variable *variable;

    if (frame == NULL || code == NULL) {
        return;
    }
    if (event->form == FILM_SET_LOCAL) {
        if (event->slot >= code->local_count) {
            return;
        }
        taken->name = code->locals[event->slot];
        if ((code->local_kinds[event->slot] & FILM_LOCAL_FREE) != 0) {
            put_outer(view, event, taken);
        }
    }
    variable = film_scope_find(&view->state, &frame->locals, taken->name, true);
    if (variable == NULL) {
        return;
    }
    if (film_objwatch_is_self(view, taken->name)) {
        frame->self = taken->value;
    }
    line->owner = film_text_of("_");
    put(view, line, variable, taken,
        tells(view, frame) && film_objwatch_shows_local(view, taken->name));
}

static void
take_global(film_objwatch *view, const film_event *event, film_seen_frame *frame,
            write *taken, film_objwatch_line *line)
{
    const film_code *code = film_reader_code(view->reader, event->code);
    film_seen_scope *scope =
        code == NULL ? NULL : film_watch_globals(&view->state, code->module);
    film_seen_variable *variable =
        scope == NULL ? NULL : film_scope_find(&view->state, scope, taken->name, true);

    if (variable == NULL) {
        return;
    }
    line->owner = film_text_of("@");
    put(view, line, variable, taken,
        tells(view, frame) && view->config.with_globals &&
            film_objwatch_shows_global(&view->config, code->module,
                                       film_reader_string(view->reader, taken->name)));
    if (code->name.length > 0 && code->name.data[0] == '<' && frame != NULL) {
        /* A module's own code: its globals are its locals. FULL tells them once. */
        bool told = view->config.with_globals;
        film_objwatch_line as_local = *line;

        if (view->mode != FILM_OBJWATCH_FULL || !told) {
            take_local(view, event, frame, taken, &as_local);
        }
    }
}

/* True when the attribute is known to hold the value, or the value is not known. */
static bool
is_told(const film_held *now, const film_held *value)
{
    if (now->length == 0 || film_held_token(now).kind == FILM_TOKEN_UNBOUND) {
        return false;
    }
    return film_held_token(value).kind == FILM_TOKEN_UNBOUND ||
           (now->length == value->length &&
            memcmp(now->bytes, value->bytes, value->length) == 0);
}

/* Where an attribute is kept: a module's are the globals of its code. The records of a
 * class, module or function do not tell its attributes: one that was not written yet
 * may have been there. */
static film_seen_variable *
find_attribute(film_objwatch *view, film_seen_object *owner, uint32_t name)
{
    film_seen_scope *scope = &owner->attributes;
    film_seen_variable *variable;
    film_text module;

    if (film_objwatch_is_module(&view->state, owner, &module)) {
        scope = film_watch_globals(&view->state, module);
    }
    variable = scope == NULL ? NULL : film_scope_find(&view->state, scope, name, false);
    if (variable != NULL || scope == NULL) {
        return variable;
    }
    variable = film_scope_find(&view->state, scope, name, true);
    if (variable != NULL &&
        (owner->form == FILM_OBJECT_NAMED || (owner->form == FILM_OBJECT_ATTRIBUTES &&
                                              (owner->flags & FILM_VALUE_CUT) != 0))) {
        variable->now = (film_held){.length = 1, .bytes = {FILM_TOKEN_UNBOUND}};
    }
    return variable;
}

static void
take_attribute(film_objwatch *view, const film_event *event, film_seen_frame *frame,
               write *taken, film_objwatch_line *line)
{
    const film_code *code = film_reader_code(view->reader, event->code);
    film_seen_object *owner = film_watch_object(&view->state, &taken->owner);
    film_seen_object *object = film_watch_object(&view->state, &taken->value);
    film_seen_variable *variable =
        owner == NULL ? NULL : find_attribute(view, owner, taken->name);

    if (variable == NULL || code == NULL) {
        return;
    }
    if (event->form == FILM_SET_ATTRIBUTE_VIA && !taken->deletes &&
        (is_told(&variable->now, &taken->value) ||
         (view->mode != FILM_OBJWATCH_FULL &&
          film_objwatch_take_module(view, owner, taken->name, &taken->value)))) {
        return; /* what the setter did to the object was told as a change */
    }
    if (object != NULL) {
        object->held_by =
            (film_held_by){'a', taken->name, owner->type, owner->serial + 1};
    }
    line->owner = film_objwatch_owner(&view->state, owner);
    put(view, line, variable, taken,
        tells(view, frame) && film_objwatch_shows_attribute(
                                  &view->config, code, line->owner,
                                  film_reader_string(view->reader, taken->name)));
}

/* The same for a global of the module. */
static bool
name_global(film_objwatch *view, const film_code *code, const film_seen_object *object,
            film_objwatch_line *line)
{
    const film_seen_scope *scope = !view->config.with_globals || code == NULL
                                       ? NULL
                                       : film_watch_globals(&view->state, code->module);

    for (size_t i = 0; scope != NULL && i < scope->count; i++) {
        if (scope->items[i].now.object == object->serial + 1) {
            line->owner = film_text_of("@");
            line->name = film_reader_string(view->reader, scope->items[i].name);
            if (film_objwatch_shows_global(&view->config, code->module, line->name)) {
                return true;
            }
        }
    }
    return false;
}

/* What a line calls an object: a variable of the frame, a global, an attribute of `self`,
 * or where it was put last. False: it is not on show. */
static bool
name_object(film_objwatch *view, const film_seen_frame *frame,
            const film_seen_object *object, film_objwatch_line *line)
{
    const film_code *code = film_reader_code(view->reader, frame->code);
    film_seen_object *self = film_watch_object(&view->state, &frame->self);
    uint32_t name = 0;

    for (size_t i = 0; i < frame->locals.count; i++) {
        if (frame->locals.items[i].now.object == object->serial + 1) {
            line->owner = film_text_of("_");
            line->name = film_reader_string(view->reader, frame->locals.items[i].name);
            if (film_objwatch_shows_local(view, frame->locals.items[i].name)) {
                return true;
            }
        }
    }
    if (name_global(view, code, object, line)) {
        return true;
    }
    for (size_t i = 0; self != NULL && i < self->attributes.count; i++) {
        if (self->attributes.items[i].now.object == object->serial + 1) {
            name = self->attributes.items[i].name;
            line->owner = film_objwatch_type(&view->state, self);
        }
    }
    if (name == 0 && object->held_by.kind == 'a') {
        film_held holder = {.object = object->held_by.object};
        const film_seen_object *owner = film_watch_object(&view->state, &holder);
        name = object->held_by.name;
        line->owner =
            owner == NULL ? film_text_of("?") : film_objwatch_type(&view->state, owner);
    }
    if (name == 0 || code == NULL) {
        return false;
    }
    line->name = film_reader_string(view->reader, name);
    return film_objwatch_shows_attribute(&view->config, code, line->owner, line->name);
}

/* `[key]`, for what the line is about. */
static void
name_item(film_objwatch *view, const film_held *key, film_objwatch_line *line)
{
    film_buffer_clear(&view->item);
    film_buffer_put_byte(&view->item, '[');
    film_objwatch_put_value(&view->state, &view->item, key, false);
    film_buffer_put_byte(&view->item, ']');
    line->item = film_buffer_text(&view->item);
}

static void
take_item(film_objwatch *view, film_seen_frame *frame, const write *taken,
          film_objwatch_line *line)
{
    film_seen_object *owner = film_watch_object(&view->state, &taken->owner);
    film_seen_item *item;
    film_held before = {0};
    int64_t length;

    if (owner == NULL) {
        return;
    }
    item = film_watch_item(&view->state, owner, &taken->key);
    if (item != NULL) {
        before = item->value;
    }
    length = owner->length;
    film_watch_set_item(&view->state, owner, &taken->key,
                        taken->deletes ? NULL : &taken->value);
    if (!tells(view, frame) || !name_object(view, frame, owner, line)) {
        return;
    }
    if (owner->length != length) {
        film_objwatch_tell_length(view, line, film_objwatch_type(&view->state, owner),
                                  length, owner->length);
        return;
    }
    if (!taken->deletes &&
        (before.length == 0 || !film_held_is(&view->state, &before, &taken->value))) {
        name_item(view, &taken->key, line);
        film_objwatch_tell_value(view, line, &before, &taken->value);
    }
}

void
film_objwatch_take_set(film_objwatch *view, const film_event *event,
                       film_seen_frame *frame)
{
    write taken = take_write(view, event);
    film_objwatch_line line = film_objwatch_begin(
        view, event, "upd", film_reader_event_line(view->reader, event));

    switch ((film_set_form)event->form) {
    case FILM_SET_LOCAL:
    case FILM_SET_CLASS:
        take_local(view, event, frame, &taken, &line);
        break;
    case FILM_SET_GLOBAL:
        take_global(view, event, frame, &taken, &line);
        break;
    case FILM_SET_ATTRIBUTE:
    case FILM_SET_ATTRIBUTE_VIA:
        take_attribute(view, event, frame, &taken, &line);
        break;
    case FILM_SET_ITEM:
    case FILM_SET_ITEM_VIA:
        take_item(view, frame, &taken, &line);
        break;
    }
}

/* Attributes that code outside the recording has changed. */
static void
tell_attributes(film_objwatch *view, const film_seen_frame *frame,
                film_seen_object *object, film_objwatch_line *line)
{
    const film_code *code = film_reader_code(view->reader, frame->code);

    line->owner = film_objwatch_type(&view->state, object);
    for (size_t i = 0; code != NULL && i < object->attributes.count; i++) {
        film_seen_variable *variable = &object->attributes.items[i];

        line->name = film_reader_string(view->reader, variable->name);
        if (variable->now.length > 0 &&
            !film_held_is(&view->state, &variable->old, &variable->now) &&
            film_objwatch_shows_attribute(&view->config, code, line->owner,
                                          line->name)) {
            film_objwatch_tell_value(view, line, &variable->old, &variable->now);
        }
    }
}

/* Keeps what is about to be replaced: the text of a container, attributes. */
static void
keep_before(film_objwatch *view, const film_held *seen, film_seen_object *object)
{
    film_buffer_clear(&view->before);
    if (view->mode != FILM_OBJWATCH_FULL || object == NULL) {
        return;
    }
    for (size_t i = 0; i < object->attributes.count; i++) {
        object->attributes.items[i].old = object->attributes.items[i].now;
    }
    film_objwatch_put_value(&view->state, &view->before, seen,
                            view->config.wrapper == FILM_WRAPPER_SHAPE);
}

void
film_objwatch_take_change(film_objwatch *view, const film_event *event,
                          film_seen_frame *frame)
{
    film_input input = film_input_of(event->tokens, event->tokens_length);
    film_held seen = film_watch_peek(&view->state, input);
    film_seen_object *object = film_watch_object(&view->state, &seen);
    int64_t before = object == NULL ? event->length_before : object->length;
    film_objwatch_line line = film_objwatch_begin(
        view, event, "upd", film_reader_event_line(view->reader, event));

    keep_before(view, &seen, object);
    seen = film_watch_take(&view->state, &input);
    view->state.time++;
    object = film_watch_object(&view->state, &seen);
    if (object == NULL || !tells(view, frame)) {
        return;
    }
    if (object->form == FILM_OBJECT_ATTRIBUTES) {
        tell_attributes(view, frame, object, &line);
        return;
    }
    if (!name_object(view, frame, object, &line)) {
        return;
    }
    if (before >= 0 && object->length >= 0 && before != object->length) {
        film_objwatch_tell_length(view, &line, film_objwatch_type(&view->state, object),
                                  before, object->length);
        return;
    }
    film_buffer_clear(&view->after);
    film_objwatch_put_value(&view->state, &view->after, &seen,
                            view->config.wrapper == FILM_WRAPPER_SHAPE);
    line.before = film_buffer_text(&view->before);
    line.after = film_buffer_text(&view->after);
    view->write(view->context, &line);
}
