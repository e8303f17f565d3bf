/* output_text.c: texts from a recording, made fit for JSON, XML and terminals.
 * A recorded string is whatever the program held: it must not end a JSON string, open
 * an XML element, or steer the terminal of whoever reads the log. Plain stretches are
 * copied whole; only the rare special character is looked at.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/output.h"

typedef void (*escape_function)(film_output *output, uint32_t character);

/* Bytes that may begin something special: controls, quotes and markup, DEL, and the
 * lead bytes of U+0080.. (C2), U+061C (D8) and U+200E.., U+2028.., U+2066.. (E2). */
static bool
needs_look(unsigned char byte)
{
    return byte < 0x20 || byte == '"' || byte == '\\' || byte == '&' || byte == '<' ||
           byte == '>' || byte == '\'' || byte == 0x7f || byte == 0xc2 ||
           byte == 0xd8 || byte == 0xe2;
}

/* How many bytes at the start are ASCII that a terminal just shows, as far as is seen
 * in steps of eight. */
static size_t
count_plain(film_text text)
{
    const uint64_t each = 0x0101010101010101u;
    size_t count = 0;

    for (; text.length - count >= sizeof(uint64_t); count += sizeof(uint64_t)) {
        uint64_t word;

        memcpy(&word, text.data + count, sizeof(word));
        /* Of each byte the highest bit: it has one, is 0x7f, or is below 0x20. A borrow
         * may only make a byte look special, behind one that is. */
        if (((word | (word + each) | (word - 0x20 * each)) & (0x80 * each)) != 0) {
            break;
        }
    }
    return count;
}

/* Characters that move, hide or reorder what a terminal shows. */
static bool
is_unsafe(uint32_t character)
{
    return character < 0x20 || (character >= 0x7f && character < 0xa0) ||
           character == 0x61c || character == 0x200e || character == 0x200f ||
           (character >= 0x2028 && character <= 0x202e) ||
           (character >= 0x2066 && character <= 0x2069);
}

/* The character at `at` and its length in bytes. Readers hand out valid UTF-8; a
 * broken tail is taken byte by byte. */
static uint32_t
decode(const unsigned char *at, size_t left, size_t *length)
{
    if (at[0] >= 0xe0 && left >= 3) {
        *length = 3;
        return (uint32_t)(at[0] & 0x0f) << 12 | (uint32_t)(at[1] & 0x3f) << 6 |
               (uint32_t)(at[2] & 0x3f);
    }
    if (at[0] >= 0xc2 && at[0] < 0xe0 && left >= 2) {
        *length = 2;
        return (uint32_t)(at[0] & 0x1f) << 6 | (uint32_t)(at[1] & 0x3f);
    }
    *length = 1;
    return at[0];
}

/* Copies `text`, giving every special character to `escape` instead; its first `plain`
 * bytes are none. */
static void
write_escaped(film_output *output, film_text text, size_t plain,
              bool (*is_special)(uint32_t), escape_function escape)
{
    const unsigned char *bytes = (const unsigned char *)text.data;
    size_t from = 0;

    for (size_t i = plain; i < text.length;) {
        size_t length = 1;
        uint32_t character;

        if (!needs_look(bytes[i])) {
            i++;
            continue;
        }
        character = decode(bytes + i, text.length - i, &length);
        if (is_special(character)) {
            film_output_write(output, bytes + from, i - from);
            escape(output, character);
            from = i + length;
        }
        i += length;
    }
    if (text.length > from) {
        film_output_write(output, bytes + from, text.length - from);
    }
}

/* What Python and JSON write alike; false: something else. */
static bool
escape_control(film_output *output, uint32_t character)
{
    switch (character) {
    case '\n':
        FILM_OUTPUT_LITERAL(output, "\\n");
        return true;
    case '\t':
        FILM_OUTPUT_LITERAL(output, "\\t");
        return true;
    case '\r':
        FILM_OUTPUT_LITERAL(output, "\\r");
        return true;
    default:
        return false;
    }
}

static bool
is_special_in_json(uint32_t character)
{
    return character == '"' || character == '\\' || is_unsafe(character);
}

static void
escape_json(film_output *output, uint32_t character)
{
    if (character == '"' || character == '\\') {
        film_output_byte(output, '\\');
        film_output_byte(output, (char)character);
    }
    else if (!escape_control(output, character)) {
        film_output_format(output, "\\u%04x", character);
    }
}

void
film_output_json_part(film_output *output, film_text text)
{
    write_escaped(output, text, 0, is_special_in_json, escape_json);
}

void
film_output_json(film_output *output, film_text text)
{
    film_output_byte(output, '"');
    film_output_json_part(output, text);
    film_output_byte(output, '"');
}

static void
escape_display(film_output *output, uint32_t character)
{
    if (!escape_control(output, character)) {
        film_output_format(output, character < 0x100 ? "\\x%02x" : "\\u%04x",
                           character);
    }
}

void
film_output_display(film_output *output, film_text text)
{
    write_escaped(output, text, count_plain(text), is_unsafe, escape_display);
}

static bool
is_special_in_xml(uint32_t character)
{
    return character == '&' || character == '<' || character == '>' ||
           character == '"' || character == '\'' || is_unsafe(character);
}

static void
escape_xml(film_output *output, uint32_t character)
{
    switch (character) {
    case '&':
        FILM_OUTPUT_LITERAL(output, "&amp;");
        break;
    case '<':
        FILM_OUTPUT_LITERAL(output, "&lt;");
        break;
    case '>':
        FILM_OUTPUT_LITERAL(output, "&gt;");
        break;
    case '"':
        FILM_OUTPUT_LITERAL(output, "&quot;");
        break;
    case '\'':
        FILM_OUTPUT_LITERAL(output, "&apos;");
        break;
    default:
        /* XML 1.0 has no way to hold most of these. */
        escape_display(output, character);
    }
}

void
film_output_xml(film_output *output, film_text text)
{
    write_escaped(output, text, 0, is_special_in_xml, escape_xml);
}
