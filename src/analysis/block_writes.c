/* block_writes.c: see block_writes.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/block_writes.h"

#include <string.h>

#include "base/alloc.h"
#include "format/chunk.h"
#include "format/columns.h"
#include "format/token.h"
#include "reader/render.h"

static void
forget(film_writes_lists *lists, film_writes_list *list)
{
    lists->bytes -= list->bytes;
    film_free(list->items);
    film_buffer_reset(&list->tokens);
    memset(list, 0, sizeof(*list));
}

void
film_writes_lists_reset(film_writes_lists *lists)
{
    for (size_t i = 0; lists->lists != NULL && i < FILM_BLOCK_WRITES; i++) {
        forget(lists, &lists->lists[i]);
    }
    film_free(lists->lists);
    memset(lists, 0, sizeof(*lists));
}

/* Those not used for longest make room. */
static void
make_room(film_writes_lists *lists)
{
    while (lists->bytes > FILM_BLOCK_WRITES_BYTES) {
        film_writes_list *oldest = NULL;
        for (size_t i = 0; i < FILM_BLOCK_WRITES; i++) {
            film_writes_list *other = &lists->lists[i];
            if (other->thread != 0 && (oldest == NULL || other->used < oldest->used)) {
                oldest = other;
            }
        }
        if (oldest == NULL) {
            return;
        }
        forget(lists, oldest);
    }
}

static uint64_t
serial_of(film_reader *reader, const film_token *owner)
{
    if (owner->kind == FILM_TOKEN_CYCLE) {
        return owner->value;
    }
    return owner->kind == FILM_TOKEN_VALUE || owner->kind == FILM_TOKEN_OBJECT
               ? film_reader_serial(reader, owner->value)
               : 0;
}

/* A set or delete as its row tells it. */
typedef struct told_write {
    uint64_t number, time_ns;
    const uint8_t *tokens;
    size_t length;
    uint32_t about; /* the number of its head */
    uint8_t form;
    bool deleted;
} told_write;

/* Writes whose effect is not known are left out, as scenes do. */
static bool
add_write(film_writes_list *list, film_reader *reader, const told_write *told)
{
    film_input input = film_input_of(told->tokens, told->length);
    film_token owner;
    uint64_t serial;
    film_block_write *items;

    if (told->form != FILM_SET_ATTRIBUTE && told->form != FILM_SET_ITEM) {
        return true;
    }
    owner = film_token_decode(&input);
    serial = input.failed ? 0 : serial_of(reader, &owner);
    if (serial == 0 || film_input_left(&input) > UINT16_MAX ||
        list->tokens.length > UINT32_MAX / 2) {
        return true;
    }
    items = film_grow(list->items, &list->capacity, list->count + 1, sizeof(*items));
    if (items == NULL) {
        return false;
    }
    list->items = items;
    items[list->count++] = (film_block_write){
        .serial = serial,
        .time_ns = told->time_ns,
        .index = (uint32_t)(told->number - (list->block << FILM_CHUNK_SHIFT)),
        .name = told->form == FILM_SET_ATTRIBUTE ? told->about : 0,
        .effect = told->form == FILM_SET_ITEM ? (uint8_t)told->about : 0,
        .tokens = (uint32_t)list->tokens.length,
        .length = (uint16_t)film_input_left(&input),
        .deleted = told->deleted};
    film_buffer_append(&list->tokens, input.at, film_input_left(&input));
    return !list->tokens.failed;
}

/* By a cursor: whatever the block is like. */
static film_status
read_events(film_reader *reader, film_writes_list *list, film_error *error)
{
    uint64_t end = (list->block + 1) << FILM_CHUNK_SHIFT;
    film_cursor *cursor;
    const film_event *event;
    film_status status;

    FILM_TRY(film_cursor_open(reader, list->thread, list->block << FILM_CHUNK_SHIFT,
                              &cursor, error));
    while ((status = film_cursor_next(cursor, &event, error)) == FILM_OK &&
           event->number < end) {
        told_write told = {.number = event->number,
                           .time_ns = event->time_ns,
                           .tokens = event->tokens,
                           .length = event->tokens_length,
                           .about = film_set_is_named(event->form) ? event->name
                                                                   : event->slot,
                           .form = event->form,
                           .deleted = event->kind == FILM_KIND_DELETE};

        if ((event->kind == FILM_KIND_SET || event->kind == FILM_KIND_DELETE) &&
            !add_write(list, reader, &told)) {
            status = film_fail(error, FILM_NO_MEMORY, "memory ran out");
            break;
        }
    }
    film_cursor_close(cursor);
    return status == FILM_END ? FILM_OK : status;
}

