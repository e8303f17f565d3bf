/* totals.c: see totals.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/totals.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

static film_function_total *
function_of(film_totals *totals, uint32_t code)
{
    size_t capacity = totals->function_capacity;
    film_function_total *functions;

    if (code < capacity) {
        return &totals->functions[code];
    }
    if (code >= FILM_TOTALS_CODES) {
        return NULL;
    }
    functions =
        film_grow(totals->functions, &capacity, (size_t)code + 1, sizeof(*functions));
    if (functions == NULL) {
        totals->failed = true;
        return NULL;
    }
    memset(functions + totals->function_capacity, 0,
           (capacity - totals->function_capacity) * sizeof(*functions));
    totals->functions = functions;
    totals->function_capacity = capacity;
    return &functions[code];
}

static film_place_total *
slot_of(film_place_total *places, size_t capacity, uint32_t code, uint32_t offset)
{
    uint64_t hash = film_digest_mix(code, offset);
    size_t slot = (size_t)hash & (capacity - 1);

    while (places[slot].hits != 0 &&
           (places[slot].code != code || places[slot].offset != offset)) {
        slot = (slot + 1) & (capacity - 1);
    }
    return &places[slot];
}

static bool
enlarge_places(film_totals *totals)
{
    size_t capacity = totals->place_capacity == 0 ? 256 : totals->place_capacity * 2;
    film_place_total *places = film_alloc_array(capacity, sizeof(*places));

    if (places == NULL) {
        totals->failed = true;
        return false;
    }
    for (size_t i = 0; i < totals->place_capacity; i++) {
        const film_place_total *old = &totals->places[i];
        if (old->hits != 0) {
            *slot_of(places, capacity, old->code, old->offset) = *old;
        }
    }
    film_free(totals->places);
    totals->places = places;
    totals->place_capacity = capacity;
    return true;
}

void
film_totals_settle(film_totals *totals, film_place_total *recent)
{
    film_place_total *place;

    if (recent->hits == 0) {
        return;
    }
    if (recent->code >= FILM_TOTALS_CODES) {
        recent->hits = recent->ticks = 0;
        return;
    }
    if (totals->place_count * 2 >= totals->place_capacity && !enlarge_places(totals)) {
        return;
    }
    place =
        slot_of(totals->places, totals->place_capacity, recent->code, recent->offset);
    if (place->hits == 0) {
        place->code = recent->code;
        place->offset = recent->offset;
        totals->place_count++;
    }
    place->hits += recent->hits;
    place->ticks += recent->ticks;
    recent->hits = recent->ticks = 0;
}

void
film_totals_add(film_totals *totals, film_summary *summary)
{
    for (size_t i = 0; i < summary->touched_count; i++) {
        uint32_t code = summary->touched[i];
        film_function_total *function = function_of(totals, code);
        const film_share *share = film_summary_share(summary, code);
        if (function != NULL && share != NULL) {
            function->calls += share->calls;
            function->own_ticks += share->own;
        }
    }
}

static int
by_place(const void *a, const void *b)
{
    const film_place_total *left = a, *right = b;

    if (left->code != right->code) {
        return left->code < right->code ? -1 : 1;
    }
    return (left->offset > right->offset) - (left->offset < right->offset);
}

static void
encode_places(const film_totals *totals, film_buffer *out)
{
    film_place_total *sorted = film_alloc_array(totals->place_count, sizeof(*sorted));
    size_t count = 0;
    uint32_t last = 0;

    if (sorted == NULL) {
        film_buffer_put_varint(out, 0);
        return;
    }
    for (size_t i = 0; i < totals->place_capacity; i++) {
        if (totals->places[i].hits != 0) {
            sorted[count++] = totals->places[i];
        }
    }
    qsort(sorted, count, sizeof(*sorted), by_place);
    film_buffer_put_varint(out, count);
    for (size_t i = 0; i < count; i++) {
        film_buffer_put_varint(out, sorted[i].code - last);
        film_buffer_put_varint(out, sorted[i].offset);
        film_buffer_put_varint(out, sorted[i].hits);
        film_buffer_put_varint(out, sorted[i].ticks);
        last = sorted[i].code;
    }
    film_free(sorted);
}

void
film_totals_encode(film_totals *totals, film_buffer *out)
{
    size_t count = 0, last = 0;

    for (size_t i = 0; i < FILM_RECENT_PLACES; i++) {
        film_totals_settle(totals, &totals->recent[i]);
    }

    for (size_t i = 0; i < totals->function_capacity; i++) {
        const film_function_total *total = &totals->functions[i];
        count += (total->calls | total->own_ticks) != 0;
    }
    film_buffer_put_varint(out, count);
    for (size_t i = 0; i < totals->function_capacity; i++) {
        const film_function_total *total = &totals->functions[i];
        if ((total->calls | total->own_ticks) != 0) {
            film_buffer_put_varint(out, i - last);
            film_buffer_put_varint(out, total->calls);
            film_buffer_put_varint(out, total->own_ticks);
            last = i;
        }
    }
    encode_places(totals, out);
}

void
film_totals_reset(film_totals *totals)
{
    film_free(totals->functions);
    film_free(totals->places);
    memset(totals, 0, sizeof(*totals));
}
