/* render.c: see render.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reader/render.h"

#include <string.h>

#include "format/redact.h"
#include "reader/literal.h"
#include "reader/render_parts.h"
#include "reader/tensors.h"

#define NOT_RECORDED "<not recorded>"
#define NOT_KEPT "<not in the recording>"

/* Whether the type's name is that literal. */
#define IS_NAMED(type, name) film_text_is((type), (name), sizeof(name) - 1)

/* <Name #serial> */
void
film_render_object_name(film_buffer *out, film_text type, uint64_t serial)
{
    film_buffer_put_byte(out, '<');
    put_text(out, film_short_name(type));
    PUT(out, " #");
    film_literal_int(out, (int64_t)serial);
    film_buffer_put_byte(out, '>');
}

/* False: memory is out. */
static bool
copy_items(film_item_walk *walk, uint64_t count)
{
    film_input input = walk->left;

    walk->is_copied = true;
    walk->begin = walk->at = walk->stack->length;
    film_tokens_skip(&input, count > UINT32_MAX ? UINT32_MAX : (uint32_t)count);
    film_buffer_append(walk->stack, walk->left.at, (size_t)(input.at - walk->left.at));
    walk->end = walk->stack->length;
    if (walk->stack->failed) {
        film_buffer_clear(walk->stack);
        walk->end = walk->at = walk->begin = 0;
        return false;
    }
    return true;
}

void
film_item_walk_end(film_item_walk *walk)
{
    if (walk->is_copied && walk->stack->length >= walk->begin) {
        walk->stack->length = walk->begin;
    }
}

static void
look_at_copy(film_item_walk *walk)
{
    if (walk->is_copied) { /* others may have moved the copies */
        walk->left = film_input_of(walk->stack->data + walk->at, walk->end - walk->at);
    }
}

static void
note_place(film_item_walk *walk)
{
    if (walk->is_copied) {
        walk->at = walk->end - film_input_left(&walk->left);
    }
}

bool
film_item_walk_next(film_item_walk *walk, film_token *token)
{
    look_at_copy(walk);
    film_token_read(&walk->left, token);
    note_place(walk);
    return !walk->left.failed;
}

uint32_t
film_item_walk_name(film_item_walk *walk)
{
    uint32_t name;

    look_at_copy(walk);
    name = film_input_varint32(&walk->left);
    note_place(walk);
    return name;
}

/* Renders one of them; `behind` it there are as many as the text has room for. */
static void
render_item(film_renderer *renderer, film_item_walk *walk, const film_token *token,
            uint64_t behind)
{
    if (!walk->is_copied &&
        (token->kind == FILM_TOKEN_VALUE || token->kind == FILM_TOKEN_OBJECT) &&
        !copy_items(walk, behind)) {
        renderer->out->failed = true;
        return;
    }
    film_render_token(renderer, token);
}

/* What is written around the two tokens of a pair. */
typedef struct pair_marks {
    const char *before, *between, *behind;
} pair_marks;

static const pair_marks no_marks = {"", "", ""}, colon = {"", ": ", ""},
                        brackets = {"(", ", ", ")"};

/* Items between the brackets. */
static void
render_walk(film_renderer *renderer, film_item_walk *walk, uint64_t count, bool cut,
            bool pairs, pair_marks marks)
{
    film_buffer *out = renderer->out;
    uint64_t i, tokens = pairs ? count * 2 : count;
    uint64_t room =
        renderer->limit > out->length ? renderer->limit - out->length + 2 : 2;

    room = tokens < room ? tokens : room;
    renderer->depth++;
    for (i = 0; i < count && !film_render_is_full(renderer) && !walk->left.failed;
         i++) {
        film_token token;

        if (!film_item_walk_next(walk, &token)) {
            break;
        }
        film_buffer_append_text(out, i > 0 ? ", " : "");
        film_buffer_append_text(out, marks.before);
        render_item(renderer, walk, &token, room);
        if (pairs) {
            (void)film_item_walk_next(walk, &token);
            film_buffer_append_text(out, marks.between);
            render_item(renderer, walk, &token, room);
            film_buffer_append_text(out, marks.behind);
        }
    }
    renderer->depth--;
    if (i < count || cut) {
        film_buffer_append_text(out, i > 0 ? ", ..." : "...");
        renderer->cut = true;
    }
}

