/* tell.c: see tell.h.
 *
 * Tokens are written straight into the row. What most variables hold (capture_quick.h)
 * is told without a call; the rest names its holder first.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/tell.h"

#include "recorder/capture_quick.h"
#include "recorder/cells.h"
#include "recorder/code_registry.h"
#include "recorder/fingerprint.h"
#include "recorder/observe_quick.h"
#include "recorder/variables.h"

#define NOINLINE __attribute__((noinline))

void
film_tell_plan_again(const film_frame *frame, bool strayed)
{
    PyCodeObject *code = (PyCodeObject *)film_frame_code(frame);
    film_code *known = film_compat_get_extra(code, film_the_session.extra_index);

    if (known != NULL) {
        film_code_plan_again(known, strayed);
    }
}

/* The name of a local where it is on the deny list, else NULL. */
static inline PyObject *
secret_local(film_stack_entry *entry, uint32_t slot)
{
    if (FILM_LIKELY(entry->plan->secret_slots == NULL)) {
        return NULL;
    }
    return film_name_of_secret_slot(entry, slot);
}

FILM_HOT uint8_t *
film_capture_local(film_context *context, film_stack_entry *entry, uint32_t slot,
                   bool cell, bool in_flight, PyObject *value, uint8_t *to)
{
    film_holder holder = {.kind = cell ? FILM_HOLDER_CELL : FILM_HOLDER_SLOT,
                          .entry = entry,
                          .slot = slot,
                          .in_flight = in_flight};

    return film_capture(context, value, &holder, secret_local(entry, slot), to);
}

static inline bool
tell_local(film_context *context, film_stack_entry *entry, const film_frame *frame,
           const film_write *write)
{
    PyObject *value = film_frame_local(frame, write->slot);
    uint8_t *to = film_append_begin_set(context->thread, FILM_SET_LOCAL, write->slot);

    if (FILM_UNLIKELY(to == NULL)) {
        return false;
    }
    if (FILM_LIKELY(entry->plan->secret_slots == NULL &&
                    film_capture_quick(value, &to))) {
        film_vacate_slot(entry, write->slot);
    }
    else {
        to = film_capture_local(context, entry, write->slot, false,
                                film_tell_in_flight(context, entry, write), value, to);
    }
    film_append_commit(context->thread, to, 1);
    return true;
}

static bool
tell_cell(film_context *context, film_stack_entry *entry, const film_frame *frame,
          const film_write *write)
{
    PyObject *value = film_cell_content(film_frame_local(frame, write->slot));
    uint8_t *to = film_append_begin_set(context->thread, FILM_SET_LOCAL, write->slot);

    if (to == NULL) {
        return false;
    }
    to = film_capture_local(context, entry, write->slot, true,
                            film_tell_in_flight(context, entry, write), value, to);
    film_append_commit(context->thread, to, 1);
    return true;
}

/* What a comprehension's variable hid is there again: a row that is no event. */
static bool
tell_restored(film_context *context, film_stack_entry *entry, const film_frame *frame,
              const film_write *write)
{
    PyObject *value = film_frame_local(frame, write->slot);
    bool cell = value != NULL && PyCell_Check(value) &&
                film_slot_is_cell((const PyCodeObject *)entry->code, write->slot);
    uint8_t token[FILM_TOKEN_MAX], *end;
    uint64_t number = 0;

    if (cell) {
        number = film_cells_restored(context, value, write->slot);
        value = film_cell_content(value);
    }
    if (value == NULL) {
        token[0] = FILM_TOKEN_UNBOUND;
        end = token + 1;
    }
    else {
        end =
            film_capture_local(context, entry, write->slot, cell, false, value, token);
    }
    return film_append_restored(context->thread, write->slot, token,
                                (size_t)(end - token), number);
}

static bool
tell_name(film_context *context, film_stack_entry *entry, const film_frame *frame,
          const film_write *write)
{
    film_named *named = film_write_named(write);
    film_holder holder = {.kind = FILM_HOLDER_NAMESPACE,
                          .owner = film_namespace_of(frame, write->kind),
                          .name = named->name,
                          .in_flight = film_tell_in_flight(context, entry, write)};
    PyObject *value =
        holder.owner == NULL ? NULL : film_dict_lookup(holder.owner, named->name);
    uint8_t *to = film_append_begin_set(
        context->thread, film_namespace_form(frame, write->kind), film_named_id(named));

    if (to == NULL) {
        return false;
    }
    if (FILM_UNLIKELY(holder.owner == NULL) && !entry->plan->names_on_stack) {
        film_tell_plan_again(frame, false);
    }
    to = film_capture(context, value, &holder, film_secret_name(named), to);
    film_append_commit(context->thread, to, 1);
    return true;
}

