/* superblock.c: see superblock.h for the bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/superblock.h"

#include <string.h>

#include <filmstrip/filmstrip.h>

#include "base/buffer.h"
#include "base/hash.h"

#define STATIC_BYTES 104u

static const uint8_t magic[8] = {0x89, 'F', 'I', 'L', 'M', '\r', '\n', 0x1a};

/* The changing fields, file offset and member side by side. */
#define CHANGING(X)                                                                    \
    X(FILM_FIELD_MOVED_UNTIL, moved_until)                                             \
    X(FILM_FIELD_INDEX_OFFSET, index_offset)                                           \
    X(FILM_FIELD_LAYOUT_GENERATION, layout_generation)                                 \
    X(FILM_FIELD_TAIL, tail)                                                           \
    X(FILM_FIELD_LOST, lost)                                                           \
    X(FILM_FIELD_STOP_REASON, stop_reason)                                             \
    X(FILM_FIELD_OVERWRITTEN, overwritten)                                             \
    X(FILM_FIELD_CLOSED, closed)                                                       \
    X(FILM_FIELD_DURATION_NS, duration_ns)                                             \
    X(FILM_FIELD_HEAD, head)                                                           \
    X(FILM_FIELD_EXIT_STATUS, exit_status)

void
film_superblock_encode(const film_superblock *block, uint8_t *to)
{
    memset(to, 0, FILM_SUPERBLOCK_BYTES);
    memcpy(to, magic, sizeof(magic));
    film_put_u16(to + 8, block->major);
    film_put_u16(to + 10, block->minor);
    film_put_u32(to + 12, FILM_SUPERBLOCK_BYTES);
    memcpy(to + 16, block->uuid, sizeof(block->uuid));
    film_put_u64(to + 32, block->pid);
    film_put_u64(to + 40, block->start_realtime_ns);
    film_put_u64(to + 48, block->start_monotonic_ns);
    film_put_u64(to + 56, block->arena_bytes);
    film_put_u64(to + 64, block->ring_bytes);
    film_put_u32(to + 72, block->tick_ns);
    film_put_u32(to + 76, block->python_version);
    film_put_u32(to + 80, block->level);
    film_put_u32(to + 84, block->flags);
    film_put_u32(to + 88, block->clock_source);
    film_put_u32(to + 92, block->clock_shift);
    film_put_u64(to + 96, block->window_bytes);
    film_put_u64(to + STATIC_BYTES, film_hash(to, STATIC_BYTES));
#define PUT(offset, member) film_put_u64(to + (offset), block->member);
    CHANGING(PUT)
#undef PUT
    film_put_u64(to + FILM_FIELD_SEGMENTS, block->timescale.count);
    for (unsigned i = 0; i < FILM_SEGMENTS; i++) {
        uint8_t *slot = to + FILM_FIELD_SEGMENTS + 8 + i * 24;
        film_put_u64(slot, block->timescale.segments[i].raw);
        film_put_u64(slot + 8, block->timescale.segments[i].ns);
        film_put_u64(slot + 16, block->timescale.segments[i].slope);
    }
}

static film_status
check_static_part(const uint8_t *from, uint64_t length, film_error *error)
{
    uint16_t major;

    if (length < sizeof(magic) || memcmp(from, magic, sizeof(magic)) != 0) {
        return film_fail(error, FILM_NOT_A_FILM, "not a .film recording");
    }
    if (length < FILM_SUPERBLOCK_BYTES) {
        return film_fail_at(error, FILM_TRUNCATED, length,
                            "the recording is cut off in its first %u bytes",
                            FILM_SUPERBLOCK_BYTES);
    }
    major = film_get_u16(from + 8);
    if (major > FILM_FORMAT_MAJOR) {
        return film_fail(error, FILM_UNSUPPORTED,
                         "the recording has format version %u.%u, this filmstrip reads "
                         "up to %u.x: a newer filmstrip is needed",
                         major, film_get_u16(from + 10), FILM_FORMAT_MAJOR);
    }
    if (film_get_u64(from + STATIC_BYTES) != film_hash(from, STATIC_BYTES)) {
        return film_fail(error, FILM_CORRUPT, "the recording's first block is damaged");
    }
    return FILM_OK;
}

film_status
film_superblock_decode(film_superblock *block, const uint8_t *from, uint64_t length,
                       film_error *error)
{
    memset(block, 0, sizeof(*block));
    FILM_TRY(check_static_part(from, length, error));
    block->major = film_get_u16(from + 8);
    block->minor = film_get_u16(from + 10);
    memcpy(block->uuid, from + 16, sizeof(block->uuid));
    block->pid = film_get_u64(from + 32);
    block->start_realtime_ns = film_get_u64(from + 40);
    block->start_monotonic_ns = film_get_u64(from + 48);
    block->arena_bytes = film_get_u64(from + 56);
    block->ring_bytes = film_get_u64(from + 64);
    block->tick_ns = film_get_u32(from + 72);
    block->python_version = film_get_u32(from + 76);
    block->level = film_get_u32(from + 80);
    block->flags = film_get_u32(from + 84);
    block->clock_source = film_get_u32(from + 88);
    block->clock_shift = film_get_u32(from + 92);
    block->window_bytes = film_get_u64(from + 96);
#define GET(offset, member) block->member = film_get_u64(from + (offset));
    CHANGING(GET)
#undef GET
    block->timescale.count = film_get_u64(from + FILM_FIELD_SEGMENTS);
    for (unsigned i = 0; i < FILM_SEGMENTS; i++) {
        const uint8_t *slot = from + FILM_FIELD_SEGMENTS + 8 + i * 24;
        block->timescale.segments[i].raw = film_get_u64(slot);
        block->timescale.segments[i].ns = film_get_u64(slot + 8);
        block->timescale.segments[i].slope = film_get_u64(slot + 16);
    }
    if (block->tick_ns == 0 || block->arena_bytes > (UINT64_C(1) << 40) ||
        block->ring_bytes > (UINT64_C(1) << 48) || block->window_bytes < 4096 ||
        block->window_bytes > (1u << 24)) {
        return film_fail(error, FILM_CORRUPT, "the recording's first block is damaged");
    }
    return FILM_OK;
}

uint64_t
film_superblock_physical(const film_superblock *block, uint64_t logical,
                         uint64_t *contiguous)
{
    uint64_t log = FILM_SUPERBLOCK_BYTES + block->arena_bytes;

    if (block->ring_bytes != 0) {
        uint64_t place = logical % block->ring_bytes;
        *contiguous = block->ring_bytes - place;
        return log + place;
    }
    if (logical < block->moved_until) {
        *contiguous = block->moved_until - logical;
        return FILM_SUPERBLOCK_BYTES + logical;
    }
    *contiguous = UINT64_MAX;
    return log + logical;
}
