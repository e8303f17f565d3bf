/* capture_scalars.c: see capture_scalars.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/capture_scalars.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/hash.h"
#include "format/redact.h"
#include "format/token.h"
#include "recorder/capture_keep.h"
#include "recorder/compat_objects.h"
#include "recorder/fingerprint.h"
#include "recorder/session.h"
#include "recorder/secrets.h"
#include "recorder/text.h"

/* Texts known by hash; a direct-mapped cache. */
#define KNOWN_TEXTS 4096u
/* The most that is hashed of one value: some 10 us. Of a longer one, this much at its
 * beginning and at its end. */
#define HASHED_BYTES ((size_t)FILM_SCALAR_HASHED / 2)
/* The same for a text within a value that has cost enough. */
#define HURRIED_BYTES 512u
#define BYTES_A_LOOK 32
#define LOOK_MARGIN 96u
/* A code point takes at most 4 bytes. */
#define UTF8_BYTES 4u

typedef struct known_text {
    uint64_t hash; /* of type, length and content; 0: free */
    uint64_t id;   /* value id + 1 */
} known_text;

static struct {
    known_text *texts; /* owned */
    char *text;        /* owned: text_bytes and a NUL */
    uint32_t text_bytes;
    uint32_t str_name, bytes_name, int_name, complex_name; /* string ids */
    film_buffer body;                                      /* owned */
    film_buffer redacted;                                  /* owned */
} scalars;

static uint32_t
type_name(const char *name)
{
    return film_keep_string(name, strlen(name));
}

static uint8_t *
put_record(uint64_t id, uint8_t *to)
{
    if (id == 0) {
        *to++ = FILM_TOKEN_UNBOUND; /* could not be kept */
        return to;
    }
    return film_token_put_value(to, FILM_TOKEN_VALUE, id - 1);
}

static uint8_t *
put_redacted(uint8_t *to)
{
    *to++ = FILM_TOKEN_REDACTED;
    return to;
}

/* One pass over at most twice `most`. */
static uint64_t
hash_part(const void *bytes, size_t length, uint64_t salt, size_t most)
{
    uint64_t hash;

    if (length <= 2 * most) {
        hash = film_hash(bytes, length);
    }
    else {
        hash = film_digest_mix(film_hash(bytes, most),
                               film_hash((const char *)bytes + length - most, most));
    }
    hash = film_digest_mix(hash ^ salt, length);
    return hash == 0 ? 1 : hash;
}

static uint64_t
hash_bytes(const void *bytes, size_t length, uint64_t salt)
{
    return hash_part(bytes, length, salt, HASHED_BYTES);
}

/* The same for a record, which may have to make do with less. */
static uint64_t
hash_record(const void *bytes, size_t length, uint64_t salt)
{
    bool hurried = film_the_looks_left <= 0;

    film_the_looks_left -=
        (int64_t)((length < 2 * HASHED_BYTES ? length : 2 * HASHED_BYTES) /
                  BYTES_A_LOOK);
    return hurried ? hash_part(bytes, length, salt + 0x1000, HURRIED_BYTES)
                   : hash_bytes(bytes, length, salt);
}

/* Writes the record of a value's bytes: whole, or `head` of a longer one that is
 * measured by `length` and `hash`. */
static uint64_t
write_bytes(uint32_t type, const void *bytes, size_t head, bool whole, uint64_t length,
            uint64_t hash)
{
    film_buffer *body = &scalars.body;
    uint32_t flags = 0;

    film_buffer_clear(body);
    if (!whole) {
        flags = FILM_VALUE_MEASURED | FILM_VALUE_CUT;
        film_buffer_put_varint(body, length);
        film_buffer_append(body, &hash, sizeof(hash)); /* little-endian: see clock.h */
    }
    film_buffer_append(body, bytes, head);
    if (body->failed) {
        return 0;
    }
    return film_keep_value(type, flags, body->data, body->length);
}

uint64_t
film_known_record(uint64_t hash)
{
    const known_text *text = &scalars.texts[hash % KNOWN_TEXTS];

    return text->hash == hash && film_record_is_kept(text->id) ? text->id : 0;
}

void
film_know_record(uint64_t hash, uint64_t id)
{
    if (id != 0) {
        scalars.texts[hash % KNOWN_TEXTS] = (known_text){.hash = hash, .id = id};
    }
}

