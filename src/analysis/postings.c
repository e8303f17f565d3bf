/* postings.c: see postings.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/postings.h"

#include <string.h>

#include "base/alloc.h"
#include "format/ranges.h"
#include "format/summary.h"
#include "reader/reader_state.h"

void
film_postings_reset(film_postings *postings)
{
    for (size_t i = 0; i < postings->thread_count; i++) {
        film_free(postings->threads[i].blocks);
    }
    film_free(postings->threads);
    film_buffer_reset(&postings->bytes);
    memset(postings, 0, sizeof(*postings));
}

static film_status
find_chunk(film_thread_postings *of, const film_chunk_info *chunk, size_t number)
{
    uint64_t block = chunk->first >> FILM_CHUNK_SHIFT;
    size_t index;
    film_posting *blocks;

    if (of->count == 0) {
        of->first_block = block;
    }
    if (block < of->first_block || block - of->first_block > (uint64_t)1 << 32) {
        return FILM_OK;
    }
    index = (size_t)(block - of->first_block);
    if (index < of->count) {
        if (of->blocks[index].chunk != 0) { /* not read yet: it may lie elsewhere now */
            of->blocks[index].chunk = (uint32_t)(number + 1);
        }
        return FILM_OK;
    }
    blocks = film_grow(of->blocks, &of->capacity, index + 1, sizeof(*blocks));
    if (blocks == NULL) {
        return FILM_NO_MEMORY;
    }
    of->blocks = blocks;
    while (of->count <= index) {
        blocks[of->count++] = (film_posting){0};
    }
    blocks[index].chunk = (uint32_t)(number + 1);
    return FILM_OK;
}

film_status
film_postings_load(film_postings *postings, film_reader *reader, film_error *error)
{
    if (postings->loaded) {
        return FILM_OK;
    }
    if (postings->thread_count != reader->tracks.count) {
        film_postings_reset(postings);
        postings->threads =
            film_alloc_array(reader->tracks.count, sizeof(*postings->threads));
        if (postings->threads == NULL) {
            return film_fail(error, FILM_NO_MEMORY, "memory ran out");
        }
        postings->thread_count = reader->tracks.count;
    }
    for (size_t i = 0; i < reader->tracks.count; i++) {
        const film_track *track = &reader->tracks.items[i];
        film_thread_postings *of = &postings->threads[i];
        of->thread = track->info.id;
        for (size_t k = 0; k < track->chunk_count; k++) {
            size_t number = track->chunks[k];
            if (find_chunk(of, &reader->directory.chunks[number], number) != FILM_OK) {
                return film_fail(error, FILM_NO_MEMORY, "memory ran out");
            }
        }
    }
    postings->reader = reader;
    postings->loaded = true;
    return FILM_OK;
}

/* One that cannot be read says nothing: its chunk is looked at itself. */
static void
read_summary(film_postings *postings, film_posting *posting)
{
    const film_chunk_info *chunk =
        &postings->reader->directory.chunks[posting->chunk - 1];
    size_t offset = postings->bytes.length, length;

    posting->chunk = 0;
    if (film_reader_summary(postings->reader, chunk, &postings->bytes, &length) ==
        FILM_OK) {
        posting->offset = offset;
        posting->length = length;
    }
    else { /* memory ran out: nothing is known of any */
        film_buffer_reset(&postings->bytes);
        for (size_t i = 0; i < postings->thread_count; i++) {
            film_thread_postings *of = &postings->threads[i];
            for (size_t k = 0; k < of->count; k++) {
                of->blocks[k].length = 0;
            }
        }
    }
}

const uint8_t *
film_postings_summary(film_postings *postings, uint32_t thread, uint64_t block,
                      size_t *length)
{
    size_t low = 0, high = postings->thread_count;
    film_thread_postings *of;
    film_posting *posting;

    *length = 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (postings->threads[middle].thread < thread) {
            low = middle + 1;
        }
        else {
            high = middle;
        }
    }
    if (low == postings->thread_count || postings->threads[low].thread != thread) {
        return NULL;
    }
    of = &postings->threads[low];
    if (block < of->first_block || block - of->first_block >= of->count) {
        return NULL;
    }
    posting = &of->blocks[block - of->first_block];
    if (posting->chunk != 0) {
        read_summary(postings, posting);
    }
    *length = posting->length;
    return *length == 0 ? NULL : postings->bytes.data + posting->offset;
}

/* Whether one from `number` to `last` of `code` is in a section of LINES' form. */
static bool
has_number(film_input body, uint32_t code, uint32_t number, uint32_t last)
{
    uint32_t at_code = 0;

    while (film_input_left(&body) > 0 && !body.failed) {
        uint32_t count, at = 0;
        at_code += film_input_varint32(&body);
        count = film_input_varint32(&body);
        if (at_code > code) {
            return false;
        }
        while (count-- > 0 && !body.failed) {
            at += film_input_varint32(&body);
            if (at_code == code && at >= number && at <= last) {
                return true;
            }
        }
        if (at_code == code) {
            return body.failed;
        }
    }
    return body.failed;
}

/* FUNCTIONS: whether code is there, and how often it was called. */
static bool
has_code(const uint8_t *bytes, size_t length, uint32_t code, uint64_t *calls)
{
    film_input body;
    uint32_t at = 0;

    *calls = 0;
    if (film_summary_section(bytes, length, FILM_SECTION_FUNCTIONS, &body) != FILM_OK) {
        *calls = 1;
        return true;
    }
    while (film_input_left(&body) > 0 && !body.failed) {
        uint64_t count;
        at += film_input_varint32(&body);
        count = film_input_varint(&body);
        if (at == code) {
            *calls = count;
            return true;
        }
        if (at > code) {
            return false;
        }
    }
    return body.failed;
}

