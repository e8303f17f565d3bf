/* redact.c: finding secrets by the name in front of them.
 * Text is scanned once: each word is tested against the deny list; where it is followed
 * by `:` or `=` (quotes and blanks aside) what follows is its value.
 *
 * Names are tested at every store to a dict, so most of their bytes cost one look at a
 * table: which bytes a word may begin with, and which may follow that.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/redact.h"

#include <string.h>

#include "base/alloc.h"

static const char *const deny_list[] = {
    "password",   "passwd",     "passphrase",    "secret",     "token",
    "api_key",    "apikey",     "authorization", "credential", "private_key",
    "privatekey", "access_key", "accesskey",     "auth_key",   "session_id",
    "sessionid",  "cookie",     "bearer",        "pwd",
};

/* The bit of a second byte in film_word_starts: bytes that share one are compared. */
#define SECOND(c) (1u << ((unsigned char)(c) & 31u))

/* Of the list above: a word that is added there begins here, too (test_format.c). */
static const film_word_starts deny_starts = {{
    ['a'] = SECOND('c') | SECOND('p') | SECOND('u'),
    ['b'] = SECOND('e'),
    ['c'] = SECOND('o') | SECOND('r'),
    ['p'] = SECOND('a') | SECOND('r') | SECOND('w'),
    ['s'] = SECOND('e'),
    ['t'] = SECOND('o'),
}};

static char
folded(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return (char)(c - 'A' + 'a');
    }
    return c == '-' ? '_' : c;
}

static bool
matches_at(const char *name, size_t length, const char *word)
{
    size_t i = 0;

    while (i < length && word[i] != '\0' && folded(name[i]) == word[i]) {
        i++;
    }
    return word[i] == '\0';
}

bool
film_redaction_add(film_redaction *redaction, const char *word)
{
    size_t length = strlen(word);
    char *copy = film_alloc(length + 1);
    char **words =
        film_realloc(redaction->words, (redaction->word_count + 1) * sizeof(*words));

    if (words != NULL) {
        redaction->words = words;
    }
    if (copy == NULL || words == NULL) {
        film_free(copy);
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        copy[i] = folded(word[i]);
    }
    redaction->starts.seconds[(unsigned char)copy[0]] |=
        length > 1 ? SECOND(copy[1]) : UINT32_MAX;
    words[redaction->word_count++] = copy;
    return true;
}

void
film_redaction_reset(film_redaction *redaction)
{
    for (size_t i = 0; i < redaction->word_count; i++) {
        film_free(redaction->words[i]);
    }
    film_free(redaction->words);
    *redaction = (film_redaction){0};
}

static bool
has_word(const char *name, size_t length, const char *const *words, size_t count,
         const film_word_starts *starts)
{
    for (size_t at = 0; at < length; at++) {
        char first = folded(name[at]);
        uint32_t seconds = starts->seconds[(unsigned char)first];

        if (seconds == 0 ||
            (at + 1 < length && (seconds & SECOND(folded(name[at + 1]))) == 0)) {
            continue;
        }
        for (size_t i = 0; i < count; i++) {
            if (words[i][0] == first && matches_at(name + at, length - at, words[i])) {
                return true;
            }
        }
    }
    return false;
}

static bool
list_counts(const film_redaction *redaction)
{
    return redaction == NULL || !redaction->without_list;
}

bool
film_redact_is_secret_name(const film_redaction *redaction, const char *name,
                           size_t length)
{
    if (list_counts(redaction) &&
        has_word(name, length, deny_list, sizeof(deny_list) / sizeof(deny_list[0]),
                 &deny_starts)) {
        return true;
    }
    return redaction != NULL && redaction->word_count != 0 &&
           has_word(name, length, (const char *const *)redaction->words,
                    redaction->word_count, &redaction->starts);
}

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
        if (matches_at(text + at, length - at, schemes[i]) && at + word < length &&
            is_blank(text[at + word])) {
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
    bool found = false, urls = list_counts(redaction);
    size_t at = 0;

    while (at < length) {
        size_t start = at, value;
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
