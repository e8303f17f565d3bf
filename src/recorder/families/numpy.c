/* numpy.c: numpy's scalars: a number behind the head of an object. Proven by the number
 * that the type's own conversion gives for the first of each type.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/families/family.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "recorder/capture_scalars.h"
#include "recorder/families/note.h"

typedef enum kind {
    KIND_NONE,
    KIND_BOOL,
    KIND_INT,
    KIND_UINT,
    KIND_HALF,
    KIND_SINGLE,
    KIND_DOUBLE,
    KIND_COMPLEX_SINGLE,
    KIND_COMPLEX
} kind;

static const struct scalar_type {
    const char *name; /* behind "numpy." */
    kind kind;
    int size;
} scalar_types[] = {
    {"float64", KIND_DOUBLE, 8},
    {"float32", KIND_SINGLE, 4},
    {"float16", KIND_HALF, 2},
    {"int64", KIND_INT, 8},
    {"int32", KIND_INT, 4},
    {"int16", KIND_INT, 2},
    {"int8", KIND_INT, 1},
    {"longlong", KIND_INT, 8},
    {"intc", KIND_INT, 4},
    {"uint64", KIND_UINT, 8},
    {"uint32", KIND_UINT, 4},
    {"uint16", KIND_UINT, 2},
    {"uint8", KIND_UINT, 1},
    {"ulonglong", KIND_UINT, 8},
    {"uintc", KIND_UINT, 4},
    {"bool", KIND_BOOL, 1},
    {"bool_", KIND_BOOL, 1},
    {"complex64", KIND_COMPLEX_SINGLE, 8},
    {"complex128", KIND_COMPLEX, 16},
};
#define SCALAR_TYPES (sizeof(scalar_types) / sizeof(scalar_types[0]))

static struct {
    uint32_t era;
    uint32_t proven, refuted; /* bits of scalar_types */
    bool with_type;           /* numpy 2: np.int64(5), before: 5 */
} state;

/* No class statement makes a type that is not on the heap: the name cannot be had by
 * any other. */
static const struct scalar_type *
find(const PyTypeObject *type)
{
    if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0 ||
        strncmp(type->tp_name, "numpy.", 6) != 0) {
        return NULL;
    }
    for (size_t index = 0; index < SCALAR_TYPES; index++) {
        if (strcmp(type->tp_name + 6, scalar_types[index].name) == 0) {
            return &scalar_types[index];
        }
    }
    return NULL;
}

