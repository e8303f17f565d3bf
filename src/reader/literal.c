/* literal.c: see literal.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reader/literal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/decimal.h"
#include "reader/printable.h"

#define LITERAL(out, text) film_buffer_append((out), (text), sizeof(text) - 1)

void
film_literal_int(film_buffer *out, int64_t number)
{
    char *to = (char *)film_buffer_reserve(out, 1 + FILM_DECIMAL_MAX), *start = to;

    if (to == NULL) {
        return;
    }
    if (number < 0) {
        *to++ = '-';
    }
    to = film_format_u64(to, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
    out->length += (size_t)(to - start);
}

/* Divides the number of `count` 32-bit words, least first, by 10^9; gives the rest. */
static uint32_t
divide(uint32_t *words, size_t count)
{
    uint64_t rest = 0;

    for (size_t i = count; i > 0; i--) {
        uint64_t part = rest << 32 | words[i - 1];
        words[i - 1] = (uint32_t)(part / 1000000000);
        rest = part % 1000000000;
    }
    return (uint32_t)rest;
}

/* Absolute value of the two's complement number as words. */
static void
to_words(const uint8_t *bytes, size_t length, bool negative, uint32_t *words)
{
    uint32_t carry = 1;

    for (size_t i = 0; i < length; i++) {
        uint32_t byte = bytes[i];
        if (negative) {
            byte = (~byte & 0xff) + carry;
            carry = byte >> 8;
            byte &= 0xff;
        }
        words[i / 4] |= byte << (8 * (i % 4));
    }
    if (negative && carry != 0) {
        words[length / 4] |= carry << (8 * (length % 4)); /* -2^(8n-1): one bit more */
    }
}

void
film_literal_big_int(film_buffer *out, const uint8_t *bytes, size_t length)
{
    bool negative = length > 0 && (bytes[length - 1] & 0x80) != 0;
    size_t count = length / 4 + 1, parts = 0;
    uint32_t *words;
    char text[64];

    if (length > FILM_LITERAL_INT) {
        snprintf(text, sizeof(text), "<int of %zu bytes>", length);
        film_buffer_append_text(out, text);
        return;
    }
    /* As many parts of nine digits as the words can have, behind the words. */
    words = film_alloc_array(count + length * 8 / 29 + 2, sizeof(*words));
    if (words == NULL) {
        out->failed = true;
        return;
    }
    to_words(bytes, length, negative, words);
    do {
        while (count > 0 && words[count - 1] == 0) {
            count--;
        }
        words[length / 4 + 1 + parts++] = divide(words, count);
    } while (count > 0 && (count > 1 || words[0] != 0));
    if (negative) {
        film_buffer_put_byte(out, '-');
    }
    for (size_t i = parts; i > 0; i--) {
        snprintf(text, sizeof(text), i == parts ? "%u" : "%09u",
                 words[length / 4 + 1 + i - 1]);
        film_buffer_append_text(out, text);
    }
    film_free(words);
}

/* Exact arithmetic on numbers of usual size, where 128 bits are enough. */
__extension__ typedef unsigned __int128 wide;
#define USUAL_LEAST 0x1p-18
#define USUAL_END 0x1p53
#define LONGEST 20u /* decimal digits of 64 bits */

/* Whether the decimal `digits` / 10^n, which is `given` in units of 1 / (10^n 2^shift),
 * is read back as the double whose exact value is `exact` there. `unit` is 10^n: the
 * distance of two doubles. */
static bool
reads_back(wide given, wide exact, wide unit, uint64_t mantissa)
{
    wide distance = given > exact ? given - exact : exact - given;

    if (mantissa == (uint64_t)1 << 52 && given < exact) {
        distance *= 2; /* below a power of two doubles lie twice as close */
    }
    return distance * 2 < unit || (distance * 2 == unit && mantissa % 2 == 0);
}

