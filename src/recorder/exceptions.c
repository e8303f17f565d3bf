/* exceptions.c: see exceptions.h.
 * An exception passes through many frames and is reported in each, so the last message
 * is remembered by its bytes (never by the object, whose address is reused).
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/exceptions.h"

#include <string.h>

#include "recorder/session.h"
#include "recorder/text.h"

#define MESSAGE_BYTES 256u
#define NAME_BYTES 200u

static struct {
    uint64_t generation;
    uint64_t id;
    size_t length;
    bool cut;
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

static uint64_t
keep_message(PyObject *source)
{
    char text[MESSAGE_BYTES + 1];
    bool cut;
    size_t length = film_text_copy(source, text, MESSAGE_BYTES, &cut);

    if (last_message.generation == film_the_session.generation &&
        film_record_is_kept(last_message.id) && last_message.length == length &&
        last_message.cut == cut && memcmp(last_message.text, text, length) == 0) {
        return last_message.id;
    }
    last_message.id = film_writer_value(
        film_the_session.writer, film_writer_string(film_the_session.writer, "str", 3),
        text, length, cut ? FILM_VALUE_CUT : 0);
    last_message.generation = film_the_session.generation;
    last_message.length = length;
    last_message.cut = cut;
    memcpy(last_message.text, text, length);
    return last_message.id;
}

void
film_exception_describe(PyObject *exception, PyObject *value, uint32_t *type,
                        uint64_t *message)
{
    PyObject *text = NULL;

    *type = 0;
    *message = 0;
    if (exception == NULL) {
        return;
    }
    if (PyExceptionInstance_Check(exception)) {
        PyObject *args = ((PyBaseExceptionObject *)exception)->args;

        *type = type_name_id(Py_TYPE(exception));
        if (args != NULL && PyTuple_CheckExact(args) && PyTuple_GET_SIZE(args) > 0) {
            text = PyTuple_GET_ITEM(args, 0);
        }
    }
    else if (PyType_Check(exception)) {
        *type = type_name_id((PyTypeObject *)exception);
        text = value;
    }
    if (text != NULL && PyUnicode_CheckExact(text)) {
        *message = keep_message(text);
    }
}
