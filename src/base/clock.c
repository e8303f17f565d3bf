/* clock.c: choosing the counter and measuring its speed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

static uint64_t
read_ns(clockid_t id)
{
    struct timespec now;

    if (clock_gettime(id, &now) != 0) {
        return 0;
    }
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t
film_clock_monotonic_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

uint64_t
film_clock_realtime_ns(void)
{
    return read_ns(CLOCK_REALTIME);
}

/* True if the processor promises a constant, never stopping counter ("invariant TSC",
 * CPUID 0x80000007 EDX bit 8): what Linux shows as constant_tsc nonstop_tsc. */
static bool
tsc_is_invariant(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;

    return __get_cpuid(0x80000007u, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
#else
    return false;
#endif
}

/* The counter and the monotonic clock at one instant: of a few tries, the one whose
 * two counter readings lie closest together. */
static void
sample(const film_clock *clock, uint64_t *counter, uint64_t *ns)
{
    uint64_t best = UINT64_MAX;

    *counter = *ns = 0;
    for (int i = 0; i < 5; i++) {
        uint64_t before = film_clock_counter(clock);
        uint64_t now = film_clock_monotonic_ns();
        uint64_t after = film_clock_counter(clock);
        if (after - before < best) {
            best = after - before;
            *counter = before + (after - before) / 2;
            *ns = now;
        }
    }
}

double
film_clock_frequency(const film_clock *clock)
{
    uint64_t counter0, counter1, ns0, ns1;

    if (clock->source == FILM_CLOCK_MONOTONIC) {
        return 1e9;
    }
    sample(clock, &counter0, &ns0);
    do {
        sample(clock, &counter1, &ns1);
    } while (ns1 - ns0 < 2000000u);
    return (double)(counter1 - counter0) * 1e9 / (double)(ns1 - ns0);
}

void
film_clock_init(film_clock *clock, uint32_t tick_ns)
{
    double ns_per_count;

    clock->base = 0;
    clock->shift = 0;
    clock->source = tsc_is_invariant() ? FILM_CLOCK_TSC : FILM_CLOCK_MONOTONIC;
    ns_per_count = 1e9 / film_clock_frequency(clock);
    while (clock->shift < 16 &&
           ns_per_count * (double)(2u << clock->shift) <= (double)tick_ns) {
        clock->shift++;
    }
    clock->base = film_clock_counter(clock);
}

uint64_t
film_clock_start(film_clock *clock)
{
    uint64_t ns;

    sample(clock, &clock->base, &ns);
    return ns;
}

void
film_clock_pair(const film_clock *clock, uint64_t *raw, uint64_t *monotonic_ns)
{
    uint64_t counter;

    sample(clock, &counter, monotonic_ns);
    *raw = (counter - clock->base) >> clock->shift;
}
