/* decimals.c: decimal.Decimal, as _decimal lays it out (compat_modules.h).
 *
 * Proven by the hash: what C code says of the first one is what its digits, as we read
 * them, come to.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/families/family.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "recorder/compat_modules.h"
#include "recorder/families/note.h"

#define WORD_DIGITS 19 /* decimal digits in a word of libmpdec */
#define MOST_DIGITS 240
#define WORD_SALT UINT64_C(0x5be0cd19137e2179)
#define MODULUS ((UINT64_C(1) << 61) - 1) /* of hashes: _PyHASH_MODULUS */

static film_proof proof;

/* --- proof -------------------------------------------------------------------------- */

static uint64_t
multiply(uint64_t left, uint64_t right)
{
    return (uint64_t)((unsigned __int128)left * right % MODULUS);
}

static uint64_t
power(uint64_t base, uint64_t exponent)
{
    uint64_t result = 1;

    for (; exponent > 0; exponent >>= 1) {
        result = (exponent & 1) != 0 ? multiply(result, base) : result;
        base = multiply(base, base);
    }
    return result;
}

/* As numeric types hash: the digits times 10 to the exponent, modulo a prime. */
static Py_hash_t
expected_hash(const film_mpd *number)
{
    uint64_t sum = 0, scale = power(10, WORD_DIGITS), tens;
    int64_t exponent = (int64_t)number->exponent % (int64_t)(MODULUS - 1);
    Py_hash_t hash;

    for (Py_ssize_t index = number->length; index > 0; index--) {
        sum = (multiply(sum, scale) + number->data[index - 1] % MODULUS) % MODULUS;
    }
    /* 10 has an inverse: its power of MODULUS - 2. */
    tens = exponent >= 0 ? power(10, (uint64_t)exponent)
                         : power(power(10, MODULUS - 2), (uint64_t)-exponent);
    hash = (Py_hash_t)multiply(sum, tens);
    hash = (number->flags & FILM_MPD_NEGATIVE) != 0 ? -hash : hash;
    return hash == -1 ? -2 : hash;
}

static bool
makes_sense(const film_mpd *number)
{
    return number->length > 0 && number->length <= number->allocated &&
           number->data != NULL && number->digits > 0 &&
           number->digits <= number->length * WORD_DIGITS &&
           number->digits > (number->length - 1) * WORD_DIGITS;
}

/* What _decimal's own class answers for the object: C code, whatever class it is of. */
static bool
prove(PyObject *object, const film_mpd *number)
{
    const PyTypeObject *type;

    if (!film_proof_is_open(&proof) || (number->flags & FILM_MPD_SPECIAL) != 0) {
        return proof.proven;
    }
    type = (const PyTypeObject *)film_family_global("_decimal", "Decimal");
    film_proof_settle(&proof, type != NULL && type->tp_hash != NULL &&
                                  makes_sense(number) &&
                                  type->tp_hash(object) == expected_hash(number));
    return proof.proven;
}

/* --- text --------------------------------------------------------------------------- */

typedef struct digits {
    char text[MOST_DIGITS + WORD_DIGITS + 1];
    size_t length; /* of what is there */
    bool cut;
} digits;

static void
read_digits(const film_mpd *number, digits *out)
{
    Py_ssize_t index = number->length - 1;

    out->length = (size_t)snprintf(out->text, sizeof(out->text), "%llu",
                                   (unsigned long long)number->data[index]);
    while (index-- > 0 && out->length < MOST_DIGITS) {
        out->length +=
            (size_t)snprintf(out->text + out->length, sizeof(out->text) - out->length,
                             "%019llu", (unsigned long long)number->data[index]);
    }
    out->cut = index >= 0 || out->length > MOST_DIGITS;
    out->length = out->length < MOST_DIGITS ? out->length : MOST_DIGITS;
}

/* to-scientific-string of the General Decimal Arithmetic specification. */
static size_t
write_number(const film_mpd *number, const digits *shown, char *to, size_t capacity)
{
    int64_t exponent = (int64_t)number->exponent;
    int64_t left = exponent + (int64_t)number->digits; /* of the point */
    int length = (int)shown->length;
    bool plain = exponent <= 0 && left > -6;
    size_t used;

    if (shown->cut) {
        return (size_t)snprintf(to, capacity, "%.*s...", length, shown->text);
    }
    if (plain && left > 0) {
        return exponent == 0 ? (size_t)snprintf(to, capacity, "%s", shown->text)
                             : (size_t)snprintf(to, capacity, "%.*s.%s", (int)left,
                                                shown->text, shown->text + left);
    }
    if (plain) {
        return (size_t)snprintf(to, capacity, "0.%.*s%s", (int)-left, "000000",
                                shown->text);
    }
    used = (size_t)snprintf(to, capacity, "%c%s%s", shown->text[0],
                            length > 1 ? "." : "", shown->text + 1);
    return used + (size_t)snprintf(to + used, capacity - used, "E%+lld",
                                   (long long)(left - 1));
}

static size_t
write_special(const film_mpd *number, char *to, size_t capacity)
{
    digits payload = {.length = 0};

    if ((number->flags & FILM_MPD_INFINITY) != 0) {
        return (size_t)snprintf(to, capacity, "Infinity");
    }
    if (number->length > 0 && makes_sense(number)) {
        read_digits(number, &payload);
    }
    return (size_t)snprintf(to, capacity, "%s%.*s",
                            (number->flags & FILM_MPD_SIGNALING) != 0 ? "sNaN" : "NaN",
                            (int)payload.length, payload.text);
}

static bool
note(film_unfinished *making)
{
    static film_phrase phrase = {"Decimal('" HOLE_TEXT "')", 0, 0};
    const film_mpd *number = &((const film_decimal *)making->object)->number;
    bool special = (number->flags & FILM_MPD_SPECIAL) != 0;
    char text[MOST_DIGITS + 64];
    size_t length = 0;
    digits shown;

    if (!prove(making->object, number) || (!special && !makes_sense(number))) {
        return false;
    }
    if ((number->flags & FILM_MPD_NEGATIVE) != 0) {
        text[length++] = '-';
    }
    if (special) {
        length += write_special(number, text + length, sizeof(text) - length);
    }
    else {
        read_digits(number, &shown);
        length += write_number(number, &shown, text + length, sizeof(text) - length);
    }
    film_note_begin(film_phrase_id(&phrase), 0, 0, 1);
    film_note_digits(text, length);
    return true;
}

static uint64_t
word(PyObject *value)
{
    const film_mpd *number = &((const film_decimal *)value)->number;
    uint64_t head;

    if (!prove(value, number) || !makes_sense(number)) {
        return 0;
    }
    head = film_digest_mix(film_digest_mix(WORD_SALT, (uint64_t)number->exponent),
                           (uint64_t)(number->flags & FILM_MPD_SAID));
    head = film_digest_mix(
        head, number->length == 1 ? number->data[0]
                                  : film_hash(number->data, (size_t)number->length *
                                                                sizeof(*number->data)));
    return head == 0 ? 1 : head;
}

static bool
learn(film_type *known, PyTypeObject *type)
{
    const PyObject *decimal = film_family_global("_decimal", "Decimal");

    if (!film_family_comes_from(type, decimal) ||
        ((const PyTypeObject *)decimal)->tp_basicsize <
            (Py_ssize_t)sizeof(film_decimal) ||
        ((const PyTypeObject *)decimal)->tp_itemsize != 0) {
        return false;
    }
    known->said = (const PyObject *)type == decimal;
    return true;
}

const film_family film_family_decimals = {
    .learn = learn, .note = note, .word = word, .whole = true};
