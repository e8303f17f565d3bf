/* serials.c: see serials.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "writer/serials.h"

#include <string.h>

#include "base/alloc.h"
#include "format/ranges.h"
#include "format/summary.h"

/* Ranges that hold the older objects of a chunk and nothing else, if there are no more: a
 * reader that looks for an object told long ago unpacks no chunk in vain. */
#define FILM_SERIALS_EXACT 4096u

bool
film_serials_begin(film_serials *serials)
{
    serials->recent = film_alloc_array(FILM_SERIALS_RECENT, sizeof(*serials->recent));
    serials->held = film_alloc_array(FILM_SERIALS_BUCKETS, sizeof(*serials->held));
    if (serials->recent == NULL || serials->held == NULL) {
        film_serials_reset(serials);
        return false;
    }
    return true;
}

void
film_serials_reset(film_serials *serials)
{
    film_free(serials->recent);
    film_free(serials->held);
    film_free(serials->older);
    memset(serials, 0, sizeof(*serials));
}

uint64_t
film_serials_look(film_serials *serials, uint64_t id)
{
    film_serial *bucket, found = {0};
    unsigned way;

    if (serials->recent == NULL) {
        return 0;
    }
    bucket = serials->held[(id * 0x9E3779B97F4A7C15u >> 40) % FILM_SERIALS_BUCKETS];
    if (bucket[0].id == id + 1) {
        serials->hot[id % FILM_SERIALS_HOT] = bucket[0];
        return bucket[0].serial;
    }
    for (way = 1; way < FILM_SERIALS_WAYS - 1 && bucket[way].id != id + 1; way++) {
    }
    found = bucket[way];
    if (found.id != id + 1) {
        found = serials->recent[id % FILM_SERIALS_RECENT];
        if (found.id != id + 1) {
            return 0;
        }
    }
    memmove(&bucket[1], &bucket[0], way * sizeof(*bucket));
    bucket[0] = found;
    serials->hot[id % FILM_SERIALS_HOT] = found;
    return found.serial;
}

void
film_serials_begin_chunk(film_serials *serials)
{
    serials->greatest_before = serials->greatest;
    serials->older_count = 0;
    memset(serials->lately, 0, sizeof(serials->lately));
}

void
film_serials_note_older(film_serials *serials, uint64_t serial)
{
    uint64_t *older = film_grow(serials->older, &serials->older_capacity,
                                serials->older_count + 2, sizeof(*older));

    if (older == NULL) {
        serials->greatest_before = 0; /* then the range of the new ones holds all */
        return;
    }
    serials->lately[serial % 256] = serial;
    serials->older = older;
    older[serials->older_count++] = serial;
}

void
film_serials_put(film_serials *serials, film_buffer *out)
{
    film_buffer body = {0};

    if (serials->recent == NULL) {
        return;
    }
    film_ranges_put(serials->older, serials->older_count, FILM_RANGES_MOST,
                    FILM_SERIALS_EXACT, &body);
    /* The new objects, as one more set of one range. */
    film_buffer_put_varint(&body, serials->greatest_before + 1);
    film_buffer_put_varint(&body, serials->greatest - serials->greatest_before);
    film_buffer_put_varint(out, FILM_SECTION_SERIALS);
    film_buffer_put_bytes(out, body.data, body.length);
    out->failed = out->failed || body.failed;
    film_buffer_reset(&body);
}
