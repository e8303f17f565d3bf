/* op_item.c: takes the values of an op apart.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ops/op_item.h"

#include <string.h>

#include "format/token.h"

#define ITEM_BYTES 4096u /* of most ops */
#define TEXT_BYTES 400u  /* of one value */

/* Tensors of more are summed up by a sample: FILM_SUMMARY_BYTES of the recorder. */
#define SUMMARY_BYTES 65536u

/* Events between an op and its end that are looked at: a call of torch's that ran Python
 * code for longer than that is shown without its end. */
#define END_EVENTS 4000000u

uint64_t
film_tensor_elements(const film_tensor *tensor)
{
    uint64_t count = 1;

    for (int i = 0; i < tensor->dimensions; i++) {
        uint64_t size = tensor->sizes[i] < 0 ? 0 : (uint64_t)tensor->sizes[i];

        if (size != 0 && count > UINT64_MAX / size) {
            return UINT64_MAX; /* damage, or an expanded tensor */
        }
        count *= size;
    }
    return count;
}

/* Of an element, by the dtype's name: the bits are in it. */
static uint64_t
element_bytes(film_text dtype)
{
    uint64_t bits = 0;
    size_t i = 0;

    while (i < dtype.length && (dtype.data[i] < '0' || dtype.data[i] > '9')) {
        i++;
    }
    for (; i < dtype.length && dtype.data[i] >= '0' && dtype.data[i] <= '9' &&
           bits < 10000;
         i++) {
        bits = bits * 10 + (uint64_t)(dtype.data[i] - '0');
    }
    return bits < 8 ? 1 : bits / 8; /* bool */
}

bool
film_tensor_is_sampled(const film_tensor *tensor)
{
    return tensor->has_summary &&
           film_tensor_elements(tensor) > SUMMARY_BYTES / element_bytes(tensor->dtype);
}

/* A copy that lives as long as the item; empty when memory is out. */
static film_text
keep(film_op_item *item, film_text text, bool *failed)
{
    film_text kept = {"", 0};
    char *to = film_scratch_take(&item->scratch, text.length + 1, 1);

    if (to == NULL) {
        *failed = true;
        return kept;
    }
    if (text.length > 0) {
        memcpy(to, text.data, text.length);
    }
    to[text.length] = '\0';
    kept.data = to;
    kept.length = text.length;
    return kept;
}

typedef struct visit {
    film_op_item *item;
    bool failed;
} visit;

static bool
count_tensor(void *context, const film_tensor *tensor, uint32_t index)
{
    film_op_item *item = context;

    (void)tensor;
    (void)index;
    item->all_tensors++;
    return true;
}

static bool
take_tensor(void *context, const film_tensor *tensor, uint32_t index)
{
    visit *to = context;
    film_op_item *item = to->item;
    film_op_tensor *out = &item->tensors[item->tensor_count];

    if (item->tensor_count == item->all_tensors ||
        item->tensor_count == FILM_OP_ITEM_TENSORS) {
        return false;
    }
    memset(out, 0, sizeof(*out));
    out->value = index;
    out->record = tensor->record;
    out->serial = tensor->serial;
    out->storage = tensor->storage;
    out->version = tensor->version;
    out->elements = film_tensor_elements(tensor);
    out->type = keep(item, tensor->type, &to->failed);
    out->text = keep(item, tensor->text, &to->failed);
    out->dtype = keep(item, tensor->dtype, &to->failed);
    out->device = keep(item, tensor->device, &to->failed);
    out->layout = keep(item, tensor->layout, &to->failed);
    out->dimensions = tensor->dimensions;
    memcpy(out->sizes, tensor->sizes, sizeof(out->sizes));
    out->requires_grad = tensor->requires_grad;
    out->has_summary = tensor->has_summary;
    out->sampled = film_tensor_is_sampled(tensor);
    out->summary = tensor->summary;
    item->tensor_count++;
    return !to->failed;
}

/* Whether a value is a tensor or holds some; tensors come in the order of the values. */
static void
share_tensors(film_op_item *item)
{
    for (uint32_t i = 0; i < item->tensor_count; i++) {
        uint32_t index = item->tensors[i].value;

        if (index < item->value_count) {
            film_op_value *value = &item->values[index];

            value->first_tensor = value->tensors == 0 ? i : value->first_tensor;
            value->tensors++;
        }
    }
}

