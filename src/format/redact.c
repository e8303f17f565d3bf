/* redact.c: finding secrets in a text, by the name in front of them or by what they look
 * like. Text is scanned once: each word is tested against the deny list; where it is
 * followed by `:` or `=` (quotes and blanks aside) what follows is its value.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/redact.h"

#include <string.h>

#include "base/alloc.h"
#include "format/redact_state.h"

/* Of names beyond ASCII every byte is part of a word. */
static bool
is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '-' || ((unsigned char)c & 0x80) != 0;
}

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool
is_quote(char c)
{
    return c == '"' || c == '\'' || c == '`';
}

/* Past the quotes, blanks and the sign between a name and its value; 0 when there is
 * no sign, so no value. */
static size_t
skip_to_value(const char *text, size_t length, size_t at)
{
    while (at < length &&
           (is_quote(text[at]) || is_blank(text[at]) || text[at] == ']')) {
        at++;
    }
    if (at >= length || (text[at] != ':' && text[at] != '=')) {
        return 0;
    }
    while (at < length && (text[at] == ':' || text[at] == '=' || is_blank(text[at]))) {
        at++;
    }
    return at;
}

/* Where the value that begins at `at` ends: at its closing quote, else at a blank or a
 * separator; a word such as Bearer takes the next word with it. */
static size_t
value_end(const char *text, size_t length, size_t at)
{
    static const char *const schemes[] = {"bearer", "basic", "digest", "token"};

    if (at < length && is_quote(text[at])) {
        char quote = text[at++];
        while (at < length && text[at] != quote) {
            at += text[at] == '\\' && at + 1 < length ? 2 : 1;
        }
        return at < length ? at + 1 : length;
    }
    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        size_t word = strlen(schemes[i]);
        if (film_redact_matches(text + at, length - at, schemes[i]) &&
            at + word < length && is_blank(text[at + word])) {
            at += word + 1;
            break;
        }
    }
    while (at < length && !is_blank(text[at]) &&
           strchr(",;&)}]\n\r", text[at]) == NULL) {
        at++;
    }
    return at;
}

/* The end of `user:pass@` in a URL whose `://` ends at `at`; 0 if there is none. */
static size_t
url_credentials_end(const char *text, size_t length, size_t at)
{
    bool colon = false;

    for (; at < length && !is_blank(text[at]) && text[at] != '/'; at++) {
        if (text[at] == ':') {
            colon = true;
        }
        if (text[at] == '@') {
            return colon ? at : 0;
        }
    }
    return 0;
}

bool
film_redact_text(const film_redaction *redaction, const char *text, size_t length,
                 film_buffer *out)
{
    bool found = false, urls = film_redact_by_list(redaction);
    size_t at = 0;

    while (at < length) {
        size_t start = at, value, looks;
        if (urls && (looks = film_redact_looks_secret(text, length, at)) != 0) {
            film_buffer_append_text(out, FILM_REDACTED);
            found = true;
            at += looks;
            continue;
        }
        if (!is_word(text[at])) {
            size_t end = urls && length - at >= 3 && memcmp(text + at, "://", 3) == 0
                             ? url_credentials_end(text, length, at + 3)
                             : 0;
            if (end != 0) {
                film_buffer_append_text(out, "://" FILM_REDACTED);
                found = true;
                at = end;
                continue;
            }
            film_buffer_put_byte(out, (uint8_t)text[at++]);
            continue;
        }
        while (at < length && is_word(text[at])) {
            at++;
        }
        film_buffer_append(out, text + start, at - start);
        if (!film_redact_is_secret_name(redaction, text + start, at - start)) {
            continue;
        }
        value = skip_to_value(text, length, at);
        if (value != 0 && value < length) {
            film_buffer_append(out, text + at, value - at);
            film_buffer_append_text(out, FILM_REDACTED);
            at = value_end(text, length, value);
            found = true;
        }
    }
    return found;
}
