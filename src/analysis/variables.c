/* variables.c: see variables.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/variables_state.h"

#include <string.h>

#include "analysis/closures.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "format/cells.h"
#include "reader/render.h"

/* The table in four parts. */
#define PART (FILM_RECENT_BUCKETS / 4)
/* CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR */
#define GENERATOR_FLAGS 0x2a0u

film_status
film_variables_new(film_reader *reader, bool whole, film_variables **out,
                   film_error *error)
{
    film_variables *variables = film_alloc(sizeof(*variables));

    *out = NULL;
    if (variables == NULL || !film_recent_init(&variables->table)) {
        film_free(variables);
        return film_fail(error, FILM_NO_MEMORY, "not enough memory");
    }
    variables->reader = reader;
    variables->from_start = whole;
    film_reader_renew_by(reader, film_variables_renew, variables);
    *out = variables;
    return FILM_OK;
}

void
film_variables_free(film_variables *variables)
{
    if (variables != NULL) {
        film_reader_renew_by(variables->reader, NULL, NULL);
        film_buffer_reset(&variables->noted);
        film_recent_reset(&variables->table);
        film_buffer_reset(&variables->items);
        film_buffer_reset(&variables->name);
        for (unsigned i = 0; i < FILM_NOTED_LEVELS; i++) {
            film_buffer_reset(&variables->within[i]);
        }
        film_free(variables);
    }
}

/* What comes and goes with frames and with objects has parts of its own, so that it
 * does not drive out what stays. */
static size_t
part_of(film_subject about)
{
    switch (about) {
    case FILM_ABOUT_LOCAL:
    case FILM_ABOUT_CLASS:
    case FILM_ABOUT_SHARED:
        return 0;
    case FILM_ABOUT_NAMED:
    case FILM_ABOUT_CONTENT:
        return PART;
    case FILM_ABOUT_ITEM:
    case FILM_ABOUT_HOLDER:
    case FILM_ABOUT_WITHIN:
        return 2 * (size_t)PART;
    case FILM_ABOUT_ATTRIBUTE:
    case FILM_ABOUT_GLOBAL:
    case FILM_ABOUT_CELL:
    case FILM_ABOUT_NAMES:
    default:
        return 3 * (size_t)PART;
    }
}

uint32_t
film_variables_items_forgotten(const film_variables *variables)
{
    return variables->table.forgotten[part_of(FILM_ABOUT_ITEM) / PART];
}

bool
film_variables_are_whole(const film_variables *variables)
{
    return variables->from_start && film_variables_items_forgotten(variables) == 0 &&
           variables->table.forgotten[part_of(FILM_ABOUT_CONTENT) / PART] == 0;
}

bool
film_variables_keep_attributes(const film_variables *variables)
{
    return variables->from_start &&
           variables->table.forgotten[part_of(FILM_ABOUT_ATTRIBUTE) / PART] == 0;
}

film_recent_key
film_variable_address(film_subject about, uint64_t first, uint64_t second)
{
    film_recent_key at;

    at.key = film_digest_mix(film_digest_mix(first * 0x9E3779B97F4A7C15u, second),
                             (uint64_t)about);
    at.bucket = (size_t)(at.key >> 40) % PART + part_of(about);
    at.key += at.key == 0;
    return at;
}

/* Of a frame's own: frames that follow one another at one depth use the same buckets,
 * which stay in the processor's cache. Only what may go on at another depth cannot. */
film_recent_key
film_frame_address(const film_variables *variables, film_subject about,
                   const film_event *event, uint64_t number)
{
    film_recent_key at = film_variable_address(about, event->frame, number);
    const film_code *code = film_reader_code(variables->reader, event->code);

    if (code != NULL && (code->flags & GENERATOR_FLAGS) == 0) {
        uint64_t place = film_digest_mix((uint64_t)event->thread << 32, event->depth);
        at.bucket = ((size_t)(place >> 40) + (size_t)(number % 64) +
                     (about == FILM_ABOUT_NAMED ? 64 : 0)) %
                        PART +
                    part_of(about);
        /* The upper half is the place's, so that a frame takes the entry of the one
         * before it. */
        place = film_digest_mix(place + number, (uint64_t)about);
        at.key = (place & ~(uint64_t)UINT32_MAX) | (at.key & UINT32_MAX);
        at.key += at.key == 0;
    }
    return at;
}

