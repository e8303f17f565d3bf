/* content_records.c: finding the records of an object among the chunks of values.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "analysis/content.h"
#include "base/alloc.h"
#include "format/ranges.h"
#include "format/summary.h"
#include "format/window.h"
#include "reader/reader_state.h"

/* The chunk's SERIALS, read once. */
static film_status
load_ranges(film_timeline *timeline, film_error *error)
{
    film_reader *reader = timeline->reader;
    size_t count = reader->value_count;

    if (timeline->value_range_count == count && timeline->value_ranges != NULL) {
        return FILM_OK;
    }
    film_free(timeline->value_ranges);
    film_buffer_clear(&timeline->value_range_bytes);
    timeline->value_range_count = 0;
    timeline->value_ranges = film_alloc_array(count, sizeof(film_posting));
    if (timeline->value_ranges == NULL) {
        return film_fail(error, FILM_NO_MEMORY, "memory ran out");
    }
    for (size_t i = 0; i < count; i++) {
        const film_chunk_info *chunk = &reader->directory.chunks[reader->values[i]];
        film_posting *posting = &timeline->value_ranges[i];
        posting->offset = timeline->value_range_bytes.length;
        if (film_reader_summary(reader, chunk, &timeline->value_range_bytes,
                                &posting->length) != FILM_OK) {
            return film_fail(error, FILM_NO_MEMORY, "memory ran out");
        }
    }
    timeline->value_range_count = count;
    return FILM_OK;
}

/* Whether the chunk can have a record of the object. */
static bool
may_hold(const film_timeline *timeline, size_t place, uint64_t serial)
{
    const film_posting *posting = &timeline->value_ranges[place];
    film_input body;
    uint64_t first;

    if (posting->length == 0 ||
        film_summary_section(timeline->value_range_bytes.data + posting->offset,
                             posting->length, FILM_SECTION_SERIALS, &body) != FILM_OK) {
        return true;
    }
    if (film_ranges_hold(&body, serial)) {
        return true;
    }
    first = film_input_varint(&body);
    return body.failed ||
           (serial >= first && serial - first < film_input_varint(&body));
}

/* Records that are not in a chunk yet. */
static film_status
newest_in_windows(film_timeline *timeline, uint64_t serial, uint64_t least,
                  uint64_t bound, uint64_t *id)
{
    film_reader *reader = timeline->reader;
    size_t count;
    const film_window_copy *windows =
        film_windows_of(&reader->windows, FILM_STREAM_VALUE, &count);
    uint64_t sealed = 0;

    if (count == 0 || windows == NULL) {
        return FILM_END;
    }
    if (reader->value_count > 0) {
        const film_chunk_info *last =
            &reader->directory.chunks[reader->values[reader->value_count - 1]];
        sealed = last->first + last->count;
    }
    least = least > sealed ? least : sealed;
    for (uint64_t at = bound; at > least; at--) {
        film_value_record record;
        film_status status = film_reader_record(reader, at - 1, &record, NULL);
        if (status == FILM_OK && record.form != 0 && record.serial == serial) {
            *id = at - 1;
            return FILM_OK;
        }
    }
    return FILM_END;
}

/* How many chunks of values begin below `bound`. */
static size_t
place_of(const film_reader *reader, uint64_t bound)
{
    size_t low = 0, high = reader->value_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (reader->directory.chunks[reader->values[middle]].first < bound) {
            low = middle + 1;
        }
        else {
            high = middle;
        }
    }
    return low;
}

static film_status
newest_in_chunk(film_timeline *timeline, uint64_t serial, uint64_t least,
                uint64_t bound, size_t place, uint64_t *id, film_error *error)
{
    film_reader *reader = timeline->reader;
    const film_chunk_info *chunk = &reader->directory.chunks[reader->values[place]];
    const uint64_t *serials;

    if (!may_hold(timeline, place, serial)) {
        return FILM_END;
    }
    FILM_TRY(film_reader_serials(reader, place, &serials, error));
    for (size_t i = bound - chunk->first < chunk->count ? (size_t)(bound - chunk->first)
                                                        : chunk->count;
         i > 0 && chunk->first + i > least; i--) {
        if (serials[i - 1] == serial) {
            *id = chunk->first + i - 1;
            return FILM_OK;
        }
    }
    return FILM_END;
}

film_status
film_content_newest(film_timeline *timeline, uint64_t serial, uint64_t least,
                    uint64_t bound, uint64_t *id, film_error *error)
{
    film_reader *reader = timeline->reader;
    film_record_memo *memo;
    film_status status;
    size_t place;

    if (bound <= least) {
        return FILM_END;
    }
    FILM_TRY(load_ranges(timeline, error));
    if (newest_in_windows(timeline, serial, least, bound, id) == FILM_OK) {
        return FILM_OK;
    }
    place = place_of(reader, bound);
    if (place == 0) {
        return FILM_END;
    }
    /* The chunk that the moment is in, then those before it, which are known once they
     * were looked at. */
    status = newest_in_chunk(timeline, serial, least, bound, place - 1, id, error);
    if (status != FILM_END) {
        return status;
    }
    memo = &timeline->record_memos[serial % FILM_TIMELINE_MEMOS];
    if (memo->serial != serial || memo->least != least || memo->place != place) {
        status = FILM_END;
        for (size_t at = place - 1; at > 0 && status == FILM_END; at--) {
            const film_chunk_info *chunk =
                &reader->directory.chunks[reader->values[at - 1]];
            if (chunk->first + chunk->count <= least) {
                break;
            }
            status = newest_in_chunk(timeline, serial, least, bound, at - 1, id, error);
        }
        if (status != FILM_OK && status != FILM_END) {
            return status;
        }
        *memo = (film_record_memo){.serial = serial,
                                   .least = least,
                                   .place = place,
                                   .id = *id,
                                   .found = status == FILM_OK};
    }
    *id = memo->id;
    return memo->found ? FILM_OK : FILM_END;
}
