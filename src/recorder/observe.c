/* observe.c: see observe.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/observe.h"

#include <stdlib.h>
#include <string.h>

#include "recorder/capture.h"
#include "recorder/pending.h"
#include "recorder/places.h"
#include "recorder/variables.h"

/* How many bound methods in a list or tuple are followed to their objects. */
#define METHODS_LIMIT 16

/* A place in the table of a code's plan; cache entries belong to their instruction. */
static inline uint32_t
instruction_of(const film_plan *plan, uint32_t unit)
{
    return unit < plan->unit_count ? plan->owner[unit] : FILM_PLAN_NO_PLACE;
}

static inline film_region *
region_at(const film_plan *plan, uint32_t unit)
{
    uint16_t number = unit < plan->unit_count ? plan->region_at[unit] : 0;

    return number == 0 ? NULL : &plan->regions[number - 1];
}

/* The plan cannot tell this: the code's next frame gets a better one. */
static void
plan_again(const film_frame *frame, bool strayed)
{
    PyCodeObject *code = (PyCodeObject *)film_frame_code(frame);
    film_code *known = film_compat_get_extra(code, film_the_session.extra_index);

    if (known != NULL) {
        film_code_plan_again(known, strayed);
    }
}

/* The plan has no such edge: nothing is guessed, the frame is found again at its next
 * line, and info tells. Later frames are watched instruction by instruction. */
static void
note_unknown_edge(film_stack_entry *entry, const film_frame *frame)
{
    film_the_session.unknown_edges++;
    if (!entry->plan->every_place) {
        plan_again(frame, true);
    }
}

static inline void
enter_region(film_stack_entry *entry, film_region *region)
{
    entry->region = region;
    entry->covered = 0;
    entry->done = 0;
    entry->fresh = false;
    entry->dead = false;
    entry->unwinding = false;
}

/* The value stored is the result of the call that has just come back to this frame. */
static inline bool
is_in_flight(const film_context *context, film_stack_entry *entry,
             const film_write *write)
{
    return write->call_place != FILM_PLAN_NO_PLACE && context->returned != NULL &&
           instruction_of(entry->plan, context->returned_unit) == write->call_place;
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

static inline bool
tell_local(film_context *context, film_stack_entry *entry, const film_frame *frame,
           const film_write *write, bool cell)
{
    film_holder holder = {.kind = cell ? FILM_HOLDER_CELL : FILM_HOLDER_SLOT,
                          .entry = entry,
                          .slot = write->slot,
                          .in_flight = is_in_flight(context, entry, write)};
    PyObject *value = film_frame_local(frame, write->slot);
    uint8_t tokens[FILM_TOKEN_MAX], *end;

    if (cell) {
        value = film_cell_content(value);
    }
    end =
        film_capture(context, value, &holder, secret_local(entry, write->slot), tokens);
    return film_append_set(context->thread, FILM_SET_LOCAL, write->slot, tokens,
                           (size_t)(end - tokens));
}

static bool
tell_name(film_context *context, film_stack_entry *entry, const film_frame *frame,
          film_write *write)
{
    film_holder holder = {.kind = FILM_HOLDER_NAMESPACE,
                          .owner = film_namespace_of(frame, write->kind),
                          .name = write->name,
                          .in_flight = is_in_flight(context, entry, write)};
    PyObject *value =
        holder.owner == NULL ? NULL : film_dict_lookup(holder.owner, write->name);
    uint8_t tokens[FILM_TOKEN_MAX], *end;

    if (FILM_UNLIKELY(holder.owner == NULL) && !entry->plan->names_on_stack) {
        plan_again(frame, false);
    }
    end = film_capture(context, value, &holder, film_secret_name(write), tokens);
    return film_append_set(context->thread, film_namespace_form(frame, write->kind),
                           film_write_name_id(write), tokens, (size_t)(end - tokens));
}

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
        plan_again(frame, false);
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

static bool
tell_attribute(film_context *context, film_stack_entry *entry, const film_frame *frame,
               film_write *write)
{
    PyObject *owner = owner_of(frame, write);
    film_holder holder = owner_holder(entry, write);
    uint8_t tokens[FILM_APPEND_TOKENS], *end;
    film_set_form form = FILM_SET_ATTRIBUTE;
    PyObject *value;
    bool via;

    if (owner == NULL) {
        return true; /* the plan keeps the owner's variable: cannot be */
    }
    value = film_attribute_read(write, owner, &via);
    end = film_capture_owner(context, owner, &holder, tokens);
    holder = (film_holder){.kind = FILM_HOLDER_ATTRIBUTE,
                           .owner = owner,
                           .name = write->name,
                           .in_flight = is_in_flight(context, entry, write)};
    if (FILM_UNLIKELY(via)) {
        form = FILM_SET_ATTRIBUTE_VIA;
        value = value_given(entry, frame, write);
        holder = (film_holder){.kind = FILM_HOLDER_NONE};
    }
    end = film_capture(context, value, &holder, film_secret_name(write), end);
    if (!film_append_set(context->thread, form, film_write_name_id(write), tokens,
                         (size_t)(end - tokens))) {
        return false;
    }
    film_capture_told(owner);
    return true;
}

static bool
tell_delete(film_context *context, film_stack_entry *entry, const film_frame *frame,
            film_write *write)
{
    uint8_t tokens[FILM_TOKEN_MAX], *end = tokens;
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
                                film_write_name_id(write), tokens,
                                (size_t)(end - tokens))) {
            return false;
        }
        film_capture_told(owner);
        return true;
    default:
        return film_append_delete(context->thread,
                                  film_namespace_form(frame, write->kind),
                                  film_write_name_id(write), tokens, 0);
    }
}