/* A row of a chunk, at *told's number and time. False: memory is out. */
static bool
take_row(film_writes_list *list, film_reader *reader, const film_row *row,
         told_write *told)
{
    film_input body;
    uint64_t head = row->head;

    told->tokens = row->tokens;
    told->length = row->tokens_length;
    told->deleted = row->kind == FILM_KIND_DELETE;
    if (told->deleted) {
        body = film_input_of(row->body, row->body_length);
        head = film_input_varint(&body);
        if (body.failed) {
            return true;
        }
        told->tokens = body.at;
        told->length = film_input_left(&body);
    }
    told->form = head & 7;
    told->about = (uint32_t)(head >> FILM_SET_SHIFT);
    return add_write(list, reader, told);
}

/* The rows of a chunk as they are, without the stack: several times as quick. FILM_END:
 * that cannot be done, perhaps half of it is. */
static film_status
read_rows(film_reader *reader, const film_chunk_info *chunk, film_writes_list *list,
          film_buffer *raw)
{
    film_column_reader columns;
    told_write told = {.number = chunk->first};
    film_input keyframe;
    film_row row;
    film_status status;
    uint64_t tick;

    if (film_loader_load(&reader->loader, chunk) != FILM_OK ||
        film_loader_keyframe(&reader->loader, raw) != FILM_OK) {
        return FILM_END;
    }
    keyframe = film_input_of(raw->data, raw->length);
    (void)film_input_varint(&keyframe); /* number of its first event */
    tick = film_input_varint(&keyframe);
    if (keyframe.failed || film_loader_payload(&reader->loader, raw) != FILM_OK ||
        film_column_reader_init(&columns, raw->data, raw->length) != FILM_OK) {
        return FILM_END;
    }
    while ((status = film_column_reader_next(&columns, &row)) == FILM_OK) {
        tick += row.delta;
        told.time_ns = film_reader_ticks_to_ns(reader, tick);
        if ((row.kind == FILM_KIND_SET || row.kind == FILM_KIND_DELETE) &&
            !take_row(list, reader, &row, &told)) {
            return FILM_NO_MEMORY;
        }
        told.number += row.kind < FILM_KIND_ADOPT;
    }
    return status == FILM_END && told.number == chunk->first + chunk->count ? FILM_OK
                                                                            : FILM_END;
}

static const film_chunk_info *
chunk_of(const film_reader *reader, uint32_t thread, uint64_t block)
{
    const film_track *track = film_tracks_find(&reader->tracks, thread);
    size_t low = 0, high = track == NULL ? 0 : track->chunk_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const film_chunk_info *chunk = &reader->directory.chunks[track->chunks[middle]];
        if (chunk->first == block << FILM_CHUNK_SHIFT) {
            return chunk;
        }
        if (chunk->first < block << FILM_CHUNK_SHIFT) {
            low = middle + 1;
        }
        else {
            high = middle;
        }
    }
    return NULL;
}

static film_status
read_block(film_reader *reader, film_writes_list *list, film_error *error)
{
    const film_chunk_info *chunk = chunk_of(reader, list->thread, list->block);
    film_buffer raw = {0};
    film_status status = FILM_END;

    if (chunk != NULL && chunk->count == FILM_CHUNK_EVENTS) {
        status = read_rows(reader, chunk, list, &raw);
    }
    film_buffer_reset(&raw);
    if (status == FILM_END) {
        list->count = 0;
        film_buffer_clear(&list->tokens);
        return read_events(reader, list, error);
    }
    return status == FILM_OK ? FILM_OK : film_fail(error, status, "memory ran out");
}

film_status
film_writes_of_block(film_writes_lists *lists, film_reader *reader, uint32_t thread,
                     uint64_t block, const film_writes_list **out, film_error *error)
{
    film_writes_list *list;
    film_status status;

    if (lists->lists == NULL) {
        lists->lists = film_alloc_array(FILM_BLOCK_WRITES, sizeof(*lists->lists));
        if (lists->lists == NULL) {
            return film_fail(error, FILM_NO_MEMORY, "memory ran out");
        }
    }
    /* Blocks of a thread follow one another: neighbours have places of their own. */
    list = &lists->lists[(block + (uint64_t)thread * 131) % FILM_BLOCK_WRITES];
    if (list->thread != thread || list->block != block) {
        forget(lists, list);
        make_room(lists);
        list->thread = thread;
        list->block = block;
        lists->made++;
        status = read_block(reader, list, error);
        list->bytes = list->capacity * sizeof(*list->items) + list->tokens.capacity;
        lists->bytes += list->bytes;
        if (status != FILM_OK) {
            forget(lists, list);
            return status;
        }
    }
    list->used = ++lists->clock;
    *out = list;
    return FILM_OK;
}
