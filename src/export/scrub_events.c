/* scrub_events.c: rows without secrets; and what secret names hold, by walking all.
 * SPDX-License-Identifier: Apache-2.0 */
#include "export/scrub_content.h"

#include <filmstrip/tensor.h>

#include "reader/render.h"

#include <string.h>

/* --- which values are secret --- */

/* The key of an item is a secret name. */
static bool
has_named_key(film_scrubber *scrubber, const film_event *event)
{
    int index = film_event_value_index(event, FILM_ROLE_KEY);
    film_input input = film_input_of(event->tokens, event->tokens_length);
    film_token token;

    if (index < 0) {
        return false;
    }
    film_tokens_skip(&input, (uint32_t)index);
    token = film_token_decode(&input);
    return film_secrets_is_key(&scrubber->secrets, scrubber->reader, &token);
}

bool
film_scrub_is_named(film_scrubber *scrubber, const film_event *event, uint32_t index)
{
    const film_code *code;

    switch (event->kind) {
    case FILM_KIND_CALL:
        return film_secrets_is_name(
            &scrubber->secrets,
            film_reader_argument_name(scrubber->reader, event, index));
    case FILM_KIND_OP:
        return film_secrets_is_name(
            &scrubber->secrets, film_reader_op_keyword(scrubber->reader, event, index));
    case FILM_KIND_SET:
        if ((int)index != film_event_value_index(event, FILM_ROLE_VALUE)) {
            return false;
        }
        return film_secrets_is_name(&scrubber->secrets,
                                    film_reader_event_name(scrubber->reader, event)) ||
               has_named_key(scrubber, event);
    case FILM_KIND_RETURN:
    case FILM_KIND_YIELD:
        code = film_reader_code(scrubber->reader, event->code);
        return code != NULL && film_secrets_is_name(&scrubber->secrets, code->name);
    default:
        return false;
    }
}

static void
find_in_event(film_scrubber *scrubber, const film_event *event)
{
    film_input input = film_input_of(event->tokens, event->tokens_length);

    for (uint32_t i = 0; i < event->token_count && !input.failed; i++) {
        film_token token = film_token_decode(&input);

        if (!input.failed && film_scrub_is_named(scrubber, event, i)) {
            film_secrets_add_value(&scrubber->secrets, scrubber->reader, &token, 0);
        }
    }
}

/* Attributes, fields and keys with a secret name among what a value record refers to:
 * its items, or (`form` 0) the tokens of its note. */
static void
find_named(film_scrubber *scrubber, const film_input *from, uint64_t count,
           uint8_t form, film_text names)
{
    film_buffer copy = {0}; /* finding out more reads other records over this one */
    film_input input;

    film_buffer_append(&copy, from->at, film_input_left(from));
    scrubber->secrets.failed = scrubber->secrets.failed || copy.failed;
    input = film_input_of(copy.data, copy.length);
    for (uint64_t i = 0; i < count && !input.failed; i++) {
        film_token token;
        film_text name;
        bool named;

        if (form == FILM_OBJECT_ATTRIBUTES) {
            uint32_t id = film_input_varint32(&input);
            named = film_secrets_is_name(&scrubber->secrets,
                                         film_reader_string(scrubber->reader, id));
        }
        else if (form == FILM_OBJECT_MAPPING) {
            token = film_token_decode(&input);
            named = film_secrets_is_key(&scrubber->secrets, scrubber->reader, &token);
        }
        else {
            named = film_note_names(&names, &name) &&
                    film_secrets_is_name(&scrubber->secrets, name);
        }
        token = film_token_decode(&input);
        if (!input.failed && named) {
            film_secrets_add_value(&scrubber->secrets, scrubber->reader, &token, 0);
        }
    }
    film_buffer_reset(&copy);
}

static void
find_in_record(film_scrubber *scrubber, uint64_t id, film_value_record *record)
{
    film_text names = film_reader_string(scrubber->reader, record->note.names);
    uint8_t form = record->form;

    if (form == FILM_OBJECT_ATTRIBUTES || form == FILM_OBJECT_MAPPING ||
        (form == FILM_OBJECT_SEQUENCE && names.length > 0)) {
        find_named(scrubber, &record->rest, record->count, form, names);
    }
    if (record->note.count > 0 && names.length > 0 &&
        film_reader_record(scrubber->reader, id, record, NULL) == FILM_OK) {
        find_named(scrubber, &record->note.tokens, record->note.count, 0, names);
    }
}

/* The records from `first` up to `end`, as far as there are any. Where a chunk is
 * damaged, scrub will refuse it. */
