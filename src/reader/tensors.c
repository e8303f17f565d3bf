/* tensors.c: tensors as their records tell them (docs/format.md, "A tensor"): an array with
 * a note, whose template is taken apart. What a recording holds is trusted in nothing: a
 * record that is not exactly of that form is no tensor.
 * SPDX-License-Identifier: Apache-2.0 */
#include <filmstrip/tensor.h>

#include "reader/literal.h"
#include "reader/render_parts.h"
#include "reader/tensors.h"

#define TEXT(literal) ((film_text){(literal), sizeof(literal) - 1})

/* Containers within one another that are looked into, and values that are looked at for
 * one event: records refer to records, and each level may be twice as long as the one
 * before. */
#define MOST_DEPTH 16u
#define MOST_VALUES 100000u

/* --- texts ---------------------------------------------------------------------------- */

/* Takes `prefix` off the text's head; false: it does not begin so. */
static bool
take_prefix(film_text *text, film_text prefix)
{
    if (text->length < prefix.length ||
        memcmp(text->data, prefix.data, prefix.length) != 0) {
        return false;
    }
    text->data += prefix.length;
    text->length -= prefix.length;
    return true;
}

/* Takes what is before the first `mark`, and the mark; false: there is none. */
static bool
take_until(film_text *text, char mark, film_text *before)
{
    const char *found =
        text->length == 0 ? NULL : memchr(text->data, mark, text->length);

    if (found == NULL) {
        return false;
    }
    *before = (film_text){text->data, (size_t)(found - text->data)};
    text->data += before->length + 1;
    text->length -= before->length + 1;
    return true;
}

