/* scrub_secrets.c: see scrub_secrets.h.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "export/scrub_secrets.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "format/redact.h"
#include "reader/reader_state.h"

#define NESTING 16u     /* of containers */
#define NAME_BYTES 512u /* of the longest name a glob is held against */

film_status
film_secrets_init(film_secrets *secrets, const film_scrub_options *options,
                  film_error *error)
{
    memset(secrets, 0, sizeof(*secrets));
    secrets->options = options;
    secrets->patterns =
        film_alloc_array(options->pattern_count, sizeof(*secrets->patterns));
    if (secrets->patterns == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    for (size_t i = 0; i < options->pattern_count; i++) {
        int code = regcomp(&secrets->patterns[i], options->patterns[i], REG_EXTENDED);
        char why[128];

        if (code != 0) {
            regerror(code, &secrets->patterns[i], why, sizeof(why));
            film_secrets_reset(secrets);
            return film_fail(error, FILM_MISUSE, "'%.80s' is no pattern: %s",
                             options->patterns[i], why);
        }
        secrets->pattern_count++;
        /* One that matches nothing at all would match everywhere. */
        if (regexec(&secrets->patterns[i], "", 0, NULL, 0) == 0) {
            film_secrets_reset(secrets);
            return film_fail(error, FILM_MISUSE, "'%.80s' matches the empty text",
                             options->patterns[i]);
        }
    }
    return FILM_OK;
}

void
film_secrets_reset(film_secrets *secrets)
{
    for (size_t i = 0; i < secrets->pattern_count; i++) {
        regfree(&secrets->patterns[i]);
    }
    for (size_t i = 0; i < secrets->text_count; i++) {
        film_buffer_reset(&secrets->texts[i]);
    }
    film_free(secrets->patterns);
    film_free(secrets->texts);
    film_intern_reset(&secrets->known);
    film_intern_reset(&secrets->records);
    film_intern_reset(&secrets->objects);
    film_buffer_reset(&secrets->subject);
    memset(secrets, 0, sizeof(*secrets));
}

bool
film_secrets_is_name(const film_secrets *secrets, film_text name)
{
    char text[NAME_BYTES];

    if (name.length == 0) {
        return false;
    }
    if (secrets->options->name_count == 0 && secrets->options->pattern_count == 0) {
        return film_redact_is_secret_name(NULL, name.data, name.length);
    }
    if (name.length >= sizeof(text)) {
        name.length = sizeof(text) - 1;
    }
    memcpy(text, name.data, name.length);
    text[name.length] = '\0';
    for (size_t i = 0; i < secrets->options->name_count; i++) {
        if (fnmatch(secrets->options->names[i], text, 0) == 0) {
            return true;
        }
    }
    return false;
}

/* False: it is not in the recording, or memory is out, which is kept in mind. */
static bool
read_record(film_secrets *secrets, film_reader *reader, uint64_t id,
            film_value_record *record)
{
    film_status status = film_reader_record(reader, id, record, NULL);

    secrets->failed = secrets->failed || status == FILM_NO_MEMORY;
    return status == FILM_OK;
}

bool
film_secrets_is_key(film_secrets *secrets, film_reader *reader, const film_token *token)
{
    film_value_record record;
    film_text text = {"", 0};

    if (token->kind == FILM_TOKEN_SHORT_TEXT) {
        text = (film_text){token->text.data, token->text.length};
    }
    else if (token->kind == FILM_TOKEN_VALUE &&
             read_record(secrets, reader, token->value, &record) && record.form == 0) {
        text = (film_text){(const char *)record.rest.at, film_input_left(&record.rest)};
    }
    return film_secrets_is_name(secrets, text);
}

static void
remember(film_secrets *secrets, film_intern *table, uint64_t number)
{
    uint32_t ignored;

    if (number != 0 && !film_intern_find(table, number, &ignored) &&
        !film_intern_add(table, number, 0)) {
        secrets->failed = true;
    }
}

void
film_secrets_add_text(film_secrets *secrets, const void *bytes, size_t length)
{
    uint64_t hash;
    uint32_t ignored;
    film_buffer *texts;

    if (length < FILM_SECRET_LEAST) {
        return;
    }
    hash = film_hash(bytes, length) | 1;
    if (film_intern_find(&secrets->known, hash, &ignored)) {
        return;
    }
    texts = film_grow(secrets->texts, &secrets->text_capacity, secrets->text_count + 1,
                      sizeof(*texts));
    if (texts == NULL || !film_intern_add(&secrets->known, hash, 0)) {
        secrets->texts = texts == NULL ? secrets->texts : texts;
        secrets->failed = true;
        return;
    }
    secrets->texts = texts;
    texts += secrets->text_count++;
    memset(texts, 0, sizeof(*texts));
    film_buffer_append(texts, bytes, length);
    secrets->failed = secrets->failed || texts->failed;
}

/* `count` of them, as the items of that form; 0: tokens. */
static void
add_tokens(film_secrets *secrets, film_reader *reader, const film_input *from,
           uint64_t count, uint8_t form, unsigned nesting)
{
    size_t length = film_input_left(from);
    uint8_t *copy = film_alloc(length + 1); /* reading on takes the record away */
    film_input input = film_input_of(copy, length);

    if (copy == NULL) {
        secrets->failed = true;
        return;
    }
    if (length > 0) {
        memcpy(copy, from->at, length);
    }
    for (uint64_t i = 0; i < count && !input.failed; i++) {
        film_token token;

        if (form == FILM_OBJECT_MAPPING) {
            film_tokens_skip(&input, 1);
        }
        else if (form == FILM_OBJECT_ATTRIBUTES) {
            film_input_varint32(&input);
        }
        token = film_token_decode(&input);
        if (!input.failed) {
            film_secrets_add_value(secrets, reader, &token, nesting + 1);
        }
    }
    film_free(copy);
}

/* Its items, where it has some, and what its note shows. */
static void
add_content(film_secrets *secrets, film_reader *reader, uint64_t id,
            film_value_record *record, unsigned nesting)
{
    if (record->form == FILM_OBJECT_SEQUENCE || record->form == FILM_OBJECT_MAPPING ||
        record->form == FILM_OBJECT_ATTRIBUTES ||
        record->form == FILM_OBJECT_EXCEPTION) {
        add_tokens(secrets, reader, &record->rest, record->count, record->form,
                   nesting);
    }
    if (record->note.count > 0 && read_record(secrets, reader, id, record)) {
        add_tokens(secrets, reader, &record->note.tokens, record->note.count, 0,
                   nesting);
    }
}

void
film_secrets_add_value(film_secrets *secrets, film_reader *reader,
                       const film_token *token, unsigned nesting)
{
    film_value_record record;
    uint32_t ignored;

    if (token->kind == FILM_TOKEN_SHORT_TEXT) {
        film_secrets_add_text(secrets, token->text.data, token->text.length);
        return;
    }
    if ((token->kind != FILM_TOKEN_VALUE && token->kind != FILM_TOKEN_OBJECT) ||
        nesting > NESTING || token->value == UINT64_MAX ||
        film_intern_find(&secrets->records, token->value + 1, &ignored) ||
        !read_record(secrets, reader, token->value, &record)) {
        return;
    }
    remember(secrets, &secrets->records, token->value + 1);
    if (record.form == 0) {
        film_secrets_add_text(secrets, record.rest.at, film_input_left(&record.rest));
        return;
    }
    if (record.serial != 0) {
        remember(secrets, &secrets->objects, record.serial + 1);
    }
    if (record.form == FILM_OBJECT_BYTES) {
        film_secrets_add_text(secrets, record.rest.at, film_input_left(&record.rest));
    }
    add_content(secrets, reader, token->value, &record, nesting);
}

bool
film_secrets_has_record(const film_secrets *secrets, uint64_t id,
                        const film_value_record *record)
{
    uint32_t ignored;

    return film_intern_find(&secrets->records, id + 1, &ignored) ||
           (record->form != 0 && record->serial != 0 &&
            film_intern_find(&secrets->objects, record->serial + 1, &ignored));
}

/* The first secret in the bytes from `at` on: where, and how long; false: none. A NUL
 * stands behind them. */
static bool
find_next(const film_secrets *secrets, const char *bytes, size_t length, size_t at,
          size_t *where, size_t *found)
{
    bool any = false;

    for (size_t i = 0; i < secrets->text_count; i++) {
        const film_buffer *text = &secrets->texts[i];
        const char *hit = memmem(bytes + at, length - at, text->data, text->length);
        size_t place = hit == NULL ? 0 : (size_t)(hit - bytes);

        if (hit != NULL &&
            (!any || place < *where || (place == *where && text->length > *found))) {
            any = true;
            *where = place;
            *found = text->length;
        }
    }
    for (size_t i = 0; i < secrets->pattern_count; i++) {
        regmatch_t match = {.rm_so = (regoff_t)at, .rm_eo = (regoff_t)length};
        size_t place;

        if (regexec(&secrets->patterns[i], bytes, 1, &match,
                    REG_STARTEND | (at > 0 ? REG_NOTBOL : 0)) != 0 ||
            match.rm_eo <= match.rm_so) {
            continue;
        }
        place = (size_t)match.rm_so;
        if (!any || place < *where ||
            (place == *where && (size_t)(match.rm_eo - match.rm_so) > *found)) {
            any = true;
            *where = place;
            *found = (size_t)(match.rm_eo - match.rm_so);
        }
    }
    return any;
}

bool
film_secrets_clean(film_secrets *secrets, const void *bytes, size_t length,
                   film_buffer *out, char fill)
{
    const char *text;
    size_t at = 0, where = 0, found = 0;
    bool any = false;

    film_buffer_clear(&secrets->subject);
    film_buffer_append(&secrets->subject, bytes, length);
    film_buffer_put_byte(&secrets->subject, 0);
    if (secrets->subject.failed) {
        secrets->failed = true;
        return false;
    }
    text = (const char *)secrets->subject.data;
    while (at < length && find_next(secrets, text, length, at, &where, &found)) {
        any = true;
        film_buffer_append(out, text + at, where - at);
        for (size_t i = 0; fill != 0 && i < found; i++) {
            film_buffer_put_byte(out, (uint8_t)(text[where + i] == '\n' ? '\n' : fill));
        }
        if (fill == 0) {
            film_buffer_append_text(out, FILM_REDACTED);
        }
        at = where + found;
    }
    film_buffer_append(out, text + at, length - at);
    secrets->failed = secrets->failed || out->failed;
    return any;
}

/* Whether a plain value told in place is secret by what it says. */
static bool
is_secret(film_secrets *secrets, const film_token *token)
{
    size_t where = 0, found = 0;
    char text[24];
    int length;

    if (token->kind == FILM_TOKEN_SHORT_TEXT && token->text.length > 0) {
        memcpy(text, token->text.data, token->text.length);
        text[token->text.length] = '\0';
        return find_next(secrets, text, token->text.length, 0, &where, &found);
    }
    if (token->kind == FILM_TOKEN_INT) {
        length = snprintf(text, sizeof(text), "%lld", (long long)token->integer);
        return length > 0 &&
               find_next(secrets, text, (size_t)length, 0, &where, &found);
    }
    return false;
}

bool
film_secrets_clean_token(film_secrets *secrets, film_input *input, bool named,
                         film_buffer *out)
{
    const uint8_t *begin = input->at;
    film_token token = film_token_decode(input);

    if (input->failed) {
        return false;
    }
    if (token.kind != FILM_TOKEN_UNBOUND && (named || is_secret(secrets, &token))) {
        film_buffer_put_byte(out, FILM_TOKEN_REDACTED);
        return true;
    }
    film_buffer_append(out, begin, (size_t)(input->at - begin));
    return false;
}
