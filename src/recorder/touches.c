/* touches.c: see touches.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/touches.h"

#include "recorder/attributes.h"
#include "recorder/capture.h"
#include "recorder/compat_objects.h"
#include "recorder/objects.h"
#include "recorder/session.h"
#include "recorder/variables.h"

/* How many bound methods in a list, tuple or dict are followed to their objects. */
#define METHODS_LIMIT 16

FILM_HOT bool
film_tell_change(film_context *context, PyObject *value, const film_holder *holder,
                 film_effect effect)
{
    uint8_t token[FILM_TOKEN_MAX], *end;
    film_changed changed[FILM_CHANGES];
    uint32_t count = film_capture_changed(context, value, holder, effect, changed);

    for (uint32_t index = 0; FILM_UNLIKELY(index < count); index++) {
        end = film_token_put_value(token, FILM_TOKEN_VALUE, changed[index].record);
        if (!film_append_change(context->thread, token, (size_t)(end - token),
                                changed[index].length_before, changed[index].cut)) {
            return false;
        }
    }
    return true;
}

/* What calling this bound method may have changed. */
static FILM_HOT bool
tell_self(film_context *context, PyObject *self)
{
    film_holder holder = {.kind = FILM_HOLDER_NONE};

    return film_tell_change(context, self, &holder, FILM_EFFECT_ANY);
}

/* `table[i](x)`: a short list, tuple or dict of bound methods. */
static FILM_HOT bool
tell_methods(film_context *context, PyObject *table)
{
    bool dict = Py_IS_TYPE(table, &PyDict_Type);
    film_pairs pairs = {0};
    Py_ssize_t count;

    if (dict) {
        film_pairs_of_dict(table, &pairs);
    }
    count = dict ? pairs.count : PySequence_Fast_GET_SIZE(table);
    for (Py_ssize_t index = 0; index < count && index < METHODS_LIMIT; index++) {
        PyObject *key, *item = dict ? film_pairs_get(&pairs, index, &key)
                                    : PySequence_Fast_ITEMS(table)[index];
        PyObject *self = item == NULL ? NULL : film_method_self(item);

        if (self == NULL) {
            break;
        }
        if (!tell_self(context, self)) {
            return false;
        }
    }
    return true;
}

/* The containers that an instance's attributes hold, where it was given to code that is
 * not known. */
static bool
tell_held(film_context *context, PyObject *owner)
{
    film_holder holder = {.kind = FILM_HOLDER_NONE};
    film_pairs pairs = {0};

    if (film_type_of(Py_TYPE(owner))->content != FILM_CONTENT_INSTANCE ||
        !film_pairs_of_object(owner, &pairs)) {
        return true;
    }
    for (Py_ssize_t index = 0; index < pairs.count; index++) {
        PyObject *key, *item = film_pairs_get(&pairs, index, &key);

        if (item != NULL &&
            (PyDict_Check(item) || PyList_Check(item) || PyAnySet_Check(item)) &&
            film_objects_find(item) != NULL &&
            !film_tell_change(context, item, &holder, FILM_EFFECT_ANY)) {
            return false;
        }
    }
    return true;
}

static FILM_HOT bool
tell_touch(film_context *context, film_stack_entry *entry, const film_frame *frame,
           const film_touch *touch)
{
    film_holder holder;
    PyObject *value, *self;

    if (touch->base == FILM_WRITE_FAST && touch->depth == 0) {
        value = film_frame_local(frame, touch->slot);
        if (value == NULL ||
            (film_value_is_constant(value) && Py_TYPE(value) != &PyCFunction_Type)) {
            return true;
        }
    }
    value = film_touch_resolve(entry, frame, touch, &holder);
    if (value == NULL || Py_TYPE(value) == &PyFunction_Type) {
        return true;
    }
    if (FILM_UNLIKELY(Py_TYPE(value)->tp_call != NULL) &&
        (self = film_method_self(value)) != NULL) {
        return tell_self(context, self);
    }
    if ((Py_IS_TYPE(value, &PyList_Type) || Py_IS_TYPE(value, &PyTuple_Type) ||
         Py_IS_TYPE(value, &PyDict_Type)) &&
        !tell_methods(context, value)) {
        return false;
    }
    if (film_value_is_constant(value)) {
        return true;
    }
    return film_tell_change(context, value, &holder, FILM_EFFECT_ANY) &&
           (FILM_LIKELY(!film_the_session.options.held_too) ||
            tell_held(context, value));
}