static void
render_items(film_renderer *renderer, const film_value_record *record, bool pairs)
{
    film_item_walk walk = {.stack = &renderer->reader->items, .left = record->rest};

    render_walk(renderer, &walk, record->count, (record->flags & FILM_VALUE_CUT) != 0,
                pairs, pairs ? colon : no_marks);
    film_item_walk_end(&walk);
}

void
film_render_based(film_renderer *renderer, film_item_walk *walk, uint64_t count,
                  bool cut, film_note_base base)
{
    static const char *const marks[][2] = {
        [FILM_BASE_NONE] = {"", ""},     [FILM_BASE_LIST] = {"[", "]"},
        [FILM_BASE_TUPLE] = {"(", ")"},  [FILM_BASE_SET] = {"{", "}"},
        [FILM_BASE_DICT] = {"{", "}"},   [FILM_BASE_PAIRS] = {"[", "]"},
        [FILM_BASE_COUNTS] = {"{", "}"}, [FILM_BASE_FROZEN] = {"{", "}"}};
    bool pairs =
        base == FILM_BASE_DICT || base == FILM_BASE_PAIRS || base == FILM_BASE_COUNTS;

    film_buffer_append_text(renderer->out, marks[base][0]);
    render_walk(renderer, walk, count, cut, pairs,
                base == FILM_BASE_PAIRS ? brackets
                : pairs                 ? colon
                                        : no_marks);
    film_buffer_append_text(renderer->out, base == FILM_BASE_TUPLE && count == 1 && !cut
                                               ? ",)"
                                               : marks[base][1]);
}

/* How containers are written; with a name of their own, Name([...]). */
static void
render_sequence(film_renderer *renderer, const film_value_record *record,
                film_text type)
{
    film_buffer *out = renderer->out;
    bool empty = record->count == 0 && (record->flags & FILM_VALUE_CUT) == 0;

    if (IS_NAMED(type, "list")) {
        film_buffer_put_byte(out, '[');
        render_items(renderer, record, false);
        film_buffer_put_byte(out, ']');
    }
    else if (IS_NAMED(type, "tuple")) {
        film_buffer_put_byte(out, '(');
        render_items(renderer, record, false);
        film_buffer_append_text(
            out,
            record->count == 1 && (record->flags & FILM_VALUE_CUT) == 0 ? ",)" : ")");
    }
    else if (IS_NAMED(type, "set") && !empty) {
        film_buffer_put_byte(out, '{');
        render_items(renderer, record, false);
        film_buffer_put_byte(out, '}');
    }
    else if (empty) {
        put_text(out, film_short_name(type));
        film_buffer_append_text(
            out, IS_NAMED(type, "set") || IS_NAMED(type, "frozenset") ? "()" : "([])");
    }
    else {
        bool braces = IS_NAMED(type, "frozenset");
        put_text(out, film_short_name(type));
        film_buffer_append_text(out, braces ? "({" : "([");
        render_items(renderer, record, false);
        film_buffer_append_text(out, braces ? "})" : "])");
    }
}

static void
render_mapping(film_renderer *renderer, const film_value_record *record, film_text type)
{
    bool plain = IS_NAMED(type, "dict");
    film_buffer *out = renderer->out;

    if (!plain) {
        put_text(out, film_short_name(type));
        film_buffer_put_byte(out, '(');
    }
    film_buffer_put_byte(out, '{');
    render_items(renderer, record, true);
    film_buffer_append_text(out, plain ? "}" : "})");
}

/* ndarray(shape=(2, 3), dtype=float32) */
static void
render_array(film_renderer *renderer, const film_value_record *record, film_text type)
{
    film_buffer *out = renderer->out;
    film_input input = record->rest;
    film_text dtype;

    put_text(out, film_short_name(type));
    PUT(out, "(shape=(");
    for (uint64_t i = 0; i < record->count && !film_render_is_full(renderer); i++) {
        if (i > 0) {
            PUT(out, ", ");
        }
        film_literal_int(out, (int64_t)film_input_varint(&input));
    }
    film_buffer_append_text(out, record->count == 1 ? ",), dtype=" : "), dtype=");
    dtype = film_tables_string(&renderer->reader->tables, film_input_varint32(&input));
    put_text(out, dtype);
    film_buffer_put_byte(out, ')');
}

