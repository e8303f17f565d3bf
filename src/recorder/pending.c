/* pending.c: see pending.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/pending.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/import_star.h"
#include "recorder/secrets.h"
#include "recorder/touches.h"
#include "recorder/variables.h"

#define FIRST_PENDING 16u
#define SLICE_PART_BYTES 48u

struct film_pending {
    film_set_form form;
    bool deletes;
    bool changes;   /* no store: the object at stored.address may change in place */
    uint8_t effect; /* film_effect, of that */
    uint8_t length; /* of the tokens */
    uint32_t number;
    film_stored stored; /* what it will do to its owner's content */
    uint8_t tokens[FILM_APPEND_TOKENS];
};

static film_pending *
add(film_context *context)
{
    if (context->pending_count == context->pending_room) {
        uint32_t room =
            context->pending_room == 0 ? FIRST_PENDING : context->pending_room * 2;
        film_pending *grown = realloc(context->pendings, room * sizeof(*grown));

        if (grown == NULL) {
            return NULL;
        }
        context->pendings = grown;
        context->pending_room = room;
    }
    return &context->pendings[context->pending_count++];
}

/* An item store or delete. */
typedef struct store_items {
    PyObject *owner, *key, *value; /* borrowed; NULL: none */
    bool is_slice;
    PyObject *parts[3]; /* start, stop, step; NULL: None */
} store_items;

static bool
is_item(uint8_t kind)
{
    return kind == FILM_WRITE_STACK_ITEM || kind == FILM_WRITE_STACK_SLICE ||
           kind == FILM_DELETE_STACK_ITEM;
}

/* The stack item `depth` below the top (1: the top), as the store finds it. */
static PyObject *
stack_item(const film_frame *frame, const film_write *write, int depth)
{
    return film_frame_local(frame, write->slot - depth);
}

static void
read_attribute(film_context *context, const film_frame *frame, const film_write *write,
               bool in_flight, film_pending *pending)
{
    PyObject *owner = stack_item(frame, write, 1);
    film_named *named = film_write_named(write);
    film_holder holder = {.kind = FILM_HOLDER_NONE};
    uint8_t *end;
    film_kept kept = FILM_KEPT_ELSEWHERE;
    bool via;

    pending->form = FILM_SET_ATTRIBUTE;
    pending->number = film_named_id(named);
    end = film_capture_owner(context, owner, &holder, pending->tokens);
    pending->deletes = write->kind == FILM_DELETE_STACK_ATTRIBUTE;
    if (owner != NULL) {
        (void)film_attribute_read(named, owner, &kept);
    }
    via = kept == FILM_KEPT_VIA;
    if (via) {
        pending->form = FILM_SET_ATTRIBUTE_VIA;
    }
    if (!pending->deletes) {
        PyObject *value = stack_item(frame, write, 2);

        holder = (film_holder){.kind = FILM_HOLDER_ATTRIBUTE,
                               .owner = owner,
                               .name = named->name,
                               .in_flight = in_flight};
        end = film_capture(context, value, &holder, film_secret_name(named), end);
        if (!via) {
            film_capture_expect(owner, named, NULL, value, &pending->stored);
        }
    }
    else {
        holder = (film_holder){
            .kind = FILM_HOLDER_ATTRIBUTE, .owner = owner, .name = named->name};
        film_capture_vacate(&holder);
        if (!via) {
            film_capture_expect(owner, named, NULL, NULL, &pending->stored);
        }
    }
    pending->length = (uint8_t)(end - pending->tokens);
}

/* The store runs no code, and what it does to its owner is known. */
static void
cover(film_stack_entry *entry, const film_write *write)
{
    const film_region *region = entry->region;
    const film_change *changes = film_region_changes(region);

    for (uint32_t index = 0;
         region->change_count <= FILM_REGION_CHANGES && index < region->change_count;
         index++) {
        if (changes[index].place == write->place && !changes[index].spreads) {
            entry->covered |= (uint8_t)(1u << index);
        }
    }
}