static inline bool
tell(film_context *context, film_stack_entry *entry, const film_frame *frame,
     film_write *write)
{
    if (FILM_UNLIKELY(write->hidden)) {
        if (write->kind == FILM_WRITE_FAST) {
            /* What the comprehension's variable held may be gone. */
            film_capture_vacate(&(film_holder){
                .kind = FILM_HOLDER_SLOT, .entry = entry, .slot = write->slot});
        }
        return true;
    }
    switch ((film_write_kind)write->kind) {
    case FILM_WRITE_FAST:
        return tell_local(context, entry, frame, write, false);
    case FILM_WRITE_CELL:
        return tell_local(context, entry, frame, write, true);
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
    case FILM_WRITE_STACK_NAME:
    case FILM_WRITE_STACK_ATTRIBUTE:
    case FILM_WRITE_STACK_ITEM:
    case FILM_WRITE_STACK_SLICE:
    case FILM_DELETE_STACK_ATTRIBUTE:
    case FILM_DELETE_STACK_ITEM:
        break; /* pending.c's: never in an exit's list */
    }
    return true;
}

/* The writes of an exit from the first that was not told on, up to `count`. */
static inline bool
tell_up_to(film_context *context, film_stack_entry *entry, const film_frame *frame,
           const film_exit *exit, uint32_t count)
{
    for (uint32_t index = entry->done; index < count; index++) {
        if (FILM_UNLIKELY(!tell(context, entry, frame, &exit->writes[index]))) {
            return false;
        }
        entry->done = (uint16_t)(index + 1);
    }
    return true;
}

static bool
tell_change(film_context *context, PyObject *value, const film_holder *holder)
{
    uint8_t token[FILM_TOKEN_MAX], *end = token;
    int64_t length_before;
    bool cut;

    if (FILM_LIKELY(!film_capture_changed(context, value, holder, &end, &length_before,
                                          &cut))) {
        return true;
    }
    return film_append_change(context->thread, token, (size_t)(end - token),
                              length_before, cut);
}

/* What calling this bound method may have changed. */
static bool
tell_self(film_context *context, PyObject *self)
{
    film_holder holder = {.kind = FILM_HOLDER_NONE};

    return tell_change(context, self, &holder);
}