/* Text: numpy's str_ and bytes_, whose content is that of the class they are made of. */
static bool
is_text(const PyTypeObject *type)
{
    return (type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0 &&
           (strcmp(type->tp_name, "numpy.str_") == 0 ||
            strcmp(type->tp_name, "numpy.bytes_") == 0);
}

static void
begin(void)
{
    PyObject *version = film_family_global("numpy", "__version__");

    state.era = film_the_family_era;
    state.proven = state.refuted = 0;
    state.with_type = version != NULL && PyUnicode_CheckExact(version) &&
                      PyUnicode_GET_LENGTH(version) > 0 &&
                      PyUnicode_READ_CHAR(version, 0) != '0' &&
                      PyUnicode_READ_CHAR(version, 0) != '1';
}

static const char *
bytes_of(const PyObject *object)
{
    return (const char *)object + sizeof(PyObject);
}

/* --- reading ------------------------------------------------------------------------ */

static int64_t
read_int(const char *at, const struct scalar_type *of)
{
    uint64_t bits = 0;

    /* Little-endian: see clock.h. */
    memcpy(&bits, at, of->size < (int)sizeof(bits) ? (size_t)of->size : sizeof(bits));
    if (of->kind == KIND_INT && of->size < 8 && (bits >> (8 * of->size - 1) & 1) != 0) {
        bits |= UINT64_MAX << 8 * of->size;
    }
    return (int64_t)bits;
}

/* A number of 16 bits, exactly. */
static double
read_half(const char *at)
{
    unsigned exponent, mantissa, sign;
    uint64_t bits;
    uint16_t half;
    double number;

    memcpy(&half, at, sizeof(half));
    sign = half >> 15;
    exponent = half >> 10 & 0x1f;
    mantissa = half & 0x3ff;
    if (exponent == 0) {
        number = (double)mantissa / (double)(1 << 24);
        return sign != 0 ? -number : number;
    }
    bits = (uint64_t)sign << 63 |
           (uint64_t)(exponent == 0x1f ? 0x7ff : exponent + 1023 - 15) << 52 |
           (uint64_t)mantissa << 42;
    memcpy(&number, &bits, sizeof(number));
    return number;
}

static double
read_float(const char *at, const struct scalar_type *of)
{
    float single;
    double number;

    if (of->kind == KIND_HALF) {
        return read_half(at);
    }
    if (of->kind == KIND_SINGLE || of->kind == KIND_COMPLEX_SINGLE) {
        memcpy(&single, at, sizeof(single));
        return (double)single;
    }
    memcpy(&number, at, sizeof(number));
    return number;
}

/* --- proof -------------------------------------------------------------------------- */

static bool
same_bits(double left, double right)
{
    return film_family_bits(left) == film_family_bits(right) ||
           (left != left && right != right);
}

/* What the type's own C code converts it to: an int or float, no object that the
 * collector tracks. */
static bool
says_number(PyObject *object, const struct scalar_type *of)
{
    const PyNumberMethods *methods = Py_TYPE(object)->tp_as_number;
    unaryfunc convert = methods == NULL ? NULL
                        : of->kind == KIND_INT || of->kind == KIND_UINT
                            ? methods->nb_int
                            : methods->nb_float;
    PyObject *type, *value, *trace, *number;
    bool right = false;

    if (of->kind == KIND_BOOL) {
        return Py_TYPE(object)->tp_basicsize > (Py_ssize_t)sizeof(PyObject) &&
               (unsigned char)*bytes_of(object) <= 1;
    }
    if (of->kind == KIND_COMPLEX || of->kind == KIND_COMPLEX_SINGLE) {
        return Py_TYPE(object)->tp_basicsize >= (Py_ssize_t)sizeof(PyObject) + of->size;
    }
    if (convert == NULL) {
        return false;
    }
    PyErr_Fetch(&type, &value, &trace);
    number = convert(object);
    if (number != NULL && PyLong_CheckExact(number)) {
        right = (int64_t)PyLong_AsUnsignedLongLongMask(number) ==
                read_int(bytes_of(object), of);
    }
    else if (number != NULL && PyFloat_CheckExact(number)) {
        right = same_bits(PyFloat_AS_DOUBLE(number), read_float(bytes_of(object), of));
    }
    Py_XDECREF(number);
    PyErr_Restore(type, value, trace);
    return right;
}

/* How the object is read; NULL: not as we know. */
static const struct scalar_type *
proven(PyObject *object)
{
    const struct scalar_type *of = find(Py_TYPE(object));
    uint32_t bit;

    if (of == NULL) {
        return NULL;
    }
    if (state.era != film_the_family_era) {
        begin();
    }
    bit = 1u << (of - scalar_types);
    if (((state.proven | state.refuted) & bit) == 0) {
        if (says_number(object, of)) {
            state.proven |= bit;
        }
        else {
            state.refuted |= bit;
        }
    }
    return (state.proven & bit) != 0 ? of : NULL;
}

/* --- the family --------------------------------------------------------------------- */

static const char *
hole_of(const struct scalar_type *of)
{
    return of->kind == KIND_HALF     ? HOLE_HALF
           : of->kind == KIND_SINGLE ? HOLE_SINGLE
                                     : HOLE_VALUE;
}

/* 1+2j: the imaginary part with its sign. */
static void
put_complex(film_template *made, const struct scalar_type *of)
{
    const char *hole =
        of->kind == KIND_COMPLEX_SINGLE ? HOLE_COMPLEX_SINGLE : HOLE_COMPLEX;

    film_template_put(made, state.with_type ? "" : "(");
    film_template_put(made, hole);
    film_template_put(made, state.with_type ? "" : ")");
}

/* As numpy says it: an int by its size, whichever of C's types it is (longlong, intc). */
static void
said_name(const struct scalar_type *of, char *to, size_t room)
{
    if (of->kind == KIND_INT || of->kind == KIND_UINT) {
        snprintf(to, room, "%sint%d", of->kind == KIND_UINT ? "u" : "", 8 * of->size);
    }
    else {
        snprintf(to, room, "%s", of->name);
    }
}

static void
put_text(film_template *made, const PyObject *object, const struct scalar_type *of)
{
    char name[16];

    if (of->kind == KIND_BOOL) {
        film_template_put(made, state.with_type ? "np." : "");
        film_template_put(made, *bytes_of(object) != 0 ? "True" : "False");
        film_template_put(made, state.with_type ? "_" : "");
        return;
    }
    if (state.with_type) {
        said_name(of, name, sizeof(name));
        film_template_put(made, "np.");
        film_template_put(made, name);
        film_template_put(made, "(");
    }
    if (of->kind == KIND_COMPLEX || of->kind == KIND_COMPLEX_SINGLE) {
        put_complex(made, of);
    }
    else {
        film_template_put(made, hole_of(of));
    }
    film_template_put(made, state.with_type ? ")" : "");
}

static void
put_tokens(const PyObject *object, const struct scalar_type *of)
{
    uint8_t token[FILM_TOKEN_MAX];

    switch (of->kind) {
    case KIND_INT:
        film_note_int(read_int(bytes_of(object), of));
        break;
    case KIND_UINT:
        film_buffer_append(
            &film_the_snapshot.body, token,
            (size_t)(film_unsigned_token((uint64_t)read_int(bytes_of(object), of),
                                         token) -
                     token));
        break;
    case KIND_COMPLEX:
    case KIND_COMPLEX_SINGLE:
        film_note_float(read_float(bytes_of(object), of));
        film_note_float(read_float(bytes_of(object) + of->size / 2, of));
        break;
    case KIND_HALF:
    case KIND_SINGLE:
    case KIND_DOUBLE:
        film_note_float(read_float(bytes_of(object), of));
        break;
    case KIND_NONE:
    case KIND_BOOL:
        break;
    }
}

static bool
note(film_unfinished *making)
{
    const struct scalar_type *of;
    film_template made = {0};
    bool is_complex;

    if (state.era != film_the_family_era) {
        begin();
    }
    if (is_text(Py_TYPE(making->object))) {
        film_template_put(&made, state.with_type ? "np." : "");
        film_template_put(&made,
                          state.with_type ? Py_TYPE(making->object)->tp_name + 6 : "");
        film_template_put(&made, state.with_type ? "(" HOLE_VALUE ")" : HOLE_VALUE);
        film_note_begin(film_template_keep(&made), 0, 0, 1);
        film_note_scalar(making, making->object);
        return true;
    }
    of = proven(making->object);
    if (of == NULL) {
        return false;
    }
    is_complex = of->kind == KIND_COMPLEX || of->kind == KIND_COMPLEX_SINGLE;
    put_text(&made, making->object, of);
    film_note_begin(film_template_keep(&made), 0, 0,
                    is_complex              ? 2
                    : of->kind == KIND_BOOL ? 0
                                            : 1);
    put_tokens(making->object, of);
    return true;
}

static uint64_t
word(PyObject *value)
{
    const struct scalar_type *of = proven(value);
    uint64_t sum;

    if (of == NULL) {
        return 0;
    }
    sum = film_digest_mix((uint64_t)(of - scalar_types) + 1,
                          (uint64_t)read_int(bytes_of(value), of));
    if (of->size > 8) {
        uint64_t second;

        memcpy(&second, bytes_of(value) + 8, sizeof(second));
        sum = film_digest_mix(sum, second);
    }
    return sum == 0 ? 1 : sum;
}

static bool
learn(film_type *known, PyTypeObject *type)
{
    known->said = find(type) != NULL || is_text(type);
    return known->said;
}

const film_family film_family_numpy = {
    .learn = learn, .note = note, .word = word, .whole = true};