/* As shortest_digits, for a number of usual size. */
static size_t
usual_digits(double number, char *digits, int *power)
{
    int exponent;
    uint64_t mantissa = (uint64_t)ldexp(frexp(number, &exponent), 53), decimal = 0;
    unsigned shift = (unsigned)(53 - exponent);
    size_t count = 0;
    int about = (int)floor(log10(number)), places = 0;

    /* The logarithm may be one off next to a power of ten: 18, not 17. */
    for (int precision = 15; precision <= 18; precision++) {
        wide unit = 1, exact, half = shift == 0 ? 0 : (wide)1 << (shift - 1);
        places = precision - 1 - about > 0 ? precision - 1 - about : 0;
        for (int i = 0; i < places; i++) {
            unit *= 10;
        }
        exact = mantissa * unit;
        decimal = (uint64_t)((exact + half) >> shift);
        if (shift > 0 && (wide)decimal << shift == exact + half) {
            decimal &= ~(uint64_t)1; /* in the middle of two: the even one */
        }
        if (reads_back((wide)decimal << shift, exact, unit, mantissa)) {
            break;
        }
        if (reads_back((wide)(decimal + 1) << shift, exact, unit, mantissa)) {
            decimal++; /* above a power of two there is more room than below */
            break;
        }
    }
    for (uint64_t left = decimal; left > 0; left /= 10) {
        digits[LONGEST - ++count] = (char)('0' + left % 10);
    }
    memmove(digits, digits + LONGEST - count, count);
    *power = (int)count - 1 - places;
    while (count > 1 && digits[count - 1] == '0') {
        count--;
    }
    return count;
}

/* The shortest decimal digits of a finite number above zero, and the power of ten of
 * the first. Any decimal of 15 digits survives a normal double, so 15 are tried first.
 */
#define LEAST_NORMAL 2.2250738585072014e-308

/* Adds one to the last digit of a "%e" text whose last digit is no 9. */
static void
raise_last_digit(char *text)
{
    char *exponent = strchr(text, 'e');

    if (exponent != NULL && exponent > text && exponent[-1] < '9') {
        exponent[-1]++;
    }
}

static size_t
shortest_digits(double number, char *digits, int *power)
{
    char text[40];
    size_t count = 0;
    const char *at;

    for (int precision = number < LEAST_NORMAL ? 0 : 14; precision <= 16; precision++) {
        snprintf(text, sizeof(text), "%.*e", precision, number);
        if (precision == 16 || strtod(text, NULL) == number) {
            break;
        }
        raise_last_digit(text);
        if (strtod(text, NULL) == number) {
            break; /* above a power of two there is more room than below */
        }
    }
    for (at = text; *at != 'e' && *at != '\0'; at++) {
        if (*at >= '0' && *at <= '9') { /* whatever the locale's point is */
            digits[count++] = *at;
        }
    }
    *power = *at == 'e' ? atoi(at + 1) : 0;
    while (count > 1 && digits[count - 1] == '0') {
        count--;
    }
    return count;
}

static void
put_zeros(film_buffer *out, int count)
{
    while (count-- > 0) {
        film_buffer_put_byte(out, '0');
    }
}

static void
put_digits(film_buffer *out, const char *digits, size_t count, int power,
           bool with_point)
{
    char exponent[16];

    if (power < -4 || power >= 16) {
        film_buffer_append(out, digits, 1);
        if (count > 1) {
            film_buffer_put_byte(out, '.');
            film_buffer_append(out, digits + 1, count - 1);
        }
        snprintf(exponent, sizeof(exponent), "e%c%02d", power < 0 ? '-' : '+',
                 abs(power));
        film_buffer_append_text(out, exponent);
        return;
    }
    if (power < 0) {
        LITERAL(out, "0.");
        put_zeros(out, -power - 1);
        film_buffer_append(out, digits, count);
        return;
    }
    if (count <= (size_t)power + 1) {
        film_buffer_append(out, digits, count);
        put_zeros(out, power + 1 - (int)count);
        if (with_point) {
            LITERAL(out, ".0");
        }
        return;
    }
    film_buffer_append(out, digits, (size_t)power + 1);
    film_buffer_put_byte(out, '.');
    film_buffer_append(out, digits + power + 1, count - (size_t)power - 1);
}

static void
put_float(film_buffer *out, double number, bool with_point)
{
    char digits[40] = {0};
    int power = 0;
    size_t count;

    if (isnan(number)) {
        LITERAL(out, "nan");
        return;
    }
    if (signbit(number)) {
        film_buffer_put_byte(out, '-');
        number = -number;
    }
    if (isinf(number)) {
        LITERAL(out, "inf");
        return;
    }
    if (number < 1e15 && number == (double)(int64_t)number) {
        film_literal_int(out, (int64_t)number);
        if (with_point) {
            LITERAL(out, ".0");
        }
        return;
    }
    count = number >= USUAL_LEAST && number < USUAL_END
                ? usual_digits(number, digits, &power)
                : shortest_digits(number, digits, &power);
    put_digits(out, digits, count, power, with_point);
}

void
film_literal_float(film_buffer *out, double number)
{
    put_float(out, number, true);
}

