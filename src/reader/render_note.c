/* render_note.c: objects as their class's repr() writes them: by the note of their record
 * (format/value_record.h), a text with holes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reader/render_parts.h"

#include "base/alloc.h"
#include "reader/number_forms.h"

/* Items that are put in order by their counts. */
#define MOST_COUNTED 512u

static film_text
string_of(const film_renderer *renderer, uint32_t id)
{
    return film_tables_string(&renderer->reader->tables, id);
}

/* The next of the names with commas between; false: there is none. */
static bool
next_name(film_text *left, film_text *name)
{
    size_t length = 0;

    if (left->length == 0) {
        return false;
    }
    while (length < left->length && left->data[length] != ',') {
        length++;
    }
    *name = (film_text){left->data, length};
    length += length < left->length;
    left->data += length;
    left->length -= length;
    return true;
}

static bool
is_more(film_text name)
{
    return film_text_is(name, FILM_MORE_NAMES, sizeof(FILM_MORE_NAMES) - 1);
}

bool
film_note_names(film_text *left, film_text *name)
{
    return next_name(left, name) && !is_more(*name);
}

bool
film_note_needs_attributes(film_reader *reader, const film_value_record *record)
{
    film_text text;

    if ((record->flags & FILM_VALUE_NOTED) == 0 ||
        record->form != FILM_OBJECT_ATTRIBUTES) {
        return false;
    }
    text = film_tables_string(&reader->tables, record->note.text);
    for (size_t i = 0; i < text.length; i++) {
        uint8_t byte = (uint8_t)text.data[i];

        if (byte >= FILM_HOLE_FIELDS && byte < 0x20 && byte != FILM_HOLE_HALF &&
            byte != FILM_HOLE_SINGLE && byte != FILM_HOLE_COMPLEX &&
            byte != FILM_HOLE_COMPLEX_SINGLE) {
            return true;
        }
    }
    return false;
}

bool
film_note_shows_all(film_reader *reader, const film_value_record *record)
{
    film_text text = film_tables_string(&reader->tables, record->note.text);

    return (record->flags & FILM_VALUE_NOTED) != 0 &&
           film_tables_string(&reader->tables, record->note.names).length == 0 &&
           memchr(text.data, FILM_HOLE_FIELDS, text.length) != NULL;
}

/* --- tokens and items, copied: what is rendered on the way may take them away --- */

static film_item_walk
copied(film_buffer *stack, film_input input)
{
    film_item_walk walk = {.stack = stack, .is_copied = true};

    walk.begin = walk.at = stack->length;
    film_buffer_append(stack, input.at, film_input_left(&input));
    walk.end = stack->length;
    return walk;
}

bool
film_noted_open(film_renderer *renderer, const film_value_record *record,
                film_noted *out)
{
    film_buffer *stack = &renderer->reader->items;

    *out = (film_noted){.renderer = renderer,
                        .note = record->note,
                        .count = record->count,
                        .form = record->form,
                        .cut = (record->flags & FILM_VALUE_CUT) != 0};
    out->tokens = copied(stack, record->note.tokens);
    out->items = copied(stack, record->rest);
    out->names = string_of(renderer, record->note.names);
    if (stack->failed) {
        film_buffer_clear(stack);
        renderer->out->failed = true;
        return false;
    }
    return true;
}

void
film_noted_close(film_noted *of)
{
    film_item_walk_end(&of->items);
    film_item_walk_end(&of->tokens);
}

/* --- counts --- */

typedef struct counted {
    long double count; /* has room for 64 bits */
    size_t at, length; /* of the pair, in the stack */
} counted;