static uint8_t *
put_new(uint64_t hash, uint64_t id, uint8_t *to)
{
    film_know_record(hash, id);
    return put_record(id, to);
}

/* --- str and bytes -----------------------------------------------------------------
 */

/* How much of a text is looked through for what looks like a secret: what is told, and
 * enough to know one that the cut goes through. */
static size_t
looked_at(size_t length)
{
    size_t most = scalars.text_bytes + LOOK_MARGIN;

    return length < most ? length : most;
}

/* A str by itself: more than a token holds, or beside a secret. */
static FILM_HOT uint8_t *
long_str_token(PyObject *value, uint8_t *to)
{
    size_t length = (size_t)PyUnicode_GET_LENGTH(value);
    size_t window = scalars.text_bytes, used = length;
    const char *text = PyUnicode_DATA(value);
    bool ascii = PyUnicode_IS_COMPACT_ASCII(value), cut = false;
    uint64_t hash = hash_record(text, length * (size_t)PyUnicode_KIND(value),
                                (uint64_t)PyUnicode_KIND(value) << 1 | ascii);
    uint64_t id = film_known_record(hash);

    if (id != 0 && film_the_secret_count == 0) {
        return put_record(id, to);
    }
    window += FILM_SECRET_BYTES; /* a secret that the cut would go through */
    if (!ascii || length > window) {
        used = film_text_copy(value, scalars.text, window, &cut);
        text = scalars.text;
    }
    if (film_the_secret_count > 0 && film_secret_is_in(text, used)) {
        return put_redacted(to);
    }
    if (used <= FILM_TOKEN_TEXT && !cut) {
        return film_token_put_text(to, text, used);
    }
    if (id != 0) {
        return put_record(id, to);
    }
    if (film_secret_looks_so(text, looked_at(used))) {
        return put_redacted(to);
    }
    if (used > scalars.text_bytes) {
        cut = true;
        used = scalars.text_bytes;
        while (used > 0 && ((unsigned char)text[used] & 0xc0) == 0x80) {
            used--; /* not within a character */
        }
    }
    return put_new(hash, write_bytes(scalars.str_name, text, used, !cut, length, hash),
                   to);
}

static uint8_t *
str_token(PyObject *value, uint8_t *to)
{
    if (FILM_LIKELY(PyUnicode_IS_COMPACT_ASCII(value) && film_the_secret_count == 0 &&
                    PyUnicode_GET_LENGTH(value) <= (Py_ssize_t)FILM_TOKEN_TEXT)) {
        return film_token_put_text(to, PyUnicode_DATA(value),
                                   (size_t)PyUnicode_GET_LENGTH(value));
    }
    return long_str_token(value, to);
}

/* Bytes, or UTF-8 that is cut at a character. */
static uint8_t *
raw_token(uint32_t type, const char *bytes, size_t length, uint64_t salt, uint8_t *to)
{
    size_t used = length < scalars.text_bytes ? length : scalars.text_bytes;
    size_t window =
        length < used + FILM_SECRET_BYTES ? length : used + FILM_SECRET_BYTES;
    uint64_t hash = hash_record(bytes, length, salt);
    uint64_t id = film_known_record(hash);

    if (film_the_secret_count > 0 && film_secret_is_in(bytes, window)) {
        return put_redacted(to);
    }
    if (id != 0) {
        return put_record(id, to);
    }
    if (film_secret_looks_so(bytes, looked_at(window))) {
        return put_redacted(to);
    }
    while (type == scalars.str_name && used < length && used > 0 &&
           ((unsigned char)bytes[used] & 0xc0) == 0x80) {
        used--;
    }
    return put_new(hash, write_bytes(type, bytes, used, used == length, length, hash),
                   to);
}

uint8_t *
film_bytes_token(const char *bytes, size_t length, uint8_t *to)
{
    return raw_token(scalars.bytes_name, bytes, length, 0x100, to);
}

uint8_t *
film_text_token(const char *text, size_t length, uint8_t *to)
{
    if (length <= FILM_TOKEN_TEXT && film_the_secret_count == 0) {
        return film_token_put_text(to, text, length);
    }
    if (length <= FILM_TOKEN_TEXT) {
        return film_secret_is_in(text, length) ? put_redacted(to)
                                               : film_token_put_text(to, text, length);
    }
    return raw_token(scalars.str_name, text, length, 0x400, to);
}

