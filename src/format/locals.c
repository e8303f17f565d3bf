/* locals.c: see locals.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/locals.h"

#include "base/alloc.h"

#define WAS_USED UINT64_MAX
#define LEAST_TABLE 64u

void
film_locals_begin_chunk(film_locals *locals, uint64_t floor)
{
    locals->epoch++;
    locals->resumed_count = 0;
    locals->lowest = UINT64_MAX;
    locals->floor = floor;
    film_buffer_clear(&locals->resumed);
    film_buffer_clear(&locals->resumed_cells);
}

void
film_locals_reset(film_locals *locals)
{
    for (size_t i = 0; i < locals->count; i++) {
        film_free(locals->blocks[i].slots);
        film_free(locals->blocks[i].names);
        film_free(locals->blocks[i].cells);
    }
    film_free(locals->blocks);
    film_free(locals->suspended);
    film_free(locals->cells);
    film_buffer_reset(&locals->resumed_cells);
    film_buffer_reset(&locals->resumed);
    film_buffer_reset(&locals->scratch);
    memset(locals, 0, sizeof(*locals));
}

/* Forgets the suspended frames that sleep longer than most. */
static void
forget_sleepers(film_locals *locals)
{
    uint64_t sum = 0, least;

    for (size_t i = 0; i < locals->suspended_size; i++) {
        const film_suspended *entry = &locals->suspended[i];
        if (entry->serial != 0 && entry->serial != WAS_USED) {
            sum += locals->epoch - locals->blocks[entry->block].epoch;
        }
    }
    least = locals->suspended_count == 0 ? 0 : sum / locals->suspended_count;
    for (size_t i = 0; i < locals->suspended_size; i++) {
        film_suspended *entry = &locals->suspended[i];
        if (entry->serial != 0 && entry->serial != WAS_USED &&
            locals->epoch - locals->blocks[entry->block].epoch >= least) {
            film_locals_release(locals, entry->block);
            entry->serial = WAS_USED;
            locals->suspended_count--;
        }
    }
}

uint32_t
film_locals_new_block(film_locals *locals)
{
    size_t first = locals->count == 0; /* number 0 is not given away */
    film_locals_block *blocks;

    if (locals->count >= FILM_LOCALS_BLOCKS) {
        uint32_t block;
        forget_sleepers(locals);
        block = locals->free;
        if (block != 0) {
            locals->free = locals->blocks[block].next_free;
        }
        return block;
    }
    blocks = film_grow(locals->blocks, &locals->capacity, locals->count + first + 1,
                       sizeof(*blocks));
    if (blocks == NULL) {
        return 0;
    }
    locals->blocks = blocks;
    memset(&blocks[locals->count], 0, (first + 1) * sizeof(*blocks));
    locals->count += first + 1;
    return (uint32_t)(locals->count - 1);
}

bool
film_locals_grow(film_locals_block *block, uint32_t slot)
{
    if (slot >= FILM_LOCALS_SLOTS) {
        return false;
    }
    if (slot >= block->capacity) {
        uint32_t capacity = block->capacity == 0 ? 4 : block->capacity;
        film_local *slots;
        while (capacity <= slot) {
            capacity *= 2;
        }
        slots = film_realloc(block->slots, capacity * sizeof(*slots));
        if (slots == NULL) {
            return false;
        }
        block->slots = slots;
        block->capacity = capacity;
    }
    while (block->used <= slot) {
        block->slots[block->used++].length = 0;
    }
    return true;
}

/* --- suspended frames --- */

static size_t
place_of(const film_locals *locals, uint64_t serial)
{
    return (size_t)(serial * 0x9E3779B97F4A7C15u >> 20) & (locals->suspended_size - 1);
}

/* Makes room for one more: a table at most three quarters full, also counting used
 * places. */
static bool
make_room(film_locals *locals)
{
    film_suspended *old = locals->suspended;
    size_t old_size = locals->suspended_size, size = LEAST_TABLE;

    if ((locals->suspended_used + 1) * 4 <= old_size * 3) {
        return true;
    }
    while (size < (locals->suspended_count + 1) * 2) {
        size *= 2;
    }
    locals->suspended = film_alloc_array(size, sizeof(*old));
    if (locals->suspended == NULL) {
        locals->suspended = old;
        return false;
    }
    locals->suspended_size = size;
    locals->suspended_used = locals->suspended_count;
    for (size_t i = 0; i < old_size; i++) {
        if (old[i].serial != 0 && old[i].serial != WAS_USED) {
            size_t at = place_of(locals, old[i].serial);
            while (locals->suspended[at].serial != 0) {
                at = (at + 1) & (size - 1);
            }
            locals->suspended[at] = old[i];
        }
    }
    film_free(old);
    return true;
}

void
film_locals_suspend(film_locals *locals, uint64_t serial, uint32_t block)
{
    size_t at;

    if (block == 0) {
        return;
    }
    if (serial == 0 || serial == WAS_USED || !make_room(locals)) {
        film_locals_release(locals, block);
        return;
    }
    locals->blocks[block].epoch = locals->epoch;
    at = place_of(locals, serial);
    while (locals->suspended[at].serial != 0 &&
           locals->suspended[at].serial != serial) {
        at = (at + 1) & (locals->suspended_size - 1);
    }
    if (locals->suspended[at].serial == serial) {
        film_locals_release(locals, locals->suspended[at].block);
    }
    else {
        locals->suspended_count++;
        locals->suspended_used++;
    }
    locals->suspended[at] = (film_suspended){.serial = serial, .block = block};
}