static void
render_named(film_renderer *renderer, const film_value_record *record, film_text type)
{
    film_buffer *out = renderer->out;
    film_input input = record->rest;
    film_text name =
        film_tables_string(&renderer->reader->tables, film_input_varint32(&input));
    bool quoted = IS_NAMED(type, "type") || IS_NAMED(type, "module");

    film_buffer_put_byte(out, '<');
    if (IS_NAMED(type, "type")) {
        PUT(out, "class");
    }
    else if (IS_NAMED(type, "builtin_function_or_method")) {
        PUT(out, "built-in function");
    }
    else {
        put_text(out, film_short_name(type));
    }
    film_buffer_append_text(out, quoted ? " '" : " ");
    put_text(out, name);
    film_buffer_append_text(out, quoted ? "'>" : ">");
}

static void
render_object(film_renderer *renderer, const film_value_record *record, film_text type)
{
    film_buffer *out = renderer->out;

    if (renderer->depth >= FILM_RENDER_DEPTH) {
        PUT(out, "...");
        renderer->cut = true;
        return;
    }
    if ((record->flags & FILM_VALUE_NOTED) != 0) {
        if (film_record_is_tensor(renderer->reader, record)) {
            film_render_tensor(renderer, record);
        }
        else {
            film_render_note(renderer, record);
        }
        return;
    }
    switch ((film_object_form)record->form) {
    case FILM_OBJECT_SEQUENCE:
        render_sequence(renderer, record, type);
        break;
    case FILM_OBJECT_MAPPING:
        render_mapping(renderer, record, type);
        break;
    case FILM_OBJECT_ARRAY:
        render_array(renderer, record, type);
        break;
    case FILM_OBJECT_NAMED:
        render_named(renderer, record, type);
        break;
    case FILM_OBJECT_EXCEPTION:
        put_text(out, film_short_name(type));
        film_buffer_put_byte(out, '(');
        render_items(renderer, record, false);
        film_buffer_put_byte(out, ')');
        break;
    case FILM_OBJECT_BYTES:
        put_text(out, film_short_name(type));
        film_buffer_put_byte(out, '(');
        film_literal_bytes(out, record->rest.at, film_input_left(&record->rest));
        film_buffer_append_text(out,
                                (record->flags & FILM_VALUE_CUT) != 0 ? "...)" : ")");
        renderer->cut = renderer->cut || (record->flags & FILM_VALUE_CUT) != 0;
        break;
    case FILM_OBJECT_ATTRIBUTES:
    case FILM_OBJECT_OPAQUE:
    case FILM_OBJECT_AGAIN: /* film_reader_record gives none */
    default:
        film_render_object_name(out, type, record->serial);
        break;
    }
}

static bool
is_printable(const uint8_t *bytes, size_t length)
{
    for (size_t index = 0; index < length; index++) {
        if (bytes[index] < 0x20 || bytes[index] > 0x7e) {
            return false;
        }
    }
    return true;
}

/* A str, bytes, int or complex that did not fit a token. */
static void
render_scalar(film_renderer *renderer, const film_value_record *record, film_text type)
{
    film_buffer *out = renderer->out;
    const uint8_t *bytes = record->rest.at;
    size_t length = film_input_left(&record->rest);
    size_t room = renderer->limit > out->length ? renderer->limit - out->length : 0;
    bool cut = (record->flags & FILM_VALUE_CUT) != 0;

    if ((record->flags & FILM_VALUE_REDACTED) != 0 && length == 0) {
        PUT(out, FILM_REDACTED);
        return;
    }
    if (IS_NAMED(type, "int")) {
        if (cut) { /* the head of an int says nothing about it */
            PUT(out, "<int of ");
            film_literal_int(out, record->length < 0 ? 0 : record->length);
            PUT(out, " bytes>");
            renderer->cut = true;
            return;
        }
        film_literal_big_int(out, bytes, length);
        return;
    }
    if (IS_NAMED(type, "complex") && length == 2 * sizeof(double)) {
        double parts[2];
        memcpy(parts, bytes, sizeof(parts));
        film_literal_complex(out, parts[0], parts[1]);
        return;
    }
    if (length > room) {
        cut = true;
        length = room;
    }
    if (IS_NAMED(type, "bytes")) {
        film_literal_bytes(out, bytes, length);
    }
    else if (IS_NAMED(type, "slice") && is_printable(bytes, length)) {
        film_buffer_append(out, bytes, length); /* slice(1, 2, None) */
    }
    else {
        while (cut && length > 0 && length < film_input_left(&record->rest) &&
               (bytes[length] & 0xc0) == 0x80) {
            length--; /* not in the midst of a character */
        }
        film_literal_str(out, bytes, length);
    }
    if (cut) {
        PUT(out, "...");
        renderer->cut = true;
    }
}