/* `table[i](x)`: a short list or tuple of bound methods. */
static bool
tell_methods(film_context *context, PyObject *table)
{
    Py_ssize_t count = PySequence_Fast_GET_SIZE(table);
    PyObject **items = PySequence_Fast_ITEMS(table);

    for (Py_ssize_t index = 0; index < count && index < METHODS_LIMIT; index++) {
        PyObject *self = items[index] == NULL ? NULL : film_method_self(items[index]);

        if (self == NULL) {
            break;
        }
        if (!tell_self(context, self)) {
            return false;
        }
    }
    return true;
}

static bool
tell_touch(film_context *context, film_stack_entry *entry, const film_frame *frame,
           film_touch *touch)
{
    film_holder holder;
    PyObject *value = film_touch_resolve(entry, frame, touch, &holder), *self;

    if (value == NULL) {
        return true;
    }
    if (FILM_UNLIKELY(Py_TYPE(value)->tp_call != NULL) &&
        (self = film_method_self(value)) != NULL) {
        return tell_self(context, self);
    }
    if ((Py_IS_TYPE(value, &PyList_Type) || Py_IS_TYPE(value, &PyTuple_Type)) &&
        !tell_methods(context, value)) {
        return false;
    }
    return film_value_is_constant(value) || tell_change(context, value, &holder);
}

/* A method was called: where its object is a builtin, only that one may have changed.
 * False: it is none, and anything may have. */
static bool
is_contained(film_context *context, film_stack_entry *entry, const film_frame *frame,
             const film_change *change, bool *written)
{
    film_touch *touch;
    film_holder holder;
    PyObject *value;

    if (change->receiver == 0) {
        return false;
    }
    touch = &entry->region->touches[change->receiver - 1];
    value = film_touch_resolve(entry, frame, touch, &holder);
    if (value == NULL || !film_value_is_builtin(value)) {
        return false;
    }
    if (change->reads) {
        *written = true;
        return true;
    }
    if (film_value_is_constant(value) || PyTuple_Check(value)) {
        return false; /* t[0].append(x): what is in it is changed */
    }
    *written = tell_change(context, value, &holder);
    return true;
}

static bool
tell_all_touches(film_context *context, film_stack_entry *entry,
                 const film_frame *frame)
{
    const film_region *region = entry->region;

    for (uint32_t index = 0; index < region->touch_count; index++) {
        if (FILM_UNLIKELY(
                !tell_touch(context, entry, frame, &region->touches[index]))) {
            return false;
        }
    }
    return true;
}

/* What the region loads and may have changed in place. */
static bool
tell_touches(film_context *context, film_stack_entry *entry, const film_frame *frame)
{
    const film_region *region = entry->region;
    bool written = true;

    if (region->change_count > FILM_REGION_CHANGES) {
        return tell_all_touches(context, entry, frame);
    }
    for (uint32_t index = 0; index < region->change_count && written; index++) {
        if ((entry->covered >> index & 1) == 0 &&
            !is_contained(context, entry, frame, &region->changes[index], &written)) {
            return tell_all_touches(context, entry, frame);
        }
    }
    return written;
}

static inline bool
tell_pending(film_context *context, film_stack_entry *entry)
{
    return FILM_LIKELY(!entry->pending) || film_pending_settle(context, entry);
}

/* The frame has reached `unit`, where a region begins. */
static bool
arrive(film_context *context, film_stack_entry *entry, const film_frame *frame,
       uint32_t unit)
{
    film_region *region = entry->region;

    if (region != NULL) {
        film_exit *exit = region->stops;

        if (!tell_pending(context, entry)) {
            return false;
        }
        if (FILM_UNLIKELY(region->stop_count == 0 || exit->place != unit)) {
            exit = film_exit_find(region->stops, region->stop_count, unit);
            if (exit == NULL) {
                exit = film_exit_find(region->inner, region->inner_count, unit);
            }
        }
        if (FILM_UNLIKELY(exit == NULL)) {
            note_unknown_edge(entry, frame);
        }
        else if (!tell_up_to(context, entry, frame, exit, exit->count)) {
            return false;
        }
        if (region->touch_count != 0 && !tell_touches(context, entry, frame)) {
            return false;
        }
    }
    return true;
}

