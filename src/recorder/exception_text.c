/* exception_text.c: see exception_text.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/exception_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "recorder/compat_objects.h"
#include "recorder/text.h"

#define NESTING 3u    /* of tuples and lists */
#define MOST_ITEMS 16 /* of one of them */

/* --- texts ----------------------------------------------------------------------- */

static void
put(film_line *line, const char *text, size_t length)
{
    if (length > line->capacity - line->length) {
        line->cut = true;
        length = 0; /* nothing follows: no character is torn apart */
        line->capacity = line->length;
    }
    memcpy(line->text + line->length, text, length);
    line->length += length;
}

static void
put_text(film_line *line, const char *text)
{
    put(line, text, strlen(text));
}

/* One character within quotes. */
static void
put_quoted(film_line *line, Py_UCS4 point, char quote, bool printable)
{
    char text[16];
    size_t length;

    if (point == (Py_UCS4)quote || point == '\\') {
        text[0] = '\\';
        text[1] = (char)point;
        length = 2;
    }
    else if (point == '\n' || point == '\r' || point == '\t') {
        text[0] = '\\';
        text[1] = (char)(point == '\n' ? 'n' : point == '\r' ? 'r' : 't');
        length = 2;
    }
    else if (printable) {
        length = film_text_encode(point, text);
    }
    else {
        length = (size_t)snprintf(text, sizeof(text),
                                  point < 0x100     ? "\\x%02x"
                                  : point < 0x10000 ? "\\u%04x"
                                                    : "\\U%08x",
                                  (unsigned)point);
    }
    put(line, text, length);
}

/* repr(text) */
static void
put_str(film_line *line, PyObject *text)
{
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    bool single = false, twice = false;
    char quote;

    for (Py_ssize_t i = 0; i < length && i < (Py_ssize_t)line->capacity; i++) {
        Py_UCS4 point = PyUnicode_READ(kind, data, i);

        single = single || point == '\'';
        twice = twice || point == '"';
    }
    quote = single && !twice ? '"' : '\'';
    put(line, &quote, 1);
    for (Py_ssize_t i = 0; i < length && !line->cut; i++) {
        Py_UCS4 point = PyUnicode_READ(kind, data, i);

        put_quoted(line, point, quote, Py_UNICODE_ISPRINTABLE(point) != 0);
    }
    put(line, &quote, 1);
}

/* repr(bytes) */
static void
put_bytes(film_line *line, PyObject *bytes)
{
    const char *text = PyBytes_AS_STRING(bytes);
    size_t length = (size_t)PyBytes_GET_SIZE(bytes);
    char quote = memchr(text, '\'', length) != NULL && memchr(text, '"', length) == NULL
                     ? '"'
                     : '\'';

    put_text(line, "b");
    put(line, &quote, 1);
    for (size_t i = 0; i < length && !line->cut; i++) {
        unsigned char byte = (unsigned char)text[i];

        put_quoted(line, byte, quote, byte >= 0x20 && byte < 0x7f);
    }
    put(line, &quote, 1);
}

/* --- values ---------------------------------------------------------------------- */

static bool
put_number(film_line *line, PyObject *value)
{
    char text[32], *made;
    int64_t number;

    if (PyFloat_CheckExact(value)) {
        made = PyOS_double_to_string(PyFloat_AS_DOUBLE(value), 'r', 0,
                                     Py_DTSF_ADD_DOT_0, NULL);
        if (made == NULL) {
            PyErr_Clear();
            return false;
        }
        put_text(line, made);
        PyMem_Free(made);
        return true;
    }
    if (!PyLong_CheckExact(value) || !film_long_small(value, &number)) {
        return false;
    }
    snprintf(text, sizeof(text), "%" PRId64, number);
    put_text(line, text);
    return true;
}

static bool
put_plain(film_line *line, PyObject *value)
{
    if (value == Py_None || value == Py_True || value == Py_False) {
        put_text(line, value == Py_None ? "None" : value == Py_True ? "True" : "False");
        return true;
    }
    if (PyUnicode_CheckExact(value)) {
        put_str(line, value);
        return true;
    }
    if (PyBytes_CheckExact(value)) {
        put_bytes(line, value);
        return true;
    }
    return put_number(line, value);
}

/* What is no plain value, by its type. */
static void
put_type(film_line *line, const PyTypeObject *type)
{
    const char *dot = strrchr(type->tp_name, '.');

    put_text(line, "<");
    put_text(line, dot == NULL ? type->tp_name : dot + 1);
    put_text(line, ">");
}

static void
put_repr(film_line *line, PyObject *value, unsigned levels)
{
    bool is_tuple = PyTuple_CheckExact(value);
    Py_ssize_t count;

    if (value == NULL || put_plain(line, value)) {
        return;
    }
    if ((!is_tuple && !PyList_CheckExact(value)) || levels == 0) {
        put_type(line, Py_TYPE(value));
        return;
    }
    count = Py_SIZE(value);
    put_text(line, is_tuple ? "(" : "[");
    for (Py_ssize_t i = 0; i < count && !line->cut; i++) {
        if (i > 0) {
            put_text(line, ", ");
        }
        if (i == MOST_ITEMS) {
            put_text(line, "...");
            break;
        }
        put_repr(line,
                 is_tuple ? PyTuple_GET_ITEM(value, i) : PyList_GET_ITEM(value, i),
                 levels - 1);
    }
    put_text(line, is_tuple ? (count == 1 ? ",)" : ")") : "]");
}

