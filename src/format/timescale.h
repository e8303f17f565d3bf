/* timescale.h: raw clock ticks to nanoseconds, by segments of straight lines.
 * Each segment begins where the last one ended, so time never jumps; its slope is
 * chosen to meet the real clock again a second later.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_TIMESCALE_H
#define FILMSTRIP_TIMESCALE_H

#include <stdbool.h>
#include <stdint.h>

#define FILM_SEGMENTS 64u

/* A wide type, so that slopes hold for centuries of uptime. */
__extension__ typedef unsigned __int128 film_wide;

typedef struct film_segment {
    uint64_t raw;   /* where it begins */
    uint64_t ns;    /* since the start of the recording, there */
    uint64_t slope; /* ns a raw tick, 32.32 fixed point */
} film_segment;

typedef struct film_timescale {
    uint64_t count; /* segments ever begun; the last 64 are kept */
    film_segment segments[FILM_SEGMENTS];
} film_timescale;

/* Begins the scale with its first segment. */
void
film_timescale_begin(film_timescale *scale, double ns_per_raw);

/* What the real clock says at `raw`, while the scale has its first segment only and no
 * time was told by it: the guess it began with becomes what was measured since. False:
 * there is nothing to measure by. */
bool
film_timescale_measure(film_timescale *scale, uint64_t raw, uint64_t real_ns);

/* Adds a segment at `raw`, given what the real clock says there. Returns its slot, or
 * -1 when it is too early for one (less than a second since the last). */
int
film_timescale_adjust(film_timescale *scale, uint64_t raw, uint64_t real_ns);

/* Time along one segment, for raw ticks not before it. */
static inline uint64_t
film_segment_ns(const film_segment *segment, uint64_t raw)
{
    return segment->ns +
           (uint64_t)(((film_wide)(raw - segment->raw) * segment->slope) >> 32);
}

/* The segment that holds `raw` and the raw tick where it ends (UINT64_MAX: the last).
 * Before the oldest kept segment it is that one. The scale has at least one. */
film_segment
film_timescale_segment(const film_timescale *scale, uint64_t raw, uint64_t *end);

/* Nanoseconds since the start. Raw ticks before the oldest kept segment are taken from
 * that segment's line, backwards, and never below 0. */
uint64_t
film_timescale_ns(const film_timescale *scale, uint64_t raw);

#endif