static uint32_t
take_suspended(film_locals *locals, uint64_t serial)
{
    size_t at;

    if (locals->suspended_size == 0 || serial == 0 || serial == WAS_USED) {
        return 0;
    }
    at = place_of(locals, serial);
    while (locals->suspended[at].serial != 0) {
        if (locals->suspended[at].serial == serial) {
            locals->suspended[at].serial = WAS_USED;
            locals->suspended_count--;
            return locals->suspended[at].block;
        }
        at = (at + 1) & (locals->suspended_size - 1);
    }
    return 0;
}

void
film_locals_forget(film_locals *locals, uint64_t serial)
{
    film_locals_release(locals, take_suspended(locals, serial));
}

uint32_t
film_locals_resume(film_locals *locals, uint64_t serial)
{
    uint32_t block = take_suspended(locals, serial);

    if (block == 0) {
        return film_locals_take(locals);
    }
    if (locals->blocks[block].epoch != locals->epoch) {
        film_buffer_put_varint(&locals->resumed, serial);
        film_locals_put(locals, block, &locals->resumed);
        film_locals_put_cells(locals, block, serial, &locals->resumed_cells);
        locals->resumed_count++;
    }
    return block;
}

/* --- writes --- */

void
film_locals_set_name(film_locals *locals, uint32_t number, uint32_t name,
                     const uint8_t *token, size_t length)
{
    film_locals_block *block;
    film_named_local *names;
    size_t at = 0;

    if (number == 0 || length > FILM_TOKEN_MAX) {
        return;
    }
    block = &locals->blocks[number];
    while (at < block->name_count && block->names[at].name != name) {
        at++;
    }
    if (at == block->name_count) {
        if (length == 0 || at >= FILM_LOCALS_NAMES) {
            return;
        }
        names = film_grow(block->names, &block->name_capacity, at + 1, sizeof(*names));
        if (names == NULL) {
            return;
        }
        block->names = names;
        block->name_count++;
        names[at].name = name;
    }
    block->names[at].value.length = (uint8_t)length;
    if (length > 0) {
        memcpy(block->names[at].value.bytes, token, length);
    }
}

void
film_locals_set_arguments(film_locals *locals, uint32_t number, const uint8_t *tokens,
                          size_t length, uint32_t count)
{
    film_input input = film_input_of(tokens, length);

    for (uint32_t slot = 0; slot < count; slot++) {
        const uint8_t *from = input.at;
        film_tokens_skip(&input, 1);
        if (input.failed) {
            return;
        }
        film_locals_set(locals, number, slot, from, (size_t)(input.at - from));
    }
}

/* --- keyframes --- */

/* A token, or that it is not known where a ring no longer has its value. */
static void
put_value(film_locals *locals, const film_local *value, film_buffer *out)
{
    if (value->bytes[0] == FILM_TOKEN_VALUE || value->bytes[0] == FILM_TOKEN_OBJECT) {
        film_input input = film_input_of(value->bytes + 1, value->length - 1u);
        uint64_t id = film_input_varint(&input);
        if (id < locals->floor) {
            film_buffer_put_byte(out, FILM_TOKEN_UNBOUND);
            return;
        }
        if (id < locals->lowest) {
            locals->lowest = id;
        }
    }
    film_buffer_append(out, value->bytes, value->length);
}

/* Others may have written to what it shares. */
static void
read_shared(const film_locals *locals, uint32_t number)
{
    film_locals_block *block = &locals->blocks[number];

    for (uint32_t i = 0; i < block->cell_count; i++) {
        block->slots[block->cells[i].slot] = locals->cells[block->cells[i].cell].value;
    }
    block->told = locals->epoch;
}

void
film_locals_put(film_locals *locals, uint32_t number, film_buffer *out)
{
    const film_locals_block *block = number == 0 ? NULL : &locals->blocks[number];
    uint64_t slots = 0, names = 0;
    uint32_t last = 0;

    if (block != NULL && block->cell_count != 0) {
        read_shared(locals, number);
    }
    for (uint32_t i = 0; block != NULL && i < block->used; i++) {
        slots += block->slots[i].length != 0;
    }
    film_buffer_put_varint(out, slots);
    for (uint32_t i = 0; block != NULL && i < block->used; i++) {
        if (block->slots[i].length != 0) {
            film_buffer_put_varint(out, i - last);
            put_value(locals, &block->slots[i], out);
            last = i;
        }
    }
    for (size_t i = 0; block != NULL && i < block->name_count; i++) {
        names += block->names[i].value.length != 0;
    }
    film_buffer_put_varint(out, names);
    for (size_t i = 0; block != NULL && i < block->name_count; i++) {
        if (block->names[i].value.length != 0) {
            film_buffer_put_varint(out, block->names[i].name);
            put_value(locals, &block->names[i].value, out);
        }
    }
}

void
film_locals_reader_begin(film_locals_reader *reader, film_input input)
{
    memset(reader, 0, sizeof(*reader));
    reader->input = input;
    reader->slots_left = film_input_varint(&reader->input);
}

bool
film_locals_reader_next(film_locals_reader *reader, bool *is_name, uint32_t *number,
                        const uint8_t **token, size_t *length)
{
    film_input *input = &reader->input;

    if (!reader->in_names && reader->slots_left == 0) {
        reader->in_names = true;
        reader->names_left = film_input_varint(input);
    }
    if (input->failed || (reader->in_names && reader->names_left == 0)) {
        return false;
    }
    *is_name = reader->in_names;
    if (reader->in_names) {
        reader->names_left--;
        *number = film_input_varint32(input);
    }
    else {
        reader->slots_left--;
        reader->slot += film_input_varint32(input);
        *number = reader->slot;
    }
    *token = input->at;
    film_tokens_skip(input, 1);
    *length = (size_t)(input->at - *token);
    return !input->failed;
}