static inline bool
begin_region(film_context *context, film_stack_entry *entry, const film_frame *frame,
             uint32_t unit)
{
    film_region *region = region_at(entry->plan, unit);

    enter_region(entry, region);
    if (FILM_UNLIKELY(region != NULL && region->before != NULL)) {
        bool in_flight = is_in_flight(context, entry, region->before);

        context->returned = NULL;
        return film_pending_begin(context, entry, frame, region->before, in_flight);
    }
    context->returned = NULL;
    return true;
}

bool
film_observe_line(film_context *context, const film_frame *frame, uint32_t unit)
{
    film_stack_entry *entry = context->top;
    bool timed = film_the_session.options.line_times;

    if (entry->plan == NULL) {
        return film_append_line(context->thread, unit, timed);
    }
    if (!arrive(context, entry, frame, unit) ||
        !film_append_line(context->thread, unit, timed) ||
        !begin_region(context, entry, frame, unit)) {
        return false;
    }
    /* At a point both events come, the line's first. */
    entry->fresh = entry->region != NULL && entry->region->point;
    return true;
}

bool
film_observe_point(film_context *context, const film_frame *frame, uint32_t unit)
{
    film_stack_entry *entry = context->top;

    if (entry->fresh) {
        entry->fresh = false;
        return true;
    }
    return arrive(context, entry, frame, unit) &&
           begin_region(context, entry, frame, unit);
}

/* An event within the region: the writes before it. `entered`: code runs from within
 * the instruction, which may be a store whose slot is written already; or a finaliser
 * runs in the unwinding, and all is told. */
static bool
tell_inside(film_context *context, film_stack_entry *entry, const film_frame *frame,
            uint32_t unit, bool entered)
{
    film_region *region = entry->region;
    uint32_t place;
    film_exit *exit;

    if (region == NULL || (entered && entry->unwinding)) {
        return true;
    }
    place = instruction_of(entry->plan, unit);
    if (FILM_UNLIKELY(entry->pending) && place != region->before->place &&
        !film_pending_settle(context, entry)) {
        return false;
    }
    exit = film_exit_find(region->inner, region->inner_count, place);
    if (FILM_UNLIKELY(exit == NULL)) {
        /* 3.11: after an exception event the unwinding may still close generators
         * while the frame shows the raise; a RERAISE makes it show that again. */
        if (!entered || entry->raised != place + 1) {
            note_unknown_edge(entry, frame);
        }
        return true;
    }
    return tell_up_to(context, entry, frame, exit,
                      entered ? exit->count_entered : exit->count);
}

/* What the region may have changed in place before the instruction at `unit`, from
 * where a function is entered: what that changes is its own. */
static bool
tell_early_changes(film_context *context, film_stack_entry *entry, uint32_t unit)
{
    const film_region *region = entry->region;
    uint32_t place = instruction_of(entry->plan, unit);
    bool written = true;

    if (region->change_count > FILM_REGION_CHANGES) {
        return tell_all_touches(context, entry, entry->frame);
    }
    for (uint32_t index = 0; index < region->change_count && written; index++) {
        const film_change *change = &region->changes[index];

        if (change->place >= place || (entry->covered >> index & 1) != 0) {
            continue;
        }
        if (!is_contained(context, entry, entry->frame, change, &written)) {
            return tell_all_touches(context, entry, entry->frame);
        }
        entry->covered |= (uint8_t)(1u << index);
    }
    return written;
}

bool
film_observe_caller(film_context *context, const film_frame *callee)
{
    film_stack_entry *entry = context->top;
    const film_region *region = entry->region;
    bool direct;
    uint32_t unit;

    if (region == NULL) {
        return true;
    }
    direct = entry->frame == film_frame_caller(callee) && !film_frame_is_from_c(callee);
    if (FILM_LIKELY(direct && !region->early && !region->early_change &&
                    !entry->pending)) {
        return true;
    }
    unit = film_frame_unit(entry->frame, entry->first);
    return tell_inside(context, entry, entry->frame, unit, true) &&
           (!region->early_change || tell_early_changes(context, entry, unit));
}

