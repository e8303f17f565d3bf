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

/* The end of the range that begins at `first`. */
static size_t
range_end(const uint64_t *numbers, size_t count, size_t first, uint64_t least)
{
    size_t end = first + 1;

    while (end < count && (numbers[end] - numbers[end - 1] <= 1 ||
                           numbers[end] - numbers[end - 1] < least)) {
        end++;
    }
    return end;
}

/* How many ranges there are, at most `most`: the last one holds all that is left. */
static size_t
count_ranges(const uint64_t *numbers, size_t count, uint64_t least, size_t most)
{
    size_t used = 0;

    for (size_t i = 0; i < count && used < most; used++) {
        i = range_end(numbers, count, i, least);
    }
    return used;
}

void
film_ranges_put(uint64_t *numbers, size_t count, unsigned most, unsigned exact,
                film_buffer *out)
{
    uint64_t least = 0, last = 0;
    size_t used, at = 0;

    if (count > 1) {
        qsort(numbers, count, sizeof(*numbers), by_number);
    }
    used = count_ranges(numbers, count, 0, (size_t)exact + 1);
    if (used > exact) {
        least = least_gap(numbers, count,
                          most > FILM_RANGES_MOST ? FILM_RANGES_MOST : most);
        used = count_ranges(numbers, count, least, most);
    }
    film_buffer_put_varint(out, used);
    for (size_t put = 0; put < used; put++) {
        size_t end = put + 1 == used ? count : range_end(numbers, count, at, least);

        film_buffer_put_varint(out, numbers[at] - last);
        film_buffer_put_varint(out, numbers[end - 1] - numbers[at]);
        last = numbers[end - 1];
        at = end;
    }
}

bool
film_ranges_hold(film_input *input, uint64_t number)
{
    uint64_t count = film_input_varint(input), end = 0;
    bool held = false;

    if (count > film_input_left(input)) {
        input->failed = true;
    }
    for (uint64_t i = 0; i < count && !input->failed; i++) {
        uint64_t first = end + film_input_varint(input);

        end = first + film_input_varint(input);
        held = held || (number >= first && number <= end);
    }
    return held || input->failed;
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
