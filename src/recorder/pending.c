/* pending.c: see pending.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/pending.h"

#include <stdlib.h>
#include <string.h>

#include "recorder/variables.h"

#define FIRST_PENDING 16u

struct film_pending {
    film_set_form form;
    bool deletes;
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

/* The stack item `depth` below the top (1: the top), as the store finds it. */
static PyObject *
stack_item(const film_frame *frame, const film_write *write, int depth)
{
    return film_frame_local(frame, write->slot - depth);
}

static void
read_attribute(film_context *context, const film_frame *frame, film_write *write,
               film_pending *pending)
{
    PyObject *owner = stack_item(frame, write, 1);
    film_holder holder = {.kind = FILM_HOLDER_NONE};
    uint8_t *end;
    bool via = false;

    pending->form = FILM_SET_ATTRIBUTE;
    pending->number = film_write_name_id(write);
    end = film_capture_owner(context, owner, &holder, pending->tokens);
    pending->deletes = write->kind == FILM_DELETE_STACK_ATTRIBUTE;
    if (owner != NULL) {
        (void)film_attribute_read(write, owner, &via);
    }
    if (via) {
        pending->form = FILM_SET_ATTRIBUTE_VIA;
    }
    if (!pending->deletes) {
        PyObject *value = stack_item(frame, write, 2);

        holder = (film_holder){
            .kind = FILM_HOLDER_ATTRIBUTE, .owner = owner, .name = write->name};
        end = film_capture(context, value, &holder, film_secret_name(write), end);
        film_capture_expect(owner, write, NULL, value, &pending->stored);
    }
    else {
        film_capture_expect(owner, write, NULL, NULL, &pending->stored);
    }
    pending->length = (uint8_t)(end - pending->tokens);
}

static void
read_item(film_context *context, const film_frame *frame, film_write *write,
          film_pending *pending)
{
    PyObject *key = stack_item(frame, write, 1);
    PyObject *owner = stack_item(frame, write, 2);
    PyObject *value = NULL;
    film_holder holder = {.kind = FILM_HOLDER_NONE};
    uint8_t *end = film_capture_owner(context, owner, &holder, pending->tokens);

    pending->form = FILM_SET_ITEM;
    pending->number = 0;
    pending->deletes = write->kind == FILM_DELETE_STACK_ITEM;
    if (owner != NULL && film_items_are_overridden(owner)) {
        pending->form = FILM_SET_ITEM_VIA;
    }
    end = film_capture(context, key, &holder, NULL, end);
    if (!pending->deletes) {
        value = stack_item(frame, write, 3);
        holder = (film_holder){.kind = FILM_HOLDER_ITEM, .owner = owner, .name = key};
        end = film_capture(context, value, &holder, film_secret_key(key), end);
    }
    film_capture_expect(owner, NULL, key, value, &pending->stored);
    pending->length = (uint8_t)(end - pending->tokens);
}

/* A variable whose value is only sure on the stack. */
static void
read_variable(film_context *context, film_stack_entry *entry, const film_frame *frame,
              film_write *write, film_pending *pending)
{
    PyObject *value = stack_item(frame, write, 1);
    film_holder holder = {.kind = FILM_HOLDER_NONE};
    PyObject *secret = NULL;
    uint8_t *end;

    if (write->kind == FILM_WRITE_STACK_FAST) {
        pending->form = FILM_SET_LOCAL;
        pending->number = write->target;
        if (entry->plan->secret_slots != NULL) {
            secret = film_name_of_secret_slot(entry, write->target);
        }
    }
    else {
        pending->form = film_namespace_form(frame, write->kind);
        pending->number = film_write_name_id(write);
        secret = film_secret_name(write);
    }
    end = film_capture(context, value, &holder, secret, pending->tokens);
    pending->length = (uint8_t)(end - pending->tokens);
}

bool
film_pending_begin(film_context *context, film_stack_entry *entry,
                   const film_frame *frame, film_write *write)
{
    film_pending *pending;

    switch (write->kind) {
    case FILM_WRITE_STACK_SLICE:
        return true; /* its owner is touched by the region: one change */
    case FILM_WRITE_STACK_ITEM:
    case FILM_DELETE_STACK_ITEM: {
        PyObject *key = stack_item(frame, write, 1);

        if (key != NULL && PySlice_Check(key)) {
            return true; /* likewise */
        }
        break;
    }
    default:
        break;
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
        read_attribute(context, frame, write, pending);
        break;
    case FILM_WRITE_STACK_ITEM:
    case FILM_DELETE_STACK_ITEM:
        read_item(context, frame, write, pending);
        break;
    default:
        read_variable(context, entry, frame, write, pending);
        break;
    }
    return true;
}

bool
film_pending_settle(film_context *context, film_stack_entry *entry)
{
    const film_pending *pending = &context->pendings[context->pending_count - 1];
    bool written;

    if (pending->deletes) {
        written = film_append_delete(context->thread, pending->form, pending->number,
                                     pending->tokens, pending->length);
    }
    else {
        written = film_append_set(context->thread, pending->form, pending->number,
                                  pending->tokens, pending->length);
    }
    if (written) {
        film_capture_stored(&pending->stored);
        film_pending_drop(context, entry);
    }
    return written;
}

void
film_pending_drop(film_context *context, film_stack_entry *entry)
{
    if (entry->pending) {
        entry->pending = false;
        context->pending_count--;
    }
}
