/* arrays.c: array.array, whose items are numbers side by side. Proven by what the type's
 * own code says of the first item that is seen.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/families/arrays.h"

#include <string.h>

#include "base/buffer.h"
#include "format/value_record.h"
#include "recorder/attributes.h"
#include "recorder/capture_scalars.h"
#include "recorder/compat_modules.h"
#include "recorder/families/family.h"
#include "recorder/families/note.h"
#include "recorder/text.h"

#define TEXT_BYTES 240u
#define BYTES_A_POINT 4u /* of UTF-8 */

static film_proof proof;

/* The size an item of that code has; 0: no code we know. */
static int
size_of(char code)
{
    static const char codes[] = "bBuwhHiIlLqQfd";
    static const int sizes[] = {1,
                                1,
                                (int)sizeof(wchar_t),
                                4,
                                (int)sizeof(short),
                                (int)sizeof(short),
                                (int)sizeof(int),
                                (int)sizeof(int),
                                (int)sizeof(long),
                                (int)sizeof(long),
                                (int)sizeof(long long),
                                (int)sizeof(long long),
                                (int)sizeof(float),
                                (int)sizeof(double)};
    const char *found = code == '\0' ? NULL : strchr(codes, code);

    return found == NULL ? 0 : sizes[found - codes];
}

static bool
is_text(const film_number_array *array)
{
    return array->kind->code == 'u' || array->kind->code == 'w';
}

/* --- items -------------------------------------------------------------------------- */

static int64_t
signed_at(const char *at, int size)
{
    int8_t one;
    int16_t two;
    int32_t four;
    int64_t eight;

    switch (size) {
    case 1:
        memcpy(&one, at, 1);
        return one;
    case 2:
        memcpy(&two, at, 2);
        return two;
    case 4:
        memcpy(&four, at, 4);
        return four;
    default:
        memcpy(&eight, at, 8);
        return eight;
    }
}

static double
float_at(const char *at, int size)
{
    float single;
    double number;

    if (size == (int)sizeof(single)) {
        memcpy(&single, at, sizeof(single));
        return (double)single;
    }
    memcpy(&number, at, sizeof(number));
    return number;
}

static uint8_t *
item_token(const film_number_array *array, Py_ssize_t index, uint8_t *to)
{
    int size = array->kind->size;
    const char *at = array->items + index * size;
    uint64_t bits = (uint64_t)signed_at(at, size);

    switch (array->kind->code) {
    case 'f':
    case 'd':
        return film_token_put_float(to, float_at(at, size));
    case 'u':
    case 'w': {
        char text[16] = {0}; /* as film_token_put_text reads: in words */

        return film_token_put_text(to, text, film_text_encode((Py_UCS4)bits, text));
    }
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
        return film_token_put_int(to, (int64_t)bits);
    default:
        return size == (int)sizeof(bits)
                   ? film_unsigned_token(bits, to)
                   : film_token_put_int(
                         to, (int64_t)(bits & ((UINT64_C(1) << 8 * size) - 1)));
    }
}

/* --- proof -------------------------------------------------------------------------- */

/* The type's own code makes an int, float or str of the first item; the collector, which
 * would run finalizers of the program, does not track those. */
static bool
says_item(PyObject *object)
{
    const PyTypeObject *type =
        (const PyTypeObject *)film_family_global("array", "array");
    const film_number_array *array = (const film_number_array *)object;
    PyObject *kind, *value, *trace, *item;
    bool right = false;
    int64_t number;

    if (type == NULL || type->tp_as_sequence == NULL ||
        type->tp_as_sequence->sq_item == NULL) {
        return false;
    }
    PyErr_Fetch(&kind, &value, &trace);
    item = type->tp_as_sequence->sq_item(object, 0);
    if (item != NULL && PyFloat_CheckExact(item)) {
        right = film_family_bits(PyFloat_AS_DOUBLE(item)) ==
                film_family_bits(float_at(array->items, array->kind->size));
    }
    else if (item != NULL && PyLong_CheckExact(item)) {
        number = (int64_t)PyLong_AsUnsignedLongLongMask(item);
        right = memcmp(&number, array->items, (size_t)array->kind->size) == 0;
    }
    else if (item != NULL && PyUnicode_CheckExact(item) &&
             PyUnicode_GET_LENGTH(item) == 1) {
        right = (int64_t)PyUnicode_READ_CHAR(item, 0) ==
                signed_at(array->items, array->kind->size);
    }
    Py_XDECREF(item);
    PyErr_Restore(kind, value, trace);
    return right;
}