/* --- attributes --------------------------------------------------------------------
 */

/* The object whose attribute is written: in a local, or in the cell there. */
static inline PyObject *
owner_of(const film_frame *frame, const film_write *write)
{
    PyObject *owner = film_frame_local(frame, write->slot);

    return write->cell_owner ? film_cell_content(owner) : owner;
}

static inline film_holder
owner_holder(film_stack_entry *entry, const film_write *write)
{
    return (film_holder){.kind =
                             write->cell_owner ? FILM_HOLDER_CELL : FILM_HOLDER_SLOT,
                         .entry = entry,
                         .slot = write->slot};
}

/* A property or __setattr__ took the value: what was given to it, if that is in a
 * variable or a constant. The next frame reads it off the stack. */
static PyObject *
value_given(film_stack_entry *entry, const film_frame *frame, const film_write *write)
{
    const PyCodeObject *code = (const PyCodeObject *)film_frame_code(frame);

    if ((entry->plan->flags[write->place] & FILM_PLACE_ON_STACK) == 0) {
        entry->plan->flags[write->place] |= FILM_PLACE_ON_STACK;
        film_tell_plan_again(frame, false);
    }
    if (write->target == FILM_PLAN_NO_PLACE) {
        return NULL;
    }
    if (write->target >= FILM_TARGET_SMALL_INT) {
        /* LOAD_SMALL_INT, from 3.14 on: these are immortal, so it is borrowed. */
        return PyLong_FromLong((long)(write->target - FILM_TARGET_SMALL_INT));
    }
    if ((write->target & FILM_TARGET_CONSTANT) != 0) {
        Py_ssize_t index = write->target & ~FILM_TARGET_CONSTANT;

        return index < PyTuple_GET_SIZE(code->co_consts)
                   ? PyTuple_GET_ITEM(code->co_consts, index)
                   : NULL;
    }
    return film_frame_local(frame, write->target);
}

/* The rare ones: an owner that is new or not sure, a value that is no scalar and no
 * known instance, a property. */
static NOINLINE bool
tell_any_attribute(film_context *context, film_stack_entry *entry,
                   const film_frame *frame, const film_write *write, PyObject *owner)
{
    film_holder holder = owner_holder(entry, write);
    film_named *named = film_write_named(write);
    film_kept kept;
    PyObject *value = film_attribute_read(named, owner, &kept);
    bool via = kept == FILM_KEPT_VIA;
    uint8_t *to = film_append_begin_set(
        context->thread, via ? FILM_SET_ATTRIBUTE_VIA : FILM_SET_ATTRIBUTE,
        film_named_id(named));

    if (to == NULL) {
        return false;
    }
    to = film_capture_owner(context, owner, &holder, to);
    holder = (film_holder){.kind = FILM_HOLDER_ATTRIBUTE,
                           .owner = owner,
                           .name = named->name,
                           .in_flight = film_tell_in_flight(context, entry, write)};
    if (via) {
        value = value_given(entry, frame, write);
        holder = (film_holder){.kind = FILM_HOLDER_NONE};
    }
    to = film_capture(context, value, &holder, film_secret_name(named), to);
    film_append_commit(context->thread, to, 1);
    film_capture_told(owner, named);
    return true;
}

static inline bool
tell_attribute(film_context *context, film_stack_entry *entry, const film_frame *frame,
               const film_write *write)
{
    PyObject *owner = owner_of(frame, write), *value;
    film_named *named = film_write_named(write);
    film_object_way *way;
    film_kept kept;
    uint8_t *to;

    if (FILM_UNLIKELY(owner == NULL)) {
        return true; /* the plan keeps the owner's variable: cannot be */
    }
    way = film_objects_quick(owner);
    if (FILM_UNLIKELY(way == NULL || film_secret_name(named) != NULL)) {
        return tell_any_attribute(context, entry, frame, write, owner);
    }
    value = film_attribute_read(named, owner, &kept);
    to = film_append_begin_set(context->thread, FILM_SET_ATTRIBUTE,
                               film_named_id(named));
    if (FILM_UNLIKELY(to == NULL)) {
        return false;
    }
    to = film_token_put_value(to, FILM_TOKEN_OBJECT, film_quick_record(way));
    if (FILM_UNLIKELY(kept == FILM_KEPT_VIA || !film_capture_quick(value, &to))) {
        return tell_any_attribute(context, entry, frame, write, owner);
    }
    film_append_commit(context->thread, to, 1);
    film_capture_written(way, owner, named, kept, value);
    return true;
}

