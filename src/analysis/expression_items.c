/* expression_items.c: names, attributes, items and slices in expressions.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "analysis/expression_value.h"
#include "analysis/timeline_state.h"
#include "reader/note_parts.h"
#include "reader/render.h"

bool
film_eval_name(film_eval *eval, const char *name, film_expr_value *out)
{
    static const char *const types[] = {"int",  "float", "str",  "bool", "bytes",
                                        "list", "tuple", "dict", "set",  "NoneType"};
    film_variable variable;
    film_status status = film_timeline_variable(
        eval->timeline, eval->moment, eval->index, name, &variable, eval->error);

    if (status == FILM_OK) {
        return film_eval_recorded(eval, &variable.value, out);
    }
    if (status != FILM_END) {
        eval->status = status;
        return film_eval_unknown(eval, "the recording cannot be read");
    }
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (strcmp(name, types[i]) == 0) {
            *out = (film_expr_value){
                .kind = FILM_EXPR_TYPE, .text = types[i], .length = strlen(types[i])};
            return true;
        }
    }
    return film_eval_unknown(eval, "'%s' has no recorded value here", name);
}

/* What a value's note says of the name; the attribute or item that it means is looked up
 * in the content. */
static film_part
part_called(film_eval *eval, const film_expr_value *of, const char *name)
{
    film_text wanted = {name, strlen(name)};
    film_token token = film_datum_token(&of->datum);
    film_value_record record;

    if (of->datum.length == 0 ||
        (token.kind != FILM_TOKEN_VALUE && token.kind != FILM_TOKEN_OBJECT) ||
        film_reader_record(film_timeline_reader(eval->timeline), token.value, &record,
                           NULL) != FILM_OK) {
        return (film_part){.kind = FILM_PART_NONE};
    }
    return film_note_part(film_timeline_reader(eval->timeline), &record, wanted);
}

bool
film_eval_attribute(film_eval *eval, film_expr_value *of, const char *name,
                    film_expr_value *out)
{
    film_part part = part_called(eval, of, name);
    film_content content;

    if (part.kind == FILM_PART_TOKEN) {
        size_t length = film_input_left(&part.token);
        film_datum held = {.length = 0};

        if (length <= sizeof(held.bytes)) {
            memcpy(held.bytes, part.token.at, length);
            held.length = (uint8_t)length;
        }
        return film_eval_recorded(eval, &held, out);
    }
    if (of->datum.length == 0 || of->serial == 0 ||
        film_timeline_content(eval->timeline, eval->moment, &of->datum, &content,
                              eval->error) != FILM_OK) {
        return film_eval_unknown(eval, "attribute '%s' of a %s was not recorded", name,
                                 film_eval_type(of));
    }
    for (size_t i = 0; i < content.count; i++) {
        if (content.items[i].name.length == strlen(name) &&
            memcmp(content.items[i].name.data, name, strlen(name)) == 0) {
            film_datum held = content.items[i].value;
            return film_eval_recorded(eval, &held, out);
        }
    }
    for (size_t i = 0; i < content.count && part.kind != FILM_PART_NONE; i++) {
        film_text one = content.items[i].name;

        if (part.kind == FILM_PART_ITEM
                ? i == part.index
                : one.length == part.name.length &&
                      memcmp(one.data, part.name.data, one.length) == 0) {
            film_datum held = content.items[i].value;

            return film_eval_recorded(eval, &held, out);
        }
    }
    return film_eval_unknown(eval, "attribute '%s' of a %s was not recorded", name,
                             film_eval_type(of));
}

static bool
key_of(film_eval *eval, film_expr_value *of, film_expr_value *key, film_expr_value *out)
{
    for (size_t i = 0; i + 1 < of->count; i += 2) {
        bool equal;
        if (!film_eval_compare(eval, FILM_COMPARE_EQUAL, key, &of->items[i], &equal)) {
            return false;
        }
        if (equal) {
            *out = of->items[i + 1];
            return true;
        }
    }
    return of->cut ? film_eval_unknown(eval, "not all items were recorded")
                   : film_eval_error(eval, "the key is not there");
}

/* The letter at an index, as bytes of UTF-8. */
static bool
letter_of(film_eval *eval, const film_expr_value *of, int64_t index,
          film_expr_value *out)
{
    const char *at = of->text, *end = of->text + of->length;
    const char *next;
    char *copy;

    while (at < end && index > 0) {
        at++;
        while (at < end && ((uint8_t)*at & 0xc0) == 0x80) {
            at++;
        }
        index--;
    }
    if (at >= end) {
        return film_eval_unknown(eval, "not all of a text was recorded");
    }
    next = at + 1;
    while (next < end && ((uint8_t)*next & 0xc0) == 0x80) {
        next++;
    }
    copy = film_eval_take(eval, (size_t)(next - at) + 1);
    if (copy == NULL) {
        return false;
    }
    memcpy(copy, at, (size_t)(next - at));
    copy[next - at] = '\0';
    *out = (film_expr_value){
        .kind = FILM_EXPR_TEXT, .text = copy, .length = (size_t)(next - at)};
    return true;
}