static void
find_in_range(film_scrubber *scrubber, uint64_t first, uint64_t end)
{
    film_value_record record;
    film_status status = FILM_OK;

    for (; first < end && status == FILM_OK; first++) {
        status = film_reader_record(scrubber->reader, first, &record, NULL);
        scrubber->secrets.failed = scrubber->secrets.failed || status == FILM_NO_MEMORY;
        if (status == FILM_OK) {
            find_in_record(scrubber, first, &record);
        }
    }
}

static void
find_in_records(film_scrubber *scrubber)
{
    size_t chunks = film_reader_chunk_count(scrubber->reader);
    uint64_t sealed = 0;

    for (size_t i = 0; i < chunks; i++) {
        const film_chunk_info *chunk = film_reader_chunk(scrubber->reader, i);
        uint64_t first = chunk->first, end = first + chunk->count;

        if (chunk->type == FILM_CHUNK_VALUE) {
            find_in_range(scrubber, first, end);
            sealed = end > sealed ? end : sealed;
        }
    }
    find_in_range(scrubber, sealed, UINT64_MAX); /* those in windows */
}

film_status
film_scrub_find(film_scrubber *scrubber, film_error *error)
{
    size_t threads = film_reader_thread_count(scrubber->reader);
    film_status status = FILM_OK;

    for (size_t i = 0; i < threads && status == FILM_OK; i++) {
        const film_thread_info *thread = film_reader_thread(scrubber->reader, i);
        film_cursor *cursor;
        const film_event *event;

        FILM_TRY(film_cursor_open(scrubber->reader, thread->id, thread->first_event,
                                  &cursor, error));
        while ((status = film_cursor_next(cursor, &event, error)) == FILM_OK) {
            find_in_event(scrubber, event);
        }
        film_cursor_close(cursor);
        status = status == FILM_END ? FILM_OK : status;
    }
    if (status == FILM_OK) {
        find_in_records(scrubber);
    }
    return status != FILM_OK ? status
           : scrubber->secrets.failed
               ? film_fail(error, FILM_NO_MEMORY, "not enough memory")
               : FILM_OK;
}

/* --- rows --- */

/* Rewrites `count` tokens; the values of `event` from `first` on. */
static bool
clean_tokens(film_scrubber *scrubber, film_input *input, uint32_t count,
             const film_event *event, uint32_t first)
{
    film_buffer_clear(&scrubber->tokens);
    for (uint32_t i = 0; i < count && !input->failed; i++) {
        bool named = film_scrub_is_named(scrubber, event, first + i);
        scrubber->counts.values += film_secrets_clean_token(&scrubber->secrets, input,
                                                            named, &scrubber->tokens);
    }
    return !input->failed && !scrubber->tokens.failed;
}

static bool
append(film_scrubber *scrubber, film_row row)
{
    row.tokens = scrubber->tokens.data;
    row.tokens_length = (uint32_t)scrubber->tokens.length;
    return film_columns_append(&scrubber->columns, &row);
}

/* A delete or a change: numbers, then tokens to the end. */
static bool
append_body(film_scrubber *scrubber, film_row row, const film_event *event)
{
    film_input input = film_input_of(row.body, row.body_length);
    film_buffer body = {0};
    uint32_t numbers = row.kind == FILM_KIND_CHANGE ? 2 : 1, count = 0;
    bool done;

    for (uint32_t i = 0; i < numbers; i++) {
        film_buffer_put_varint(&body, film_input_varint(&input));
    }
    for (film_input ahead = input; !ahead.failed && film_input_left(&ahead) > 0;) {
        film_tokens_skip(&ahead, 1);
        count++;
    }
    done = clean_tokens(scrubber, &input, count, event, 0);
    film_buffer_append(&body, scrubber->tokens.data, scrubber->tokens.length);
    row.body = body.data;
    row.body_length = (uint32_t)body.length;
    scrubber->secrets.failed = scrubber->secrets.failed || body.failed;
    done = done && !body.failed && film_columns_append(&scrubber->columns, &row);
    film_buffer_reset(&body);
    return done;
}

/* VALUES rows wait for the event they belong to. */
typedef struct waiting {
    film_buffer tokens; /* owned */
    film_buffer counts; /* owned; of each row, a byte */
} waiting;

static bool
append_waiting(film_scrubber *scrubber, waiting *values, const film_event *event)
{
    film_input input = film_input_of(values->tokens.data, values->tokens.length);
    uint32_t first = 0;
    bool done = true;

    for (size_t i = 0; i < values->counts.length && done; i++) {
        film_row row = {.kind = FILM_KIND_VALUES,
                        .token_count = values->counts.data[i]};

        done = clean_tokens(scrubber, &input, row.token_count, event, first) &&
               append(scrubber, row);
        first += row.token_count;
    }
    film_buffer_clear(&values->counts);
    film_buffer_clear(&values->tokens);
    return done;
}

/* Whether all that a row of this kind can hold is known here: numbers, and numbers of
 * names, texts and values, which are cleaned where they are kept. */