/* The next token, where there is one of that role. */
static void
read_role(film_input *input, bool is_there, film_told *out)
{
    if (is_there) {
        film_told_read(input, out);
        return;
    }
    out->bytes = NULL;
    out->length = 0;
    out->token.kind = FILM_TOKEN_UNBOUND;
    out->token.value = 0;
    out->token.type = 0;
}

void
film_write_read(const film_event *event, film_write *out)
{
    film_input input = film_input_of(event->tokens, event->tokens_length);
    uint32_t before_value =
        event->kind == FILM_KIND_CHANGE ? 0 : film_set_tokens(event->form) - 1;

    out->event = event;
    read_role(&input, before_value > 0 && event->token_count > 0, &out->owner);
    read_role(&input, before_value > 1 && event->token_count > 1, &out->key);
    read_role(&input,
              event->kind != FILM_KIND_DELETE && event->token_count > before_value,
              &out->value);
}

bool
film_told_give(const film_told *told, film_past_value *out)
{
    if (told->length == 0 || told->length > sizeof(out->bytes)) {
        return false;
    }
    memcpy(out->bytes, told->bytes, told->length);
    out->length = (uint8_t)told->length;
    return true;
}

uint64_t
film_held_serial(film_variables *variables, const film_recent_entry *held)
{
    film_input input = film_input_of(held->bytes, held->length);
    film_token token;

    film_token_read(&input, &token);
    return film_serial_of(variables, &token);
}

/* True for a variable that inner or outer functions may have too. */
static bool
may_be_shared(const film_variables *variables, const film_event *event, uint32_t slot)
{
    const film_code *code = film_reader_code(variables->reader, event->code);

    return code != NULL && slot < code->local_count &&
           (code->local_kinds[slot] & FILM_LOCAL_SHARED) != 0;
}

film_recent_key
film_local_address(film_variables *variables, const film_event *event, uint32_t slot)
{
    const film_recent_entry *shared = NULL;
    uint64_t cell;

    if (may_be_shared(variables, event, slot)) {
        shared = film_recent_find(
            &variables->table,
            film_variable_address(FILM_ABOUT_SHARED, event->frame, slot));
    }
    if (shared == NULL) {
        return film_frame_address(variables, FILM_ABOUT_LOCAL, event, slot);
    }
    memcpy(&cell, shared->bytes, sizeof(cell));
    return film_variable_address(FILM_ABOUT_CELL, cell, 0);
}

/* The token of what is held there; UNBOUND: nothing. */
static void
keep_token(film_variables *variables, film_recent_key at, const uint8_t *token,
           size_t length)
{
    if (length > 0 && token[0] != FILM_TOKEN_UNBOUND) {
        film_recent_put(&variables->table, at, token, length);
    }
    else {
        film_recent_forget(&variables->table, at);
    }
}

/* Which cells the frame has that begins or goes on. */
static void
note_cells(film_variables *variables, const film_event *event)
{
    film_input body = film_input_of(event->cells, event->cells_length);
    film_cell_told told;

    while (film_cells_next(&body, &told)) {
        film_recent_put(
            &variables->table,
            film_variable_address(FILM_ABOUT_SHARED, event->frame, told.slot),
            &told.cell, sizeof(told.cell));
        if ((told.flags & FILM_CELL_VALUE) != 0) {
            keep_token(variables, film_variable_address(FILM_ABOUT_CELL, told.cell, 0),
                       told.token, told.token_length);
        }
    }
}