/* A number of digits alone that an int64_t holds. */
static bool
read_number(film_text text, int64_t *number)
{
    uint64_t value = 0;

    for (size_t i = 0; i < text.length; i++) {
        unsigned digit = (unsigned)(text.data[i] - '0');

        if (digit > 9 || value > ((uint64_t)INT64_MAX - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    *number = (int64_t)value;
    return text.length > 0;
}

/* `1, 64`: as many numbers as there are dimensions. */
static bool
read_numbers(film_text text, int count, int64_t *numbers)
{
    for (int i = 0; i < count; i++) {
        film_text one = text;

        if (i + 1 < count &&
            (!take_until(&text, ',', &one) || !take_prefix(&text, TEXT(" ")))) {
            return false;
        }
        if (!read_number(one, &numbers[i])) {
            return false;
        }
    }
    return count > 0 || text.length == 0;
}

/* --- the record ----------------------------------------------------------------------- */

bool
film_record_is_tensor(const film_reader *reader, const film_value_record *record)
{
    film_text names, text;

    if (record->form != FILM_OBJECT_ARRAY || (record->flags & FILM_VALUE_NOTED) == 0) {
        return false;
    }
    names = film_tables_string(&reader->tables, record->note.names);
    if (!take_prefix(&names, TEXT("storage,offset,version")) ||
        (names.length > 0 && names.data[0] != ',')) {
        return false;
    }
    text = film_tables_string(&reader->tables, record->note.text);
    for (size_t i = 0; i < text.length; i++) {
        if ((uint8_t)text.data[i] < 0x20) {
            return false; /* a hole */
        }
    }
    return text.length > 0;
}

static bool
read_sizes(const film_reader *reader, const film_value_record *record, film_tensor *out)
{
    film_input input = record->rest;

    if (record->count > FILM_TENSOR_DIMENSIONS ||
        (record->flags & FILM_VALUE_CUT) != 0) {
        return false;
    }
    out->dimensions = (int)record->count;
    for (int i = 0; i < out->dimensions; i++) {
        uint64_t size = film_input_varint(&input);

        if (size > INT64_MAX) {
            return false;
        }
        out->sizes[i] = (int64_t)size;
    }
    out->dtype = film_tables_string(&reader->tables, film_input_varint32(&input));
    return !input.failed;
}

/* Those of a tensor whose numbers lie side by side. */
static void
set_contiguous(film_tensor *out)
{
    uint64_t step = 1;

    for (int i = out->dimensions; i > 0; i--) {
        out->strides[i - 1] = (int64_t)(step & INT64_MAX);
        step *= out->sizes[i - 1] > 1 ? (uint64_t)out->sizes[i - 1] : 1;
    }
}

/* What is behind the sizes: device, strides, layout, grad. */
static bool
read_rest(film_text rest, film_tensor *out)
{
    bool has_strides = false;

    out->layout = TEXT("strided");
    if (!take_prefix(&rest, TEXT(" "))) {
        return false;
    }
    if (!take_until(&rest, ' ', &out->device)) {
        out->device = rest;
        rest.length = 0;
    }
    while (rest.length > 0) {
        film_text word;

        if (take_prefix(&rest, TEXT("strides["))) {
            has_strides = take_until(&rest, ']', &word) &&
                          read_numbers(word, out->dimensions, out->strides);
            if (!has_strides) {
                return false;
            }
            take_prefix(&rest, TEXT(" "));
            continue;
        }
        if (!take_until(&rest, ' ', &word)) {
            word = rest;
            rest.length = 0;
        }
        if (film_text_is(word, "grad", 4)) {
            out->requires_grad = true;
        }
        else {
            out->layout = word;
        }
    }
    if (!has_strides && film_text_is(out->layout, "strided", 7)) {
        set_contiguous(out);
    }
    return out->device.length > 0;
}

/* --- its note's numbers ---------------------------------------------------------------- */

static double
double_of(const film_token *token)
{
    return token->kind == FILM_TOKEN_FLOAT ? token->number
           : token->kind == FILM_TOKEN_INT ? (double)token->integer
                                           : (double)__builtin_nanf("");
}

/* The number that a token is, as unsigned: of a hash the bits count. */
static uint64_t
bits_of(const film_token *token)
{
    return token->kind == FILM_TOKEN_INT ? (uint64_t)token->integer : 0;
}

/* One of the summary's; false: a name that it has not. */
static bool
note_summary(film_tensor *out, film_text name, const film_token *token)
{
    film_tensor_summary *summary = &out->summary;
    const struct {
        film_text name;
        double *number;
    } numbers[] = {{TEXT("min"), &summary->min},
                   {TEXT("max"), &summary->max},
                   {TEXT("mean"), &summary->mean},
                   {TEXT("std"), &summary->std}};
    const struct {
        film_text name;
        uint64_t *count;
    } counts[] = {{TEXT("zeros"), &summary->zeros},
                  {TEXT("nonfinite"), &summary->nonfinite},
                  {TEXT("hash"), &summary->hash}};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (film_text_is(name, numbers[i].name.data, numbers[i].name.length)) {
            *numbers[i].number = double_of(token);
            return true;
        }
    }
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        if (film_text_is(name, counts[i].name.data, counts[i].name.length)) {
            *counts[i].count = bits_of(token);
            return true;
        }
    }
    return false;
}

#define SUMMARY_FIELDS 7u

/* storage,offset,version, and the summary's where there is one. */
static bool
read_numbers_of_note(const film_reader *reader, const film_value_record *record,
                     film_tensor *out)
{
    film_text names = film_tables_string(&reader->tables, record->note.names), name;
    film_input tokens = record->note.tokens;
    unsigned summed = 0;

    for (uint32_t i = 0; i < record->note.count && film_note_names(&names, &name);
         i++) {
        film_token token = film_token_decode(&tokens);

        if (tokens.failed ||
            (i < 3 && token.kind != FILM_TOKEN_INT && token.kind != FILM_TOKEN_NONE)) {
            return false;
        }
        switch (i) {
        case 0:
            out->storage = bits_of(&token);
            break;
        case 1:
            out->offset = token.kind == FILM_TOKEN_INT ? token.integer : 0;
            break;
        case 2:
            out->version = token.kind == FILM_TOKEN_INT ? token.integer : -1;
            break;
        default:
            summed += note_summary(out, name, &token);
            break;
        }
    }
    out->has_summary = summed >= SUMMARY_FIELDS;
    return record->note.count >= 3;
}

/* Copies the text behind those copied before, with a NUL behind it. */
static void
keep(film_buffer *to, film_text text)
{
    film_buffer_append(to, text.data, text.length);
    film_buffer_put_byte(to, 0);
}

static film_status
read_tensor(film_reader *reader, uint64_t id, const film_value_record *record,
            film_tensor *out, film_error *error)
{
    film_text rest, short_name;
    film_buffer *kept = &reader->tensor;

    memset(out, 0, sizeof(*out));
    out->record = id;
    out->serial = record->serial;
    out->version = -1;
    out->type = film_short_name(film_tables_string(&reader->tables, record->type));
    out->text = rest = film_tables_string(&reader->tables, record->note.text);
    if (!read_sizes(reader, record, out) || !take_until(&rest, '[', &short_name) ||
        !take_until(&rest, ']', &short_name) || !read_rest(rest, out) ||
        !read_numbers_of_note(reader, record, out)) {
        return FILM_END;
    }
    film_buffer_clear(kept);
    keep(kept, out->device);
    keep(kept, out->layout);
    if (kept->failed) {
        film_buffer_reset(kept);
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    out->device.data = (const char *)kept->data;
    out->layout.data = (const char *)kept->data + out->device.length + 1;
    return FILM_OK;
}

film_status
film_reader_tensor(film_reader *reader, uint64_t id, film_tensor *out,
                   film_error *error)
{
    film_object_head head;
    film_value_record record;
    film_status status;

    if (!film_object_head_of(reader, id, &head) || !head.is_tensor) {
        return FILM_END;
    }
    status = film_reader_record(reader, id, &record, error);
    if (status == FILM_OK && film_record_is_tensor(reader, &record)) {
        return read_tensor(reader, id, &record, out, error);
    }
    return status == FILM_NO_MEMORY ? status : FILM_END;
}

void
film_reader_tell_tensors_by(film_reader *reader, film_tensor_teller *tells,
                            void *context)
{
    reader->tells_tensor = tells;
    reader->tells_context = context;
}

static int64_t
version_of(const film_value_record *record)
{
    film_input tokens = record->note.tokens;
    film_token version;

    film_tokens_skip(&tokens, 2);
    film_token_read(&tokens, &version);
    return version.kind == FILM_TOKEN_INT ? version.integer : -1;
}

void
film_render_tensor(film_renderer *renderer, const film_value_record *record)
{
    const film_reader *reader = renderer->reader;
    film_buffer *out = renderer->out;

    film_buffer_put_byte(out, 't');
    film_literal_int(out, (int64_t)record->serial);
    if (reader->tells_tensor == NULL ||
        reader->tells_tensor(reader->tells_context, record->serial, record->note.text,
                             version_of(record))) {
        PUT(out, ": ");
        put_text(out, film_tables_string(&reader->tables, record->note.text));
    }
}

/* --- tensors of an event --------------------------------------------------------------- */

typedef struct tensor_search {
    film_reader *reader;
    film_tensor_visit visit;
    void *context;
    film_error *error;
    film_buffer items; /* of the containers around, copied: what lies in them is read by
                          the same reader */
    uint64_t left;     /* values that may still be looked at */
    uint32_t index;    /* of the event's value */
    bool ended;        /* the visitor wants no more */
} tensor_search;

static film_status
search_value(tensor_search *search, const film_token *token, uint64_t bound,
             unsigned depth);

/* What lies in a list, tuple or dict. */
static film_status
search_items(tensor_search *search, const film_value_record *record, uint64_t bound,
             unsigned depth)
{
    film_item_walk walk = {.stack = &search->items, .is_copied = true};
    uint64_t tokens =
        record->form == FILM_OBJECT_MAPPING ? record->count * 2 : record->count;
    film_status status = FILM_OK;
    film_token token;

    walk.begin = walk.at = search->items.length;
    film_buffer_append(&search->items, record->rest.at, film_input_left(&record->rest));
    walk.end = search->items.length;
    if (search->items.failed) {
        return film_fail(search->error, FILM_NO_MEMORY, "memory ran out");
    }
    for (uint64_t i = 0; i < tokens && search->left > 0 && !search->ended; i++) {
        if (!film_item_walk_next(&walk, &token)) {
            break;
        }
        status = search_value(search, &token, bound, depth);
        if (status != FILM_OK) {
            break;
        }
    }
    film_item_walk_end(&walk);
    return status;
}

/* `bound`: ids from there on are not referred to. */
static film_status
search_value(tensor_search *search, const film_token *token, uint64_t bound,
             unsigned depth)
{
    film_reader *reader = search->reader;
    film_value_record record;
    film_object_head head;
    film_tensor tensor;
    film_status status;

    search->left--;
    if ((token->kind != FILM_TOKEN_VALUE && token->kind != FILM_TOKEN_OBJECT) ||
        token->value >= bound || !film_object_head_of(reader, token->value, &head)) {
        return FILM_OK;
    }
    if (head.is_tensor) {
        status = film_reader_tensor(reader, token->value, &tensor, search->error);
        if (status == FILM_OK) {
            search->ended = !search->visit(search->context, &tensor, search->index);
        }
        return status == FILM_NO_MEMORY ? status : FILM_OK;
    }
    /* Of an object that is only referred to the record may not tell what it holds. */
    if (token->kind == FILM_TOKEN_OBJECT || depth >= MOST_DEPTH) {
        return FILM_OK;
    }
    status = film_reader_record(reader, token->value, &record, search->error);
    if (status != FILM_OK) {
        return status == FILM_NO_MEMORY ? status : FILM_OK;
    }
    if (record.form != FILM_OBJECT_SEQUENCE && record.form != FILM_OBJECT_MAPPING) {
        return FILM_OK;
    }
    return search_items(search, &record, token->value, depth + 1);
}

film_status
film_reader_event_tensors(film_reader *reader, const film_event *event,
                          film_tensor_visit visit, void *context, film_error *error)
{
    tensor_search search = {.reader = reader,
                            .visit = visit,
                            .context = context,
                            .error = error,
                            .left = MOST_VALUES};
    film_input input = film_input_of(event->tokens, event->tokens_length);
    film_status status = FILM_OK;

    for (uint32_t i = 0; i < event->token_count && search.left > 0 && !search.ended;
         i++) {
        film_token token = film_token_decode(&input);

        if (input.failed) {
            break;
        }
        search.index = i;
        status = search_value(&search, &token, UINT64_MAX, 0);
        if (status != FILM_OK) {
            break;
        }
    }
    film_buffer_reset(&search.items);
    return status;
}

bool
film_reader_has_ops(film_reader *reader)
{
    uint64_t counts[FILM_KIND_COUNT];

    return film_reader_kind_counts(reader, counts, NULL) == FILM_OK &&
           counts[FILM_KIND_OP] > 0;
}

film_text
film_reader_op_keyword(const film_reader *reader, const film_event *event,
                       uint32_t index)
{
    film_text names, name = {"", 0};

    if (event->kind != FILM_KIND_OP || index < event->slot ||
        index >= event->token_count) {
        return name;
    }
    names = film_tables_string(&reader->tables, event->name);
    for (uint32_t i = event->slot; i <= index; i++) {
        if (!film_note_names(&names, &name)) {
            return (film_text){"", 0};
        }
    }
    return name;
}
