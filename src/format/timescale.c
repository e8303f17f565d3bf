/* timescale.c: see timescale.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/timescale.h"

#define SECOND_NS 1000000000u

void
film_timescale_begin(film_timescale *scale, double ns_per_raw)
{
    scale->count = 1;
    scale->segments[0].raw = 0;
    scale->segments[0].ns = 0;
    scale->segments[0].slope = (uint64_t)(ns_per_raw * 4294967296.0);
}

bool
film_timescale_measure(film_timescale *scale, uint64_t raw, uint64_t real_ns)
{
    if (scale->count != 1 || raw == 0 || real_ns == 0) {
        return false;
    }
    scale->segments[0].slope = (uint64_t)((double)real_ns / (double)raw * 4294967296.0);
    return true;
}

film_segment
film_timescale_segment(const film_timescale *scale, uint64_t raw, uint64_t *end)
{
    uint64_t at = scale->count - 1;
    uint64_t oldest = scale->count > FILM_SEGMENTS ? scale->count - FILM_SEGMENTS : 0;

    *end = UINT64_MAX;
    while (at > oldest && scale->segments[at % FILM_SEGMENTS].raw > raw) {
        *end = scale->segments[at % FILM_SEGMENTS].raw;
        at--;
    }
    return scale->segments[at % FILM_SEGMENTS];
}

uint64_t
film_timescale_ns(const film_timescale *scale, uint64_t raw)
{
    film_segment segment;
    uint64_t end;

    if (scale->count == 0) {
        return 0;
    }
    segment = film_timescale_segment(scale, raw, &end);
    if (raw < segment.raw) {
        uint64_t back =
            (uint64_t)(((film_wide)(segment.raw - raw) * segment.slope) >> 32);
        return back > segment.ns ? 0 : segment.ns - back;
    }
    return film_segment_ns(&segment, raw);
}

int
film_timescale_adjust(film_timescale *scale, uint64_t raw, uint64_t real_ns)
{
    const film_segment *last = &scale->segments[(scale->count - 1) % FILM_SEGMENTS];
    film_segment *next = &scale->segments[scale->count % FILM_SEGMENTS];
    uint64_t predicted = film_timescale_ns(scale, raw);
    uint64_t target;
    double rate;

    if (raw <= last->raw || real_ns < SECOND_NS || predicted < last->ns + SECOND_NS) {
        return -1;
    }
    /* The real rate since the start is the best measured; aim to be right again one
     * second from now. */
    rate = (double)real_ns / (double)raw;
    target = real_ns + SECOND_NS;
    if (predicted >= target) {
        return -1;
    }
    next->raw = raw;
    next->ns = predicted;
    next->slope = (uint64_t)((double)(target - predicted) / ((double)SECOND_NS / rate) *
                             4294967296.0);
    return (int)(scale->count++ % FILM_SEGMENTS);
}