/* One part of a slice as text, to `to`; returns the length. */
static size_t
slice_part(PyObject *part, char *to, size_t room)
{
    int64_t number;
    int length;

    if (part == NULL || part == Py_None) {
        length = snprintf(to, room, "None");
    }
    else if (PyLong_CheckExact(part) && film_long_small(part, &number)) {
        length = snprintf(to, room, "%" PRId64, number);
    }
    else {
        length = snprintf(to, room, "<%s>", Py_TYPE(part)->tp_name);
    }
    return length < 0 ? 0 : (size_t)length < room ? (size_t)length : room - 1;
}

/* The token of a slice, which no object need stand for: o[1:2] = v. */
static uint8_t *
put_slice(const store_items *items, uint8_t *to)
{
    char text[3 * SLICE_PART_BYTES];
    size_t length = 0;
    uint64_t kept;

    length += (size_t)snprintf(text, sizeof(text), "slice(");
    for (size_t index = 0; index < 3; index++) {
        length += slice_part(items->parts[index], text + length, SLICE_PART_BYTES - 8);
        text[length++] = index == 2 ? ')' : ',';
        if (index != 2) {
            text[length++] = ' ';
        }
    }
    kept = film_writer_value(film_the_session.writer,
                             film_writer_string(film_the_session.writer, "slice", 5),
                             text, length, 0);
    if (kept == 0) {
        *to++ = FILM_TOKEN_UNBOUND;
        return to;
    }
    return film_token_put_value(to, FILM_TOKEN_VALUE, kept - 1);
}

/* What an item store or delete finds on the stack. */
static store_items
find_items(const film_frame *frame, const film_write *write)
{
    store_items items = {0};

    if (write->kind == FILM_WRITE_STACK_SLICE) {
        items.is_slice = true;
        items.parts[1] = stack_item(frame, write, 1);
        items.parts[0] = stack_item(frame, write, 2);
        items.owner = stack_item(frame, write, 3);
        items.value = stack_item(frame, write, 4);
        return items;
    }
    items.key = stack_item(frame, write, 1);
    items.owner = stack_item(frame, write, 2);
    if (write->kind == FILM_WRITE_STACK_ITEM) {
        items.value = stack_item(frame, write, 3);
    }
    if (items.key != NULL && PySlice_Check(items.key)) {
        const PySliceObject *slice = (const PySliceObject *)items.key;

        items.is_slice = true;
        items.parts[0] = slice->start;
        items.parts[1] = slice->stop;
        items.parts[2] = slice->step;
    }
    return items;
}

/* A slice of a builtin container is told as a change of it: the region touches it. */
static bool
is_change(const store_items *items)
{
    return items->is_slice && items->owner != NULL &&
           film_value_is_builtin(items->owner);
}

/* What the store will do to its owner. Where it takes a container out of there, the
 * owner is compared first: that container may have been stored to since. */
static bool
expect_item(film_context *context, const store_items *items, film_stored *stored)
{
    film_holder holder = {.kind = FILM_HOLDER_NONE};

    film_capture_expect(items->owner, NULL, items->key, items->value, stored);
    if (!stored->deep) {
        return true;
    }
    if (!film_tell_change(context, items->owner, &holder, FILM_EFFECT_ANY)) {
        return false;
    }
    film_capture_expect(items->owner, NULL, items->key, items->value, stored);
    return true;
}