/* str(value); false: there is nothing to be said about it. */
static bool
put_value(film_line *line, PyObject *value)
{
    if (PyUnicode_CheckExact(value)) {
        size_t room = line->capacity - line->length;
        bool cut = false;

        line->length += film_text_copy(value, line->text + line->length, room, &cut);
        line->cut = line->cut || cut;
        return true;
    }
    if (!PyTuple_CheckExact(value) && !PyList_CheckExact(value)) {
        return put_plain(line, value);
    }
    put_repr(line, value, NESTING);
    return true;
}

/* --- exceptions ------------------------------------------------------------------ */

static bool
is_a(PyObject *exception, PyObject *type)
{
    return PyType_IsSubtype(Py_TYPE(exception), (PyTypeObject *)type) != 0;
}

/* [Errno 2] No such file or directory: '/x' */
static bool
put_os_error(film_line *line, PyObject *exception)
{
    const PyOSErrorObject *error = (const PyOSErrorObject *)exception;

    if (error->myerrno == NULL || error->strerror == NULL) {
        return false;
    }
    put_text(line, "[Errno ");
    put_repr(line, error->myerrno, 0);
    put_text(line, "] ");
    if (!put_value(line, error->strerror)) {
        put_type(line, Py_TYPE(error->strerror));
    }
    if (error->filename != NULL && error->filename != Py_None) {
        put_text(line, ": ");
        put_repr(line, error->filename, 0);
        if (error->filename2 != NULL && error->filename2 != Py_None) {
            put_text(line, " -> ");
            put_repr(line, error->filename2, 0);
        }
    }
    return true;
}

/* 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte */
static bool
put_decode_error(film_line *line, PyObject *exception)
{
    const PyUnicodeErrorObject *error = (const PyUnicodeErrorObject *)exception;
    char text[96];

    if (error->object == NULL || !PyBytes_Check(error->object) ||
        error->encoding == NULL || !PyUnicode_CheckExact(error->encoding) ||
        error->reason == NULL || !PyUnicode_CheckExact(error->reason) ||
        error->start < 0 || error->start >= PyBytes_GET_SIZE(error->object)) {
        return false;
    }
    put_text(line, "'");
    (void)put_value(line, error->encoding);
    if (error->end == error->start + 1) {
        snprintf(text, sizeof(text),
                 "' codec can't decode byte 0x%02x in position %zd: ",
                 (unsigned char)PyBytes_AS_STRING(error->object)[error->start],
                 error->start);
    }
    else {
        snprintf(text, sizeof(text),
                 "' codec can't decode bytes in position %zd-%zd: ", error->start,
                 error->end - 1);
    }
    put_text(line, text);
    return put_value(line, error->reason);
}

/* The message, and how many it holds. */
static bool
put_group(film_line *line, PyObject *exception)
{
    const PyBaseExceptionGroupObject *group =
        (const PyBaseExceptionGroupObject *)exception;
    char text[64];
    Py_ssize_t count;

    if (group->msg == NULL || group->excs == NULL || !PyTuple_CheckExact(group->excs) ||
        !PyUnicode_CheckExact(group->msg)) {
        return false;
    }
    count = PyTuple_GET_SIZE(group->excs);
    (void)put_value(line, group->msg);
    snprintf(text, sizeof(text), " (%zd sub-exception%s)", count,
             count == 1 ? "" : "s");
    put_text(line, text);
    return true;
}

static bool
put_known(film_line *line, PyObject *exception)
{
    if (is_a(exception, PyExc_OSError)) {
        return put_os_error(line, exception);
    }
    if (is_a(exception, PyExc_UnicodeDecodeError)) {
        return put_decode_error(line, exception);
    }
    return is_a(exception, PyExc_BaseExceptionGroup) && put_group(line, exception);
}

bool
film_exception_text(PyObject *exception, film_line *line)
{
    PyObject *args = ((PyBaseExceptionObject *)exception)->args;

    if (put_known(line, exception)) {
        return true;
    }
    if (args == NULL || !PyTuple_CheckExact(args) || PyTuple_GET_SIZE(args) == 0) {
        return false;
    }
    if (PyTuple_GET_SIZE(args) == 1 && is_a(exception, PyExc_KeyError)) {
        put_repr(line, PyTuple_GET_ITEM(args, 0), NESTING);
        return true;
    }
    if (PyTuple_GET_SIZE(args) == 1 || is_a(exception, PyExc_SyntaxError) ||
        is_a(exception, PyExc_ImportError)) {
        return put_value(line, PyTuple_GET_ITEM(args, 0));
    }
    put_repr(line, args, NESTING);
    return true;
}

bool
film_argument_text(PyTypeObject *type, PyObject *argument, film_line *line)
{
    if (PyType_IsSubtype(type, (PyTypeObject *)PyExc_KeyError)) {
        put_repr(line, argument, NESTING);
        return true;
    }
    return put_value(line, argument);
}
