/* objwatch_value.c: see objwatch_value.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/objwatch_value.h"

#include <stdio.h>
#include <string.h>

#include "reader/literal.h"
#include "reader/render.h"

#define SHOWN 3u /* elements of a container */
#define LITERAL(out, text) film_buffer_append((out), (text), sizeof(text) - 1)

film_text
film_objwatch_type(film_watch *state, const film_seen_object *object)
{
    return film_short_name(film_reader_string(state->reader, object->type));
}

static bool
is(film_text text, const char *word)
{
    return text.length == strlen(word) &&
           (text.length == 0 || memcmp(text.data, word, text.length) == 0);
}

/* How a note says that the items are written, film_note_base with its flags; 0: there is
 * none. */
static uint8_t
noted_base(film_watch *state, const film_seen_object *object)
{
    film_value_record record;

    return (object->flags & FILM_VALUE_NOTED) != 0 &&
                   film_reader_record(state->reader, object->record - 1, &record,
                                      NULL) == FILM_OK
               ? record.note.base
               : 0;
}

/* Lists, tuples, sets, dicts, and what is made of them. A recording does not say that a
 * class is made of a deque: it is taken for a container too. */
static bool
is_container(film_watch *state, const film_seen_object *object)
{
    film_text type;

    if (object->form != FILM_OBJECT_SEQUENCE && object->form != FILM_OBJECT_MAPPING) {
        return false;
    }
    type = film_objwatch_type(state, object);
    return !is(type, "frozenset") && !is(type, "deque") && !is(type, "array") &&
           (noted_base(state, object) & FILM_BASE_ITEMS) != FILM_BASE_FROZEN;
}

/* What an instance of a class made of int, float or str is as such: its note shows
 * nothing but one value, maybe in brackets after the name. False: it is none. */
static bool
take_scalar(film_watch *state, const film_seen_object *object, film_held *held)
{
    film_value_record record;
    film_text text;
    film_token token;

    if (object == NULL || object->form != FILM_OBJECT_ATTRIBUTES ||
        (object->flags & FILM_VALUE_NOTED) == 0 ||
        film_reader_record(state->reader, object->record - 1, &record, NULL) !=
            FILM_OK ||
        record.note.count != 1) {
        return false;
    }
    text = film_reader_string(state->reader, record.note.text);
    if (text.length > 1 && text.data[text.length - 1] == ')') {
        film_text type = film_objwatch_type(state, object);

        if (text.length != type.length + 3 ||
            memcmp(text.data, type.data, type.length) != 0) {
            return false;
        }
        text = (film_text){text.data + text.length - 2, 1};
    }
    if (text.length != 1 || text.data[0] != FILM_HOLE_VALUE) {
        return false;
    }
    *held = film_watch_peek(state, record.note.tokens);
    token = film_held_token(held);
    if (token.kind == FILM_TOKEN_VALUE) {
        film_text type = {"", 0};

        if (film_reader_record(state->reader, token.value, &record, NULL) == FILM_OK) {
            type = film_reader_string(state->reader, record.type);
        }
        return is(type, "int") || is(type, "str");
    }
    return token.kind == FILM_TOKEN_INT || token.kind == FILM_TOKEN_FLOAT ||
           token.kind == FILM_TOKEN_SHORT_TEXT || token.kind == FILM_TOKEN_REDACTED;
}

bool
film_objwatch_is_container(film_watch *state, const film_held *held)
{
    const film_seen_object *object = film_watch_object(state, held);

    return object != NULL && is_container(state, object);
}

int64_t
film_objwatch_length(film_watch *state, const film_held *held)
{
    const film_seen_object *object = film_watch_object(state, held);

    return object != NULL && is_container(state, object) ? object->length : -1;
}

bool
film_objwatch_is_callable(const film_watch *state, const film_held *held)
{
    const film_seen_object *object = film_watch_object(state, held);

    return object != NULL && (object->flags & FILM_VALUE_CALLABLE) != 0;
}