/* The call has made a coroutine or generator and run nothing. */
static bool
makes_generator(film_stack_entry *entry, const film_frame *frame,
                const film_change *change)
{
    film_holder holder;
    const film_touch *maker = &entry->plan->touches[change->maker - 1];
    PyObject *function = film_touch_resolve(entry, frame, maker, &holder);

    if (function != NULL && change->method != 0) {
        const PyCodeObject *code = (const PyCodeObject *)entry->code;

        function = film_method_find(
            function, PyTuple_GET_ITEM(code->co_names, (Py_ssize_t)change->method - 1));
    }
    return function != NULL && Py_TYPE(function) == &PyFunction_Type &&
           (((PyCodeObject *)((PyFunctionObject *)function)->func_code)->co_flags &
            (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)) != 0;
}

/* A method was called: where its object is a builtin, only that one may have changed.
 * False: it is none, and anything may have. */
static FILM_HOT bool
is_contained(film_context *context, film_stack_entry *entry, const film_frame *frame,
             const film_change *change, bool *written)
{
    const film_touch *touch;
    film_holder holder;
    PyObject *value;

    if (change->receiver == 0) {
        *written = true;
        return change->maker != 0 && makes_generator(entry, frame, change);
    }
    touch =
        &entry->plan->touches[film_region_touches(entry->region)[change->receiver - 1]];
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
    *written =
        film_tell_change(context, value, &holder,
                         entry->region->change_count == 1 ? (film_effect)change->effect
                                                          : FILM_EFFECT_ANY);
    return true;
}

static FILM_HOT bool
tell_all_touches(film_context *context, film_stack_entry *entry,
                 const film_frame *frame)
{
    const film_region *region = entry->region;
    const uint16_t *touches = film_region_touches(region);

    for (uint32_t index = 0; index < region->touch_count; index++) {
        if (FILM_UNLIKELY(!tell_touch(context, entry, frame,
                                      &entry->plan->touches[touches[index]]))) {
            return false;
        }
    }
    return true;
}

FILM_HOT bool
film_tell_touches(film_context *context, film_stack_entry *entry,
                  const film_frame *frame, uint32_t unit)
{
    const film_region *region = entry->region;
    const film_change *changes = film_region_changes(region);
    bool written = true;

    if (region->change_count > FILM_REGION_CHANGES) {
        return tell_all_touches(context, entry, frame);
    }
    for (uint32_t index = 0; index < region->change_count && written; index++) {
        if (region->forward && changes[index].place > unit) {
            continue; /* it is still to come */
        }
        if ((entry->covered >> index & 1) == 0 &&
            !is_contained(context, entry, frame, &changes[index], &written)) {
            return tell_all_touches(context, entry, frame);
        }
    }
    return written;
}

bool
film_tell_early_changes(film_context *context, film_stack_entry *entry,
                        const film_frame *frame, uint32_t unit)
{
    const film_region *region = entry->region;
    uint32_t place = film_plan_instruction(entry->plan, unit);
    bool written = true;

    if (region->change_count > FILM_REGION_CHANGES) {
        return tell_all_touches(context, entry, frame);
    }
    for (uint32_t index = 0; index < region->change_count && written; index++) {
        const film_change *change = &film_region_changes(region)[index];

        if (change->place >= place || change->place < entry->told_early ||
            (entry->covered >> index & 1) != 0) {
            continue;
        }
        if (!is_contained(context, entry, frame, change, &written)) {
            /* Not again when the same instruction goes on calling; but what was made
             * there may still change something later (map is lazy). */
            written = tell_all_touches(context, entry, frame);
            entry->told_early = (uint16_t)place;
            break;
        }
        entry->covered |= (uint8_t)(1u << index);
    }
    return written;
}
