/* clock.h: the cheapest monotonic clock of this machine, in raw ticks.
 * The time stamp counter where it is constant and never stops, CLOCK_MONOTONIC
 * elsewhere. Raw ticks become nanoseconds later (format/timescale.h): the hot path
 * only reads, subtracts and shifts.
 * Threads: film_clock_init once before the others; reading from any thread.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILMSTRIP_CLOCK_H
#define FILMSTRIP_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

typedef enum film_clock_source {
    FILM_CLOCK_MONOTONIC = 1,
    FILM_CLOCK_TSC = 2
} film_clock_source;

typedef struct film_clock {
    uint64_t base;  /* raw counter at the start of the recording */
    uint32_t shift; /* raw ticks are (counter - base) >> shift */
    film_clock_source source;
} film_clock;

/* Chooses the source and the shift: the largest power of two that keeps a raw tick at
 * or below `tick_ns` nanoseconds. Takes some 2 ms, once, to measure the counter. */
void
film_clock_init(film_clock *clock, uint32_t tick_ns);

/* CLOCK_MONOTONIC and CLOCK_REALTIME in nanoseconds. */
uint64_t
film_clock_monotonic_ns(void);

uint64_t
film_clock_realtime_ns(void);

/* A raw tick and the monotonic time of the same instant, as near as they can be read
 * together (best of a few tries). */
void
film_clock_pair(const film_clock *clock, uint64_t *raw, uint64_t *monotonic_ns);

/* The recording starts: raw ticks count from here. Gives the monotonic time of the same
 * instant. */
uint64_t
film_clock_start(film_clock *clock);

/* Raw counts a second, measured by film_clock_init. */
double
film_clock_frequency(const film_clock *clock);

static inline uint64_t
film_clock_counter(const film_clock *clock)
{
#if defined(__x86_64__)
    if (__builtin_expect(clock->source == FILM_CLOCK_TSC, 1)) {
        return __rdtsc();
    }
#else
    (void)clock;
#endif
    {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    }
}

/* Raw ticks since the recording's start. */
static inline uint64_t
film_clock_read(const film_clock *clock)
{
    return (film_clock_counter(clock) - clock->base) >> clock->shift;
}

#endif