/* An int of more than 64 bits: a record without a form, in two's complement. */
static bool
long_number(film_reader *reader, uint64_t id, long double *number)
{
    film_value_record record;
    size_t length;

    if (film_reader_record(reader, id, &record, NULL) != FILM_OK || record.form != 0 ||
        (record.flags & FILM_VALUE_CUT) != 0 ||
        !film_text_is(film_tables_string(&reader->tables, record.type), "int", 3)) {
        return false;
    }
    length = film_input_left(&record.rest);
    *number = length > 0 && (record.rest.at[length - 1] & 0x80) != 0 ? -1 : 0;
    for (size_t i = length; i > 0; i--) {
        *number = *number * 256 + record.rest.at[i - 1];
    }
    return true;
}

static bool
number_of(film_reader *reader, const film_token *token, long double *number)
{
    switch ((int)token->kind) {
    case FILM_TOKEN_INT:
        *number = token->integer;
        return true;
    case FILM_TOKEN_FLOAT:
        *number = (long double)token->number;
        return true;
    case FILM_TOKEN_TRUE:
    case FILM_TOKEN_FALSE:
        *number = token->kind == FILM_TOKEN_TRUE;
        return true;
    case FILM_TOKEN_VALUE:
        return long_number(reader, token->value, number);
    default:
        return false;
    }
}

/* Reads the pairs; false: not all have numbers for values. */
static bool
read_counts(film_noted *of, counted *pairs)
{
    film_item_walk walk = of->items;

    for (uint64_t i = 0; i < of->count; i++) {
        film_token key, value;

        pairs[i].at = walk.at;
        if (!film_item_walk_next(&walk, &key) || !film_item_walk_next(&walk, &value) ||
            !number_of(of->renderer->reader, &value, &pairs[i].count)) {
            return false;
        }
        pairs[i].length = walk.at - pairs[i].at;
    }
    return true;
}

/* Stable; of a Counter's shown items, few. */
static void
sort_counts(counted *pairs, uint64_t count)
{
    for (uint64_t i = 1; i < count; i++) {
        counted one = pairs[i];
        uint64_t at = i;

        for (; at > 0 && pairs[at - 1].count < one.count; at--) {
            pairs[at] = pairs[at - 1];
        }
        pairs[at] = one;
    }
}

/* Puts the items in the order of their values, the greatest first, as Counter shows
 * itself. */
static void
order_items(film_noted *of)
{
    film_buffer *stack = of->items.stack;
    counted *pairs;
    size_t begin = stack->length;

    if (of->count > MOST_COUNTED) {
        return;
    }
    pairs = film_alloc_array((size_t)of->count + 1, sizeof(*pairs));
    if (pairs != NULL && read_counts(of, pairs)) {
        sort_counts(pairs, of->count);
        if (film_buffer_reserve(stack, of->items.end - of->items.at) != NULL) {
            for (uint64_t i = 0; i < of->count; i++) {
                film_buffer_append(stack, stack->data + pairs[i].at, pairs[i].length);
            }
            of->items.begin = of->items.at = begin;
            of->items.end = stack->length;
        }
    }
    film_free(pairs);
}

/* --- holes --- */

bool
film_render_raw(film_renderer *renderer, const film_token *token, film_buffer *out)
{
    film_value_record record;

    if (token->kind == FILM_TOKEN_SHORT_TEXT) {
        film_buffer_append(out, token->text.data, token->text.length);
        return true;
    }
    if (token->kind != FILM_TOKEN_VALUE ||
        film_reader_record(renderer->reader, token->value, &record, NULL) != FILM_OK ||
        record.form != 0) {
        return false;
    }
    film_buffer_append(out, record.rest.at, film_input_left(&record.rest));
    if ((record.flags & FILM_VALUE_CUT) != 0) {
        film_buffer_append_text(out, "...");
        renderer->cut = true;
    }
    return true;
}

static void
put_value(film_noted *of, bool raw)
{
    film_renderer *renderer = of->renderer;
    film_token token;

    if (!film_item_walk_next(&of->tokens, &token)) {
        PUT(renderer->out, "?");
        return;
    }
    if (raw && film_render_raw(renderer, &token, renderer->out)) {
        return;
    }
    renderer->depth++;
    film_render_token(renderer, &token);
    renderer->depth--;
}

