/* render_attributes.c: the holes of a note that show attributes: enum members, UUIDs,
 * addresses, paths.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reader/render_parts.h"

#include "reader/literal.h"
#include "reader/number_forms.h"

#define TEXT(literal) ((film_text){(literal), sizeof(literal) - 1})

/* --- attributes --------------------------------------------------------------------- */

/* The next of the names, and what it holds; false: nothing, or no name is left. */
static bool
next_attribute(film_noted *of, film_token *token)
{
    film_text name;

    return film_note_names(&of->names, &name) &&
           film_noted_attribute(of, name, token) && token->kind != FILM_TOKEN_UNBOUND;
}

static void
put_unknown(film_noted *of)
{
    PUT(of->renderer->out, "...");
    of->renderer->cut = true;
}

static void
put_attribute(film_noted *of)
{
    film_token token;

    if (!next_attribute(of, &token)) {
        put_unknown(of);
        return;
    }
    film_render_held(of, &token);
}

static void
put_member(film_noted *of)
{
    film_buffer *out = of->renderer->out;
    film_token token;

    if (!next_attribute(of, &token) || token.kind == FILM_TOKEN_NONE) {
        return;
    }
    film_buffer_put_byte(out, '.');
    if (!film_render_raw(of->renderer, &token, out)) {
        film_render_token(of->renderer, &token);
    }
}

/* --- ints as bytes ------------------------------------------------------------------ */

/* A number below 2**128 as 16 bytes, the highest first. */
static bool
read_number(film_renderer *renderer, const film_token *token, uint8_t bytes[16])
{
    film_value_record record;

    memset(bytes, 0, 16);
    if (token->kind == FILM_TOKEN_INT) {
        for (int index = 0; index < 8; index++) {
            bytes[15 - index] = (uint8_t)((uint64_t)token->integer >> (8 * index));
        }
        return true;
    }
    if (token->kind != FILM_TOKEN_VALUE ||
        film_reader_record(renderer->reader, token->value, &record, NULL) != FILM_OK ||
        record.form != 0 || (record.flags & FILM_VALUE_CUT) != 0) {
        return false;
    }
    for (size_t index = 0; index < 16 && index < film_input_left(&record.rest);
         index++) {
        bytes[15 - index] = record.rest.at[index];
    }
    return true;
}

/* Of a network the attribute is an address, whose `_ip` is the number. */
static bool
look_within(film_noted *of, film_token *token)
{
    film_renderer *renderer = of->renderer;
    film_value_record record;
    film_noted within;
    uint64_t id = token->value;
    bool found;

    if (token->kind != FILM_TOKEN_OBJECT) {
        return true;
    }
    if (film_reader_record(renderer->reader, id, &record, NULL) != FILM_OK ||
        record.form != FILM_OBJECT_ATTRIBUTES) {
        return false;
    }
    if (renderer->renew != NULL) {
        renderer->renew(renderer->context, id, &record, true);
    }
    if (!film_noted_open(renderer, &record, &within)) {
        return false;
    }
    found = film_noted_attribute(&within, TEXT("_ip"), token);
    film_noted_close(&within);
    return found;
}

static void
put_number(film_noted *of, film_note_hole hole)
{
    film_buffer *out = of->renderer->out;
    film_token token, scope;
    uint8_t bytes[16];

    if (!next_attribute(of, &token) || !look_within(of, &token) ||
        !read_number(of->renderer, &token, bytes)) {
        put_unknown(of);
        return;
    }
    if (hole == FILM_HOLE_UUID) {
        film_form_uuid(out, bytes);
    }
    else if (hole == FILM_HOLE_ADDRESS4) {
        film_form_ipv4(out, bytes + 12);
    }
    else {
        film_form_ipv6(out, bytes, hole == FILM_HOLE_MAPPED);
        if (film_noted_attribute(of, TEXT("_scope_id"), &scope) &&
            scope.kind != FILM_TOKEN_NONE && scope.kind != FILM_TOKEN_UNBOUND) {
            film_buffer_put_byte(out, '%');
            film_render_raw(of->renderer, &scope, out);
        }
    }
}

/* --- paths -------------------------------------------------------------------------- */

static bool
attribute_text(film_noted *of, film_text name, film_buffer *text)
{
    film_token token;

    return film_noted_attribute(of, name, &token) &&
           film_render_raw(of->renderer, &token, text);
}

