/* variables.c: see variables.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/variables.h"

#include <stdlib.h>
#include <string.h>

#include "format/redact.h"
#include "recorder/attributes.h"
#include "recorder/session.h"
#include "recorder/text.h"

static bool
is_global(uint8_t kind)
{
    return kind == FILM_WRITE_GLOBAL || kind == FILM_DELETE_GLOBAL;
}

PyObject *
film_namespace_of(const film_frame *frame, uint8_t kind)
{
    PyObject *names =
        is_global(kind) ? film_frame_globals(frame) : film_frame_names(frame);

    return names != NULL && PyDict_CheckExact(names) ? names : NULL;
}

film_set_form
film_namespace_form(const film_frame *frame, uint8_t kind)
{
    return is_global(kind) || film_frame_names(frame) == film_frame_globals(frame)
               ? FILM_SET_GLOBAL
               : FILM_SET_CLASS;
}

uint32_t
film_name_describe(film_named *named)
{
    char *text = named->name == NULL ? NULL : film_text_new(named->name, false);

    if (text != NULL) {
        named->name_id =
            film_writer_string(film_the_session.writer, text, strlen(text));
    }
    free(text);
    return named->name_id;
}

static bool
is_secret(PyObject *name)
{
    char *text = name == NULL ? NULL : film_text_new(name, false);
    bool secret;

    if (text == NULL) {
        return name != NULL; /* out of memory: rather too little than a secret */
    }
    secret = film_redact_is_secret_name(&film_the_session.options.redaction, text,
                                        strlen(text));

    free(text);
    return secret;
}

PyObject *
film_name_judge(film_named *named)
{
    if (named->secrecy == FILM_SECRECY_UNKNOWN) {
        named->secrecy =
            is_secret(named->name) ? FILM_SECRECY_SECRET : FILM_SECRECY_NONE;
    }
    return named->secrecy == FILM_SECRECY_SECRET ? named->name : NULL;
}

uint8_t *
film_secret_slots(PyCodeObject *code)
{
    PyObject *names = code->co_localsplusnames;
    Py_ssize_t count = PyTuple_GET_SIZE(names);
    uint8_t *secret = NULL;

    for (Py_ssize_t slot = 0; slot < count; slot++) {
        if (!is_secret(PyTuple_GET_ITEM(names, slot))) {
            continue;
        }
        if (secret == NULL) {
            secret = calloc((size_t)count, 1);
        }
        if (secret == NULL) {
            return NULL;
        }
        secret[slot] = 1;
    }
    return secret;
}

PyObject *
film_name_of_secret_slot(film_stack_entry *entry, uint32_t slot)
{
    const PyCodeObject *code = (const PyCodeObject *)entry->code;

    if (slot >= (uint32_t)code->co_nlocalsplus || !entry->plan->secret_slots[slot]) {
        return NULL;
    }
    return PyTuple_GET_ITEM(code->co_localsplusnames, (Py_ssize_t)slot);
}

/* d.__setitem__: CPython's descrobject.c has the like, in all of its versions. */
typedef struct method_wrapper {
    PyObject_HEAD
    PyObject *descriptor;
    PyObject *self;
} method_wrapper;

PyObject *
film_method_self(PyObject *value)
{
    const PyTypeObject *type = Py_TYPE(value);
    PyObject *self = NULL;

    if (type == &PyCFunction_Type || type == &PyCMethod_Type) {
        self = PyCFunction_GET_SELF(value);
    }
    else if (type == &PyMethod_Type) {
        self = PyMethod_GET_SELF(value);
    }
    else if (type->tp_name[0] == 'm' && (type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0 &&
             strcmp(type->tp_name, "method-wrapper") == 0) {
        self = ((const method_wrapper *)value)->self;
    }
    return self == NULL || film_value_is_constant(self) ? NULL : self;
}

/* What a namespace holds under a name. */
static PyObject *
look_up(PyObject *dict, film_lookup *lookup)
{
    const PyDictKeysObject *keys = ((PyDictObject *)dict)->ma_keys;
    film_pairs pairs;
    PyObject *value;

    film_pairs_of_dict(dict, &pairs);
    if (FILM_LIKELY(lookup->position < pairs.count && pairs.texts != NULL &&
                    pairs.values == NULL &&
                    pairs.texts[lookup->position].me_key == lookup->name)) {
        return pairs.texts[lookup->position].me_value;
    }
    /* A name that is a builtin's: it has come when there are other or more keys. */
    if (lookup->keys == keys && lookup->keys_count == pairs.count) {
        return NULL;
    }
    value = film_dict_lookup(dict, lookup->name);
    if (value == NULL) {
        lookup->keys = keys;
        lookup->keys_count = pairs.count;
        return NULL;
    }
    lookup->position = film_dict_hint(dict, lookup->name, value);
    lookup->position = lookup->position < 0 ? 0 : lookup->position;
    return value;
}

static PyObject *
resolve_base(film_stack_entry *entry, const film_frame *frame, const film_touch *touch,
             film_holder *holder)
{
    film_lookup *lookup = film_touch_lookup(touch);

    *holder = (film_holder){.entry = entry, .slot = touch->slot};
    switch (touch->base) {
    case FILM_WRITE_FAST:
        holder->kind = FILM_HOLDER_SLOT;
        return film_frame_local(frame, touch->slot);
    case FILM_WRITE_CELL:
        holder->kind = FILM_HOLDER_CELL;
        return film_cell_content(film_frame_local(frame, touch->slot));
    default:
        holder->kind = FILM_HOLDER_NAMESPACE;
        holder->owner = film_namespace_of(frame, touch->base);
        holder->name = lookup->name;
        return holder->owner == NULL ? NULL : look_up(holder->owner, lookup);
    }
}

/* Classes, modules and functions do not change, but what their attributes hold may. */
static bool
has_attributes(PyObject *value)
{
    return Py_TYPE(value) == &PyType_Type || Py_TYPE(value) == &PyModule_Type ||
           Py_TYPE(value) == &PyFunction_Type;
}

FILM_HOT PyObject *
film_touch_resolve(film_stack_entry *entry, const film_frame *frame,
                   const film_touch *touch, film_holder *holder)
{
    PyObject *owner = resolve_base(entry, frame, touch, holder), *value = owner;

    for (uint32_t index = 0; index < touch->depth && value != NULL; index++) {
        film_named *step = film_touch_step(touch, index);
        film_kept kept;

        owner = value;
        if (film_value_is_constant(owner) &&
            (touch->method || !has_attributes(owner))) {
            return NULL;
        }
        *holder = (film_holder){
            .kind = FILM_HOLDER_ATTRIBUTE, .owner = owner, .name = step->name};
        value = film_attribute_read(step, owner, &kept);
        if (value == NULL && !touch->method) {
            holder->kind = FILM_HOLDER_NONE;
            value = kept == FILM_KEPT_VIA ? film_attribute_kept(owner, step->name)
                                          : film_attribute_of_class(owner, step->name);
        }
    }
    return value;
}