static bool
is_named(film_reader *reader, const film_token *token)
{
    film_value_record record;

    return film_reader_record(reader, token->value, &record, NULL) == FILM_OK &&
           record.form == FILM_OBJECT_NAMED;
}

/* The next token's type and serial; of what has none, and of classes, the text. */
static void
put_object(film_noted *of)
{
    film_renderer *renderer = of->renderer;
    film_item_walk tokens = of->tokens;
    film_value_record record;
    film_value value;
    film_token token;

    if (!film_item_walk_next(&tokens, &token)) {
        PUT(renderer->out, "?");
        return;
    }
    film_token_describe(renderer->reader, &token, &value, &record);
    if (!value.is_object || value.object == 0 ||
        (token.kind != FILM_TOKEN_CYCLE && is_named(renderer->reader, &token))) {
        put_value(of, false);
        return;
    }
    of->tokens = tokens;
    film_render_object_name(renderer->out, value.type, value.object);
}

/* Takes back ", " before what is left out. */
static void
drop_comma(film_buffer *out)
{
    if (out->length >= 2 && out->data[out->length - 2] == ',' &&
        out->data[out->length - 1] == ' ') {
        out->length -= 2;
    }
}

static void
put_items(film_noted *of)
{
    film_note_base base = of->note.base & FILM_BASE_ITEMS;
    bool pairs =
        base == FILM_BASE_DICT || base == FILM_BASE_PAIRS || base == FILM_BASE_COUNTS;

    if (of->count == 0 && !of->cut && (of->note.base & FILM_BASE_OR_NOTHING) != 0) {
        drop_comma(of->renderer->out);
        return;
    }
    if (base > FILM_BASE_FROZEN || pairs != (of->form == FILM_OBJECT_MAPPING) ||
        (!pairs && of->form != FILM_OBJECT_SEQUENCE)) {
        PUT(of->renderer->out, "...");
        of->renderer->cut = true;
        return;
    }
    if (base == FILM_BASE_COUNTS) {
        order_items(of);
    }
    film_render_based(of->renderer, &of->items, of->count, of->cut, base);
}

void
film_render_held(film_noted *of, const film_token *token)
{
    film_renderer *renderer = of->renderer;
    bool held = renderer->held;

    renderer->held = held || of->form == FILM_OBJECT_ATTRIBUTES;
    renderer->depth++;
    film_render_token(renderer, token);
    renderer->depth--;
    renderer->held = held;
}

static void
put_field(film_noted *of, film_text name, const film_token *token, bool *first)
{
    film_buffer *out = of->renderer->out;

    film_buffer_append_text(out, *first ? "" : ", ");
    *first = false;
    put_text(out, name);
    film_buffer_put_byte(out, '=');
    film_render_held(of, token);
}

bool
film_noted_attribute(film_noted *of, film_text name, film_token *token)
{
    film_item_walk walk = of->items;

    for (uint64_t i = 0; i < of->count; i++) {
        film_text other = string_of(of->renderer, film_item_walk_name(&walk));

        if (!film_item_walk_next(&walk, token)) {
            return false;
        }
        if (film_text_is(other, name.data, name.length)) {
            return true;
        }
    }
    return false;
}

/* name=value of each item, whatever their names; false: not all of them. */
static bool
put_all_fields(film_noted *of, bool *first)
{
    for (uint64_t i = 0; i < of->count; i++) {
        film_text name = {"", 0};
        film_token token;

        if (film_render_is_full(of->renderer) || is_more(name)) {
            return false;
        }
        if (of->form == FILM_OBJECT_ATTRIBUTES) {
            name = string_of(of->renderer, film_item_walk_name(&of->items));
        }
        else if (of->form == FILM_OBJECT_MAPPING) {
            film_item_walk_next(&of->items, &token);
            if (token.kind == FILM_TOKEN_SHORT_TEXT) {
                name = (film_text){token.text.data, token.text.length};
            }
        }
        if (!film_item_walk_next(&of->items, &token)) {
            return true;
        }
        put_field(of, name, &token, first);
    }
    return true;
}

