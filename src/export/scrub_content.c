/* scrub_content.c: facts, names, values, source texts. Rows are in scrub_events.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/scrub_content.h"

#include <string.h>

#include "format/records.h"
#include "format/redact.h"
#include "reader/render.h"

static film_status
finish(const film_scrubber *scrubber, const film_buffer *out)
{
    return out->failed || scrubber->secrets.failed ? FILM_NO_MEMORY : FILM_OK;
}

film_status
film_scrub_meta(film_scrubber *scrubber, const film_buffer *raw, film_buffer *out)
{
    film_input input = film_input_of(raw->data, raw->length);
    const char *key, *value;
    size_t key_length, value_length;
    film_buffer clean = {0};
    film_status status;

    while ((status = film_meta_next(&input, &key, &key_length, &value,
                                    &value_length)) == FILM_OK) {
        film_buffer_clear(&clean);
        scrubber->counts.texts +=
            film_secrets_clean(&scrubber->secrets, value, value_length, &clean, 0);
        film_buffer_put_bytes(out, key, key_length);
        film_buffer_put_bytes(out, clean.data, clean.length);
        out->failed = out->failed || clean.failed;
    }
    film_buffer_reset(&clean);
    return status == FILM_END ? finish(scrubber, out) : status;
}

static void
put_record(film_buffer *out, const film_record *record, const film_buffer *body)
{
    film_buffer_put_byte(out, record->kind);
    film_buffer_put_bytes(out, body->data, body->length);
    out->failed = out->failed || body->failed;
}

film_status
film_scrub_table(film_scrubber *scrubber, const film_buffer *raw, film_buffer *out)
{
    film_input input = film_input_of(raw->data, raw->length);
    film_buffer clean = {0};
    film_status status = FILM_OK;

    film_buffer_put_varint(out, film_input_varint(&input)); /* strings before */
    film_buffer_put_varint(out, film_input_varint(&input)); /* codes before */
    while (status == FILM_OK && !input.failed && film_input_left(&input) > 0) {
        film_record record;

        status = film_record_decode(&input.at, input.end, &record);
        if (status == FILM_OK) {
            film_buffer_clear(&clean);
            if (record.kind == FILM_RECORD_STRING) {
                scrubber->counts.texts += film_secrets_clean(
                    &scrubber->secrets, record.body, record.length, &clean, 0);
            }
            else {
                film_buffer_append(&clean, record.body, record.length);
            }
            put_record(out, &record, &clean);
        }
    }
    film_buffer_reset(&clean);
    return status != FILM_OK ? status
           : input.failed    ? FILM_CORRUPT
                             : finish(scrubber, out);
}

/* --- values --- */

/* A record of which nothing is left but what it was. */
static void
put_redacted(const film_value_record *record, film_buffer *body)
{
    film_buffer_put_varint(body, record->type);
    if (record->form == 0) {
        film_buffer_put_varint(body, FILM_VALUE_REDACTED);
        film_buffer_append_text(body, FILM_REDACTED);
        return;
    }
    film_buffer_put_varint(body, FILM_VALUE_REDACTED | FILM_VALUE_OBJECT);
    film_buffer_put_varint(body, record->serial);
    film_buffer_put_byte(body, FILM_OBJECT_OPAQUE);
    film_buffer_put_varint(body, 0); /* no length */
    film_buffer_put_varint(body, 0);
}

/* The key of a mapping's item is a str with a secret name. */
static bool
is_named_key(film_scrubber *scrubber, film_input input)
{
    film_token key = film_token_decode(&input);

    return film_secrets_is_key(&scrubber->secrets, scrubber->reader, &key);
}

/* Whether the next of a note's names, which are used up, is a secret's. */
static bool
is_next_named(film_scrubber *scrubber, film_text *names)
{
    film_text name;

    return film_note_names(names, &name) &&
           film_secrets_is_name(&scrubber->secrets, name);
}

static film_text
names_of(film_scrubber *scrubber, const film_value_record *record)
{
    return film_reader_string(scrubber->reader, record->note.names);
}

/* The note of an object; what its tokens are called is looked at. */
static film_status
put_note(film_scrubber *scrubber, const film_value_record *record, film_buffer *body)
{
    const film_value_note *note = &record->note;
    film_input input = note->tokens;
    film_text names = names_of(scrubber, record);

    film_buffer_put_varint(body, note->text);
    film_buffer_put_varint(body, note->names);
    film_buffer_put_byte(body, note->base);
    film_buffer_put_varint(body, note->count);
    for (uint32_t i = 0; i < note->count && !input.failed; i++) {
        bool named = is_next_named(scrubber, &names);

        scrubber->counts.values +=
            film_secrets_clean_token(&scrubber->secrets, &input, named, body);
    }
    return input.failed ? FILM_CORRUPT : FILM_OK;
}

/* Items of a container, names of attributes, fields and keys looked at. */
static film_status
put_items(film_scrubber *scrubber, const film_value_record *record, film_buffer *body)
{
    film_input input = record->rest;
    film_text names = names_of(scrubber, record);

    for (uint64_t i = 0; i < record->count && !input.failed; i++) {
        bool named = record->form == FILM_OBJECT_SEQUENCE && record->note.count == 0 &&
                     is_next_named(scrubber, &names);

        if (record->form == FILM_OBJECT_MAPPING) {
            named = is_named_key(scrubber, input);
            scrubber->counts.values +=
                film_secrets_clean_token(&scrubber->secrets, &input, false, body);
        }
        else if (record->form == FILM_OBJECT_ATTRIBUTES) {
            uint32_t name = film_input_varint32(&input);
            named = film_secrets_is_name(&scrubber->secrets,
                                         film_reader_string(scrubber->reader, name));
            film_buffer_put_varint(body, name);
        }
        scrubber->counts.values +=
            film_secrets_clean_token(&scrubber->secrets, &input, named, body);
    }
    return input.failed ? FILM_CORRUPT : FILM_OK;
}