static void
put_text(film_buffer *out, film_text text)
{
    film_buffer_append(out, text.data, text.length);
}

static void
put_type(film_buffer *out, film_text name)
{
    LITERAL(out, "(type)");
    put_text(out, name);
}

/* The attribute of that name; NULL: the object has none. */
static const film_held *
attribute(film_watch *state, const film_seen_object *object, const char *name)
{
    for (size_t i = 0; i < object->attributes.count; i++) {
        const film_seen_variable *item = &object->attributes.items[i];
        if (item->now.length > 0 &&
            is(film_reader_string(state->reader, item->name), name)) {
            return &item->now;
        }
    }
    return NULL;
}

static bool
is_enum(film_watch *state, const film_seen_object *object)
{
    return object->form == FILM_OBJECT_ATTRIBUTES &&
           attribute(state, object, "_name_") != NULL &&
           attribute(state, object, "_value_") != NULL &&
           (attribute(state, object, "_sort_order_") != NULL ||
            (object->flags & FILM_VALUE_NOTED) != 0); /* Perm.R|W */
}

static void
put_plain(film_watch *state, film_buffer *out, const film_held *held, bool quoted);

/* `Colour.RED`, in containers `<Colour.RED: 1>`. */
static void
put_enum(film_watch *state, film_buffer *out, const film_seen_object *object,
         bool quoted)
{
    if (quoted) {
        film_buffer_put_byte(out, '<');
    }
    put_text(out, film_objwatch_type(state, object));
    film_buffer_put_byte(out, '.');
    put_plain(state, out, attribute(state, object, "_name_"), false);
    if (quoted) {
        LITERAL(out, ": ");
        put_plain(state, out, attribute(state, object, "_value_"), true);
        film_buffer_put_byte(out, '>');
    }
}

/* The name a record of a function, class or module tells. */
static film_text
named(film_watch *state, const film_seen_object *object)
{
    film_value_record record;
    film_text none = {"", 0};

    if (film_reader_record(state->reader, object->record - 1, &record, NULL) !=
        FILM_OK) {
        return none;
    }
    return film_reader_string(state->reader, film_input_varint32(&record.rest));
}

film_text
film_objwatch_owner(film_watch *state, const film_seen_object *object)
{
    film_text told;

    if (object->form != FILM_OBJECT_NAMED) {
        return film_objwatch_type(state, object);
    }
    return film_objwatch_is_module(state, object, &told)
               ? told
               : film_short_name(named(state, object));
}

bool
film_objwatch_is_module(film_watch *state, const film_seen_object *object,
                        film_text *name)
{
    if (object->form != FILM_OBJECT_NAMED ||
        !is(film_objwatch_type(state, object), "module")) {
        return false;
    }
    *name = named(state, object);
    return true;
}

static bool
is_function(film_watch *state, const film_seen_object *object)
{
    return object->form == FILM_OBJECT_NAMED &&
           is(film_objwatch_type(state, object), "function");
}

static void
put_function(film_watch *state, film_buffer *out, const film_seen_object *object)
{
    LITERAL(out, "<function ");
    put_text(out, named(state, object));
    film_buffer_put_byte(out, '>');
}

/* A str of more than a token holds, an int of more than 64 bits; false: neither. */
static bool
put_long(film_watch *state, film_buffer *out, uint64_t id, bool quoted)
{
    film_value_record record;
    film_text type;
    size_t length;

    if (film_reader_record(state->reader, id, &record, NULL) != FILM_OK) {
        LITERAL(out, "<not recorded>");
        return true;
    }
    type = film_short_name(film_reader_string(state->reader, record.type));
    length = film_input_left(&record.rest);
    if ((record.flags & FILM_VALUE_REDACTED) != 0) {
        LITERAL(out, "[redacted]");
    }
    else if (is(type, "str") && quoted) {
        film_literal_str(out, record.rest.at, length);
    }
    else if (is(type, "str")) {
        film_buffer_append(out, record.rest.at, length);
    }
    else if (is(type, "int")) {
        film_literal_big_int(out, record.rest.at, length);
    }
    else {
        put_type(out, type);
        return false;
    }
    if ((record.flags & FILM_VALUE_CUT) != 0) {
        LITERAL(out, "...");
    }
    return true;
}

