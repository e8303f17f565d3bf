/* locals_cells.c: variables that several frames share, as the sealing thread keeps them
 * (locals.h). A shared value lives as long as a frame that it knows holds it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "format/locals.h"

static uint32_t *
bucket_of(film_locals *locals, uint32_t thread, uint64_t cell)
{
    uint64_t hash = (cell + ((uint64_t)thread << 40)) * 0x9E3779B97F4A7C15u;

    return &locals->cell_buckets[hash >> 52 & (FILM_LOCALS_BUCKETS - 1)];
}

static film_shared_cell *
find_cell(film_locals *locals, uint32_t thread, uint64_t cell)
{
    uint32_t at = locals->cells == NULL ? 0 : *bucket_of(locals, thread, cell);

    while (at != 0) {
        film_shared_cell *found = &locals->cells[at - 1];
        if (found->cell == cell && found->thread == thread) {
            return found;
        }
        at = found->next;
    }
    return NULL;
}

/* NULL: there are too many, or memory is out. */
static film_shared_cell *
new_cell(film_locals *locals, uint32_t thread, uint64_t cell)
{
    uint32_t at = locals->free_cell, *bucket;
    film_shared_cell *made;

    if (at == 0) {
        if (locals->cell_count >= FILM_LOCALS_CELLS) {
            return NULL;
        }
        made = film_grow(locals->cells, &locals->cell_capacity, locals->cell_count + 1,
                         sizeof(*made));
        if (made == NULL) {
            return NULL;
        }
        locals->cells = made;
        at = (uint32_t)++locals->cell_count;
    }
    else {
        locals->free_cell = locals->cells[at - 1].next;
    }
    made = &locals->cells[at - 1];
    memset(made, 0, sizeof(*made));
    bucket = bucket_of(locals, thread, cell);
    made->cell = cell;
    made->thread = thread;
    made->next = *bucket;
    *bucket = at;
    return made;
}

static void
let_go(film_locals *locals, film_shared_cell *cell)
{
    uint32_t at = (uint32_t)(cell - locals->cells) + 1, *link;

    if (--cell->holders > 0) {
        return;
    }
    link = bucket_of(locals, cell->thread, cell->cell);
    while (*link != at) {
        link = &locals->cells[*link - 1].next;
    }
    *link = cell->next;
    cell->next = locals->free_cell;
    locals->free_cell = at;
}

void
film_locals_drop_cells(film_locals *locals, film_locals_block *block)
{
    for (uint32_t i = 0; i < block->cell_count; i++) {
        let_go(locals, &locals->cells[block->cells[i].cell]);
    }
    block->cell_count = 0;
}

void
film_locals_write_shared(film_locals *locals, const film_locals_block *block,
                         uint32_t slot)
{
    for (uint32_t i = 0; i < block->cell_count; i++) {
        if (block->cells[i].slot == slot) {
            film_shared_cell *cell = &locals->cells[block->cells[i].cell];
            cell->value = block->slots[slot];
            cell->written = locals->epoch;
        }
    }
}

bool
film_locals_is_outdated(const film_locals *locals, uint32_t number)
{
    const film_locals_block *block = number == 0 ? NULL : &locals->blocks[number];

    for (uint32_t i = 0; block != NULL && i < block->cell_count; i++) {
        if (locals->cells[block->cells[i].cell].written >= block->told) {
            return true;
        }
    }
    return false;
}

/* The variable `slot` of the block is this cell from now on. */
static bool
bind_cell(film_locals *locals, film_locals_block *block, uint32_t slot,
          film_shared_cell *cell)
{
    uint32_t number = (uint32_t)(cell - locals->cells);
    film_cell_slot *cells;

    if (slot >= block->used && !film_locals_grow(block, slot)) {
        return false;
    }
    for (uint32_t i = 0; i < block->cell_count; i++) {
        if (block->cells[i].slot == slot) { /* a comprehension has made a new one */
            uint32_t before = block->cells[i].cell;
            cell->holders++;
            block->cells[i].cell = number;
            let_go(locals, &locals->cells[before]);
            return true;
        }
    }
    cells = film_grow(block->cells, &block->cell_capacity,
                      (size_t)block->cell_count + 1, sizeof(*cells));
    if (cells == NULL) {
        return false;
    }
    block->cells = cells;
    cells[block->cell_count++] = (film_cell_slot){.slot = slot, .cell = number};
    cell->holders++;
    return true;
}