static bool
is_understood(uint8_t kind)
{
    switch (kind) {
    case FILM_KIND_CALL:
    case FILM_KIND_RETURN:
    case FILM_KIND_YIELD:
    case FILM_KIND_RESUME:
    case FILM_KIND_THROW:
    case FILM_KIND_RAISE:
    case FILM_KIND_UNWIND:
    case FILM_KIND_HANDLED:
    case FILM_KIND_LINE:
    case FILM_KIND_SET:
    case FILM_KIND_DELETE:
    case FILM_KIND_CHANGE:
    case FILM_KIND_C_CALL:
    case FILM_KIND_C_RETURN:
    case FILM_KIND_C_RAISE:
    case FILM_KIND_OP:
    case FILM_KIND_OP_END:
    case FILM_KIND_THREAD_START:
    case FILM_KIND_THREAD_END:
    case FILM_KIND_TASK:
    case FILM_KIND_LOST:
    case FILM_KIND_LOST_CONTROL:
    case FILM_KIND_ADOPT:
    case FILM_KIND_FOCUS:
    case FILM_KIND_DROP:
    case FILM_KIND_PAUSE:
        return true;
    default:
        return false;
    }
}

/* What a newer version wrote is left out. The number of an event stays, or all behind it
 * would have others; of what is no event, the time that it took. */
static bool
append_number(film_scrubber *scrubber, film_row row)
{
    if (film_kind_is_adjustment(row.kind)) {
        row.kind = FILM_KIND_PAUSE;
    }
    row.body = NULL;
    row.body_length = 0;
    scrubber->counts.unknown++;
    return film_columns_append(&scrubber->columns, &row);
}

static film_status
take_row(film_scrubber *scrubber, const film_row *row, film_state *state,
         waiting *values)
{
    film_event event = {0};
    bool is_event, done;

    FILM_TRY(film_state_apply(state, row, &event, &is_event));
    if (row->kind == FILM_KIND_VALUES) {
        film_buffer_put_byte(&values->counts, (uint8_t)row->token_count);
        film_buffer_append(&values->tokens, row->tokens, row->tokens_length);
        return values->counts.failed || values->tokens.failed ? FILM_NO_MEMORY
                                                              : FILM_OK;
    }
    if (row->kind == FILM_KIND_CELLS || row->kind == FILM_KIND_RESTORED) {
        return FILM_OK; /* left out, as the variables of keyframes are */
    }
    done = append_waiting(scrubber, values, &event);
    if (row->kind == FILM_KIND_SET) {
        film_input input = film_input_of(row->tokens, row->tokens_length);
        done = done && clean_tokens(scrubber, &input, row->token_count, &event, 0) &&
               append(scrubber, *row);
    }
    else if (row->kind == FILM_KIND_DELETE || row->kind == FILM_KIND_CHANGE) {
        done = done && append_body(scrubber, *row, &event);
    }
    else if (!is_understood(row->kind)) {
        done = done && append_number(scrubber, *row);
    }
    else {
        done = done && film_columns_append(&scrubber->columns, row);
    }
    return done ? FILM_OK : FILM_CORRUPT;
}

/* A row that could not be appended: it makes no sense, or memory ran out. */
static film_status
why_not(const film_scrubber *scrubber, const waiting *values)
{
    bool failed = scrubber->secrets.failed || scrubber->tokens.failed ||
                  values->tokens.failed || values->counts.failed;

    for (size_t i = 0; i < FILM_COLUMNS; i++) {
        failed = failed || scrubber->columns.buffers[i].failed;
    }
    return failed ? FILM_NO_MEMORY : FILM_CORRUPT;
}

film_status
film_scrub_events(film_scrubber *scrubber, const film_buffer *raw, film_state *state,
                  film_buffer *out)
{
    film_column_reader columns;
    waiting values = {0};
    film_event none = {0};
    film_row row;
    film_status status = film_column_reader_init(&columns, raw->data, raw->length);

    film_columns_clear(&scrubber->columns);
    while (status == FILM_OK) {
        status = film_column_reader_next(&columns, &row);
        if (status == FILM_OK) {
            status = take_row(scrubber, &row, state, &values);
        }
    }
    if (status == FILM_END) { /* values of an event that the next chunk begins with */
        status = append_waiting(scrubber, &values, &none) ? FILM_OK : FILM_CORRUPT;
    }
    if (status == FILM_CORRUPT) {
        status = why_not(scrubber, &values);
    }
    film_buffer_reset(&values.counts);
    film_buffer_reset(&values.tokens);
    if (status == FILM_OK) {
        film_columns_finish(&scrubber->columns, out);
    }
    return status != FILM_OK ? status : out->failed ? FILM_NO_MEMORY : FILM_OK;
}
