/* secrets.c: see secrets.h.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "recorder/secrets.h"

#include <string.h>

#include "format/redact.h"
#include "recorder/compat_objects.h"
#include "recorder/objects.h"
#include "recorder/session.h"
#include "recorder/text.h"

#define SECRETS 256u
#define SHORTEST_SECRET 4u
#define UTF8_BYTES 4u

bool film_the_hidden;

static struct {
    uint32_t lengths[SECRETS];
    char texts[SECRETS][FILM_SECRET_BYTES];
    uint32_t next;
} *secrets; /* owned; made for the first one */
uint32_t film_the_secret_count;

static void
remember_text(const char *text, size_t length)
{
    uint32_t at;

    if (length > FILM_SECRET_BYTES) {
        length = FILM_SECRET_BYTES;
    }
    if (length < SHORTEST_SECRET || film_secret_is_in(text, length)) {
        return;
    }
    if (secrets == NULL && (secrets = calloc(1, sizeof(*secrets))) == NULL) {
        return;
    }
    at = secrets->next++ % SECRETS;
    memcpy(secrets->texts[at], text, length);
    secrets->lengths[at] = (uint32_t)length;
    if (film_the_secret_count < SECRETS) {
        film_the_secret_count++;
    }
}

static void
remember_scalar(PyObject *value)
{
    if (Py_TYPE(value) == &PyUnicode_Type) {
        char text[FILM_SECRET_BYTES + UTF8_BYTES];

        remember_text(text, film_text_copy(value, text, FILM_SECRET_BYTES, NULL));
    }
    else if (Py_TYPE(value) == &PyBytes_Type) {
        remember_text(PyBytes_AS_STRING(value), (size_t)PyBytes_GET_SIZE(value));
    }
}

void
film_secret_remember(PyObject *value)
{
    const PyTypeObject *type = Py_TYPE(value);

    if (type == &PyList_Type || type == &PyTuple_Type) {
        PyObject **items = type == &PyList_Type ? ((PyListObject *)value)->ob_item
                                                : ((PyTupleObject *)value)->ob_item;

        for (Py_ssize_t index = 0; index < Py_SIZE(value) && index < 64; index++) {
            if (items[index] != NULL) {
                remember_scalar(items[index]);
            }
        }
    }
    else if (type == &PyDict_Type) {
        film_pairs pairs;

        film_pairs_of_dict(value, &pairs);
        for (Py_ssize_t index = 0; index < pairs.count && index < 64; index++) {
            PyObject *key, *item = film_pairs_get(&pairs, index, &key);

            if (item != NULL) {
                remember_scalar(item);
            }
        }
    }
    else {
        remember_scalar(value);
    }
}

bool
film_secret_is_in(const char *text, size_t length)
{
    for (uint32_t index = 0; index < film_the_secret_count; index++) {
        if (length >= secrets->lengths[index] &&
            memmem(text, length, secrets->texts[index], secrets->lengths[index]) !=
                NULL) {
            return true;
        }
    }
    return false;
}

void
film_secrets_end(void)
{
    free(secrets);
    secrets = NULL;
    film_the_secret_count = 0;
    film_the_hidden = false;
}

/* --- what is a secret ---------------------------------------------------------------
 */

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
