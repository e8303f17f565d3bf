/* summary.h: what a chunk holds, readable without unpacking it.
 *
 * Sections, each: id (varint), length (varint), body; unknown ids are skipped.
 *   1 KINDS      pairs (kind, count), then least and greatest depth
 *   2 FUNCTIONS  pairs (code - last code, calls) in order of code
 *   3 COVER      for each depth from 0, at most 24: code + 1 (0: nothing ran there),
 *                share of the chunk's time it covered as a byte 0 to 255
 *   4 BUSIEST    at most 16 pairs (code, own ticks), most first
 *   5 to 8       which lines ran and what was written (touched.h)
 * Of a VALUE chunk:
 *   9 SERIALS    ranges (ranges.h) that hold the serials of the objects in it that were
 *                recorded before; the lowest serial of new ones, how many there may be
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_SUMMARY_H
#define FILMSTRIP_SUMMARY_H

#include <stddef.h>
#include <stdint.h>

#include <filmstrip/event.h>
#include <filmstrip/reader.h>
#include <filmstrip/status.h>

#include "base/buffer.h"
#include "format/state.h"
#include "format/touched.h"

#define FILM_SUMMARY_DEPTHS 24u
#define FILM_SUMMARY_BUSIEST 16u

enum film_summary_section {
    FILM_SECTION_KINDS = 1,
    FILM_SECTION_FUNCTIONS = 2,
    FILM_SECTION_COVER = 3,
    FILM_SECTION_BUSIEST = 4,
    FILM_SECTION_LINES = 5,
    FILM_SECTION_SLOTS = 6,
    FILM_SECTION_WRITES = 7,
    FILM_SECTION_MARKS = 8,
    FILM_SECTION_SERIALS = 9
};

/* At each depth the few functions that took most of the time so far; a newcomer takes
 * the place of the smallest (space-saving), so the dominant one is always kept. */
#define FILM_SUMMARY_RIVALS 4u

typedef struct film_rival {
    uint32_t code;
    uint64_t ticks;
} film_rival;

/* One function's part of a chunk. */
typedef struct film_share {
    uint64_t own;  /* ticks */
    uint64_t hash; /* for its user's own purposes; kept from chunk to chunk */
    uint32_t calls;
    bool touched; /* it is in the list of those to tell */
    bool hashed;  /* hash is set */
} film_share;

/* Shares are kept by code id, in pages: those of code that has not run for a while are
 * given back, since a program may compile new code for ever. */
#define FILM_SHARE_PAGE 256u

typedef struct film_share_page {
    film_share shares[FILM_SHARE_PAGE];
    uint32_t idle; /* chunks since one of them was touched */
} film_share_page;

/* Being gathered by the sealing thread, row by row. */
typedef struct film_summary {
    uint32_t kinds[FILM_KIND_COUNT];
    uint64_t begin_tick;
    uint32_t least_depth, greatest_depth;
    film_rival rivals[FILM_SUMMARY_DEPTHS][FILM_SUMMARY_RIVALS];
    film_share_page **pages; /* owned, as what they point to; NULL: none */
    size_t page_count;
    uint32_t *touched; /* owned; code ids with calls or own time */
    size_t touched_count, touched_capacity;
    bool failed; /* memory ran out: functions are missing */
} film_summary;

/* Begins a chunk at the state's tick. */
void
film_summary_begin(film_summary *summary, const film_state *state);

/* The share of a function; NULL when memory is out. */
film_share *
film_summary_touch(film_summary *summary, uint32_t code);

static inline film_share *
film_summary_share(film_summary *summary, uint32_t code)
{
    size_t page = code / FILM_SHARE_PAGE;

    if (__builtin_expect(page < summary->page_count && summary->pages[page] != NULL,
                         1)) {
        film_share *share = &summary->pages[page]->shares[code % FILM_SHARE_PAGE];

        if (__builtin_expect(share->touched, 1)) {
            return share;
        }
    }
    return film_summary_touch(summary, code);
}

/* Time with this stack, before the next row. The sealing thread tells it every few rows
 * and for every long stretch: what lies between is short, and a share of 1 in 255 is
 * all that is kept. */
void
film_summary_cover(film_summary *summary, const film_state *state, uint64_t ticks);

/* Notes that the state's last row pushed or closed a frame, or did neither. */
static inline void
film_summary_note_depth(film_summary *summary, const film_state *state)
{
    uint32_t depth = (uint32_t)state->depth;

    if (depth > summary->greatest_depth) {
        summary->greatest_depth = depth;
    }
    if (depth < summary->least_depth) {
        summary->least_depth = depth;
    }
}

/* Ends the chunk: appends the bytes to `out`. `touched`: NULL at level calls. */
void
film_summary_finish(film_summary *summary, const film_state *state,
                    film_touched *touched, film_buffer *out);

void
film_summary_reset(film_summary *summary);

/* Reading: the body of a section, borrowed from the bytes; FILM_END if absent. */
FILM_NODISCARD film_status
film_summary_section(const uint8_t *bytes, size_t length, uint32_t section,
                     film_input *out);

#endif
