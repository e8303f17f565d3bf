/* locals.h: what the variables of open and suspended frames hold, as rows tell it.
 * The sealing thread keeps it beside the state (state.h) to write it into keyframes;
 * readers do without: they look it up there.
 *
 * A frame's variables lie in a block, whose number its film_frame carries. A block
 * whose frame ended is used again. A frame that yields leaves its block under its
 * serial, to be taken up when it is resumed, in whichever thread that is.
 * A generator may be given up unseen: it is forgotten when that is found out; when there
 * are too many, those that sleep for longest are.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_LOCALS_H
#define FILMSTRIP_LOCALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buffer.h"
#include "format/cells.h"
#include "format/token.h"

/* Bounds: what is beyond is not kept, and then not known to readers. */
#define FILM_LOCALS_SLOTS 4096u
#define FILM_LOCALS_NAMES 1024u
#define FILM_LOCALS_BLOCKS (1u << 17)
#define FILM_LOCALS_CELLS (1u << 17)
#define FILM_LOCALS_BUCKETS 4096u

typedef struct film_local {
    uint8_t length; /* 0: no value */
    uint8_t bytes[FILM_TOKEN_MAX];
} film_local;

/* A name in the body of a class. */
typedef struct film_named_local {
    uint32_t name; /* string id */
    film_local value;
} film_named_local;

/* A variable that several frames share. */
typedef struct film_shared_cell {
    uint64_t cell;
    film_local value;
    uint64_t written; /* the epoch of the last write */
    uint32_t thread;  /* whose rows tell of it: others know it as another one */
    uint32_t holders; /* variables of frames that are it */
    uint32_t next;    /* + 1: of its bucket, or of the free ones */
} film_shared_cell;

typedef struct film_cell_slot {
    uint32_t slot;
    uint32_t cell; /* index in film_locals.cells */
} film_cell_slot;

typedef struct film_locals_block {
    film_local *slots; /* owned */
    uint32_t used, capacity;
    film_named_local *names; /* owned */
    size_t name_count, name_capacity;
    film_cell_slot
        *cells; /* owned: the slots that are shared, their values are there */
    uint32_t cell_count;
    size_t cell_capacity;
    uint64_t told;  /* the epoch of the keyframe that told it last */
    uint64_t epoch; /* of its suspension */
    uint32_t next_free;
} film_locals_block;

typedef struct film_suspended {
    uint64_t serial; /* 0: free, UINT64_MAX: was used */
    uint32_t block;
} film_suspended;

typedef struct film_locals {
    film_locals_block *blocks; /* owned; number 0 is not used */
    size_t count, capacity;
    uint32_t free;
    film_suspended *suspended; /* owned; a hash table, linear probing */
    size_t suspended_size, suspended_count, suspended_used;
    uint64_t epoch; /* counts chunks */
    film_buffer scratch;
    film_buffer resumed; /* frames suspended before this chunk and resumed in it */
    film_buffer resumed_cells;
    uint64_t resumed_count;
    film_shared_cell *cells; /* owned */
    size_t cell_count, cell_capacity;
    uint32_t free_cell; /* + 1 */
    uint32_t cell_buckets[FILM_LOCALS_BUCKETS];
    uint64_t lowest; /* value id told in a keyframe; UINT64_MAX: none */
    uint64_t floor;  /* lower ones are not told: a ring has dropped them */
} film_locals;

/* A chunk begins: nothing is resumed in it yet. */
void
film_locals_begin_chunk(film_locals *locals, uint64_t floor);

void
film_locals_reset(film_locals *locals);

/* A block for a new frame; 0: it is not kept. */
uint32_t
film_locals_new_block(film_locals *locals);

static inline uint32_t
film_locals_take(film_locals *locals)
{
    uint32_t block = locals->free;

    if (__builtin_expect(block == 0, 0)) {
        return film_locals_new_block(locals);
    }
    locals->free = locals->blocks[block].next_free;
    return block;
}

void
film_locals_drop_cells(film_locals *locals, film_locals_block *block);