bool
film_eval_item(film_eval *eval, film_expr_value *of, film_expr_value *key,
               film_expr_value *out)
{
    int64_t length, index;

    if (of->kind == FILM_EXPR_MAPPING) {
        return film_eval_unfold(eval, of) && key_of(eval, of, key, out);
    }
    if (of->kind != FILM_EXPR_SEQUENCE && of->kind != FILM_EXPR_TEXT &&
        of->kind != FILM_EXPR_BYTES) {
        return of->kind == FILM_EXPR_OBJECT
                   ? film_eval_unknown(eval, "items of a %s were not recorded",
                                       film_eval_type(of))
                   : film_eval_error(eval, "a %s has no items", film_eval_type(of));
    }
    if (key->kind != FILM_EXPR_INT && key->kind != FILM_EXPR_BOOL) {
        return film_eval_error(eval, "an index must be an int, not a %s",
                               film_eval_type(key));
    }
    if (!film_eval_length(eval, of, &length)) {
        return false;
    }
    index = key->integer < 0 ? key->integer + length : key->integer;
    if (index < 0 || index >= length) {
        return film_eval_error(eval, "the index is out of range");
    }
    if (of->kind == FILM_EXPR_TEXT) {
        return letter_of(eval, of, index, out);
    }
    if ((uint64_t)index >= (of->kind == FILM_EXPR_BYTES ? of->length : of->count)) {
        return film_eval_unknown(eval, "not all items were recorded");
    }
    *out = of->kind == FILM_EXPR_BYTES ? film_expr_int((uint8_t)of->text[index])
                                       : of->items[index];
    return true;
}

/* One end of a slice. */
static bool
slice_end(film_eval *eval, const film_expr_value *value, int64_t fallback, int64_t *out)
{
    if (value->kind == FILM_EXPR_NONE) {
        *out = fallback;
        return true;
    }
    if (value->kind != FILM_EXPR_INT && value->kind != FILM_EXPR_BOOL) {
        return film_eval_error(eval, "a slice needs ints");
    }
    *out = value->integer;
    return true;
}

static int64_t
clamp(int64_t index, int64_t length, bool back)
{
    int64_t least = back ? -1 : 0, most = back ? length - 1 : length;

    if (index < 0) {
        index = index < -length ? least : index + length;
    }
    return index < least ? least : index > most ? most : index;
}

bool
film_eval_slice(film_eval *eval, film_expr_value *of, const film_expr_value *ends,
                film_expr_value *out)
{
    int64_t length = 0, step = 1, from = 0, to = 0;
    film_expr_kind kind = of->kind;
    bool text = kind == FILM_EXPR_TEXT || kind == FILM_EXPR_BYTES;
    size_t count = 0, used = 0;
    char *letters;

    if (kind != FILM_EXPR_SEQUENCE && !text) {
        return film_eval_error(eval, "a %s has no slices", film_eval_type(of));
    }
    if (!film_eval_length(eval, of, &length) || !slice_end(eval, &ends[2], 1, &step)) {
        return false;
    }
    if (step == 0 || step == INT64_MIN) {
        return film_eval_error(eval, "the step of a slice cannot be 0");
    }
    if (!slice_end(eval, &ends[0], step < 0 ? length - 1 : 0, &from) ||
        !slice_end(eval, &ends[1], step < 0 ? -length - 1 : length, &to)) {
        return false;
    }
    from = clamp(from, length, step < 0);
    to = clamp(to, length, step < 0);
    if (of->cut) {
        return film_eval_unknown(eval, "not all of it was recorded");
    }
    *out = *of;
    out->datum.length = 0;
    out->serial = 0;
    out->items =
        text ? NULL : film_eval_take(eval, (of->count + 1) * sizeof(*of->items));
    letters = text ? film_eval_take(eval, of->length + 1) : NULL;
    if (text ? letters == NULL : out->items == NULL) {
        return false;
    }
    for (int64_t at = from; step > 0 ? at < to : at > to;) {
        film_expr_value one = {0};
        if (kind == FILM_EXPR_TEXT) {
            if (!letter_of(eval, of, at, &one)) {
                return false;
            }
            memcpy(letters + used, one.text, one.length);
            used += one.length;
        }
        else if (kind == FILM_EXPR_BYTES) {
            letters[used++] = of->text[at];
        }
        else {
            out->items[count++] = of->items[at];
        }
        if (__builtin_add_overflow(at, step, &at)) {
            break;
        }
    }
    out->count = count;
    if (text) {
        letters[used] = '\0';
        out->text = letters;
        out->length = used;
    }
    return true;
}
