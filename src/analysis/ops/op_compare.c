/* op_compare.c: see op_compare.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ops/op_compare.h"

#include <string.h>

#include "base/hash.h"
#include "format/token.h"

#define TEXT_BYTES 400u /* of one value */
#define MODES (FILM_OPERATION_GRAD | FILM_OPERATION_INFERENCE)

const char *
film_op_aspect_name(film_op_aspect aspect)
{
    static const char *const names[] = {
        [FILM_OP_ALIKE] = "nothing",       [FILM_OP_FUNCTION] = "function",
        [FILM_OP_RAISED] = "exception",    [FILM_OP_MODE] = "mode",
        [FILM_OP_ARGUMENTS] = "arguments", [FILM_OP_FORM] = "form",
        [FILM_OP_DTYPE] = "dtype",         [FILM_OP_SHAPE] = "shape",
        [FILM_OP_DEVICE] = "device",       [FILM_OP_LAYOUT] = "layout",
        [FILM_OP_VALUE] = "value",         [FILM_OP_NUMBERS] = "numbers"};

    return names[aspect];
}

static bool
is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* Where the digits that begin at `at` end, when `mark` follows them; else `at`. */
static size_t
skip_number(film_text text, size_t at, char mark)
{
    size_t end = at;

    while (end < text.length && is_digit(text.data[end])) {
        end++;
    }
    return end > at && end < text.length && text.data[end] == mark ? end : at;
}

void
film_op_plain_text(film_buffer *out, film_text text)
{
    size_t from = 0;

    for (size_t i = 0; i < text.length; i++) {
        bool begins = i == 0 || memchr("[({ =", text.data[i - 1], 5) != NULL;
        size_t end = i;

        if (text.data[i] == '#') {
            end = skip_number(text, i + 1, '>');
        }
        else if (text.data[i] == 't' && begins) {
            end = skip_number(text, i + 1, ':');
        }
        if (end > i + 1) {
            film_buffer_append(out, text.data + from, i + 1 - from);
            from = end;
            i = end - 1;
        }
    }
    film_buffer_append(out, text.data + from, text.length - from);
}

/* --- two items --- */

static bool
same_text(film_text left, film_text right)
{
    return left.length == right.length &&
           memcmp(left.data, right.data, left.length) == 0;
}

/* Without the serials. */
static bool
same_value(const film_op_value *left, const film_op_value *right)
{
    film_buffer plain = {0};
    size_t middle;
    bool same;

    if (same_text(left->text, right->text)) {
        return true;
    }
    film_op_plain_text(&plain, left->text);
    middle = plain.length;
    film_op_plain_text(&plain, right->text);
    same = !plain.failed && plain.length == 2 * middle &&
           memcmp(plain.data, plain.data + middle, middle) == 0;
    film_buffer_reset(&plain);
    return same;
}

static film_op_aspect
compare_tensors(const film_op_tensor *left, const film_op_tensor *right)
{
    if (!same_text(left->dtype, right->dtype)) {
        return FILM_OP_DTYPE;
    }
    if (left->dimensions != right->dimensions ||
        memcmp(left->sizes, right->sizes,
               (size_t)left->dimensions * sizeof(left->sizes[0])) != 0) {
        return FILM_OP_SHAPE;
    }
    if (!same_text(left->device, right->device)) {
        return FILM_OP_DEVICE;
    }
    return same_text(left->text, right->text) ? FILM_OP_ALIKE : FILM_OP_LAYOUT;
}

static bool
same_numbers(const film_op_tensor *left, const film_op_tensor *right)
{
    return !left->has_summary || !right->has_summary ||
           left->summary.hash == right->summary.hash;
}

/* The tensors of one value: first in what they are, then in their numbers. */
static film_op_comparison
compare_values(const film_op_item *left, const film_op_item *right, uint32_t index,
               bool numbers)
{
    const film_op_value *a = &left->values[index], *b = &right->values[index];
    film_op_comparison found = {.value = index};

    if (!numbers && (a->tensors != b->tensors || a->is_tensor != b->is_tensor)) {
        found.aspect = FILM_OP_FORM;
        return found;
    }
    for (uint32_t i = 0; i < a->tensors && i < b->tensors; i++) {
        const film_op_tensor *one = &left->tensors[a->first_tensor + i],
                             *other = &right->tensors[b->first_tensor + i];

        found.tensor = i;
        found.aspect = !numbers                   ? compare_tensors(one, other)
                       : same_numbers(one, other) ? FILM_OP_ALIKE
                                                  : FILM_OP_NUMBERS;
        if (found.aspect != FILM_OP_ALIKE) {
            return found;
        }
    }
    found.tensor = 0;
    if (!numbers && !a->is_tensor && !same_value(a, b)) {
        found.aspect = FILM_OP_VALUE;
    }
    return found;
}

