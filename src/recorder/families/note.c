/* note.c: see note.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/families/note.h"

#include <string.h>

#include "format/value_record.h"
#include "recorder/attributes.h"
#include "recorder/capture_keep.h"
#include "recorder/capture_scalars.h"
#include "recorder/compat_objects.h"
#include "recorder/families/family.h"
#include "recorder/secrets.h"
#include "recorder/text.h"

/* --- tokens ------------------------------------------------------------------------- */

void
film_note_begin(uint32_t text, uint32_t names, uint8_t base, uint32_t count)
{
    film_buffer *body = &film_the_snapshot.body;

    film_buffer_put_varint(body, text);
    film_buffer_put_varint(body, names);
    film_buffer_put_byte(body, base);
    film_buffer_put_varint(body, count);
}

static void
put_token(const uint8_t *token, const uint8_t *end)
{
    film_buffer_append(&film_the_snapshot.body, token, (size_t)(end - token));
}

void
film_note_value(film_unfinished *making, PyObject *value)
{
    film_snapshot_put_held(making, value);
}

void
film_note_scalar(film_unfinished *making, PyObject *value)
{
    uint8_t token[FILM_TOKEN_MAX] = {FILM_TOKEN_REDACTED}, *end = token + 1;

    if (!making->hidden || !film_secret_is_value(value, NULL)) {
        end = film_made_scalar_token(value, token);
    }
    put_token(token, end);
}

void
film_note_int(int64_t number)
{
    uint8_t token[FILM_TOKEN_MAX];

    put_token(token, film_token_put_int(token, number));
}

void
film_note_float(double number)
{
    uint8_t token[FILM_TOKEN_MAX];

    put_token(token, film_token_put_float(token, number));
}

void
film_note_none(void)
{
    film_buffer_put_byte(&film_the_snapshot.body, FILM_TOKEN_NONE);
}

typedef uint8_t *
token_maker(const char *bytes, size_t length, uint8_t *to);

static void
put_text(const film_unfinished *making, const char *text, size_t length,
         token_maker *make)
{
    uint8_t token[FILM_TOKEN_MAX] = {FILM_TOKEN_REDACTED}, *end = token + 1;

    if (!making->hidden) {
        end = make(text, length, token);
    }
    else {
        film_secret_remember_text(text, length);
    }
    put_token(token, end);
}

void
film_note_text(film_unfinished *making, const char *text, size_t length)
{
    put_text(making, text, length, film_text_token);
}

void
film_note_bytes(film_unfinished *making, const char *bytes, size_t length)
{
    put_text(making, bytes, length, film_bytes_token);
}

void
film_note_digits(const char *text, size_t length)
{
    uint8_t token[FILM_TOKEN_MAX];

    put_token(token, film_text_token(text, length, token));
}

/* Of a class the record, which has its name. */
void
film_note_owner(film_unfinished *making, PyObject *owner)
{
    film_unfinished as_reference = *making;

    as_reference.levels = PyType_Check(owner) ? 1 : 0;
    film_snapshot_put_held(&as_reference, owner);
}

/* --- texts -------------------------------------------------------------------------- */

static const char more[] = FILM_MORE_NAMES;

static void
put_bytes(film_template *made, const char *text, size_t length, bool is_name)
{
    size_t room = sizeof(made->text) - sizeof(more) - made->length;
    size_t used = length < room ? length : room;

    made->cut = made->cut || length > room;

    while (used > 0 && used < length && ((unsigned char)text[used] & 0xc0) == 0x80) {
        used--; /* not within a character */
    }
    for (size_t index = 0; index < used; index++) {
        char byte = text[index];

        made->text[made->length++] = is_name && (unsigned char)byte < 0x20 ? '?' : byte;
    }
}

void
film_template_put(film_template *made, const char *text)
{
    put_bytes(made, text, strlen(text), false);
}

void
film_template_put_name(film_template *made, const char *name)
{
    put_bytes(made, name, strlen(name), true);
}

void
film_template_put_str(film_template *made, PyObject *name)
{
    char text[201];

    if (name != NULL && PyUnicode_CheckExact(name)) {
        size_t length = film_text_copy(name, text, sizeof(text) - 1, NULL);

        put_bytes(made, text, length, true);
    }
}

void
film_template_put_short(film_template *made, const PyTypeObject *type)
{
    const char *dot = strrchr(type->tp_name, '.');

    film_template_put_name(made,
                           dot == NULL || dot[1] == '\0' ? type->tp_name : dot + 1);
}

void
film_template_put_class(film_template *made, PyTypeObject *type)
{
    PyObject *module;

    film_template_put(made, "<class '");
    if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0) {
        module = film_dict_find(film_type_dict(type), "__module__");
        if (module != NULL && PyUnicode_CheckExact(module) &&
            PyUnicode_CompareWithASCIIString(module, "builtins") != 0) {
            film_template_put_str(made, module);
            film_template_put(made, ".");
        }
        film_template_put_str(made, ((PyHeapTypeObject *)type)->ht_qualname);
    }
    else {
        film_template_put_name(made, type->tp_name);
    }
    film_template_put(made, "'>");
}

uint32_t
film_template_keep(film_template *made)
{
    if (made->cut) {
        memcpy(made->text + made->length, more, sizeof(more) - 1);
        return film_keep_string(made->text, made->length + sizeof(more) - 1);
    }
    return film_keep_string(made->text, made->length);
}

/* --- names -------------------------------------------------------------------------- */

void
film_names_add(film_name_list *list, const char *name, size_t length)
{
    bool first = list->length == 0, plain = true;

    for (size_t index = 0; index < length;
         index++) { /* no class statement makes others */
        plain = plain && name[index] != ',' && (unsigned char)name[index] >= 0x20;
    }
    if (list->cut || !plain ||
        length + !first + sizeof(more) > sizeof(list->text) - list->length) {
        list->cut = true;
        return;
    }
    if (!first) {
        list->text[list->length++] = ',';
    }
    memcpy(list->text + list->length, name, length);
    list->length += length;
}

void
film_names_add_str(film_name_list *list, PyObject *name)
{
    char text[256];
    bool cut = true;

    if (name != NULL && PyUnicode_CheckExact(name)) {
        size_t length = film_text_copy(name, text, sizeof(text) - 4, &cut);

        if (!cut) {
            film_names_add(list, text, length);
        }
    }
    list->cut = list->cut || cut;
}

uint32_t
film_names_keep(film_name_list *list)
{
    if (list->cut) {
        if (list->length > 0) {
            list->text[list->length++] = ',';
        }
        memcpy(list->text + list->length, more, sizeof(more) - 1);
        list->length += sizeof(more) - 1;
    }
    return film_keep_string(list->text, list->length);
}

uint32_t
film_phrase_id(film_phrase *phrase)
{
    if (phrase->era != film_the_family_era) {
        phrase->id = film_keep_string(phrase->text, strlen(phrase->text));
        phrase->era = film_the_family_era;
    }
    return phrase->id;
}