/* What a comprehension's variables hid is there again. */
static void
note_restored(film_variables *variables, const film_event *event)
{
    film_input body = film_input_of(event->restored, event->restored_length);
    film_event of = {.frame = event->restored_frame,
                     .thread = event->thread,
                     .code = event->code,
                     .depth = event->depth};

    if (event->frame != event->restored_frame) { /* the frame calls another one */
        of.code = event->caller_code;
        of.depth = event->depth - 1;
    }
    while (film_input_left(&body) > 0 && !body.failed) {
        uint32_t slot = film_input_varint32(&body);
        film_told value;

        film_told_read(&body, &value);
        (void)film_input_varint(&body); /* its cell, which it was before */
        if (!body.failed) {
            keep_token(variables, film_local_address(variables, &of, slot), value.bytes,
                       value.length);
        }
    }
}

/* Where what a set or delete writes to is kept; key 0: not to be told. */
static film_recent_key
address_of_write(film_variables *variables, const film_event *event)
{
    const film_code *code;
    film_recent_key none = {0};

    switch ((film_set_form)event->form) {
    case FILM_SET_LOCAL:
        return film_local_address(variables, event, event->slot);
    case FILM_SET_CLASS:
        return film_variable_address(FILM_ABOUT_CLASS, event->frame, event->name);
    case FILM_SET_GLOBAL:
        code = film_reader_code(variables->reader, event->code);
        return code == NULL ? none
                            : film_variable_address(
                                  FILM_ABOUT_GLOBAL,
                                  film_hash(code->module.data, code->module.length),
                                  event->name);
    case FILM_SET_ATTRIBUTE:
    case FILM_SET_ATTRIBUTE_VIA:
    case FILM_SET_ITEM:
    case FILM_SET_ITEM_VIA:
    default:
        return none; /* variable_attributes.c, variable_items.c */
    }
}

/* The frame's variable `slot` holds this. */
static void
note_local(film_variables *variables, const film_event *event, uint32_t slot,
           const film_told *value)
{
    uint64_t serial = film_serial_of(variables, &value->token);

    film_recent_put(&variables->table, film_local_address(variables, event, slot),
                    value->bytes, value->length);
    if (serial != 0) {
        film_recent_put(&variables->table,
                        film_frame_address(variables, FILM_ABOUT_NAMED, event, serial),
                        &slot, sizeof(slot));
        film_content_note(variables, value, serial);
    }
}

static bool
is_item(const film_event *event)
{
    return event->form == FILM_SET_ITEM || event->form == FILM_SET_ITEM_VIA;
}

static bool
is_attribute(const film_event *event)
{
    return event->form == FILM_SET_ATTRIBUTE || event->form == FILM_SET_ATTRIBUTE_VIA;
}

void
film_note_holder(film_variables *variables, uint64_t serial, uint64_t owner,
                 uint32_t name)
{
    film_held_by by;

    memset(&by, 0, sizeof(by));
    by.owner = owner;
    by.name = name;
    film_recent_put(&variables->table,
                    film_variable_address(FILM_ABOUT_HOLDER, serial, 0), &by,
                    sizeof(by));
}

static void
note_set(film_variables *variables, film_write *write)
{
    const film_event *event = write->event;
    const film_told *value = &write->value, *owner = &write->owner;
    uint64_t serial;
    film_recent_key at;

    if (value->length == 0) {
        return;
    }
    if (event->form == FILM_SET_LOCAL) {
        note_local(variables, event, event->slot, value);
        return;
    }
    if (is_item(event)) {
        film_item_note(variables, write);
    }
    else if (is_attribute(event)) {
        film_attribute_note(variables, write);
    }
    else {
        at = address_of_write(variables, event);
        if (at.key == 0) {
            return;
        }
        film_recent_put(&variables->table, at, value->bytes, value->length);
    }
    serial = film_serial_of(variables, &value->token);
    if (serial == 0) {
        return;
    }
    film_content_note(variables, value, serial);
    if (event->name != 0 &&
        (owner->length == 0 || film_record_of(&owner->token) != 0)) {
        film_note_holder(variables, serial,
                         owner->length == 0 ? 0 : film_record_of(&owner->token),
                         event->name);
    }
}

