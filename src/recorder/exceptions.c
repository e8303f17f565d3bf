/* exceptions.c: see exceptions.h.
 * An exception passes through many frames and is reported in each, so the last message
 * is remembered by its bytes (never by the object, whose address is reused).
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/exceptions.h"

#include <string.h>

#include "format/redact.h"
#include "recorder/exception_text.h"
#include "recorder/known_secrets.h"
#include "recorder/session.h"

#define MESSAGE_BYTES 256u
#define NAME_BYTES 200u
#define UTF8_BYTES 4u /* a code point takes at most */

static struct {
    uint64_t generation;
    uint64_t id;
    size_t length;
    uint32_t flags;
    char text[MESSAGE_BYTES + 1];
} last_message;

void
film_exception_reset(void)
{
    last_message.generation = 0;
}

static uint32_t
type_name_id(PyTypeObject *type)
{
    const char *name = type->tp_name;
    const char *dot = strrchr(name, '.');
    size_t length;

    if (dot != NULL) {
        name = dot + 1;
    }
    length = strlen(name);
    if (length > NAME_BYTES) {
        length = NAME_BYTES;
        while (length > 0 && ((unsigned char)name[length] & 0xc0) == 0x80) {
            length--; /* not within a character */
        }
    }
    return film_writer_string(film_the_session.writer, name, length);
}

/* Whether a secret is known to be in the message once what follows secret names was taken
 * out of it, as the writer does. */
static bool
has_secret(const char *text, size_t length)
{
    film_buffer redacted = {0};
    bool found;

    if (film_the_secret_count == 0 || !film_secret_is_in(text, length)) {
        return false;
    }
    (void)film_redact_text(&film_the_session.options.redaction, text, length,
                           &redacted);
    found = redacted.failed ||
            film_secret_is_in((const char *)redacted.data, redacted.length);
    film_buffer_reset(&redacted);
    return found;
}

/* Remembered, for the next frame has the same. */
static uint64_t
keep_message(const film_line *line)
{
    uint32_t flags = line->cut ? FILM_VALUE_CUT : 0;
    const char *text = line->text;
    size_t length = line->length;

    if (has_secret(text, length)) {
        text = FILM_REDACTED;
        length = strlen(FILM_REDACTED);
        flags = FILM_VALUE_REDACTED;
    }
    if (last_message.generation == film_the_session.generation &&
        film_record_is_kept(last_message.id) && last_message.length == length &&
        last_message.flags == flags && memcmp(last_message.text, text, length) == 0) {
        return last_message.id;
    }
    last_message.id = film_writer_value(
        film_the_session.writer, film_writer_string(film_the_session.writer, "str", 3),
        text, length, flags);
    last_message.generation = film_the_session.generation;
    last_message.length = length;
    last_message.flags = flags;
    memcpy(last_message.text, text, length);
    return last_message.id;
}

void
film_exception_describe(PyObject *exception, PyObject *value, uint32_t *type,
                        uint64_t *message)
{
    char text[MESSAGE_BYTES + UTF8_BYTES];
    film_line line = {.text = text, .capacity = MESSAGE_BYTES};
    bool has_text = false;

    *type = 0;
    *message = 0;
    if (exception == NULL) {
        return;
    }
    if (PyExceptionInstance_Check(exception)) {
        *type = type_name_id(Py_TYPE(exception));
        has_text = film_exception_text(exception, &line);
    }
    else if (PyType_Check(exception)) {
        *type = type_name_id((PyTypeObject *)exception);
        has_text = value != NULL &&
                   film_argument_text((PyTypeObject *)exception, value, &line);
    }
    if (has_text) {
        *message = keep_message(&line);
    }
}
