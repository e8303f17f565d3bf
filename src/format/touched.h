/* touched.h: which lines ran and what was written in a chunk, so that searches pass
 * over chunks that cannot hold what they look for. Gathered by the sealing thread,
 * written as sections of the summary (summary.h):
 *
 *   5 LINES   for each code with lines: code - last code, number of places, each:
 *             place - last place: where a line began
 *   6 SLOTS   for each code whose locals were set or deleted: code - last code, number,
 *             each: slot - last slot. Arguments are not among them: FUNCTIONS has calls
 *   7 WRITES  for each thing written: name << 3 | unknown << 2 | kind, number of ranges,
 *             each: first serial - end of the range before, length - 1. Kinds: 0
 *             attribute `name`, 1 item, 2 change in place, 3 global `name` (no ranges).
 *             The ranges hold the serial of every owner, and others where there are
 *             many; unknown: there are owners that they do not hold
 *   8 MARKS   value ids that the thread's events before the chunk refer to (one more
 *             than the greatest), flags (1: the stack was adjusted: focus, drop, adopt)
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_TOUCHED_H
#define FILMSTRIP_TOUCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* Ranges of serials an entry has at most. The entry of items, of which there is one a
 * chunk, has more where they hold nothing else: what a dict holds is put together from
 * all writes to it, so chunks that have none are to be known. */
#define FILM_TOUCHED_RANGES 8u
#define FILM_TOUCHED_EXACT 512u
#define FILM_TOUCHED_FILTER 512u

typedef enum film_touched_kind {
    FILM_TOUCHED_ATTRIBUTE = 0,
    FILM_TOUCHED_ITEM = 1,
    FILM_TOUCHED_CHANGE = 2,
    FILM_TOUCHED_GLOBAL = 3
} film_touched_kind;

#define FILM_MARK_ADJUSTED 1u

/* Places or slots of one code: a bit each. */
typedef struct film_bits {
    uint64_t *words; /* owned */
    uint32_t bits;   /* how many fit */
} film_bits;

typedef struct film_touched_code {
    film_bits lines, slots;
    uint32_t code;
} film_touched_code;

/* Codes that are found at once. */
#define FILM_TOUCHED_QUICK 512u

typedef struct film_touched_write {
    uint64_t key;      /* name << 2 | kind */
    uint64_t *serials; /* owned; not sorted, perhaps twice */
    size_t count, capacity;
    bool unknown;
} film_touched_write;

typedef struct film_touched {
    /* The codes of this chunk only, so that code that has died takes no memory; their
     * bits are kept from chunk to chunk, for other codes. */
    film_touched_code *codes; /* owned */
    size_t code_count, code_capacity;
    uint32_t *places;   /* owned; place in `codes` + 1, by hash of the code */
    size_t place_count; /* a power of two, or 0 */
    uint32_t quick[FILM_TOUCHED_QUICK]; /* place in `codes`, by the code's last bits */
    film_touched_write *writes; /* owned; kept from chunk to chunk for their memory */
    size_t write_count, write_capacity;
    uint16_t table[1024]; /* write + 1 by hash of the key */
    struct {
        uint64_t key, serial;
    } filter[FILM_TOUCHED_FILTER]; /* pairs noted lately */
    uint64_t watermark;
    bool adjusted;
    bool incomplete; /* memory ran out, or there is too much: nothing is told */
} film_touched;

/* Begins a chunk. */
void
film_touched_begin(film_touched *touched, uint64_t watermark);

void
film_touched_reset(film_touched *touched);

void
film_touched_slow(film_touched *touched, uint32_t code, uint32_t number, bool is_line);

/* The code's entry if it is at hand; NULL: film_touched_slow finds it. */
static inline film_touched_code *
film_touched_at_hand(const film_touched *touched, uint32_t code)
{
    uint32_t place = touched->quick[code % FILM_TOUCHED_QUICK];

    return __builtin_expect(
               place < touched->code_count && touched->codes[place].code == code, 1)
               ? &touched->codes[place]
               : NULL;
}

static inline void
film_touched_line(film_touched *touched, uint32_t code, uint32_t place)
{
    film_touched_code *about = film_touched_at_hand(touched, code);

    if (__builtin_expect(about != NULL && place < about->lines.bits, 1)) {
        about->lines.words[place >> 6] |= UINT64_C(1) << (place & 63);
        return;
    }
    film_touched_slow(touched, code, place, true);
}

static inline void
film_touched_slot(film_touched *touched, uint32_t code, uint32_t slot)
{
    film_touched_code *about = film_touched_at_hand(touched, code);

    if (__builtin_expect(about != NULL && slot < about->slots.bits, 1)) {
        about->slots.words[slot >> 6] |= UINT64_C(1) << (slot & 63);
        return;
    }
    film_touched_slow(touched, code, slot, false);
}

void
film_touched_write_slow(film_touched *touched, uint64_t key, uint64_t serial);

/* A write to the object `serial` (0: not known, or a global's). */
static inline void
film_touched_note_write(film_touched *touched, film_touched_kind kind, uint32_t name,
                        uint64_t serial)
{
    uint64_t key = (uint64_t)name << 2 | (uint64_t)kind;
    size_t at =
        (size_t)((key * 0x9E3779B97F4A7C15u ^ serial * 0xC2B2AE3D27D4EB4Fu) >> 50) %
        FILM_TOUCHED_FILTER;

    if (touched->filter[at].key == key + 1 && touched->filter[at].serial == serial) {
        return;
    }
    touched->filter[at].key = key + 1;
    touched->filter[at].serial = serial;
    film_touched_write_slow(touched, key, serial);
}

/* Ends the chunk: the bodies of the sections, each appended to its buffer. */
void
film_touched_put_lines(film_touched *touched, bool lines, film_buffer *out);

void
film_touched_put_writes(film_touched *touched, film_buffer *out);

void
film_touched_put_marks(const film_touched *touched, film_buffer *out);

#endif