/* Calls on_part for each text of the list that the attribute holds; false: there is no
 * such list, or not all of it. */
static bool
each_part(film_noted *of, film_text name, film_buffer *text,
          void (*on_part)(film_buffer *text, size_t start, size_t index))
{
    film_renderer *renderer = of->renderer;
    film_value_record record;
    film_noted list;
    film_token token;
    bool whole;

    if (!film_noted_attribute(of, name, &token) || token.kind != FILM_TOKEN_VALUE ||
        film_reader_record(renderer->reader, token.value, &record, NULL) != FILM_OK ||
        record.form != FILM_OBJECT_SEQUENCE ||
        !film_noted_open(renderer, &record, &list)) {
        return false;
    }
    whole = !list.cut;
    for (uint64_t index = 0; index < list.count && whole; index++) {
        size_t start = text->length;

        whole = film_item_walk_next(&list.items, &token) &&
                film_render_raw(renderer, &token, text);
        if (whole) {
            on_part(text, start, (size_t)index);
        }
    }
    film_noted_close(&list);
    return whole && !text->failed;
}

/* Puts a slash before what was appended at `start`. */
static void
insert_slash(film_buffer *text, size_t start)
{
    film_buffer_put_byte(text, '/');
    if (!text->failed) {
        memmove(text->data + start + 1, text->data + start, text->length - start - 1);
        text->data[start] = '/';
    }
}

/* As os.path.join: a part that begins at the root puts away what is before. */
static void
join_raw(film_buffer *text, size_t start, size_t index)
{
    (void)index;
    if (text->length > start && text->data[start] == '/') {
        memmove(text->data, text->data + start, text->length - start);
        text->length -= start;
    }
    else if (start > 0 && text->data[start - 1] != '/') {
        insert_slash(text, start);
    }
}

/* As Python 3.11 keeps them: the root is a part of its own. */
static void
join_parts(film_buffer *text, size_t start, size_t index)
{
    if (index > 0 && start > 0 && text->data[start - 1] != '/') {
        insert_slash(text, start);
    }
}

/* Without empty parts and dots: one slash or exactly two are a root. */
static void
put_normal(const film_buffer *text, film_buffer *out)
{
    const char *data = (const char *)text->data;
    size_t at = 0, slashes = 0, parts = 0;

    while (slashes < text->length && data[slashes] == '/') {
        slashes++;
    }
    film_buffer_append_text(out, slashes == 2 ? "//" : slashes > 0 ? "/" : "");
    while (at < text->length) {
        size_t end = at;

        while (end < text->length && data[end] != '/') {
            end++;
        }
        if (end > at && !(end == at + 1 && data[at] == '.')) {
            film_buffer_append_text(out, parts++ > 0 ? "/" : "");
            film_buffer_append(out, data + at, end - at);
        }
        at = end + 1;
    }
    if (out->length == 0) {
        film_buffer_put_byte(out, '.');
    }
}

static void
put_path(film_noted *of)
{
    film_buffer raw = {0}, text = {0};
    bool known = attribute_text(of, TEXT("_str"), &text);

    if (!known) {
        film_buffer_clear(&text);
        known = each_part(of, TEXT("_raw_paths"), &raw, join_raw) ||
                each_part(of, TEXT("_parts"), &raw, join_parts);
        put_normal(&raw, &text);
    }
    if (known && !text.failed && !raw.failed) {
        film_literal_str(of->renderer->out, text.data, text.length);
    }
    else {
        put_unknown(of);
    }
    film_buffer_reset(&raw);
    film_buffer_reset(&text);
}

bool
film_render_attribute_hole(film_noted *of, film_note_hole hole)
{
    switch ((int)hole) {
    case FILM_HOLE_ATTRIBUTE:
        put_attribute(of);
        return true;
    case FILM_HOLE_MEMBER:
        put_member(of);
        return true;
    case FILM_HOLE_UUID:
    case FILM_HOLE_ADDRESS4:
    case FILM_HOLE_ADDRESS6:
    case FILM_HOLE_MAPPED:
        put_number(of, hole);
        return true;
    case FILM_HOLE_PATH:
        put_path(of);
        return true;
    default:
        return false;
    }
}
