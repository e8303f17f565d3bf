/* cupti_records.c: fields by their distance from the record's begin.
 * SPDX-License-Identifier: Apache-2.0 */
#include "recorder/torch/cupti_records.h"

#include <string.h>

/* Bytes, the same in all versions of cupti_records.h. */
enum {
    KERNEL_START = 16,
    KERNEL_END = 24,
    KERNEL_DEVICE = 40,
    KERNEL_STREAM = 48,
    KERNEL_CORRELATION = 92,
    KERNEL_NAME = 104,
    KERNEL_NODE = 144,
    KERNEL_GRAPH = 156,
    KERNEL_LEAST = 160, /* so long at least */

    /* Copies and sets have all but the direction in common. */
    COPY_DIRECTION = 4,
    COPY_BYTES = 8,
    COPY_START = 16,
    COPY_END = 24,
    COPY_DEVICE = 32,
    COPY_STREAM = 40,
    COPY_CORRELATION = 44,
    COPY_NODE = 64,
    COPY_GRAPH = 72,
    COPY_LEAST = 76,

    EXTERNAL_KIND = 4,
    EXTERNAL_ID = 8,
    EXTERNAL_CORRELATION = 16,
    EXTERNAL_BYTES = 24
};

#define MOST_BYTES 512u /* no record that is known is half as long */

bool
film_cupti_version_is_known(uint32_t version)
{
    return (version >= 18 && version <= 28) || (version >= 130000 && version <= 130499);
}

/* How long the library takes a record of that kind to be; 0: it does not say. Records of
 * another kind begin wherever one may, and it says where the next one is. */
static size_t
length_of(film_cupti_next next, uint32_t kind)
{
    _Alignas(8) uint8_t buffer[2 * MOST_BYTES] = {0};
    const uint32_t other = FILM_CUPTI_EXTERNAL;
    uint8_t *record = NULL;

    for (size_t at = 8; at < sizeof(buffer); at += 8) {
        memcpy(buffer + at, &other, sizeof(other));
    }
    memcpy(buffer, &kind, sizeof(kind));
    if (next(buffer, sizeof(buffer), &record) != FILM_CUPTI_OK || record != buffer ||
        next(buffer, sizeof(buffer), &record) != FILM_CUPTI_OK || record <= buffer) {
        return 0;
    }
    return (size_t)(record - buffer);
}

bool
film_cupti_layout_holds(film_cupti_next next)
{
    size_t kernel = length_of(next, FILM_CUPTI_KERNEL);
    size_t copy = length_of(next, FILM_CUPTI_COPY),
           set = length_of(next, FILM_CUPTI_SET);

    return length_of(next, FILM_CUPTI_EXTERNAL) == EXTERNAL_BYTES &&
           kernel >= KERNEL_LEAST && kernel <= MOST_BYTES && copy >= COPY_LEAST &&
           copy <= MOST_BYTES && set >= COPY_LEAST && set <= MOST_BYTES;
}

static uint32_t
word_at(const uint8_t *record, size_t at)
{
    uint32_t word;

    memcpy(&word, record + at, sizeof(word));
    return word;
}

static uint64_t
long_at(const uint8_t *record, size_t at)
{
    uint64_t number;

    memcpy(&number, record + at, sizeof(number));
    return number;
}

film_cupti_work
film_cupti_read_work(const uint8_t *record)
{
    film_cupti_work work = {0};

    if (film_cupti_kind(record) == FILM_CUPTI_KERNEL) {
        work.start = long_at(record, KERNEL_START);
        work.end = long_at(record, KERNEL_END);
        work.node = long_at(record, KERNEL_NODE);
        memcpy(&work.name, record + KERNEL_NAME, sizeof(work.name));
        work.device = word_at(record, KERNEL_DEVICE);
        work.stream = word_at(record, KERNEL_STREAM);
        work.correlation = word_at(record, KERNEL_CORRELATION);
        work.graph = word_at(record, KERNEL_GRAPH);
        return work;
    }
    work.start = long_at(record, COPY_START);
    work.end = long_at(record, COPY_END);
    work.bytes = long_at(record, COPY_BYTES);
    work.node = long_at(record, COPY_NODE);
    work.device = word_at(record, COPY_DEVICE);
    work.stream = word_at(record, COPY_STREAM);
    work.correlation = word_at(record, COPY_CORRELATION);
    work.graph = word_at(record, COPY_GRAPH);
    work.copy = film_cupti_kind(record) == FILM_CUPTI_COPY ? record[COPY_DIRECTION] : 0;
    return work;
}

bool
film_cupti_read_external(const uint8_t *record, uint32_t *correlation, uint64_t *id)
{
    if (word_at(record, EXTERNAL_KIND) != FILM_CUPTI_OURS) {
        return false;
    }
    *correlation = word_at(record, EXTERNAL_CORRELATION);
    *id = long_at(record, EXTERNAL_ID);
    return true;
}