/* True when the function that is called there is the class of `self`: its __init__ is
 * called by way of C, and nothing else is. */
static bool
calls_the_class(const film_stack_entry *caller, const film_change *change,
                const film_frame *callee)
{
    PyObject *self = film_frame_local(callee, 0), *type;

    if (self == NULL || change->callee == FILM_PLAN_NO_PLACE) {
        return false;
    }
    type = (PyObject *)Py_TYPE(self);
    return film_frame_local(caller->frame, change->callee) == type ||
           film_frame_local(caller->frame, change->callee + 1) == type;
}

/* A recorded function begins: what it changes, its own lines will tell. */
static inline void
cover(film_stack_entry *caller, const film_frame *callee, const film_code *code,
      uint32_t site)
{
    const film_region *region = caller->region;
    uint32_t place;
    bool from_c;

    if (region == NULL || region->change_count > FILM_REGION_CHANGES || site == 0 ||
        caller->frame != film_frame_caller(callee)) {
        return;
    }
    from_c = film_frame_is_from_c(callee);
    if (from_c && !code->initialises) {
        return;
    }
    place = instruction_of(caller->plan, site - 1);
    for (uint32_t index = 0; index < region->change_count; index++) {
        const film_change *change = &region->changes[index];

        if (change->place == place) {
            if (!from_c || calls_the_class(caller, change, callee)) {
                caller->covered |= (uint8_t)(1u << index);
            }
            return;
        }
    }
}

/* The arguments, in rows before the call's own. */
static bool
tell_arguments(film_context *context, film_stack_entry *entry, const film_frame *frame)
{
    const film_plan *plan = entry->plan;
    uint8_t tokens[FILM_APPEND_TOKENS + FILM_TOKEN_MAX], *end = tokens;
    uint32_t count = 0;

    for (uint32_t index = 0; index < plan->argument_count; index++) {
        uint32_t slot = plan->arguments[index] & ~FILM_ARGUMENT_IN_CELL;
        film_holder holder = {.kind = FILM_HOLDER_SLOT, .entry = entry, .slot = slot};
        PyObject *value = film_frame_local(frame, (int)slot);

        if (FILM_UNLIKELY(plan->arguments[index] & FILM_ARGUMENT_IN_CELL)) {
            holder.kind = FILM_HOLDER_CELL;
            value = film_cell_content(value);
        }
        if (FILM_UNLIKELY(entry->initialises && index == 0) && value != NULL) {
            holder.birth = true;
            film_capture_birth(Py_TYPE(value));
        }
        end = film_capture(context, value, &holder, secret_local(entry, slot), end);
        count++;
        if (end - tokens > (ptrdiff_t)(FILM_APPEND_TOKENS - FILM_TOKEN_MAX) ||
            count == FILM_APPEND_COUNT) {
            if (!film_append_values(context->thread, count, tokens,
                                    (size_t)(end - tokens))) {
                return false;
            }
            end = tokens;
            count = 0;
        }
    }
    return count == 0 ||
           film_append_values(context->thread, count, tokens, (size_t)(end - tokens));
}

bool
film_observe_call(film_context *context, const film_frame *frame, PyObject *code_object,
                  const film_code *code)
{
    uint32_t site = film_stack_site(context, frame);
    uint64_t serial = film_thread_next_frame(context->thread);
    film_stack_entry *entry;

    cover(context->top, frame, code, site);
    if (!film_observe_caller(context, frame) ||
        !film_stack_push(context, frame, code_object, code, serial)) {
        return false;
    }
    entry = context->top;
    entry->site = site;
    if (!tell_arguments(context, entry, frame) ||
        !film_append_call(context->thread, code->id, site)) {
        context->top--;
        return false;
    }
    enter_region(entry, entry->plan->entry);
    entry->raised = 0;
    if (FILM_UNLIKELY(code->has_namespace &&
                      film_frame_names(frame) == film_frame_globals(frame))) {
        film_place_renew(film_frame_globals(frame));
    }
    if (FILM_UNLIKELY(code->suspends)) {
        film_generators_put(frame, serial, code->id);
    }
    return true;
}