/* What str() gives, or repr() where `quoted`. Not for containers and instances. */
static void
put_plain(film_watch *state, film_buffer *out, const film_held *held, bool quoted)
{
    film_token token = film_held_token(held);

    switch (token.kind) {
    case FILM_TOKEN_UNBOUND:
        if (held->length > 0) {
            LITERAL(out, "<not recorded>");
            break;
        }
        LITERAL(out, "None");
        break;
    case FILM_TOKEN_NONE:
        LITERAL(out, "None");
        break;
    case FILM_TOKEN_FALSE:
        LITERAL(out, "False");
        break;
    case FILM_TOKEN_TRUE:
        LITERAL(out, "True");
        break;
    case FILM_TOKEN_INT:
        film_literal_int(out, token.integer);
        break;
    case FILM_TOKEN_FLOAT:
        film_literal_float(out, token.number);
        break;
    case FILM_TOKEN_REDACTED:
        LITERAL(out, "[redacted]");
        break;
    case FILM_TOKEN_SHORT_TEXT:
        if (quoted) {
            film_literal_str(out, (const uint8_t *)token.text.data, token.text.length);
        }
        else {
            film_buffer_append(out, token.text.data, token.text.length);
        }
        break;
    case FILM_TOKEN_CYCLE:
        put_type(out, film_short_name(film_reader_string(state->reader, token.type)));
        break;
    case FILM_TOKEN_VALUE:
    case FILM_TOKEN_OBJECT:
        put_long(state, out, token.value, quoted);
        break;
    }
}

/* What ObjWatch shows within a container: not bytes, not complex, not instances. */
static bool
is_simple(film_watch *state, const film_held *held)
{
    const film_seen_object *object = film_watch_object(state, held);
    film_token token = film_held_token(held);
    film_value_record record;
    film_text type;

    if (object != NULL) {
        film_held scalar;

        return is_function(state, object) || is_enum(state, object) ||
               take_scalar(state, object, &scalar);
    }
    if (token.kind != FILM_TOKEN_VALUE) {
        return token.kind != FILM_TOKEN_CYCLE && token.kind != FILM_TOKEN_OBJECT;
    }
    if (film_reader_record(state->reader, token.value, &record, NULL) != FILM_OK) {
        return false;
    }
    type = film_short_name(film_reader_string(state->reader, record.type));
    return is(type, "str") || is(type, "int");
}

/* torch.Size([2, 3]) */
static void
put_shape(film_watch *state, film_buffer *out, const film_seen_object *object)
{
    film_value_record record;
    char digits[24];

    LITERAL(out, "torch.Size([");
    if (film_reader_record(state->reader, object->record - 1, &record, NULL) ==
        FILM_OK) {
        for (uint64_t i = 0; i < record.count && !record.rest.failed; i++) {
            snprintf(digits, sizeof(digits), "%s%llu", i == 0 ? "" : ", ",
                     (unsigned long long)film_input_varint(&record.rest));
            film_buffer_append_text(out, digits);
        }
    }
    LITERAL(out, "])");
}

static bool
is_tensor(film_watch *state, const film_held *held)
{
    const film_seen_object *object = film_watch_object(state, held);

    return object != NULL && object->form == FILM_OBJECT_ARRAY &&
           !is(film_objwatch_type(state, object), "ndarray");
}

