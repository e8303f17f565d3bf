/* arena.h: the windows of a recording: mapped 256 KiB pieces of the file, handed to
 * streams and taken back.
 *
 * The first arena (32 windows of sparse file) lies behind the superblock; when it is
 * used up, WINDOWS chunks in the log bring more. Where mapping is refused, windows are
 * heap memory that film_arena_flush copies to their place in the file. A ring whose
 * arena is used up goes on with heap memory alone: that works, but does not survive a
 * crash.
 * Windows that come back are used again; beyond FILM_ARENA_SPARE of them their memory
 * and their blocks of the file are given back at once: a thousand threads that have
 * ended leave places in the file, nothing else.
 * Threads: any; an own lock guards the free list.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_ARENA_H
#define FILMSTRIP_ARENA_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <filmstrip/status.h>

#include "format/window.h"
#include "writer/log.h"
#include "writer/sink.h"

#define FILM_ARENA_WINDOWS 32u
#define FILM_ARENA_SPARE 32u

typedef struct film_window film_window;
struct film_window {
    film_window_header *header; /* owned by the arena: mapping or heap; NULL: a place
                                   in the file without memory */
    uint64_t offset;            /* in the file; 0: heap only */
    uint64_t generation;        /* while it has no memory: its header's */
    uint64_t end;               /* events or records when it was left, set then */
    uint64_t position;          /* bytes the sealing thread has taken */
    uint64_t flushed;           /* bytes film_arena_flush has written */
    uint64_t value_floor;       /* the lowest value id its rows may refer to */
    bool mapped;
    bool taken;
    film_window *next; /* in a stream's queue, or in the free list */
    film_window *next_made, *previous_made; /* all windows, for flush and release */
};

typedef struct film_arena {
    film_sink *sink; /* borrowed */
    film_log *log;   /* borrowed */
    pthread_mutex_t lock;
    bool may_map;           /* false once mapping was refused */
    film_status refusal;    /* why the last take gave nothing */
    uint64_t next_offset;   /* where the next window of the current piece lies */
    uint64_t piece_end;     /* end of the current piece of the file */
    uint64_t sequence;      /* of the next window handed out */
    film_window *free_list; /* owned */
    size_t free_count;      /* in it */
    film_window *places;    /* owned; free too, without memory */
    film_window *made;      /* owned; all windows */
} film_arena;

FILM_NODISCARD film_status
film_arena_init(film_arena *arena, film_sink *sink, film_log *log, uint64_t offset,
                uint64_t bytes, bool may_map);

/* Where a stream stands when it begins a window (window.h says what each is). */
typedef struct film_window_start {
    uint64_t first, base_raw, next_frame, last_resumed;
} film_window_start;

/* A window with an empty, valid header for `stream`; NULL, arena->refusal saying why:
 * no memory, no disk, or FILM_LIMIT: a ring's arena is used up. With `any` that last
 * one is answered with a window of heap memory alone. */
film_window *
film_arena_take(film_arena *arena, uint32_t stream, const film_window_start *start,
                bool any);

void
film_arena_give(film_arena *arena, film_window *window);

/* Writes what unmapped windows have committed since the last time. */
FILM_NODISCARD film_status
film_arena_flush(film_arena *arena);

/* Unmaps and frees everything; the file is left as it is. */
void
film_arena_reset(film_arena *arena);

#endif