/* The same of those in `names`. */
static bool
put_named_fields(film_noted *of, bool *first)
{
    film_text names = of->names, name;
    film_token token;

    while (next_name(&names, &name)) {
        if (film_render_is_full(of->renderer) || is_more(name)) {
            return false;
        }
        if (of->form == FILM_OBJECT_ATTRIBUTES
                ? film_noted_attribute(of, name, &token)
                : of->form == FILM_OBJECT_SEQUENCE &&
                      film_item_walk_next(&of->items, &token)) {
            put_field(of, name, &token, first);
        }
    }
    return true;
}

static void
put_fields(film_noted *of)
{
    bool first = true;
    bool all = of->names.length == 0 || of->form == FILM_OBJECT_MAPPING
                   ? put_all_fields(of, &first)
                   : put_named_fields(of, &first);

    if (of->cut || !all) {
        film_buffer_append_text(of->renderer->out, first ? "..." : ", ...");
        of->renderer->cut = true;
    }
}

/* The next token, or two, as floats of that width. */
static void
put_float(film_noted *of, film_float_width width, bool is_complex)
{
    film_token real, imaginary = {.kind = FILM_TOKEN_FLOAT};

    if (!film_item_walk_next(&of->tokens, &real) || real.kind != FILM_TOKEN_FLOAT ||
        (is_complex && (!film_item_walk_next(&of->tokens, &imaginary) ||
                        imaginary.kind != FILM_TOKEN_FLOAT))) {
        PUT(of->renderer->out, "?");
        return;
    }
    if (is_complex) {
        film_form_complex(of->renderer->out, real.number, imaginary.number, width);
    }
    else {
        film_form_float(of->renderer->out, real.number, width, true);
    }
}

static void
put_hole(film_noted *of, uint8_t hole)
{
    switch ((film_note_hole)hole) {
    case FILM_HOLE_VALUE:
        put_value(of, false);
        break;
    case FILM_HOLE_TEXT:
        put_value(of, true);
        break;
    case FILM_HOLE_OBJECT:
        put_object(of);
        break;
    case FILM_HOLE_ITEMS:
        put_items(of);
        break;
    case FILM_HOLE_FIELDS:
        put_fields(of);
        break;
    case FILM_HOLE_HALF:
        put_float(of, FILM_FLOAT_HALF, false);
        break;
    case FILM_HOLE_SINGLE:
        put_float(of, FILM_FLOAT_SINGLE, false);
        break;
    case FILM_HOLE_COMPLEX:
        put_float(of, FILM_FLOAT_DOUBLE, true);
        break;
    case FILM_HOLE_COMPLEX_SINGLE:
        put_float(of, FILM_FLOAT_SINGLE, true);
        break;
    case FILM_HOLE_ATTRIBUTE:
    case FILM_HOLE_MEMBER:
    case FILM_HOLE_UUID:
    case FILM_HOLE_ADDRESS4:
    case FILM_HOLE_ADDRESS6:
    case FILM_HOLE_MAPPED:
    case FILM_HOLE_PATH:
    default:
        if (!film_render_attribute_hole(of, (film_note_hole)hole)) {
            film_buffer_put_byte(of->renderer->out, '?');
        }
        break;
    }
}

void
film_render_note(film_renderer *renderer, const film_value_record *record)
{
    film_text text = string_of(renderer, record->note.text);
    film_noted of;

    if (!film_noted_open(renderer, record, &of)) {
        return;
    }
    for (size_t i = 0; i < text.length && !renderer->out->failed; i++) {
        uint8_t byte = (uint8_t)text.data[i];

        if (byte < 0x20) {
            put_hole(&of, byte);
        }
        else {
            film_buffer_put_byte(renderer->out, byte);
        }
    }
    film_noted_close(&of);
}