static film_status
put_content(film_scrubber *scrubber, const film_value_record *record, film_buffer *body)
{
    switch ((film_object_form)record->form) {
    case FILM_OBJECT_SEQUENCE:
    case FILM_OBJECT_MAPPING:
    case FILM_OBJECT_ATTRIBUTES:
    case FILM_OBJECT_EXCEPTION:
        return put_items(scrubber, record, body);
    case FILM_OBJECT_BYTES:
        scrubber->counts.texts +=
            film_secrets_clean(&scrubber->secrets, record->rest.at,
                               film_input_left(&record->rest), body, '*');
        return FILM_OK;
    case FILM_OBJECT_OPAQUE:
    case FILM_OBJECT_ARRAY:
    case FILM_OBJECT_NAMED:
    case FILM_OBJECT_AGAIN: /* the record it refers to is cleaned */
        break;
    }
    film_buffer_append(body, record->rest.at, film_input_left(&record->rest));
    return FILM_OK;
}

static film_status
put_object(film_scrubber *scrubber, const film_value_record *record, film_buffer *body)
{
    film_buffer_put_varint(body, record->type);
    film_buffer_put_varint(body, record->flags);
    film_buffer_put_varint(body, record->serial);
    film_buffer_put_byte(body, record->form);
    film_buffer_put_varint(body, (uint64_t)(record->length + 1));
    film_buffer_put_varint(body, record->count);
    FILM_TRY(put_content(scrubber, record, body));
    return (record->flags & FILM_VALUE_NOTED) != 0 ? put_note(scrubber, record, body)
                                                   : FILM_OK;
}

static film_status
put_value(film_scrubber *scrubber, uint64_t id, const film_record *from,
          film_buffer *body)
{
    film_value_record record;
    film_buffer clean = {0};
    bool found;

    if (!film_value_record_decode(from->body, from->length, &record)) {
        return FILM_CORRUPT;
    }
    if (film_secrets_has_record(&scrubber->secrets, id, &record)) {
        scrubber->counts.texts++;
        put_redacted(&record, body);
        return FILM_OK;
    }
    if (record.form != 0) {
        return put_object(scrubber, &record, body);
    }
    found = film_secrets_clean(&scrubber->secrets, record.rest.at,
                               film_input_left(&record.rest), &clean, 0);
    if (found) {
        /* The length and hash of the whole would tell a part of it. */
        uint32_t flags = (record.flags & ~FILM_VALUE_MEASURED) | FILM_VALUE_REDACTED;

        scrubber->counts.texts++;
        film_buffer_put_varint(body, record.type);
        film_buffer_put_varint(body, flags);
        film_buffer_append(body, clean.data, clean.length);
        body->failed = body->failed || clean.failed;
    }
    else {
        film_buffer_append(body, from->body, from->length);
    }
    film_buffer_reset(&clean);
    return FILM_OK;
}

static film_status
put_values(film_scrubber *scrubber, const film_buffer *raw, uint64_t first,
           film_buffer *out)
{
    film_input input = film_input_of(raw->data, raw->length);
    film_buffer body = {0};
    film_status status = FILM_OK;

    while (status == FILM_OK && film_input_left(&input) > 0) {
        film_record record;

        status = film_record_decode(&input.at, input.end, &record);
        film_buffer_clear(&body);
        if (status == FILM_OK && record.kind == FILM_RECORD_VALUE) {
            status = put_value(scrubber, first++, &record, &body);
        }
        else if (status == FILM_OK) {
            film_buffer_append(&body, record.body, record.length);
        }
        if (status == FILM_OK) {
            put_record(out, &record, &body);
        }
    }
    film_buffer_reset(&body);
    return status == FILM_OK ? finish(scrubber, out) : status;
}

film_status
film_scrub_values(film_scrubber *scrubber, const film_buffer *raw, uint64_t first,
                  bool in_columns, film_buffer *out)
{
    film_buffer records = {0}, clean = {0};
    film_status status;

    if (!in_columns) {
        return put_values(scrubber, raw, first, out);
    }
    status = film_value_columns_join(raw->data, raw->length, first, FILM_CHUNK_MAX_RAW,
                                     &records);
    if (status == FILM_OK) {
        status = put_values(scrubber, &records, first, &clean);
    }
    if (status == FILM_OK) {
        film_value_columns_split(&scrubber->value_columns, clean.data, clean.length,
                                 first, out);
        status = finish(scrubber, out);
    }
    film_buffer_reset(&records);
    film_buffer_reset(&clean);
    return status;
}

film_status
film_scrub_source(film_scrubber *scrubber, const film_buffer *raw, film_buffer *out)
{
    film_input input = film_input_of(raw->data, raw->length);
    size_t length;
    const uint8_t *file = film_input_bytes(&input, &length);
    uint32_t flags = film_input_varint32(&input);
    film_buffer name = {0};

    if (input.failed) {
        return FILM_CORRUPT;
    }
    scrubber->counts.texts +=
        film_secrets_clean(&scrubber->secrets, file, length, &name, 0);
    film_buffer_put_bytes(out, name.data, name.length);
    out->failed = out->failed || name.failed;
    film_buffer_reset(&name);
    film_buffer_put_varint(out, flags);
    scrubber->counts.sources += film_secrets_clean(&scrubber->secrets, input.at,
                                                   film_input_left(&input), out, '*');
    return finish(scrubber, out);
}