static bool
read_item(film_context *context, film_stack_entry *entry, const store_items *items,
          const film_write *write, bool in_flight, film_pending *pending)
{
    PyObject *key = items->key, *owner = items->owner, *value = items->value;
    film_holder holder = {.kind = FILM_HOLDER_NONE};
    uint8_t *end = film_capture_owner(context, owner, &holder, pending->tokens);
    bool written = true;

    pending->form = FILM_SET_ITEM;
    pending->number = 0;
    pending->deletes = write->kind == FILM_DELETE_STACK_ITEM;
    if (items->is_slice || (owner != NULL && film_items_are_overridden(owner))) {
        pending->form = FILM_SET_ITEM_VIA;
    }
    if (items->is_slice) {
        end = put_slice(items, end);
    }
    else {
        end = film_capture(context, key, &holder, NULL, end);
    }
    if (!pending->deletes) {
        holder = (film_holder){.kind = FILM_HOLDER_ITEM,
                               .owner = owner,
                               .name = key,
                               .in_flight = in_flight};
        end = FILM_UNLIKELY(film_secret_is_item(owner, key))
                  ? film_capture_secret(context, value, &holder, key, end)
                  : film_capture(context, value, &holder, NULL, end);
    }
    if (!items->is_slice) {
        written = expect_item(context, items, &pending->stored);
    }
    if (pending->form == FILM_SET_ITEM && owner != NULL && key != NULL &&
        film_value_is_builtin(owner) && film_value_is_builtin(key) &&
        (pending->stored.address == NULL || pending->stored.known)) {
        cover(entry, write);
    }
    pending->length = (uint8_t)(end - pending->tokens);
    return written;
}

/* A name in a namespace that is no dict. */
static void
read_name(film_context *context, const film_frame *frame, const film_write *write,
          bool in_flight, film_pending *pending)
{
    film_named *named = film_write_named(write);
    film_holder holder = {.kind = FILM_HOLDER_NONE, .in_flight = in_flight};
    uint8_t *end = film_capture(context, stack_item(frame, write, 1), &holder,
                                film_secret_name(named), pending->tokens);

    pending->form = film_namespace_form(frame, write->kind);
    pending->number = film_named_id(named);
    pending->length = (uint8_t)(end - pending->tokens);
}

/* What a FILM_CALL_ON_STACK changes: below the arguments of a method lie the function
 * and its object, or a bound method and NULL. NULL: not known. */
static PyObject *
changed_by_call(const film_frame *frame, const film_write *write)
{
    PyObject *function = film_frame_local(frame, write->target), *self;

    if (write->unnamed) {
        return function;
    }
    self = film_frame_local(frame, write->target + 1);
    if (function != NULL && self != NULL) {
        return self;
    }
    return function == NULL && self == NULL
               ? NULL
               : film_method_self(function == NULL ? self : function);
}

/* A container that no variable leads to is about to be changed in place. */
static bool
begin_change(film_context *context, film_stack_entry *entry, PyObject *owner,
             const film_write *write)
{
    film_pending *pending;
    uint64_t serial;

    if (owner == NULL || !film_value_is_builtin(owner) ||
        (serial = film_capture_awaits(context, owner)) == 0) {
        return true;
    }
    pending = add(context);
    if (pending == NULL) {
        film_writer_count_lost(film_the_session.writer, 1);
        return true;
    }
    *pending = (film_pending){
        .changes = true,
        .effect = write->effect,
        .stored = {.address = owner, .serial = serial},
    };
    entry->pending = true;
    if (write->kind == FILM_CALL_ON_STACK && !write->unnamed) {
        cover(entry, write);
    }
    return true;
}

/* The line goes on, or the call has raised: what it may have changed. The object may be
 * dead: it is followed only where it is known not to be. */
static bool
tell_change(film_context *context, const film_pending *pending)
{
    film_holder holder = {.kind = FILM_HOLDER_NONE};
    PyObject *owner =
        film_capture_living(pending->stored.address, pending->stored.serial);

    return owner == NULL ||
           film_tell_change(context, owner, &holder, (film_effect)pending->effect);
}

/* A local that is stored at once: nothing can keep it from that. */
static bool
tell_local(film_context *context, film_stack_entry *entry, const film_frame *frame,
           const film_write *write, bool in_flight)
{
    film_holder holder = {.kind = FILM_HOLDER_SLOT,
                          .entry = entry,
                          .slot = write->target,
                          .in_flight = in_flight};
    PyObject *secret = entry->plan->secret_slots == NULL
                           ? NULL
                           : film_name_of_secret_slot(entry, write->target);
    uint8_t tokens[FILM_TOKEN_MAX], *end;

    if (write->hidden) {
        return true;
    }
    end = film_capture(context, stack_item(frame, write, 1), &holder, secret, tokens);
    return film_append_set(context->thread, FILM_SET_LOCAL, write->target, tokens,
                           (size_t)(end - tokens));
}

