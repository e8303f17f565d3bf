/* postings.h: the summaries of chunks in memory, and which chunks can hold what a
 * search looks for. Each is read when it is first asked for, so that a search may stop
 * between any two: some 500 bytes and 5 us a chunk.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_POSTINGS_H
#define FILMSTRIP_POSTINGS_H

#include <filmstrip/reader.h>

#include "base/buffer.h"
#include "format/touched.h"

typedef enum film_wanted_kind {
    FILM_WANTED_LINE, /* a line that begins at a place from `number` to `last` of `code`
                       */
    FILM_WANTED_SLOT, /* a set or delete of local `number` of `code` */
    FILM_WANTED_CALL, /* a call of `code` */
    FILM_WANTED_CODE, /* anything in a frame of `code` */
    FILM_WANTED_WRITE, /* `number` = name (FILM_ANY_NAME: any), `write` =
                          film_touched_kind, of `serial` */
    FILM_WANTED_EVENT  /* an event of kind `number` */
} film_wanted_kind;

#define FILM_ANY_NAME UINT32_MAX

typedef struct film_wanted {
    film_wanted_kind kind;
    uint32_t code, number, last;
    film_touched_kind write;
    uint64_t serial; /* WRITE: 0: of any object */
} film_wanted;

/* What a chunk must hold one of. */
typedef struct film_filter {
    const film_wanted *wanted; /* borrowed */
    size_t count;              /* 0: any chunk may hold it */
    uint32_t shallower;        /* not 0: chunks whose stack is never shallower than this
                                  are passed over */
} film_filter;

typedef struct film_posting {
    size_t offset, length; /* of its summary; length 0: nothing is known */
    uint32_t chunk;        /* in the reader's directory + 1; 0: none, or it is read */
} film_posting;

typedef struct film_thread_postings {
    uint32_t thread;
    uint64_t first_block;
    film_posting *blocks; /* owned */
    size_t count, capacity;
} film_thread_postings;

typedef struct film_postings {
    film_reader *reader; /* borrowed */
    film_buffer bytes;
    film_thread_postings *threads; /* owned; as the reader's */
    size_t thread_count;
    bool loaded;
} film_postings;

/* To be called before anything else is asked, and after a refresh: finds the chunks. */
FILM_NODISCARD film_status
film_postings_load(film_postings *postings, film_reader *reader, film_error *error);

void
film_postings_reset(film_postings *postings);

/* Whether the block can hold what the filter wants. True where nothing is known. */
bool
film_postings_may_hold(film_postings *postings, uint32_t thread, uint64_t block,
                       const film_filter *filter);

/* The summary of a block, borrowed until the next call of any function here; length 0:
 * none. */
const uint8_t *
film_postings_summary(film_postings *postings, uint32_t thread, uint64_t block,
                      size_t *length);

/* How many events of a kind, calls of a code the block has; false: not known. */
bool
film_postings_count_kind(film_postings *postings, uint32_t thread, uint64_t block,
                         uint8_t kind, uint64_t *count);

bool
film_postings_count_calls(film_postings *postings, uint32_t thread, uint64_t block,
                          uint32_t code, uint64_t *count);

/* Calls `found` for each attribute (or global) written: its name, and whether `serial`
 * may be an owner. False: the block does not say. */
bool
film_postings_writes(film_postings *postings, uint32_t thread, uint64_t block,
                     uint64_t serial,
                     void (*found)(void *context, film_touched_kind kind, uint32_t name,
                                   bool may_own),
                     void *context);

#endif
