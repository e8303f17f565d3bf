/* content.h: what an object held at a moment, as a value record would tell it.
 * Value ids are given in the order in which records are made, in all threads: so the
 * newest record of an object not later than a moment is the one with the greatest id
 * below those told behind it, and recorded writes since then are added.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_CONTENT_H
#define FILMSTRIP_CONTENT_H

#include "analysis/timeline_state.h"
#include "format/value_record.h"

/* Writes to one object that are followed at most; behind them it is doubtful. */
#define FILM_CONTENT_WRITES 20000u

/* `record` (of any time) as it was at the moment; its items lie in `bytes`. *doubtful:
 * a write could not be followed. FILM_OK also where nothing newer is known. */
FILM_NODISCARD film_status
film_content_at(film_timeline *timeline, film_moment moment, uint64_t id,
                film_value_record *record, film_buffer *bytes, bool *doubtful,
                film_error *error);

/* One more than the greatest value id told at or before the moment. */
FILM_NODISCARD film_status
film_content_bound(film_timeline *timeline, film_moment moment, uint64_t *bound,
                   film_error *error);

/* Whether objects of this form can change as far as is recorded. */
bool
film_content_can_change(uint8_t form);

/* The items of a record, into timeline->items and *out. */
FILM_NODISCARD film_status
film_content_give(film_timeline *timeline, const film_value_record *record,
                  film_content *out, film_error *error);

/* content_records.c: the newest record of the object with an id from `least` up to, not
 * including, `bound`. FILM_END: none. */
FILM_NODISCARD film_status
film_content_newest(film_timeline *timeline, uint64_t serial, uint64_t least,
                    uint64_t bound, uint64_t *id, film_error *error);

/* content_writes.c: a write to an object. */
typedef struct film_object_write {
    film_moment moment;
    uint64_t time_ns;
    film_datum key;   /* items */
    film_datum value; /* length 0: deleted */
    uint32_t name;    /* attributes: string id; 0: an item */
    uint8_t effect;   /* film_item_effect */
    bool deleted;
} film_object_write;

typedef struct film_object_writes {
    film_object_write *items; /* owned */
    size_t count, capacity;
    bool more; /* there are too many, or the budget is spent */
} film_object_writes;

/* Writes to attributes (the last of each) or items (all, in order) of the object behind
 * the record `id` and not later than the moment. */
FILM_NODISCARD film_status
film_content_writes(film_timeline *timeline, film_moment moment, uint64_t serial,
                    uint64_t id, bool attributes, film_object_writes *out,
                    film_error *error);

#endif