void
film_literal_complex(film_buffer *out, double real, double imaginary)
{
    bool whole = real != 0.0 || signbit(real);

    if (whole) {
        film_buffer_put_byte(out, '(');
        put_float(out, real, false);
        if (isnan(imaginary) || !signbit(imaginary)) {
            film_buffer_put_byte(out, '+');
        }
    }
    put_float(out, imaginary, false);
    film_buffer_append_text(out, whole ? "j)" : "j");
}

static bool
is_printable(uint32_t point)
{
    size_t low = 0, high = sizeof(film_unprintable) / sizeof(film_unprintable[0]);

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (film_unprintable[middle].last < point) {
            low = middle + 1;
        }
        else {
            high = middle;
        }
    }
    return low == sizeof(film_unprintable) / sizeof(film_unprintable[0]) ||
           point < film_unprintable[low].first;
}

/* The code point at *at, moving behind it; a surrogate counts as one. */
static uint32_t
next_point(const uint8_t **at, const uint8_t *end)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint8_t lead = *(*at)++;
    unsigned length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    uint32_t point = lead & (0xffu >> (length + 1));
    const uint8_t *from = *at;

    if (lead < 0x80) {
        return lead;
    }
    if (lead < 0xc2 || lead > 0xf4 || (size_t)(end - from) < length - 1) {
        return 0xfffd;
    }
    for (unsigned i = 0; i < length - 1; i++) {
        if ((from[i] & 0xc0) != 0x80) {
            return 0xfffd;
        }
        point = point << 6 | (from[i] & 0x3fu);
    }
    if (point < least[length] || point > 0x10ffff) {
        return 0xfffd;
    }
    *at += length - 1;
    return point;
}

static void
put_escape(film_buffer *out, uint32_t point)
{
    char text[16];
    int length = snprintf(text, sizeof(text),
                          point < 0x100     ? "\\x%02x"
                          : point < 0x10000 ? "\\u%04x"
                                            : "\\U%08x",
                          point);

    film_buffer_append(out, text, (size_t)length);
}

/* Bytes that stand for themselves in a literal with this quote. */
static bool
is_plain(uint8_t byte, uint8_t quote)
{
    return byte >= 0x20 && byte < 0x7f && byte != '\\' && byte != quote;
}

/* What is not plain and below 0x80, or a byte of any value. */
static void
put_special(film_buffer *out, uint8_t byte, uint8_t quote)
{
    if (byte == '\\' || byte == quote) {
        film_buffer_put_byte(out, '\\');
        film_buffer_put_byte(out, byte);
    }
    else if (byte == '\n' || byte == '\r' || byte == '\t') {
        film_buffer_put_byte(out, '\\');
        film_buffer_put_byte(out, byte == '\n' ? 'n' : byte == '\r' ? 'r' : 't');
    }
    else {
        put_escape(out, byte);
    }
}

static uint8_t
choose_quote(const uint8_t *bytes, size_t length)
{
    return length > 0 && memchr(bytes, '\'', length) != NULL &&
                   memchr(bytes, '"', length) == NULL
               ? '"'
               : '\'';
}

void
film_literal_str(film_buffer *out, const uint8_t *bytes, size_t length)
{
    uint8_t quote = choose_quote(bytes, length);
    const uint8_t *at = bytes, *end = bytes + length;

    film_buffer_put_byte(out, quote);
    while (at < end) {
        const uint8_t *from = at;
        uint32_t point;
        while (at < end && is_plain(*at, quote)) {
            at++;
        }
        film_buffer_append(out, from, (size_t)(at - from));
        if (at == end) {
            break;
        }
        if (*at < 0x80) {
            put_special(out, *at++, quote);
            continue;
        }
        from = at;
        point = next_point(&at, end);
        if (point == 0xfffd) {
            LITERAL(out, "\xef\xbf\xbd");
        }
        else if (is_printable(point)) {
            film_buffer_append(out, from, (size_t)(at - from));
        }
        else {
            put_escape(out, point);
        }
    }
    film_buffer_put_byte(out, quote);
}

void
film_literal_bytes(film_buffer *out, const uint8_t *bytes, size_t length)
{
    uint8_t quote = choose_quote(bytes, length);

    film_buffer_put_byte(out, 'b');
    film_buffer_put_byte(out, quote);
    for (size_t i = 0; i < length; i++) {
        if (is_plain(bytes[i], quote)) {
            film_buffer_put_byte(out, bytes[i]);
        }
        else {
            put_special(out, bytes[i], quote);
        }
    }
    film_buffer_put_byte(out, quote);
}
