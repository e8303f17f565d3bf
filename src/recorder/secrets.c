/* secrets.c: see secrets.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/secrets.h"

#include "format/redact.h"
#include "recorder/compat_objects.h"
#include "recorder/objects.h"
#include "recorder/session.h"
#include "recorder/text.h"

/* A code point takes at most 4 bytes. */
#define UTF8_BYTES 4u

bool film_the_hidden;

void
film_secrets_end(void)
{
    film_known_secrets_end();
    film_the_hidden = false;
}

bool
film_secret_looks_so(const char *text, size_t length)
{
    return film_redact_has_secret(&film_the_session.options.redaction, text, length);
}

/* The name is one that the user has given. */
static bool
is_added(PyObject *name)
{
    char text[FILM_SECRET_BYTES + UTF8_BYTES];
    const film_redaction *redaction = &film_the_session.options.redaction;

    return redaction->word_count != 0 && name != NULL && PyUnicode_CheckExact(name) &&
           film_redact_is_added_name(
               redaction, text, film_text_copy(name, text, FILM_SECRET_BYTES, NULL));
}

bool
film_secret_is_value(PyObject *value, PyObject *name)
{
    return PyUnicode_Check(value) || PyBytes_Check(value) ||
           (value != Py_None && value != Py_True && value != Py_False &&
            is_added(name));
}

void
film_secret_hide(film_context *context, PyObject *value, const film_holder *holder)
{
    film_object *object;
    bool known;

    if (!film_content_is_value((film_content)film_type_of(Py_TYPE(value))->content)) {
        return;
    }
    object = film_objects_see(context, value, holder, &known);
    if (object != NULL && !object->hidden) {
        object->hidden = true;
        object->stale = true; /* what was told of it so far showed more */
        film_the_hidden = true;
    }
    film_secret_remember(value);
}

bool
film_secret_is_item(PyObject *owner, PyObject *key)
{
    const film_object *object;

    if (key != NULL && film_name_is_secret(key)) {
        return true;
    }
    if (FILM_LIKELY(!film_the_hidden) || owner == NULL) {
        return false;
    }
    object = film_objects_find(owner);
    return object != NULL && object->hidden;
}