/* The frame has ended. */
static inline void
film_locals_release(film_locals *locals, uint32_t block)
{
    if (block != 0) {
        film_locals_block *gone = &locals->blocks[block];
        if (__builtin_expect(gone->cell_count != 0, 0)) {
            film_locals_drop_cells(locals, gone);
        }
        gone->used = 0;
        gone->name_count = 0;
        gone->next_free = locals->free;
        locals->free = block;
    }
}

/* The frame yields; resume gives its block, or a new one if it is not known. */
void
film_locals_suspend(film_locals *locals, uint64_t serial, uint32_t block);

uint32_t
film_locals_resume(film_locals *locals, uint64_t serial);

/* A frame that was suspended is known to have ended. */
void
film_locals_forget(film_locals *locals, uint64_t serial);

/* The variable `slot` of the block was written: all that share it hold this now. */
void
film_locals_write_shared(film_locals *locals, const film_locals_block *block,
                         uint32_t slot);

/* Whether another frame has written to it since a keyframe told it. */
bool
film_locals_is_outdated(const film_locals *locals, uint32_t number);

/* A CELLS row of `thread` tells of a variable of block `number`; `holder`: the block of
 * the frame that has the same cell, 0: none. */
void
film_locals_bind_cell(film_locals *locals, uint32_t thread, uint32_t number,
                      uint32_t holder, const film_cell_told *told);

/* The variable `slot` of the block is another cell from now on; 0: none. */
void
film_locals_rebind_cell(film_locals *locals, uint32_t thread, uint32_t number,
                        uint32_t slot, uint64_t cell);

/* Appends the cells of a block as keyframes tell them; nothing if it has none. */
void
film_locals_put_cells(const film_locals *locals, uint32_t number, uint64_t serial,
                      film_buffer *out);

bool
film_locals_grow(film_locals_block *block, uint32_t slot);

/* The variable `slot` holds the value of this token. */
static inline void
film_locals_set(film_locals *locals, uint32_t number, uint32_t slot,
                const uint8_t *token, size_t length)
{
    film_locals_block *block;

    if (__builtin_expect(number == 0 || length > FILM_TOKEN_MAX, 0)) {
        return;
    }
    block = &locals->blocks[number];
    if (__builtin_expect(slot >= block->used, 0) && !film_locals_grow(block, slot)) {
        return;
    }
    block->slots[slot].length = (uint8_t)length;
    memcpy(block->slots[slot].bytes, token, length);
    if (__builtin_expect(block->cell_count != 0, 0)) {
        film_locals_write_shared(locals, block, slot);
    }
}

static inline void
film_locals_delete(film_locals *locals, uint32_t number, uint32_t slot)
{
    if (number != 0 && slot < locals->blocks[number].used) {
        locals->blocks[number].slots[slot].length = 0;
        film_locals_write_shared(locals, &locals->blocks[number], slot);
    }
}

/* The same for a name of a class body; length 0 deletes it. */
void
film_locals_set_name(film_locals *locals, uint32_t number, uint32_t name,
                     const uint8_t *token, size_t length);

/* The first `count` variables are these tokens: the arguments of a call. */
void
film_locals_set_arguments(film_locals *locals, uint32_t number, const uint8_t *tokens,
                          size_t length, uint32_t count);

/* Appends a block as keyframes tell it: number of variables, each: slot - last slot,
 * token; number of names, each: name, token. */
void
film_locals_put(film_locals *locals, uint32_t number, film_buffer *out);

/* Reading one of a keyframe: gives variables, then names, one by one. */
typedef struct film_locals_reader {
    film_input input;
    uint64_t slots_left, names_left;
    uint32_t slot;
    bool in_names;
} film_locals_reader;

void
film_locals_reader_begin(film_locals_reader *reader, film_input input);

/* False at its end (reader->input is behind it) or where it makes no sense
 * (input.failed). *number: a slot, or with *is_name a string id. The token is borrowed.
 */
bool
film_locals_reader_next(film_locals_reader *reader, bool *is_name, uint32_t *number,
                        const uint8_t **token, size_t *length);

#endif