static void
put_element(film_watch *state, film_buffer *out, const film_held *held)
{
    const film_seen_object *object = film_watch_object(state, held);
    film_held scalar;

    if (object == NULL) {
        put_plain(state, out, held, true);
    }
    else if (take_scalar(state, object, &scalar)) {
        put_plain(state, out, &scalar, true);
    }
    else if (object->form == FILM_OBJECT_ARRAY) {
        put_shape(state, out, object);
    }
    else if (is_function(state, object)) {
        put_function(state, out, object);
    }
    else {
        put_enum(state, out, object, true);
    }
}

/* Whether the first elements are such that they are shown. */
static bool
shows_elements(film_watch *state, const film_seen_object *object, size_t shown,
               bool shapes)
{
    bool simple = shown > 0, tensors = shapes;

    for (size_t i = 0; i < shown; i++) {
        const film_seen_item *item = &object->items[i];
        simple = simple && is_simple(state, &item->value) &&
                 (object->form != FILM_OBJECT_MAPPING || is_simple(state, &item->key));
        tensors = tensors && is_tensor(state, &item->value);
    }
    return simple || (shown > 0 && tensors);
}

static void
put_container(film_watch *state, film_buffer *out, film_seen_object *object,
              bool shapes)
{
    size_t length = object->length < 0 ? 0 : (size_t)object->length;
    size_t shown = length < SHOWN ? length : SHOWN;
    char number[64];

    film_watch_load(state, object);
    film_buffer_put_byte(out, '(');
    put_text(out, film_objwatch_type(state, object));
    LITERAL(out, ")[");
    if (object->count < shown ||
        (length > 0 && !shows_elements(state, object, shown, shapes))) {
        snprintf(number, sizeof(number), "%zu elements]", length);
        film_buffer_append_text(out, number);
        return;
    }
    for (size_t i = 0; i < shown; i++) {
        if (i > 0) {
            LITERAL(out, ", ");
        }
        if (object->form == FILM_OBJECT_MAPPING) {
            film_buffer_put_byte(out, '(');
            put_element(state, out, &object->items[i].key);
            LITERAL(out, ", ");
        }
        put_element(state, out, &object->items[i].value);
        if (object->form == FILM_OBJECT_MAPPING) {
            film_buffer_put_byte(out, ')');
        }
    }
    if (length > SHOWN) {
        snprintf(number, sizeof(number), ", '... (%zu more elements)'", length - SHOWN);
        film_buffer_append_text(out, number);
    }
    film_buffer_put_byte(out, ']');
}

static void
put_object(film_watch *state, film_buffer *out, film_seen_object *object, bool shapes)
{
    const film_held *name;
    film_held scalar;

    if (is_container(state, object)) {
        put_container(state, out, object, shapes);
    }
    else if (object->form == FILM_OBJECT_ARRAY && shapes &&
             !is(film_objwatch_type(state, object), "ndarray")) {
        put_shape(state, out, object);
    }
    else if (is_function(state, object)) {
        put_function(state, out, object);
    }
    else if (object->form == FILM_OBJECT_NAMED && !state->older) {
        put_type(out, film_objwatch_owner(state, object));
    }
    else if (is_enum(state, object)) {
        if ((noted_base(state, object) & FILM_BASE_SAYS_VALUE) != 0) {
            put_plain(state, out, attribute(state, object, "_value_"), false);
        }
        else {
            put_enum(state, out, object, false);
        }
    }
    else if (take_scalar(state, object, &scalar)) {
        put_plain(state, out, &scalar, false);
    }
    else if (!state->older && (name = attribute(state, object, "__name__")) != NULL) {
        LITERAL(out, "(type)");
        put_plain(state, out, name, false);
    }
    else {
        put_type(out, film_objwatch_type(state, object));
    }
}

void
film_objwatch_put_value(film_watch *state, film_buffer *out, const film_held *held,
                        bool shapes)
{
    film_seen_object *object = film_watch_object(state, held);

    if (object != NULL && object->record != 0) {
        put_object(state, out, object, shapes);
    }
    else {
        put_plain(state, out, held, false);
    }
}
