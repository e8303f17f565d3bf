/* ranges.c: see ranges.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/ranges.h"

#include <stdlib.h>
#include <string.h>

static int
by_number(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

/* The narrowest of the widest gaps, one fewer than there may be ranges. */
static uint64_t
least_gap(const uint64_t *numbers, size_t count, unsigned most)
{
    uint64_t widest[FILM_RANGES_MOST] = {0};
    size_t kept = most - 1;

    if (kept == 0) {
        return UINT64_MAX;
    }
    for (size_t i = 1; i < count; i++) {
        uint64_t gap = numbers[i] - numbers[i - 1];
        size_t at = kept;
        while (at > 0 && widest[at - 1] < gap) {
            at--;
        }
        if (at < kept) {
            memmove(&widest[at + 1], &widest[at], (kept - 1 - at) * sizeof(widest[0]));
            widest[at] = gap;
        }
    }
    return widest[kept - 1];
}

void
film_ranges_put(uint64_t *numbers, size_t count, unsigned most, film_buffer *out)
{
    film_range ranges[FILM_RANGES_MOST] = {{0, 0}};
    uint64_t least = 0, end = 0;
    size_t used = 0;

    if (most > FILM_RANGES_MOST) {
        most = FILM_RANGES_MOST;
    }
    if (count > 1) {
        qsort(numbers, count, sizeof(*numbers), by_number);
        least = least_gap(numbers, count, most);
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t gap = used == 0 ? 0 : numbers[i] - ranges[used - 1].last;
        if (used == 0 || (gap > 1 && gap >= least && used < most)) {
            ranges[used++].first = numbers[i];
        }
        ranges[used - 1].last = numbers[i];
    }
    film_buffer_put_varint(out, used);
    for (size_t i = 0; i < used; i++) {
        film_buffer_put_varint(out, ranges[i].first - end);
        film_buffer_put_varint(out, ranges[i].last - ranges[i].first);
        end = ranges[i].last;
    }
}

size_t
film_ranges_take(film_input *input, film_range *to, size_t room)
{
    uint64_t count = film_input_varint(input), end = 0;

    if (count > film_input_left(input)) {
        input->failed = true;
        return 0;
    }
    for (uint64_t i = 0; i < count && !input->failed; i++) {
        film_range range;
        range.first = end + film_input_varint(input);
        range.last = range.first + film_input_varint(input);
        end = range.last;
        if (i < room) {
            to[i] = range;
        }
    }
    return (size_t)count;
}