static film_op_aspect
compare_heads(const film_op_item *left, const film_op_item *right)
{
    bool is_end = left->kind == FILM_KIND_OP_END;

    if (left->kind != right->kind ||
        (!is_end && !same_text(left->function, right->function))) {
        return FILM_OP_FUNCTION;
    }
    if (is_end &&
        (left->flags != right->flags || !same_text(left->function, right->function))) {
        return FILM_OP_RAISED;
    }
    if (!is_end && ((left->flags ^ right->flags) & MODES) != 0) {
        return FILM_OP_MODE;
    }
    if (left->all_values != right->all_values ||
        left->positional != right->positional) {
        return FILM_OP_ARGUMENTS;
    }
    for (uint32_t i = 0; i < left->value_count; i++) {
        if (!same_text(left->values[i].keyword, right->values[i].keyword)) {
            return FILM_OP_ARGUMENTS;
        }
    }
    return FILM_OP_ALIKE;
}

film_op_comparison
film_op_compare(const film_op_item *left, const film_op_item *right, bool numbers)
{
    film_op_comparison found = {.aspect = compare_heads(left, right)};

    for (int pass = 0; pass < 1 + numbers && found.aspect == FILM_OP_ALIKE; pass++) {
        for (uint32_t i = 0; i < left->value_count && found.aspect == FILM_OP_ALIKE;
             i++) {
            found = compare_values(left, right, i, pass > 0);
        }
    }
    return found;
}

/* --- one event --- */

typedef struct visit {
    film_diff_entry *out;
    bool tensors[64]; /* values that are tensors; those behind are told by texts, too */
    const uint64_t *records;
    uint32_t record_count;
} visit;

static uint64_t
hash_text(film_text text)
{
    return film_hash(text.data, text.length);
}

static bool
mix_tensor(void *context, const film_tensor *tensor, uint32_t index)
{
    visit *to = context;
    film_diff_entry *out = to->out;

    out->shape = film_digest_mix(out->shape, hash_text(tensor->text) + index);
    if (tensor->has_summary) {
        out->values = film_digest_mix(out->values, tensor->summary.hash);
    }
    else {
        out->has_values = false;
    }
    if (index < to->record_count && to->records[index] == tensor->record + 1) {
        to->tensors[index] = true;
    }
    return true;
}

/* Records of the first values, + 1; 0 for one that has none. */
static uint32_t
list_records(const film_event *event, uint64_t records[64])
{
    film_input input = film_input_of(event->tokens, event->tokens_length);
    uint32_t count = event->token_count < 64 ? event->token_count : 64;

    for (uint32_t i = 0; i < count; i++) {
        film_token token;

        film_token_read(&input, &token);
        records[i] = token.kind == FILM_TOKEN_VALUE || token.kind == FILM_TOKEN_OBJECT
                         ? token.value + 1
                         : 0;
    }
    return count;
}

static film_status
mix_others(film_reader *reader, const film_event *event, const visit *to,
           film_buffer *scratch, film_diff_entry *out, film_error *error)
{
    film_input input = film_input_of(event->tokens, event->tokens_length);

    for (uint32_t i = 0; i < to->record_count; i++) {
        const uint8_t *begin = input.at;

        film_tokens_skip(&input, 1);
        if (to->tensors[i]) {
            continue;
        }
        if (to->records[i] == 0) {
            out->shape = film_digest_mix(
                out->shape, film_hash(begin, (size_t)(input.at - begin)) ^ i);
        }
        else {
            film_value value;

            FILM_TRY(
                film_reader_event_value(reader, event, i, TEXT_BYTES, &value, error));
            film_buffer_clear(scratch);
            film_op_plain_text(scratch, value.text);
            if (scratch->failed) {
                return film_fail(error, FILM_NO_MEMORY, "memory ran out");
            }
            out->shape =
                film_digest_mix(out->shape, film_hash(scratch->data, scratch->length));
        }
    }
    return FILM_OK;
}

film_status
film_op_entry(film_reader *reader, const film_event *event, film_buffer *scratch,
              film_diff_entry *out, film_error *error)
{
    uint64_t records[64];
    visit to = {.out = out, .records = records};
    bool is_op = event->kind == FILM_KIND_OP;

    *out = (film_diff_entry){.number = event->number,
                             .key = event->kind,
                             .has_values = true,
                             .counts = is_op};
    to.record_count = list_records(event, records);
    out->shape = film_digest_mix(out->shape,
                                 is_op ? (uint64_t)(event->form & MODES) : event->form);
    out->shape = film_digest_mix(out->shape, event->token_count);
    if (is_op) {
        out->key = film_digest_mix(out->key,
                                   hash_text(film_reader_string(reader, event->text)));
        out->shape = film_digest_mix(out->shape, event->slot);
        out->shape = film_digest_mix(
            out->shape, hash_text(film_reader_string(reader, event->name)));
    }
    else {
        out->shape = film_digest_mix(
            out->shape, hash_text(film_reader_string(reader, event->text)));
    }
    FILM_TRY(film_reader_event_tensors(reader, event, mix_tensor, &to, error));
    return mix_others(reader, event, &to, scratch, out, error);
}