static void
note_delete(film_variables *variables, film_write *write)
{
    const film_event *event = write->event;
    film_recent_key at;

    if (is_item(event)) {
        film_item_note(variables, write);
        return;
    }
    if (is_attribute(event)) {
        film_attribute_note(variables, write);
        return;
    }
    at = address_of_write(variables, event);
    if (at.key != 0) {
        film_recent_forget(&variables->table, at);
    }
}

static void
note_arguments(film_variables *variables, const film_event *event)
{
    film_input input = film_input_of(event->tokens, event->tokens_length);

    for (uint32_t i = 0; i < event->token_count; i++) {
        film_told value;

        film_told_read(&input, &value);
        if (value.length == 0) {
            break;
        }
        note_local(variables, event, i, &value);
    }
}

void
film_variables_note(film_variables *variables, const film_event *event)
{
    film_write write;

    if (event->cells_length != 0) {
        note_cells(variables, event);
    }
    if (event->restored_length != 0) {
        note_restored(variables, event);
    }
    switch (event->kind) {
    case FILM_KIND_CALL:
        note_arguments(variables, event);
        break;
    case FILM_KIND_SET:
        film_write_read(event, &write);
        note_set(variables, &write);
        break;
    case FILM_KIND_DELETE:
        film_write_read(event, &write);
        note_delete(variables, &write);
        break;
    case FILM_KIND_CHANGE:
        film_write_read(event, &write);
        film_content_note(variables, &write.value,
                          film_serial_of(variables, &write.value.token));
        break;
    default:
        break;
    }
}

static bool
give(const film_recent_entry *found, film_past_value *out)
{
    if (found == NULL || found->length > sizeof(out->bytes)) {
        return false;
    }
    memcpy(out->bytes, found->bytes, found->length);
    out->length = found->length;
    return true;
}

/* What the variable, attribute or item was last told to hold. */
static bool
find_written(film_variables *variables, film_write *write, film_past_value *out)
{
    const film_event *event = write->event;
    film_recent_key at;

    if (is_item(event)) {
        return film_item_before(variables, write, out);
    }
    if (is_attribute(event)) {
        return film_attribute_before(variables, write, out);
    }
    at = address_of_write(variables, event);
    return at.key != 0 && give(film_recent_find(&variables->table, at), out);
}

void
film_past_renew(film_variables *variables, film_past_value *past)
{
    film_token token;
    uint64_t serial;

    film_past_read(past, &token);
    if (token.kind != FILM_TOKEN_VALUE) {
        return;
    }
    serial = film_serial_of(variables, &token);
    if (serial != 0 && film_content_record(variables, serial) > token.value) {
        (void)film_content_find(variables, serial, past);
    }
    film_content_doubt(variables, past);
}

bool
film_variables_before(film_variables *variables, const film_event *event,
                      film_past_value *out)
{
    film_write write;
    uint64_t serial;

    if (event->restored_length != 0) {
        note_restored(variables, event); /* that was before it */
    }
    film_write_read(event, &write);
    if (event->kind == FILM_KIND_CHANGE) {
        serial = film_serial_of(variables, &write.value.token);
        if (serial == 0 || !film_content_find(variables, serial, out)) {
            return false;
        }
        film_content_doubt(variables, out);
        return true;
    }
    if (!find_written(variables, &write, out)) {
        return false;
    }
    film_past_renew(variables, out); /* it may have been changed by another name */
    return true;
}

void
film_variables_pass(film_variables *variables, const film_event *event)
{
    film_past_value past;

    if (event->kind == FILM_KIND_SET || event->kind == FILM_KIND_DELETE ||
        event->kind == FILM_KIND_CHANGE) {
        film_buffer_clear(&variables->name);
        film_variables_name(variables, event, &variables->name, NULL);
        (void)film_variables_before(variables, event, &past);
    }
    film_variables_note(variables, event);
}

film_status
film_variables_text(film_variables *variables, const film_past_value *past,
                    size_t limit, film_text *out)
{
    film_token token;
    bool cut;

    film_past_read(past, &token);
    return film_token_text(variables->reader, &token, limit, out, &cut);
}