static film_status
read_values(film_op_item *item, film_reader *reader, const film_event *event,
            bool *failed, film_error *error)
{
    film_input input = film_input_of(event->tokens, event->tokens_length);

    for (uint32_t i = 0; i < item->value_count; i++) {
        film_op_value *out = &item->values[i];
        film_value value;
        film_token token;

        memset(out, 0, sizeof(*out));
        film_token_read(&input, &token);
        FILM_TRY(film_reader_event_value(reader, event, i, TEXT_BYTES, &value, error));
        out->text = keep(item, value.text, failed);
        out->type = keep(item, value.type, failed);
        out->is_object = value.is_object;
        out->is_cut = value.cut;
        out->number = token.kind == FILM_TOKEN_FLOAT ? token.number : 0;
        /* An op's names are strings of the reader, which stay. */
        out->keyword =
            event->kind == FILM_KIND_OP
                ? keep(item, film_reader_op_keyword(reader, event, i), failed)
                : (film_text){"", 0};
    }
    return FILM_OK;
}

/* Of a value that is a tensor its record is the token itself. */
static void
mark_tensors(film_op_item *item, const film_event *event)
{
    film_input input = film_input_of(event->tokens, event->tokens_length);

    for (uint32_t i = 0; i < item->value_count; i++) {
        film_op_value *value = &item->values[i];
        film_token token;

        film_token_read(&input, &token);
        value->is_tensor =
            value->tensors == 1 &&
            (token.kind == FILM_TOKEN_VALUE || token.kind == FILM_TOKEN_OBJECT) &&
            item->tensors[value->first_tensor].record == token.value;
    }
}

film_status
film_op_item_read(film_op_item *item, film_reader *reader, const film_event *event,
                  film_error *error)
{
    film_scratch scratch = item->scratch;
    visit to = {.item = item};

    memset(item, 0, sizeof(*item));
    item->scratch = scratch;
    if (!film_scratch_begin(&item->scratch, ITEM_BYTES)) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    item->number = event->number;
    item->op = event->op;
    item->time_ns = event->time_ns;
    item->thread = event->thread;
    item->code = event->code;
    item->offset = event->offset;
    item->line = film_reader_event_line(reader, event);
    item->kind = event->kind;
    item->flags = event->form;
    item->positional = event->kind == FILM_KIND_OP ? event->slot : 0;
    item->function = keep(item, film_reader_string(reader, event->text), &to.failed);
    if (event->kind == FILM_KIND_OP) {
        item->api = keep(item, film_reader_string(reader, event->api), &to.failed);
        item->module =
            keep(item, film_reader_string(reader, event->module), &to.failed);
    }
    item->all_values = event->token_count;
    item->value_count = event->token_count < FILM_OP_ITEM_VALUES ? event->token_count
                                                                 : FILM_OP_ITEM_VALUES;
    FILM_TRY(film_reader_event_tensors(reader, event, count_tensor, item, error));
    item->values =
        film_scratch_take(&item->scratch, item->value_count + 1, sizeof(*item->values));
    item->tensors = film_scratch_take(&item->scratch, item->all_tensors + 1,
                                      sizeof(*item->tensors));
    if (item->values == NULL || item->tensors == NULL) {
        item->value_count = 0;
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    FILM_TRY(read_values(item, reader, event, &to.failed, error));
    FILM_TRY(film_reader_event_tensors(reader, event, take_tensor, &to, error));
    share_tensors(item);
    mark_tensors(item, event);
    return to.failed ? film_fail(error, FILM_NO_MEMORY, "memory ran out") : FILM_OK;
}

void
film_op_item_reset(film_op_item *item)
{
    film_scratch_reset(&item->scratch);
    memset(item, 0, sizeof(*item));
}

static film_status
find_end(film_cursor *cursor, film_reader *reader, uint64_t number, film_op_item *end,
         film_error *error)
{
    const film_event *event;

    for (uint32_t seen = 0; seen < END_EVENTS; seen++) {
        film_status status = film_cursor_next(cursor, &event, error);

        if (status == FILM_END) {
            return FILM_OK;
        }
        FILM_TRY(status);
        if (event->kind == FILM_KIND_OP_END && event->op == number) {
            return film_op_item_read(end, reader, event, error);
        }
    }
    return FILM_OK;
}

film_status
film_op_item_find(film_reader *reader, uint32_t thread, uint64_t number,
                  film_op_item *op, film_op_item *end, film_error *error)
{
    film_cursor *cursor;
    const film_event *event;
    film_status status;

    if (end != NULL) {
        end->kind = 0;
    }
    FILM_TRY(film_cursor_open(reader, thread, number, &cursor, error));
    status = film_cursor_next(cursor, &event, error);
    if (status == FILM_OK && (event->kind != FILM_KIND_OP || event->number != number)) {
        status = FILM_END;
    }
    if (status == FILM_OK) {
        status = film_op_item_read(op, reader, event, error);
    }
    if (status == FILM_OK && end != NULL) {
        status = find_end(cursor, reader, number, end, error);
    }
    film_cursor_close(cursor);
    return status;
}