uint8_t *
film_message_token(PyObject *value, uint8_t *to)
{
    film_buffer *redacted = &scalars.redacted;
    size_t used;
    bool cut;

    if (Py_TYPE(value) != &PyUnicode_Type) {
        return film_scalar_token(value, to);
    }
    used = film_text_copy(value, scalars.text, scalars.text_bytes + FILM_SECRET_BYTES,
                          &cut);
    film_buffer_clear(redacted);
    if (!film_redact_text(&film_the_session.options.redaction, scalars.text, used,
                          redacted)) {
        return str_token(value, to);
    }
    if (redacted->failed ||
        (film_the_secret_count > 0 &&
         film_secret_is_in((const char *)redacted->data, redacted->length))) {
        return put_redacted(to);
    }
    used =
        redacted->length < scalars.text_bytes ? redacted->length : scalars.text_bytes;
    while (used > 0 && used < redacted->length &&
           (redacted->data[used] & 0xc0) == 0x80) {
        used--; /* not within a character */
    }
    film_buffer_clear(&scalars.body);
    film_buffer_append(&scalars.body, redacted->data, used);
    if (scalars.body.failed) {
        return put_redacted(to);
    }
    return put_record(
        film_keep_value(scalars.str_name,
                        FILM_VALUE_REDACTED |
                            (used < redacted->length ? FILM_VALUE_CUT : 0),
                        scalars.body.data, scalars.body.length),
        to);
}

/* --- numbers ------------------------------------------------------------------------
 */

/* Little-endian two's complement of the lowest `capacity` bytes; the length it takes
 * as a whole. */
static size_t
long_bytes(PyObject *number, uint8_t *to, size_t capacity)
{
    const digit *digits = film_long_digits(number);
    size_t count = film_long_digit_count(number);
    size_t bits = (count - 1) * PyLong_SHIFT, used = 0, total;
    unsigned filled = 0, carry = 1;
    uint64_t pending = 0;
    bool negative = film_long_is_negative(number);

    bits += 32u - (unsigned)__builtin_clz((unsigned)digits[count - 1]);
    total = bits / 8 + 1; /* with room for the sign */
    for (size_t index = 0; used < capacity && used < total; index++) {
        pending |= index < count ? (uint64_t)digits[index] << filled : 0;
        filled += PyLong_SHIFT;
        for (; filled >= 8 && used < capacity && used < total; filled -= 8) {
            unsigned byte = (unsigned)(pending & 0xff);

            if (negative) {
                byte = (byte ^ 0xff) + carry;
                carry = byte >> 8;
            }
            to[used++] = (uint8_t)byte;
            pending >>= 8;
        }
    }
    return total;
}

static uint8_t *
long_token(PyObject *number, uint8_t *to)
{
    size_t count = film_long_digit_count(number), length, used;
    const digit *digits = film_long_digits(number);
    uint64_t hash, id;
    int64_t small;

    if (film_long_small(number, &small)) {
        return film_token_put_int(to, small);
    }
    if (count == 2 || (count == 3 && digits[2] < 1u << (63 - 2 * PyLong_SHIFT))) {
        uint64_t magnitude = (uint64_t)digits[0] | (uint64_t)digits[1] << PyLong_SHIFT;

        if (count == 3) {
            magnitude |= (uint64_t)digits[2] << (2 * PyLong_SHIFT);
        }
        return film_token_put_int(to, film_long_is_negative(number)
                                          ? -(int64_t)magnitude
                                          : (int64_t)magnitude);
    }
    hash = hash_record(digits, count * sizeof(*digits),
                       0x200u | (film_long_is_negative(number) ? 1 : 0));
    id = film_known_record(hash);
    if (id != 0) {
        return put_record(id, to);
    }
    length = long_bytes(number, (uint8_t *)scalars.text, scalars.text_bytes);
    used = length < scalars.text_bytes ? length : scalars.text_bytes;
    return put_new(
        hash,
        write_bytes(scalars.int_name, scalars.text, used, used == length, length, hash),
        to);
}