void
film_observe_resumed(film_context *context, uint32_t unit)
{
    film_stack_entry *entry = context->top;

    if (entry->plan != NULL) {
        enter_region(entry, region_at(entry->plan, unit));
    }
}

uint32_t
film_observe_continued(const film_plan *plan, uint32_t unit)
{
    const film_region *found = NULL;

    for (uint32_t index = 0; plan != NULL && index < plan->region_count; index++) {
        const film_region *region = &plan->regions[index];

        /* Where several lead there, the nearest before it. */
        if (region->sent && (found == NULL || region->place <= unit) &&
            (film_exit_find(region->stops, region->stop_count, unit) != NULL ||
             film_exit_find(region->inner, region->inner_count, unit) != NULL)) {
            found = region;
        }
    }
    return found == NULL ? unit : found->place;
}

bool
film_observe_leave(film_context *context, const film_frame *frame, PyObject *value)
{
    film_stack_entry *entry = context->top;
    film_holder holder = {.kind = FILM_HOLDER_NONE};
    uint8_t token[FILM_TOKEN_MAX], *end;

    if (!tell_inside(context, entry, frame, film_frame_unit(frame, entry->first),
                     false)) {
        return false;
    }
    if (entry->region != NULL && entry->region->touch_count != 0 &&
        !tell_touches(context, entry, frame)) {
        return false;
    }
    end = film_capture(context, value, &holder, NULL, token);
    return film_append_values(context->thread, 1, token, (size_t)(end - token));
}

void
film_observe_ended(film_context *context, PyObject *value)
{
    film_stack_entry *entry = context->top;

    if (entry->initialises) {
        value = film_frame_local(entry->frame, 0);
    }
    else if (film_frame_is_from_c(entry->frame)) {
        value = NULL; /* C code may drop it and give something else */
    }
    context->returned_unit = entry->site - 1;
    film_capture_returned(context, value);
}

bool
film_observe_raise(film_context *context, const film_frame *frame, uint32_t unit)
{
    film_stack_entry *entry = context->top;

    if (entry->plan == NULL) {
        return true;
    }
    if (FILM_UNLIKELY(entry->pending) && entry->region != NULL &&
        instruction_of(entry->plan, unit) == entry->region->before->place) {
        film_pending_drop(context, entry); /* the store itself has raised */
    }
    if (!tell_inside(context, entry, frame, unit, false) ||
        (entry->region != NULL && entry->region->touch_count != 0 &&
         !tell_touches(context, entry, frame))) {
        return false;
    }
    entry->unwinding = unit >= entry->plan->unit_count ||
                       (entry->plan->flags[unit] & FILM_PLACE_SWALLOWS) == 0;
    return true;
}

void
film_observe_handled(film_context *context, uint32_t unit, uint32_t raised_at)
{
    film_stack_entry *entry = context->top;

    if (entry->plan == NULL) {
        return;
    }
    film_pending_drop(context, entry);
    enter_region(entry, region_at(entry->plan, unit));
    entry->raised = raised_at == FILM_PLAN_NO_PLACE
                        ? 0
                        : (uint16_t)(instruction_of(entry->plan, raised_at) + 1);
}

bool
film_observe_unwind(film_context *context, const film_frame *frame)
{
    film_stack_entry *entry = context->top;
    film_exit *exit;

    if (entry->plan == NULL || entry->dead || entry->region == NULL) {
        return true;
    }
    if (!tell_pending(context, entry)) {
        return false;
    }
    exit = film_exit_find(entry->region->stops, entry->region->stop_count,
                          FILM_PLAN_UNWINDS);
    if (exit == NULL) {
        note_unknown_edge(entry, frame);
        return true;
    }
    return tell_up_to(context, entry, frame, exit, exit->count) &&
           (entry->region->touch_count == 0 || tell_touches(context, entry, frame));
}