static bool
tell_delete(film_context *context, film_stack_entry *entry, const film_frame *frame,
            const film_write *write)
{
    film_named *named = film_write_named(write); /* of names and attributes only */
    uint8_t tokens[FILM_TOKEN_MAX], *end;
    film_holder holder;
    PyObject *owner;

    switch (write->kind) {
    case FILM_DELETE_FAST:
    case FILM_DELETE_CELL:
        holder =
            (film_holder){.kind = write->kind == FILM_DELETE_FAST ? FILM_HOLDER_SLOT
                                                                  : FILM_HOLDER_CELL,
                          .entry = entry,
                          .slot = write->slot};
        film_capture_vacate(&holder);
        return film_append_delete(context->thread, FILM_SET_LOCAL, write->slot, tokens,
                                  0);
    case FILM_DELETE_ATTRIBUTE:
        owner = owner_of(frame, write);
        if (owner == NULL) {
            return true;
        }
        holder = owner_holder(entry, write);
        end = film_capture_owner(context, owner, &holder, tokens);
        if (!film_append_delete(context->thread, FILM_SET_ATTRIBUTE,
                                film_named_id(named), tokens, (size_t)(end - tokens))) {
            return false;
        }
        film_capture_told(owner, named);
        holder = (film_holder){
            .kind = FILM_HOLDER_ATTRIBUTE, .owner = owner, .name = named->name};
        film_capture_vacate(&holder);
        return true;
    default:
        holder = (film_holder){.kind = FILM_HOLDER_NAMESPACE,
                               .owner = film_namespace_of(frame, write->kind),
                               .name = named->name};
        film_capture_vacate(&holder);
        return film_append_delete(context->thread,
                                  film_namespace_form(frame, write->kind),
                                  film_named_id(named), tokens, 0);
    }
}

static inline bool
tell(film_context *context, film_stack_entry *entry, const film_frame *frame,
     const film_write *write)
{
    if (FILM_UNLIKELY(write->hidden)) {
        if (write->kind == FILM_WRITE_FAST) {
            /* What the comprehension's variable held may be gone. */
            film_vacate_slot(entry, write->slot);
        }
        return !write->restores || tell_restored(context, entry, frame, write);
    }
    switch ((film_write_kind)write->kind) {
    case FILM_WRITE_FAST:
        return tell_local(context, entry, frame, write);
    case FILM_WRITE_CELL:
        return tell_cell(context, entry, frame, write);
    case FILM_WRITE_ATTRIBUTE:
        return tell_attribute(context, entry, frame, write);
    case FILM_WRITE_GLOBAL:
    case FILM_WRITE_NAME:
        return tell_name(context, entry, frame, write);
    case FILM_DELETE_FAST:
    case FILM_DELETE_CELL:
    case FILM_DELETE_GLOBAL:
    case FILM_DELETE_NAME:
    case FILM_DELETE_ATTRIBUTE:
        return tell_delete(context, entry, frame, write);
    case FILM_WRITE_STACK_FAST:
    case FILM_WRITE_STACK_STAR:
    case FILM_WRITE_STACK_NAME:
    case FILM_WRITE_STACK_ATTRIBUTE:
    case FILM_WRITE_STACK_ITEM:
    case FILM_WRITE_STACK_SLICE:
    case FILM_DELETE_STACK_ATTRIBUTE:
    case FILM_DELETE_STACK_ITEM:
    case FILM_CALL_ON_STACK:
        break; /* pending.c's: never in an exit's list */
    }
    return true;
}

FILM_HOT bool
film_tell_writes(film_context *context, film_stack_entry *entry,
                 const film_frame *frame, const film_write *writes, uint32_t count)
{
    for (uint32_t index = entry->done; index < count; index++) {
        if (FILM_UNLIKELY(!tell(context, entry, frame, &writes[index]))) {
            return false;
        }
        entry->done = (uint16_t)(index + 1);
    }
    return true;
}

/* --- arguments and results ---------------------------------------------------------
 */

bool
film_tell_arguments(film_context *context, film_stack_entry *entry,
                    const film_frame *frame)
{
    film_thread *thread = context->thread;
    uint32_t index = 0;

    while (index < entry->plan->argument_count) {
        if (FILM_UNLIKELY(film_append_begin_values(thread) == NULL)) {
            return false;
        }
        film_append_commit(
            thread, film_put_arguments(context, entry, frame, &index, thread->cursor),
            0);
    }
    return true;
}

FILM_HOT bool
film_tell_result(film_context *context, PyObject *value)
{
    uint8_t *to = film_append_begin_values(context->thread);

    if (FILM_UNLIKELY(to == NULL)) {
        return false;
    }
    if (FILM_UNLIKELY(!film_capture_quick(value, &to))) {
        film_holder holder = {.kind = FILM_HOLDER_NONE};

        to = film_capture(context, value, &holder, NULL, to);
    }
    film_append_end_values(context->thread, 1, to);
    return true;
}