FILM_HOT bool
film_pending_begin(film_context *context, film_stack_entry *entry,
                   const film_frame *frame, const film_write *write, bool in_flight)
{
    film_pending *pending;
    store_items items = {0};

    if (write->kind == FILM_WRITE_STACK_FAST) {
        return tell_local(context, entry, frame, write, in_flight);
    }
    if (write->kind == FILM_WRITE_STACK_STAR) {
        return film_import_star(context, frame, stack_item(frame, write, 1));
    }
    if (write->kind == FILM_CALL_ON_STACK) {
        return begin_change(context, entry, changed_by_call(frame, write), write);
    }
    if (is_item(write->kind)) {
        items = find_items(frame, write);
        if (is_change(&items)) {
            return !write->unnamed || begin_change(context, entry, items.owner, write);
        }
    }
    pending = add(context);
    if (pending == NULL) {
        film_writer_count_lost(film_the_session.writer, 1);
        return true;
    }
    memset(pending, 0, sizeof(*pending));
    entry->pending = true;
    switch (write->kind) {
    case FILM_WRITE_STACK_ATTRIBUTE:
    case FILM_DELETE_STACK_ATTRIBUTE:
        read_attribute(context, frame, write, in_flight, pending);
        break;
    case FILM_WRITE_STACK_ITEM:
    case FILM_WRITE_STACK_SLICE:
    case FILM_DELETE_STACK_ITEM:
        return read_item(context, entry, &items, write, in_flight, pending);
    default:
        read_name(context, frame, write, in_flight, pending);
        break;
    }
    return true;
}

/* The owner is told anew by the store of its item: the token refers to a record of what
 * it holds now, so that the store itself is in it. */
static void
renew_owner(film_context *context, film_pending *pending)
{
    uint8_t tokens[FILM_APPEND_TOKENS + FILM_TOKEN_MAX], *to = tokens;
    film_input rest = film_input_of(pending->tokens, pending->length);
    uint64_t record;
    size_t length;

    film_capture_stored(&pending->stored, true);
    record = film_capture_again(context, &pending->stored);
    pending->stored = (film_stored){0};
    film_tokens_skip(&rest, 1);
    if (record == 0 || rest.failed) {
        return;
    }
    to = film_token_put_value(to, FILM_TOKEN_OBJECT, record - 1);
    memcpy(to, rest.at, film_input_left(&rest));
    length = (size_t)(to - tokens) + film_input_left(&rest);
    if (length <= FILM_APPEND_TOKENS) {
        memcpy(pending->tokens, tokens, length);
        pending->length = (uint8_t)length;
    }
}

FILM_HOT bool
film_pending_settle(film_context *context, film_stack_entry *entry)
{
    film_pending *pending = &context->pendings[context->pending_count - 1];
    bool alone = entry->region != NULL && entry->region->change_count <= 1;
    bool written;

    if (pending->changes) {
        film_pending change = *pending;

        film_pending_drop(context, entry);
        return tell_change(context, &change);
    }
    if (pending->form == FILM_SET_ITEM && !pending->deletes) {
        pending->number = film_capture_item_effect(&pending->stored, alone);
        if (alone && film_capture_is_scattered(&pending->stored)) {
            renew_owner(context, pending);
        }
    }
    if (pending->deletes) {
        written = film_append_delete(context->thread, pending->form, pending->number,
                                     pending->tokens, pending->length);
    }
    else {
        written = film_append_set(context->thread, pending->form, pending->number,
                                  pending->tokens, pending->length);
    }
    if (written) {
        film_capture_stored(&pending->stored, alone);
        film_pending_drop(context, entry);
    }
    return written;
}

bool
film_pending_raised(film_context *context, film_stack_entry *entry)
{
    if (context->pendings[context->pending_count - 1].changes) {
        return film_pending_settle(context, entry); /* in part, maybe */
    }
    film_pending_drop(context, entry);
    return true;
}

void
film_pending_drop(film_context *context, film_stack_entry *entry)
{
    if (entry->pending) {
        entry->pending = false;
        context->pending_count--;
    }
}
