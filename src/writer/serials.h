/* serials.h: which object a value record is about, for the sealing thread, which sees
 * owners of writes as numbers of records. Bounded: the records sealed last, and those
 * that were asked for since. What is not known is told as such in the summary.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_SERIALS_H
#define FILMSTRIP_SERIALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

#define FILM_SERIALS_RECENT (1u << 16)
#define FILM_SERIALS_BUCKETS (1u << 13)
#define FILM_SERIALS_WAYS 4u
#define FILM_SERIALS_HOT 256u

typedef struct film_serial {
    uint64_t id; /* + 1; 0: free */
    uint64_t serial;
} film_serial;

typedef struct film_serials {
    film_serial *recent;                    /* owned; by id; NULL: not begun */
    film_serial (*held)[FILM_SERIALS_WAYS]; /* owned; latest first */
    film_serial hot[FILM_SERIALS_HOT];      /* asked for lately; stays in the cache */
    /* Of the chunk being sealed: new objects are a range, others are listed. */
    uint64_t greatest, greatest_before; /* serials of chunks so far, of those before */
    uint64_t *older;                    /* owned */
    size_t older_count, older_capacity;
    uint64_t lately[256];
} film_serials;

/* A chunk of values begins. */
void
film_serials_begin_chunk(film_serials *serials);

/* Appends the SERIALS section of its summary. */
void
film_serials_put(film_serials *serials, film_buffer *out);

/* False: memory is out, and nothing will be known. */
bool
film_serials_begin(film_serials *serials);

void
film_serials_reset(film_serials *serials);

void
film_serials_note_older(film_serials *serials, uint64_t serial);

/* The record `id` of the chunk is of that object. */
static inline void
film_serials_note(film_serials *serials, uint64_t id, uint64_t serial)
{
    if (serials->recent == NULL) {
        return;
    }
    serials->recent[id % FILM_SERIALS_RECENT] =
        (film_serial){.id = id + 1, .serial = serial};
    if (serial > serials->greatest) {
        serials->greatest = serial;
    }
    else if (serial <= serials->greatest_before &&
             serials->lately[serial % 256] != serial) {
        film_serials_note_older(serials, serial);
    }
}

uint64_t
film_serials_look(film_serials *serials, uint64_t id);

/* 0: not known. */
static inline uint64_t
film_serials_of(film_serials *serials, uint64_t id)
{
    const film_serial *hot = &serials->hot[id % FILM_SERIALS_HOT];

    return hot->id == id + 1 ? hot->serial : film_serials_look(serials, id);
}

#endif