static bool
has_write(film_input body, const film_wanted *wanted)
{
    while (film_input_left(&body) > 0 && !body.failed) {
        uint64_t head = film_input_varint(&body);
        bool holds = film_ranges_hold(&body, wanted->serial) || (head & 4) != 0;
        if ((head & 3) == (uint64_t)wanted->write &&
            (wanted->number == FILM_ANY_NAME || head >> 3 == wanted->number) &&
            (wanted->serial == 0 || holds)) {
            return true;
        }
    }
    return body.failed;
}

static bool
count_kind(const uint8_t *bytes, size_t length, uint8_t kind, uint64_t *count,
           uint64_t *least_depth)
{
    film_input body;

    *count = *least_depth = 0;
    if (film_summary_section(bytes, length, FILM_SECTION_KINDS, &body) != FILM_OK) {
        return false;
    }
    for (;;) {
        uint64_t at = film_input_varint(&body);
        if (at == 0 || body.failed) {
            break;
        }
        if (at == kind) {
            *count = film_input_varint(&body);
        }
        else {
            film_input_varint(&body);
        }
    }
    *least_depth = film_input_varint(&body);
    return !body.failed;
}

static bool
is_adjusted(const uint8_t *bytes, size_t length)
{
    film_input body;

    if (film_summary_section(bytes, length, FILM_SECTION_MARKS, &body) != FILM_OK) {
        return true;
    }
    film_input_varint(&body);
    return (film_input_varint(&body) & FILM_MARK_ADJUSTED) != 0;
}

static bool
may_hold_one(const uint8_t *bytes, size_t length, const film_wanted *wanted)
{
    film_input body;
    uint64_t count, depth;
    uint32_t section = wanted->kind == FILM_WANTED_LINE   ? FILM_SECTION_LINES
                       : wanted->kind == FILM_WANTED_SLOT ? FILM_SECTION_SLOTS
                                                          : FILM_SECTION_WRITES;

    switch (wanted->kind) {
    case FILM_WANTED_LINE:
    case FILM_WANTED_SLOT:
        if (!has_code(bytes, length, wanted->code, &count)) {
            return false;
        }
        return film_summary_section(bytes, length, section, &body) != FILM_OK ||
               has_number(body, wanted->code, wanted->number,
                          wanted->kind == FILM_WANTED_LINE ? wanted->last
                                                           : wanted->number);
    case FILM_WANTED_CALL:
        return has_code(bytes, length, wanted->code, &count) && count > 0;
    case FILM_WANTED_CODE:
        return has_code(bytes, length, wanted->code, &count);
    case FILM_WANTED_WRITE:
        return film_summary_section(bytes, length, section, &body) != FILM_OK ||
               has_write(body, wanted);
    case FILM_WANTED_EVENT:
    default:
        return !count_kind(bytes, length, (uint8_t)wanted->number, &count, &depth) ||
               count > 0;
    }
}

bool
film_postings_may_hold(film_postings *postings, uint32_t thread, uint64_t block,
                       const film_filter *filter)
{
    size_t length;
    const uint8_t *bytes = film_postings_summary(postings, thread, block, &length);
    uint64_t count, depth;

    if (length == 0) {
        return true;
    }
    if (filter->shallower != 0 && count_kind(bytes, length, 0, &count, &depth) &&
        depth >= filter->shallower && !is_adjusted(bytes, length)) {
        return false;
    }
    for (size_t i = 0; i < filter->count; i++) {
        if (may_hold_one(bytes, length, &filter->wanted[i])) {
            return true;
        }
    }
    return filter->count == 0;
}

bool
film_postings_count_kind(film_postings *postings, uint32_t thread, uint64_t block,
                         uint8_t kind, uint64_t *count)
{
    size_t length;
    const uint8_t *bytes = film_postings_summary(postings, thread, block, &length);
    uint64_t depth;

    return length > 0 && count_kind(bytes, length, kind, count, &depth);
}

bool
film_postings_count_calls(film_postings *postings, uint32_t thread, uint64_t block,
                          uint32_t code, uint64_t *count)
{
    size_t length;
    const uint8_t *bytes = film_postings_summary(postings, thread, block, &length);
    film_input body;

    if (length == 0 ||
        film_summary_section(bytes, length, FILM_SECTION_FUNCTIONS, &body) != FILM_OK) {
        return false;
    }
    has_code(bytes, length, code, count);
    return true;
}

bool
film_postings_writes(film_postings *postings, uint32_t thread, uint64_t block,
                     uint64_t serial,
                     void (*found)(void *context, film_touched_kind kind, uint32_t name,
                                   bool may_own),
                     void *context)
{
    size_t length;
    const uint8_t *bytes = film_postings_summary(postings, thread, block, &length);
    film_input body;

    if (length == 0 ||
        film_summary_section(bytes, length, FILM_SECTION_WRITES, &body) != FILM_OK) {
        return false;
    }
    while (film_input_left(&body) > 0 && !body.failed) {
        uint64_t head = film_input_varint(&body);
        bool holds = film_ranges_hold(&body, serial) || (head & 4) != 0;
        found(context, (film_touched_kind)(head & 3), (uint32_t)(head >> 3), holds);
    }
    return !body.failed;
}