/* The variable `slot` of the block is none from now on; `cell`: if it is this one. */
static void
unbind(film_locals *locals, film_locals_block *block, uint32_t slot,
       const film_shared_cell *cell)
{
    for (uint32_t i = 0; i < block->cell_count; i++) {
        film_shared_cell *bound = &locals->cells[block->cells[i].cell];
        if (block->cells[i].slot == slot && (cell == NULL || cell == bound)) {
            block->cells[i] = block->cells[--block->cell_count];
            let_go(locals, bound);
            return;
        }
    }
}

void
film_locals_rebind_cell(film_locals *locals, uint32_t thread, uint32_t number,
                        uint32_t slot, uint64_t cell)
{
    film_shared_cell *found = NULL;

    if (number == 0) {
        return;
    }
    if (cell != 0 && (found = find_cell(locals, thread, cell)) == NULL) {
        found = new_cell(locals, thread, cell);
    }
    if (found == NULL) {
        unbind(locals, &locals->blocks[number], slot, NULL);
        return;
    }
    found->holders++; /* while it is worked on */
    (void)bind_cell(locals, &locals->blocks[number], slot, found);
    let_go(locals, found);
}

void
film_locals_bind_cell(film_locals *locals, uint32_t thread, uint32_t number,
                      uint32_t holder, const film_cell_told *told)
{
    film_shared_cell *cell = find_cell(locals, thread, told->cell);
    bool held = told->flags == FILM_CELL_HELD && holder != 0;

    if (number == 0 ||
        (cell == NULL && (cell = new_cell(locals, thread, told->cell)) == NULL)) {
        return;
    }
    cell->holders++; /* while it is worked on */
    if (held) {
        film_locals_block *other = &locals->blocks[holder];
        if (told->holder_slot < other->used && cell->holders == 1) {
            cell->value = other->slots[told->holder_slot];
        }
        (void)bind_cell(locals, other, told->holder_slot, cell);
    }
    else if (told->flags == 0 && cell->holders == 1) { /* the frame has made it */
        const film_locals_block *own = &locals->blocks[number];
        if (told->slot < own->used) {
            cell->value = own->slots[told->slot];
        }
    }
    else if (holder != 0 && (told->flags & FILM_CELL_HELD) != 0) {
        unbind(locals, &locals->blocks[holder], told->holder_slot, cell);
    }
    if ((told->flags & FILM_CELL_VALUE) != 0 && told->token_length <= FILM_TOKEN_MAX) {
        cell->value.length =
            told->token[0] == FILM_TOKEN_UNBOUND ? 0 : (uint8_t)told->token_length;
        memcpy(cell->value.bytes, told->token, told->token_length);
        cell->written = locals->epoch;
    }
    (void)bind_cell(locals, &locals->blocks[number], told->slot, cell);
    let_go(locals, cell);
}

void
film_locals_put_cells(const film_locals *locals, uint32_t number, uint64_t serial,
                      film_buffer *out)
{
    const film_locals_block *block = number == 0 ? NULL : &locals->blocks[number];

    if (block == NULL || block->cell_count == 0) {
        return;
    }
    film_buffer_put_varint(out, serial);
    film_buffer_put_varint(out, block->cell_count);
    for (uint32_t i = 0; i < block->cell_count; i++) {
        film_buffer_put_varint(out, block->cells[i].slot);
        film_buffer_put_varint(out, locals->cells[block->cells[i].cell].cell);
    }
}