static uint8_t *
complex_token(PyObject *value, uint8_t *to)
{
    Py_complex number = ((PyComplexObject *)value)->cval;
    double parts[2] = {number.real, number.imag};
    uint64_t hash = hash_record(parts, sizeof(parts), 0x300);
    uint64_t id = film_known_record(hash);

    if (id != 0) {
        return put_record(id, to);
    }
    return put_new(
        hash, write_bytes(scalars.complex_name, parts, sizeof(parts), true, 0, 0), to);
}

uint8_t *
film_unsigned_token(uint64_t number, uint8_t *to)
{
    uint8_t bytes[9] = {0};

    if (number <= INT64_MAX) {
        return film_token_put_int(to, (int64_t)number);
    }
    memcpy(bytes, &number, sizeof(number)); /* little-endian: see clock.h */
    return raw_token(scalars.int_name, (const char *)bytes, sizeof(bytes), 0x500, to);
}

uint8_t *
film_made_scalar_token(PyObject *value, uint8_t *to)
{
    if (PyLong_Check(value)) {
        return long_token(value, to);
    }
    if (PyUnicode_Check(value)) {
        return str_token(value, to);
    }
    if (PyBytes_Check(value)) {
        return film_bytes_token(PyBytes_AS_STRING(value),
                                (size_t)PyBytes_GET_SIZE(value), to);
    }
    return PyFloat_Check(value) ? film_token_put_float(to, PyFloat_AS_DOUBLE(value))
                                : complex_token(value, to);
}

FILM_HOT uint8_t *
film_scalar_token(PyObject *value, uint8_t *to)
{
    const PyTypeObject *type = Py_TYPE(value);

    if (type == &PyLong_Type) {
        return long_token(value, to);
    }
    if (type == &PyUnicode_Type) {
        return str_token(value, to);
    }
    if (type == &PyFloat_Type) {
        return film_token_put_float(to, PyFloat_AS_DOUBLE(value));
    }
    if (type == &PyBytes_Type) {
        return film_bytes_token(PyBytes_AS_STRING(value),
                                (size_t)PyBytes_GET_SIZE(value), to);
    }
    if (type == &PyComplex_Type) {
        return complex_token(value, to);
    }
    *to++ = value == Py_None   ? FILM_TOKEN_NONE
            : value == Py_True ? FILM_TOKEN_TRUE
                               : FILM_TOKEN_FALSE;
    return to;
}

uint64_t
film_scalar_word(PyObject *value)
{
    const PyTypeObject *type = Py_TYPE(value);

    if (type == &PyUnicode_Type) {
        return hash_bytes(PyUnicode_DATA(value),
                          (size_t)PyUnicode_GET_LENGTH(value) *
                              (size_t)PyUnicode_KIND(value),
                          (uint64_t)PyUnicode_KIND(value) << 1);
    }
    if (type == &PyLong_Type) {
        return hash_bytes(film_long_digits(value),
                          film_long_digit_count(value) * sizeof(digit),
                          0x200u | (film_long_is_negative(value) ? 1 : 0));
    }
    if (type == &PyBytes_Type) {
        return hash_bytes(PyBytes_AS_STRING(value), (size_t)PyBytes_GET_SIZE(value),
                          0x100);
    }
    if (type == &PyComplex_Type) {
        Py_complex number = ((PyComplexObject *)value)->cval;

        return hash_bytes(&number, sizeof(number), 0x300);
    }
    return (uint64_t)(uintptr_t)value;
}

/* --- life ---------------------------------------------------------------------------
 */

bool
film_scalars_begin(uint32_t text_bytes)
{
    film_scalars_end();
    scalars.text_bytes = text_bytes < FILM_TOKEN_TEXT ? FILM_TOKEN_TEXT : text_bytes;
    scalars.texts = calloc(KNOWN_TEXTS, sizeof(*scalars.texts));
    scalars.text = malloc((size_t)scalars.text_bytes + FILM_SECRET_BYTES + 1);
    if (scalars.texts == NULL || scalars.text == NULL) {
        film_scalars_end();
        return false;
    }
    scalars.str_name = type_name("str");
    scalars.bytes_name = type_name("bytes");
    scalars.int_name = type_name("int");
    scalars.complex_name = type_name("complex");
    return true;
}

void
film_scalars_end(void)
{
    free(scalars.texts);
    free(scalars.text);
    film_buffer_reset(&scalars.body);
    film_buffer_reset(&scalars.redacted);
    memset(&scalars, 0, sizeof(scalars));
    film_secrets_end();
}