/* Whether the object is one of those that are being rendered; it is one from now on. */
static bool
is_around(film_renderer *renderer, uint64_t serial)
{
    unsigned depth = renderer->depth;

    for (unsigned i = 0; i < depth && i < FILM_RENDER_DEPTH; i++) {
        if (renderer->path[i] == serial) {
            return true;
        }
    }
    if (depth < FILM_RENDER_DEPTH) {
        renderer->path[depth] = serial;
    }
    return false;
}

static void
render_cycle(film_renderer *renderer, const film_token *token);

/* An object within itself. */
static void
render_around(film_renderer *renderer, const film_value_record *record)
{
    film_token token = {
        .kind = FILM_TOKEN_CYCLE, .value = record->serial, .type = record->type};

    if (record->form == FILM_OBJECT_ATTRIBUTES &&
        (record->flags & FILM_VALUE_NOTED) != 0) {
        PUT(renderer->out, "..."); /* as dataclasses and namespaces show it */
        renderer->cut = true;
        return;
    }
    render_cycle(renderer, &token);
}

static void
render_record(film_renderer *renderer, uint64_t id, bool by_name)
{
    film_reader *reader = renderer->reader;
    film_object_head head;
    film_value_record record;
    uint64_t bound = renderer->bound;

    if (id >= bound &&
        renderer->renew ==
            NULL) { /* only earlier records may be referred to: no cycles */
        PUT(renderer->out, NOT_KEPT);
        return;
    }
    if (by_name && film_object_head_of(reader, id, &head) && head.is_plain) {
        film_render_object_name(
            renderer->out, film_tables_string(&reader->tables, head.type), head.serial);
        return;
    }
    if (film_reader_record(reader, id, &record, NULL) != FILM_OK) {
        PUT(renderer->out, NOT_KEPT);
        return;
    }
    if (renderer->renew == NULL && by_name &&
        film_note_needs_attributes(reader, &record)) {
        film_render_object_name(renderer->out,
                                film_tables_string(&reader->tables, record.type),
                                record.serial);
        return;
    }
    if (renderer->renew != NULL && record.form != 0 && record.serial != 0) {
        renderer->renew(renderer->context, id, &record, renderer->held);
        if (is_around(renderer, record.serial)) {
            render_around(renderer, &record);
            return;
        }
    }
    renderer->bound = id;
    if (record.form == 0) {
        render_scalar(renderer, &record,
                      film_tables_string(&reader->tables, record.type));
    }
    else {
        render_object(renderer, &record,
                      film_tables_string(&reader->tables, record.type));
    }
    renderer->bound = bound;
}

/* An object within itself, or too deep: as Python shows it, or by its serial. */
static void
render_cycle(film_renderer *renderer, const film_token *token)
{
    film_text type = film_tables_string(&renderer->reader->tables, token->type);

    renderer->cut = true;
    if (IS_NAMED(type, "list")) {
        PUT(renderer->out, "[...]");
    }
    else if (IS_NAMED(type, "dict") || IS_NAMED(type, "set")) {
        PUT(renderer->out, "{...}");
    }
    else if (IS_NAMED(type, "tuple")) {
        PUT(renderer->out, "(...)");
    }
    else {
        film_render_object_name(renderer->out, type, token->value);
    }
}

void
film_render_token(film_renderer *renderer, const film_token *token)
{
    film_buffer *out = renderer->out;

    switch (token->kind) {
    case FILM_TOKEN_UNBOUND:
        PUT(out, NOT_RECORDED);
        break;
    case FILM_TOKEN_NONE:
        PUT(out, "None");
        break;
    case FILM_TOKEN_FALSE:
        PUT(out, "False");
        break;
    case FILM_TOKEN_TRUE:
        PUT(out, "True");
        break;
    case FILM_TOKEN_INT:
        film_literal_int(out, token->integer);
        break;
    case FILM_TOKEN_FLOAT:
        film_literal_float(out, token->number);
        break;
    case FILM_TOKEN_VALUE:
        render_record(renderer, token->value, false);
        break;
    case FILM_TOKEN_OBJECT:
        render_record(renderer, token->value, true);
        break;
    case FILM_TOKEN_REDACTED:
        PUT(out, FILM_REDACTED);
        break;
    case FILM_TOKEN_SHORT_TEXT:
        film_literal_str(out, (const uint8_t *)token->text.data, token->text.length);
        break;
    case FILM_TOKEN_CYCLE:
        render_cycle(renderer, token);
        break;
    }
}