static bool
is_sound(PyObject *object)
{
    const film_number_array *array = (const film_number_array *)object;

    bool open = film_proof_is_open(&proof);

    if ((!open && !proof.proven) || array->kind == NULL ||
        array->kind->size != size_of(array->kind->code) || array->kind->size == 0 ||
        (Py_SIZE(object) > 0 && array->items == NULL)) {
        return false;
    }
    if (open && Py_SIZE(object) > 0) {
        film_proof_settle(&proof, says_item(object));
        open = false;
    }
    return open || proof.proven; /* an empty one proves nothing, and has nothing */
}

/* --- the family --------------------------------------------------------------------- */

bool
film_numbers_read(PyObject *object, const char **bytes, size_t *length)
{
    const film_number_array *array = (const film_number_array *)object;

    if (!is_sound(object)) {
        return false;
    }
    *bytes = array->items;
    *length = (size_t)Py_SIZE(object) * (size_t)array->kind->size;
    return true;
}

/* As the item of an array of ints; false: it does not fit. */
static bool
encode_int(PyObject *value, const film_array_kind *kind, char *to)
{
    bool is_signed = strchr("bhilq", kind->code) != NULL;
    int bits = 8 * kind->size;
    int64_t number;

    if (!PyLong_Check(value) || !film_long_small(value, &number) ||
        (!is_signed && number < 0) ||
        (bits < 64 && (is_signed ? number >= INT64_C(1) << (bits - 1) ||
                                       number < -(INT64_C(1) << (bits - 1))
                                 : number >= INT64_C(1) << bits))) {
        return false;
    }
    memcpy(to, &number, (size_t)kind->size); /* little-endian: see clock.h */
    return true;
}

static bool
encode_float(PyObject *value, const film_array_kind *kind, char *to)
{
    double number = PyFloat_CheckExact(value) ? PyFloat_AS_DOUBLE(value) : 0;
    float single = (float)number;

    if (!PyFloat_CheckExact(value)) {
        return false;
    }
    if (kind->size == (int)sizeof(single)) {
        memcpy(to, &single, sizeof(single));
    }
    else {
        memcpy(to, &number, sizeof(number));
    }
    return true;
}

bool
film_numbers_encode(PyObject *object, PyObject *value, char *to, size_t *size)
{
    const film_array_kind *kind = ((const film_number_array *)object)->kind;

    *size = (size_t)kind->size;
    if (is_text((const film_number_array *)object)) {
        return false;
    }
    return kind->code == 'f' || kind->code == 'd' ? encode_float(value, kind, to)
                                                  : encode_int(value, kind, to);
}

void
film_numbers_put(PyObject *object, uint32_t count)
{
    uint8_t token[FILM_TOKEN_MAX];

    for (uint32_t index = 0; index < count; index++) {
        const uint8_t *end =
            item_token((const film_number_array *)object, index, token);

        film_buffer_append(&film_the_snapshot.body, token, (size_t)(end - token));
    }
}

static bool
learn(film_type *known, PyTypeObject *type)
{
    const PyTypeObject *array =
        (const PyTypeObject *)film_family_global("array", "array");

    if (!film_family_comes_from(type, (const PyObject *)array) ||
        array->tp_basicsize != (Py_ssize_t)(sizeof(film_number_array) +
                                            sizeof(PyObject *) + sizeof(Py_ssize_t))) {
        return false;
    }
    known->content = FILM_CONTENT_NUMBERS;
    return true;
}

/* array('w', 'text') */
static void
note_text(film_unfinished *making, film_template *made)
{
    const film_number_array *array = (const film_number_array *)making->object;
    char text[TEXT_BYTES];
    size_t length = 0;
    Py_ssize_t index = 0;

    for (; index < Py_SIZE(making->object) && length + BYTES_A_POINT < sizeof(text);
         index++) {
        Py_UCS4 point = (Py_UCS4)signed_at(array->items + index * array->kind->size,
                                           array->kind->size);

        length += film_text_encode(point, text + length);
    }
    making->cut = making->cut || index < Py_SIZE(making->object);
    film_template_put(made, ", " HOLE_VALUE ")");
    film_note_begin(film_template_keep(made), 0, 0, 1);
    film_note_text(making, text, length);
}

static bool
note(film_unfinished *making)
{
    const film_number_array *array = (const film_number_array *)making->object;
    film_template made = {0};
    char code[] = "('?'";

    if (!is_sound(making->object)) {
        return false;
    }
    code[2] = array->kind->code;
    film_template_put_short(&made, Py_TYPE(making->object));
    film_template_put(&made, code);
    if (is_text(array) && Py_SIZE(making->object) > 0) {
        note_text(making, &made);
        return true;
    }
    film_template_put(&made, ", " HOLE_ITEMS ")");
    film_note_begin(film_template_keep(&made), 0, FILM_BASE_LIST | FILM_BASE_OR_NOTHING,
                    0);
    return true;
}

const film_family film_family_arrays = {.learn = learn, .note = note};
